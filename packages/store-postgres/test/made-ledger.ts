import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { hostname, tmpdir } from "node:os";
import { join } from "node:path";
import type { Holder, Ledger } from "@assent/core";
import { type Connection, makeConnect } from "../src/connect/connection.ts";
import { parseStoreUrl } from "../src/connect/store-url.ts";
import { type OpenWithOptions, openWith } from "../src/open/open-ledger.ts";

let count = 0;

/** A schema name that no other test of this process uses. */
export function freshSchema(): string {
  count += 1;
  return `t${count}`;
}

/** This process, as a live holder. */
export function thisHolder(): Holder {
  const boot = readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim();
  const stat = readFileSync("/proc/self/stat", "utf8");
  const processStart = `${boot}:${stat.slice(stat.lastIndexOf(")") + 2).split(" ")[19]}`;
  return { pid: process.pid, host: hostname(), processStart, door: "test" };
}

/** A local directory, removed by the returned function. */
export function scratch(): { readonly directory: string; readonly remove: () => void } {
  const directory = mkdtempSync(join(tmpdir(), "assent-pg-local-"));
  return { directory, remove: () => rmSync(directory, { recursive: true, force: true }) };
}

/** Called before each statement of a connection; it may throw or wait. */
export type BeforeQuery = (text: string, connection: Connection) => void;

/** Opens a ledger whose statements can be watched. */
export async function openWatched(
  url: string,
  directory: string,
  before: BeforeQuery = () => undefined,
  options: Partial<OpenWithOptions> = {},
): Promise<Ledger> {
  const place = parseStoreUrl(url);
  const connect = makeConnect(place);
  const { ledger } = await openWith({
    place,
    directory,
    connect: async () => {
      const connection = await connect();
      const watched: Connection = {
        ...connection,
        query: async (text, values) => {
          before(text, connection);
          return connection.query(text, values);
        },
      };
      return watched;
    },
    ...options,
  });
  return ledger;
}
