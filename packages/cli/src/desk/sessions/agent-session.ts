import { type Answer, type ApprovalRow, type Ledger, readRow, type SessionRow } from "@assent/core";
import { CommandError } from "../../io/failure.ts";

/** Null for a main session. */
export async function agentTask(ledger: Ledger, session: string): Promise<string | null> {
  return (await parentOf(ledger, session))?.task ?? null;
}

/** Only the session that started an agent may continue it. */
export async function refuseAgentSession(ledger: Ledger, id: string): Promise<void> {
  const parent = await parentOf(ledger, id);
  if (!parent) return;
  throw new CommandError("not_allowed", 1, {
    message: `${id} is the session of a background agent. It continues with the session that started it.`,
    hint: `assent resume ${parent.session} --tasks`,
  });
}

async function parentOf(ledger: Ledger, id: string): Promise<SessionRow["parent"]> {
  return (await readRow(ledger, "sessions", id))?.parent ?? null;
}

/** Answers to an agent are remembered for that agent only. */
export async function refuseWideAnswer(
  ledger: Ledger,
  { id, session }: Pick<ApprovalRow, "id" | "session">,
  answer: Pick<Answer, "remember">,
): Promise<void> {
  const { scope = "session" } = answer.remember ?? {};
  if (scope === "session") return;
  const agent = await agentTask(ledger, session);
  if (agent === null) return;
  throw new CommandError("not_allowed", 1, {
    message: `${id} was requested by a background agent (${agent}), so the answer can be remembered only for that agent's session, not for the ${scope}.`,
    hint: "Approve it once, or with --remember session. A rule in your settings applies to agents too.",
  });
}
