import { canonicalJson } from "../model/canonical-json.ts";
import type { Verdict } from "../model/decision.ts";
import { toolHookInput } from "../model/hook-input.ts";
import { modelText } from "../model/model-text.ts";
import type { Maybe } from "../tool-definition.ts";
import type { BatchRun, CallRun, Step } from "./call-run.ts";
import { synthesised } from "./endings.ts";
import { callContext, type Taken } from "./intake.ts";

/** What the `pre_tool_use` hooks said, as the judge and the model need it. */
export type HookView = {
  readonly verdict: Verdict | undefined;
  readonly name: string;
  readonly reason: string | undefined;
  readonly context: string | undefined;
};

/** The call as hooks left it: rewriting happens here, before anyone judges, and never again. */
export type Rewritten = { readonly taken: Taken; readonly hook: HookView | undefined };

/** Consults the `pre_tool_use` hooks; a changed input is validated again, and an invalid one denies. */
export function rewrite(batch: BatchRun, run: CallRun, taken: Taken): Maybe<Step<Rewritten>> {
  return batch.deps.hooks ? consult(batch, run, taken) : { go: { taken, hook: undefined } };
}

/** Who the session is, for hooks. */
export function hookSession(batch: BatchRun, run: CallRun): Parameters<typeof toolHookInput>[0] {
  const { cwd, sessionId, agentName } = callContext(batch, run);
  return { sessionId, transcriptPath: "", cwd, mode: batch.policy().mode, agentName: agentName ?? "" };
}

async function consult(batch: BatchRun, run: CallRun, taken: Taken): Promise<Step<Rewritten>> {
  const input = toolHookInput(hookSession(batch, run), {
    event: "pre_tool_use",
    tool: taken.tool.name,
    kind: taken.tool.kind,
    callId: run.callId,
    input: taken.invocation.input,
  });
  const said = await batch.deps.hooks?.consult("pre_tool_use", input, run.abort.signal);
  if (!said) return { go: { taken, hook: undefined } };
  const verdict = said.verdict === "none" ? undefined : said.verdict;
  const hook: HookView = { verdict, name: said.name, reason: said.reason, context: said.context };
  const changed = said.updatedInput;
  if (!changed || canonicalJson(changed) === canonicalJson(taken.invocation.input)) return { go: { taken, hook } };
  try {
    const invocation = await taken.tool.build(changed, callContext(batch, run));
    run.input = invocation.input;
    return { go: { taken: { ...taken, invocation, coercions: invocation.coercions }, hook } };
  } catch (error) {
    const problem = error instanceof Error ? error.message : String(error);
    const text = modelText.denied_by_hook(`hook ${said.name} produced an invalid input: ${problem}`);
    return { end: synthesised("denied", "denied_by_hook", text) };
  }
}
