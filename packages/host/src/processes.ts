import type { ChildProcess } from "node:child_process";
import { tmpdir } from "node:os";
import { isAbsolute } from "node:path";
import type { Readable } from "node:stream";
import type { LeftOver, ProcessEnd, Processes, ProcessSpec, TaskProcess } from "@assent/core";
import { attend, type Job, NEVER_STARTED } from "./attend.ts";
import { openOutputPipe } from "./output-pipe.ts";
import { endGroup, leftOver } from "./process-group.ts";
import { type ProcessTable, processTable } from "./process-table.ts";
import { runSteps } from "./run-steps.ts";
import { type Started, shutGate, startProgram } from "./start-program.ts";
import { openTerminal, type TerminalSize } from "./terminal.ts";

/** What tests and unusual machines may change. */
export type ProcessSettings = {
  /** Between SIGTERM and SIGKILL. */
  readonly graceMs?: number;
  /** How long output is still read after the program's exit, when somebody it started holds the pipe. */
  readonly lingerMs?: number;
  /** Bytes of output held in memory per program. */
  readonly heldBytes?: number;
  readonly temporaryDirectory?: string;
};

type Settings = Required<ProcessSettings> & { readonly table: ProcessTable };

/**
 * Programs of this machine. It is the machine, so its waits are in real time. Beside a program that cannot be started, `run` rejects with what `onStart` or `onOutput`
 * threw, after the group was ended: a start that cannot be recorded is no start. Processes that a program left behind in its group when it exited
 * by itself are not killed, but named as survivors.
 */
export function hostProcesses(options: ProcessSettings = {}): Processes {
  const table = processTable();
  const settings = { graceMs: 2000, lingerMs: 1000, heldBytes: 10_000_000, temporaryDirectory: tmpdir(), ...options, table };
  return {
    run: (spec, signal) => run(spec, signal, settings),
    runSteps: (spec, signal) => runSteps(spec, signal, settings),
    startOf(pid) {
      const row = table.find(pid);
      return row && !row.zombie ? row.start : undefined;
    },
    endLeftOver: (process) => endLeftOver(process, settings),
  };
}

/** All groups at the same time. */
async function endLeftOver(process: TaskProcess, { table, graceMs }: Settings): Promise<LeftOver> {
  const ends = [process, ...(process.others ?? [])].map(async (leader): Promise<LeftOver> => {
    const { members, ours } = leftOver(leader, table);
    return { found: members.length > 0, survivors: ours ? await endGroup(leader.pgid, graceMs, table) : members };
  });
  const all = await Promise.all(ends);
  return { found: all.some(({ found }) => found), survivors: all.flatMap(({ survivors }) => survivors) };
}

async function run(spec: ProcessSpec, signal: AbortSignal, settings: Settings): Promise<ProcessEnd> {
  if (signal.aborted) return NEVER_STARTED;
  if (spec.pty) return runInTerminal(spec, signal, { settings, size: spec.pty });
  const pipe = await openOutputPipe(settings.temporaryDirectory).catch(() => undefined); // no place for one: Node's sockets, in nearly the right order
  try {
    if (signal.aborted) return NEVER_STARTED;
    const target = pipe?.writeFd ?? "pipe";
    const started = await startProgram({ ...spec, gated: spec.onStart !== undefined }, ["ignore", target, target]);
    pipe?.closeWriter();
    const job = jobOf(started, spec, settings);
    return await attend({ spec, signal, settings, job, readers: () => pipe?.readers() ?? socketsOf(started.child) });
  } finally {
    pipe?.close();
  }
}

type InTerminal = { readonly settings: Settings; readonly size: TerminalSize };

/** As any other program, but for where its output comes from. It always waits behind the gate, which opens the terminal. */
async function runInTerminal(spec: ProcessSpec, signal: AbortSignal, { settings, size }: InTerminal): Promise<ProcessEnd> {
  if (!isAbsolute(spec.file)) throw new Error(`${spec.file} could not be started: in a terminal a program is called by its absolute file`);
  const terminal = await openTerminal(size);
  try {
    if (signal.aborted) return NEVER_STARTED;
    const started = await startProgram({ ...spec, gated: true, terminal: terminal.path }, ["ignore", "ignore", "ignore"]);
    started.child.once("exit", terminal.hangUp);
    return await attend({ spec, signal, settings, job: jobOf(started, spec, settings), readers: () => [terminal.output()] });
  } finally {
    terminal.close();
  }
}

/** A program begins when its start is on record. */
function jobOf({ child, pid, begin }: Started, { onStart }: ProcessSpec, { table }: Settings): Job {
  let halted = false;
  const start = async (): Promise<void> => {
    await onStart?.({ pid, pgid: pid, processStart: table.find(pid)?.start ?? "unknown" });
    if (!halted) begin();
  };
  return {
    started: start(),
    exit: new Promise((resolve) => child.once("exit", () => resolve())),
    groups: () => [pid],
    halt: () => {
      halted = true;
      shutGate(child);
    },
    fate: () => ({ exitCode: child.exitCode, signal: child.signalCode }),
  };
}

function socketsOf({ stdout, stderr }: ChildProcess): readonly Readable[] {
  return [stdout, stderr].filter((stream) => stream !== null);
}
