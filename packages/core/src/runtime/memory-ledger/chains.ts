import {
  type ApprovalRow,
  type Cursor,
  type EventFilter,
  type GrantRow,
  LedgerError,
  type QuestionRow,
  type SessionRow,
} from "../../ledger-port.ts";
import { firstIndex } from "../../model/diff/first-index.ts";
import type { LedgerEvent } from "../../model/events.ts";
import type { Holder } from "../../model/holder.ts";
import type { Json } from "../../model/json/json.ts";
import { callOf, recordsProcess } from "../../model/known-event.ts";
import type { CallRow } from "../../model/ledger-rules.ts";
import type { ProposalRow } from "../../model/proposal/proposal.ts";

export type Chain = {
  readonly session: string;
  readonly events: LedgerEvent[];
  /** Events of the shared chain that name the session. */
  readonly named: LedgerEvent[];
  /** Calls that have not ended. */
  readonly calls: Map<string, CallRow>;
  /** By call: the questions it asked, while it has not ended. */
  readonly asked: Map<string, readonly string[]>;
  /** Undefined if no process holds the session. */
  holder: Holder | undefined;
  /** How often its writer holds it now. */
  holds: number;
  epoch: number;
  policySeq: number;
  snapshot: { readonly seq: number; readonly state: Json } | undefined;
  /** The list's row, folded up to `listedPos` when the list is read. */
  listed: SessionRow | undefined;
  listedPos: number;
};

export type RowBefore = { readonly rows: Rows<never>; readonly id: string; readonly before: unknown };

export type Rows<Row> = { readonly set: (id: string, row: Row) => unknown; readonly delete: (id: string) => unknown };

/** Everything a memory ledger holds; events are kept by reference and never copied. */
export type Chains = {
  /** All events; `pos` is the index plus one. */
  readonly log: LedgerEvent[];
  readonly bySession: Map<string, Chain>;
  readonly approvals: Map<string, ApprovalRow>;
  readonly grants: Map<string, GrantRow>;
  readonly proposals: Map<string, ProposalRow>;
  readonly questions: Map<string, QuestionRow>;
  /** Contents that events name, by their SHA-256. */
  readonly blobs: Map<string, Uint8Array>;
  /** The newest event of each approval, grant or question. */
  readonly newest: Map<string, LedgerEvent>;
  /** The clock, or the newest `at` where that is later. */
  readonly now: () => string;
  epoch: number;
  /** How to undo what is being written now, in the order it was applied. Undefined outside of `together`. */
  undo: RowBefore[] | undefined;
  /** The newest `at`, so that a clock set back extends no deadline. */
  newestAt: string;
};

export function emptyChains(now: () => string): Chains {
  const chains: Chains = {
    now: () => {
      const time = now();
      return time > chains.newestAt ? time : chains.newestAt;
    },
    log: [],
    bySession: new Map(),
    approvals: new Map(),
    grants: new Map(),
    proposals: new Map(),
    questions: new Map(),
    blobs: new Map(),
    newest: new Map(),
    epoch: 0,
    undo: undefined,
    newestAt: "",
  };
  return chains;
}

export function chainOf(chains: Chains, session: string): Chain {
  const found = chains.bySession.get(session);
  if (found !== undefined) return found;
  const chain: Chain = {
    session,
    events: [],
    named: [],
    calls: new Map(),
    asked: new Map(),
    holder: undefined,
    holds: 0,
    epoch: 0,
    policySeq: 0,
    snapshot: undefined,
    listed: undefined,
    listedPos: 0,
  };
  chains.bySession.set(session, chain);
  return chain;
}

/** The next event up to a position, or undefined when there is none yet. It reads only the chains that the filter names. */
export type EventReader = (until: number) => LedgerEvent | undefined;

/** Reads strictly after the cursor, in order; `cursor_ahead` if the ledger is shorter than that. */
export function makeReader(chains: Chains, from: Cursor, filter: EventFilter): EventReader {
  const after = positionOf(chains, from);
  const session = filter.session ?? ("session" in from && filter.naming === undefined ? from.session : undefined);
  const own = session === undefined ? [] : chainOf(chains, session).events;
  const named = filter.naming === undefined ? [] : chainOf(chains, filter.naming).named;
  const all = session === undefined && filter.naming === undefined;
  const next = all ? walk(chains.log, after) : merge(walk(own, after), walk(named, after));
  return (until) => {
    for (let event = next(until); event !== undefined; event = next(until)) if (isWanted(event, filter)) return event;
    return undefined;
  };
}

function positionOf({ log, bySession }: Chains, from: Cursor): number {
  const events = "session" in from ? (bySession.get(from.session)?.events ?? []) : log;
  const place = "session" in from ? from.seq : from.pos;
  if (place > events.length)
    throw new LedgerError("cursor_ahead", "The cursor is ahead of this ledger. Read again from 0.", { head: events.length });
  return events[place - 1]?.pos ?? 0;
}

function isWanted(event: LedgerEvent, { call, types, process }: EventFilter): boolean {
  return (
    (call === undefined || callOf(event) === call) &&
    (types === undefined || types.includes(event.type)) &&
    (process === undefined || recordsProcess(event, process))
  );
}

type EventWalk = EventReader & { peek(): LedgerEvent | undefined };

function walk(events: readonly LedgerEvent[], after: number): EventWalk {
  let index = firstIndex(events.length, (at) => (events[at]?.pos ?? 0) > after);
  const next = (until: number): LedgerEvent | undefined => {
    const event = events[index];
    if (event === undefined || event.pos > until) return undefined;
    index += 1;
    return event;
  };
  return Object.assign(next, { peek: () => events[index] });
}

function merge(left: EventWalk, right: EventWalk): EventReader {
  return (until) => {
    const mine = left.peek();
    const theirs = right.peek();
    const first = theirs === undefined || (mine !== undefined && mine.pos < theirs.pos) ? left : right;
    return first(until);
  };
}
