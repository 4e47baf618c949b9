import { type Ledger, readRow } from "@assent/core";
import { callKey } from "@assent/guard";
import { nodeDigest } from "@assent/host";
import type { Notice } from "./notice.ts";

const MOST = 200;

/** Adds open approvals of the same guarded agent: each of its calls has a process of its own, but they are one message. */
export async function outsideSiblings(ledger: Ledger, notices: readonly Notice[]): Promise<readonly Notice[]> {
  const [first] = notices;
  const group = first && (await readRow(ledger, "sessions", first.session))?.group;
  if (!group) return notices;
  const { group: prefix } = callKey(nodeDigest, group, {});
  const known = new Set(notices.map(({ id }) => id));
  const open = await ledger.pending("approvals", { newestFirst: true, limit: MOST });
  const others = open.filter(({ id, session, state }) => state === "open" && session.startsWith(prefix) && !known.has(id));
  return [
    ...notices,
    ...others.map(({ id, session, requestedAt: at }): Notice => ({ event: "approval", kind: "approval", id, session, at })),
  ];
}
