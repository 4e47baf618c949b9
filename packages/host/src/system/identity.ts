import { hostname, userInfo } from "node:os";
import type { Holder } from "@assent/core";
import { readProcessTable } from "../processes/table.ts";

/** The user and host of this process; a user without a name is known by number. */
export function currentUser(): { readonly user: string; readonly host: string } {
  return { user: currentUserName(), host: hostname() };
}

function currentUserName(): string {
  try {
    return userInfo().username;
  } catch (error) {
    const uid = process.getuid?.();
    if (uid === undefined) throw error;
    return `uid ${uid}`;
  }
}

/** This process as a holder of sessions. */
export function currentHolder(door: string): Holder {
  return { pid: process.pid, host: hostname(), processStart: readProcessTable().find(process.pid)?.start ?? "unknown", door };
}
