import { type Content, contentText, type HookEvent, type HookNotice, type HookOpinion, type JsonObject, messageOf } from "@assent/core";
import { hookEnvelope, sessionHookInput } from "@assent/core/parts";
import { type ConversationDeps, type ConversationState, emitWarning, endRun, type RunEnd, remindModel } from "../conversation-state.ts";

export function loopHookInput({ session, agent }: Pick<ConversationDeps, "session" | "agent">, event: HookEvent | HookNotice): JsonObject {
  const { created, mode } = session.state;
  const about = { sessionId: session.id, mode, ...(created && { cwd: created.cwd }), ...(agent && { agentName: agent.type }) };
  return sessionHookInput(about, event);
}

/** True for an agent that another one started. No person typed its prompt, and it does not start a session for hooks. */
export function isAgent({ session, agent }: ConversationDeps): boolean {
  return agent !== undefined || (session.state.created?.parent ?? null) !== null;
}

type HookAnswer = { readonly opinion: HookOpinion | undefined } | { readonly failed: string };

async function consult(state: ConversationState, event: HookEvent, fields: JsonObject, signal: AbortSignal): Promise<HookAnswer> {
  const { hooks } = state.deps;
  if (!hooks) return { opinion: undefined };
  try {
    return { opinion: await hooks.consult(event, { ...loopHookInput(state.deps, event), ...fields }, signal) };
  } catch (error) {
    return { failed: messageOf(error) };
  }
}

/** Tells hooks what happened, without waiting for them. */
export function tellHooks({ deps }: ConversationState, event: HookNotice, fields: JsonObject): void {
  deps.hooks?.tell(event, { ...loopHookInput(deps, event), ...fields });
}

/** Consults hooks about an event that they cannot block. */
async function consultForContext(state: ConversationState, event: HookEvent, fields: JsonObject, signal: AbortSignal): Promise<void> {
  const answer = await consult(state, event, fields, signal);
  if ("failed" in answer) emitWarning(state, "hook_failed", `a ${event} hook failed: ${answer.failed}`);
  else if (answer.opinion) await tellContext(state, answer.opinion);
}

export async function tellContext(state: ConversationState, { name, spokenBy, context }: HookOpinion): Promise<void> {
  const text = hookEnvelope({ name, spokenBy, context });
  if (text !== undefined) await remindModel(state, state.deps.session.state.turn + 1, text);
}

/** Consults `session_start` hooks once per conversation, before the first message. */
export async function consultSessionStart(state: ConversationState, signal: AbortSignal): Promise<void> {
  if (state.sessionStartSent) return;
  state.sessionStartSent = true;
  const { hooks, source } = state.deps;
  if (!hooks || isAgent(state.deps)) return;
  const hasHistory = state.messages.some(({ role }) => role !== "system");
  await consultForContext(state, "session_start", { source: source ?? (hasHistory ? "resume" : "startup") }, signal);
}

export async function consultTurnStart(state: ConversationState, signal: AbortSignal): Promise<void> {
  if (state.deps.hooks) await consultForContext(state, "turn_start", {}, signal);
}

type SubmittedPrompt = { readonly refused: RunEnd } | { readonly opinion: HookOpinion | undefined };

/** Asks hooks whether a prompt may enter the history. A hook that fails refuses it. */
export async function submitPrompt(state: ConversationState, prompt: Content, signal: AbortSignal): Promise<SubmittedPrompt> {
  if (!state.deps.hooks || isAgent(state.deps)) return { opinion: undefined };
  const answer = await consult(state, "user_prompt_submit", { prompt: contentText(prompt) }, signal);
  if (signal.aborted) return { refused: endRun(state, "cancelled") };
  const why = findRefusal(answer);
  if (why !== undefined) return { refused: endRun(state, "stopped", { type: "hook_stopped", message: `The prompt was not sent: ${why}` }) };
  return { opinion: "opinion" in answer ? answer.opinion : undefined };
}

function findRefusal(answer: HookAnswer): string | undefined {
  if ("failed" in answer) return `hook hooks failed to execute: ${answer.failed}`;
  return answer.opinion && refusalOf(answer.opinion);
}

/** Why hooks refuse; undefined if they do not. Anything but `none` and `allow` refuses. */
export function refusalOf({ verdict, stop, reason, name }: HookOpinion): string | undefined {
  if (stop === undefined && (verdict === "none" || verdict === "allow")) return undefined;
  return stop || reason || `blocked by hook ${name}`;
}

/** Asks hooks whether the history may be compacted, and what the summary should heed. A hook that fails prevents it. */
export async function consultPreCompact(
  state: ConversationState,
  trigger: "auto" | "manual",
  signal: AbortSignal,
): Promise<{ readonly prevented: string } | { readonly context: string | undefined }> {
  const answer = await consult(state, "pre_compact", { trigger }, signal);
  const why = findRefusal(answer);
  if (why !== undefined) return { prevented: why };
  if (!("opinion" in answer) || !answer.opinion) return { context: undefined };
  const { name, spokenBy, context } = answer.opinion;
  return { context: hookEnvelope({ name, spokenBy, context }) };
}
