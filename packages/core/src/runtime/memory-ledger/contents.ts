import { contentHash } from "../../content-hash.ts";
import { LedgerError } from "../../ledger-port.ts";
import type { Draft } from "../../model/events.ts";
import { contentsOf } from "../../model/known-event.ts";

export type BlobMap = ReadonlyMap<string, Uint8Array>;

/** The contents that came beside a batch, by their hash. */
export async function hashContents(blobs: readonly Uint8Array[]): Promise<BlobMap> {
  return new Map(await Promise.all(blobs.map(async (bytes) => [await contentHash(bytes), bytes] as const)));
}

/** Throws `blob_missing` for a named content that is neither given nor stored, and `event_invalid` for one that no event names. */
export function refuseContents(drafts: readonly Draft[], given: BlobMap, kept: BlobMap): void {
  if (given.size === 0 && !drafts.some(namesContents)) return;
  const named = new Set(drafts.flatMap(contentsOf));
  const missing = [...named].find((sha) => !given.has(sha) && !kept.has(sha));
  if (missing !== undefined) throw new LedgerError("blob_missing", `The content ${missing} is named, but was not given.`, { sha: missing });
  const unnamed = [...given.keys()].find((sha) => !named.has(sha));
  if (unnamed !== undefined) throw new LedgerError("event_invalid", `No event names the content ${unnamed}.`, { sha: unnamed });
}

function namesContents(draft: Draft): boolean {
  return contentsOf(draft).length > 0;
}

export async function readContent(kept: BlobMap, sha: string): Promise<Uint8Array> {
  const bytes = kept.get(sha);
  if (!bytes) throw new LedgerError("blob_missing", `The value ${sha} is not in the ledger.`, { sha });
  if ((await contentHash(bytes)) === sha) return bytes;
  throw new LedgerError("blob_corrupt", `The value ${sha} is damaged and was not used.`, { sha });
}

/** Writes in the order in which they were issued. */
export type Turns = {
  /** At once, unless a write before it still waits. */
  readonly take: <T>(write: () => T) => T | Promise<T>;
  /** After what it needs; every write issued meanwhile waits behind it. */
  readonly takeAfter: <N, T>(needed: Promise<N>, write: (needed: N) => T) => Promise<T>;
};

/** Keeps writes in order while one waits for hashes, because writers number their writes. */
export function makeTurns(): Turns {
  let last: Promise<unknown> | undefined;
  const behind = <T>(write: () => T | Promise<T>): Promise<T> => {
    const mine = (last ?? Promise.resolve()).then(write);
    const done = (): void => {
      if (last === settled) last = undefined;
    };
    const settled: Promise<unknown> = mine.then(done, done); // the caller of the write gets the error
    last = settled;
    return mine;
  };
  return {
    take: (write) => (last ? behind(write) : write()),
    takeAfter: (needed, write) => behind(async () => write(await needed)),
  };
}
