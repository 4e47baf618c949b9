import type { EventBodies, ProposalRow, Session } from "@assent/core";
import type { ConversationState } from "../loop/conversation-state.ts";
import { userMessage } from "../loop/history/messages.ts";
import { escapeXml, systemReminder } from "../loop/steering/reminder.ts";

type Notice = EventBodies["notice.queued"];

/** Notices about proposals wait for the next message. All others start a turn by themselves. */
function startsTurn({ kind }: Pick<Notice, "kind">): boolean {
  return kind !== "proposal";
}

/** True if a queued notice starts a turn by itself. */
export function hasWakingNotice({ state }: Pick<Session, "state">): boolean {
  return [...state.notices.values()].some(startsTurn);
}

/**
 * Delivers queued notices to the model, each once, in order. All notices up to the next schedule's form one message; a schedule's notice is a
 * message of its own. A turn that answers a person's prompt delivers only notices about proposals.
 */
export async function deliverNotices(state: ConversationState, turn: number): Promise<void> {
  const { session } = state.deps;
  const waiting = [...session.state.notices.values()].filter((notice) => !(state.newPrompt && startsTurn(notice)));
  if (waiting.length === 0) return;
  const { origin, notices } = firstGroup(waiting);
  const text = notices.map(({ modelText }) => modelText).join("\n");
  const displayText = notices.map((notice) => notice.displayText).join("\n");
  const ids = notices.map(({ notice }) => notice);
  await session.record(
    [session.draft("message.user", { turn, content: text, origin, displayText }), session.draft("notice.delivered", { ids, turn })],
    "normal",
  );
  state.messages.push(userMessage(text, origin));
  state.detector.reset();
  if (!state.newPrompt) state.origin = origin;
  state.emit({ type: "notice", turn, text, displayText, origin, ids });
}

type NoticeGroup = { readonly origin: "notice" | "schedule"; readonly notices: readonly Notice[] };

function firstGroup(queued: readonly Notice[]): NoticeGroup {
  const notices: Notice[] = [];
  for (const notice of queued) {
    if (notice.kind !== "schedule") notices.push(notice);
    else return notices.length === 0 ? { origin: "schedule", notices: [notice] } : { origin: "notice", notices };
  }
  return { origin: "notice", notices };
}

/** Queues a notice that a proposal was left to a person. */
export async function queueParkedNotice({ deps, emit }: ConversationState, row: ProposalRow): Promise<void> {
  const { session, ids } = deps;
  const text = `${row.label} is parked for the person as ${row.id}. Continue without it.`;
  const modelText = systemReminder([escapeXml(text)]);
  await session.record(
    [session.draft("notice.queued", { notice: ids.next("n_"), kind: "proposal", modelText, displayText: text })],
    "normal",
  );
  emit({ type: "parked", proposal: row });
}
