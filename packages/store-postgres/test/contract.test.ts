import type { Ledger } from "@assent/core";
import { type LedgerUnderTest, testLedger } from "@assent/core/testing";
import { freshSchema, openWatched, scratch, thisHolder } from "./made-ledger.ts";
import { POSTGRES_VERSIONS, type PostgresServer, startPostgres } from "./postgres-server.ts";

async function underTest(server: PostgresServer): Promise<LedgerUnderTest> {
  const { directory, remove } = scratch();
  const url = server.url(freshSchema());
  const opened: Ledger[] = [];
  let isFull = false;
  const before = (text: string): void => {
    if (!isFull || !text.startsWith("with ")) return;
    isFull = false;
    throw Object.assign(new Error("could not extend file: No space left on device"), { code: "53100" });
  };
  const open = async (): Promise<Ledger> => {
    const ledger = await openWatched(url, directory, before);
    opened.push(ledger);
    return ledger;
  };
  const ledger = await open();
  return {
    ledger,
    holder: thisHolder(),
    second: open,
    fail: () => {
      isFull = true;
    },
    reopen: async () => {
      await ledger.close();
      return open();
    },
    close: async () => {
      for (const one of opened) await one.close();
      remove();
    },
  };
}

const servers = await Promise.all(POSTGRES_VERSIONS.map((version) => startPostgres(version)));
for (const [at, server] of servers.entries()) testLedger(`PostgreSQL ${POSTGRES_VERSIONS[at]}`, () => underTest(server));
