import {
  type ApprovalRow,
  approvalOf,
  type CallRow,
  callOf,
  type GrantRow,
  IllegalEvent,
  type LedgerEvent,
  lifecycleCallOf,
  namedSession,
  nextApprovalRow,
  nextCallRow,
  nextGrantRow,
  nextProposalRow,
  nextQuestionRow,
  nextSessionRow,
  openApprovalDelta,
  parseEvent,
  SHARED,
  type StoredEvent,
} from "@assent/core";
import { type CallEntry, type ChainEntry, callKey, type ListEntry, newChain, type Rows, type Table } from "./rows.ts";

export type ChainedEvent = StoredEvent & { readonly prev: string; readonly hash: string };

/** Throws `IllegalEvent`; the caller then drops the changes. `voided`: the event concerns a pruned or cut session. */
export function applyEvent(rows: Rows, event: ChainedEvent, voided = false): void {
  const chain = rows.chains.get(event.session) ?? newChain(event.session, event.pos);
  const known = parseEvent(event);
  if (event.session !== SHARED) {
    rows.chains.put(event.session, advanceChain(chain, event, known ? applyCall(rows, event.session, known) : 0));
    return;
  }
  rows.chains.put(SHARED, advanceChain(chain, event, 0));
  if (known && !(voided && VOIDABLE.includes(known.type))) applyShared(rows, known);
}

/** Grants and trust outlive their session. */
const VOIDABLE: readonly LedgerEvent["type"][] = ["approval.answered", "approval.closed", "proposal.requested", "question.answered"];

/** `opened` is the change in the number of open approvals. */
export function advanceChain(chain: ChainEntry, event: ChainedEvent, opened: number): ChainEntry {
  const { session, seq, hash, pos, epoch, at, type } = event;
  const shared = session === SHARED;
  const known = shared ? undefined : parseEvent(event);
  return {
    session,
    seq,
    hash,
    pos,
    first: chain.first,
    epoch: shared && epoch > chain.epoch ? epoch : chain.epoch,
    newestAt: at > chain.newestAt ? at : chain.newestAt,
    closed: type === "session.closed",
    holder: type === "session.closed" ? null : chain.holder,
    policySeq: type === "policy.changed" ? seq : chain.policySeq,
    pruned: chain.pruned,
    row: known ? nextSessionRow(chain.row ?? undefined, known, opened) : chain.row,
    named: chain.named,
  };
}

function applyShared(rows: Rows, event: LedgerEvent): void {
  const session = namedSession(event);
  if (session === undefined) applyStoreWide(rows, event);
  else applyNamed(rows, session, event);
}

function applyStoreWide(rows: Rows, event: LedgerEvent): void {
  if (event.type === "store.epoch") applyEpoch(rows.chains, event);
  else if (event.type === "store.pruned") applyPruned(rows.chains, event);
  else if (event.type === "grant.created" || event.type === "grant.revoked") applyGrant(rows.grants, event.body.grant, event);
}

function applyNamed(rows: Rows, session: string, event: LedgerEvent): void {
  const opened = applyCall(rows, session, event);
  const owner = rows.chains.get(session);
  if (owner?.row) rows.chains.put(session, { ...owner, row: nextSessionRow(owner.row, event, opened), named: event.pos });
}

function applyEpoch(chains: Table<ChainEntry>, { pos, body }: LedgerEvent<"store.epoch">): void {
  const chain = chains.get(body.session) ?? newChain(body.session, pos);
  chains.put(body.session, { ...chain, epoch: body.epoch, holder: body.holder });
}

function applyPruned(chains: Table<ChainEntry>, { pos, body }: LedgerEvent<"store.pruned">): void {
  const { session, seq, hash } = body;
  const { first, epoch } = chains.get(session) ?? newChain(session, pos);
  chains.put(session, { ...newChain(session, first), epoch, seq, hash, pruned: true });
}

