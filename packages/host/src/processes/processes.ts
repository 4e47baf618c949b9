import type { ChildProcess } from "node:child_process";
import { tmpdir } from "node:os";
import { isAbsolute } from "node:path";
import type { Readable } from "node:stream";
import type { LeftOver, ProcessEnd, Processes, ProcessSpec, TaskProcess } from "@assent/core";
import { describeSandboxFailure } from "../sandbox/failure.ts";
import { followJob, NEVER_STARTED, type ProgramJob } from "./follow-job.ts";
import { endLineage, endWithProcess, findLeftGroup } from "./group.ts";
import { createMark, findStrays, type Lineage, type ProcessMark, recordedMarks, withMark } from "./lineage.ts";
import { openProgram } from "./open-program.ts";
import { openOutputPipe } from "./output-pipe.ts";
import { runSteps } from "./run-steps.ts";
import { type StartedProgram, shutGate, startProgram } from "./start-program.ts";
import { type ProcessTable, processStart, readProcessTable } from "./table.ts";
import { openTerminal, type TerminalSize } from "./terminal.ts";

/** Limits for tests and unusual machines. */
export type ProcessSettings = {
  readonly graceMs?: number;
  /** How long to read output after exit if another process holds the pipe. */
  readonly lingerMs?: number;
  readonly heldBytes?: number;
  readonly temporaryDirectory?: string;
};

type ResolvedSettings = Required<ProcessSettings> & { readonly table: ProcessTable };
type RunSettings = ResolvedSettings & { readonly mark: ProcessMark };

/**
 * Process port of this machine, in real time. `run` rejects if the program cannot be started, or if `onStart` or `onOutput` throws, after ending the
 * group. Processes left after a normal exit are reported as survivors, not killed. A mark in the environment finds processes that leave the group.
 */
export function createHostProcesses(options: ProcessSettings = {}): Processes {
  const table = readProcessTable();
  const settings = { graceMs: 2000, lingerMs: 1000, heldBytes: 10_000_000, temporaryDirectory: tmpdir(), ...options, table };
  let since: string | undefined;
  const marked = <Spec extends Pick<ProcessSpec, "env">>(spec: Spec): { readonly spec: Spec; readonly settings: RunSettings } => {
    since ??= table.find(process.pid)?.start ?? "unknown";
    const mark = createMark();
    return { spec: { ...spec, env: withMark(spec.env, mark) }, settings: { ...settings, mark: { mark, since } } };
  };
  return {
    run: (given, signal) => {
      const { spec, settings: own } = marked(given);
      return runProgram(spec, signal, own);
    },
    runSteps: (given, signal) => {
      const { spec, settings: own } = marked(given);
      return runSteps(spec, signal, own);
    },
    open: (given) => {
      const { spec, settings: own } = marked(given);
      return openProgram(spec, own);
    },
    startOf: (pid) => processStart(pid, table),
    endLeftOver: (process) => endLeftOver(process, settings),
    endWithUs: (process) => endWithProcess(() => findLeftProcesses(process, table).lineage),
  };
}

type LeftProcesses = { readonly lineage: Lineage; readonly members: readonly number[]; readonly strangers: readonly number[] };

/** Groups that surely belong to recorded processes, and members of those that may not. */
function findLeftProcesses(process: TaskProcess, table: ProcessTable): LeftProcesses {
  const leaders = [process, ...(process.others ?? [])];
  const left = leaders.map((leader) => ({ ...findLeftGroup(leader, table), pgid: leader.pgid }));
  return {
    lineage: { groups: left.filter(({ ours }) => ours).map(({ pgid }) => pgid), marks: recordedMarks(leaders) },
    members: left.flatMap(({ members }) => members),
    strangers: left.filter(({ ours }) => !ours).flatMap(({ members }) => members),
  };
}

async function endLeftOver(process: TaskProcess, { table, graceMs }: ResolvedSettings): Promise<LeftOver> {
  const { lineage, members, strangers } = findLeftProcesses(process, table);
  const found = members.length > 0 || findStrays(lineage, table).length > 0;
  return { found, survivors: found ? [...strangers, ...(await endLineage(lineage, graceMs, table))] : [] };
}

async function runProgram(spec: ProcessSpec, signal: AbortSignal, settings: RunSettings): Promise<ProcessEnd> {
  if (signal.aborted) return NEVER_STARTED;
  if (spec.pty) return runInTerminal(spec, signal, settings, spec.pty);
  const pipe = await openOutputPipe(settings.temporaryDirectory).catch(() => undefined); // fall back to Node's sockets, which keep the order less strictly
  try {
    if (signal.aborted) return NEVER_STARTED;
    const target = pipe?.writeFd ?? "pipe";
    const started = await startProgram({ ...spec, gated: spec.onStart !== undefined }, ["ignore", target, target]);
    pipe?.closeWriter();
    const job = createJob(started, spec, settings);
    const end = await followJob({ spec, signal, settings, job, readers: () => pipe?.readers() ?? outputSockets(started.child) });
    return await refuseUnconfined(end, started);
  } finally {
    pipe?.close();
  }
}

/** The program waits behind the gate, which opens the terminal. */
async function runInTerminal(spec: ProcessSpec, signal: AbortSignal, settings: RunSettings, size: TerminalSize): Promise<ProcessEnd> {
  if (!isAbsolute(spec.file)) throw new Error(`${spec.file} could not be started: a program in a terminal needs an absolute path`);
  const terminal = await openTerminal(size);
  try {
    if (signal.aborted) return NEVER_STARTED;
    const started = await startProgram({ ...spec, gated: true, terminal: terminal.path }, ["ignore", "ignore", "ignore"]);
    started.child.once("exit", terminal.hangUp);
    const job = createJob(started, spec, settings);
    const end = await followJob({ spec, signal, settings, job, readers: () => [terminal.output()] });
    return await refuseUnconfined(end, started);
  } finally {
    terminal.close();
  }
}

/** Throws if the launcher ended by itself before the program began. Its output is the reason, not a result. */
async function refuseUnconfined(end: ProcessEnd, { ran }: StartedProgram): Promise<ProcessEnd> {
  if (ran === undefined || end.ended !== "exit" || end.exitCode === null || (await ran)) return end;
  throw Object.assign(new Error(describeSandboxFailure(end.output)), { code: "ERR_NOT_CONFINED" });
}

/** A program begins once its start is recorded. */
function createJob({ child, pid, begin, ran }: StartedProgram, { onStart }: ProcessSpec, { table, mark }: RunSettings): ProgramJob {
  let halted = false;
  const start = async (): Promise<void> => {
    await onStart?.({ pid, pgid: pid, processStart: table.find(pid)?.start ?? "unknown", mark: mark.mark });
    if (!halted) begin();
  };
  return {
    started: start(),
    exit: new Promise((resolve) => child.once("exit", () => resolve(ran?.then(() => undefined)))),
    lineage: () => ({ groups: [pid], marks: [mark] }),
    halt: () => {
      halted = true;
      shutGate(child);
    },
    fate: () => ({ exitCode: child.exitCode, signal: child.signalCode }),
  };
}

function outputSockets({ stdout, stderr }: ChildProcess): readonly Readable[] {
  return [stdout, stderr].filter((stream) => stream !== null);
}
