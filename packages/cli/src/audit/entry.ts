import { isObject, type StoredEvent } from "@assent/core";
import type { Head } from "@assent/store";
import { jsonLine } from "../io/output.ts";

/** The newest streamed event of every chain since the anchor before. Kept elsewhere, it proves what the record was. */
export type StreamAnchor = { readonly pos: number; readonly at: string; readonly heads: readonly Head[] };

/** What a stream consists of: events in the order of the record, and anchors. `store` is the id of the record. */
export type StreamEntry = { readonly store: string } & ({ readonly event: StoredEvent } | { readonly anchor: StreamAnchor });

/** The entry as a line of JSON: an event as `assent log --json` prints it, with `store`; or an anchor. */
export function entryLine(entry: StreamEntry): string {
  return jsonLine("event" in entry ? { store: entry.store, ...entry.event } : entry);
}

/** The events that a line names by session, number and hash; undefined for a line of another form. */
export function readEntryLine(line: string): { readonly store: string; readonly heads: readonly Head[] } | undefined {
  const value = parseLine(line);
  if (!isObject(value) || typeof value["store"] !== "string") return undefined;
  const { store, anchor } = value;
  const heads: unknown = anchor === undefined ? [value] : isObject(anchor) ? anchor["heads"] : undefined;
  return Array.isArray(heads) && heads.every(isHead)
    ? { store, heads: heads.map(({ session, seq, hash }) => ({ session, seq, hash })) }
    : undefined;
}

function parseLine(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch (error) {
    if (error instanceof SyntaxError) return undefined; // the end of a line that was being written
    throw error;
  }
}

function isHead(value: unknown): value is Head {
  return isObject(value) && typeof value["session"] === "string" && typeof value["seq"] === "number" && typeof value["hash"] === "string";
}

/** Collects the heads of the chains that a stream has passed. */
export type AnchorMaker = {
  readonly add: (event: StoredEvent) => void;
  /** How many events have no anchor yet. */
  readonly waiting: () => number;
  /** Undefined if no event came since the last one. */
  readonly take: (at: number) => StreamAnchor | undefined;
};

export function createAnchorMaker(): AnchorMaker {
  let heads = new Map<string, Head>();
  let pos = 0;
  let count = 0;
  return {
    add: (event) => {
      const { session, seq, hash } = event;
      pos = event.pos;
      count += 1;
      if (hash !== undefined) heads.set(session, { session, seq, hash });
    },
    waiting: () => count,
    take: (at) => {
      if (count === 0) return undefined;
      const anchor = { pos, at: new Date(at).toISOString(), heads: [...heads.values()] };
      heads = new Map();
      count = 0;
      return anchor;
    },
  };
}
