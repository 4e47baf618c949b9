import type { Readable } from "node:stream";
import { StringDecoder } from "node:string_decoder";
import { errorCode, type ProcessEnd, type ProcessSpec } from "@assent/core";
import { endLineage, endWithProcess, groupMembers } from "./group.ts";
import { createHeldOutput, type HeldOutput } from "./held-output.ts";
import type { Lineage } from "./lineage.ts";
import type { ProcessTable } from "./table.ts";

export type ProgramFate = Pick<ProcessEnd, "exitCode" | "signal">;

/** A running program, or several in sequence. */
export type ProgramJob = {
  /** Resolves when the start is recorded; output is used only then. */
  readonly started: Promise<void>;
  /** Resolves when the last program has exited. */
  readonly exit: Promise<void>;
  readonly lineage: () => Lineage;
  /** Starts nothing more. */
  readonly halt: () => void;
  readonly fate: () => ProgramFate;
};

export type FollowSettings = {
  readonly graceMs: number;
  readonly lingerMs: number;
  readonly heldBytes: number;
  readonly table: ProcessTable;
};

export type FollowedJob = {
  readonly spec: Pick<ProcessSpec, "timeoutMs" | "onOutput" | "spill" | "spillsAll">;
  readonly signal: AbortSignal;
  readonly settings: FollowSettings;
  readonly job: ProgramJob;
  readonly readers: () => readonly Readable[];
};

/** The end of a job that was cancelled before it started. */
export const NEVER_STARTED: ProcessEnd = {
  exitCode: null,
  signal: null,
  ended: "cancelled",
  output: "",
  chars: 0,
  lines: 0,
  dropped: 0,
  survivors: [],
};

const HELD_SPILLED_BYTES = 1_048_576;

type StopReason = Exclude<ProcessEnd["ended"], "exit">;

/** Follows a job until it exits, times out or is cancelled. Then reads the output to the end, or for `lingerMs` if it is held open. */
export async function followJob(attended: FollowedJob): Promise<ProcessEnd> {
  const { spec, signal, settings, job } = attended;
  const stop = createStop(spec.timeoutMs, signal);
  const held = spec.spillsAll
    ? createHeldOutput(Math.min(settings.heldBytes, HELD_SPILLED_BYTES), spec.spill, true)
    : createHeldOutput(settings.heldBytes, spec.spill);
  const reading = readOutput(attended, held);
  const drained = reading.done.then(() => job.exit);
  const released = endWithProcess(job.lineage);
  drained.catch(() => undefined); // the failure surfaces where `done` or `drained` is awaited
  try {
    let ended: ProcessEnd["ended"] = (await Promise.race([job.exit, stop.wanted, drained])) ?? "exit";
    if (ended === "exit") ended = (await within(settings.lingerMs, Promise.race([drained, stop.wanted]))) ?? "exit";
    const survivors = ended === "exit" ? survivingMembers(job, settings) : await endJob(job, settings);
    if (ended !== "exit") await within(settings.lingerMs, drained);
    reading.close();
    await within(settings.lingerMs, reading.done);
    return { ...job.fate(), ended, ...(await held.end()), survivors };
  } catch (error) {
    await endJob(job, settings);
    throw error;
  } finally {
    released();
    stop.clear();
    reading.close();
  }
}

/** Processes that left the group of an exited program meant to stay. */
function survivingMembers({ lineage }: ProgramJob, { table }: FollowSettings): readonly number[] {
  return lineage().groups.flatMap((group) => groupMembers(group, table));
}

/** Ends every process of a job; returns survivors. */
export async function endJob(job: Pick<ProgramJob, "halt" | "lineage">, { graceMs, table }: FollowSettings): Promise<readonly number[]> {
  job.halt();
  return await endLineage(job.lineage(), graceMs, table);
}

/** The longest delay `setTimeout` supports. */
const MAX_TIMEOUT_MS = 2 ** 31 - 1;

function createStop(
  timeoutMs: number | undefined,
  signal: AbortSignal,
): { readonly wanted: Promise<StopReason>; readonly clear: () => void } {
  const { promise, resolve } = Promise.withResolvers<StopReason>();
  const cancel = (): void => resolve("cancelled");
  const timer = timeoutMs === undefined ? undefined : setTimeout(resolve, Math.min(timeoutMs, MAX_TIMEOUT_MS), "timeout");
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

/** Output is read only after the start is recorded. */
function readOutput({ spec, job, readers }: FollowedJob, held: HeldOutput): { readonly done: Promise<void>; readonly close: () => void } {
  let closed = false;
  let streams: readonly Readable[] = [];
  const readAll = async (): Promise<void> => {
    await job.started;
    if (closed) return;
    streams = readers();
    await Promise.all(streams.map((stream) => pumpStream(stream, held, spec.onOutput)));
  };
  const done = readAll();
  const close = (): void => {
    closed = true;
    for (const stream of streams) stream.destroy();
  };
  return { done, close };
}

async function pumpStream(stream: Readable, held: HeldOutput, onOutput: ProcessSpec["onOutput"]): Promise<void> {
  const decoder = new StringDecoder("utf8");
  const pass = async (bytes: Uint8Array, text: string): Promise<void> => {
    if (text !== "") onOutput?.(text);
    await held.take(bytes, text);
  };
  try {
    for await (const chunk of stream) await pass(chunk, decoder.write(chunk));
  } catch (error) {
    if (errorCode(error) !== "ERR_STREAM_PREMATURE_CLOSE") throw error; // caused by our own close
  }
  await pass(new Uint8Array(), decoder.end());
}

/** Undefined on timeout. */
export async function within<T>(ms: number, promise: Promise<T>): Promise<T | undefined> {
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
