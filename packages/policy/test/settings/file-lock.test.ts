import assert from "node:assert/strict";
import { existsSync, mkdirSync, readFileSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { hostname } from "node:os";
import { join } from "node:path";
import { describe, test } from "node:test";
import { setImmediate } from "node:timers/promises";
import { manualClock } from "@assent/core/testing";
import { createHostProcesses } from "@assent/host";
import { withFileLock } from "../../src/settings/file-lock.ts";
import { scratch } from "../scratch.ts";

const parts = () => ({ clock: manualClock(), processes: createHostProcesses() });

test("the lock says who holds it, and is gone afterwards, whether it went well or not", async (t) => {
  const file = join(scratch(t), "new/settings.json");
  const holder = await withFileLock(file, parts(), async () => JSON.parse(readFileSync(`${file}.lock`, "utf8")));
  assert.deepEqual([holder.host, holder.pid, existsSync(`${file}.lock`)], [hostname(), process.pid, false]);
  await assert.rejects(
    withFileLock(file, parts(), () => Promise.reject(new Error("boom"))),
    /boom/u,
  );
  assert.equal(existsSync(`${file}.lock`), false);
});

test("a lock removed by another process is not a failure", async (t) => {
  const file = join(scratch(t), "settings.json");
  assert.equal(
    await withFileLock(file, parts(), async () => {
      rmSync(`${file}.lock`);
      return "done";
    }),
    "done",
  );
});

test("if the lock cannot be created, nothing is done and the reason is reported", async (t) => {
  const file = join(scratch(t), `${"x".repeat(300)}.json`);
  await assert.rejects(
    withFileLock(file, parts(), () => assert.fail("it was done")),
    { code: "ENAMETOOLONG" },
  );
});

test("a lock that is not a file is reported", async (t) => {
  const file = join(scratch(t), "settings.json");
  mkdirSync(`${file}.lock`);
  await assert.rejects(
    withFileLock(file, parts(), () => assert.fail("it was done")),
    { code: "EISDIR" },
  );
});

describe("a lock with an unreadable holder", () => {
  const host = hostname();
  const texts = [
    "",
    "{",
    "null",
    "[]",
    JSON.stringify({ host }),
    JSON.stringify({ host, pid: 1 }),
    JSON.stringify({ host, start: "1" }),
    JSON.stringify({ host, pid: "1", start: "1" }),
    JSON.stringify({ host, pid: 1, start: 1 }),
    JSON.stringify({ host: 1, pid: 1, start: "1" }),
    JSON.stringify({ pid: 1, start: "1" }),
    JSON.stringify({ host: `${host}.elsewhere`, pid: 1, start: "1" }),
  ];
  for (const text of texts) {
    test(`${text || "nothing"} is waited for while it is new, and broken when it is old`, async (t) => {
      const file = join(scratch(t), "settings.json");
      const { clock, processes } = parts();
      const lock = (age: number): void => {
        writeFileSync(`${file}.lock`, text);
        const at = (clock.now() - age) / 1_000;
        utimesSync(`${file}.lock`, at, at);
      };
      let done = 0;
      const act = async (): Promise<void> => {
        done += 1;
      };
      lock(10_000);
      const waiting = withFileLock(file, { clock, processes }, act);
      await setImmediate();
      assert.equal(done, 0);
      rmSync(`${file}.lock`);
      await waiting;
      lock(11_000);
      await withFileLock(file, { clock, processes }, act);
      assert.equal(done, 2);
    });
  }
});
