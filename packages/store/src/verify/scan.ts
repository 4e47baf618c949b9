import {
  callOf,
  type EventBodies,
  emptySession,
  fold,
  IllegalEvent,
  namedSession,
  parseEvent,
  type SessionState,
  SHARED,
} from "@assent/core";
import { type Database, query } from "../database/database.ts";
import { EVENT_COLUMNS, type EventColumns, toStoredEvent } from "../rows/event-columns.ts";
import { applyEvent, type ChainedEvent, indexedCall } from "../rows/lists.ts";
import { type MemoryRows, makeMemoryRows } from "../rows/memory-rows.ts";
import { makeUndoable, type UndoableRows } from "../rows/rows.ts";
import { blobRefs } from "../write/blobs.ts";
import { chainHash, NO_HASH } from "../write/chain.ts";
import { storedContents } from "../write/contents.ts";
import { type Finding, finding } from "./finding.ts";
import { type ChainCut, type PastCuts, readPastCuts } from "./past-cuts.ts";

export type ScannedChain = { readonly session: string; seq: number; hash: string; epoch: number; bad: boolean };

export type UsedBlob = { readonly sha: string; readonly size?: number; readonly session: string; readonly seq: number };

export type Scan = {
  events: number;
  readonly chains: Map<string, ScannedChain>;
  readonly rows: MemoryRows;
  readonly findings: Finding[];
  /** The last sequence to keep, by session. */
  readonly damage: Map<string, number>;
  readonly blobs: Map<string, UsedBlob>;
  readonly unlisted: { readonly session: string; readonly sha: string }[];
  /** Shared events about something that a repair removed. */
  readonly voided: number[];
  readonly misplaced: { readonly pos: number; readonly call: string | null; readonly naming: string | null }[];
};

export type ScanOptions = {
  readonly store: string;
  readonly only?: string | undefined;
  /** Not on record yet. */
  readonly cuts?: ReadonlyMap<string, ChainCut>;
};

type ScanState = {
  readonly scan: Scan;
  readonly store: string;
  readonly only: string | undefined;
  readonly cuts: PastCuts;
  readonly rows: UndoableRows;
  readonly states: Map<string, SessionState>;
  readonly registered: Set<string>;
  readonly values: BlobValues;
};

export type BlobValues = {
  readonly load: (sha: string) => Uint8Array | undefined;
  readonly isListed: (session: string, sha: string) => boolean;
};

export type ScannedRow = EventColumns & { readonly call: string | null; readonly naming: string | null };

/** Checks events that are added in the order of their positions. */
export type EventScan = { readonly add: (row: ScannedRow) => void; readonly finish: () => Scan };

export type EventScanOptions = {
  readonly store: string;
  readonly only: string | undefined;
  readonly cuts: PastCuts;
  readonly values: BlobValues;
};

export function makeEventScan({ store, only, cuts, values }: EventScanOptions): EventScan {
  const rows = makeMemoryRows();
  const scan: Scan = {
    ...{ events: 0, chains: new Map(), rows, findings: [], damage: new Map() },
    ...{ blobs: new Map(), unlisted: [], voided: [], misplaced: [] },
  };
  const walk: ScanState = {
    scan,
    store,
    only,
    cuts,
    rows: makeUndoable(rows),
    states: new Map(),
    registered: new Set(),
    values,
  };
  return {
    add: (row) => {
      scan.events += 1;
      scanRow(walk, row);
    },
    finish: () => {
      for (const session of walk.registered)
        if (!scan.chains.has(session)) reportMissing(walk, session, "It was registered, but none of its events is there.");
      return scan;
    },
  };
}

/** Writes nothing. */
export function scanEvents(database: Database, { store, only, cuts }: ScanOptions): Scan {
  const scan = makeEventScan({ store, only, cuts: readPastCuts(database, cuts), values: makeBlobValues(database) });
  const where = only === undefined ? "" : `where session in (?, '${SHARED}')`;
  const events = query<ScannedRow>(database, `select ${EVENT_COLUMNS}, call, naming from events ${where} order by pos`);
  for (const row of events.iterate(...(only === undefined ? [] : [only]))) scan.add(row);
  return scan.finish();
}

