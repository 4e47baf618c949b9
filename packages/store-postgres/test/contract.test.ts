import type { Ledger } from "@assent/core";
import { type LedgerUnderTest, testLedger } from "@assent/core/testing";
import { LONG } from "../../../test/support/long.ts";
import { createPostgresRoles, openPostgresLedger } from "../src/index.ts";
import { freshSchema, openWatched, scratch, thisHolder } from "./made-ledger.ts";
import { POSTGRES_VERSIONS, type PostgresServer, startPostgres } from "./postgres-server.ts";

async function underTest(server: PostgresServer, asRole = false): Promise<LedgerUnderTest> {
  const { directory, remove } = scratch();
  const url = asRole ? await urlOfRole(server, directory) : server.url(freshSchema());
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
    return asRole ? trustAsOwner(ledger) : ledger;
  };
  /** The role may do everything else of the contract. */
  const trustAsOwner = (ledger: Ledger): Ledger => ({
    ...ledger,
    answer: async (events) => {
      if (!events.some(({ type }) => type.startsWith("trust."))) return ledger.answer(events);
      const owner = await openWatched(url.replace(/:\/\/\w+@/, "://postgres@"), directory);
      opened.push(owner);
      return owner.answer(events);
    },
  });
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

/** A ledger with roles, as a login that runs calls and answers. The triggers of the roles must not refuse what Assent itself writes. */
async function urlOfRole(server: PostgresServer, directory: string): Promise<string> {
  const schema = freshSchema();
  const url = server.url(schema);
  await (await openPostgresLedger({ url, directory })).close();
  await createPostgresRoles({ url });
  await server.sql(`create role ${schema}_desk login in role ${schema}_agent, ${schema}_approver`);
  return url.replace("postgres@", `${schema}_desk@`);
}

const servers = await Promise.all(POSTGRES_VERSIONS.map((version) => startPostgres(version)));
for (const [at, server] of servers.entries()) testLedger(`PostgreSQL ${POSTGRES_VERSIONS[at]}`, () => underTest(server));
const newest = servers.at(-1);
if (LONG && newest) testLedger("PostgreSQL with database roles", () => underTest(newest, true));
