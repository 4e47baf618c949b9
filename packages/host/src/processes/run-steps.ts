import type { PlanStep, StepsEnd, StepsSpec } from "@assent/core";
import { endJob, followJob, NEVER_STARTED, type ProgramFate, type ProgramJob } from "./follow-job.ts";
import type { Lineage } from "./lineage.ts";
import { type OutputPipe, openOutputPipe } from "./output-pipe.ts";
import { type PipelineRun, refuseChanged, runPipeline, StartRefusal, shutGates } from "./run-pipeline.ts";

type StepSettings = PipelineRun["settings"];

/** Runs pipelines in sequence, depending on their conditions. */
export async function runSteps(spec: StepsSpec, signal: AbortSignal, settings: StepSettings): Promise<StepsEnd> {
  if (signal.aborted) return NEVER_STARTED;
  try {
    refuseChanged(spec.steps.flatMap(({ pipeline }) => pipeline));
  } catch (error) {
    if (error instanceof StartRefusal) return { ...NEVER_STARTED, ended: "exit", refused: { ...error.refused, ran: false } };
    throw error;
  }
  const pipe = await openOutputPipe(settings.temporaryDirectory);
  try {
    if (signal.aborted) return NEVER_STARTED;
    const { job, refused } = startSteps(spec, pipe, settings);
    const end = await followJob({ spec, signal, settings, job, readers: pipe.readers });
    const refusal = refused();
    return refusal ? { ...end, refused: refusal } : end;
  } finally {
    pipe.close();
  }
}

type RunningSteps = { readonly job: ProgramJob; readonly refused: () => StepsEnd["refused"] };

function startSteps(spec: StepsSpec, pipe: OutputPipe, settings: StepSettings): RunningSteps {
  const { promise: started, resolve: recorded, reject: unrecorded } = Promise.withResolvers<void>();
  const halted = new AbortController();
  const run: PipelineRun = { spec, settings, output: pipe.writeFd, groups: new Set(), gates: new Set(), halted: halted.signal, recorded };
  let fate: ProgramFate = { exitCode: 0, signal: null };
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
      if (!(error instanceof StartRefusal)) {
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

/** Conditions group from the left: `a && b || c` is `(a && b) || c`. */
function isDue({ when }: PlanStep, { exitCode }: ProgramFate): boolean {
  return when === "always" || (when === "success") === (exitCode === 0);
}
