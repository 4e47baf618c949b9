import type { EventBodies, SessionRow } from "@assent/core";
import type { Context, Options } from "../command-line/spec.ts";
import { NO_OPTIONS } from "../compose/flags.ts";
import type { EndingSignal, Io, Output } from "../io/io.ts";
import { detachedRun } from "./requirements.ts";

export type TakenSession = {
  readonly row: SessionRow;
  readonly created: EventBodies["session.created"];
  /** This process has the session open without working on it, because an earlier attempt could not close it. */
  readonly takeOver: boolean;
};

/** The context in which a worker continues a session: its directory, its recorded options, and no terminal. */
export function sessionContext(context: Context, taken: TakenSession, stopping: AbortSignal): Context {
  const { row } = taken;
  return {
    ...context,
    operands: [row.id],
    options: recordedOptions(context.options, taken),
    io: sessionIo(context.io, row, stopping),
    worker: true,
  };
}

/** The worker stops its sessions as a supervisor would, so that they are handed back. */
const STOP: EndingSignal = "SIGTERM";

function sessionIo(io: Io, { id, cwd }: SessionRow, stopping: AbortSignal): Io {
  const { ownsProcess: _own, ...rest } = io; // a take-over must not end the worker
  const quiet: Output = { isTTY: false, columns: () => undefined, rows: () => undefined, write: () => Promise.resolve() };
  return {
    ...rest,
    cwd,
    stdinIsTTY: false,
    stdout: quiet, // the record has the answer
    stderr: { ...quiet, write: (text) => io.stderr.write(text.replace(/^(?=.)/gm, `${id}: `)) },
    readStdin: async () => new Uint8Array(),
    stdin: async function* () {
      // A worker has no input.
    },
    onSignal: (received) => {
      const stop = (): void => received(STOP);
      stopping.addEventListener("abort", stop, { once: true });
      if (stopping.aborted) queueMicrotask(stop);
      return () => stopping.removeEventListener("abort", stop);
    },
    exitNow: () => undefined,
  };
}

/** Limits count over all attempts, apart from the time. */
function recordedOptions(given: Options, { row, created, takeOver }: TakenSession): Options {
  const run = detachedRun(created);
  const limit = (name: string, used: number): number | undefined => {
    const value = run?.[name];
    return typeof value === "number" ? Math.max(0, value - used) : undefined;
  };
  const counts: Readonly<Record<string, number | undefined>> = {
    "max-turns": limit("maxTurns", row.turns),
    "max-tool-calls": limit("maxToolCalls", row.calls - row.openApprovals),
  };
  const durations: Readonly<Record<string, number | undefined>> = {
    "max-time": limit("maxTimeMs", 0),
    "approval-timeout": limit("approvalTimeoutMs", 0),
  };
  const onAsk = created.options?.["onAsk"];
  const texts: Readonly<Record<string, string | undefined>> = {
    store: given.text("store"),
    "on-ask": typeof onAsk === "string" && run ? onAsk : undefined,
  };
  return {
    ...NO_OPTIONS,
    flag: (name) => name === "tasks" || (name === "take-over" && takeOver),
    text: (name) => texts[name],
    count: (name) => counts[name],
    duration: (name) => durations[name],
  };
}
