import { setTimeout as delay } from "node:timers/promises";
import type { TaskProcess } from "@assent/core";
import { errorCode } from "../system/error-code.ts";
import { findStrays, type Lineage } from "./lineage.ts";
import { isSince, type ProcessRow, type ProcessTable, readProcessTable } from "./table.ts";

/** How long the system is given to carry out a SIGKILL before the rest counts as surviving. */
const KILL_MS = 1000;

/** SIGTERM to the groups of programs and to whoever of theirs left these, SIGKILL after the grace; answers who is left. */
export async function endLineage(lineage: Lineage, graceMs: number, table: ProcessTable): Promise<readonly number[]> {
  const strays: ProcessRow[] = [];
  const members = (): readonly number[] => lineage.groups.flatMap((group) => groupMembers(group, table));
  /** Looks for strays while their parents can still name them, and again when all that are known have gone. */
  const signalStrays = (signal: NodeJS.Signals): boolean => {
    const found = findStrays(lineage, table);
    signalAll(found, signal, table);
    strays.push(...found);
    return found.length > 0;
  };
  const left = (): readonly number[] => [...members(), ...stillAlive(strays, table).map(({ pid }) => pid)];
  const isOver = (signal: NodeJS.Signals): boolean => left().length === 0 && !signalStrays(signal);

  signalStrays("SIGTERM");
  for (const group of lineage.groups) signalGroup(group, "SIGTERM");
  if (await waitUntilGone(() => isOver("SIGTERM"), graceMs)) return [];
  signalAll(strays, "SIGKILL", table);
  signalStrays("SIGKILL");
  for (const group of lineage.groups) signalGroup(group, "SIGKILL");
  return (await waitUntilGone(() => isOver("SIGKILL"), KILL_MS)) ? [] : [...new Set(left())];
}

const runningLineages = new Set<() => Lineage>();

/** Until the returned function is called, the programs that these are get ended with this process, if it ends at once. */
export function endWithProcess(lineage: () => Lineage): () => void {
  runningLineages.add(lineage);
  return () => void runningLineages.delete(lineage);
}

/** SIGKILL to every group that a program of this process may still run in, and to whoever left these: for a process that ends at once and waits for nobody. */
export function killRunningGroups(): void {
  if (runningLineages.size === 0) return;
  const table = readProcessTable();
  const all = [...runningLineages].map((lineage) => lineage());
  const lineage = { groups: all.flatMap(({ groups }) => groups), marks: all.flatMap(({ marks }) => marks) };
  const strays = findStrays(lineage, table);
  for (const group of lineage.groups) signalGroup(group, "SIGKILL");
  signalAll(strays, "SIGKILL", table);
  signalAll(findStrays(lineage, table), "SIGKILL", table); // what began in between
}

/** SIGTERM to a process and everything that descends from it, SIGKILL after the grace: for one that shares our group, as whoever uses our terminal must. */
export async function endFamily(pid: number, graceMs: number, table: ProcessTable): Promise<void> {
  const asked = table.family(pid);
  signalAll(asked, "SIGTERM", table);
  if (await waitUntilGone(() => stillAlive(asked, table).length === 0, graceMs)) return;
  const left = [...stillAlive(asked, table), ...table.family(pid)];
  signalAll(left, "SIGKILL", table);
  await waitUntilGone(() => stillAlive(left, table).length === 0, KILL_MS);
}

function stillAlive(rows: readonly ProcessRow[], table: ProcessTable): readonly ProcessRow[] {
  return rows.filter(({ pid, start }) => {
    const now = table.find(pid);
    return now !== undefined && !now.zombie && now.start === start;
  });
}

/** A number that was given to another process since is not signalled. */
function signalAll(rows: readonly ProcessRow[], signal: NodeJS.Signals, table: ProcessTable): void {
  for (const { pid } of stillAlive(rows, table)) sendSignal(pid, signal);
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
export function findLeftGroup({ pgid, processStart }: Pick<TaskProcess, "pgid" | "processStart">, table: ProcessTable): LeftGroup {
  const leader = table.find(pgid);
  const members = leader === undefined || leader.start === processStart ? groupMembers(pgid, table) : [];
  if (members.length === 0) return { members, ours: false };
  if (leader !== undefined) return { members, ours: true };
  const rows = members.flatMap((pid) => table.find(pid) ?? []);
  return { members, ours: rows.every(({ session, start }) => session === pgid && isSince(start, processStart)) };
}

function signalGroup(pgid: number, signal: NodeJS.Signals | 0): boolean {
  return sendSignal(-pgid, signal);
}

/** False: there is no such process or group. One of another user (EPERM) is there all the same. */
function sendSignal(target: number, signal: NodeJS.Signals | 0): boolean {
  try {
    process.kill(target, signal);
    return true;
  } catch (error) {
    if (errorCode(error) === "EPERM") return true;
    if (errorCode(error) === "ESRCH") return false;
    throw error;
  }
}

/** The system tells nobody when processes that are not our children have ended, so it is asked in growing steps. */
async function waitUntilGone(isGone: () => boolean, ms: number): Promise<boolean> {
  const deadline = performance.now() + ms;
  for (let pause = 2; !isGone(); pause = Math.min(pause * 2, 50)) {
    const left = deadline - performance.now();
    if (left <= 0) return false;
    await delay(Math.min(pause, Math.ceil(left)));
  }
  return true;
}
