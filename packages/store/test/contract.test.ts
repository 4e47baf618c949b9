import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Ledger } from "@assent/core";
import { type LedgerUnderTest, testLedger } from "@assent/core/testing";
import { openLedger } from "../src/open/open-ledger.ts";
import { opening, sqliteError, thisHolder } from "./made-store.ts";

async function underTest(): Promise<LedgerUnderTest> {
  const directory = await mkdtemp(join(tmpdir(), "assent-store-"));
  const opened: Ledger[] = [];
  let isFull = false;
  const exec = (sql: string): void => {
    if (!isFull || sql !== "commit") return;
    isFull = false;
    throw sqliteError(13, "database or disk is full");
  };
  const open = async (): Promise<Ledger> => {
    const ledger = await openLedger({ directory, openDatabase: opening({ exec }) });
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
      await rm(directory, { recursive: true });
    },
  };
}

testLedger("SQLite", underTest);
