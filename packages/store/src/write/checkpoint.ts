import { type EventBodies, SHARED } from "@assent/core";
import { type Database, query } from "../database/database.ts";
import { stageShared } from "./append.ts";
import { makeDraft, type TransactionWriter } from "./writing.ts";

const EVERY = 10_000;
/** Heads per event, below its size limit. */
const HEADS = 5_000;

type CheckpointHead = EventBodies["store.checkpoint"]["heads"][number];

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
  const isDue = (): boolean => atOnce || writing.head() - known >= EVERY;
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
      for (let at = 0; at < heads.length; at += HEADS)
        stageShared(writing, makeDraft("store.checkpoint", { heads: heads.slice(at, at + HEADS) }, now()));
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
