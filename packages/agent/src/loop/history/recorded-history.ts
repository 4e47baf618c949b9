import type { LanguageModelV4Message } from "@ai-sdk/provider";
import { type AssistantPart, type EventBodies, type Ledger, LedgerError, type LedgerEvent, parseEvent, type Session } from "@assent/core";
import { compactedHistory } from "../compaction/kept-messages.ts";
import { cutMessages, isCut } from "./cut-answer.ts";
import type { Mark } from "./marks.ts";
import { assistantMessage, type CallResult, toolMessage, userMessage } from "./messages.ts";

/** A conversation read back from the ledger. */
export type RecordedHistory = {
  readonly messages: LanguageModelV4Message[];
  /** The provider's id of the newest answer of the session itself whose calls were proposed. */
  readonly providerId: string | null;
};

type RecordedTurnCall = { readonly callId: string; readonly tool: string; ended: CallResult | undefined };

/** The history of the session that this one was forked from is missing or incomplete. */
export class HistoryError extends Error {
  readonly type = "fork_history_missing";
  constructor(message: string) {
    super(message);
    this.name = "HistoryError";
  }
}

const TYPES = ["session.created", "message.user", "message.assistant", "call.proposed", "call.ended", "history.compacted"] as const;
const ORIGINS: Readonly<Record<EventBodies["message.user"]["origin"], NonNullable<Mark["origin"]>>> = {
  user: "user",
  notice: "notice",
  schedule: "schedule",
  steering: "reminder",
};

const OWN_CALL = "You are the fork started by this call.";
const SIBLING = "Handled by the parent.";

/** The result text in a fork for calls that had no result. `own` is the call that started the fork. */
export function forkText(own: string | undefined): (callId: string) => string {
  return (callId) => (callId === own ? OWN_CALL : SIBLING);
}

/** Reads a session's conversation from the ledger. A fork starts with the history of the session it was forked from. Rejects with `HistoryError`. */
export async function readHistory(ledger: Ledger, session: string): Promise<RecordedHistory> {
  const reader = await readMessages(ledger, { session, seen: [session] });
  const callCount = reader.parts?.filter(({ type }) => type === "call").length ?? 0;
  const whole = reader.calls.length === callCount && reader.calls.every(({ ended }) => ended !== undefined);
  if (whole) closeTurn(reader);
  const { messages, providerId, earlierId } = reader;
  return { messages, providerId: isUnproposed(reader) ? earlierId : providerId };
}

/** The live history for a fork. Every call of the current answer gets its result, or what `unanswered` returns. */
export async function forkedMessages(
  messages: readonly LanguageModelV4Message[],
  session: Session,
  answering: { readonly parts: readonly AssistantPart[]; readonly seq: number } | undefined,
  unanswered: (callId: string) => string,
): Promise<LanguageModelV4Message[]> {
  const reader = startReader([...messages]);
  if (!answering) return reader.messages;
  reader.parts = answering.parts;
  const after = { session: session.id, seq: answering.seq };
  for await (const stored of session.ledger.read(after, { session: session.id, types: ["call.proposed", "call.ended"] })) {
    const event = parseEvent({ ...stored, body: await session.ledger.resolve(stored.body) });
    if (event) applyEvent(reader, event);
  }
  answerOpenCalls(reader, unanswered);
  return reader.messages;
}

type HistorySource = {
  readonly session: string;
  readonly until?: number;
  readonly seen: readonly string[];
};

async function readMessages(ledger: Ledger, source: HistorySource): Promise<HistoryReader> {
  const { session, until = Number.POSITIVE_INFINITY } = source;
  let reader = startReader([]);
  for await (const stored of ledger.read({ session, seq: 0 }, { session, types: TYPES })) {
    if (stored.seq > until && stored.type !== "call.proposed") break; // the calls of an answer are on record right behind it
    const event = parseEvent({ ...stored, body: await ledger.resolve(stored.body) });
    if (event?.type === "session.created") reader = await readForkedFrom(ledger, source, event.body);
    else if (event) applyEvent(reader, event);
  }
  return reader;
}

