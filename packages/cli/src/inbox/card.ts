import {
  type ApprovalRow,
  type FileReview,
  isObject,
  type JsonObject,
  type Ledger,
  type OpenApproval,
  type ProposalRow,
  parseEvent,
  type QuestionRow,
  readCallRecord,
  readWholeQuestion,
  reviewProposal,
} from "@assent/core";
import { type DiffLine, type FileDiff, type Hunk, parseDiff } from "@assent/core/parts";
import { nodeDigest } from "@assent/host";
import type { CardFile, CardHunk, CardLine, InboxCard } from "@assent/inbox";
import type { Redaction } from "../compose/redaction.ts";
import { reviewShown } from "../desk/approvals/choose-part.ts";
import { describeEffect } from "../desk/approvals/effect.ts";
import { ruleOffers, whyNotRemembered } from "../desk/approvals/remember.ts";
import { restOfInput } from "../desk/approvals/rest-of-input.ts";
import { appliesProposal, approvalFacts, approvalText, approvalWarnings, headingOf } from "../desk/approvals/view.ts";
import { decisionSentence } from "../desk/explain/decision-text.ts";
import { agentTask } from "../desk/sessions/agent-session.ts";
import { capitalized } from "../io/visible-text.ts";
import { whenText, whoText } from "../io/who.ts";
import { wordChanges } from "../tui/diff/word-changes.ts";
import { approvalRow, proposalRow, questionRow, type SessionView } from "./rows.ts";

export type CardPorts = {
  readonly ledger: Ledger;
  readonly viewOf: (session: string) => Promise<SessionView>;
  /** For what is taken apart: a secret is not found in a word of a line, or in an argument without its name. */
  readonly redaction: Redaction;
};

/** The fields that a kind of card may leave out. */
const EMPTY_CARD = {
  ...{ warnings: [], text: null, fields: [], effect: null, files: [], hasParts: false, offers: [], noOffer: null },
  ...{ editable: null, modes: [], questions: [], messages: [], explanation: "", facts: [] },
} satisfies Partial<InboxCard>;

/** Reads an approval as it was recorded, for people. */
export async function approvalCard(ports: CardPorts, found: ApprovalRow): Promise<InboxCard> {
  const { ledger } = ports;
  const approval = await openApproval(ports, found);
  const row = { ...found, details: approval.details, facts: approval.facts ?? null };
  const { details } = approval;
  const diff = details.type === "edit" ? parseDiff(details.fileDiff) : [];
  const effect = details.effect?.state === "shown" ? details.effect : undefined;
  const shownDiff = effect ? effect.blocks.flatMap(parseDiff) : diff;
  const isWritable = row.state === "open" && row.preview?.writable === true; // later, the contents may be gone
  const files = isWritable
    ? previewFiles(await reviewShown(ledger, row), shownDiff, ports)
    : shownDiff.map((file, index) => diffFile(file, index, ports));
  const inSession = await sessionFields(ports, row.session);
  const isOutside = inSession.group !== row.session;
  const hasTable = details.type === "mcp" || (isOutside && details.type === "info"); // an outside call has its input as text
  const rest = hasTable ? { lines: [], blocks: [] } : restOfInput(approval);
  const hidden = ["id", "always"]; // elsewhere on the card
  return {
    ...EMPTY_CARD,
    ...inSession,
    ...withDirectory(approvalRow(row), approval.cwd),
    state: row.state,
    answered: row.answeredBy ? `${row.state} by ${whoText(row.answeredBy)} at ${whenText(row.answeredAt ?? "")}` : null,
    revision: row.revision,
    fingerprint: row.fingerprint,
    heading: isOutside ? headingOf(approval) : capitalized(headingOf(approval)), // a tool's name stays as it is
    facts: [...approvalFacts(approval).filter(([label]) => !hidden.includes(label)), ...rest.lines.map((line) => ["input", line] as const)],
    warnings: [
      ...approvalWarnings(details, false),
      ...(details.effect?.state === "unavailable" ? [`A preview is not available: ${details.effect.reason}`] : []),
    ],
    text: hasTable || (details.type === "edit" && diff.length > 0) ? null : approvalText(details),
    fields: hasTable ? inputFields(ports.redaction.value(approval.input)) : rest.blocks.map((block) => ["input", block] as const),
    effect: effect ? { ...describeEffect(effect), write: row.preview?.writable ? row.preview.id : null } : null,
    files,
    hasParts: (isWritable || (details.type === "edit" && diff.length === 1)) && hasChoice(files),
    offers: details.type === "plan" || effect ? [] : ruleOffers(approval).map(({ key: _key, ...offer }) => offer),
    noOffer: effect ? null : (whyNotRemembered(approval) ?? null),
    editable: details.type === "plan" || appliesProposal(approval) ? null : details.type === "exec" ? "command" : "input",
    modes: details.type === "plan" ? planModes(details.prePlanMode) : [],
    messages: await lastMessages(ledger, row.session),
    explanation: await explain(ledger, row),
  };
}

