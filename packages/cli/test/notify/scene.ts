import { type Draft, type EventBodies, type Ledger, memoryLedger } from "@assent/core";
import { closedSessionDraft, createdDraft, judgedDraft, openedDraft, proposedDraft } from "@assent/core/testing";
import { currentHolder } from "@assent/host";
import type { Notice } from "../../src/notify/notice.ts";

export const SESSION = "s_aaaaaaaaaaaaaaaaaaaa";

export type Scene = {
  readonly ledger: Ledger;
  /** Opens `a_CALL`. */
  readonly open: (call: string, over?: Partial<EventBodies["approval.opened"]>) => Promise<void>;
  readonly append: (...events: readonly Draft[]) => Promise<void>;
  readonly close: (reason?: EventBodies["session.closed"]["reason"]) => Promise<void>;
};

/** A session whose calls ask, in a ledger of its own unless one is given. */
export async function scene(
  over: Partial<EventBodies["session.created"]> = {},
  { ledger, id }: { readonly ledger: Ledger; readonly id: string } = { ledger: memoryLedger(), id: SESSION },
): Promise<Scene> {
  const lease = await ledger.acquire(id, currentHolder("run"));
  let { head } = lease;
  const append: Scene["append"] = async (...events) => {
    const stored = await ledger.append(lease, head, { events, durability: "normal" });
    head = stored.at(-1)?.seq ?? head;
  };
  await append(createdDraft(over));
  return {
    ledger,
    append,
    open: (call, opened = {}) => append(proposedDraft(call), judgedDraft(call, { verdict: "ask" }), openedDraft(call, opened)),
    close: (reason = "parked") => append(closedSessionDraft(reason)),
  };
}

export function notices(...calls: readonly string[]): readonly Notice[] {
  return calls.map((call) => ({ event: "approval", kind: "approval", id: `a_${call}`, session: SESSION, at: "" }));
}
