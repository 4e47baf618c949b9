import { hostname } from "node:os";
import { join } from "node:path";
import { isObject, type Ledger, messageOf, type SharedDraft } from "@assent/core";
import type { StartOf, StoreExtras, StoreWarning } from "@assent/store";
import { isGoneHere, makeDamageRecord, openMarks } from "@assent/store/parts";
import { type Connect, type Connection, makeConnect } from "../connect/connection.ts";
import { databaseError } from "../connect/failure.ts";
import { type Link, makeLink, makeOutage } from "../connect/link.ts";
import { parseStoreUrl, type StoreUrl } from "../connect/store-url.ts";
import { makeFollowers } from "../read/followers.ts";
import { makeLedgerReader, readHead } from "../read/ledger-reading.ts";
import { type PreparedSchema, prepareSchema } from "../schema/migrate.ts";
import { type DatabasePlace, placeText, readPlace } from "../schema/place.ts";
import { findMissingMarks } from "../verify/marks.ts";
import { LEASE_MS } from "../write/leases.ts";
import { type LedgerWriter, makeLedgerWriter } from "../write/ledger-writing.ts";
import { makeTransactions } from "../write/transaction.ts";

/** The options of `openPostgresLedger`. */
export type OpenPostgresOptions = {
  /** `postgres://user@host:port/database?schema=NAME`. `PG…` variables give what is missing, such as the password. */
  readonly url: string;
  /** Local directory for marks, which reveal a restored database. */
  readonly directory: string;
  /** If false, a missing schema is an error (`store_lost`). */
  readonly createIfMissing?: boolean;
  /** How long the ledger waits for a database that is away (default: 2 minutes). */
  readonly waitMs?: number;
  /** How long another process must wait after a holder stopped renewing its session (default: 15 s). */
  readonly leaseMs?: number;
  /** Like `Processes.startOf`. */
  readonly startOf?: StartOf;
  /** Called with later warnings. */
  readonly onWarning?: (warning: StoreWarning) => void;
};

/** Tests replace how connections are made. */
export type OpenWithOptions = Omit<OpenPostgresOptions, "url"> & {
  readonly connect: Connect;
  readonly place: StoreUrl;
  /** Recorded with answers. */
  readonly host?: string;
};

const WAIT_MS = 120_000;
const LOOK_MS = 2_000;

/** Opens or creates a ledger on PostgreSQL. Throws `LedgerError`. */
export async function openPostgresLedger(options: OpenPostgresOptions): Promise<Ledger & StoreExtras> {
  return (await openStore(options)).ledger;
}

/** A ledger with what maintenance needs. */
export type OpenStore = { readonly ledger: Ledger & StoreExtras; readonly link: Link; readonly submit: LedgerWriter["submit"] };

export async function openStore({ url, ...options }: OpenPostgresOptions): Promise<OpenStore> {
  const place = parseStoreUrl(url);
  return openWith({ ...options, place, connect: makeConnect(place), host: hostname() });
}

