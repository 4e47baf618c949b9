import { type HookOpinion, rewrittenInput } from "../../model/hooks/combine.ts";
import type { HookPoint } from "../../model/hooks/event-table.ts";
import { type HookCall, type HookSession, toolHookInput } from "../../model/hooks/input.ts";
import { isObject } from "../../model/json/json.ts";
import { messageOf } from "../../model/result/thrown.ts";
import type { Hooks } from "../../ports.ts";
import { type BatchRun, type CallRun, toolName } from "./call-run.ts";
import { buildInput, callContext } from "./intake.ts";
import type { HookView, ParsedCall } from "./judged-call.ts";

/** Consults the `pre_tool_use` hooks. A changed input is validated again; an invalid one, like a failing hook, denies. Rewriting never happens after this. */
export async function rewriteCall(batch: BatchRun, run: CallRun, parsed: ParsedCall): Promise<ParsedCall> {
  const event = "pre_tool_use";
  const hooks = hooksOf(batch, event, parsed.tool.name);
  if (!hooks) return parsed;
  try {
    const said = await hooks.consult(event, toolHookInput(hookSession(batch, run), hookCall(run, event)), run.abort.signal);
    if (!said) return parsed;
    const verdict = said.verdict === "none" ? undefined : said.verdict;
    if (said.context !== undefined) run.hookWords = { name: said.spokenBy ?? said.name, context: said.context };
    return await withInput(batch, run, { ...parsed, hook: { verdict, name: said.name, reason: said.reason } }, said);
  } catch (error) {
    return { ...parsed, hook: denying("hooks", `hook hooks failed to execute: ${messageOf(error)}`) };
  }
}

/** The hooks, unless none of this event looks at calls of the tool. */
export function hooksOf({ deps: { hooks } }: BatchRun, event: HookPoint, tool: string): Hooks | undefined {
  return hooks?.applies?.(event, tool) === false ? undefined : hooks;
}

/** What the input of a hook says about a call. */
export function hookCall(run: CallRun, event: HookPoint): HookCall {
  const { tool, callId, input } = run;
  return { event, tool: toolName(run), kind: tool?.kind ?? "other", callId, input };
}

export function hookSession(batch: BatchRun, run: CallRun): HookSession {
  return { ...callContext(batch, run), mode: batch.policy().mode };
}

function denying(name: string, reason: string): HookView {
  return { verdict: "deny", name, reason };
}

/** The call with the input that a hook changed. An invalid input denies the call; the original never runs instead. */
export async function withInput(batch: BatchRun, run: CallRun, parsed: ParsedCall, said: HookOpinion): Promise<ParsedCall> {
  const { updatedInput: input, updatedInputMode: mode = "merge", rewrittenBy: by = said.name } = said;
  if (input === undefined) return parsed;
  try {
    if (!isObject(input)) throw new TypeError("updatedInput is not an object");
    if (mode !== "merge" && mode !== "replace") throw new TypeError("updatedInputMode is not merge or replace");
    const value = rewrittenInput(parsed.invocation.input, { updatedInput: { input, mode } });
    if (value === undefined) return parsed;
    const invocation = await buildInput(batch, run, parsed.tool, { value });
    if (!invocation) return { ...parsed, hook: denying(by, "the call was stopped before its input was checked") };
    run.input = invocation.input;
    return { ...parsed, invocation, coercions: invocation.coercions };
  } catch (error) {
    return { ...parsed, hook: denying(by, `hook ${by} produced an invalid input: ${messageOf(error)}`) };
  }
}
