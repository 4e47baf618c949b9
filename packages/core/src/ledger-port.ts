import type { Draft, LedgerEvent, StoredEvent } from "./model/events.ts";
import type { Holder } from "./model/holder.ts";
import type { Json } from "./model/json/json.ts";
import type { ApprovalRow, ClaimLost, GrantRow, QuestionRow, SessionRow, SharedDraft } from "./model/ledger-rows.ts";
import type { ProposalRow } from "./model/proposal/proposal.ts";

export type { ApprovalRow, ClaimLost, GrantRow, QuestionRow, SessionRow, SharedDraft } from "./model/ledger-rows.ts";

/** Which error a ledger raises; the text says what to do. */
export type LedgerErrorType =
  | "sequence_conflict"
  | "stale_writer"
  | "session_in_use"
  | "session_busy"
  | "event_invalid"
  | "event_too_large"
  | "cursor_ahead"
  | "unknown_approval"
  | "stale_revision"
  | "grant_not_found"
  | "proposal_not_found"
  | "session_not_found"
  | "store_full"
  | "store_io"
  | "store_readonly"
  | "store_locked"
  | "store_corrupt"
  | "store_lost"
  | "store_unreadable"
  | "store_newer"
  | "store_unsafe_location"
  | "blob_corrupt"
  | "blob_missing";

/** An expected failure of a ledger, with its machine-readable type. */
export class LedgerError extends Error {
  readonly type: LedgerErrorType;
  readonly detail: Readonly<Record<string, Json>>;
  constructor(type: LedgerErrorType, message: string, detail: Readonly<Record<string, Json>> = {}) {
    super(message);
    this.name = "LedgerError";
    this.type = type;
    this.detail = detail;
  }
}

/** The right to append to one session's chain. */
export type Lease = {
  readonly session: string;
  readonly epoch: number;
  /** Last sequence in the chain when the lease was taken; 0 for a new session. */
  readonly head: number;
  /** True when the holder before did not close the session: recovery is due. */
  readonly unclosed: boolean;
};

/** FULL survives a power cut, NORMAL a crash. */
export type Durability = "full" | "normal";

/** Strictly after this place: in the whole store, or in one chain. */
export type Cursor = { readonly pos: number } | { readonly session: string; readonly seq: number };

/** Which events a reader wants; all conditions hold. */
export type EventFilter = {
  /** Events of this chain. */
  readonly session?: string;
  /** Also events of the shared chain that name this session. */
  readonly naming?: string;
  readonly call?: string;
  readonly types?: readonly string[];
};

/** An ending of `subscribe`. */
export type Subscription = { readonly close: () => void };

/** A page of an indexed list: oldest first unless `newestFirst`, strictly after the id `after` in that order. */
export type PageQuery = {
  readonly limit?: number;
  readonly newestFirst?: boolean;
  readonly after?: string;
  readonly session?: string;
  readonly tool?: string;
  /** Also what is answered, closed, revoked or ended. */
  readonly all?: boolean;
  /** Ids that start so; for looking one up by a unique prefix. A page of one has the row of exactly this id, where there is one. */
  readonly prefix?: string;
};

/** The lists a ledger keeps by index. */
export type Lists = {
  readonly approvals: ApprovalRow;
  readonly grants: GrantRow;
  readonly sessions: SessionRow;
  /** Open: staged or applying. */
  readonly proposals: ProposalRow;
  readonly questions: QuestionRow;
};

/**
 * The append-only record; the state of everything is a fold over it.
 *
 * All promises resolve after the commit at the asked durability, never before; no subscriber sees an event earlier than that.
 * Failures are `LedgerError`s and store nothing. Events of one `append` are stored all or none. Appends issued in one tick are committed together, and a
 * failed precondition of one does not fail the others. Nothing here may be swallowed: whoever cannot record does not act.
 */
export interface Ledger {
  /** True: what is committed survives the process, so claims must carry their fingerprint. */
  readonly durable: boolean;
  /** Random, made with the store. */
  readonly storeId: string;
  /**
   * Takes the session for writing with a new, higher epoch. `session_in_use` (detail: the holder) while a live holder has it, unless `takeOver`;
   * `session_busy` (detail: the holder, where it is known) while another writer holds it with `hold`, even with `takeOver`. Both leave the session as it was.
   */
  acquire(session: string, holder: Holder, takeOver?: boolean): Promise<Lease>;
  /**
   * Keeps the session from changing hands until the returned function is called, or until this process ends, however it ends.
   * Effects happen between the two. `stale_writer` if the session has changed hands already. It may be held several times at once.
   */
  hold(lease: Lease): Promise<() => void>;
  /** `expected` is the last sequence the writer knows. Any other head is `sequence_conflict`, a newer epoch `stale_writer`. */
  append(
    lease: Lease,
    expected: number,
    batch: {
      readonly events: readonly Draft[];
      readonly durability: Durability;
      /** Contents that the events name by their SHA-256; stored in the same transaction, each once, for as long as an event of a session names it. */
      readonly blobs?: readonly Uint8Array[];
    },
  ): Promise<readonly LedgerEvent[]>;
  /**
   * Appends to the shared chain, all or none, FULL. The first event decides who wins: an approval takes one answer or close per revision (after a yes one more
   * close, `denied` or `cancelled`, until it is claimed); a grant is revoked once and used while it has uses left. `lost` is what stood already.
   * Errors: `unknown_approval`, `grant_not_found`, `stale_revision` (another revision or fingerprint is open).
   */
  answer(events: readonly SharedDraft[]): Promise<{ readonly won: readonly LedgerEvent[] } | { readonly lost: LedgerEvent }>;
  /** Stores the intent if, in one transaction, the call may run with this fingerprint and its answer is unused; FULL unless the body says normal. */
  claim(
    lease: Lease,
    expected: number,
    claimed: Draft<"call.claimed">,
  ): Promise<{ readonly won: LedgerEvent } | { readonly lost: ClaimLost }>;
  /** Events strictly after the cursor, in order; values over the size limit come as `{ "$blob", "size" }`. */
  read(from: Cursor, filter?: EventFilter): AsyncIterable<StoredEvent>;
  /**
   * Delivers what `read` would, then every new event once, in order, also those of other processes. A throwing sink ends nothing.
   * `failed` is called once if nothing more can be delivered, for example because the store was deleted; the subscription has then ended.
   */
  subscribe(from: Cursor, filter: EventFilter, sink: (event: StoredEvent) => void, failed?: (error: unknown) => void): Subscription;
  pending<K extends keyof Lists>(kind: K, query?: PageQuery): Promise<readonly Lists[K][]>;
  /** Keeps what is open at `seq`, to shorten the next opening. Never needed for correctness. */
  snapshot(session: string, seq: number, state: Json): Promise<void>;
  /** The newest snapshot of the session that still matches its chain, if any. */
  latest(session: string): Promise<{ readonly seq: number; readonly state: Json } | undefined>;
  /** A copy of the value with every `{ "$blob" }` replaced by its content. */
  resolve<T extends Json>(value: T): Promise<T>;
  /** A content that was appended beside an event, by its SHA-256 in hex. `blob_missing`, `blob_corrupt`. */
  blob(sha256: string): Promise<Uint8Array>;
  /** The position of the newest event of the store. */
  head(): Promise<number>;
  close(): Promise<void>;
}
