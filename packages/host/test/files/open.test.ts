import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdirSync, readdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { openRegular } from "../../src/files/open.ts";
import { scratch } from "../scratch.ts";

test("a regular file is opened, also through a link", async (t) => {
  const directory = scratch(t);
  writeFileSync(join(directory, "a"), "text");
  symlinkSync("a", join(directory, "b"));
  const { handle, stats } = await openRegular(join(directory, "b"));
  assert.equal(await handle.readFile("utf8"), "text");
  assert.equal(stats.size, 4);
  await handle.close();
});

const OTHERS: readonly (readonly [name: string, make: (path: string) => void, code: string])[] = [
  ["a directory", (path) => mkdirSync(path), "EISDIR"],
  ["a FIFO without a writer", (path) => execFileSync("mkfifo", [path]), "ERR_NOT_REGULAR_FILE"],
  ["a device behind a link", (path) => symlinkSync("/dev/zero", path), "ERR_NOT_REGULAR_FILE"],
  ["nothing", () => undefined, "ENOENT"],
];
for (const [name, make, code] of OTHERS) {
  test(`${name} is refused without waiting and without a descriptor left`, async (t) => {
    const path = join(scratch(t), "x");
    make(path);
    const before = readdirSync("/proc/self/fd").length;
    await assert.rejects(openRegular(path), { code });
    assert.equal(readdirSync("/proc/self/fd").length, before);
  });
}
