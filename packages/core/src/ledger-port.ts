import type { Draft, LedgerEvent, StoredEvent } from "./model/events.ts";
import type { Holder } from "./model/holder.ts";
import type { Json } from "./model/json/json.ts";
import type { ApprovalRow, ClaimLost, GrantRow, QuestionRow, SessionRow, SharedDraft } from "./model/ledger-rows.ts";
import type { ProposalRow } from "./model/proposal/proposal.ts";

export type { ApprovalRow, ClaimLost, GrantRow, QuestionRow, SessionRow, SharedDraft } from "./model/ledger-rows.ts";

/** The type of a ledger error; its message says what to do. */
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
  | "session_run_elsewhere"
  | "store_full"
  | "store_io"
  | "store_readonly"
  | "store_locked"
  | "store_corrupt"
  | "store_lost"
  | "store_unreadable"
  | "store_unreachable"
  | "store_url_invalid"
  | "store_role_refused"
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
  /** The previous holder did not close the session, so recovery is due. */
  readonly unclosed: boolean;
};

/** FULL survives a power cut, NORMAL a crash. */
export type Durability = "full" | "normal";

/** A position in the whole store or in one chain; reading starts strictly after it. */
export type Cursor = { readonly pos: number } | { readonly session: string; readonly seq: number };

/** Selects events; all conditions must hold. */
export type EventFilter = {
  /** Events of this chain. */
  readonly session?: string;
  /** Also events of the shared chain that name this session. */
  readonly naming?: string;
  readonly call?: string;
  readonly types?: readonly string[];
  /** Events that record the start of a process with this id. A store finds them by index. */
  readonly process?: number;
};

/** Ends a subscription. */
export type Subscription = { readonly close: () => void };

/** A page of an indexed list: oldest first unless `newestFirst`, strictly after the id `after`. */
export type PageQuery = {
  readonly limit?: number;
  readonly newestFirst?: boolean;
  readonly after?: string;
  readonly session?: string;
  readonly tool?: string;
  /** Include what is answered, closed, revoked or ended. */
  readonly all?: boolean;
  /** Ids with this prefix; a page of one prefers the exact id. */
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
 * The append-only record from which all state is folded. Promises resolve, and subscribers see events, only after the
 * commit at the requested durability. Failures are `LedgerError`s and store nothing. The events of one `append` are
 * stored all or none. Appends issued in one tick commit together, and a failed precondition of one does not fail the
 * others. Callers must not ignore a failure: what cannot be recorded must not run.
 */
export interface Ledger {
  /** Commits survive the process, so claims must carry their fingerprint. */
  readonly durable: boolean;
  /** Random, created with the store. */
  readonly storeId: string;
  /**
   * Takes the session for writing with a higher epoch. Fails with `session_in_use` while a live holder has it, unless
   * `takeOver`, and with `session_busy` while another writer holds it with `hold`, even with `takeOver`. The detail
   * names the holder if known; both leave the session unchanged.
   */
  acquire(session: string, holder: Holder, takeOver?: boolean): Promise<Lease>;
  /**
   * Keeps the session from changing hands until released or until this process ends; effects run meanwhile. Fails with
   * `stale_writer` if it has changed hands already. Holds may overlap.
   */
  hold(lease: Lease): Promise<() => void>;
  /** `expected` is the last sequence the writer knows; another head is `sequence_conflict`, a newer epoch `stale_writer`. */
  append(
    lease: Lease,
    expected: number,
    batch: {
      readonly events: readonly Draft[];
      readonly durability: Durability;
      /** Contents the events name by SHA-256; stored once in the same transaction, for as long as an event names them. */
      readonly blobs?: readonly Uint8Array[];
    },
  ): Promise<readonly LedgerEvent[]>;
  /**
   * Appends to the shared chain, all or none, FULL. The first event decides: an approval takes one answer or close per
   * revision (after consent one more close, `denied` or `cancelled`, until it is claimed); a grant is revoked once and
   * used while it has uses left. `lost` is the event that won earlier. Fails with `unknown_approval`,
   * `grant_not_found`, or `stale_revision` (another revision or fingerprint is open).
   */
  answer(events: readonly SharedDraft[]): Promise<{ readonly won: readonly LedgerEvent[] } | { readonly lost: LedgerEvent }>;
  /**
   * Stores the claim if, in one transaction, the call may run with this fingerprint and its answer is unused; FULL
   * unless the body says normal.
   */
  claim(
    lease: Lease,
    expected: number,
    claimed: Draft<"call.claimed">,
  ): Promise<{ readonly won: LedgerEvent } | { readonly lost: ClaimLost }>;
  /** Events strictly after the cursor, in order; values over the size limit come as `{ "$blob", "size" }`. */
  read(from: Cursor, filter?: EventFilter): AsyncIterable<StoredEvent>;
  /**
   * Delivers what `read` would, then every new event once, in order, including those of other processes. A throwing
   * sink does not end it. `failed` is called once, and the subscription ends, if nothing more can be delivered, such as
   * after the store was deleted. A cursor ahead of the ledger is `cursor_ahead`, thrown or passed to `failed`.
   */
  subscribe(from: Cursor, filter: EventFilter, sink: (event: StoredEvent) => void, failed?: (error: unknown) => void): Subscription;
  pending<K extends keyof Lists>(kind: K, query?: PageQuery): Promise<readonly Lists[K][]>;
  /** Stores the open state at `seq` to shorten the next opening; never needed for correctness. */
  snapshot(session: string, seq: number, state: Json): Promise<void>;
  /** The session's newest snapshot that still matches its chain. */
  latest(session: string): Promise<{ readonly seq: number; readonly state: Json } | undefined>;
  /** A copy of the value with every `{ "$blob" }` replaced by its content. */
  resolve<T extends Json>(value: T): Promise<T>;
  /** A content by its SHA-256 in hex. Fails with `blob_missing` or `blob_corrupt`. */
  blob(sha256: string): Promise<Uint8Array>;
  /** Position of the store's newest event. */
  head(): Promise<number>;
  /** The program is about to end: from now on, a store that is away is an error at once. For stores that wait. */
  leave?(): void;
  close(): Promise<void>;
}
