import { isObject, type JsonObject, type LedgerEvent, parseEvent, readCallRecord, type Session, type StoredEvent } from "@assent/core";
import { type RecordedEvent, recordedEvent } from "./recorded-event.ts";

/** Reads a session's record on, from its own place and at its reader's pace. */
export type RecordReader = {
  /** Settles where it begins. Rejects with `LedgerError` when that is beyond the ledger's end. */
  readonly begin: () => Promise<void>;
  /** Something was written at this place. */
  readonly heard: (pos: number) => void;
  /** The next thing a front end is told; undefined: nothing yet. */
  readonly next: () => Promise<RecordedEvent | undefined>;
};

/** A reader that begins behind this place; absent: at the ledger's end. */
export function readRecord(session: Session, after: number | undefined): RecordReader {
  const { ledger, id } = session;
  let at = after ?? 0;
  let newest = 0;
  let rows: AsyncIterator<StoredEvent> | undefined;
  let until = 0;
  const nextStored = async (): Promise<StoredEvent | undefined> => {
    if (!rows) {
      if (newest <= at) return undefined;
      until = newest;
      rows = ledger.read({ pos: at }, { session: id, naming: id })[Symbol.asyncIterator]();
    }
    const { done, value } = await rows.next();
    if (!done) {
      at = value.pos;
      return value;
    }
    rows = undefined;
    at = Math.max(at, until); // what stands between is not this session's
    return await nextStored();
  };
  return {
    begin: async () => {
      const head = await ledger.head();
      if (after === undefined) at = head;
      newest = Math.max(newest, head, at);
      if (at > head) newest = at + 1; // the ledger itself says what is wrong
    },
    heard: (pos) => {
      newest = Math.max(newest, pos);
    },
    next: async () => {
      for (let stored = await nextStored(); stored; stored = await nextStored()) {
        const known = parseEvent(stored);
        const told = known && recordedEvent(await whole(session, known), await askedInput(session, known));
        if (told) return told;
      }
      return undefined;
    },
  };
}

/** Large values are stored beside the event. */
async function whole({ ledger }: Session, event: LedgerEvent): Promise<LedgerEvent> {
  const body: unknown = await ledger.resolve(event.body as never);
  // Parsing: the same event, with its values in place.
  return isObject(body) ? ({ ...event, body } as LedgerEvent) : event;
}

/** The input that an approval was opened for, as it was judged and frozen. */
async function askedInput({ ledger, id }: Session, { type, body }: LedgerEvent): Promise<JsonObject | null> {
  if (type !== "approval.opened") return null;
  const { "call.judged": judged } = await readCallRecord(ledger, id, body.call);
  return judged?.fingerprint === body.fingerprint ? judged.input : null;
}
