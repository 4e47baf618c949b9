import { LedgerError } from "../../ledger-port.ts";
import type { Draft, EventType, LedgerEvent } from "../../model/events.ts";
import { IllegalEvent } from "../../model/fold.ts";
import { nextGrantRow } from "../../model/grant-row.ts";
import { lifecycleCallOf } from "../../model/known-event.ts";
import { approvalOf, type CallRow, nextApprovalRow, nextCallRow, nextProposalRow, nextQuestionRow } from "../../model/ledger-rules.ts";
import type { Chain, Chains, Rows } from "./chains.ts";

/** Turns an illegal event into `event_invalid`. */
function refusal(error: unknown): unknown {
  if (!(error instanceof IllegalEvent)) return error;
  return new LedgerError("event_invalid", error.message, { type: error.type, state: error.state });
}

/** Applies `count` events, all or none: if `write` throws, no row has changed. A single event changes its rows only after every check. */
export function writeTogether<T>(chains: Chains, count: number, write: () => T): T {
  chains.undo = count > 1 ? [] : undefined;
  try {
    return write();
  } catch (error) {
    rollBack(chains);
    throw refusal(error);
  } finally {
    chains.undo = undefined;
  }
}

/** Takes back every row that `writeTogether` has changed so far. */
export function rollBack({ undo = [] }: Chains): void {
  for (let step = undo.pop(); step; step = undo.pop()) put(step.rows, step.id, step.before as never); // newest first
}

/** Throws `event_invalid` if this method may not store the event. */
export function refuseType({ type }: { readonly type: string }, belongs: boolean): void {
  if (!belongs) throw new LedgerError("event_invalid", `An event of type ${type} cannot be stored this way.`, { type });
}

/** The event of a draft at the next place of its chain, behind `ahead` events that are not kept yet. */
export function placeEvent(chains: Chains, { session, epoch, events }: Chain, draft: Draft, ahead = 0): LedgerEvent {
  const { type, v, at, body } = draft;
  const seq = events.length + 1 + ahead;
  const pos = chains.log.length + 1 + ahead;
  return { type, v, at, body, session, seq, pos, epoch: epoch || chains.epoch } as LedgerEvent; // type and body stay the pair they are
}

/** Changes the rows of the event; `owner` is the chain of its call. Rows are computed before the first one changes, so a throw changes none. */
export function applyEvent(chains: Chains, event: LedgerEvent, owner: Chain): void {
  const id = lifecycleCallOf(event);
  const before = id === undefined ? undefined : owner.calls.get(id);
  const after = id === undefined ? undefined : nextCallRow(before, event);
  const approval = approvalOf(event, before);
  if (approval !== undefined || (id === undefined && !UNLISTED.has(event.type))) applyListed(chains, approval, { event, owner });
  if (id === undefined) return;
  if (event.type === "call.ended" && owner.asked.size > 0 && owner.asked.has(id)) leaveOpen(chains, id, { event, owner });
  put(owner.calls, id, after);
  chains.undo?.push({ rows: owner.calls, id, before });
}

type AppliedEvent = { readonly event: LedgerEvent; readonly owner: Chain };

/** Events that change no list. */
const UNLISTED: ReadonlySet<string> = new Set<EventType>(["turn.started", "turn.ended", "message.user", "message.assistant"]);

function applyListed(chains: Chains, approval: string | undefined, applying: AppliedEvent): void {
  const { body } = applying.event;
  if (approval !== undefined) applyApproval(chains, approval, applying);
  else if ("grant" in body) applyGrant(chains, body.grant, applying);
  else if ("proposal" in body) applyProposal(chains, body.proposal, applying);
  else if ("question" in body) applyQuestion(chains, body.question, applying);
}

function applyApproval({ approvals, newest, undo }: Chains, id: string, { event }: AppliedEvent): void {
  const before = approvals.get(id);
  const after = nextApprovalRow(before, event);
  const newestBefore = newest.get(id);
  approvals.set(id, after);
  if (after.state !== before?.state || after.revision !== before.revision) newest.set(id, event);
  undo?.push({ rows: approvals, id, before }, { rows: newest, id, before: newestBefore });
}

function applyGrant({ grants, newest, undo }: Chains, id: string, { event }: AppliedEvent): void {
  const before = grants.get(id);
  const newestBefore = newest.get(id);
  grants.set(id, nextGrantRow(before, event));
  newest.set(id, event);
  undo?.push({ rows: grants, id, before }, { rows: newest, id, before: newestBefore });
}

function applyProposal({ proposals, undo }: Chains, id: string, { event }: AppliedEvent): void {
  const before = proposals.get(id);
  proposals.set(id, nextProposalRow(before, event));
  undo?.push({ rows: proposals, id, before });
}

function applyQuestion({ questions, newest, undo }: Chains, id: string, { event, owner }: AppliedEvent): void {
  const before = questions.get(id);
  const after = nextQuestionRow(before, event, asking(owner, event));
  const newestBefore = newest.get(id);
  const asked = owner.asked.get(after.callId);
  questions.set(id, after);
  if (after.state !== before?.state) newest.set(id, event);
  if (!before) owner.asked.set(after.callId, [...(asked ?? []), id]);
  undo?.push(
    { rows: questions, id, before },
    { rows: newest, id, before: newestBefore },
    { rows: owner.asked, id: after.callId, before: asked },
  );
}

function asking(owner: Chain, event: LedgerEvent): CallRow | undefined {
  return event.type === "question.asked" ? owner.calls.get(event.body.callId) : undefined;
}

/** Closes the open questions of a call that ended. */
function leaveOpen(chains: Chains, call: string, applying: AppliedEvent): void {
  const { owner } = applying;
  const asked = owner.asked.get(call);
  for (const id of asked ?? []) applyQuestion(chains, id, applying);
  owner.asked.delete(call);
  chains.undo?.push({ rows: owner.asked, id: call, before: asked });
}

function put<Row>(rows: Rows<Row>, id: string, row: Row | undefined): void {
  if (row === undefined) rows.delete(id);
  else rows.set(id, row);
}

/** Stores an applied event: from here on it is part of the record. */
export function keepEvent(chains: Chains, chain: Chain, event: LedgerEvent): void {
  chain.events.push(event);
  chains.log.push(event);
  if (event.at > chains.newestAt) chains.newestAt = event.at;
  if (event.type === "policy.changed") chain.policySeq = event.seq;
  else if (event.type === "session.closed") chain.holder = undefined;
}
