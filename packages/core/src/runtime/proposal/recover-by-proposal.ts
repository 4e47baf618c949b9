import type { RunningCall } from "../../model/call.ts";
import { parseEvent } from "../../model/known-event.ts";
import type { ProposalRow } from "../../model/proposal/proposal.ts";
import { resolveText } from "../../model/proposal/resolve-texts.ts";
import { outputLimits } from "../../model/result/cut-output.ts";
import type { Tool } from "../../tool-definition.ts";
import type { Ending } from "../dispatch.ts";
import type { BatchRun } from "../pipeline/call-run.ts";
import { errorEnding, notAppliedEnding } from "../pipeline/endings.ts";
import { isResolve } from "../pipeline/judge.ts";
import { readCallRecord } from "../session/recorded.ts";
import { stagedText } from "./preview-call.ts";
import { isDirect } from "./recover.ts";
import { findProposal, readStoredProposal } from "./stored.ts";

/** The end of a call whose effect is its proposal's, if any. */
export async function endByProposal(batch: BatchRun, call: RunningCall, tool: Tool | undefined): Promise<Ending | undefined> {
  if (tool && isResolve(batch, { tool })) return await endOfResolve(batch, call);
  if (tool && tool.definition.preview === undefined) return undefined;
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
  if (row.state === "unknown" || row.state === "applying") return unknown(row);
  if (row.state !== "applied" && row.state !== "undone") return notAppliedEnding();
  const content = `${resolveText.applied(row)} (verified after a restart)`;
  return { state: "succeeded", type: "recovered", result: { content, details: { proposalId: row.id } } };
}

async function endOfResolve({ deps }: BatchRun, { callId }: RunningCall): Promise<Ending | undefined> {
  const { session } = deps;
  const { "call.judged": judged } = await readCallRecord(session.ledger, session.id, callId);
  const { proposal, standing } = judged?.binds ?? {};
  if (standing !== undefined) return undefined; // a handler's effect cannot be checked here
  const row = proposal === undefined ? undefined : await findProposal(session, proposal);
  if (!row || row.resolution?.callId !== callId) return notAppliedEnding();
  if (row.state === "discarded") return { state: "succeeded", type: "recovered", result: { content: discarded(row) } };
  return endOfApply(row);
}

function discarded({ label, resolution }: ProposalRow): string {
  return `${resolveText.discarded({ label, reason: resolution?.reason ?? "" })} (verified after a restart)`;
}

function unknown({ label, error, changed }: ProposalRow): Ending {
  const text = resolveText.unknown({ label, message: error?.message ?? "the program stopped", files: [] });
  return { ...errorEnding("unknown", "apply_unknown", text), evidence: { files: changed } };
}
