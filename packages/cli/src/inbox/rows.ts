import {
  type ApprovalRow,
  type Ledger,
  type ProposalRow,
  type QuestionRow,
  readRow,
  readRows,
  readWholeQuestion,
  type SessionRow,
} from "@assent/core";
import type { WaitingRow } from "@assent/inbox";
import type { Redaction } from "../compose/redaction.ts";
import { approvalDirectory, approvalSubject, askReason, headingOf } from "../desk/approvals/view.ts";
import { questionSubject } from "../desk/questions/view.ts";
import { cut, LIST_WIDTH } from "../io/display-width.ts";

/** What the page shows of the session of a row. */
export type SessionView = {
  readonly title: string;
  readonly agent: string;
  readonly cwd: string;
  readonly mode: string;
  /** The session, or the session of the guarded agent or MCP client that made the call. */
  readonly group: string;
  /** True for calls of a guarded agent or an MCP client. */
  readonly outside: boolean;
};

/** Reads sessions for rows. A session that has not changed is not read again. */
export function createSessionViews(ledger: Ledger): (id: string) => Promise<SessionView> {
  const known = new Map<string, { readonly updatedAt: string; readonly view: SessionView }>();
  return async (id) => {
    const row = await readRow(ledger, "sessions", id);
    const cached = known.get(id);
    if (cached && row && cached.updatedAt === row.updatedAt) return cached.view;
    const view = row ? await viewOf(ledger, row) : { title: id, agent: "Assent", cwd: "", mode: "", group: id, outside: false };
    if (row) known.set(id, { updatedAt: row.updatedAt, view });
    return view;
  };
}

async function viewOf(ledger: Ledger, row: SessionRow): Promise<SessionView> {
  let mode = "";
  for await (const { type, body } of ledger.read(
    { session: row.id, seq: 0 },
    { session: row.id, types: ["session.created", "mode.changed"] },
  ))
    mode = String(type === "session.created" ? body["mode"] : body["to"]);
  const group = row.group ? `${row.group.client} ${row.group.id}` : row.id;
  return { title: sessionTitle(row), agent: agentName(row), cwd: row.cwd, mode, group, outside: Boolean(row.group) };
}

export function sessionTitle({ id, title }: Pick<SessionRow, "id" | "title">): string {
  return title === "" ? id : title;
}

export function agentName({ group }: Pick<SessionRow, "group">): string {
  return group?.title ?? "Assent";
}

/** Fields of lists and cards that name things and are no text of a model or tool. */
export const NAMES: ReadonlySet<string> = new Set([
  ...["id", "kind", "session", "group", "fingerprint", "state", "since", "expiresAt", "at", "undo", "card", "cancel", "write", "path"],
  ...["sessionId", "callId", "proposalId", "requestedAt"],
]);

/** Reads everything that waits, oldest first, as lists show it: without secrets. */
export function createWaitingList(
  ledger: Ledger,
  viewOf: (id: string) => Promise<SessionView>,
  redactionOf: (directory: string) => Redaction,
): () => Promise<readonly WaitingRow[]> {
  const shownRows = keepRedacted((row) => {
    const { subject, ...rest } = redactionOf(row.directory).value(row);
    return { ...rest, subject: cut(subject, LIST_WIDTH) };
  });
  return async () => shownRows(await waitingRows(ledger, viewOf));
}

/** Redacting is most of the work for a long list, of which few rows change at a time. */
function keepRedacted(redact: (row: WaitingRow) => WaitingRow): (rows: readonly WaitingRow[]) => readonly WaitingRow[] {
  let before: ReadonlyMap<string, { readonly raw: string; readonly shown: WaitingRow }> = new Map();
  return (rows) => {
    const now = rows.map((row) => {
      const raw = JSON.stringify(row);
      const known = before.get(row.id);
      return known?.raw === raw ? known : { raw, shown: redact(row) };
    });
    before = new Map(now.map((one) => [one.shown.id, one]));
    return now.map(({ shown }) => shown);
  };
}

async function waitingRows(ledger: Ledger, viewOfSession: (id: string) => Promise<SessionView>): Promise<readonly WaitingRow[]> {
  const rows: WaitingRow[] = [];
  const views = new Map<string, Promise<SessionView>>();
  const add = async (session: string, row: OwnFields): Promise<void> => {
    const view = views.get(session) ?? viewOfSession(session);
    views.set(session, view); // looked up once, however many rows a session has
    const { title: sessionTitle, agent, mode, cwd, group } = await view;
    rows.push({ session, sessionTitle, agent, mode, group, ...row, directory: row.directory === "" ? cwd : row.directory });
  };
  for await (const row of readRows(ledger, "approvals")) if (row.state === "open") await add(row.session, approvalRow(row));
  for await (const row of readRows(ledger, "questions"))
    if (row.state === "open") await add(row.session, questionRow(await readWholeQuestion(ledger, row)));
  for await (const row of readRows(ledger, "proposals")) if (row.state === "staged" && row.parked) await add(row.session, proposalRow(row));
  return rows.sort((left, right) => (left.since < right.since ? -1 : 1));
}

type OwnFields = Omit<WaitingRow, "session" | "sessionTitle" | "agent" | "mode" | "group">;

/** The subject is not cut, so that secrets can be hidden in it. An empty directory means the session's directory. */
export function approvalRow(row: ApprovalRow): OwnFields {
  const { id, tool, requestedAt: since, expiresAt } = row;
  const directory = approvalDirectory({ details: row.details, cwd: "" });
  return { id, kind: "approval", tool, subject: subjectOf(row), directory, why: askReason(row), since, expiresAt };
}

function subjectOf(row: ApprovalRow): string {
  return row.details.type === "edit"
    ? headingOf(row)
    : approvalSubject(row, Number.POSITIVE_INFINITY).replace(/^Confirm (?:command: )?/, "");
}

export function questionRow(row: QuestionRow): OwnFields {
  const subject = questionSubject(row.questions, Number.POSITIVE_INFINITY);
  return { id: row.id, kind: "question", tool: "ask", subject, directory: "", why: "the model asks", since: row.askedAt, expiresAt: null };
}

export function proposalRow({ id, tool, label, cwd, stagedAt }: ProposalRow): OwnFields {
  const why = "a change is staged and waits to be applied";
  return { id, kind: "proposal", tool, subject: label, directory: cwd, why, since: stagedAt, expiresAt: null };
}
