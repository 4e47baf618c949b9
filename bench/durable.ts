import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { openLedger } from "@assent/store";
import { idleTool, makeDispatcher } from "./calls.ts";
import { microseconds, type Row, ratioRow } from "./measure.ts";

const CALLS = 200;
const BODY = JSON.stringify({ call: "c1", text: "x".repeat(600) });

const WARM_TURNS = 2_000;
/** The measurements take turns, so that a busy disk slows all of them. */
const ROUNDS = 8;

/** What one commit of an event-sized row costs on this disk, FULL, and FULL shared by 100 rows. */
function bareCommits(directory: string): { readonly one: () => number; readonly grouped: () => number; readonly close: () => void } {
  const database = new DatabaseSync(join(directory, "bare.db"), { timeout: 5_000 });
  database.exec("pragma journal_mode=wal; pragma synchronous=full; create table events (pos integer primary key, body text) strict");
  const insert = database.prepare("insert into events (body) values (?)");
  const commit = (rows: number): void => {
    database.exec("begin immediate");
    for (let row = 0; row < rows; row += 1) insert.run(BODY);
    database.exec("commit");
  };
  return {
    one: () => {
      for (let turn = 0; turn < CALLS; turn += 1) commit(4);
      return CALLS;
    },
    grouped: () => {
      // a batch of 100 safe calls stores 400 events in two commits: intents, ends
      for (let turn = 0; turn < 10; turn += 1) {
        commit(300);
        commit(100);
      }
      return 10 * 100;
    },
    close: () => database.close(),
  };
}

/** The rows about calls on the SQLite ledger. */
export async function durableRows(): Promise<readonly Row[]> {
  const directory = await mkdtemp(join(tmpdir(), "assent-bench-"));
  const bare = bareCommits(directory);
  const ledger = await openLedger({ directory: join(directory, "store") });
  try {
    const unsafe = await makeDispatcher(ledger, idleTool("other", "allow"));
    const safe = await makeDispatcher(ledger, idleTool("read"));
    for (let turn = 0; turn < WARM_TURNS; turn += 1) await unsafe.process(1);
    for (let turn = 0; turn < WARM_TURNS / 10; turn += 1) await safe.process(100);
    const best = {
      one: Number.POSITIVE_INFINITY,
      call: Number.POSITIVE_INFINITY,
      grouped: Number.POSITIVE_INFINITY,
      batch: Number.POSITIVE_INFINITY,
    };
    const works = {
      one: bare.one,
      call: async () => {
        for (let turn = 0; turn < CALLS; turn += 1) await unsafe.process(1);
        return CALLS;
      },
      grouped: bare.grouped,
      batch: async () => {
        for (let turn = 0; turn < 10; turn += 1) await safe.process(100);
        return 10 * 100;
      },
    };
    for (let round = 0; round < ROUNDS; round += 1)
      for (const name of ["one", "call", "grouped", "batch"] as const)
        best[name] = Math.min(best[name], await microseconds(1, works[name]));
    const { one, call, grouped, batch } = best;
    return [
      ratioRow("durable call, SQLite FULL, unsafe, one at a time", { value: call, base: one }, { of: "one FULL commit", most: 1.5 }),
      ratioRow("durable calls, batch of 100 safe calls", { value: batch, base: grouped }, { of: "grouped commits", most: 3 }),
    ];
  } finally {
    await ledger.close();
    bare.close();
    await rm(directory, { recursive: true, force: true });
  }
}
