import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { type Holder, LedgerError } from "@assent/core";
import { A, begin, madeLedger, noise, readAll, thisHolder } from "./made-store.ts";

const SELF = thisHolder();

const HOLDERS: readonly (readonly [string, Holder, boolean])[] = [
  ["this very process is live", SELF, true],
  ["a process of the same number that started at another time is not", { ...SELF, processStart: `${SELF.processStart}0` }, false],
  ["a process of another host is not", { ...SELF, host: "elsewhere.invalid" }, false],
  ["a number that no process has is not", { ...SELF, pid: 2 ** 22 + 1 }, false],
];

for (const [title, holder, live] of HOLDERS) {
  test(`as a holder, ${title}`, async (t) => {
    const ledger = await madeLedger(t);
    await ledger.acquire(A, holder);
    const again = ledger.acquire(A, SELF);
    if (!live) return void (await again);
    await assert.rejects(again, (error) => {
      assert.ok(error instanceof LedgerError && error.type === "session_in_use");
      const { pid, host, door } = error.detail;
      assert.deepEqual({ pid, host, door }, { pid: SELF.pid, host: SELF.host, door: SELF.door });
      return true;
    });
  });
}

test("who lives is asked of the function that was given", async (t) => {
  const asked: number[] = [];
  const startOf = (pid: number): string | undefined => {
    asked.push(pid);
    return pid === 7 ? "noon" : undefined;
  };
  const ledger = await madeLedger(t, { startOf });
  await ledger.acquire(A, { ...SELF, pid: 7, processStart: "noon" });
  await assert.rejects(ledger.acquire(A, SELF), { type: "session_in_use" });
  await ledger.acquire(A, { ...SELF, pid: 8, processStart: "noon" }, true);
  await ledger.acquire(A, SELF);
  assert.deepEqual(asked, [7, 8]);
});

test("a holder that was killed is not live, and its session is unclosed", async (t) => {
  const ledger = await madeLedger(t);
  const child = spawn(process.execPath, ["-e", "process.stdin.resume()"], { stdio: ["pipe", "ignore", "inherit"] });
  t.after(() => child.kill("SIGKILL"));
  await once(child, "spawn");
  const stat = readFileSync(`/proc/${child.pid}/stat`, "utf8");
  const [boot] = SELF.processStart.split(":");
  const holder = { ...SELF, pid: child.pid ?? 0, processStart: `${boot}:${stat.slice(stat.lastIndexOf(")") + 2).split(" ")[19]}` };
  const lease = await ledger.acquire(A, holder);
  await ledger.append(lease, 0, { events: [noise()], durability: "full" });
  await assert.rejects(ledger.acquire(A, SELF), { type: "session_in_use" });
  assert.equal((await ledger.pending("sessions"))[0]?.state, "running");
  child.kill("SIGKILL");
  await once(child, "exit");
  const [row] = await ledger.pending("sessions");
  assert.deepEqual([row?.state, row?.writer], ["interrupted", null]);
  const next = await ledger.acquire(A, SELF);
  assert.deepEqual([next.unclosed, next.head], [true, 1]);
});

test("every epoch is on the shared chain with holder, device and inode", async (t) => {
  const ledger = await madeLedger(t);
  const { lease } = await begin(ledger);
  const [event] = await readAll(ledger, { pos: 0 }, { types: ["store.epoch"] });
  const { device, inode, ...rest } = event?.body ?? {};
  assert.deepEqual(rest, { epoch: lease.epoch, session: A, holder: SELF });
  assert.match(`${device} ${inode}`, /^\d+ \d+$/);
});

test("the writer that was taken over is told by whom", async (t) => {
  const ledger = await madeLedger(t);
  const stale = await begin(ledger);
  await begin(ledger, A, true);
  await assert.rejects(stale.append(noise()), { type: "stale_writer", message: `This session was taken over by pid ${process.pid}.` });
});
