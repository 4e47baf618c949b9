import { setTimeout as wait } from "node:timers/promises";
import { type Holder, type Lease, type Ledger, LedgerError, type LedgerEvent, messageOf, SHARED } from "@assent/core";
import type { StoreWarning } from "@assent/store";
import {
  acquire,
  answer,
  append,
  claim,
  ledgerReplaced,
  type Mark,
  type Marks,
  type makeDamageRecord,
  makeDraft,
  prepareAnswer,
  prepareBatch,
  prepareClaim,
  restoredWarning,
  SNAPSHOT_VERSION,
  sha256,
  snapshotText,
  stageShared,
} from "@assent/store/parts";
import type { Link } from "../connect/link.ts";
import { refuseAnswer, refuseAppend, type StoreAccess } from "../roles/access.ts";
import { rowsNamedBy } from "../rows/wanted-rows.ts";
import { type CommitQueue, makeCommitQueue } from "./commit-queue.ts";
import { makeHeldLeases } from "./leases.ts";
import type { CommittedBatch, Transactions, WriteContext } from "./transaction.ts";

export type LedgerWriter = Pick<Ledger, "acquire" | "hold" | "append" | "answer" | "claim" | "snapshot" | "close"> & {
  readonly settle: CommitQueue["settle"];
  readonly submit: CommitQueue["submit"];
};

export type LedgerWriterOptions = {
  readonly link: Link;
  readonly transactions: Transactions;
  readonly marks: Marks;
  readonly damage: ReturnType<typeof makeDamageRecord>;
  readonly access: StoreAccess;
  readonly refusal: LedgerError | undefined;
  readonly leaseMs: number;
  /** True if this machine knows that the process of a holder has ended. */
  readonly isGone: (holder: Holder) => boolean;
  readonly committed: () => void;
  readonly warn: (warning: StoreWarning) => void;
};

/** Every decision is made in a transaction, in groups, while the counter is locked. */
export function makeLedgerWriter(options: LedgerWriterOptions): LedgerWriter {
  const { link, transactions, marks, damage, access, refusal, leaseMs, isGone, warn } = options;
  let unwritten = false;
  const committed = ({ mark, cancelled }: CommittedBatch): void => {
    if (mark) putMark(marks, mark);
    if (cancelled !== undefined) warn(restoredWarning(cancelled));
    options.committed();
  };
  const queue = makeCommitQueue({ link, transactions, committed });
  const leases = makeHeldLeases(link, leaseMs, (error) =>
    warn({ type: "lease_failed", message: `A lease could not be renewed: ${messageOf(error)}` }),
  );
  const submit: typeof queue.submit = (...work) => (refusal ? Promise.reject(refusal) : queue.submit(...work));
  return {
    acquire: async (session, holder, takeOver = false) => {
      if (!refusal) refuseAppend(access);
      const take = (): Promise<Lease> =>
        submit("full", { chains: [session, SHARED], leases: [session] }, (context) => {
          damage.refuse(session);
          return takeLease(context, { session, holder, takeOver, leaseMs, isGone });
        });
      const lease = await take().catch(async (error: unknown) => {
        if (!(error instanceof LedgerError) || error.type !== "session_busy") throw error;
        await wait(RELEASE_MS); // the holder may have released it just now
        return take();
      });
      leases.taken(lease);
      return lease;
    },
    hold: leases.hold,
    append: async (lease, expected, { events, durability, blobs }) => {
      const batch = prepareBatch(events, blobs);
      const closes = batch.some(({ type }) => type === "session.closed"); // leaves a mark, so it is synced
      const stored = await submit(closes ? "full" : durability, rowsNamedBy(lease.session, batch), (context) => {
        damage.refuse(lease.session);
        const written = append(context.staging, { lease, expected }, batch);
        if (closes) context.checkpoint();
        return written;
      });
      unwritten = !closes;
      if (closes) leases.ended(lease.session);
      return stored;
    },
    claim: async (lease, expected, claimed) => {
      const intent = prepareClaim(claimed);
      return submit(intent.durability, rowsNamedBy(lease.session, [claimed]), (context) => {
        damage.refuse(lease.session);
        const consumed = (event: LedgerEvent): void => consume(context, marks, event);
        return claim(context.staging, { lease, expected }, { ...intent, now: context.now, consumed });
      });
    },
    answer: async (events) => {
      if (!refusal) for (const event of events) refuseAnswer(access, event);
      const answers = prepareAnswer(events);
      return submit("full", rowsNamedBy(SHARED, events), ({ staging, now, eventAt }) => {
        for (const { event } of answers) damage.refuse("session" in event.body ? (event.body.session ?? "") : "");
        return answer(staging, answers, { now, eventAt });
      });
    },
    snapshot: async (session, seq, state) => {
      const text = snapshotText(state);
      const hash = await hashOf(link, session, seq);
      await submit("normal", { chains: [SHARED] }, ({ staging, now, also }) => {
        stageShared(staging, makeDraft("store.snapshot", { session, seq, hash, state: sha256(text) }, now()));
        also(PUT_SNAPSHOT, [session, seq, hash, SNAPSHOT_VERSION, text]);
      });
    },
    settle: queue.settle,
    submit,
    close: async () => {
      if (unwritten && !refusal) await queue.submit("full", {}, ({ checkpoint }) => checkpoint()).catch(() => undefined);
      await queue.close();
      await leases.close();
    },
  };
}

