import assert from "node:assert/strict";
import { chmodSync, chownSync, mkdirSync, renameSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { openLedger } from "../src/open-ledger.ts";
import { begin, madeLedger, scratch } from "./made-store.ts";

function modeOf(path: string): string {
  return (statSync(path).mode & 0o777).toString(8);
}

test("L41: under umask 000 a new ledger's files are 0600 and its directories 0700", async (t) => {
  const before = process.umask(0);
  t.after(() => process.umask(before));
  const parent = join(await scratch(t), "not", "there");
  const directory = join(parent, "yet");
  const ledger = await madeLedger(t, { directory });
  await begin(ledger);
  const names = await readdir(directory);
  assert.deepEqual(names.sort(), ["ledger.db", "ledger.db-shm", "ledger.db-wal"]);
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

test("L30: an empty database beside outputs is damaged, not new", async (t) => {
  const directory = await scratch(t);
  writeFileSync(join(directory, "ledger.db"), "", { mode: 0o600 });
  mkdirSync(join(directory, "output", "s_1"), { recursive: true, mode: 0o700 });
  await assert.rejects(openLedger({ directory }), { type: "store_corrupt", message: /It cannot be repaired\. Restore a backup/ });
  assert.equal(statSync(join(directory, "ledger.db")).size, 0);
});

test("an empty database without outputs is one that was about to be made", async (t) => {
  const directory = await scratch(t);
  writeFileSync(join(directory, "ledger.db"), "", { mode: 0o600 });
  const ledger = await madeLedger(t, { directory });
  assert.equal(await ledger.head(), 1);
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
