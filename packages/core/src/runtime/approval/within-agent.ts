import type { ApprovalRow, Ledger } from "../../ledger-port.ts";
import type { Answer } from "../../model/answer.ts";

/** An answer to a call of an agent is remembered for that agent alone, however wide it was meant: it goes away with its session. */
export async function withinAgent(ledger: Ledger, { session }: Pick<ApprovalRow, "session">, answer: Answer): Promise<Answer> {
  const { remember } = answer;
  if (!remember || remember.scope === "session") return answer;
  for await (const { body } of ledger.read({ session, seq: 0 }, { session, types: ["session.created"] }))
    return (body["parent"] ?? null) === null ? answer : { ...answer, remember: { ...remember, scope: "session" } };
  return answer;
}
