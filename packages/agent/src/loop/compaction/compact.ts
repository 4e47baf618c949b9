import type { Maybe, Session } from "@assent/core";
import { compactionPrompt, planPrompt } from "../../prompts/prompts.ts";
import { contextSizeOf } from "../../providers/context-sizes.ts";
import { askedModel, type Talk, warn } from "../conversation-state.ts";
import { userMessage } from "../history/messages.ts";
import { providerFailure } from "../model/provider-failure.ts";
import { buildRequest, offeredTools } from "../model/request.ts";
import { withRetries } from "../model/retry.ts";
import { type ModelAnswer, streamAnswer } from "../model/stream-answer.ts";
import { escapeXml } from "../steering/reminder.ts";
import { mayCompact, tellHooks } from "../turn/hooks.ts";
import { FULL } from "./context-usage.ts";
import { compactable, compactedHistory } from "./kept-messages.ts";

/** Answers that must come before the history is made smaller by itself once more: a history that stays full is not summarised at every turn. */
const AGAIN_AFTER = 10;

/** What is made smaller, and why. */
export type Compacting = {
  readonly turn: number;
  readonly trigger: "auto" | "manual";
  readonly signal: AbortSignal;
};

/** Makes the history smaller where it fills too much of the model's context. */
export function compactIfFull(talk: Talk, asked: { readonly modelId: string } & Compacting): Maybe<void> {
  const { contextSize } = talk.deps;
  const size = contextSize?.(asked.modelId) ?? contextSizeOf(asked.modelId);
  return size === undefined || talk.room.filled(talk.messages) < size * FULL ? undefined : compactNow(talk, asked);
}

async function compactNow(talk: Talk, asked: Compacting): Promise<void> {
  if (answersOf(talk) < talk.compactFrom || !compactable(talk.messages)) return;
  await compact(talk, asked);
  talk.compactFrom = answersOf(talk) + AGAIN_AFTER;
}

function answersOf({ messages }: Talk): number {
  return messages.filter(({ role }) => role === "assistant").length;
}

/**
 * Replaces older turns with a summary by the session's own model. The ten newest answers stay; if a person asks and there are no more than ten, only the last
 * one stays. False: the history did not change.
 */
export async function compact(talk: Talk, { turn, trigger, signal }: Compacting): Promise<boolean> {
  const { session } = talk.deps;
  const found = compactable(talk.messages) ?? (trigger === "manual" ? compactable(talk.messages, 1) : undefined);
  if (!found) return false;
  const may = await mayCompact(talk, trigger, signal);
  if ("prevented" in may) {
    warn(talk, "compaction_prevented", `The history was not made smaller: ${may.prevented}`);
    return false;
  }
  try {
    const { text, usage } = await summarise(talk, { head: found.head, more: may.context, signal });
    const summary = summaryText(text, session);
    await session.record([session.draft("history.compacted", { turn, through: found.through, summary, usage })], "normal");
    talk.messages.splice(0, talk.messages.length, ...compactedHistory(talk.messages, { through: found.through, summary }));
    talk.room.forget();
    tellHooks(talk, "post_compact", { trigger });
    talk.tell({ type: "compacted", turn, through: found.through, summary });
    return true;
  } catch (error) {
    if (!signal.aborted)
      warn(talk, "compaction_failed", `The history was not made smaller: ${providerFailure(error, askedModel(talk) ?? "").message}`);
    return false;
  }
}

type Summarising = {
  readonly head: NonNullable<ReturnType<typeof compactable>>["head"];
  readonly more: string | undefined;
  readonly signal: AbortSignal;
};

/** A request of its own, counted like every other. */
async function summarise(talk: Talk, { head, more, signal }: Summarising): Promise<ModelAnswer> {
  const { deps, capabilities } = talk;
  const id = deps.session.state.model;
  const model = await deps.model(id);
  const request = buildRequest({
    messages: [...head, userMessage(compactionPrompt(more), "reminder")],
    system: deps.system(),
    tools: offeredTools(deps.tools(), deps), // providers want to know the tools that a history speaks of
    choice: "none",
    capability: capabilities.of(model),
    signal,
  });
  const began = deps.clock.now();
  const answer = await withRetries(() => streamAnswer(model, request, undefined), { clock: deps.clock, signal });
  talk.usage.waited(deps.clock.now() - began);
  talk.usage.add(id ?? model.modelId, answer.usage);
  deps.limits?.spend(answer.usage, id ?? model.modelId);
  if (answer.text.trim() === "" || answer.truncated) throw new Error("the model gave no whole summary.");
  return answer;
}

const ENVELOPES = /<(?=\s*\/?\s*(?:conversation-summary|system-reminder|task-notification|hook)\b)/gi;

/** What the model will read in place of what was said. What waits for it is told from the record, not from memory. */
function summaryText(text: string, { state }: Session): string {
  const proposals = [...state.proposals.values()].map(({ id, label }) => `- ${id}: ${escapeXml(label)}`);
  const tasks = [...state.tasks.values()].map(
    ({ task, agent, description }) => `- ${task} (${escapeXml(agent)}: ${escapeXml(description)})`,
  );
  return [
    "<conversation-summary>",
    "The conversation before this was summarised. What follows the summary was not.",
    "",
    text.trim().replaceAll(ENVELOPES, "&lt;"),
    ...(proposals.length > 0 ? ["", "Pending proposals:", ...proposals] : []),
    ...(tasks.length > 0 ? ["", "Background tasks that have not ended:", ...tasks] : []),
    ...(state.planning ? ["", planPrompt(escapeXml(state.planning.file))] : []),
    "</conversation-summary>",
  ].join("\n");
}
