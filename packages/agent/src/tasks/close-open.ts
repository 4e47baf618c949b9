import type { By, Session } from "@assent/core";

/** Closes what an agent's session still asks people; an answer that comes later is told that it is closed. */
export async function closeOpen(root: Session, session: string, by: string): Promise<void> {
  const { ledger } = root;
  for (const { id: approval, call, revision } of await ledger.pending("approvals", { session, limit: 1_000 }))
    await ledger.answer([root.draft("approval.closed", { approval, session, call, revision, outcome: "cancelled", by })]);
  const who: By = { kind: "person", user: by, name: by, door: "task", pid: root.holder.pid };
  for (const { id: question } of await ledger.pending("questions", { session, limit: 1_000 }))
    await ledger.answer([root.draft("question.answered", { question, session, outcome: "cancelled", by: who, reason: null })]);
}
