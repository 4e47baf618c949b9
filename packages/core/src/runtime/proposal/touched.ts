import { modelText } from "../../model/text/model-text.ts";
import type { Location, Preview } from "../../tool-definition.ts";
import type { Ending } from "../dispatch.ts";
import { assessRequest, type Judgeable } from "../pipeline/assess.ts";
import type { BatchRun, CallRun } from "../pipeline/call-run.ts";
import { denial, synthesised } from "../pipeline/endings.ts";
import { assessmentInput } from "../pipeline/judge.ts";
import type { Assessment, JudgedCall } from "../pipeline/judged-call.ts";
import { asReading } from "./assess-preview.ts";

/**
 * What is judged is what runs: a preview that touches files its call did not name is judged by those files too. A deny holds; what only a rule let pass
 * must be let pass for them as well. Undefined: nothing stands against it.
 */
export async function refuseTouched(batch: BatchRun, run: CallRun, judged: JudgedCall, preview: Preview): Promise<Ending | undefined> {
  const unnamed = unnamedPaths(judged, preview);
  if (unnamed.length === 0) return undefined;
  const { tool, invocation, stages } = judged;
  const touching: Judgeable = {
    input: invocation.input,
    locations: () => unnamed,
    opinion: () => invocation.opinion(),
    safe: () => invocation.safe(),
  };
  const assessing = { ...assessmentInput(batch, run, judged), invocation: touching };
  const effect = await assessRequest(assessing);
  if (effect.decision.verdict === "deny") return refused(effect);
  const declared = tool.definition.locations !== undefined;
  const seen = stages ? await assessRequest(await asReading(batch.batch, assessing)) : effect;
  if (seen.decision.verdict === "deny") return refused(seen);
  const passed = judged.decision.verdict === "allow" && declared;
  return passed && seen.decision.verdict === "ask" ? unjudged(judged, unnamed) : undefined;
}

function unnamedPaths({ invocation }: JudgedCall, { changes }: Preview): readonly Location[] {
  const named = new Set(invocation.locations()?.map(({ path }) => path));
  const touched = changes.flatMap(({ path, to }) => (to === undefined ? [path] : [path, to]));
  return touched.filter((path) => !named.has(path)).map((path) => ({ path }));
}

/** The call is claimed: it ends as failed, in the words of whoever denies. */
function refused(assessed: Assessment): Ending {
  return { ...denial(assessed, false), state: "failed" };
}

function unjudged({ request }: JudgedCall, unnamed: readonly Location[]): Ending {
  const message = `${unnamed[0]?.path ?? ""} is not among the files '${request.tool}' was allowed to touch`;
  return synthesised("failed", "execution_denied", modelText.execution_failed(message));
}
