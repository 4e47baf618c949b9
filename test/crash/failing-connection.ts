import type { OpenPostgresOptions, openPostgresLedger } from "@assent/store-postgres";
import { type Connection, makeConnect } from "../../packages/store-postgres/src/connect/connection.ts";
import { parseStoreUrl } from "../../packages/store-postgres/src/connect/store-url.ts";
import type { Failpoints } from "./failpoints.ts";

/** Opens a ledger on PostgreSQL with failpoints around its commits; every statement goes through unchanged. */
export async function openFailing({ url, ...options }: OpenPostgresOptions, failpoints: Failpoints): ReturnType<typeof openPostgresLedger> {
  const { openWith } = await import("../../packages/store-postgres/src/open/open-ledger.ts"); // most processes do not need it
  const place = parseStoreUrl(url);
  const connect = makeConnect(place);
  return (await openWith({ ...options, place, connect: async () => failingConnection(await connect(), failpoints) })).ledger;
}

function failingConnection(connection: Connection, { hit }: Failpoints): Connection {
  let hasSnapshot = false;
  return {
    ...connection,
    query: async (text, values) => {
      const isAtOnce = text.startsWith("with moved") && text.includes("where pos = ");
      if (text === "begin" || isAtOnce) {
        hasSnapshot = false;
        hit("append.before");
      }
      if (text.startsWith("insert into snapshots")) hasSnapshot = true;
      if (text.startsWith("insert into meta (key, value) values ('version'")) hit("migrate.mid");
      if (text === "commit" && hasSnapshot) hit("snapshot.before_commit");
      if (text === "commit" || isAtOnce) hit("append.before_commit");
      const result = await connection.query<never>(text, values);
      if (text === "commit" || isAtOnce) hit("append.after_commit");
      return result;
    },
  };
}
