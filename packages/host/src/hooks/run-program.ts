import type { ChildProcess } from "node:child_process";
import { existsSync } from "node:fs";
import { tmpdir } from "node:os";
import type { Readable, Writable } from "node:stream";
import { type Clock, errorCode, messageOf } from "@assent/core";
import type { HookRun } from "@assent/core/parts";
import { endLineage, endWithProcess } from "../processes/group.ts";
import { startProgram } from "../processes/start-program.ts";
import type { ProcessTable } from "../processes/table.ts";
import { openProgramPipes } from "./program-pipes.ts";

export type HookProgram = {
  readonly file: string;
  readonly args: readonly string[];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  readonly stdin: string;
  readonly timeoutMs: number;
};

export type ProgramBounds = {
  readonly clock: Clock;
  readonly table: ProcessTable;
  readonly graceMs: number;
  /** How long to read output after exit if a child process keeps the pipe open. */
  readonly lingerMs: number;
  readonly maxBytes: number;
};

/** The end of a run, with what the record needs. */
export type HookRunEnd = { readonly run: HookRun; readonly exit: number | null; readonly output: string };

/** Runs a program in its own process group. Never rejects: errors are failures of the hook. */
export async function runProgram(program: HookProgram, bounds: ProgramBounds, signal: AbortSignal): Promise<HookRunEnd> {
  if (signal.aborted) return endWithoutOutput({ ended: "cancelled" });
  const pipes = await openProgramPipes(tmpdir()).catch(() => undefined); // fall back to Node's sockets
  const { file, args, cwd, env } = program;
  try {
    const ends = pipes?.childEnds ?? (["pipe", "pipe", "pipe"] as const);
    const { child, pid } = await startProgram({ file, args, cwd, env, gated: false }, ends);
    pipes?.closeChildEnds();
    return await followProgram({ program, bounds, signal, child, pid, streams: pipes?.open() ?? getStreams(child) });
  } catch (error) {
    return endWithoutOutput({ ended: "failed", cause: describeStartError(program, error) });
  } finally {
    pipes?.close();
  }
}

export function endWithoutOutput(run: HookRun): HookRunEnd {
  return { run, exit: null, output: "" };
}

type ProgramStreams = { readonly stdin: Writable; readonly stdout: Readable; readonly stderr: Readable };

function getStreams({ stdin, stdout, stderr }: ChildProcess): ProgramStreams {
  if (!stdin || !stdout || !stderr) throw new Error("it has no standard streams");
  return { stdin, stdout, stderr };
}

function describeStartError({ cwd }: HookProgram, error: unknown): string {
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

type RunningProgram = {
  readonly program: HookProgram;
  readonly bounds: ProgramBounds;
  readonly signal: AbortSignal;
  readonly child: ChildProcess;
  readonly pid: number;
  readonly streams: ProgramStreams;
};

type ProgramExit = { readonly code: number | null; readonly killedBy: string | null };
type StopCause = "timeout" | "cancelled" | "over";

/** Ends at exit, timeout, cancel or too much output. After an exit, processes it left running are not touched; otherwise the whole group is ended. */
async function followProgram({ program, bounds, signal, child, pid, streams }: RunningProgram): Promise<HookRunEnd> {
  const { clock, table, graceMs, lingerMs, maxBytes } = bounds;
  const { promise: stopped, resolve: stop } = Promise.withResolvers<StopCause>();
  const cancel = (): void => stop("cancelled");
  const exited = new Promise<ProgramExit>((resolve) => child.once("exit", (code, killedBy) => resolve({ code, killedBy })));
  child.on("error", () => undefined); // a signal could not be sent; the exit tells the rest
  const out = captureStream(streams.stdout, maxBytes, () => stop("over"));
  const err = captureStream(streams.stderr, maxBytes, () => stop("over"));
  signal.addEventListener("abort", cancel, { once: true });
  if (signal.aborted) cancel();
  const untime = clock.timer(program.timeoutMs, () => stop("timeout"));
  writeInput(streams.stdin, program.stdin);
  const lineage = { groups: [pid], marks: [] };
  const released = endWithProcess(() => lineage);
  let unlinger: (() => void) | undefined;
  try {
    const first = await Promise.race([stopped, exited]);
    untime();
    if (typeof first === "string") return await endProgram(first, { program, out, err, end: () => endLineage(lineage, graceMs, table) });
    const lingered = new Promise<void>((resolve) => {
      unlinger = clock.timer(lingerMs, resolve);
    });
    const later = await Promise.race([stopped, Promise.all([out.done, err.done]), lingered]);
    if (typeof later === "string") return await endProgram(later, { program, out, err, end: () => endLineage(lineage, graceMs, table) });
    return describeExit(first, out, err);
  } finally {
    released();
    untime();
    unlinger?.();
    signal.removeEventListener("abort", cancel);
    for (const stream of [streams.stdin, streams.stdout, streams.stderr]) stream.destroy();
  }
}

/** A program need not read its input. */
function writeInput(stdin: Writable, text: string): void {
  stdin.on("error", () => undefined);
  stdin.end(text, "utf8");
}

type ProgramEnding = {
  readonly program: HookProgram;
  readonly out: CapturedStream;
  readonly err: CapturedStream;
  readonly end: () => Promise<unknown>;
};

async function endProgram(stop: StopCause, { program, out, err, end }: ProgramEnding): Promise<HookRunEnd> {
  await end();
  switch (stop) {
    case "cancelled":
      return endWithoutOutput({ ended: "cancelled" });
    case "over":
      return describeFailure("output over 1 MiB", out, err);
    case "timeout":
      return describeFailure(`timed out after ${program.timeoutMs / 1_000}s`, out, err);
    default:
      return stop satisfies never;
  }
}

function describeExit({ code, killedBy }: ProgramExit, out: CapturedStream, err: CapturedStream): HookRunEnd {
  const stdout = out.text();
  const stderr = err.text();
  if (code === null) return describeFailure(`killed by ${killedBy ?? "a signal"}`, out, err);
  return { run: { ended: "exit", code, stdout, stderr }, exit: code, output: stdout + stderr };
}

function describeFailure(cause: string, out: CapturedStream, err: CapturedStream): HookRunEnd {
  const stderr = err.text();
  return { run: { ended: "failed", cause, stderr }, exit: null, output: out.text() + stderr };
}

type CapturedStream = {
  readonly done: Promise<void>;
  readonly text: () => string;
};

/** Keeps at most `limit` bytes; calls `over` once when more arrive. */
function captureStream(stream: Readable, limit: number, over: () => void): CapturedStream {
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
