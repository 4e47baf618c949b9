import { type EventBodies, type Ledger, type LedgerEvent, parseEvent, type StoredEvent } from "@assent/core";

export type ForkPlace = {
  readonly seq: number;
  readonly mode: string;
  readonly model: string | null;
  readonly isDone: boolean;
};

/** From an answer with calls to its last result; `until` is null if one is missing. */
export type TurnSpan = { readonly from: number; readonly until: number | null };

export type ForkableConversation = {
  readonly created: EventBodies["session.created"];
  readonly head: number;
  /** The end of the last turn with all results. */
  readonly finished: ForkPlace | undefined;
  /** Undefined if the conversation had not begun. */
  readonly at: ForkPlace | undefined;
  /** The turn that the requested place would split. */
  readonly cuts: TurnSpan | undefined;
};

/** Undefined if the session has no events. */
export async function findForkPlaces(
  ledger: Ledger,
  session: string,
  wanted: number | undefined,
): Promise<ForkableConversation | undefined> {
  const walk = newScan();
  let at: ForkPlace | undefined;
  for await (const stored of ledger.read({ session, seq: 0 }, { session })) {
    walk.head = stored.seq;
    const event = await resolveAnswer(ledger, stored);
    if (event) step(walk, event);
    if (stored.seq === wanted && walk.said) at = placeHere(walk);
  }
  const { created, head, finished, turns } = walk;
  const cuts = wanted === undefined ? undefined : turns.find(({ from, until }) => from <= wanted && (until === null || wanted < until));
  return created && { created, head, finished, at, cuts };
}

async function resolveAnswer(ledger: Ledger, stored: StoredEvent): Promise<LedgerEvent | undefined> {
  return parseEvent(stored.type === "message.assistant" ? { ...stored, body: await ledger.resolve(stored.body) } : stored);
}

type ForkScan = {
  created: EventBodies["session.created"] | undefined;
  head: number;
  mode: string;
  model: string | null;
  said: boolean;
  finished: ForkPlace | undefined;
  readonly turns: { readonly from: number; until: number | null }[];
  /** Calls of the newest answer, and those without a result. */
  asked: number;
  missing: number;
  readonly open: Set<string>;
};

function newScan(): ForkScan {
  const place = { created: undefined, head: 0, mode: "", model: null, said: false, finished: undefined };
  return { ...place, turns: [], asked: -1, missing: 0, open: new Set() };
}

function placeHere({ head: seq, mode, model, asked }: ForkScan): ForkPlace {
  return { seq, mode, model, isDone: asked === 0 };
}

function step(walk: ForkScan, event: LedgerEvent): void {
  switch (event.type) {
    case "session.created":
      walk.created = event.body;
      walk.mode = event.body.mode;
      walk.model = event.body.model;
      break;
    case "mode.changed":
      walk.mode = event.body.to;
      break;
    case "model.changed":
      walk.model = event.body.to;
      break;
    case "message.user":
      walk.said = true;
      walk.asked = -1;
      break;
    case "message.assistant":
      answered(walk, event);
      break;
    case "call.proposed":
      if (event.body.index >= 0) walk.open.add(event.body.call);
      break;
    case "call.ended":
      if (walk.open.delete(event.body.call)) callEnded(walk);
      break;
    default:
  }
}

/** Calls of incomplete answers never run. */
const CUT: readonly string[] = ["aborted", "error"];

function answered(walk: ForkScan, { seq, body }: LedgerEvent<"message.assistant">): void {
  const isCut = CUT.includes(body.stop);
  walk.said = true;
  walk.asked = isCut ? -1 : body.content.filter(({ type }) => type === "call").length;
  walk.missing = walk.asked;
  walk.open.clear();
  if (isCut) return;
  if (walk.asked === 0) walk.finished = placeHere(walk);
  else walk.turns.push({ from: seq, until: null });
}

function callEnded(walk: ForkScan): void {
  walk.missing -= 1;
  const turn = walk.turns.at(-1);
  if (walk.missing > 0 || !turn) return;
  turn.until = walk.head;
  walk.finished = placeHere(walk);
}
