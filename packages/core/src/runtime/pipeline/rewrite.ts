import type { Verdict } from "../../model/decision.ts";
import { toolHookInput } from "../../model/hooks/input.ts";
import { canonicalJson } from "../../model/json/canonical.ts";
import type { JsonObject } from "../../model/json/json.ts";
import { messageOf } from "../../model/result/thrown.ts";
import { buildFrom } from "../../tool.ts";
import type { Maybe } from "../../tool-definition.ts";
import type { BatchRun, CallRun } from "./call-run.ts";
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

/** Consults the `pre_tool_use` hooks; a changed input is validated again, and an invalid one, like a failing hook, denies. */
export function rewrite(batch: BatchRun, run: CallRun, taken: Taken): Maybe<Rewritten> {
  return batch.deps.hooks ? consult(batch, run, taken) : { taken, hook: undefined };
}

/** Who the session is, for hooks. */
export function hookSession(batch: BatchRun, run: CallRun): Parameters<typeof toolHookInput>[0] {
  const { cwd, sessionId, agentName } = callContext(batch, run);
  return { sessionId, transcriptPath: "", cwd, mode: batch.policy().mode, agentName: agentName ?? "" };
}

async function consult(batch: BatchRun, run: CallRun, taken: Taken): Promise<Rewritten> {
  const { tool, invocation } = taken;
  const about = { event: "pre_tool_use", tool: tool.name, kind: tool.kind, callId: run.callId, input: invocation.input };
  try {
    const said = await batch.deps.hooks?.consult("pre_tool_use", toolHookInput(hookSession(batch, run), about), run.abort.signal);
    if (!said) return { taken, hook: undefined };
    if (!isVerdict(said.verdict)) return { taken, hook: denying(said.name, `hook ${said.name} failed to execute: invalid output`) };
    const verdict = said.verdict === "none" ? undefined : said.verdict;
    if (said.context !== undefined) run.hookWords = { name: said.spokenBy ?? said.name, context: said.context };
    return await withInput(batch, run, {
      taken,
      changed: said.updatedInput,
      by: said.rewrittenBy ?? said.name,
      hook: { verdict, name: said.name, reason: said.reason, context: said.context },
    });
  } catch (error) {
    return { taken, hook: denying("hooks", `hook hooks failed to execute: ${messageOf(error)}`) };
  }
}

/** A port of the user's may say anything; what is no verdict must not pass for none. */
function isVerdict(verdict: unknown): boolean {
  return verdict === "allow" || verdict === "ask" || verdict === "deny" || verdict === "none";
}

function denying(name: string, reason: string): HookView {
  return { verdict: "deny", name, reason, context: undefined };
}

type Changing = {
  readonly taken: Taken;
  readonly hook: HookView;
  readonly changed: JsonObject | undefined;
  /** The hook that changed it. */
  readonly by: string;
};

/** Formatting is no difference. An invalid rewrite is denied: never the original instead. */
export async function withInput(batch: BatchRun, run: CallRun, { taken, hook, changed, by }: Changing): Promise<Rewritten> {
  if (!changed) return { taken, hook };
  try {
    if (canonicalJson(changed) === canonicalJson(taken.invocation.input)) return { taken, hook };
    const invocation = await buildFrom(taken.tool, { value: changed }, callContext(batch, run));
    run.input = invocation.input;
    return { taken: { ...taken, invocation, coercions: invocation.coercions }, hook };
  } catch (error) {
    return { taken, hook: denying(by, `hook ${by} produced an invalid input: ${messageOf(error)}`) };
  }
}