function makeBlobValues(database: Database): BlobValues {
  const bytes = query<{ bytes: Uint8Array }>(database, "select bytes from blobs where sha = ?");
  const use = query<{ sha: string }>(database, "select sha from blob_uses where session = ? and sha = ?");
  return { load: (sha) => bytes.get(sha)?.bytes, isListed: (session, sha) => use.get(session, sha) !== undefined };
}

function scanRow(walk: ScanState, row: ScannedRow): void {
  const { chains } = walk.scan;
  const chain = chains.get(row.session) ?? { session: row.session, seq: 0, hash: NO_HASH, epoch: 0, bad: false };
  chains.set(row.session, chain);
  if (chain.bad) return;
  const wrong = wrongLink(walk.store, chain, row) ?? checkRow(walk, chain, row);
  if (wrong) markDamaged(walk, chain, wrong);
}

function checkRow(walk: ScanState, chain: ScannedChain, row: ScannedRow): Finding | undefined {
  const event = parseRow(row);
  if (!event) return finding("illegal_event", row, "Its body is no JSON.");
  const illegal = foldEvent(walk, event, row.naming);
  if (illegal) return illegal;
  chain.seq = row.seq;
  chain.hash = row.hash;
  chain.epoch = row.epoch;
  inspectPlace(walk, event, row);
  inspectBody(walk, event, row.body);
  return undefined;
}

