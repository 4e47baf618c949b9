import { type LedgerEvent, parseEvent, type Session } from "@assent/core";
import { loadWholeEvent } from "../../desk/sessions/whole-event.ts";
import { assistantBlocks, contentBlocks, resultBlock, stopReason, type WireBlock, wireUsage } from "./content.ts";
import type { WireMessage } from "./message.ts";

export type TurnLine = { readonly fields: WireMessage; readonly seq: number };

export type UnreportedCall = { readonly callId: string; ended: WireBlock | undefined };

export type TurnLines = {
  readonly event: (event: LedgerEvent) => readonly TurnLine[];
  /** The answer that was held back, if any. */
  readonly release: () => readonly TurnLine[];
  readonly isHolding: () => boolean;
  readonly answering: () => { readonly id: string; readonly model: string | null };
};

type TurnReading = {
  turn: number;
  model: string | null;
  /** An answer waits for the recorded ids of its calls, because a provider may reuse ids. */
  held: { readonly event: LedgerEvent<"message.assistant">; readonly callIds: string[]; readonly calls: number } | undefined;
  /** In the order of the calls: an early result waits for those before it. */
  calls: UnreportedCall[];
};

/** Creates the messages of one session's turns; `unreported` are open calls of an earlier process. */
export function turnLines(session: string, unreported: readonly UnreportedCall[] = []): TurnLines {
  const turns: TurnReading = { turn: 0, model: null, held: undefined, calls: [...unreported] };
  const idOf = (turn: number): string => `msg_${session}_${turn}`;
  return {
    release: () => releaseAnswer(turns, idOf),
    isHolding: () => turns.held !== undefined,
    answering: () => ({ id: idOf(turns.turn), model: turns.model }),
    event: (event) => {
      switch (event.type) {
        case "turn.started":
          turns.turn = event.body.turn;
          turns.model = event.body.model;
          return [];
        case "message.user":
          return userLine(event);
        case "message.assistant":
          return [...releaseAnswer(turns, idOf), ...holdAnswer(turns, event, idOf)];
        case "call.proposed":
          return callProposed(turns, event, idOf);
        case "call.ended":
          return [...releaseAnswer(turns, idOf), ...callEnded(turns, event)];
        case "turn.ended":
          return releaseAnswer(turns, idOf);
        default:
          return [];
      }
    },
  };
}

type MessageId = (turn: number) => string;

function holdAnswer(turns: TurnReading, event: LedgerEvent<"message.assistant">, idOf: MessageId): readonly TurnLine[] {
  const { content, stop } = event.body;
  turns.held = { event, callIds: [], calls: content.filter(({ type }) => type === "call").length };
  return turns.held.calls === 0 || stop === "aborted" || stop === "error" ? releaseAnswer(turns, idOf) : [];
}

function callProposed(turns: TurnReading, { body: { call, index } }: LedgerEvent<"call.proposed">, idOf: MessageId): readonly TurnLine[] {
  if (index < 0) return []; // made by a tool's body, not by the model
  turns.calls.push({ callId: call, ended: undefined });
  turns.held?.callIds.push(call);
  return turns.held && turns.held.callIds.length === turns.held.calls ? releaseAnswer(turns, idOf) : [];
}

function releaseAnswer(turns: TurnReading, idOf: MessageId): readonly TurnLine[] {
  if (!turns.held) return [];
  const { event, callIds } = turns.held;
  turns.held = undefined;
  const { content, stop, usage, turn, model } = event.body;
  const message = {
    id: idOf(turn),
    type: "message",
    role: "assistant",
    model: model ?? turns.model,
    content: assistantBlocks(content, callIds),
    stop_reason: stopReason(stop),
    usage: wireUsage(usage ?? NOTHING_USED),
  };
  return [{ fields: { type: "assistant", message }, seq: event.seq }];
}

const NOTHING_USED = { inputTokens: 0, outputTokens: 0 };

function callEnded(turns: TurnReading, { seq, body }: LedgerEvent<"call.ended">): readonly TurnLine[] {
  const call = turns.calls.find(({ callId }) => callId === body.call);
  if (!call) return [];
  call.ended = resultBlock(body);
  const open = turns.calls.findIndex((each) => each.ended === undefined);
  const ready = turns.calls.slice(0, open === -1 ? turns.calls.length : open).flatMap((each) => each.ended ?? []);
  turns.calls = turns.calls.slice(ready.length);
  return ready.length === 0 ? [] : [{ fields: { type: "user", message: { role: "user", content: ready }, origin: "tool" }, seq }];
}

const ORIGINS: readonly string[] = ["user", "notice", "schedule"];

/** Hides reminders for the model, and shows a notice without its markup. */
function userLine({ seq, body: { content, origin, displayText } }: LedgerEvent<"message.user">): readonly TurnLine[] {
  if (!ORIGINS.includes(origin)) return [];
  const message = { role: "user", content: contentBlocks(origin === "notice" ? (displayText ?? content) : content) };
  return [{ fields: { type: "user", message, origin, ...(displayText !== undefined && { display_text: displayText }) }, seq }];
}

/** The calls of an interrupted turn, from the first that has not ended. */
export async function unreportedCalls({
  id: session,
  state,
  ledger,
}: Pick<Session, "id" | "state" | "ledger">): Promise<readonly UnreportedCall[]> {
  const open = [...state.calls.values()].filter(({ index }) => index >= 0).map(({ seq }) => seq);
  if (open.length === 0) return [];
  const calls: UnreportedCall[] = [];
  const from = Math.min(...open) - 1;
  for await (const stored of ledger.read({ session, seq: from }, { session, types: ["call.proposed", "call.ended"] })) {
    const event = parseEvent(stored);
    if (event?.type === "call.proposed" && event.body.index >= 0) calls.push({ callId: event.body.call, ended: undefined });
    if (event?.type !== "call.ended") continue;
    const call = calls.find(({ callId }) => callId === event.body.call);
    if (call) call.ended = resultBlock((await loadWholeEvent({ ledger }, event)).body);
  }
  return calls;
}
