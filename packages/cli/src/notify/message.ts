import type { ApprovalRow, EventBodies, JsonObject, Ledger, QuestionRow } from "@assent/core";
import { readRow, readWholeQuestion } from "@assent/core";
import { agentName, approvalRow, proposalRow, questionRow, sessionTitle } from "../inbox/rows.ts";
import { cut } from "../io/display-width.ts";
import { oneLine } from "../io/visible-text.ts";
import { isWorkerSession } from "../worker/registered-workers.ts";
import { type Notice, noticeKey } from "./notice.ts";

/** The content of one notice in a message, without secrets. */
export type NoticeItem = {
  readonly key: string;
  readonly event: Notice["event"];
  readonly kind: Notice["kind"];
  readonly id: string;
  readonly session: string;
  readonly sessionTitle: string;
  readonly agent: string;
  readonly tool: string;
  readonly subject: string;
  readonly directory: string;
  readonly why: string;
  readonly since: string;
  readonly expiresAt: string | null;
};

export type NoticeMessage = {
  /** The same for every attempt to send the same items. */
  readonly id: string;
  readonly at: string;
  readonly host: string;
  readonly title: string;
  /** Where people answer; without a token. */
  readonly link: string | null;
  readonly items: readonly NoticeItem[];
  /** How many further items are not listed. */
  readonly more: number;
};

type Redact = <T>(value: T) => T;
type ItemText = Pick<NoticeItem, "tool" | "subject" | "directory" | "why" | "since" | "expiresAt">;

/** The item of a notice as it is now; undefined if there is nothing left to tell. */
export async function readItem(ledger: Ledger, notice: Notice, redact: Redact): Promise<NoticeItem | undefined> {
  const session = await readRow(ledger, "sessions", notice.session);
  if (!session || isWorkerSession(session.id)) return undefined;
  const shown = await ITEM_TEXT[notice.kind](ledger, notice, redact);
  if (!shown || (notice.kind === "session" && (session.group || session.parent))) return undefined; // a denied call is no failure, and tasks report themselves
  const { event, kind, id } = notice;
  const title = session.group ? session.group.title : sessionTitle(session); // the title of an outside call is its input
  const about = redact({ sessionTitle: title, agent: agentName(session), ...shown, directory: shown.directory || session.cwd });
  const texts = Object.fromEntries(Object.entries(about).map(([name, value]) => [name, value === null ? null : cut(oneLine(value), 300)]));
  return { key: noticeKey(notice), event, kind, id, session: session.id, ...(texts as typeof about) };
}

const ITEM_TEXT: Readonly<Record<Notice["kind"], (ledger: Ledger, notice: Notice, redact: Redact) => Promise<ItemText | undefined>>> = {
  approval: async (ledger, { id, event }, redact) => {
    const [row] = await ledger.pending("approvals", { prefix: id, all: true, limit: 1 });
    if (row?.id !== id || row.state !== "open") return undefined;
    return event === "expiring" && row.expiresAt === null ? undefined : approvalRow(redact(await withoutContents(ledger, row)));
  },
  question: async (ledger, { id }, redact) => {
    const [row] = await ledger.pending("questions", { prefix: id, all: true, limit: 1 });
    if (row?.id !== id || row.state !== "open") return undefined;
    const { questions, ...rest }: QuestionRow = await readWholeQuestion(ledger, row);
    return questionRow({ ...rest, questions: redact(questions) });
  },
  proposal: async (ledger, { id }, redact) => {
    const [row] = await ledger.pending("proposals", { prefix: id, all: true, limit: 1 });
    return row?.id === id && row.state === "staged" && row.parked ? proposalRow({ ...row, label: redact(row.label) }) : undefined;
  },
  session: async (ledger, { session, at }) => {
    let why = "";
    for await (const { body } of ledger.read({ session, seq: 0 }, { session, types: ["turn.ended"] })) why = errorOf(body);
    return { ...NO_TEXT, subject: "The session failed.", why: why || "it ended without finishing", since: at };
  },
  task: async (ledger, { session, id, at }) => {
    let text = { ...NO_TEXT, since: at };
    for await (const { type, body } of ledger.read({ session, seq: 0 }, { session, types: ["task.started", "task.ended"] })) {
      if (body["task"] !== id) continue;
      if (type === "task.started") text = { ...text, tool: String(body["agent"]), subject: String(body["description"]) };
      else text = { ...text, why: `${String(body["status"])}${typeof body["error"] === "string" ? `: ${body["error"]}` : ""}` };
    }
    return text;
  },
};

const NO_TEXT: ItemText = { tool: "", subject: "", directory: "", why: "", since: "", expiresAt: null };

/** Values that no message shows are left out before secrets are looked for. */
async function withoutContents(ledger: Ledger, row: ApprovalRow): Promise<ApprovalRow> {
  const { title, details } = (await ledger.resolve({ title: row.title, details: row.details } as never)) as Pick<
    ApprovalRow,
    "title" | "details"
  >;
  const { effect: _effect, ...rest } = details;
  const isEdit = rest.type === "edit";
  return { ...row, title, facts: null, details: isEdit ? { ...rest, fileDiff: "", originalContent: null, newContent: "" } : rest };
}

function errorOf(body: JsonObject): string {
  const { error } = body as unknown as EventBodies["turn.ended"]; // the caller reads only these
  return error?.message ?? "";
}

/** One sentence about all items. */
export function titleOf(items: readonly NoticeItem[]): string {
  const count = (event: NoticeItem["event"], one: string, many: string): readonly string[] => {
    const found = items.filter((item) => item.event === event).length;
    return found === 0 ? [] : [found === 1 ? `1 ${one}` : `${found} ${many}`];
  };
  return [
    ...count("approval", "request waits for you", "requests wait for you"),
    ...count("expiring", "request expires soon", "requests expire soon"),
    ...count("failed", "session failed", "sessions failed"),
    ...count("task", "task ended", "tasks ended"),
  ].join(", ");
}

/** One line of plain text about an item. */
export function itemLine({ event, agent, tool, subject, why, expiresAt }: NoticeItem): string {
  const what = [agent, tool].filter((text) => text !== "").join(", ");
  return `${what}: ${subject}${why === "" ? "" : ` (${why})`}${event === "expiring" && expiresAt !== null ? ` until ${expiresAt}` : ""}`;
}
