import type { EventBodies, Maybe, ProposalRow, Session } from "@assent/core";
import type { Talk } from "../loop/conversation-state.ts";
import { userMessage } from "../loop/history/messages.ts";
import { escapeXml, systemReminder } from "../loop/steering/reminder.ts";

type Notice = EventBodies["notice.queued"];

/** What people did with proposals is told with what is said next; only what came of work, or is due, starts turns by itself. */
function wakes({ kind }: Pick<Notice, "kind">): boolean {
  return kind !== "proposal";
}

/** Whether a notice waits that starts a turn by itself. */
export function hasWaking({ state }: Pick<Session, "state">): boolean {
  return [...state.notices.values()].some(wakes);
}

/**
 * Between turns only, first in, first out: all notices up to the next schedule's in one message, a schedule's in a message of its own; each once.
 * What a person just said goes first: the turn that answers it tells only what people did themselves.
 */
export function deliverNotices(talk: Talk, turn: number): Maybe<void> {
  return talk.deps.session.state.notices.size === 0 ? undefined : deliver(talk, turn);
}

async function deliver(talk: Talk, turn: number): Promise<void> {
  const { session } = talk.deps;
  const waiting = [...session.state.notices.values()].filter((notice) => !(talk.newPrompt && wakes(notice)));
  if (waiting.length === 0) return;
  const { origin, notices } = firstGroup(waiting);
  const text = notices.map(({ modelText }) => modelText).join("\n");
  const displayText = notices.map((notice) => notice.displayText).join("\n");
  const ids = notices.map(({ notice }) => notice);
  await session.record(
    [session.draft("message.user", { turn, content: text, origin, displayText }), session.draft("notice.delivered", { ids, turn })],
    "normal",
  );
  talk.messages.push(userMessage(text, origin));
  talk.detector.reset();
  if (!talk.newPrompt) talk.origin = origin;
  talk.tell({ type: "notice", turn, text, displayText, origin, ids });
}

type Group = { readonly origin: "notice" | "schedule"; readonly notices: readonly Notice[] };

function firstGroup(queued: Iterable<Notice>): Group {
  const notices: Notice[] = [];
  for (const notice of queued) {
    if (notice.kind !== "schedule") notices.push(notice);
    else return notices.length === 0 ? { origin: "schedule", notices: [notice] } : { origin: "notice", notices };
  }
  return { origin: "notice", notices };
}

/** The model goes on without it, and the person is told where it waits. */
export async function tellParked({ deps, tell }: Talk, row: ProposalRow): Promise<void> {
  const { session, ids } = deps;
  const text = `${row.label} is parked for the person as ${row.id}. Continue without it.`;
  const modelText = systemReminder([escapeXml(text)]);
  await session.record(
    [session.draft("notice.queued", { notice: ids.next("n_"), kind: "proposal", modelText, displayText: text })],
    "normal",
  );
  tell({ type: "parked", proposal: row });
}