/** An approval as cards show it. */
export async function openApproval({ ledger, viewOf }: Omit<CardPorts, "redaction">, row: ApprovalRow): Promise<OpenApproval> {
  const { id, revision, session: sessionId, call: callId, tool, title, fingerprint, reason, source, rule, explicitAsk } = row;
  const [details, facts] = await Promise.all([ledger.resolve(row.details), ledger.resolve(row.facts)]);
  const { "call.judged": judged } = await readCallRecord(ledger, sessionId, callId);
  const input = judged ? ((await ledger.resolve(judged.input)) as JsonObject) : {};
  const task = await agentTask(ledger, sessionId);
  const cwd = judged?.cwd ?? (await viewOf(sessionId)).cwd;
  return {
    ...{ id, revision, sessionId, callId, tool, title, fingerprint, reason, source, rule, explicitAsk, details, input, cwd },
    ...{ suggestions: row.suggestions, facts, expiresAt: row.expiresAt },
    ...(task !== null && { agentName: task }),
  };
}

async function sessionFields(
  { viewOf }: CardPorts,
  session: string,
): Promise<Pick<InboxCard, "session" | "sessionTitle" | "agent" | "mode" | "group">> {
  const { title: sessionTitle, agent, mode, group } = await viewOf(session);
  return { session, sessionTitle, agent, mode, group };
}

function withDirectory<T extends { readonly directory: string }>(row: T, cwd: string): T {
  return row.directory === "" ? { ...row, directory: cwd } : row;
}

function inputFields(input: JsonObject): InboxCard["fields"] {
  return Object.entries(input).map(([name, value]) => [name, typeof value === "string" ? value : JSON.stringify(value, null, 2)]);
}

/** Files, and the hunks of an approval, are named by their numbers: a path may be redacted. */
function diffFile({ name, isNew, isDeleted, added, removed, notes, hunks }: FileDiff, index: number, ports: CardPorts): CardFile {
  const what = isNew ? "created" : isDeleted ? "deleted" : "changed";
  return { path: String(index), name, what, added, removed, notes, hunks: hunks.map((hunk, at) => cardHunk(hunk, String(at), ports)) };
}

function reviewFile({ name, op, added, removed, notes, hunks }: FileReview, index: number, ports: CardPorts): CardFile {
  return { path: String(index), name, what: op, added, removed, notes, hunks: hunks.map((hunk) => cardHunk(hunk, hunk.id, ports)) };
}

const MOST_LINES = 20_000;
const TOO_LONG = "The diff is too long to choose parts of it on this page.";

/** Paths that can only be chosen together, such as those in `.git`, and long diffs are shown as the preview shows them. */
function previewFiles(review: readonly FileReview[], preview: readonly FileDiff[], ports: CardPorts): readonly CardFile[] {
  let room = MOST_LINES;
  return review.map((file, index) => {
    const lines = file.hunks.reduce((sum, hunk) => sum + hunk.lines.length, 0);
    if (lines > 0 && lines <= room) {
      room -= lines;
      return reviewFile(file, index, ports);
    }
    const shown = preview.filter(({ name }) => name === file.name || name.startsWith(`${file.name}/`));
    const hunks = shown.flatMap(({ name, hunks: cut }) =>
      cut.map((hunk) => cardHunk({ ...hunk, header: `${name} ${hunk.header}` }, null, ports)),
    );
    const notes = lines > 0 ? [...file.notes, TOO_LONG] : file.notes;
    return { ...reviewFile({ ...file, notes, hunks: [] }, index, ports), hunks };
  });
}

function hasChoice(files: readonly CardFile[]): boolean {
  return files.length > 1 || files.some(({ hunks }) => hunks.filter(({ id }) => id !== null).length > 1);
}

const MARKS = { same: " ", added: "+", removed: "-" } as const;

function cardHunk({ header, lines: raw }: Hunk, id: string | null, ports: CardPorts): CardHunk {
  const lines = redactDiff(raw, ports);
  const shown: CardLine[] = [];
  for (const [at, line] of lines.entries()) {
    const previous = lines[at - 1];
    const words = line.kind === "added" && previous?.kind === "removed" ? wordChanges(previous.text, line.text) : undefined;
    if (words) shown[shown.length - 1] = { mark: "-", pieces: words.before };
    shown.push(words ? { mark: "+", pieces: words.after } : { mark: MARKS[line.kind], pieces: [{ text: line.text, changed: false }] });
  }
  return { id, header, lines: shown };
}

