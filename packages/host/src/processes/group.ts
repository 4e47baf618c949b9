import { setTimeout as delay } from "node:timers/promises";
import { errorCode, type Holder, type TaskProcess } from "@assent/core";
import { ignoreCodes } from "../system/ignore-codes.ts";
import { findStrays, type Lineage } from "./lineage.ts";
import { isSince, type ProcessRow, type ProcessTable, readProcessTable } from "./table.ts";

const KILL_MS = 1000;

/** Sends SIGTERM to the groups and strays, SIGKILL after the grace period; returns survivors. */
export async function endLineage(lineage: Lineage, graceMs: number, table: ProcessTable): Promise<readonly number[]> {
  const strays: ProcessRow[] = [];
  const members = (): readonly number[] => lineage.groups.flatMap((group) => groupMembers(group, table));
  /** Looks for strays while their parents can still name them, and again afterwards. */
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

/** Ends these programs if this process ends abruptly, until the returned function is called. */
export function endWithProcess(lineage: () => Lineage): () => void {
  runningLineages.add(lineage);
  return () => void runningLineages.delete(lineage);
}

/** Sends SIGKILL to every running group and stray; for a process that exits at once. */
export function killRunningGroups(): void {
  if (runningLineages.size === 0) return;
  const table = readProcessTable();
  const all = [...runningLineages].map((lineage) => lineage());
  const lineage = { groups: all.flatMap(({ groups }) => groups), marks: all.flatMap(({ marks }) => marks) };
  const strays = findStrays(lineage, table);
  for (const group of lineage.groups) signalGroup(group, "SIGKILL");
  signalAll(strays, "SIGKILL", table);
  signalAll(findStrays(lineage, table), "SIGKILL", table); // those that started in between
}

/** Ends a process and its descendants, for one that shares our process group. */
export async function endFamily(pid: number, graceMs: number, table: ProcessTable): Promise<void> {
  const asked = table.family(pid);
  signalAll(asked, "SIGTERM", table);
  if (await waitUntilGone(() => stillAlive(asked, table).length === 0, graceMs)) return;
  const left = [...stillAlive(asked, table), ...table.family(pid)];
  signalAll(left, "SIGKILL", table);
  await waitUntilGone(() => stillAlive(left, table).length === 0, KILL_MS);
}

/** Grace periods for a holder; a stopped process reacts only to SIGKILL. */
const HOLDER_SIGNALS = [
  ["SIGTERM", 1_000],
  ["SIGKILL", 5_000],
] as const;

/** Ends a holder's process on this machine. False if it is this process, belongs to another user, or could not be ended. */
export async function endHolder({ pid, processStart }: Holder): Promise<boolean> {
  const table = readProcessTable();
  const isGone = (): boolean => stillAlive([{ pid, start: processStart }], table).length === 0;
  if (pid === process.pid) return false;
  for (const [signal, graceMs] of HOLDER_SIGNALS) {
    if (isGone() || !maySignal(pid)) break;
    sendSignal(pid, signal);
    await waitUntilGone(isGone, graceMs);
  }
  return isGone();
}

/** False if the process is gone or belongs to another user. */
function maySignal(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return ignoreCodes("ESRCH", "EPERM")(error) ?? false;
  }
}

type ProcessIdentity = Pick<ProcessRow, "pid" | "start">;

function stillAlive<Row extends ProcessIdentity>(rows: readonly Row[], table: ProcessTable): readonly Row[] {
  return rows.filter(({ pid, start }) => {
    const now = table.find(pid);
    return now !== undefined && !now.zombie && now.start === start;
  });
}

/** Skips process ids that were reused. */
function signalAll(rows: readonly ProcessRow[], signal: NodeJS.Signals, table: ProcessTable): void {
  for (const { pid } of stillAlive(rows, table)) sendSignal(pid, signal);
}

export function groupMembers(pgid: number, table: ProcessTable): readonly number[] {
  return signalGroup(pgid, 0) ? table.members(pgid) : [];
}

/** Members of an earlier process's group, and whether it surely is that group. */
export type LeftGroup = { readonly members: readonly number[]; readonly ours: boolean };

/**
 * A group id is not reused while the group has members. Another start time of the leader means that the old group is gone. Without a leader, members
 * must belong to its session and be younger.
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

/** False if it does not exist. EPERM means that it exists. */
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

/** Waits until a process on this machine is gone or a zombie. */
export async function waitUntilProcessGone(pid: number, ms: number): Promise<boolean> {
  const table = readProcessTable();
  return await waitUntilGone(() => table.find(pid)?.zombie !== false, ms);
}

/** Polls, because the system does not report processes that are not our children. */
async function waitUntilGone(isGone: () => boolean, ms: number): Promise<boolean> {
  const deadline = performance.now() + ms;
  for (let pause = 2; !isGone(); pause = Math.min(pause * 2, 50)) {
    const left = deadline - performance.now();
    if (left <= 0) return false;
    await delay(Math.min(pause, Math.ceil(left)));
  }
  return true;
}
