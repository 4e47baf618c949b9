import type { EventBodies, ProposalRow } from "@assent/core";
import { userMessage } from "./history.ts";
import { escapeXml, systemReminder } from "./reminder.ts";
import type { Talk } from "./talk.ts";

type Notice = EventBodies["notice.queued"];

/**
 * Between turns only, first in, first out: all notices up to the next schedule's in one message, a schedule's in a message of its own; each once.
 * What a person just said goes first: the turn that answers it tells no notices.
 */
export async function deliverNotices(talk: Talk, turn: number): Promise<void> {
  const { session } = talk.deps;
  if (talk.newPrompt || session.state.notices.size === 0) return;
  const { origin, notices } = firstGroup(session.state.notices.values());
  const text = notices.map(({ modelText }) => modelText).join("\n");
  const displayText = notices.map((notice) => notice.displayText).join("\n");
  const ids = notices.map(({ notice }) => notice);
  await session.record(
    [session.draft("message.user", { turn, content: text, origin, displayText }), session.draft("notice.delivered", { ids, turn })],
    "normal",
  );
  talk.messages.push(userMessage(text, origin));
  talk.detector.reset();
  talk.origin = origin;
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
