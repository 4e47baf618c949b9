import {
  type JsonObject,
  type Ledger,
  type Lists,
  type PageQuery,
  type ProposalRow,
  readRows,
  readWholeQuestion,
  type Session,
} from "@assent/core";
import { approvalRow, proposalRow, questionRow } from "../../inbox/rows.ts";
import { cut, LIST_WIDTH } from "../../io/display-width.ts";
import { oneLine } from "../../io/visible-text.ts";
import { ageText } from "../../io/who.ts";
import { questionForm } from "../questions/form.ts";
import { findEditedInput, inputSubject } from "./edited-answer.ts";
import { approvalForm } from "./form.ts";
import { approvalSubject } from "./view.ts";

export type WaitingItem = {
  readonly id: string;
  readonly since: string;
  readonly tool: string;
  readonly state: string;
  /** One line, not cut. */
  readonly subject: string;
  readonly session: string;
  readonly directory: string;
  /** Why a person is asked. */
  readonly why: string;
  readonly form: JsonObject;
  /** For an approval. */
  readonly row?: Lists["approvals"];
  readonly edited?: true;
  /** It shows a preview whose changes can be written. */
  readonly previewed?: true;
};

export function waitingKind(id: string): "approvals" | "questions" | "proposals" {
  if (id.startsWith("q_")) return "questions";
  return id.startsWith("p_") ? "proposals" : "approvals";
}

export function waitingCells(
  { id, state, tool, since, subject, edited }: Omit<WaitingItem, "row" | "form">,
  withState: boolean,
  now: number,
): readonly string[] {
  return [id, ...(withState ? [edited ? `${state}, edited` : state] : []), tool, ageText(since, now), subject];
}

export type WaitingPage = {
  readonly query: Pick<PageQuery, "all" | "session" | "tool">;
  readonly after: { readonly id: string; readonly since: string } | undefined;
  readonly limit: number;
};

export async function listWaiting(ledger: Ledger, page: WaitingPage): Promise<readonly WaitingItem[]> {
  const { tool } = page.query;
  const lists: AsyncIterator<WaitingItem>[] = [
    approvals(ledger, page),
    ...(tool === undefined || tool === "ask" ? [questions(ledger, page)] : []),
    proposals(ledger, page),
  ];
  const heads = await Promise.all(lists.map((list) => list.next()));
  const found: WaitingItem[] = [];
  while (found.length < page.limit) {
    const at = oldest(heads);
    const [head, list] = [heads[at], lists[at]];
    if (!head || head.done || !list) break;
    found.push(head.value);
    heads[at] = await list.next();
  }
  return found;
}

/** Includes its background agents. */
export async function listWaitingIn({ id, ledger, state }: Pick<Session, "id" | "ledger" | "state">): Promise<readonly WaitingItem[]> {
  const sessions = [...new Set([id, ...[...state.tasks.values()].map((task) => task.session)])]; // a background command has no session
  const lists = await Promise.all(sessions.map((session) => listWaiting(ledger, { query: { session }, after: undefined, limit: 1_000 })));
  return lists.flat();
}

/** -1 if all lists are at their end. */
function oldest(heads: readonly IteratorResult<WaitingItem>[]): number {
  let first = -1;
  for (const [at, head] of heads.entries()) {
    const best = heads[first];
    if (!head.done && (!best || best.done || head.value.since < best.value.since)) first = at;
  }
  return first;
}

async function* approvals(ledger: Ledger, page: WaitingPage): AsyncGenerator<WaitingItem> {
  const of = { kind: "approvals", since: (row: Lists["approvals"]) => row.requestedAt, query: page.query } as const;
  for await (const row of rowsOf(ledger, page, of)) {
    const { session, state, preview } = row;
    const previewed = preview?.writable ? { previewed: true as const } : {};
    const shown = { ...approvalRow(row), subject: approvalSubject(row, ALL), ...(await changes(ledger, row)) };
    yield { ...shown, session, state, row, form: approvalForm(row), ...previewed };
  }
}

