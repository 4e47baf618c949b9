import type { ChildProcess } from "node:child_process";
import { accessSync, constants, existsSync, statSync, write, writeSync } from "node:fs";
import {
  messageOf,
  type PlanEntry,
  type PlanProgram,
  type StepRedirection,
  type StepsEnd,
  type StepsSpec,
  type TaskProcess,
} from "@assent/core";
import { describeSandboxFailure } from "../sandbox/failure.ts";
import type { FollowSettings, ProgramFate } from "./follow-job.ts";
import { groupMembers } from "./group.ts";
import type { ProcessMark } from "./lineage.ts";
import { closeFifos, openFifos } from "./output-pipe.ts";
import {
  type DescriptorTarget,
  type DescriptorTargets,
  describeStartFailure,
  openGate,
  type ProgramLaunch,
  type SpawnedProgram,
  shutGate,
  spawnProgram,
} from "./start-program.ts";

export type PipelineRun = {
  readonly spec: StepsSpec;
  readonly settings: FollowSettings & { readonly temporaryDirectory: string; readonly mark: ProcessMark };
  readonly output: number;
  readonly groups: Set<number>;
  readonly gates: Set<ChildProcess>;
  readonly halted: AbortSignal;
  readonly recorded: () => void;
};

type RefusedStart = Omit<NonNullable<StepsEnd["refused"]>, "ran">;

export class StartRefusal extends Error {
  readonly refused: RefusedStart;

  constructor(refused: RefusedStart, cause?: unknown) {
    super(refused.message, { cause });
    this.refused = refused;
  }
}

/** Throws if another file has taken a program's place. */
export function refuseChanged(stages: readonly (PlanProgram | PlanEntry)[]): void {
  const changed = stages.find((stage): stage is PlanProgram => "file" in stage && stage.unchanged?.() === false);
  if (changed) throw new StartRefusal({ file: changed.file, reason: "changed", message: `${changed.file} changed since it was checked.` });
}

/** Keeps programs behind closed gates from starting. */
export function shutGates({ gates }: PipelineRun): void {
  for (const child of gates) shutGate(child);
  gates.clear();
}

type PipelineStage = { readonly fate: Promise<ProgramFate>; readonly child?: ChildProcess; readonly gated: boolean };

/** Throws if the launcher ended by itself before the program began. */
async function refuseUnconfined(fate: ProgramFate, file: string, ran: Promise<boolean>): Promise<ProgramFate> {
  if ((await ran) || fate.exitCode === null) return fate;
  throw new StartRefusal({ file, reason: "unconfined", message: describeSandboxFailure("") });
}

/** Runs a pipeline: starts all programs, lets them begin once recorded, waits for all. The status is that of the last one. */
export async function runPipeline(pipeline: readonly (PlanProgram | PlanEntry)[], run: PipelineRun): Promise<ProgramFate> {
  const prepared = await prepareAll(pipeline, run.halted);
  const pipes = await openFifos(run.settings.temporaryDirectory, pipeline.length - 1).catch(() => undefined);
  if (!pipes) return await endedStage(126, { text: "a pipe could not be created\n", target: run.output }, run).fate;
  let stages: readonly PipelineStage[];
  try {
    if (run.halted.aborted) return { exitCode: null, signal: null };
    refuseChanged(pipeline);
    stages = prepared.map((stage, i) =>
      startStage(stage, [pipes[i - 1]?.readFd ?? "ignore", pipes[i]?.writeFd ?? run.output, run.output], run),
    );
  } finally {
    closeFifos(pipes);
  }
  await beginStages(stages, pipeline, run);
  const fates = await Promise.all(stages.map(({ fate }) => fate));
  return fates.at(-1) ?? { exitCode: 0, signal: null };
}

async function prepareAll(
  pipeline: readonly (PlanProgram | PlanEntry)[],
  signal: AbortSignal,
): Promise<readonly (PlanProgram | PlanEntry)[]> {
  const prepared: (PlanProgram | PlanEntry)[] = [];
  for (const stage of pipeline)
    prepared.push("file" in stage && stage.prepare ? { ...stage, args: await prepareArguments(stage, signal) } : stage);
  return prepared;
}

async function prepareArguments({ file, args, prepare: make }: PlanProgram, signal: AbortSignal): Promise<readonly string[]> {
  try {
    return (await make?.(signal)) ?? args;
  } catch (error) {
    throw new StartRefusal({ file, reason: "unprepared", message: messageOf(error) }, error);
  }
}

