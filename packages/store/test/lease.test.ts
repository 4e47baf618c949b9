import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import { test } from "node:test";
import { type Holder, LedgerError } from "@assent/core";
import { makeSessionHold } from "../src/files/session-lock.ts";
import { statePaths } from "../src/files/state-paths.ts";
import { liveness, type ProcessPlace, thisPlace } from "../src/write/lease.ts";
import { A, begin, madeLedger, noise, readAll, thisHolder } from "./made-store.ts";

const SELF = thisHolder();

const HOLDERS: readonly (readonly [string, Holder, boolean])[] = [
  ["this very process is live", SELF, true],
  ["a process of the same number that started at another time is not", { ...SELF, processStart: `${SELF.processStart}0` }, false],
  ["a number that no process has is not", { ...SELF, pid: 2 ** 22 + 1 }, false],
];

const BOOT = "0a0a0a0a-0b0b-4c0c-8d0d-0e0e0e0e0e0e";
const OTHER_BOOT = "1a1a1a1a-0b0b-4c0c-8d0d-0e0e0e0e0e0e";
const INITIAL = "pid:[4026531836]";
const MACHINE: ProcessPlace = { host: "here", machine: "m1", boot: BOOT, pidNamespace: INITIAL };
const CONTAINER: ProcessPlace = { ...MACHINE, pidNamespace: "pid:[4026532201]" };
const ELSEWHERE: ProcessPlace = { host: "here", machine: undefined, boot: undefined, pidNamespace: undefined };
const RUNNING: Holder = { pid: 7, host: "here", processStart: `${BOOT}:70`, door: "run", machine: "m1", pidNamespace: INITIAL };
const GONE: Holder = { ...RUNNING, pid: 8 };

const CHECKED: readonly (readonly [title: string, here: ProcessPlace, holder: Holder, live: boolean])[] = [
  ["a process with the same start time lives", MACHINE, RUNNING, true],
  ["a pid without a process is gone", MACHINE, GONE, false],
  ["under another host name the same machine can still check", MACHINE, { ...GONE, host: "renamed" }, false],
  ["on another machine nothing can be checked", MACHINE, { ...GONE, machine: "m2" }, true],
  ["in another PID namespace nothing can be checked", CONTAINER, GONE, true],
  ["in the same container it can", CONTAINER, { ...GONE, pidNamespace: "pid:[4026532201]" }, false],
  ["after a restart of the machine it is gone", MACHINE, { ...RUNNING, processStart: `${OTHER_BOOT}:70` }, false],
  [
    "another boot under another name is another machine of the same image",
    MACHINE,
    { ...GONE, host: "twin", processStart: `${OTHER_BOOT}:70` },
    true,
  ],
  [
    "another boot seen from a container may be a container elsewhere",
    CONTAINER,
    { ...GONE, pidNamespace: "pid:[4026532201]", processStart: `${OTHER_BOOT}:70` },
    true,
  ],
  [
    "an older record without a machine is checked by its boot",
    MACHINE,
    { pid: 8, host: "here", processStart: `${BOOT}:70`, door: "run" },
    false,
  ],
  ["without boot ids the same host name can be checked", ELSEWHERE, { pid: 8, host: "here", processStart: "noon", door: "run" }, false],
  ["without boot ids another host name cannot", ELSEWHERE, { pid: 8, host: "there", processStart: "noon", door: "run" }, true],
];

for (const [title, here, holder, live] of CHECKED) {
  test(`whether a holder lives: ${title}`, () => {
    const isLive = liveness(here, (pid) => (pid === 7 ? `${BOOT}:70` : undefined));
    assert.equal(isLive(holder), live);
  });
}

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
  const { machine, pidNamespace } = thisPlace();
  assert.deepEqual(rest, {
    epoch: lease.epoch,
    session: A,
    holder: { ...SELF, ...(machine && { machine }), ...(pidNamespace && { pidNamespace }) },
  });
  assert.match(`${device} ${inode}`, /^\d+ \d+$/);
});

test("the writer that was taken over is told by whom", async (t) => {
  const ledger = await madeLedger(t);
  const stale = await begin(ledger);
  await begin(ledger, A, true);
  await assert.rejects(stale.append(noise()), { type: "stale_writer", message: `This session was taken over by pid ${process.pid}.` });
});

test("a hold gives its lock back when the store cannot be read", async () => {
  const database = new DatabaseSync(":memory:");
  database.exec("create table sessions (session text, epoch integer)");
  let locks = 0;
  const hold = makeSessionHold({ database, paths: statePaths("/nonexistent") }, () => {
    locks += 1;
    return () => {
      locks -= 1;
    };
  });
  database.exec("drop table sessions");
  await assert.rejects(hold({ session: A, epoch: 1, head: 0, unclosed: false }), { type: "store_corrupt" });
  assert.equal(locks, 0);
});
