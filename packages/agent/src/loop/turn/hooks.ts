import { type Content, contentText, type HookEvent, type HookNotice, type HookOpinion, type JsonObject } from "@assent/core";
import { hookEnvelope, sessionHookInput } from "@assent/core/parts";
import type { ConversationDeps, RunEnd } from "../conversation.ts";
import { end, remind, type Talk, warn } from "../conversation-state.ts";

/** What a hook of this session reads about an event of the loop. */
export function loopHookInput({ session, agent }: ConversationDeps, event: HookEvent | HookNotice): JsonObject {
  const { created, mode } = session.state;
  const about = { sessionId: session.id, mode, ...(created && { cwd: created.cwd }), ...(agent && { agentName: agent.type }) };
  return sessionHookInput(about, event);
}

/** Whether this is an agent that another one started: nobody typed its prompt, and no session begins with it. */
export function isAgent({ session, agent }: ConversationDeps): boolean {
  return agent !== undefined || (session.state.created?.parent ?? null) !== null;
}

type Said = { readonly opinion: HookOpinion | undefined } | { readonly failed: string };

async function consult(talk: Talk, event: HookEvent, { fields, signal }: Consulting): Promise<Said> {
  const { hooks } = talk.deps;
  if (!hooks) return { opinion: undefined };
  try {
    return { opinion: await hooks.consult(event, { ...loopHookInput(talk.deps, event), ...fields }, signal) };
  } catch (error) {
    return { failed: error instanceof Error ? error.message : String(error) };
  }
}

type Consulting = { readonly fields?: JsonObject; readonly signal: AbortSignal };

/** Tells hooks of what happened; nothing waits for them. */
export function tellHooks({ deps }: Talk, event: HookNotice, fields: JsonObject): void {
  deps.hooks?.tell(event, { ...loopHookInput(deps, event), ...fields });
}

/** Lets hooks speak before something that they cannot prevent. */
async function listen(talk: Talk, event: HookEvent, consulting: Consulting): Promise<void> {
  const said = await consult(talk, event, consulting);
  if ("failed" in said) warn(talk, "hook_failed", `a ${event} hook failed: ${said.failed}`);
  else if (said.opinion) await tellContext(talk, said.opinion);
}

async function tellContext(talk: Talk, { name, spokenBy, context }: HookOpinion): Promise<void> {
  const words = hookEnvelope({ name, ...(spokenBy !== undefined && { spokenBy }), context });
  if (words !== undefined) await remind(talk, talk.deps.session.state.turn + 1, words);
}

/** Once per conversation, before anything is said in it. */
export async function greet(talk: Talk, signal: AbortSignal): Promise<void> {
  if (talk.greeted) return;
  talk.greeted = true;
  const { hooks, source } = talk.deps;
  if (!hooks || isAgent(talk.deps)) return;
  const hasHistory = talk.messages.some(({ role }) => role !== "system");
  await listen(talk, "session_start", { fields: { source: source ?? (hasHistory ? "resume" : "startup") }, signal });
}

/** Before every request. */
export async function startTurn(talk: Talk, signal: AbortSignal): Promise<void> {
  if (talk.deps.hooks) await listen(talk, "turn_start", { signal });
}

type Submitted = { readonly refused: RunEnd } | { readonly context: HookOpinion | undefined };

/** Whether a person's prompt may enter the history; a hook that fails refuses it. What hooks add is told after it. */
export async function submitPrompt(talk: Talk, prompt: Content, signal: AbortSignal): Promise<Submitted> {
  if (!talk.deps.hooks || isAgent(talk.deps)) return { context: undefined };
  const said = await consult(talk, "user_prompt_submit", { fields: { prompt: contentText(prompt) }, signal });
  if (signal.aborted) return { refused: end(talk, "cancelled") };
  const why = "failed" in said ? `hook hooks failed to execute: ${said.failed}` : refusal(said.opinion);
  if (why !== undefined) return { refused: end(talk, "stopped", { type: "hook_stopped", message: `The prompt was not sent: ${why}` }) };
  return { context: "opinion" in said ? said.opinion : undefined };
}

/** Context that came with a prompt stands behind it. */
export async function addContext(talk: Talk, opinion: HookOpinion | undefined): Promise<void> {
  if (opinion) await tellContext(talk, opinion);
}

/** A block, in whichever form it came; what is no verdict must not pass for none. */
function refusal(opinion: HookOpinion | undefined): string | undefined {
  if (!opinion) return undefined;
  const { verdict, stop, reason, name } = opinion;
  if (stop === undefined && (verdict === "none" || verdict === "allow")) return undefined;
  return stop || reason || `blocked by hook ${name}`;
}

/** Whether the history may be made smaller, and what hooks want its summary to heed; a hook that fails prevents it. */
export async function mayCompact(
  talk: Talk,
  trigger: "auto" | "manual",
  signal: AbortSignal,
): Promise<{ readonly prevented: string } | { readonly context: string | undefined }> {
  const said = await consult(talk, "pre_compact", { fields: { trigger }, signal });
  if ("failed" in said) return { prevented: `hook hooks failed to execute: ${said.failed}` };
  const why = refusal(said.opinion);
  if (why !== undefined) return { prevented: why };
  return { context: said.opinion && hookEnvelope({ name: said.opinion.name, context: said.opinion.context }) };
}
