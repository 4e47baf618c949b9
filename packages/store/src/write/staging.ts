import {
  type Draft,
  type EventBodies,
  type EventType,
  IllegalEvent,
  type JsonObject,
  LedgerError,
  type LedgerEvent,
  parseEvent,
} from "@assent/core";
import { applyEvent, type ChainedEvent, indexedCall } from "../rows/lists.ts";
import { newChain, type Rows, type UndoableRows } from "../rows/rows.ts";
import { type StoredBody, storedBody } from "./blobs.ts";
import { chainHash } from "./chain.ts";

/** `lent` are contents that must be stored already. */
export type PreparedEvent = { readonly type: Draft["type"]; readonly at: string; readonly lent: readonly string[] } & StoredBody;

const NOTHING: readonly string[] = [];

const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;

/** Keeps the body by reference, so the caller must not change it. */
export function prepareEvent({ type, v, at, body }: Draft, belongs: (type: string) => boolean): PreparedEvent {
  if (v !== 1 || !belongs(type)) throw new LedgerError("event_invalid", `An event of type ${type} cannot be stored this way.`, { type });
  if (!TIME.test(at)) throw new LedgerError("event_invalid", `'${at}' is no time in UTC with milliseconds.`, { type });
  // Parsing: canonical JSON rejects a body that is not JSON.
  return { type, at, lent: NOTHING, ...storedBody(type, body as unknown as JsonObject) };
}

export function makeDraft<T extends EventType>(type: T, body: EventBodies[T], at: string): Draft<T> {
  // TypeScript does not see that one key gives one member of the union.
  return { type, v: 1, at, body } as Draft<T>;
}

/** Decides over rows and collects the events to store. Each store loads the rows and writes the events in its own way. */
export type EventStaging = {
  /** Includes staged changes. */
  readonly rows: Rows;
  /** Throws `event_invalid` or `blob_missing`. */
  readonly stage: (session: string, epoch: number, event: PreparedEvent) => LedgerEvent;
  readonly keep: () => void;
  readonly drop: () => void;
};

/** An event to store. `call` is the call under which it is indexed. */
export type StagedEvent = { readonly event: ChainedEvent; readonly call: string | null } & Pick<PreparedEvent, "text" | "blobs" | "lent">;

export type StagingOptions = {
  readonly store: string;
  readonly rows: UndoableRows;
  /** Position of the newest event that was kept. */
  readonly head: () => number;
  /** Throws `blob_missing` if the content is not stored. */
  readonly refuseMissing: (sha: string) => void;
  /** Stores the events, in their order. */
  readonly insert: (staged: readonly StagedEvent[]) => void;
};

/** The events of one operation are kept or dropped together. */
export function makeEventStaging({
  store,
  rows,
  head,
  refuseMissing,
  insert,
}: StagingOptions): EventStaging & { readonly size: () => number } {
  let staged: StagedEvent[] = [];
  return {
    rows,
    stage: (session, epoch, prepared) => {
      const pos = head() + staged.length + 1;
      const { seq, hash } = rows.chains.get(session) ?? newChain(session, pos);
      const event = chainEvent({ store, session, seq: seq + 1, epoch, prev: hash, pos }, prepared);
      for (const sha of prepared.lent) refuseMissing(sha);
      const known = applyToRows(rows, event);
      staged.push({ event, call: indexedCall(rows, event), text: prepared.text, blobs: prepared.blobs, lent: prepared.lent });
      return known;
    },
    keep: () => {
      rows.keep();
      insert(staged);
      staged = [];
    },
    drop: () => {
      rows.drop();
      staged = [];
    },
    size: () => staged.length,
  };
}

type EventPlace = {
  readonly store: string;
  readonly session: string;
  readonly seq: number;
  readonly epoch: number;
  readonly prev: string;
  readonly pos: number;
};

function chainEvent({ store, session, seq, epoch, prev, pos }: EventPlace, { type, at, body, text }: PreparedEvent): ChainedEvent {
  const hash = chainHash({ store, session, seq, epoch, at, type, v: 1, body: text, prev });
  return { type, v: 1, at, body, session, seq, pos, epoch, prev, hash };
}

function applyToRows(rows: Rows, event: ChainedEvent): LedgerEvent {
  const known = parseEvent(event);
  if (!known) throw new LedgerError("event_invalid", `There is no event of type ${event.type}.`, { type: event.type });
  try {
    applyEvent(rows, event);
  } catch (error) {
    if (!(error instanceof IllegalEvent)) throw error;
    throw new LedgerError("event_invalid", error.message, { type: error.type, state: error.state });
  }
  return known;
}