/** A secret of several lines is in the file before the change or in the one after it. */
function redactDiff(lines: readonly DiffLine[], { redaction }: CardPorts): readonly DiffLine[] {
  const redacted = new Map<DiffLine, string>();
  for (const other of ["added", "removed"] as const) {
    const side = lines.filter(({ kind }) => kind !== other);
    const texts = redaction.lines(side.map(({ text }) => text));
    for (const [at, line] of side.entries()) if (texts[at] !== line.text) redacted.set(line, texts[at] ?? "");
  }
  return lines.map((line) => ({ ...line, text: redacted.get(line) ?? line.text }));
}

function planModes(before: string | undefined): InboxCard["modes"] {
  return [
    { mode: "default", says: "Start, and ask before each change" },
    { mode: "auto-edit", says: "Start, and allow edits without asking" },
    ...(before === undefined ? [] : [{ mode: before, says: `Start, and go back to mode ${before}` }]),
  ];
}

const MESSAGES = 4;

async function lastMessages(ledger: Ledger, session: string): Promise<InboxCard["messages"]> {
  const last: { readonly who: string; readonly text: string }[] = [];
  for await (const stored of ledger.read({ session, seq: 0 }, { session, types: ["message.user", "message.assistant"] })) {
    const event = parseEvent({ ...stored, body: await ledger.resolve(stored.body) });
    if (event?.type !== "message.user" && event?.type !== "message.assistant") continue;
    const text = messageText(event.body);
    if (text === "") continue;
    last.push({ who: event.type === "message.user" ? "Person" : "Model", text });
    if (last.length > MESSAGES) last.shift();
  }
  return last;
}

/** The text of a message; calls and results are on the timeline. */
export function messageText(body: object): string {
  const content: unknown = Reflect.get(body, "content") ?? Reflect.get(body, "text");
  if (typeof content === "string") return content;
  if (!Array.isArray(content)) return "";
  return content.flatMap((part) => (isObject(part) && typeof part["text"] === "string" ? [part["text"]] : [])).join("\n");
}

async function explain(ledger: Ledger, row: ApprovalRow): Promise<string> {
  const { "call.judged": judged } = await readCallRecord(ledger, row.session, row.call);
  if (!judged) return "";
  const { verdict, reason, source, rule, units, trace } = judged;
  const steps = trace
    .filter(({ opinion }) => opinion !== "none" && opinion !== "not_reached")
    .map(({ layer, opinion, rule: matched, note }) => [`${layer}: ${opinion}`, matched, note].filter(Boolean).join(", "));
  return [decisionSentence({ verdict, reason, source, rule, units, trace }), ...steps].join("\n");
}

/** Reads a staged change for people. */
export async function proposalCard(ports: CardPorts, row: ProposalRow): Promise<InboxCard> {
  const review = await reviewProposal({ ledger: ports.ledger }, row, nodeDigest);
  const files = review.map((file, index) => reviewFile(file, index, ports));
  return {
    ...EMPTY_CARD,
    ...(await sessionFields(ports, row.session)),
    ...proposalRow(row),
    state: row.state === "staged" ? "open" : row.state,
    answered: row.resolution?.who ? `${row.state} by ${whoText(row.resolution.who)} at ${whenText(row.updatedAt)}` : null,
    revision: 0,
    fingerprint: row.digest,
    heading: row.label,
    facts: [
      ["tool", row.tool],
      ["in", row.cwd],
    ],
    files,
    hasParts: hasChoice(files),
    messages: await lastMessages(ports.ledger, row.session),
    explanation: "The change is staged: nothing is written until it is applied.",
  };
}

/** Reads a question for people. */
export async function questionCard(ports: CardPorts, cut: QuestionRow): Promise<InboxCard> {
  const row = await readWholeQuestion(ports.ledger, cut);
  const { cwd } = await ports.viewOf(row.session);
  return {
    ...EMPTY_CARD,
    ...(await sessionFields(ports, row.session)),
    ...withDirectory(questionRow(row), cwd),
    state: row.state,
    answered: row.answeredBy ? `${row.state} by ${whoText(row.answeredBy)} at ${whenText(row.answeredAt ?? "")}` : null,
    revision: 0,
    fingerprint: row.fingerprint,
    heading: "The model asks",
    facts: [["in", cwd]],
    questions: row.questions,
    messages: await lastMessages(ports.ledger, row.session),
    explanation: "The model asked you with the tool 'ask'.",
  };
}