function parseRow(row: ScannedRow): ChainedEvent | undefined {
  try {
    return toStoredEvent(row);
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

function markDamaged({ scan }: ScanState, chain: ScannedChain, found: Finding): void {
  chain.bad = true;
  scan.damage.set(chain.session, chain.seq);
  scan.findings.push(found);
}

/** Checks the sequence, the link, the hash and the writer's epoch, in this order. */
export function wrongLink(store: string, chain: Omit<ScannedChain, "session" | "bad">, row: EventColumns): Finding | undefined {
  const { session, seq } = row;
  const next = chain.seq + 1;
  if (seq > next) return finding("gap", { session, seq: next }, `Event ${next} is missing; ${seq} comes after ${chain.seq}.`);
  if (seq < next) return finding("chain_break", { session, seq }, `Event ${seq} stands after event ${chain.seq}.`);
  if (row.prev !== chain.hash) return finding("chain_break", { session, seq }, "It does not follow the event before it.");
  if (chainHash({ ...row, store }) !== row.hash) return finding("hash_mismatch", { session, seq }, "Its content is not what was stored.");
  if (row.epoch < chain.epoch) return finding("epoch_regression", { session, seq }, `Epoch ${row.epoch} follows epoch ${chain.epoch}.`);
  return undefined;
}

function foldEvent(walk: ScanState, event: ChainedEvent, named: string | null): Finding | undefined {
  const { scan, cuts } = walk;
  if (scan.chains.get(SHARED)?.bad) return undefined; // events that depend on lost answers cannot be checked
  const session = event.session === SHARED ? namedSession(event) : undefined;
  const voided = session !== undefined && isVoid(walk, session, named);
  const illegal = tryFold(walk, event, voided);
  if (!illegal) return undefined;
  const found = finding("illegal_event", { session: event.session, seq: event.seq }, illegal.message);
  if (session === undefined) return found;
  // A shared event that its session does not allow does not damage the shared chain.
  tryFold(walk, event, true);
  if (cuts.isRepaired(session)) scan.voided.push(event.pos);
  else markDependents(walk, session, found);
  return undefined;
}

function isVoid({ scan, only, cuts }: ScanState, session: string, named: string | null): boolean {
  const elsewhere = only !== undefined && session !== only;
  return elsewhere || cuts.isPruned(session) || scan.chains.get(session)?.bad === true || (named === null && cuts.isRepaired(session));
}

function tryFold({ rows, states }: ScanState, event: ChainedEvent, voided: boolean): IllegalEvent | undefined {
  const known = parseEvent(event);
  const session = event.session === SHARED ? namedSession(event) : event.session;
  try {
    if (known && session !== undefined && !voided) fold(stateOf(states, session), known);
    applyEvent(rows, event, voided);
    rows.keep();
    return undefined;
  } catch (error) {
    rows.drop();
    if (error instanceof IllegalEvent) return error;
    throw error;
  }
}

function stateOf(states: Map<string, SessionState>, session: string): SessionState {
  const state = states.get(session) ?? emptySession();
  states.set(session, state);
  return state;
}

function markDependents(walk: ScanState, session: string, found: Finding): void {
  const chain = walk.scan.chains.get(session);
  if (chain) markDamaged(walk, chain, found);
  else walk.scan.findings.push(found);
}

function inspectPlace({ scan, cuts, rows }: ScanState, event: ChainedEvent, row: ScannedRow): void {
  const { session, seq } = event;
  const named = session === SHARED ? (namedSession(event) ?? null) : null;
  const call = callOf(event) ?? null;
  const voided = row.naming === null && named !== null && cuts.isRepaired(named);
  const isPlaced = row.call === call || row.call === indexedCall(rows, event); // earlier versions indexed every event
  if (isPlaced && (row.naming === named || voided)) return;
  scan.misplaced.push({ pos: event.pos, call, naming: named });
  scan.findings.push(finding("index_mismatch", { session, seq }, "It is listed under another call or session than it names."));
}

function inspectBody(walk: ScanState, event: ChainedEvent, body: string): void {
  const { scan } = walk;
  const { session, seq } = event;
  const known = parseEvent(event);
  if (!known) scan.findings.push(finding("unknown_type", { session, seq }, `Type ${event.type} version ${event.v} is not known here.`));
  noteBlobs(walk, event, body.includes('"$blob":'));
  if (known?.type === "session.registered") walk.registered.add(known.body.session);
  if (known?.type === "store.checkpoint") for (const head of known.body.heads) compareHead(walk, head, event.pos);
}

function noteBlobs({ scan, values }: ScanState, event: ChainedEvent, refers: boolean): void {
  const { session, seq } = event;
  const refs = refers ? [...blobRefs(event.body)].map(({ sha, size }) => ({ sha, size, session, seq })) : [];
  const contents = storedContents(event, values.load).map((sha) => ({ sha, session, seq }));
  const before = scan.unlisted.length;
  for (const used of [...refs, ...contents]) {
    if (!scan.blobs.has(used.sha)) scan.blobs.set(used.sha, used);
    if (!values.isListed(session, used.sha)) scan.unlisted.push(used);
  }
  if (scan.unlisted.length === before) return;
  scan.findings.push(finding("index_mismatch", { session, seq }, "It needs a value that is not listed for its session."));
}

/** Compares with the chain at the position of the checkpoint. */
function compareHead(walk: ScanState, head: EventBodies["store.checkpoint"]["heads"][number], pos: number): void {
  const { scan, only, cuts } = walk;
  const { session, seq, hash } = head;
  const chain = scan.chains.get(session);
  if ((only !== undefined && session !== only) || cuts.isPruned(session) || cuts.isCut(session, seq, pos) || chain?.bad) return;
  if (!chain) reportMissing(walk, session, `A checkpoint lists it with ${seq} events.`);
  else if (chain.seq < seq) reportTruncated(walk, chain, `It ends at event ${chain.seq}; a checkpoint lists ${seq}.`);
  else if (chain.seq === seq && chain.hash !== hash) {
    markDamaged(walk, chain, finding("chain_break", { session, seq }, "A checkpoint lists another event at this place."));
    scan.damage.set(session, seq - 1);
  }
}

function reportMissing({ scan, cuts, only }: ScanState, session: string, message: string): void {
  const wanted = (only === undefined || session === only) && !scan.damage.has(session);
  if (!wanted || cuts.isPruned(session) || cuts.isCut(session, 1, 0)) return;
  scan.damage.set(session, 0);
  scan.findings.push(finding("missing_session", { session }, message));
}

function reportTruncated({ scan }: ScanState, { session, seq }: ScannedChain, message: string): void {
  if (scan.damage.has(session)) return;
  scan.damage.set(session, seq);
  scan.findings.push(finding("truncated", { session, seq: seq + 1 }, message));
}
