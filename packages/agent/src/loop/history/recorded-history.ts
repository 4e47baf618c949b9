import type { LanguageModelV4Message } from "@ai-sdk/provider";
import { type AssistantPart, type EventBodies, knownEvent, type Ledger, LedgerError, type LedgerEvent, type Session } from "@assent/core";
import { compactedHistory } from "../compaction/kept-messages.ts";
import { cutMessages, isCut } from "./cut-answer.ts";
import type { Mark } from "./marks.ts";
import { assistantMessage, type ToldResult, toolMessage, userMessage } from "./messages.ts";

/** A conversation as the ledger has it: what every finished part of it said, and the turn that was cut short, if any. */
export type RecordedHistory = {
  readonly messages: LanguageModelV4Message[];
  /** The newest assistant message, where its calls have not all ended. */
  readonly open: OpenTurn | undefined;
  /** Where the session's newest answer came from; not that of a session it was forked from. */
  readonly providerId: string | null;
};

/** A turn whose calls are not all told yet. */
export type OpenTurn = { readonly parts: readonly AssistantPart[]; readonly calls: readonly RecordedTurnCall[] };

type RecordedTurnCall = { readonly callId: string; readonly tool: string; ended: ToldResult | undefined };

/** A conversation that cannot be read back: the session it was forked from is gone, or does not reach as far. */
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

/** What stands in a fork's history for the result of a call that had none; `own`: the call that started the fork. */
export function forkText(own: string | undefined): (callId: string) => string {
  return (callId) => (callId === own ? OWN_CALL : SIBLING);
}

/**
 * Reads a session's conversation back from its record; that of a fork begins with the other session's, up to the place of the fork, where `unanswered` gives the
 * results of calls that had none (absent: by which call started the fork). Large contents are fetched where they stand. Rejects with `HistoryError`.
 */
export async function recordedHistory(ledger: Ledger, session: string, unanswered?: (callId: string) => string): Promise<RecordedHistory> {
  const reading = await read(ledger, { session, unanswered, seen: [session] });
  const asked = reading.parts?.filter(({ type }) => type === "call").length ?? 0;
  const whole = reading.calls.length === asked && reading.calls.every(({ ended }) => ended !== undefined);
  if (whole) close(reading);
  const { messages, parts, calls, providerId } = reading;
  return { messages, open: parts && { parts, calls }, providerId };
}

type Conversing = {
  readonly messages: readonly LanguageModelV4Message[];
  readonly session: Session;
  readonly answering: { readonly parts: readonly AssistantPart[]; readonly seq: number } | undefined;
};

/** The live history as a fork begins with it: every call of the answer under way has its result, or what `unanswered` says. */
export async function forkedMessages(
  { messages, session, answering }: Conversing,
  unanswered: (callId: string) => string,
): Promise<LanguageModelV4Message[]> {
  const reading = readingAfter([...messages]);
  if (!answering) return reading.messages;
  reading.parts = answering.parts;
  const after = { session: session.id, seq: answering.seq };
  for await (const stored of session.ledger.read(after, { session: session.id, types: ["call.proposed", "call.ended"] })) {
    const event = knownEvent({ ...stored, body: await session.ledger.resolve(stored.body) });
    if (event) take(reading, event);
  }
  answerOpen(reading, unanswered);
  return reading.messages;
}

type Source = {
  readonly session: string;
  readonly until?: number;
  readonly unanswered: ((callId: string) => string) | undefined;
  /** Sessions that are being read: none is forked from itself. */
  readonly seen: readonly string[];
};

async function read(ledger: Ledger, source: Source): Promise<Reading> {
  const { session, until = Number.POSITIVE_INFINITY } = source;
  let reading = readingAfter([]);
  for await (const stored of ledger.read({ session, seq: 0 }, { session, types: TYPES })) {
    if (stored.seq > until && stored.type !== "call.proposed") break; // the calls of an answer are on record right behind it
    const event = knownEvent({ ...stored, body: await ledger.resolve(stored.body) });
    if (event?.type === "session.created") reading = await begun(ledger, source, event.body);
    else if (event) take(reading, event);
  }
  return reading;
}

