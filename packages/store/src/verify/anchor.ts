import { isObject, SHARED } from "@assent/core";
import { type Database, query } from "../database/database.ts";
import { type Finding, finding, type Head } from "./finding.ts";
import { type PastCuts, readPastCuts } from "./past-cuts.ts";

/** The heads of a store at one moment. Kept elsewhere, they reveal a chain that was rewritten or cut after its last checkpoint. */
export type Anchor = { readonly store: string; readonly heads: readonly Head[] };

/** Formats an anchor as the text of a file. */
export function anchorText({ store, heads }: Anchor): string {
  return `${JSON.stringify({ store, heads }, null, 2)}\n`;
}

/** Parses an anchor. Throws an error for people. */
export function parseAnchor(text: string): Anchor {
  const value: unknown = JSON.parse(text);
  const { store, heads } = isObject(value) ? value : {};
  if (typeof store === "string" && Array.isArray(heads) && heads.every(isHead)) return { store, heads };
  throw new Error("it is not what assent verify --export-anchor FILE writes");
}

function isHead(value: unknown): value is Head {
  return isObject(value) && typeof value["session"] === "string" && typeof value["seq"] === "number" && typeof value["hash"] === "string";
}

export function* checkAnchor(database: Database, store: string, anchor: Anchor): Generator<Finding> {
  const cuts = readPastCuts(database);
  const hashAt = query<{ hash: string }>(database, "select hash from events where session = ? and seq = ?");
  const last = query<{ seq: number | null }>(database, "select max(seq) as seq from events where session = ?");
  const now = ({ session, seq }: Head): ChainNow => ({ hash: hashAt.get(session, seq)?.hash, last: last.get(session)?.seq ?? 0, cuts });
  yield* compareAnchor(anchor, store, now);
}

/** Compares each head of the anchor with its chain as it is now. */
export function* compareAnchor(anchor: Anchor, store: string, now: (head: Head) => ChainNow): Generator<Finding> {
  if (anchor.store !== store) {
    yield finding("chain_break", { session: SHARED }, `The anchor belongs to another ledger (${anchor.store}).`);
    return;
  }
  for (const head of anchor.heads) {
    const found = compareHead(head, now(head));
    if (found) yield found;
  }
}

export type ChainNow = { readonly hash: string | undefined; readonly last: number; readonly cuts: PastCuts };

function compareHead({ session, seq, hash }: Head, { hash: present, last, cuts }: ChainNow): Finding | undefined {
  if (present === hash || cuts.isPruned(session) || cuts.isCut(session, seq, 0)) return undefined;
  if (last === 0) return finding("missing_session", { session }, `The anchor lists it with ${seq} events.`);
  if (last < seq) return finding("truncated", { session, seq: last + 1 }, `It ends at event ${last}; the anchor lists ${seq}.`);
  return finding("chain_break", { session, seq }, "The anchor lists another event at this place.");
}
