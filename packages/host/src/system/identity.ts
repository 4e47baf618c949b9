import { hostname, userInfo } from "node:os";
import type { Holder } from "@assent/core";
import { readProcessTable } from "../processes/table.ts";

/** Who runs this process, as the operating system says. A user without a name is known by number. */
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

/** This process as the holder of a session or store. */
export function currentHolder(door: string): Holder {
  return { pid: process.pid, host: hostname(), processStart: readProcessTable().find(process.pid)?.start ?? "unknown", door };
}
