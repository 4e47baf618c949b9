import type { Ledger, SessionRow } from "@assent/core";
import { sessionRows } from "../tasks/recorded-tasks.ts";

/** What is open, and what ended unknown, in a session and in those of all agents below it. */
export type Totals = { readonly open: number; readonly unknown: number };

const NOTHING: Totals = { open: 0, unknown: 0 };

/** Of each session: what an agent leaves counts for all that it was started by, because they are the ones a person looks at. */
export async function agentTotals(ledger: Ledger): Promise<(session: SessionRow) => Totals> {
  const asked = await openQuestions(ledger);
  const totals = new Map<string, Totals>();
  const above = new Map<string, string>();
  for await (const { id, parent, openApprovals, unknownOutcomes } of sessionRows(ledger)) {
    if (parent) above.set(id, parent.session);
    const own = { open: openApprovals + (asked.get(id) ?? 0), unknown: unknownOutcomes };
    if (own.open === 0 && own.unknown === 0) continue;
    for (let at: string | undefined = id; at !== undefined; at = above.get(at)) {
      const { open, unknown } = totals.get(at) ?? NOTHING;
      totals.set(at, { open: open + own.open, unknown: unknown + own.unknown });
    }
  }
  return ({ id }) => totals.get(id) ?? NOTHING;
}

/** A question of a model waits for a person like an approval; by session, how many do. */
async function openQuestions(ledger: Ledger): Promise<ReadonlyMap<string, number>> {
  const count = new Map<string, number>();
  for (const { session } of await ledger.pending("questions")) count.set(session, (count.get(session) ?? 0) + 1);
  return count;
}
