import type { Draft } from "../../model/events.ts";
import type { Resolution } from "../../model/proposal/events.ts";
import type { ProposalPart } from "../../model/proposal/part.ts";
import type { ProposalManifest, ProposalRow } from "../../model/proposal/proposal.ts";
import { resolveText } from "../../model/proposal/resolve-texts.ts";
import type { Display } from "../../model/result/result.ts";
import type { RunContext, Tool } from "../../tool-definition.ts";
import type { Ending } from "../dispatch.ts";
import { errorEnding } from "../pipeline/endings.ts";
import { recordSurely } from "../session/record-surely.ts";
import { parkedNotice, reserveWhile, type Staging, stagedRows } from "./staging.ts";
import { type FileContents, findProposal } from "./stored.ts";

export type SettleInput = {
  readonly resolution: Resolution;
  readonly signal: AbortSignal;
  readonly ctx: RunContext;
  /** Apply only this part. */
  readonly part?: ProposalPart | undefined;
};

/** A proposal whose apply is recorded and may start. */
export type ClaimedProposal = {
  readonly row: ProposalRow;
  readonly tool: Tool;
  readonly manifest: ProposalManifest;
  readonly settling: SettleInput;
  /** The staging call applies it at once. */
  readonly direct: boolean;
  /** It is a part of this proposal; `text` says which. */
  readonly part?: { readonly of: string; readonly text: string };
  readonly contents?: FileContents;
  readonly display?: Display | undefined;
};

/** Reserves a proposal and settles it; a second attempt at the same time is refused. */
export async function settleProposal(
  staging: Staging,
  id: string,
  { action, act }: { readonly action: "apply" | "discard"; readonly act: (row: ProposalRow) => Promise<Ending> },
): Promise<Ending> {
  const { session, busy } = staging;
  const row = session.state.proposals.get(id);
  if (!row) return await settledBefore(staging, id, action);
  if (row.state === "applying" || busy.has(id)) return errorEnding("failed", "proposal_busy", resolveText.busy(row));
  return await reserveWhile(staging, [id], () => session.whileHeld(() => act(row)));
}

async function settledBefore(staging: Staging, id: string, action: "apply" | "discard"): Promise<Ending> {
  const row = await findProposal(staging.session, id);
  if (row?.session !== staging.session.id) return unknownProposal(staging, id, row?.session);
  if (action === "apply" && row.cause === "lost") return errorEnding("failed", "proposal_lost", resolveText.lost(row));
  if (action === "discard" && ["discarded", "stale", "superseded"].includes(row.state))
    return successEnding("nothing_to_discard", resolveText.alreadySettled(row));
  return errorEnding("failed", "proposal_not_pending", resolveText.notPending(row, action === "apply" ? "applied" : "discarded"));
}

export function unknownProposal(staging: Staging, id: string, owner?: string): Ending {
  const text = resolveText.notFound({ id, pending: stagedRows(staging), ...(owner !== undefined && { owner }) });
  return errorEnding("failed", "proposal_not_found", text);
}

/** With nothing pending, a discard succeeds and an apply fails. */
export function nothingToSettle(action: Resolution["action"]): Ending {
  if (action === "discard") return successEnding("nothing_to_discard", resolveText.nothingToDiscard());
  return errorEnding("failed", "no_pending_action", resolveText.nothingToApply());
}

export function successEnding(type: string, text: string): Ending {
  return { state: "succeeded", type, result: { content: text } };
}

type ApplyFailure = {
  readonly type: string;
  readonly message: string;
  readonly cancelled?: boolean;
  readonly recovered?: boolean;
  /** It is not staged again. */
  readonly dropped?: boolean;
  readonly also?: readonly Draft[];
};

const TRIES = 3;

/** Stages the proposal again after a failed apply. After three failures, only a person can settle it. */
export async function restageProposal(staging: Staging, row: ProposalRow, failure: ApplyFailure): Promise<void> {
  const { session } = staging;
  const { dropped, also = [], ...body } = failure;
  const proposal = row.id;
  const counts = !dropped && !failure.cancelled && !failure.recovered;
  const parks = counts && row.failures + 1 >= TRIES && !row.parked;
  const events = (): readonly Draft[] => [
    session.draft("proposal.apply_failed", { proposal, ...body }),
    ...(dropped
      ? [session.draft("proposal.discarded", { proposal, resolution: withCall(byRuntime(staging, "it could not be applied"), row) })]
      : []),
    ...(parks ? [session.draft("proposal.parked", { proposal, why: "failures" }), parkedNotice(staging, row)] : []),
    ...also,
  ];
  await recordSurely(staging, { events });
}

function withCall(resolution: Resolution, { callId }: ProposalRow): Resolution {
  return callId === null ? resolution : { ...resolution, callId };
}

export function byRuntime({ clock }: Staging, reason: string): Resolution {
  return { action: "discard", by: "runtime", reason, at: new Date(clock.now()).toISOString() };
}
