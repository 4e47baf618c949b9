import type { LanguageModelV4Message } from "@ai-sdk/provider";
import { type AssistantPart, type EventBodies, knownEvent, type Ledger, type LedgerEvent } from "@assent/core";
import { assistantMessage, type ToldResult, toolMessage, userMessage } from "./history.ts";
import type { Mark } from "./marks.ts";

/** A conversation as the ledger has it: what every finished part of it said, and the turn that was cut short, if any. */
export type RecordedHistory = {
  readonly messages: LanguageModelV4Message[];
  /** The newest assistant message, where its calls have not all ended. */
  readonly open: OpenTurn | undefined;
  /** Where the newest answer came from. */
  readonly providerId: string | null;
};

/** A turn whose calls are not all told yet. */
export type OpenTurn = { readonly parts: readonly AssistantPart[]; readonly calls: readonly RecordedTurnCall[] };

type RecordedTurnCall = { readonly callId: string; readonly tool: string; ended: ToldResult | undefined };

const TYPES = ["message.user", "message.assistant", "call.proposed", "call.ended"] as const;
const ORIGINS: Readonly<Record<EventBodies["message.user"]["origin"], NonNullable<Mark["origin"]>>> = {
  user: "user",
  notice: "notice",
  schedule: "schedule",
  steering: "reminder",
};

/** Reads a session's conversation back from its record. Large contents are fetched where they stand. */
export async function recordedHistory(ledger: Ledger, session: string): Promise<RecordedHistory> {
  const reading: Reading = { messages: [], parts: undefined, calls: [], providerId: null };
  for await (const stored of ledger.read({ session, seq: 0 }, { session, types: TYPES })) {
    const event = knownEvent({ ...stored, body: await ledger.resolve(stored.body) });
    if (event) take(reading, event);
  }
  return finish(reading);
}

type Reading = {
  readonly messages: LanguageModelV4Message[];
  parts: readonly AssistantPart[] | undefined;
  calls: RecordedTurnCall[];
  providerId: string | null;
};

function take(reading: Reading, event: LedgerEvent): void {
  switch (event.type) {
    case "message.user":
      close(reading);
      reading.messages.push(userMessage(event.body.content, ORIGINS[event.body.origin]));
      break;
    case "message.assistant":
      close(reading);
      reading.parts = event.body.content;
      reading.providerId = event.body.providerId;
      break;
    case "call.proposed":
      if (reading.parts && event.body.index >= 0) reading.calls.push({ callId: event.body.call, tool: event.body.tool, ended: undefined });
      break;
    case "call.ended":
      end(reading, event.body);
      break;
    default:
  }
}

function end({ calls }: Reading, { call, outcome, type, content }: EventBodies["call.ended"]): void {
  const found = calls.find(({ callId }) => callId === call);
  if (found) found.ended = { callId: call, tool: found.tool, outcome, type, content };
}

/** The turn before is whole: nothing is said to a model while a call of its turn waits. */
function close(reading: Reading): void {
  const { parts, calls, messages } = reading;
  if (!parts) return;
  const ids = calls.map(({ callId }) => callId);
  messages.push(assistantMessage(parts, ids));
  const told = calls.flatMap(({ ended }) => (ended ? [ended] : []));
  if (told.length > 0) messages.push(toolMessage(told));
  reading.parts = undefined;
  reading.calls = [];
}

function finish(reading: Reading): RecordedHistory {
  const asked = reading.parts?.filter(({ type }) => type === "call").length ?? 0;
  const whole = reading.calls.length === asked && reading.calls.every(({ ended }) => ended !== undefined);
  if (whole) close(reading);
  const { messages, parts, calls, providerId } = reading;
  return { messages, open: parts && { parts, calls }, providerId };
}