async function changes(ledger: Ledger, row: Lists["approvals"]): Promise<Pick<WaitingItem, "subject" | "edited"> | undefined> {
  if (row.covers === null || row.covers === row.fingerprint) return undefined;
  const edited = await findEditedInput(ledger, row);
  return edited && { subject: `${row.title}: ${inputSubject(await ledger.resolve(edited.input), ALL)}`, edited: true };
}

const ALL = Number.POSITIVE_INFINITY;

async function* questions(ledger: Ledger, page: WaitingPage): AsyncGenerator<WaitingItem> {
  const { tool: _tool, ...query } = page.query; // only `ask` asks questions
  const of = { kind: "questions", since: (row: Lists["questions"]) => row.askedAt, query } as const;
  for await (const cut of rowsOf(ledger, page, of)) {
    const row = await readWholeQuestion(ledger, cut);
    yield { ...questionRow(row), session: row.session, state: row.state, form: questionForm(row) };
  }
}

async function* proposals(ledger: Ledger, page: WaitingPage): AsyncGenerator<WaitingItem> {
  const of = { kind: "proposals", since: (row: ProposalRow) => row.stagedAt, query: page.query } as const;
  for await (const row of rowsOf(ledger, page, of)) {
    if (!row.parked && row.resolution?.by !== "person") continue;
    yield { ...proposalRow(row), session: row.session, state: row.state === "staged" ? "open" : row.state, form: proposalForm(row) };
  }
}

function proposalForm({ id, session, callId, tool, label, stagedAt, digest }: ProposalRow): JsonObject {
  return {
    id,
    sessionId: session,
    callId,
    tool,
    title: label,
    reason: "proposal",
    requestedAt: stagedAt,
    fingerprint: digest,
    proposalId: id,
  };
}

const PAGE = 100;

type ListedKind<K extends "approvals" | "questions" | "proposals"> = {
  readonly kind: K;
  readonly since: (row: Lists[K]) => string;
  readonly query: PageQuery;
};

async function* rowsOf<K extends "approvals" | "questions" | "proposals">(
  ledger: Ledger,
  { after }: WaitingPage,
  { kind, since, query }: ListedKind<K>,
): AsyncGenerator<Lists[K]> {
  const beyond = (row: Lists[K]): boolean => after === undefined || waitingKind(after.id) === kind || !isBefore(kind, since(row), after);
  let reached = false;
  const from = after !== undefined && waitingKind(after.id) === kind ? { after: after.id } : {};
  for await (const row of readRows(ledger, kind, { ...query, ...from, limit: PAGE })) {
    reached ||= beyond(row);
    if (reached) yield row;
  }
}

const ORDER = ["approvals", "questions", "proposals"];

function isBefore(kind: string, since: string, after: { readonly id: string; readonly since: string }): boolean {
  return since < after.since || (since === after.since && ORDER.indexOf(kind) < ORDER.indexOf(waitingKind(after.id)));
}

/** Without `resume`, it continues by itself. */
export type ContinueHint = { readonly resume: string | undefined; readonly flags: string };

export function waitingText(
  waiting: readonly Pick<WaitingItem, "id" | "subject" | "previewed">[],
  { resume, flags }: ContinueHint,
): string {
  const each = waiting.map(({ id, subject, previewed }) => {
    const ways = id.startsWith("q_") ? [" --answers JSON"] : previewed ? [" --write", " --run"] : [""];
    const yes = ways.map((way) => `  assent approve ${id}${flags}${way}\n`).join("");
    return `Waiting for an answer: ${cut(oneLine(subject), LIST_WIDTH)}\n${yes}  assent reject ${id}${flags}\n`;
  });
  if (resume === undefined) return each.join("");
  return `${each.join("")}${each.length === 0 ? "Continue" : "Then continue"} with: ${resume}\n`;
}

/** True if a paused agent's request is open, or answered but not used. */
export async function waitsForPerson({ state, ledger }: Pick<Session, "state" | "ledger">): Promise<boolean> {
  for (const { paused, session } of state.tasks.values()) {
    if (!paused) continue;
    if (paused.blocked === "approval") return true;
    const [approval] = await ledger.pending("approvals", { session, limit: 1 });
    const [question] = await ledger.pending("questions", { session, limit: 1 });
    if (approval || question) return true;
  }
  return false;
}
