import assert from "node:assert/strict";
import {
  chmodSync,
  chownSync,
  copyFileSync,
  cpSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { judgedDraft, openedDraft, proposedDraft } from "@assent/core/testing";
import { openLedger } from "../src/open/open-ledger.ts";
import { hasStore } from "../src/open/open-store.ts";
import { verifyStore } from "../src/verify/verify.ts";
import { begin, madeLedger, scratch, tamper } from "./made-store.ts";

function modeOf(path: string): string {
  return (statSync(path).mode & 0o777).toString(8);
}

test("under umask 000 a new ledger's files are 0600 and its directories 0700", async (t) => {
  const before = process.umask(0);
  t.after(() => process.umask(before));
  const parent = join(await scratch(t), "not", "there");
  const directory = join(parent, "yet");
  const ledger = await madeLedger(t, { directory });
  await begin(ledger);
  const names = await readdir(directory);
  assert.deepEqual(names.sort(), ["ledger.db", "ledger.db-shm", "ledger.db-wal", "ledger.id"]);
  for (const name of names) assert.equal(modeOf(join(directory, name)), "600", name);
  assert.deepEqual([modeOf(directory), modeOf(parent)], ["700", "700"]);
  assert.deepEqual(ledger.warnings, []);
});

test("looser modes are corrected on open and reported", async (t) => {
  const directory = await scratch(t);
  await (await openLedger({ directory })).close();
  mkdirSync(join(directory, "output"), { mode: 0o755 });
  chmodSync(join(directory, "output"), 0o755);
  chmodSync(directory, 0o755);
  chmodSync(join(directory, "ledger.db"), 0o644);
  const ledger = await madeLedger(t, { directory });
  assert.deepEqual(
    ledger.warnings.map(({ type }) => type),
    ["store_permissions", "store_permissions", "store_permissions"],
  );
  assert.deepEqual([modeOf(directory), modeOf(join(directory, "output")), modeOf(join(directory, "ledger.db"))], ["700", "700", "600"]);
});

/** A directory of somebody else: of nobody for root, of root for everybody else. */
async function foreign(t: TestContext): Promise<string> {
  if (process.getuid?.() !== 0) return "/";
  const directory = await scratch(t);
  chownSync(directory, 65_534, 65_534);
  return directory;
}

const UNSAFE: readonly (readonly [string, (t: TestContext) => Promise<string>])[] = [
  ["a place where nothing can be made", async () => "/proc/none/store"],
  [
    "a directory below a file",
    async (t) => {
      const root = await scratch(t);
      writeFileSync(join(root, "file"), "");
      return join(root, "file", "store");
    },
  ],
  [
    "a link in place of the directory",
    async (t) => {
      const root = await scratch(t);
      mkdirSync(join(root, "real"));
      symlinkSync(join(root, "real"), join(root, "link"));
      return join(root, "link");
    },
  ],
  [
    "a link in place of the database",
    async (t) => {
      const directory = await scratch(t);
      await (await openLedger({ directory })).close();
      renameSync(join(directory, "ledger.db"), join(directory, "elsewhere.db"));
      symlinkSync(join(directory, "elsewhere.db"), join(directory, "ledger.db"));
      return directory;
    },
  ],
  [
    "a dangling link in place of the database",
    async (t) => {
      const directory = await scratch(t);
      symlinkSync(join(directory, "nowhere.db"), join(directory, "ledger.db"));
      return directory;
    },
  ],
  [
    "a file in place of the directory",
    async (t) => {
      const path = join(await scratch(t), "file");
      writeFileSync(path, "");
      return path;
    },
  ],
  ["another owner", foreign],
];

for (const [title, make] of UNSAFE) {
  test(`${title} is an unsafe location`, async (t) => {
    const directory = await make(t);
    await assert.rejects(openLedger({ directory }), { type: "store_unsafe_location" });
  });
}

test("an empty database beside outputs is damaged, not new", async (t) => {
  const directory = await scratch(t);
  writeFileSync(join(directory, "ledger.db"), "", { mode: 0o600 });
  mkdirSync(join(directory, "output", "s_1"), { recursive: true, mode: 0o700 });
  await assert.rejects(openLedger({ directory }), { type: "store_corrupt", message: /It cannot be repaired\. Restore a backup/ });
  assert.equal(statSync(join(directory, "ledger.db")).size, 0);
});

test("an empty database is damaged, not one that was about to be made", async (t) => {
  const directory = await scratch(t);
  writeFileSync(join(directory, "ledger.db"), "", { mode: 0o600 });
  await assert.rejects(openLedger({ directory }), { type: "store_corrupt", message: /is empty \(0 bytes\).*begin a new store/ });
  assert.deepEqual(await readdir(directory), ["ledger.db"]);
});

test("a database without tables is damaged, and is left as it is", async (t) => {
  const directory = await scratch(t);
  tamper(directory, (database) => database.exec("create table t (x); drop table t"));
  chmodSync(join(directory, "ledger.db"), 0o600);
  await assert.rejects(openLedger({ directory }), { type: "store_corrupt", message: /has no tables/ });
});

test("the database of another program is refused, and is left as it is", async (t) => {
  const directory = await scratch(t);
  tamper(directory, (database) => database.exec("create table notes (text); insert into notes values ('mine')"));
  chmodSync(join(directory, "ledger.db"), 0o600);
  const before = readFileSync(join(directory, "ledger.db"));
  const refused = { type: "store_unsafe_location", message: /is the database of another program/ };
  await assert.rejects(openLedger({ directory }), refused);
  await assert.rejects(verifyStore({ directory }), refused);
  await assert.rejects(verifyStore({ directory, repair: true }), refused);
  assert.deepEqual(readFileSync(join(directory, "ledger.db")), before);
});

/** What is left of a store whose ledger was deleted. */
const REMAINS: readonly (readonly [string, (directory: string) => void])[] = [
  ["the id of the store", () => undefined],
  [
    "its log",
    (directory) => {
      rmSync(join(directory, "ledger.id"));
      writeFileSync(join(directory, "ledger.db-wal"), "x", { mode: 0o600 });
    },
  ],
  [
    "its output",
    (directory) => {
      rmSync(join(directory, "ledger.id"));
      mkdirSync(join(directory, "output", "s_1"), { recursive: true, mode: 0o700 });
    },
  ],
];

for (const [title, leave] of REMAINS) {
  test(`a ledger that was deleted and has left ${title} is lost, not new`, async (t) => {
    const directory = await scratch(t);
    await (await openLedger({ directory })).close();
    rmSync(join(directory, "ledger.db"));
    leave(directory);
    assert.throws(() => hasStore(directory), { type: "store_lost", message: /ledger\.db is missing.* To begin a new store/ });
    await assert.rejects(openLedger({ directory }), { type: "store_lost" });
    await assert.rejects(verifyStore({ directory }), { type: "store_lost" });
    assert.equal(statSync(join(directory, "ledger.db"), { throwIfNoEntry: false }), undefined);
  });
}

test("a directory without anything of a store never had one", async (t) => {
  const directory = await scratch(t);
  mkdirSync(join(directory, "output"), { mode: 0o700 });
  mkdirSync(join(directory, "prompts"), { mode: 0o700 });
  assert.deepEqual([hasStore(directory), hasStore(join(directory, "none"))], [false, false]);
});

test("the ledger of another store in place of ours is lost", async (t) => {
  const [ours, other] = [await scratch(t), await scratch(t)];
  for (const directory of [ours, other]) await (await openLedger({ directory })).close();
  copyFileSync(join(other, "ledger.db"), join(ours, "ledger.db"));
  await assert.rejects(openLedger({ directory: ours }), { type: "store_lost", message: /was replaced by that of another store/ });
  rmSync(join(ours, "ledger.id"));
  await (await openLedger({ directory: ours })).close();
});

/** A store whose process was killed with records in its log. */
async function killed(t: TestContext): Promise<string> {
  const [directory, copy] = [await scratch(t), join(await scratch(t), "killed")];
  const ledger = await madeLedger(t, { directory });
  const writer = await begin(ledger);
  await writer.append(proposedDraft("c1"), judgedDraft("c1", { verdict: "ask" }), openedDraft("c1"));
  cpSync(directory, copy, { recursive: true });
  chmodSync(copy, 0o700);
  return copy;
}

test("a log that is missing with records in it is lost, and a repair goes on without them", async (t) => {
  const directory = await killed(t);
  rmSync(join(directory, "ledger.db-wal"));
  await assert.rejects(openLedger({ directory }), { type: "store_lost", message: /ledger\.db-wal is missing.*assent verify --repair/ });
  const report = await verifyStore({ directory });
  assert.deepEqual([report.ok, report.findings.map(({ type }) => type)], [false, ["store_corrupt"]]);
  await assert.rejects(openLedger({ directory }), { type: "store_lost" }); // looking does not hide it
  await verifyStore({ directory, repair: true });
  const ledger = await madeLedger(t, { directory });
  assert.deepEqual(
    ledger.warnings.map(({ type }) => type),
    ["store_restored"],
  );
});

test("a log that is there after a kill is read", async (t) => {
  const directory = await killed(t);
  rmSync(join(directory, "ledger.db-shm"));
  const ledger = await madeLedger(t, { directory });
  assert.equal((await ledger.pending("approvals", { all: true })).length, 1);
});

test("many processes that make one store at once share it", async (t) => {
  const directory = join(await scratch(t), "state");
  const ledgers = await Promise.all(Array.from({ length: 8 }, () => madeLedger(t, { directory })));
  assert.equal(new Set(ledgers.map(({ storeId }) => storeId)).size, 1);
  assert.deepEqual((await readdir(directory)).sort(), ["ledger.db", "ledger.db-shm", "ledger.db-wal", "ledger.id"]);
});

test("a file that is no database is damaged", async (t) => {
  const directory = await scratch(t);
  writeFileSync(join(directory, "ledger.db"), "this is no database".repeat(1_000), { mode: 0o600 });
  await assert.rejects(openLedger({ directory }), { type: "store_corrupt" });
});

test("a missing ledger is not made where it is not wanted", async (t) => {
  const directory = join(await scratch(t), "none");
  await assert.rejects(openLedger({ directory, createIfMissing: false }), { code: "ENOENT" });
  assert.equal(statSync(directory, { throwIfNoEntry: false }), undefined);
});
