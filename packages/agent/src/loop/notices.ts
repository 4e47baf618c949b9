import type { ProposalRow } from "@assent/core";
import { userMessage } from "./history.ts";
import { escapeXml, systemReminder } from "./reminder.ts";
import type { Talk } from "./run-turns.ts";

/** Between turns only, all in one message, each once. */
export async function deliverNotices(talk: Talk, turn: number): Promise<void> {
  const { session, observe } = talk.deps;
  const notices = [...session.state.notices.values()];
  if (notices.length === 0) return;
  const text = notices.map(({ modelText }) => modelText).join("\n");
  const displayText = notices.map((notice) => notice.displayText).join("\n");
  await session.record(
    [
      session.draft("message.user", { turn, content: text, origin: "notice", displayText }),
      session.draft("notice.delivered", { ids: notices.map(({ notice }) => notice), turn }),
    ],
    "normal",
  );
  talk.messages.push(userMessage(text, "notice"));
  talk.detector.reset();
  observe?.({ type: "notice", turn, text, displayText });
}

/** The model goes on without it, and the person is told where it waits. */
export async function tellParked({ deps }: Talk, row: ProposalRow): Promise<void> {
  const { session, ids, observe } = deps;
  const text = `${row.label} is parked for the person as ${row.id}. Continue without it.`;
  const modelText = systemReminder([escapeXml(text)]);
  await session.record(
    [session.draft("notice.queued", { notice: ids.next("n_"), kind: "proposal", modelText, displayText: text })],
    "normal",
  );
  observe?.({ type: "parked", proposal: row });
}
