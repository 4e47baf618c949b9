import type { LanguageModelV4Message } from "@ai-sdk/provider";
import { listOfferedTools, type Session } from "@assent/core";
import { compactionPrompt, planPrompt } from "../../prompts/prompts.ts";
import { getContextSize } from "../../providers/known-models.ts";
import { type ConversationState, emitWarning, nextModelId } from "../conversation-state.ts";
import { userMessage } from "../history/messages.ts";
import { providerFailure } from "../model/provider-failure.ts";
import { buildRequest } from "../model/request.ts";
import { withRetries } from "../model/retry.ts";
import { type ModelAnswer, streamAnswer } from "../model/stream-answer.ts";
import { escapeXml } from "../steering/reminder.ts";
import { consultPreCompact, tellHooks } from "../turn/hooks.ts";
import { COMPACT_ABOVE } from "./context-usage.ts";
import { compactedHistory, findCompactable } from "./kept-messages.ts";

/** Answers between two automatic compactions, so that a history that stays full is not summarized every turn. */
const AGAIN_AFTER = 10;

/** Compacts the history if it fills too much of the model's context. */
export async function compactIfFull(
  state: ConversationState,
  { modelId, turn, signal }: { readonly modelId: string; readonly turn: number; readonly signal: AbortSignal },
): Promise<void> {
  const size = state.deps.contextSize?.(modelId) ?? getContextSize(modelId);
  if (size === undefined || state.contextUsage.estimate(state.messages) < size * COMPACT_ABOVE) return;
  if (countAnswers(state) < state.compactFrom || !findCompactable(state.messages)) return;
  await compact(state, { turn, trigger: "auto", signal });
  state.compactFrom = countAnswers(state) + AGAIN_AFTER;
}

function countAnswers({ messages }: ConversationState): number {
  return messages.filter(({ role }) => role === "assistant").length;
}

/**
 * Replaces older turns with a summary by the session's own model. The ten newest answers stay. If a person asks and there are no more than ten,
 * only the last one stays. Returns false if the history did not change.
 */
export async function compact(
  state: ConversationState,
  { turn, trigger, signal }: { readonly turn: number; readonly trigger: "auto" | "manual"; readonly signal: AbortSignal },
): Promise<boolean> {
  const { session } = state.deps;
  const found = findCompactable(state.messages) ?? (trigger === "manual" ? findCompactable(state.messages, 1) : undefined);
  if (!found) return false;
  const consulted = await consultPreCompact(state, trigger, signal);
  if ("prevented" in consulted) {
    emitWarning(state, "compaction_prevented", `The history was not compacted: ${consulted.prevented}`);
    return false;
  }
  try {
    const { text, usage } = await requestSummary(state, found.head, consulted.context, signal);
    const summary = summaryText(text, session);
    await session.record([session.draft("history.compacted", { turn, through: found.through, summary, usage })], "normal");
    state.messages.splice(0, state.messages.length, ...compactedHistory(state.messages, { through: found.through, summary }));
    state.contextUsage.reset();
    tellHooks(state, "post_compact", { trigger });
    state.emit({ type: "compacted", turn, through: found.through, summary });
    return true;
  } catch (error) {
    if (!signal.aborted)
      emitWarning(state, "compaction_failed", `The history was not compacted: ${providerFailure(error, nextModelId(state) ?? "").message}`);
    return false;
  }
}

async function requestSummary(
  state: ConversationState,
  head: readonly LanguageModelV4Message[],
  hookContext: string | undefined,
  signal: AbortSignal,
): Promise<ModelAnswer> {
  const { deps, capabilities } = state;
  const id = deps.session.state.model;
  const model = await deps.model(id);
  const request = buildRequest({
    messages: [...head, userMessage(compactionPrompt(hookContext), "reminder")],
    system: deps.system(),
    tools: listOfferedTools(deps.tools(), deps), // providers require the tools that a history mentions
    choice: "none",
    capability: capabilities.of(model),
    signal,
  });
  const answer = await withRetries(() => streamAnswer(model, request, undefined), { clock: deps.clock, signal });
  deps.limits?.spend(answer.usage, id ?? model.modelId);
  if (answer.text.trim() === "" || answer.truncated) throw new Error("the model did not write a complete summary.");
  return answer;
}

const ENVELOPES = /<(?=\s*\/?\s*(?:conversation-summary|system-reminder|task-notification|hook)\b)/gi;

/** The summary as the model reads it. What is pending comes from the record, not from the model's memory. */
function summaryText(text: string, { state }: Session): string {
  const proposals = [...state.proposals.values()].map(({ id, label }) => `- ${id}: ${escapeXml(label)}`);
  const tasks = [...state.tasks.values()].map(
    ({ task, agent, description }) => `- ${task} (${escapeXml(agent)}: ${escapeXml(description)})`,
  );
  return [
    "<conversation-summary>",
    "The conversation before this was summarized. What follows the summary was not.",
    "",
    text.trim().replaceAll(ENVELOPES, "&lt;"),
    ...(proposals.length > 0 ? ["", "Pending proposals:", ...proposals] : []),
    ...(tasks.length > 0 ? ["", "Background tasks that have not ended:", ...tasks] : []),
    ...(state.planning ? ["", planPrompt(escapeXml(state.planning.file))] : []),
    "</conversation-summary>",
  ].join("\n");
}
