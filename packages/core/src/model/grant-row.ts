import type { LedgerEvent } from "./events.ts";
import { IllegalEvent } from "./fold.ts";
import type { GrantRow, SharedDraft } from "./ledger-rows.ts";

/** The grant's row after an event. */
export function nextGrantRow(row: GrantRow | undefined, event: LedgerEvent): GrantRow {
  if (event.type === "grant.created" && row === undefined) return createdGrant(event);
  if (row !== undefined && event.type === "grant.revoked") return { ...row, state: "revoked" };
  if (row?.usesLeft === undefined || row.usesLeft < 1 || event.type !== "grant.used") throw new IllegalEvent(event, row?.state ?? "none");
  return { ...row, usesLeft: row.usesLeft - 1, state: row.usesLeft === 1 ? "used_up" : row.state };
}

function createdGrant({ at, body }: LedgerEvent<"grant.created">): GrantRow {
  const { grant, approval, uses, ...made } = body;
  return {
    ...made,
    id: grant,
    fromApproval: approval,
    madeAt: at,
    state: uses === 0 ? "used_up" : "active",
    ...(uses !== undefined && { usesLeft: uses }),
  };
}

/** A deadline passes without an event. */
export function grantRowAt(row: GrantRow, now: string): GrantRow {
  return row.state === "active" && hasPassed(row.expiresAt ?? null, now) ? { ...row, state: "expired" } : row;
}

/** Why a grant event cannot be stored; "too_late" means that the grant has ended or already exists. */
export function grantRefusal(row: GrantRow | undefined, event: SharedDraft, now: string): "grant_not_found" | "too_late" | undefined {
  switch (event.type) {
    case "grant.created":
      return row && "too_late";
    case "grant.revoked":
      return row ? (row.state === "revoked" ? "too_late" : undefined) : "grant_not_found";
    case "grant.used":
      return row ? (grantRowAt(row, now).state === "active" ? undefined : "too_late") : "grant_not_found";
    default:
      return undefined;
  }
}

/** ISO 8601 times in UTC compare as text. */
export function hasPassed(deadline: string | null, now: string): boolean {
  return deadline !== null && deadline <= now;
}
