import { type Holder, type Ledger, LedgerError, type LedgerEvent, messageOf, parseEvent, SHARED } from "@assent/core";
import { makeLogKeeper } from "../database/wal.ts";
import { type DueMark, findMissingMarks, type Mark, type Marks, makeDueMark } from "../files/marks.ts";
import { makeSessionHold, type TryLock } from "../files/session-lock.ts";
import { ledgerReplaced, storeError } from "../files/store-error.ts";
import type { OpenStore } from "../open/open-store.ts";
import { recordPlace } from "../open/restored.ts";
import type { DamageRecord } from "../read/damage.ts";
import type { EventReads } from "../read/read-events.ts";
import { makeSnapshotWriter, snapshotText } from "../read/snapshots.ts";
import { answer, prepareAnswer } from "./answer.ts";
import { append, prepareBatch } from "./append.ts";
import { type Checkpoints, makeCheckpoints } from "./checkpoint.ts";
import { claim, prepareClaim } from "./claim.ts";
import { type CommitQueue, makeCommitQueue } from "./commit-queue.ts";
import { makeCommitter } from "./committer.ts";
import { acquire, pastHolders } from "./lease.ts";

export type LedgerWriter = Pick<Ledger, "acquire" | "hold" | "append" | "answer" | "claim" | "snapshot" | "close">;

export type LedgerWriterOptions = {
  readonly reading: EventReads;
  readonly damage: DamageRecord;
  readonly isLive: (holder: Holder) => boolean;
  /** Never earlier than the newest time in the ledger. */
  readonly now: () => string;
  readonly tryLock: TryLock;
  /** Called with the sessions that were written. */
  readonly committed: (sessions: ReadonlySet<string>) => void;
};

type Writers = LedgerWriterOptions & {
  readonly store: OpenStore;
  readonly queue: CommitQueue;
  readonly checkpoints: Checkpoints;
  readonly mark: DueMark;
};

/** Every operation goes through one queue. */
export function makeLedgerWriter(store: OpenStore, options: LedgerWriterOptions): LedgerWriter {
  const { database, paths, files, writing, time, refusal, marks } = store;
  const putSnapshot = makeSnapshotWriter(database, writing, time);
  const checkpoints = makeCheckpoints(database, writing, time);
  const mark = makeDueMark(marks);
  const finish = (): void => {
    const shared = checkpoints.due() ? writing.rows.chains.get(SHARED) : undefined;
    if (shared) mark.note(shared);
  };
  const committer = makeCommitter({ database, paths, files, writing, finish, mark });
  if (refusal) committer.refuse(refusal);
  const log = makeLogKeeper(database, (error) => committer.fault(storeError(error, paths)));
  const committed = (bytes: number): void => {
    log.grown(bytes);
    options.committed(writing.takeSessions());
  };
  const queue = makeCommitQueue({ committer, writing, committed });
  const writers = { ...options, store, queue, checkpoints, mark };
  return {
    ...makeSessionWriters(writers),
    answer: makeAnswer(writers),
    snapshot: (session, seq, state) =>
      submitPrepared(
        () => snapshotText(state),
        (text) => queue.submit("normal", () => putSnapshot(session, seq, text)),
      ),
    close: async () => {
      const last = checkpoints.wanted() && !committer.faulty() ? queue.submit("full", () => checkpoints.grown(true)) : undefined;
      queue.close();
      log.stop();
      await last;
    },
  };
}

function makeSessionWriters({ store, queue, damage, now, checkpoints, mark, ...writers }: Writers): SessionWriters {
  const { database, writing, marks } = store;
  const consumed = ({ pos, hash }: LedgerEvent): void => {
    if (findMissingMarks(database, readMarks(marks)).length > 0) throw ledgerReplaced();
    if (hash !== undefined) mark.note({ pos, hash });
  };
  return {
    acquire: makeAcquire({ store, queue, damage, ...writers }),
    hold: makeSessionHold(store, writers.tryLock),
    append: (lease, expected, { events, durability, blobs }) =>
      submitPrepared(
        () => prepareBatch(events, blobs),
        (batch) => {
          const closes = batch.some(({ type }) => type === "session.closed"); // leaves a mark, so it is synced
          return queue.submit(closes ? "full" : durability, () => {
            damage.refuse(lease.session);
            const stored = append(writing, { lease, expected }, batch);
            checkpoints.grown(closes);
            return stored;
          });
        },
      ),
    claim: (lease, expected, claimed) =>
      submitPrepared(
        () => prepareClaim(claimed),
        (intent) =>
          queue.submit(intent.durability, () => {
            damage.refuse(lease.session);
            return claim(writing, { lease, expected }, { ...intent, now, consumed });
          }),
      ),
  };
}

function readMarks(marks: Marks): readonly Mark[] {
  try {
    return marks.list();
  } catch (error) {
    throw new LedgerError("store_io", `Could not read the marks beside the ledger (${messageOf(error)}). Nothing ran.`);
  }
}

type SessionWriters = Pick<Ledger, "acquire" | "hold" | "append" | "claim">;

/** Taking the lock ensures that no effect is in progress. */
function makeAcquire({
  store,
  queue,
  damage,
  isLive,
  tryLock,
}: Pick<Writers, "store" | "queue" | "damage" | "isLive" | "tryLock">): Ledger["acquire"] {
  const { database, writing, place, time } = store;
  const { device, inode } = place;
  const holders = pastHolders(database);
  return async (session, holder, takeOver = false) => {
    let unlock: (() => void) | undefined;
    const lock = (): boolean => {
      unlock ??= tryLock(session); // the transaction may run twice
      return unlock !== undefined;
    };
    try {
      return await queue.submit("full", () => {
        damage.refuse(session);
        recordPlace(database, place);
        return acquire(writing, { session, holder, takeOver, isLive, lock, holders, place: { device, inode }, at: time() });
      });
    } finally {
      unlock?.();
    }
  };
}

function makeAnswer({ store: { writing }, queue, reading, damage, now }: Writers): Ledger["answer"] {
  const eventAt = (pos: number): LedgerEvent | undefined => {
    const stored = reading.at(pos);
    return stored && parseEvent(stored);
  };
  return (events) =>
    submitPrepared(
      () => prepareAnswer(events),
      (answers) =>
        queue.submit("full", () => {
          for (const { event } of answers) damage.refuse("session" in event.body ? (event.body.session ?? "") : "");
          return answer(writing, answers, { now, eventAt });
        }),
    );
}

/** Not async, because that would add three turns to every append. */
function submitPrepared<P, T>(prepare: () => P, submit: (prepared: P) => Promise<T>): Promise<T> {
  try {
    return submit(prepare());
  } catch (error) {
    return Promise.reject(error);
  }
}
