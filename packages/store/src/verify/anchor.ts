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

export function* checkAnchors(database: Database, store: string, anchors: readonly Anchor[]): Generator<Finding> {
  const cuts = readPastCuts(database);
  const hashAt = query<{ hash: string }>(database, "select hash from events where session = ? and seq = ?");
  const last = query<{ seq: number | null }>(database, "select max(seq) as seq from events where session = ?");
  const now = ({ session, seq }: Head): ChainNow => ({ hash: hashAt.get(session, seq)?.hash, last: last.get(session)?.seq ?? 0 });
  yield* compareAnchors(anchors, store, { cuts, now });
}

/** The event that has the place of a head now, and the number of the last event of that chain. */
export type ChainNow = { readonly hash: string | undefined; readonly last: number };

/** Compares each head of the anchors of this store with its chain as it is now. Reports the first difference of each chain. */
export function* compareAnchors(
  anchors: readonly Anchor[],
  store: string,
  { cuts, now }: { readonly cuts: PastCuts; readonly now: (head: Head) => ChainNow },
): Generator<Finding> {
  const own = anchors.filter((anchor) => anchor.store === store);
  if (anchors.length > 0 && own.length === 0) {
    const others = [...new Set(anchors.map((anchor) => anchor.store))].join(", ");
    yield differing("chain_break", { session: SHARED }, `The anchor belongs to another ledger (${others}).`);
  }
  const differ = new Set<string>();
  const pruned = new Set<string>();
  const repaired = new Set<string>();
  for (const head of own.flatMap(({ heads }) => heads)) {
    const { session, seq, hash } = head;
    if (differ.has(session)) continue;
    const found = now(head);
    if (found.hash === hash) continue;
    const left = cuts.prunedHead(session);
    if (left && (seq < left.seq || (seq === left.seq && hash === left.hash))) pruned.add(session);
    else if (!left && cuts.isCut(session, seq, 0)) repaired.add(session);
    else {
      differ.add(session);
      yield left ? differing("chain_break", { session, seq }, PRUNED_OTHER) : compareHead(head, found);
    }
  }
  if (pruned.size > 0) yield finding("anchor_pruned", {}, `${countSessions(pruned)} of the anchor were deleted by assent prune.`);
  if (repaired.size > 0)
    yield finding("anchor_repaired", {}, `${countSessions(repaired)} of the anchor lost events in a repair, which is recorded.`);
}

const PRUNED_OTHER = "The record says that it was pruned, with another head or fewer events than the anchor lists.";

function countSessions({ size }: ReadonlySet<string>): string {
  return size === 1 ? "1 session" : `${size} sessions`;
}

function compareHead({ session, seq }: Head, { last }: ChainNow): Finding {
  if (last === 0) return differing("missing_session", { session }, `The anchor lists it with event ${seq}.`);
  if (last < seq) return differing("truncated", { session, seq: last + 1 }, `It ends at event ${last}; the anchor lists ${seq}.`);
  return differing("chain_break", { session, seq }, "The anchor lists another event at this place.");
}

/** A repair cannot help: the chain fits together, but it is not the one that was anchored. */
function differing(...given: Parameters<typeof finding>): Finding {
  return { ...finding(...given), hint: "Find out who changed the record, and restore a backup." };
}