/** Returns the change in the number of open approvals. */
function applyCall(rows: Rows, session: string, event: LedgerEvent): number {
  const call = lifecycleCallOf(event);
  const before = call === undefined ? undefined : changeCall(rows.calls, callKey(session, call), event);
  if (event.type === "call.ended") for (const id of before?.asked ?? []) applyQuestion(rows, id, { event, call: undefined });
  const approval = approvalOf(event, before?.row);
  if (approval !== undefined) return applyApproval(rows.approvals, approval, event);
  const { body } = event;
  if ("grant" in body) applyGrant(rows.grants, body.grant, event);
  else if ("proposal" in body) applyProposal(rows.proposals, body.proposal, event);
  else if (event.type === "question.asked") applyAsked(rows, callKey(session, event.body.callId), event);
  else if (event.type === "question.answered") applyQuestion(rows, event.body.question, { event, call: undefined });
  return 0;
}

/** Returns the previous row. */
export function changeCall(calls: Table<CallEntry>, key: string, event: LedgerEvent): CallEntry | undefined {
  const before = calls.get(key);
  if (before && event.type === "call.proposed") throw new IllegalEvent(event, before.row?.state ?? "ended");
  const row = nextCallRow(before?.row, event);
  calls.put(key, { row, asked: (row && before?.asked) ?? NO_QUESTIONS, indexed: before?.indexed === true || asksPerson(event) });
  return before;
}

const NO_QUESTIONS: readonly string[] = [];

/** After this event, the index has every event of the call. */
export function asksPerson({ type, body }: LedgerEvent): boolean {
  return type === "approval.opened" || (type === "call.judged" && "verdict" in body && body.verdict === "ask");
}

/** If a call asks no one, only its proposal is indexed, because each entry costs a page. */
export function indexedCall({ calls }: Pick<Rows, "calls">, event: ChainedEvent): string | null {
  const call = callOf(event) ?? null;
  if (call === null || !FOLLOWS_PROPOSAL.has(event.type)) return call;
  return calls.get(callKey(event.session, call))?.indexed ? call : null;
}

const FOLLOWS_PROPOSAL: ReadonlySet<string> = new Set(["call.judged", "call.claimed", "call.started", "call.ended"]);

function applyApproval(approvals: Table<ListEntry<ApprovalRow>>, id: string, event: LedgerEvent): number {
  const before = approvals.get(id);
  const row = nextApprovalRow(before?.row, event);
  const isSame = before !== undefined && row.state === before.row.state && row.revision === before.row.revision;
  approvals.put(id, { row, first: before?.first ?? event.pos, latest: isSame ? before.latest : event.pos });
  return openApprovalDelta(before?.row, row);
}

function applyGrant(grants: Table<ListEntry<GrantRow>>, id: string, event: LedgerEvent): void {
  const before = grants.get(id);
  grants.put(id, { row: nextGrantRow(before?.row, event), first: before?.first ?? event.pos, latest: event.pos });
}

function applyProposal(proposals: Rows["proposals"], id: string, event: LedgerEvent): void {
  const before = proposals.get(id);
  proposals.put(id, { row: nextProposalRow(before?.row, event), first: before?.first ?? event.pos, latest: event.pos });
}

/** The end of a call cancels its questions. */
function applyAsked(rows: Rows, key: string, event: LedgerEvent<"question.asked">): void {
  const call = rows.calls.get(key);
  applyQuestion(rows, event.body.question, { event, call: call?.row });
  if (call) rows.calls.put(key, { ...call, asked: [...call.asked, event.body.question] });
}

type QuestionChange = { readonly event: LedgerEvent; readonly call: CallRow | undefined };

function applyQuestion({ questions }: Rows, id: string, { event, call }: QuestionChange): void {
  const before = questions.get(id);
  const row = nextQuestionRow(before?.row, event, call);
  const latest = before?.row.state === row.state ? before.latest : event.pos;
  questions.put(id, { row, first: before?.first ?? event.pos, latest });
}
