import { type EventBodies, SHARED } from "@assent/core";
import { type Database, query } from "../database/database.ts";
import { stageShared } from "./append.ts";
import { type EventStaging, makeDraft } from "./staging.ts";
import type { TransactionWriter } from "./writing.ts";

/** Events between two checkpoints. */
export const CHECKPOINT_EVERY = 10_000;
/** Heads per event, below its size limit. */
const HEADS = 5_000;

export type CheckpointHead = EventBodies["store.checkpoint"]["heads"][number];

/** Records the heads of all chains, so that a removed session or cut end is noticed. */
export type Checkpoints = {
  /** A closing session gets its checkpoint at once. */
  readonly grown: (closed: boolean) => void;
  /** Call it at the end of each transaction. True if a session or the ledger closes. */
  readonly due: () => boolean;
  /** This process appended since its last checkpoint. */
  readonly wanted: () => boolean;
};

export function makeCheckpoints(database: Database, writing: TransactionWriter, now: () => string): Checkpoints {
  const last = query<{ value: string }>(database, "select value from meta where key = 'checkpoint'");
  const remember = query(database, "insert or replace into meta (key, value) values ('checkpoint', ?)");
  const changed = query<CheckpointHead>(
    database,
    `select session, seq, hash from sessions where pos > ? and session <> '${SHARED}' order by first`,
  );
  let known = 0;
  let unwritten = false;
  let atOnce = false;
  const isDue = (): boolean => atOnce || writing.head() - known >= CHECKPOINT_EVERY;
  return {
    grown: (closed) => {
      unwritten = true;
      atOnce ||= closed;
    },
    due: () => {
      if (!isDue()) return false;
      known = Number(last.get()?.value ?? 0); // another process may have written one
      if (!isDue()) return false;
      writing.flush(true);
      const heads = changed.all(known).map(({ session, seq, hash }) => ({ session, seq, hash }));
      stageCheckpoint(writing, heads, now());
      writing.keep();
      known = writing.head();
      remember.run(String(known));
      unwritten = false;
      const isClosing = atOnce;
      atOnce = false;
      return isClosing;
    },
    wanted: () => unwritten,
  };
}

export function stageCheckpoint(writing: EventStaging, heads: readonly CheckpointHead[], at: string): void {
  for (let from = 0; from < heads.length; from += HEADS)
    stageShared(writing, makeDraft("store.checkpoint", { heads: heads.slice(from, from + HEADS) }, at));
}
