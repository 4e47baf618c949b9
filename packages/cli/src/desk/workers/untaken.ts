import type { Ledger, SessionRow } from "@assent/core";
import type { Context } from "../../command-line/spec.ts";
import { oneLine } from "../../io/visible-text.ts";
import { readReadiness } from "../../worker/readiness.ts";
import { isWorkerSession } from "../../worker/registered-workers.ts";
import { readCreated, readNeeds, type SessionNeeds, startText, type WorkerOffer, whyNoWorker } from "../../worker/requirements.ts";

/** A session with work that none of the running workers may take. */
export type UntakenSession = { readonly id: string; readonly reason: string; readonly needs: SessionNeeds };

export async function findUntaken(
  ledger: Ledger,
  workers: readonly WorkerOffer[],
  states: readonly SessionRow["state"][],
): Promise<readonly UntakenSession[]> {
  const found: UntakenSession[] = [];
  for (const row of await ledger.pending("sessions")) {
    if (row.parent || row.group || isWorkerSession(row.id) || !states.includes(row.state)) continue;
    const needs = readNeeds(await readCreated(ledger, row.id));
    const reason = needs && whyNoWorker(workers, needs);
    if (!needs || reason === undefined) continue;
    if (row.state === "queued" || (await readReadiness(ledger, row, Date.now())).why !== undefined)
      found.push({ id: row.id, reason, needs });
  }
  return found;
}

const NAMED = 3;

/** One line for each reason and command that helps. */
export function untakenText(context: Pick<Context, "options">, untaken: readonly UntakenSession[]): string {
  const why = ({ reason, needs }: UntakenSession): string => `waiting, because ${oneLine(reason)}. ${startText(context, needs)}\n`;
  const lines = [...Map.groupBy(untaken, why)].map(([text, all]) => {
    const ids = all.slice(0, NAMED).map(({ id }) => id);
    const more = all.length > NAMED ? ` and ${all.length - NAMED} more` : "";
    return `${ids.join(", ")}${more}: ${text}`;
  });
  return lines.join("");
}