/** The history before a session's own: empty, or that of the session it was forked from. */
async function begun(ledger: Ledger, { unanswered, seen }: Source, created: EventBodies["session.created"]): Promise<Reading> {
  const { forked, parent } = created;
  if (!forked) return readingAfter([]);
  const { session, seq } = forked;
  if (seen.includes(session) || !(await reaches(ledger, session, seq))) {
    throw new HistoryError(`The conversation of session '${session}', from which this one was forked at ${seq}, is not there.`);
  }
  const reading = await read(ledger, { session, until: seq, unanswered: undefined, seen: [...seen, session] });
  answerOpen(reading, unanswered ?? forkText(parent?.call));
  return readingAfter(reading.messages);
}

/** A chain is whole from its beginning or gone: its first event and that of the place are looked for. */
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

type Reading = {
  readonly messages: LanguageModelV4Message[];
  parts: readonly AssistantPart[] | undefined;
  calls: RecordedTurnCall[];
  providerId: string | null;
};

function readingAfter(messages: LanguageModelV4Message[]): Reading {
  return { messages, parts: undefined, calls: [], providerId: null };
}

function take(reading: Reading, event: LedgerEvent): void {
  switch (event.type) {
    case "message.user":
      close(reading);
      reading.messages.push(userMessage(event.body.content, ORIGINS[event.body.origin]));
      break;
    case "message.assistant":
      close(reading);
      answered(reading, event.body);
      break;
    case "history.compacted":
      close(reading);
      reading.messages.splice(0, reading.messages.length, ...compactedHistory(reading.messages, event.body));
      break;
    case "call.proposed":
      if (reading.parts && event.body.index >= 0) reading.calls.push(proposed(event.body));
      break;
    case "call.ended":
      end(reading, event.body);
      break;
    default:
  }
}

function answered(reading: Reading, { content, stop, turn, providerId }: EventBodies["message.assistant"]): void {
  reading.providerId = providerId;
  if (isCut(stop)) reading.messages.push(...cutMessages(content, turn));
  else reading.parts = content;
}

/** Under the name the model called it by, as it was told its result. */
function proposed({ call, tool, calledAs }: EventBodies["call.proposed"]): RecordedTurnCall {
  return { callId: call, tool: calledAs ?? tool, ended: undefined };
}

function end({ calls }: Reading, { call, outcome, type, content }: EventBodies["call.ended"]): void {
  const found = calls.find(({ callId }) => callId === call);
  if (found) found.ended = { callId: call, tool: found.tool, outcome, type, content };
}

/** The turn before is whole: nothing is said to a model while a call of its turn waits. */
function close(reading: Reading): void {
  const { parts, calls, messages } = reading;
  reading.parts = undefined;
  reading.calls = [];
  if (!parts || (calls.length === 0 && parts.some(({ type }) => type === "call"))) return; // its calls were never proposed: the model was asked again
  const ids = calls.map(({ callId }) => callId);
  if (parts.length > 0) messages.push(assistantMessage(parts, ids));
  const told = calls.flatMap(({ ended }) => (ended ? [ended] : []));
  if (told.length > 0) messages.push(toolMessage(told));
}

/** Every call of the newest answer gets a result, so that no provider sees one without. */
function answerOpen(reading: Reading, unanswered: (callId: string) => string): void {
  const made = reading.parts?.flatMap((part) => (part.type === "call" ? [part] : [])) ?? [];
  for (const { call, tool } of made.slice(reading.calls.length)) reading.calls.push({ callId: call, tool, ended: undefined });
  for (const call of reading.calls) {
    const { callId, tool } = call;
    call.ended ??= { callId, tool, outcome: "succeeded", type: null, content: unanswered(callId) };
  }
  close(reading);
}
