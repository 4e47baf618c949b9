import { setTimeout as delay } from "node:timers/promises";
import { errorCode } from "./error-code.ts";
import type { ProcessTable } from "./process-table.ts";

/** How long the system is given to carry out a SIGKILL before the rest counts as surviving. */
const KILL_MS = 1000;

/** SIGTERM to the whole group, SIGKILL after the grace; answers who is left. */
export async function endGroup(pgid: number, graceMs: number, table: ProcessTable): Promise<readonly number[]> {
  if (!signalGroup(pgid, "SIGTERM") || (await emptied(pgid, graceMs, table))) return [];
  signalGroup(pgid, "SIGKILL");
  return (await emptied(pgid, KILL_MS, table)) ? [] : groupMembers(pgid, table);
}

/** The processes of a group that still run. */
export function groupMembers(pgid: number, table: ProcessTable): readonly number[] {
  return signalGroup(pgid, 0) ? table.members(pgid) : [];
}

/** False: no such group. A member of another user (EPERM) is there all the same. */
function signalGroup(pgid: number, signal: NodeJS.Signals | 0): boolean {
  try {
    process.kill(-pgid, signal);
    return true;
  } catch (error) {
    if (errorCode(error) === "EPERM") return true;
    if (errorCode(error) === "ESRCH") return false;
    throw error;
  }
}

/** The system tells nobody when a group is empty, so it is asked in growing steps. */
async function emptied(pgid: number, ms: number, table: ProcessTable): Promise<boolean> {
  const deadline = performance.now() + ms;
  for (let pause = 2; groupMembers(pgid, table).length > 0; pause = Math.min(pause * 2, 50)) {
    const left = deadline - performance.now();
    if (left <= 0) return false;
    await delay(Math.min(pause, Math.ceil(left)));
  }
  return true;
}
