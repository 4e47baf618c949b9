import type { ChildProcess } from "node:child_process";
import { existsSync } from "node:fs";
import { tmpdir } from "node:os";
import type { Readable, Writable } from "node:stream";
import { type Clock, messageOf } from "@assent/core";
import type { HookRun } from "@assent/core/parts";
import { endLineage, endWithUs } from "../processes/group.ts";
import { startProgram } from "../processes/start-program.ts";
import type { ProcessTable } from "../processes/table.ts";
import { errorCode } from "../system/error-code.ts";
import { openProgramPipes } from "./program-pipes.ts";

/** A hook's program with what it is given. */
export type HookProgram = {
  readonly file: string;
  readonly args: readonly string[];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  readonly stdin: string;
  readonly timeoutMs: number;
};

/** How its run is timed and bounded. */
export type ProgramBounds = {
  readonly clock: Clock;
  readonly table: ProcessTable;
  /** Between SIGTERM and SIGKILL. */
  readonly graceMs: number;
  /** How long output is still read after the program's exit, when somebody it started holds the pipe. */
  readonly lingerMs: number;
  readonly maxBytes: number;
};

/** The end of a run, with what the record needs of it. */
export type RunEnd = { readonly run: HookRun; readonly exit: number | null; readonly output: string };

/** Starts a program in a process group of its own, gives it its input, and follows it to its end. It never rejects: what goes wrong is a failure of the hook. */
export async function runProgram(program: HookProgram, bounds: ProgramBounds, signal: AbortSignal): Promise<RunEnd> {
  if (signal.aborted) return CANCELLED;
  const pipes = await openProgramPipes(tmpdir()).catch(() => undefined); // no place for them: Node's sockets
  const { file, args, cwd, env } = program;
  try {
    const ends = pipes?.childEnds ?? (["pipe", "pipe", "pipe"] as const);
    const { child, pid } = await startProgram({ file, args, cwd, env, gated: false }, ends);
    pipes?.closeChildEnds();
    return await attend({ program, bounds, signal, child, pid, streams: pipes?.open() ?? streamsOf(child) });
  } catch (error) {
    return { run: { ended: "failed", cause: refusal(program, error) }, exit: null, output: "" };
  } finally {
    pipes?.close();
  }
}

const CANCELLED: RunEnd = { run: { ended: "cancelled" }, exit: null, output: "" };

type Streams = { readonly stdin: Writable; readonly stdout: Readable; readonly stderr: Readable };

function streamsOf({ stdin, stdout, stderr }: ChildProcess): Streams {
  if (!stdin || !stdout || !stderr) throw new Error("it has no standard streams");
  return { stdin, stdout, stderr };
}

function refusal({ cwd }: HookProgram, error: unknown): string {
  if (!existsSync(cwd)) return `the working directory ${cwd} does not exist`;
  switch (errorCode(error)) {
    case "ENOENT":
      return "not found";
    case "EACCES":
      return "not executable";
    default:
      return `cannot be started: ${messageOf(error)}`;
  }
}

type Attended = {
  readonly program: HookProgram;
  readonly bounds: ProgramBounds;
  readonly signal: AbortSignal;
  readonly child: ChildProcess;
  readonly pid: number;
  readonly streams: Streams;
};

type Exit = { readonly code: number | null; readonly killedBy: string | null };
type Stop = "timeout" | "cancelled" | "over";

/**
 * The end is the first of: it exits, its time is over, it is cancelled, it puts out too much. After an exit its output is read to the end, or for `lingerMs` if
 * somebody it started holds the pipe; whoever that is is left alone. In all other cases the whole group is ended.
 */
async function attend({ program, bounds, signal, child, pid, streams }: Attended): Promise<RunEnd> {
  const { clock, table, graceMs, lingerMs, maxBytes } = bounds;
  const { promise: stopped, resolve: stop } = Promise.withResolvers<Stop>();
  const cancel = (): void => stop("cancelled");
  const exited = new Promise<Exit>((resolve) => child.once("exit", (code, killedBy) => resolve({ code, killedBy })));
  child.on("error", () => undefined); // a signal that could not be sent: its exit says the rest
  const out = capture(streams.stdout, maxBytes, () => stop("over"));
  const err = capture(streams.stderr, maxBytes, () => stop("over"));
  signal.addEventListener("abort", cancel, { once: true });
  if (signal.aborted) cancel();
  const untime = clock.timer(program.timeoutMs, () => stop("timeout"));
  feed(streams.stdin, program.stdin);
  const lineage = { groups: [pid], marks: [] };
  const released = endWithUs(() => lineage);
  let unlinger: (() => void) | undefined;
  try {
    const first = await Promise.race([stopped, exited]);
    untime();
    if (typeof first === "string") return await endBy(first, { program, out, err, end: () => endLineage(lineage, graceMs, table) });
    const lingered = new Promise<void>((resolve) => {
      unlinger = clock.timer(lingerMs, resolve);
    });
    const later = await Promise.race([stopped, Promise.all([out.done, err.done]), lingered]);
    if (typeof later === "string") return await endBy(later, { program, out, err, end: () => endLineage(lineage, graceMs, table) });
    return exitEnd(first, out, err);
  } finally {
    released();
    untime();
    unlinger?.();
    signal.removeEventListener("abort", cancel);
    for (const stream of [streams.stdin, streams.stdout, streams.stderr]) stream.destroy();
  }
}

/** A program need not read: a closed pipe is no failure. */
function feed(stdin: Writable, text: string): void {
  stdin.on("error", () => undefined);
  stdin.end(text, "utf8");
}

type Ending = { readonly program: HookProgram; readonly out: Captured; readonly err: Captured; readonly end: () => Promise<unknown> };

async function endBy(stop: Stop, { program, out, err, end }: Ending): Promise<RunEnd> {
  await end();
  switch (stop) {
    case "cancelled":
      return CANCELLED;
    case "over":
      return failed("output over 1 MiB", out, err);
    case "timeout":
      return failed(`timed out after ${program.timeoutMs / 1_000}s`, out, err);
    default:
      return stop satisfies never;
  }
}

function exitEnd({ code, killedBy }: Exit, out: Captured, err: Captured): RunEnd {
  const stdout = out.text();
  const stderr = err.text();
  if (code === null) return failed(`killed by ${killedBy ?? "a signal"}`, out, err);
  return { run: { ended: "exit", code, stdout, stderr }, exit: code, output: stdout + stderr };
}

function failed(cause: string, out: Captured, err: Captured): RunEnd {
  const stderr = err.text();
  return { run: { ended: "failed", cause, stderr }, exit: null, output: out.text() + stderr };
}

/** What came out of one stream. */
type Captured = {
  /** Resolves when nothing more can come. */
  readonly done: Promise<void>;
  readonly text: () => string;
};

/** Takes at most `limit` bytes from a stream; one more and `over` is called, once. */
function capture(stream: Readable, limit: number, over: () => void): Captured {
  const chunks: Buffer[] = [];
  let bytes = 0;
  stream.on("data", (chunk: Buffer) => {
    const before = bytes;
    bytes += chunk.length;
    if (bytes <= limit) chunks.push(chunk);
    else if (before <= limit) over();
  });
  const done = new Promise<void>((resolve) => {
    for (const event of ["end", "close", "error"]) stream.on(event, () => resolve());
  });
  return { done, text: () => Buffer.concat(chunks).toString("utf8") };
}