/** The history that a fork starts with; empty for other sessions. */
async function readForkedFrom(ledger: Ledger, { seen }: HistorySource, created: EventBodies["session.created"]): Promise<HistoryReader> {
  const { forked, parent } = created;
  if (!forked) return startReader([]);
  const { session, seq } = forked;
  if (seen.includes(session) || !(await reaches(ledger, session, seq))) {
    throw new HistoryError(`The conversation of session '${session}', from which this one was forked at ${seq}, is not there.`);
  }
  const reader = await readMessages(ledger, { session, until: seq, seen: [...seen, session] });
  answerOpenCalls(reader, forkText(parent?.call));
  return startReader(reader.messages);
}

/** Checks the first event and the event at `seq`. A chain is either complete or gone. */
async function reaches(ledger: Ledger, session: string, seq: number): Promise<boolean> {
  for (const place of [1, seq]) if ((await firstAfter(ledger, session, place - 1)) !== place) return false;
  return true;
}

async function firstAfter(ledger: Ledger, session: string, seq: number): Promise<number | undefined> {
  try {
    for await (const stored of ledger.read({ session, seq }, { session })) return stored.seq;
    return undefined;
  } catch (error) {
    if (error instanceof LedgerError && error.type === "cursor_ahead") return undefined;
    throw error;
  }
}

type HistoryReader = {
  readonly messages: LanguageModelV4Message[];
  parts: readonly AssistantPart[] | undefined;
  calls: RecordedTurnCall[];
  providerId: string | null;
  /** Of the answer before. */
  earlierId: string | null;
};

function startReader(messages: LanguageModelV4Message[]): HistoryReader {
  return { messages, parts: undefined, calls: [], providerId: null, earlierId: null };
}

function applyEvent(reader: HistoryReader, event: LedgerEvent): void {
  switch (event.type) {
    case "message.user":
      closeTurn(reader);
      reader.messages.push(userMessage(event.body.content, ORIGINS[event.body.origin]));
      break;
    case "message.assistant":
      closeTurn(reader);
      addAnswer(reader, event.body);
      break;
    case "history.compacted":
      closeTurn(reader);
      reader.messages.splice(0, reader.messages.length, ...compactedHistory(reader.messages, event.body));
      break;
    case "call.proposed":
      if (reader.parts && event.body.index >= 0) reader.calls.push(addCall(event.body));
      break;
    case "call.ended":
      endCall(reader, event.body);
      break;
    default:
  }
}

function addAnswer(reader: HistoryReader, { content, stop, turn, providerId }: EventBodies["message.assistant"]): void {
  reader.earlierId = reader.providerId;
  reader.providerId = providerId;
  if (isCut(stop)) reader.messages.push(...cutMessages(content, turn));
  else reader.parts = content;
}

/** Uses the name that the model called. */
function addCall({ call, tool, calledAs }: EventBodies["call.proposed"]): RecordedTurnCall {
  return { callId: call, tool: calledAs ?? tool, ended: undefined };
}

function endCall({ calls }: HistoryReader, { call, outcome, type, content }: EventBodies["call.ended"]): void {
  const found = calls.find(({ callId }) => callId === call);
  if (found) found.ended = { callId: call, tool: found.tool, outcome, type, content };
}

/** The process ended before it proposed the calls of an answer, so the model is asked again. */
function isUnproposed({ parts, calls }: Pick<HistoryReader, "parts" | "calls">): boolean {
  return calls.length === 0 && parts?.some(({ type }) => type === "call") === true;
}

/** Appends the previous turn, which is complete now. */
function closeTurn(reader: HistoryReader): void {
  const { parts, calls, messages } = reader;
  reader.parts = undefined;
  reader.calls = [];
  if (!parts) return;
  if (isUnproposed({ parts, calls })) {
    reader.providerId = reader.earlierId;
    return;
  }
  const ids = calls.map(({ callId }) => callId);
  if (parts.length > 0) messages.push(assistantMessage(parts, ids));
  const results = calls.flatMap(({ ended }) => (ended ? [ended] : []));
  if (results.length > 0) messages.push(toolMessage(results));
}

/** Gives every open call a result, because providers refuse calls without one. */
function answerOpenCalls(reader: HistoryReader, unanswered: (callId: string) => string): void {
  const made = reader.parts?.flatMap((part) => (part.type === "call" ? [part] : [])) ?? [];
  for (const { call, tool } of made.slice(reader.calls.length)) reader.calls.push({ callId: call, tool, ended: undefined });
  for (const call of reader.calls) {
    const { callId, tool } = call;
    call.ended ??= { callId, tool, outcome: "succeeded", type: null, content: unanswered(callId) };
  }
  closeTurn(reader);
}
