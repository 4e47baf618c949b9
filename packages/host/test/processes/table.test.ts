import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { symlinkSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { withoutProgram } from "../../../../test/support/programs.ts";
import { readProcessTable } from "../../src/processes/table.ts";
import { scratch } from "../scratch.ts";

const noPs = withoutProgram("ps");
const TABLES = [
  ["/proc", readProcessTable(), false],
  ["ps", readProcessTable("/proc/nonexistent"), noPs],
] as const;

for (const [source, table, skip] of TABLES) {
  test(`${source}: a live process has a group and a start time that does not change`, { skip }, () => {
    const row = table.find(process.pid);
    assert.equal(row?.pid, process.pid);
    assert.equal(row?.zombie, false);
    assert.ok(row && row.start.length > 0);
    assert.deepEqual(table.find(process.pid), row);
    assert.ok(table.members(row.pgid).includes(process.pid));
  });

  test(`${source}: a process and what descends from it`, { skip }, async () => {
    const child = spawn("/bin/bash", ["-c", "(sleep 60 & echo $!; sleep 60) & echo $!; wait"], { stdio: ["ignore", "pipe", "ignore"] });
    const told: number[] = [];
    for await (const chunk of child.stdout) {
      told.push(...String(chunk).trim().split("\n").map(Number));
      if (told.length === 2) break;
    }
    const pids = table.family(child.pid ?? 0).map(({ pid }) => pid);
    for (const pid of pids) process.kill(pid, "SIGKILL");
    for (const pid of [child.pid ?? 0, ...told]) assert.ok(pids.includes(pid), `${pid} is not in ${pids}`);
    assert.ok(!pids.includes(process.pid));
  });

  test(`${source}: a process that is gone is not found`, { skip }, async () => {
    const child = spawn("true", { stdio: "ignore" });
    await once(child, "exit");
    assert.ok(child.pid);
    assert.equal(table.find(child.pid), undefined);
  });

  test(`${source}: a process whose name looks like fields of the table is read right`, { skip }, async (t) => {
    const name = join(scratch(t), "x) Z 1 (y");
    symlinkSync("/bin/sleep", name);
    const child = spawn(name, ["60"], { stdio: "ignore", detached: true });
    await once(child, "spawn");
    assert.ok(child.pid);
    const row = table.find(child.pid);
    const members = table.members(child.pid);
    child.kill("SIGKILL");
    await once(child, "exit");
    assert.deepEqual([row?.pgid, row?.zombie, members], [child.pid, false, [child.pid]]);
  });
}

test("both sources agree on who is in a group", { skip: noPs }, () => {
  const [[, proc], [, ps]] = TABLES;
  const pgid = proc.find(process.pid)?.pgid ?? 0;
  assert.equal(ps.find(process.pid)?.pgid, pgid);
});
