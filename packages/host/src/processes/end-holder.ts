import { setTimeout as wait } from "node:timers/promises";
import type { Holder } from "@assent/core";
import { errorCode } from "../system/error-code.ts";
import { readProcessTable } from "./table.ts";

const POLL_MS = 20;
/** Signals and waits; a stopped process reacts only to SIGKILL. */
const SIGNALS = [
  ["SIGTERM", 1_000],
  ["SIGKILL", 5_000],
] as const;

/** Ends a holder's process on this machine. False if it is this process or could not be ended. */
export async function endHolder({ pid, processStart }: Holder): Promise<boolean> {
  const table = readProcessTable();
  const isGone = (): boolean => {
    const row = table.find(pid);
    return row === undefined || row.zombie || row.start !== processStart;
  };
  if (pid === process.pid) return false;
  for (const [signal, graceMs] of SIGNALS) {
    if (isGone() || !sendSignal(pid, signal)) break;
    for (let left = graceMs; left > 0 && !isGone(); left -= POLL_MS) await wait(POLL_MS);
  }
  return isGone();
}

/** False if the process is gone or belongs to another user. */
function sendSignal(pid: number, signal: NodeJS.Signals): boolean {
  try {
    return process.kill(pid, signal);
  } catch (error) {
    if (errorCode(error) === "ESRCH" || errorCode(error) === "EPERM") return false;
    throw error;
  }
}