const RELEASE_MS = 250;

const PUT_SNAPSHOT = `insert into snapshots (session, seq, hash, version, state) values ($1, $2, $3, $4, $5) on conflict (session)
  do update set seq = excluded.seq, hash = excluded.hash, version = excluded.version, state = excluded.state`;

const PUT_LEASE = `insert into leases (session, epoch, held_until, busy) values ($1, $2, clock_timestamp() + $3 * interval '1 millisecond', false)
  on conflict (session) do update set epoch = excluded.epoch, held_until = excluded.held_until, busy = false`;

type LeaseWanted = {
  readonly session: string;
  readonly holder: Holder;
  readonly takeOver: boolean;
  readonly leaseMs: number;
  readonly isGone: (holder: Holder) => boolean;
};

/** A lease that ended may be taken even in the middle of a call: its holder is stopped or cut off, and the epoch keeps it from recording. */
function takeLease({ staging, rows, now, also, place }: WriteContext, { session, holder, takeOver, leaseMs, isGone }: LeaseWanted): Lease {
  const current = rows.leases.get(session);
  const lives = (other: Holder): boolean => current?.lives === true && !isGone(other);
  const chain = rows.chains.get(session);
  const isBusy = current?.busy === true && chain?.holder != null && lives(chain.holder);
  const [device = "", ...inode] = place.split("/");
  const lease = acquire(staging, {
    ...{ session, holder, takeOver, isLive: lives, lock: () => !isBusy, at: now() },
    holders: () => (chain?.holder ? [chain.holder] : []),
    place: { device, inode: inode.join("/") },
  });
  also(PUT_LEASE, [session, lease.epoch, leaseMs]);
  rows.leases.loaded(session, { epoch: lease.epoch, lives: true, busy: false }); // for the next one of this transaction
  return lease;
}

/** Committed events do not change, so the hash may be read before the transaction. */
async function hashOf(link: Link, session: string, seq: number): Promise<string> {
  const { rows } = await link.run((connection) =>
    connection.query<{ readonly hash: string }>("select hash from events where session = $1 and seq = $2", [session, seq]),
  );
  const hash = rows[0]?.hash;
  if (hash === undefined)
    throw new LedgerError("cursor_ahead", `Session ${session} has no event ${seq} to keep a snapshot of.`, { session, seq });
  return hash;
}

/** Notices a database that was replaced while it was open. */
function consume({ hashAt, mark }: WriteContext, marks: Marks, { pos, hash }: LedgerEvent): void {
  if (marks.list().some((one) => hashAt(one.pos) !== one.hash)) throw ledgerReplaced();
  if (hash !== undefined) mark({ pos, hash });
}

function putMark(marks: Marks, mark: Mark): void {
  try {
    marks.put(mark);
  } catch (error) {
    throw new LedgerError("store_io", `Could not write a mark in the local directory (${messageOf(error)}). Nothing more will run.`);
  }
}
