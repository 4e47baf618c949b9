import { type Holder, type Ledger, readRow, type SessionRow } from "@assent/core";
import type { Context } from "../../command-line/spec.ts";
import { storeFlag } from "../../store/location.ts";
import { listWorkers } from "../../worker/registered-workers.ts";
import { readCreated, readNeeds, whyNoWorker } from "../../worker/requirements.ts";

/** For an agent, resumes its main session. */
export async function resumeCommand(context: Pick<Context, "options">, ledger: Ledger, session: string): Promise<string> {
  const root = await rootOf(ledger, session);
  return `assent resume ${root.id}${root.id === session ? "" : " --tasks"}${storeFlag(context)}`;
}

export async function continueText(context: Pick<Context, "options">, ledger: Ledger, session: string): Promise<string> {
  const { id, writer, group } = await rootOf(ledger, session);
  if (group && writer === null) return `${group.title} runs it when it makes the same call again.\n`;
  if (group) return `${group.title} continues.\n`;
  const command = await resumeCommand(context, ledger, session);
  if (writer === null) return (await hasWorker(ledger, id)) ? "A worker continues it.\n" : `Continue with: ${command}\n`;
  return `Process ${writer.pid} (${writer.door}) has the session open and continues by itself. If it ends first: ${command}\n`;
}

async function hasWorker(ledger: Ledger, id: string): Promise<boolean> {
  const workers = await listWorkers(ledger);
  const needs = workers.length === 0 ? undefined : readNeeds(await readCreated(ledger, id));
  return needs !== undefined && whyNoWorker(workers, needs) === undefined;
}

type RootSession = { readonly id: string; readonly writer: Holder | null; readonly group: SessionRow["group"] };

async function rootOf(ledger: Ledger, session: string): Promise<RootSession> {
  for (let id = session; ; ) {
    const row = await readRow(ledger, "sessions", id);
    if (!row?.parent) return { id, writer: row?.writer ?? null, group: row?.group ?? null };
    id = row.parent.session;
  }
}
