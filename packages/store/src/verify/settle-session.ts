import { hostname } from "node:os";
import { mayBeUnderWay } from "@assent/core";
import type { OpenStore } from "../open/open-store.ts";
import { splitCallKey } from "../rows/rows.ts";
import { stageShared } from "../write/append.ts";
import { acquire } from "../write/lease.ts";
import { makeDraft, prepareEvent } from "../write/staging.ts";
import type { Scan } from "./scan.ts";

const UNCLEAR =
  "It is unknown whether this call ran: its record was damaged. It was not repeated.\nCheck the present state before you decide what to do.";

/** Answers and ends may be among the lost events. Call it in a transaction. */
export function settleSession({ writing, place: { device, inode }, time }: OpenStore, { rows }: Scan, session: string): void {
  const at = time();
  const holder = { pid: process.pid, host: hostname(), processStart: "repair", door: "verify" };
  const { epoch } = acquire(writing, {
    session,
    holder,
    takeOver: true,
    isLive: () => false,
    lock: () => true,
    place: { device, inode },
    at,
  });
  for (const { row } of rows.all.approvals.values()) {
    const { id: approval, call, revision, state, consumed } = row;
    if (row.session !== session || (state !== "open" && (state !== "approved" || consumed))) continue;
    stageShared(
      writing,
      makeDraft("approval.closed", { approval, session, call, revision, outcome: "cancelled", by: "store_repaired" }, at),
    );
  }
  for (const [key, entry] of rows.all.calls) {
    const { session: owner, call } = splitCallKey(key);
    if (owner === session && entry.row) writing.stage(session, epoch, endedEvent(call, mayBeUnderWay(entry.row), at));
  }
}

function endedEvent(call: string, claimed: boolean, at: string): ReturnType<typeof prepareEvent> {
  const outcome = claimed
    ? ({ outcome: "unknown", type: "execution_unknown" } as const)
    : ({ outcome: "cancelled", type: "store_repaired" } as const);
  return prepareEvent(
    makeDraft("call.ended", { call, ...outcome, content: UNCLEAR, durationMs: 0, evidence: { repaired: true } }, at),
    () => true,
  );
}
