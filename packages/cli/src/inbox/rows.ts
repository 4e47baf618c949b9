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
import { approvalDirectory, approvalSubject, askReason, headingOf } from "../desk/approvals/view.ts";
import { questionSubject } from "../desk/questions/view.ts";

/** What the page shows of the session of a row. */
export type SessionView = { readonly title: string; readonly agent: string; readonly cwd: string; readonly mode: string };

/** Reads sessions for rows. A session that has not changed is not read again. */
export function createSessionViews(ledger: Ledger): (id: string) => Promise<SessionView> {
  const known = new Map<string, { readonly updatedAt: string; readonly view: SessionView }>();
  return async (id) => {
    const row = await readRow(ledger, "sessions", id);
    const cached = known.get(id);
    if (cached && row && cached.updatedAt === row.updatedAt) return cached.view;
    const view = row ? await viewOf(ledger, row) : { title: id, agent: "Assent", cwd: "", mode: "" };
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
  return { title: sessionTitle(row), agent: agentName(row), cwd: row.cwd, mode };
}

export function sessionTitle({ id, title }: Pick<SessionRow, "id" | "title">): string {
  return title === "" ? id : title;
}

export function agentName({ group }: Pick<SessionRow, "group">): string {
  return group?.title ?? "Assent";
}

/** Everything that waits, oldest first, as the list shows it. */
export async function waitingRows(ledger: Ledger, viewOfSession: (id: string) => Promise<SessionView>): Promise<readonly WaitingRow[]> {
  const rows: WaitingRow[] = [];
  const views = new Map<string, Promise<SessionView>>();
  const add = async (session: string, row: Omit<WaitingRow, "session" | "sessionTitle" | "agent" | "mode">): Promise<void> => {
    const { title: sessionTitle, agent, mode, cwd } = await getOrAdd(views, session, viewOfSession);
    rows.push({ session, sessionTitle, agent, mode, ...row, directory: row.directory === "" ? cwd : row.directory });
  };
  for await (const row of readRows(ledger, "approvals")) if (row.state === "open") await add(row.session, approvalRow(row));
  for await (const row of readRows(ledger, "questions"))
    if (row.state === "open") await add(row.session, questionRow(await readWholeQuestion(ledger, row)));
  for await (const row of readRows(ledger, "proposals")) if (row.state === "staged" && row.parked) await add(row.session, proposalRow(row));
  return rows.sort((left, right) => (left.since < right.since ? -1 : 1));
}

type OwnFields = Omit<WaitingRow, "session" | "sessionTitle" | "agent" | "mode">;

/** An empty directory means the session's directory. */
export function approvalRow(row: ApprovalRow): OwnFields {
  const { id, tool, requestedAt: since, expiresAt } = row;
  const directory = approvalDirectory({ details: row.details, cwd: "" });
  return { id, kind: "approval", tool, subject: subjectOf(row), directory, why: askReason(row), since, expiresAt };
}

function subjectOf(row: ApprovalRow): string {
  return row.details.type === "edit" ? headingOf(row) : approvalSubject(row).replace(/^Confirm (?:command: )?/, "");
}

export function questionRow(row: QuestionRow): OwnFields {
  const subject = questionSubject(row.questions);
  return { id: row.id, kind: "question", tool: "ask", subject, directory: "", why: "the model asks", since: row.askedAt, expiresAt: null };
}

export function proposalRow({ id, tool, label, cwd, stagedAt }: ProposalRow): OwnFields {
  const why = "a change is staged and waits to be applied";
  return { id, kind: "proposal", tool, subject: label, directory: cwd, why, since: stagedAt, expiresAt: null };
}

/** A session is looked up once, however many rows it has. */
function getOrAdd<V>(map: Map<string, V>, key: string, make: (key: string) => V): V {
  const value = map.get(key) ?? make(key);
  map.set(key, value);
  return value;
}