export async function openWith(options: OpenWithOptions): Promise<OpenStore> {
  const { place, connect, directory, createIfMissing = true, waitMs = WAIT_MS, leaseMs = LEASE_MS, startOf, onWarning } = options;
  const { shown, schema } = place;
  const warnings: StoreWarning[] = [];
  const warn = (warning: StoreWarning): void => {
    warnings.push(warning);
    onWarning?.(warning);
  };
  const { first, storeId, access, refusal } = await openSchema(connect, place, createIfMissing);
  const channel = `assent_${schema}`;
  const places = new WeakMap<Connection, DatabasePlace>();
  const outage = makeOutage({ shown, waitMs, warn });
  const followers = makeFollowers({
    look: () => void readHead(reader).then(lookAt, () => undefined), // the followers' own reads report what lasts
    lookMs: LOOK_MS,
    failed: (error) => warn({ type: "subscriber_failed", message: `A subscriber failed: ${messageOf(error)}` }),
  });
  let seen = -1;
  const lookAt = (head: number): void => {
    if (head !== seen) followers.wake();
    seen = head;
  };
  const listen = async (connection: Connection): Promise<void> => {
    connection.onNotice(() => followers.wake());
    connection.onLost(() => followers.wake());
    await connection.query(`listen "${channel}"`);
  };
  const reader = makeLink({ connect, outage, shown, prepare: listen });
  const writer = makeLink({
    first,
    connect,
    outage,
    shown,
    prepare: async (connection) => void places.set(connection, await readPlace(connection)),
  });
  const placeOf = (connection: Connection): DatabasePlace => places.get(connection) ?? { system: "", timeline: "", database: "", pid: 0 };
  const marks = openMarks(join(directory, "postgres", storeId, "marks"));
  const damage = makeDamageRecord();
  const isGone = isGoneHere(startOf);
  let open = false;
  const { settle, submit, close, ...writing } = makeLedgerWriter({
    ...{
      link: writer,
      transactions: makeTransactions({ store: storeId, channel, placeOf }),
      marks,
      damage,
      access,
      refusal,
      leaseMs,
      isGone,
      warn: (warning) => void (open ? warn(warning) : warnings.push(warning)), // the caller reads those of the opening
    },
    committed: followers.wake,
  });
  const end = async (): Promise<void> => {
    followers.clear();
    outage.leave(); // a closing ledger does not wait for a database that is away
    try {
      await close();
    } finally {
      await Promise.all([reader.close(), writer.close()]);
    }
  };
  try {
    if (!refusal) await noticeRestored({ reader, settle, marks, place: await writer.run(async (connection) => placeOf(connection)) });
  } catch (error) {
    await end();
    throw error;
  }
  open = true;
  const ledger: Ledger & StoreExtras = {
    durable: true,
    storeId,
    directory,
    warnings,
    refusal,
    ...writing,
    ...(options.host !== undefined && { answer: (events) => writing.answer(events.map((event) => withHost(event, options.host))) }),
    ...makeLedgerReader({ link: reader, storeId, damage, followers, isGone, warn }),
    leave: outage.leave,
    close: async () => {
      if (!open) return;
      open = false;
      await end();
    },
  };
  return { ledger, link: reader, submit };
}

/** People see from which machine an answer came. */
function withHost(event: SharedDraft, host = ""): SharedDraft {
  const { body } = event;
  // Only a member of `by` is added, so the type of the event stays.
  return "by" in body && isObject(body.by) ? ({ ...event, body: { ...body, by: { ...body.by, host } } } as SharedDraft) : event;
}

/** A database that is away when a command starts is an error at once. */
async function openSchema(
  connect: Connect,
  place: StoreUrl,
  createIfMissing: boolean,
): Promise<PreparedSchema & { readonly first: Connection }> {
  try {
    const first = await connect();
    try {
      return { first, ...(await prepareSchema(first, place, createIfMissing)) };
    } catch (error) {
      await first.close();
      throw error;
    }
  } catch (error) {
    throw databaseError(error, place.shown);
  }
}

type RestoreCheck = {
  readonly reader: Link;
  readonly settle: LedgerWriter["settle"];
  readonly marks: ReturnType<typeof openMarks>;
  readonly place: DatabasePlace;
};

/**
 * Cancels unused answers if the database is not where it was, or if this machine remembers an event that it lacks. Answers from before an earlier
 * settlement are closed, so a mark from before it needs no other.
 */
async function noticeRestored({ reader, settle, marks, place }: RestoreCheck): Promise<void> {
  const present = marks.list();
  const [missing, before] = await reader.run((connection) =>
    Promise.all([findMissingMarks(connection, present), readRecordedPlace(connection)]),
  );
  const isRestored = missing.some(({ pos }) => pos > before.restored);
  if (isRestored || before.place !== placeText(place, before.table)) await settle(isRestored);
  marks.remove(missing);
}

type RecordedPlace = { readonly place: string | null; readonly table: number; readonly restored: number };

async function readRecordedPlace(connection: Connection): Promise<RecordedPlace> {
  const { rows } = await connection.query<RecordedPlace>(
    `select (select value from meta where key = 'place') as place, 'events'::regclass::oid::int8 as table,
       coalesce((select max(pos) from events where type = 'store.restored' and (type < 'call.' or type > 'call/')), 0) as restored`,
  );
  return rows[0] ?? { place: null, table: 0, restored: 0 };
}
