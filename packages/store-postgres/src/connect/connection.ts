import { LedgerError, messageOf } from "@assent/core";
import type { Client, ClientConfig, QueryResult, QueryResultRow } from "pg";
import type { StoreUrl } from "./store-url.ts";

/** The part of a connection that the store uses. */
export type Connection = {
  readonly query: <Row extends QueryResultRow>(text: string, values?: readonly unknown[]) => Promise<QueryResult<Row>>;
  /** Once true, every query fails. */
  readonly isLost: () => boolean;
  readonly onNotice: (listener: () => void) => void;
  readonly onLost: (listener: () => void) => void;
  /** Lets the process end while the connection is idle. */
  readonly unref: () => void;
  readonly close: () => Promise<void>;
  /** Closes the socket without telling the server. */
  readonly destroy: () => void;
};

/** Opens one connection to the store's schema. */
export type Connect = () => Promise<Connection>;

/**
 * A process that stopped in a transaction must not block the others for long. What administrators set for the role or the database must neither end a long
 * `verify` or `prune`, nor make transactions conflict.
 */
const SETUP = `set idle_in_transaction_session_timeout = '5s'; set lock_timeout = '30s'; set timezone = 'UTC'; set client_min_messages = warning;
set tcp_keepalives_idle = 10; set tcp_keepalives_interval = 5; set tcp_keepalives_count = 3; set default_transaction_isolation = 'read committed';
set statement_timeout = 0; set idle_session_timeout = 0;
select set_config('transaction_timeout', '0', false) where current_setting('server_version_num')::int >= 170000;
select set_config('synchronous_commit', 'on', false) where current_setting('synchronous_commit') = 'off'`;

/** Begins to read the ledger at one moment. It blocks no commit, so it may take its time. */
export const BEGIN_READING = "begin isolation level repeatable read read only; set local idle_in_transaction_session_timeout = 0";

const CONNECT_MS = 10_000;
const INT8 = 20;
const MOST_NAMES = 200;

/** Loads `pg` at the first connection. */
export function makeConnect({ connection, schema }: StoreUrl): Connect {
  return async () => {
    const { default: pg } = await import("pg");
    const config: ClientConfig & { readonly pipeline: boolean } = {
      connectionString: connection,
      application_name: "assent",
      connectionTimeoutMillis: CONNECT_MS,
      keepAlive: true,
      pipeline: true,
      // Positions and sequences are below 2^53.
      types: { getTypeParser: (oid: number, format?: "text" | "binary") => (oid === INT8 ? Number : pg.types.getTypeParser(oid, format)) },
    };
    const client = makeClient(pg.Client, config);
    const made = wrapClient(client);
    await client.connect();
    await client.query(`set search_path to "${schema}"; ${SETUP}`);
    return made;
  };
}

/** `pg` reads the files of `sslrootcert` and similar options here. */
function makeClient(Kind: typeof Client, config: ClientConfig): Client {
  try {
    return new Kind(config);
  } catch (error) {
    throw new LedgerError("store_url_invalid", `The store's PostgreSQL URL names a file that cannot be used: ${messageOf(error)}.`);
  }
}

function wrapClient(client: Client): Connection {
  let lost = false;
  const listeners: (() => void)[] = [];
  const lose = (): void => {
    if (lost) return;
    lost = true;
    for (const listener of listeners) listener();
  };
  const names = new Map<string, string>();
  /** The server plans a repeated statement once. */
  const nameOf = (text: string): string | undefined => {
    const known = names.get(text);
    if (known !== undefined || names.size >= MOST_NAMES) return known;
    const name = `s${names.size}`;
    names.set(text, name);
    return name;
  };
  client.on("error", lose); // without a listener, a lost connection ends the process
  client.on("end", lose);
  return {
    query: (text, values) => {
      if (values === undefined) return client.query(text);
      const name = nameOf(text);
      return client.query({ text, values: [...values], ...(name !== undefined && { name }) });
    },
    isLost: () => lost,
    onNotice: (listener) => client.on("notification", listener),
    onLost: (listener) => void listeners.push(listener),
    unref: () => Reflect.apply(unrefSocket, client, []),
    close: async () => {
      lose();
      await client.end().catch(() => undefined);
    },
    destroy: () => Reflect.apply(destroySocket, client, []),
  };
}

/** `pg` has these, its types do not. */
function destroySocket(this: Client & { readonly connection?: { readonly stream: { readonly destroy: () => void } } }): void {
  this.connection?.stream.destroy();
}

/** `pg` has the method, its types do not. */
function unrefSocket(this: Client & { readonly unref?: () => void }): void {
  this.unref?.();
}
