import { setTimeout as delay } from "node:timers/promises";
import type { TaskProcess } from "@assent/core";
import { errorCode } from "./error-code.ts";
import { isSince, type ProcessRow, type ProcessTable } from "./process-table.ts";

/** How long the system is given to carry out a SIGKILL before the rest counts as surviving. */
const KILL_MS = 1000;

/** SIGTERM to the whole group, SIGKILL after the grace; answers who is left. */
export async function endGroup(pgid: number, graceMs: number, table: ProcessTable): Promise<readonly number[]> {
  if (!signalGroup(pgid, "SIGTERM") || (await emptied(pgid, graceMs, table))) return [];
  signalGroup(pgid, "SIGKILL");
  return (await emptied(pgid, KILL_MS, table)) ? [] : groupMembers(pgid, table);
}

const running = new Set<() => readonly number[]>();

/** Until the returned function is called, the groups that these are get ended with this process, if it ends at once. */
export function endWithUs(groups: () => readonly number[]): () => void {
  running.add(groups);
  return () => void running.delete(groups);
}

/** SIGKILL to every group that a program of this process may still run in: for a process that ends at once and waits for nobody. */
export function killRunningGroups(): void {
  for (const pgid of [...running].flatMap((groups) => groups())) signalGroup(pgid, "SIGKILL");
}

/** SIGTERM to a process and everything that descends from it, SIGKILL after the grace: for one that shares our group, as whoever uses our terminal must. */
export async function endFamily(pid: number, graceMs: number, table: ProcessTable): Promise<void> {
  const asked = table.family(pid);
  signalAll(asked, "SIGTERM");
  if (await gone(() => alive(asked, table).length === 0, graceMs)) return;
  const left = [...alive(asked, table), ...table.family(pid)];
  signalAll(left, "SIGKILL");
  await gone(() => alive(left, table).length === 0, KILL_MS);
}

function alive(rows: readonly ProcessRow[], table: ProcessTable): readonly ProcessRow[] {
  return rows.filter(({ pid, start }) => {
    const now = table.find(pid);
    return now !== undefined && !now.zombie && now.start === start;
  });
}

function signalAll(rows: readonly ProcessRow[], signal: NodeJS.Signals): void {
  for (const { pid } of rows) send(pid, signal);
}

/** The processes of a group that still run. */
export function groupMembers(pgid: number, table: ProcessTable): readonly number[] {
  return signalGroup(pgid, 0) ? table.members(pgid) : [];
}

/** Who is left of a group of an earlier process, and whether it is surely that group. */
export type LeftGroup = { readonly members: readonly number[]; readonly ours: boolean };

/**
 * A number is not given away while a group of that number has members. So a leader with another start time means that the old group is gone, and one with the
 * same, dead or alive, that it is the old one. Without a leader its members must be of the session that the leader began and must have started after it.
 */
export function leftOver({ pgid, processStart }: Pick<TaskProcess, "pgid" | "processStart">, table: ProcessTable): LeftGroup {
  const leader = table.find(pgid);
  const members = leader === undefined || leader.start === processStart ? groupMembers(pgid, table) : [];
  if (members.length === 0) return { members, ours: false };
  if (leader !== undefined) return { members, ours: true };
  const rows = members.flatMap((pid) => table.find(pid) ?? []);
  return { members, ours: rows.every(({ session, start }) => session === pgid && isSince(start, processStart)) };
}

function signalGroup(pgid: number, signal: NodeJS.Signals | 0): boolean {
  return send(-pgid, signal);
}

/** False: there is no such process or group. One of another user (EPERM) is there all the same. */
function send(target: number, signal: NodeJS.Signals | 0): boolean {
  try {
    process.kill(target, signal);
    return true;
  } catch (error) {
    if (errorCode(error) === "EPERM") return true;
    if (errorCode(error) === "ESRCH") return false;
    throw error;
  }
}

function emptied(pgid: number, ms: number, table: ProcessTable): Promise<boolean> {
  return gone(() => groupMembers(pgid, table).length === 0, ms);
}

/** The system tells nobody when processes that are not our children have ended, so it is asked in growing steps. */
async function gone(isGone: () => boolean, ms: number): Promise<boolean> {
  const deadline = performance.now() + ms;
  for (let pause = 2; !isGone(); pause = Math.min(pause * 2, 50)) {
    const left = deadline - performance.now();
    if (left <= 0) return false;
    await delay(Math.min(pause, Math.ceil(left)));
  }
  return true;
}
