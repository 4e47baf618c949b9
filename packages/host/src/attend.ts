import type { ChildProcess } from "node:child_process";
import type { Readable } from "node:stream";
import { StringDecoder } from "node:string_decoder";
import type { ProcessEnd, ProcessSpec } from "@assent/core";
import { errorCode } from "./error-code.ts";
import { type HeldOutput, heldOutput } from "./held-output.ts";
import { endGroup, groupMembers } from "./process-group.ts";
import type { ProcessTable } from "./process-table.ts";

/** One started program and everything its end depends on. */
export type Attended = {
  readonly spec: ProcessSpec;
  readonly signal: AbortSignal;
  readonly settings: { readonly graceMs: number; readonly lingerMs: number; readonly heldBytes: number; readonly table: ProcessTable };
  readonly child: ChildProcess;
  readonly pid: number;
  /** Lets the program begin, once its start is on record. */
  readonly begin: () => void;
  readonly readers: () => readonly Readable[];
};

type Stop = Exclude<ProcessEnd["ended"], "exit">;

/**
 * Follows a program to its end, which is the first of: it exits, its time is over, it is cancelled.
 * After an exit its output is read to the end, or for `lingerMs` if somebody it started holds the pipe. After a stop the whole group is ended first.
 */
export async function attend(program: Attended): Promise<ProcessEnd> {
  const { spec, signal, settings, child, pid } = program;
  const exit = new Promise<void>((resolve) => child.once("exit", () => resolve()));
  const stop = stopOn(spec.timeoutMs, signal);
  const held = heldOutput(settings.heldBytes, spec.spill);
  const reading = read(program, held);
  const drained = reading.done.then(() => exit);
  drained.catch(() => undefined); // a failure is met where `done` or `drained` is awaited, perhaps after the group was ended
  try {
    let ended: ProcessEnd["ended"] = (await Promise.race([exit, stop.wanted, drained])) ?? "exit";
    if (ended === "exit") ended = (await within(settings.lingerMs, Promise.race([drained, stop.wanted]))) ?? "exit";
    const survivors = ended === "exit" ? groupMembers(pid, settings.table) : await endGroup(pid, settings.graceMs, settings.table);
    if (ended !== "exit") await within(settings.lingerMs, drained);
    reading.close();
    await within(settings.lingerMs, reading.done);
    return { exitCode: child.exitCode, signal: child.signalCode, ended, ...(await held.end()), survivors };
  } catch (error) {
    child.stdio[3]?.destroy(); // a gate that was never opened stays closed
    await endGroup(pid, settings.graceMs, settings.table);
    throw error;
  } finally {
    stop.clear();
    reading.close();
  }
}

/** The longest delay `setTimeout` keeps; nobody waits 24 days for a program. */
const LONGEST = 2 ** 31 - 1;

function stopOn(timeoutMs: number | undefined, signal: AbortSignal): { readonly wanted: Promise<Stop>; readonly clear: () => void } {
  const { promise, resolve } = Promise.withResolvers<Stop>();
  const cancel = (): void => resolve("cancelled");
  const timer = timeoutMs === undefined ? undefined : setTimeout(resolve, Math.min(timeoutMs, LONGEST), "timeout");
  if (signal.aborted) cancel();
  else signal.addEventListener("abort", cancel, { once: true });
  return {
    wanted: promise,
    clear: () => {
      clearTimeout(timer);
      signal.removeEventListener("abort", cancel);
    },
  };
}

/** Nothing begins, and nothing is read, before the start is recorded: output that was used is proof that the record is there. */
function read(
  { spec, pid, begin, settings, readers }: Attended,
  held: HeldOutput,
): { readonly done: Promise<void>; readonly close: () => void } {
  let closed = false;
  let streams: readonly Readable[] = [];
  const readAll = async (): Promise<void> => {
    await spec.onStart?.({ pid, pgid: pid, processStart: settings.table.find(pid)?.start ?? "unknown" });
    if (closed) return;
    begin();
    streams = readers();
    await Promise.all(streams.map((stream) => pump(stream, held, spec.onOutput)));
  };
  const done = readAll();
  const close = (): void => {
    closed = true;
    for (const stream of streams) stream.destroy();
  };
  return { done, close };
}

async function pump(stream: Readable, held: HeldOutput, onOutput: ProcessSpec["onOutput"]): Promise<void> {
  const decoder = new StringDecoder("utf8");
  const pass = async (bytes: Uint8Array, text: string): Promise<void> => {
    if (text !== "") onOutput?.(text);
    await held.take(bytes, text);
  };
  try {
    for await (const chunk of stream) await pass(chunk, decoder.write(chunk));
  } catch (error) {
    if (errorCode(error) !== "ERR_STREAM_PREMATURE_CLOSE") throw error; // that one is our own closing
  }
  await pass(new Uint8Array(), decoder.end());
}

/** Undefined when the time is over first. */
async function within<T>(ms: number, promise: Promise<T>): Promise<T | undefined> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<undefined>((resolve) => {
    timer = setTimeout(resolve, ms, undefined);
  });
  try {
    return await Promise.race([promise, late]);
  } finally {
    clearTimeout(timer);
  }
}
