import type { Answer, ApprovalRow, Ledger } from "@assent/core";
import { CommandError } from "../../io/failure.ts";
import { agentTask } from "../sessions/agent-session.ts";

/** What is said to a call of an agent is remembered for that agent alone: a wider wish is refused, before anything is on record. */
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
    message: `${id} is asked by a background agent (${agent}): what is said to it can be remembered for its own session, not for the ${scope}.`,
    hint: "Approve it once, or with --remember session. A rule in your settings counts for agents too.",
  });
}
