import { contentsOf, type Draft, type Json, type JsonObject, LedgerError } from "@assent/core";
import { type Blob, withBlobs } from "./blobs.ts";
import { sha256 } from "./chain.ts";

/** `given` are stored with the event, `lent` must be stored already. */
export type EventContents = { readonly given: readonly Blob[]; readonly lent: readonly string[] };

const NONE: EventContents = Object.freeze({ given: Object.freeze([]), lent: Object.freeze([]) });

/** Throws `event_invalid` for a content that no event names. */
export function contentsOfBatch(events: readonly Draft[], blobs: readonly Uint8Array[]): readonly EventContents[] {
  const given = new Map(blobs.map((bytes) => [sha256(bytes), bytes]));
  const placed = new Set<string>();
  const contents = events.map((event) => contentsOfEvent(contentsOf(event), given, placed));
  const unnamed = [...given.keys()].find((sha) => !placed.has(sha));
  if (unnamed !== undefined) throw new LedgerError("event_invalid", `No event names the content ${unnamed}.`, { sha: unnamed });
  return contents;
}

/** Stores each content with the first event that names it. */
function contentsOfEvent(named: readonly string[], given: ReadonlyMap<string, Uint8Array>, placed: Set<string>): EventContents {
  if (named.length === 0) return NONE;
  const own: Blob[] = [];
  const lent: string[] = [];
  for (const sha of new Set(named)) {
    const bytes = given.get(sha);
    if (!bytes) lent.push(sha);
    else if (!placed.has(sha)) own.push({ sha, bytes });
    placed.add(sha);
  }
  return { given: own, lent };
}

/** A long list is a blob; `verify` reports one that cannot be read. */
export function storedContents(
  { type, body }: { readonly type: string; readonly body: JsonObject },
  load: (sha: string) => Uint8Array | undefined,
): readonly string[] {
  if (type !== "proposal.staged" && type !== "preview.ended") return NONE.lent;
  const contents = readOrNull(body["contents"] ?? null, load);
  return Array.isArray(contents) ? contents.filter((sha) => typeof sha === "string") : NONE.lent;
}

function readOrNull(value: Json, load: (sha: string) => Uint8Array | undefined): Json {
  try {
    return withBlobs(value, load);
  } catch (error) {
    if (error instanceof LedgerError) return null;
    throw error;
  }
}