function startStage(stage: PlanProgram | PlanEntry, piped: DescriptorTargets, run: PipelineRun): PipelineStage {
  const targets = stage.redirections.reduce((before, redirection) => REDIRECTIONS[redirection](before), piped);
  if ("enter" in stage) return enterDirectory(stage, targets, run);
  const { env, confine } = run.spec;
  const launch: ProgramLaunch = { ...stage, env, gated: stage.gated === true, ...(confine && { confine }) };
  const { child, ran } = trySpawn(launch, targets) ?? {};
  if (child?.pid === undefined) return refusedBySystem(launch, targets, run);
  const { pid } = child;
  run.groups.add(pid);
  if (launch.gated) run.gates.add(child);
  const fate = new Promise<ProgramFate>((resolve) => {
    child.once("exit", (exitCode, signal) => {
      run.gates.delete(child);
      if (groupMembers(pid, run.settings.table).length === 0) run.groups.delete(pid); // the id may be reused from now on
      resolve({ exitCode, signal });
    });
  });
  const ended =
    ran !== undefined ? fate.then(async (one) => (run.halted.aborted ? one : await refuseUnconfined(one, launch.file, ran))) : fate;
  return { fate: ended, child, gated: launch.gated };
}

const REDIRECTIONS: Readonly<Record<StepRedirection, (targets: DescriptorTargets) => DescriptorTargets>> = {
  "2>&1": ([input, output]) => [input, output, output],
  "1>&2": ([input, , error]) => [input, error, error],
  ">/dev/null": ([input, , error]) => [input, "ignore", error],
  "2>/dev/null": ([input, output]) => [input, output, "ignore"],
  "</dev/null": ([, output, error]) => ["ignore", output, error],
};

function trySpawn(launch: ProgramLaunch, targets: DescriptorTargets): SpawnedProgram | undefined {
  try {
    const spawned = spawnProgram(launch, targets);
    spawned.child.on("error", () => undefined); // it has no pid then
    return spawned;
  } catch {
    return undefined; // invalid arguments
  }
}

/** As in a shell: 127 if there is nothing to run, 126 if it cannot run. */
function refusedBySystem(launch: ProgramLaunch, targets: DescriptorTargets, run: PipelineRun): PipelineStage {
  return endedStage(existsSync(launch.file) ? 126 : 127, { text: `${describeStartFailure(launch)}\n`, target: targets[2] }, run);
}

function enterDirectory({ enter: directory }: PlanEntry, targets: DescriptorTargets, run: PipelineRun): PipelineStage {
  if (mayEnter(directory)) return { fate: Promise.resolve({ exitCode: 0, signal: null }), gated: false };
  return endedStage(1, { text: `cd: ${directory}: not a directory that can be entered\n`, target: targets[2] }, run);
}

function mayEnter(directory: string): boolean {
  try {
    accessSync(directory, constants.X_OK);
    return statSync(directory).isDirectory();
  } catch {
    return false;
  }
}

/** A stage without a process reports why. */
function endedStage(
  exitCode: number,
  { text, target }: { readonly text: string; readonly target: DescriptorTarget },
  { output }: PipelineRun,
): PipelineStage {
  const fate = { exitCode, signal: null };
  if (target === output) {
    const said = new Promise<ProgramFate>((resolve) => write(output, text, () => resolve(fate))); // unread output changes no status
    return { fate: said, gated: false };
  }
  if (typeof target === "number") writeSync(target, text);
  return { fate: Promise.resolve(fate), gated: false };
}

/** The first gated program, or else the first; the others follow. */
function describeProcesses(stages: readonly PipelineStage[], { settings }: PipelineRun): TaskProcess | undefined {
  const { mark } = settings.mark;
  const startOf = (pid: number): string => settings.table.find(pid)?.start ?? "unknown";
  const pids = [...stages.filter(({ gated }) => gated), ...stages.filter(({ gated }) => !gated)].flatMap(({ child }) => child?.pid ?? []);
  const [first, ...others] = pids.map((pid) => ({ pid, pgid: pid, processStart: startOf(pid), mark }));
  return first && others.length > 0 ? { ...first, others } : first;
}

/** Programs without a gate have already begun; they only read. */
async function beginStages(
  stages: readonly PipelineStage[],
  pipeline: readonly (PlanProgram | PlanEntry)[],
  run: PipelineRun,
): Promise<void> {
  const process = run.spec.onStart && describeProcesses(stages, run);
  if (process) await run.spec.onStart?.(process);
  run.recorded();
  if (run.halted.aborted) return;
  if (run.gates.size > 0) refuseChanged(pipeline);
  for (const child of run.gates) openGate(child);
  run.gates.clear();
}
