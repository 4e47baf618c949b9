import type { RecoveredChange } from "../../file-ports.ts";
import type { RunningCall } from "../../model/call.ts";
import type { Draft } from "../../model/events.ts";
import { parseEvent } from "../../model/known-event.ts";
import type { ProposalManifest, ProposalRow } from "../../model/proposal/proposal.ts";
import { resolveText, thrownWords } from "../../model/proposal/resolve-texts.ts";
import { outputLimits } from "../../model/result/cut-output.ts";
import type { Tool } from "../../tool-definition.ts";
import type { Ending } from "../dispatch.ts";
import type { BatchRun } from "../pipeline/call-run.ts";
import { errorEnding, notAppliedEnding } from "../pipeline/endings.ts";
import { isResolve } from "../pipeline/judge.ts";
import { readCallRecord } from "../session/call-record.ts";
import { stagedText } from "./preview-call.ts";
import { recordApplied, recordUnknown } from "./record-applied.ts";
import { restageProposal } from "./settling.ts";
import { noticeDraft, type Staging } from "./staging.ts";
import { changeSet, findProposal, readStoredProposal } from "./stored.ts";

/** Settles interrupted applies by the state of the files, and marks closures of ended processes as lost. */
export async function recoverProposals(staging: Staging): Promise<void> {
  const { session, busy, closures } = staging;
  for (const row of [...session.state.proposals.values()]) {
    if (busy.has(row.id)) continue;
    if (row.state === "applying") await session.whileHeld(() => settleApply(staging, row));
    else if (row.carrier === "closure" && !closures.has(row.id)) await markLost(staging, row);
  }
}

async function markLost(staging: Staging, row: ProposalRow): Promise<void> {
  const { session } = staging;
  const stale = session.draft("proposal.stale", { proposal: row.id, cause: "lost", files: [] });
  await session.record([stale, noticeDraft(staging, resolveText.lost(row))], "normal");
}

/** The staging call applies it at once. */
function isDirect({ callId, resolution }: ProposalRow): boolean {
  return callId !== null && resolution?.callId === callId;
}

async function settleApply(staging: Staging, row: ProposalRow): Promise<void> {
  const { found, part } = await inspectFiles(staging, row);
  const direct = isDirect(row);
  const also: readonly Draft[] = direct ? [] : [noticeDraft(staging, foundText(row, found, part?.of))];
  if (found.state === "after") await recordApplied(staging, row, { also, insteadOf: part?.of });
  else if (found.state === "before") await restageProposal(staging, row, { ...STOPPED, dropped: direct || part !== undefined, also });
  else await recordUnknown(staging, row, { message: found.message, files: found.files, also });
}

const STOPPED = { type: "not_applied", message: "the program stopped before the change", recovered: true } as const;

type InspectedApply = { readonly found: RecoveredChange; readonly part?: ProposalManifest["part"] };

async function inspectFiles({ session, changes }: Staging, row: ProposalRow): Promise<InspectedApply> {
  const unknown = (message: string): InspectedApply => ({ found: { state: "unknown", message, files: [] } });
  if (row.carrier === "closure" || row.files === 0) return unknown("the process ended while it was being applied");
  if (!changes) return unknown("nothing here can look at the files");
  try {
    const { manifest } = await readStoredProposal(session, row);
    const found = await changes.recover(changeSet(session, { id: row.id, effects: manifest.effects }));
    return { found, part: manifest.part };
  } catch (error) {
    return unknown(thrownWords(error));
  }
}

function foundText(row: ProposalRow, found: RecoveredChange, partOf: string | undefined): string {
  const { id, label } = row;
  const begin = `The program stopped while ${label} (${id}) was being applied.`;
  if (found.state === "after") return `${begin} All files are changed: it is applied.`;
  if (found.state === "before") {
    const restored = found.restored > 0 ? ` ${resolveText.restored(found.restored)}` : "";
    return `${begin}${restored} No file is changed: ${partOf ?? "it"} is staged again.`;
  }
  return `${begin} ${resolveText.unknown({ label, message: found.message, files: found.files })}`;
}

/** The end of a call whose effect is that of its proposal. */
export async function endByProposal(batch: BatchRun, call: RunningCall, tool: Tool | undefined): Promise<Ending | undefined> {
  if (tool && isResolve(batch, { tool })) return await endOfResolve(batch, call);
  if (tool && tool.definition.preview === undefined && call.writes === null) return undefined;
  const row = await stagedBy(batch, call);
  if (!row) return tool ? notAppliedEnding() : undefined;
  return isDirect(row) || row.state === "discarded" ? endOfApply(row) : await endOfStaging(batch, row, tool);
}

async function stagedBy({ deps }: BatchRun, { callId, seq }: RunningCall): Promise<ProposalRow | undefined> {
  const { ledger, id: session } = deps.session;
  let found: string | undefined;
  for await (const stored of ledger.read({ session, seq }, { session, types: ["proposal.staged"] })) {
    const event = parseEvent(stored);
    if (event?.type === "proposal.staged" && event.body.callId === callId && event.body.carrier === "data") found = event.body.proposal;
  }
  return found === undefined ? undefined : await findProposal(deps.session, found);
}

async function endOfStaging({ deps }: BatchRun, row: ProposalRow, tool: Tool | undefined): Promise<Ending> {
  const { manifest } = await readStoredProposal(deps.session, row);
  const content = stagedText(row, manifest.blocks, outputLimits(tool?.definition ?? {}).maxLines);
  return { state: "succeeded", type: "recovered", result: { content, details: { applied: false, proposalId: row.id } } };
}

function endOfApply(row: ProposalRow): Ending {
  if (row.state === "unknown" || row.state === "applying") return unknownEnding(row);
  if (row.state !== "applied" && row.state !== "undone") return notAppliedEnding();
  const content = `${resolveText.applied(row)} (verified after a restart)`;
  return { state: "succeeded", type: "recovered", result: { content, details: { proposalId: row.id } } };
}

async function endOfResolve({ deps }: BatchRun, { callId }: RunningCall): Promise<Ending | undefined> {
  const { session } = deps;
  const { "call.judged": judged } = await readCallRecord(session.ledger, session.id, callId);
  const { proposal, standing: fallback } = judged?.binds ?? {};
  if (fallback !== undefined) return undefined; // a fallback's effect cannot be checked here
  const row = proposal === undefined ? undefined : await findProposal(session, proposal);
  if (!row || row.resolution?.callId !== callId) return notAppliedEnding();
  if (row.state === "discarded") return { state: "succeeded", type: "recovered", result: { content: discardedText(row) } };
  return endOfApply(row);
}

function discardedText({ label, resolution }: ProposalRow): string {
  return `${resolveText.discarded({ label, reason: resolution?.reason ?? "" })} (verified after a restart)`;
}

function unknownEnding({ label, error, changed }: ProposalRow): Ending {
  const text = resolveText.unknown({ label, message: error?.message ?? "the program stopped", files: [] });
  return { ...errorEnding("unknown", "apply_unknown", text), evidence: { files: changed } };
}
