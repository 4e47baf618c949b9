import type { RecoveredChange } from "../../file-ports.ts";
import type { Draft } from "../../model/events.ts";
import type { ProposalRow } from "../../model/proposal/proposal.ts";
import { resolveText, thrownWords } from "../../model/proposal/resolve-texts.ts";
import { noticeDraft } from "./notices.ts";
import { recordApplied, recordUnknown } from "./record-applied.ts";
import { restageProposal } from "./settling.ts";
import type { Staging } from "./staging.ts";
import { changeSet, readStoredProposal } from "./stored.ts";

/** Settles interrupted applies by looking at the files, and marks closures of ended processes as lost. Idempotent. */
export async function recoverProposals(staging: Staging): Promise<void> {
  const { session, busy, closures } = staging;
  for (const row of [...session.state.proposals.values()]) {
    if (busy.has(row.id)) continue;
    if (row.state === "applying") await session.whileHeld(() => settleApply(staging, row));
    else if (row.carrier === "closure" && !closures.has(row.id)) await lose(staging, row);
  }
}

async function lose(staging: Staging, row: ProposalRow): Promise<void> {
  const { session } = staging;
  const stale = session.draft("proposal.stale", { proposal: row.id, cause: "lost", files: [] });
  await session.record([stale, noticeDraft(staging, resolveText.lost(row))], "normal");
}

/** The staging call was to apply it at once. */
export function isDirect({ callId, resolution }: ProposalRow): boolean {
  return callId !== null && resolution?.callId === callId;
}

async function settleApply(staging: Staging, row: ProposalRow): Promise<void> {
  const found = await lookAt(staging, row);
  const direct = isDirect(row);
  const also: readonly Draft[] = direct ? [] : [noticeDraft(staging, foundText(row, found))];
  if (found.state === "after") await recordApplied(staging, row, also);
  else if (found.state === "before") await restageProposal(staging, row, { ...STOPPED, direct, also });
  else await recordUnknown(staging, row, { message: found.message, files: found.files, also });
}

const STOPPED = { type: "not_applied", message: "the program stopped before the change", recovered: true } as const;

async function lookAt({ session, changes }: Staging, row: ProposalRow): Promise<RecoveredChange> {
  const unknown = (message: string): RecoveredChange => ({ state: "unknown", message, files: [] });
  if (row.carrier === "closure" || row.files === 0) return unknown("the process ended while it was being applied");
  if (!changes) return unknown("nothing here can look at the files");
  try {
    const { manifest } = await readStoredProposal(session, row);
    return await changes.recover(changeSet(session, { id: row.id, effects: manifest.effects }));
  } catch (error) {
    return unknown(thrownWords(error));
  }
}

function foundText(row: ProposalRow, found: RecoveredChange): string {
  const { id, label } = row;
  const begin = `The program stopped while ${label} (${id}) was being applied.`;
  if (found.state === "after") return `${begin} All files are changed: it is applied.`;
  if (found.state === "before") {
    const restored = found.restored > 0 ? ` ${resolveText.restored(found.restored)}` : "";
    return `${begin}${restored} No file is changed: it is staged again.`;
  }
  return `${begin} ${resolveText.unknown({ label, message: found.message, files: found.files })}`;
}
