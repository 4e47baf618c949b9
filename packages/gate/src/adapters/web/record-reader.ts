import { isObject, type JsonObject, type LedgerEvent, parseEvent, readCallRecord, type Session, type StoredEvent } from "@assent/core";
import { type RecordedEvent, recordedEvent } from "./recorded-event.ts";

/** Reads the record of a session from a position, at the reader's pace. */
export type RecordReader = {
  /** Finds the start. Rejects with `LedgerError` if the position is beyond the end of the ledger. */
  readonly begin: () => Promise<void>;
  /** Reports a new event at this position. */
  readonly noteWritten: (pos: number) => void;
  /** The next event for a front end; undefined if there is none yet. */
  readonly next: () => Promise<RecordedEvent | undefined>;
};

/** Creates a reader that starts after this position. Default: the end of the ledger. */
export function createRecordReader(session: Session, after: number | undefined): RecordReader {
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
    at = Math.max(at, until); // events in between belong to other sessions
    return await nextStored();
  };
  return {
    begin: async () => {
      const head = await ledger.head();
      if (after === undefined) at = head;
      newest = Math.max(newest, head, at);
      if (at > head) newest = at + 1; // reading then fails with the ledger's own error
    },
    noteWritten: (pos) => {
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

async function whole({ ledger }: Session, event: LedgerEvent): Promise<LedgerEvent> {
  const body: unknown = await ledger.resolve(event.body as never);
  return isObject(body) ? ({ ...event, body } as LedgerEvent) : event;
}

/** The frozen input that an approval was opened for. */
async function askedInput({ ledger, id }: Session, { type, body }: LedgerEvent): Promise<JsonObject | null> {
  if (type !== "approval.opened") return null;
  const { "call.judged": judged } = await readCallRecord(ledger, id, body.call);
  return judged?.fingerprint === body.fingerprint ? judged.input : null;
}
