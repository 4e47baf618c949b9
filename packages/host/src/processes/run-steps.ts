import type { ProcessEnd, Step, StepsEnd, StepsSpec } from "@assent/core";
import { attend, endJob, type Job, NEVER_STARTED } from "./attend.ts";
import type { Lineage } from "./lineage.ts";
import { type OutputPipe, openOutputPipe } from "./output-pipe.ts";
import { type Pipelines, Refusal, refuseChanged, runPipeline, shutGates } from "./run-pipeline.ts";

type Fate = Pick<ProcessEnd, "exitCode" | "signal">;

type Settings = Pipelines["settings"];

/** Runs pipelines one after the other, as their conditions say. What holds for a program's start and end in `run` holds here for each of them. */
export async function runSteps(spec: StepsSpec, signal: AbortSignal, settings: Settings): Promise<StepsEnd> {
  if (signal.aborted) return NEVER_STARTED;
  try {
    refuseChanged(spec.steps.flatMap(({ pipeline }) => pipeline));
  } catch (error) {
    if (error instanceof Refusal) return { ...NEVER_STARTED, ended: "exit", refused: { ...error.refused, ran: false } };
    throw error;
  }
  const pipe = await openOutputPipe(settings.temporaryDirectory);
  try {
    if (signal.aborted) return NEVER_STARTED;
    const { job, refused } = startSteps(spec, pipe, settings);
    const end = await attend({ spec, signal, settings, job, readers: pipe.readers });
    const refusal = refused();
    return refusal ? { ...end, refused: refusal } : end;
  } finally {
    pipe.close();
  }
}

type Steps = { readonly job: Job; readonly refused: () => StepsEnd["refused"] };

function startSteps(spec: StepsSpec, pipe: OutputPipe, settings: Settings): Steps {
  const { promise: started, resolve: recorded, reject: unrecorded } = Promise.withResolvers<void>();
  const halted = new AbortController();
  const run: Pipelines = { spec, settings, output: pipe.writeFd, groups: new Set(), gates: new Set(), halted: halted.signal, recorded };
  let fate: Fate = { exitCode: 0, signal: null };
  let ran = false;
  let refused: StepsEnd["refused"];
  const halt = (): void => {
    halted.abort();
    shutGates(run);
  };
  const lineage = (): Lineage => ({ groups: [...run.groups], marks: [settings.mark] });

  const runDue = async (): Promise<void> => {
    for (const step of spec.steps) {
      if (halted.signal.aborted) return;
      if (!isDue(step, fate)) continue;
      fate = await runPipeline(step.pipeline, run);
      ran = true;
    }
  };
  const runAll = async (): Promise<void> => {
    try {
      await runDue();
    } catch (error) {
      if (!(error instanceof Refusal)) {
        unrecorded(error);
        throw error;
      }
      refused = { ...error.refused, ran };
      fate = { exitCode: null, signal: null };
      await endJob({ halt, lineage }, settings);
    } finally {
      pipe.closeWriter();
      recorded();
    }
  };
  return { job: { started, exit: runAll(), lineage, halt, fate: () => fate }, refused: () => refused };
}

/** A status stands until another step has run, so conditions group from the left: `a && b || c` is `(a && b) || c`. */
function isDue({ when }: Step, { exitCode }: Fate): boolean {
  return when === "always" || (when === "success") === (exitCode === 0);
}
