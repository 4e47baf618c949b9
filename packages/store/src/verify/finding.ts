/** The types of findings, as they appear in JSON. */
export type FindingType =
  | "hash_mismatch"
  | "chain_break"
  | "gap"
  | "epoch_regression"
  | "illegal_event"
  | "missing_session"
  | "truncated"
  | "snapshot_mismatch"
  | "index_mismatch"
  | "blob_missing"
  | "blob_corrupt"
  | "store_restored"
  | "anchor_pruned"
  | "anchor_repaired"
  | "permissions"
  | "unknown_type"
  | "store_corrupt";

/** A problem that `verifyStore` found. */
export type Finding = {
  readonly severity: "error" | "warning";
  readonly type: FindingType;
  readonly session: string | null;
  readonly seq: number | null;
  readonly message: string;
  /** What to do about it. */
  readonly hint: string;
};

/** The newest event of a chain. */
export type Head = { readonly session: string; readonly seq: number; readonly hash: string };

const HINTS: Readonly<Record<FindingType, string>> = {
  hash_mismatch: "assent verify --repair",
  chain_break: "assent verify --repair",
  gap: "assent verify --repair",
  epoch_regression: "assent verify --repair",
  illegal_event: "assent verify --repair",
  missing_session: "Restore a backup, or accept the loss: assent verify --repair",
  truncated: "Restore a backup, or accept the loss: assent verify --repair",
  snapshot_mismatch: "It is not used. Find out who changed it, then remove it: assent verify --rebuild",
  index_mismatch: "assent verify --rebuild",
  blob_missing: "Restore a backup; the value is not used.",
  blob_corrupt: "Restore a backup; the value is not used.",
  store_restored: "The next command that opens the ledger cancels open approvals and unused answers.",
  anchor_pruned: "Nothing, if you know of the deletion: assent log --type store.pruned",
  anchor_repaired: "Nothing, if you know of the repair: assent log --type store.repaired",
  permissions: "The next command that opens the ledger corrects it.",
  unknown_type: "Open the session with the version of Assent that wrote it.",
  store_corrupt: "Restore a backup.",
};

/** These do not change the exit code. */
const WARNINGS: readonly FindingType[] = ["permissions", "unknown_type", "anchor_pruned", "anchor_repaired"];

export function finding(type: FindingType, place: { readonly session?: string; readonly seq?: number }, message: string): Finding {
  const severity = WARNINGS.includes(type) ? "warning" : "error";
  return { severity, type, session: place.session ?? null, seq: place.seq ?? null, message, hint: HINTS[type] };
}
