import { existsSync, mkdtempSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { type Connection, makeConnect } from "../../packages/store-postgres/src/connect/connection.ts";
import { parseStoreUrl } from "../../packages/store-postgres/src/connect/store-url.ts";
import { freshSchema } from "../../packages/store-postgres/test/made-ledger.ts";
import { startPostgres } from "../../packages/store-postgres/test/postgres-server.ts";

/** Where the ledger of a scene is: what `ASSENT_STORE` names. */
export type SceneStore = { readonly name: string; readonly locate: (root: string) => string };

export const SQLITE: SceneStore = { name: "SQLite", locate: (root) => join(root, "store") };

/** Both stores. Each scene has a schema of its own on a server that the test file starts. */
export async function bothStores(): Promise<readonly [SceneStore, SceneStore]> {
  const { url } = await startPostgres(18);
  return [SQLITE, { name: "PostgreSQL", locate: () => url(freshSchema()) }];
}

/** A directory whose `ledger.db` has events and contents, for readers of the tests: that of the store, or a copy of tables by plain SQL. Undefined if there is none yet. */
export async function readableLedger(store: string, root: string): Promise<string | undefined> {
  if (!store.startsWith("postgres")) return existsSync(join(store, "ledger.db")) ? store : undefined;
  const connection = await makeConnect(parseStoreUrl(store))();
  try {
    const { rows: found } = await connection.query(
      "select 1 from information_schema.tables where table_schema = current_schema() and table_name = 'events'",
    );
    return found.length === 0 ? undefined : await copyTables(connection, mkdtempSync(join(root, "copy-")));
  } finally {
    await connection.close();
  }
}

const COPIED: Readonly<Record<string, string>> = {
  events: "pos, session, seq, epoch, at, type, v, body, prev, hash",
  meta: "key, value",
  blobs: "sha, bytes",
};

async function copyTables(connection: Connection, directory: string): Promise<string> {
  const database = new DatabaseSync(join(directory, "ledger.db"));
  try {
    for (const [table, columns] of Object.entries(COPIED)) {
      database.exec(`create table ${table} (${columns})`);
      const insert = database.prepare(`insert into ${table} values (${columns.replace(/\w+/g, "?")})`);
      const { rows } = await connection.query<Record<string, string | number | Uint8Array>>(`select ${columns} from ${table}`);
      for (const row of rows) insert.run(...Object.values(row));
    }
    return directory;
  } finally {
    database.close();
  }
}
