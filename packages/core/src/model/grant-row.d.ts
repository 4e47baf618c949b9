import type { LedgerEvent } from "./events.ts";
import type { GrantRow, SharedDraft } from "./ledger-rows.ts";
/** The grant's row after its creation, a use or its end. */
export declare function nextGrantRow(row: GrantRow | undefined, event: LedgerEvent): GrantRow;
/** The grant as it stands at a time: a deadline needs no event. */
export declare function grantAt(row: GrantRow, now: string): GrantRow;
/** May this grant event be stored now? "stands": it is revoked, used up or expired, or exists already. */
export declare function grantRefusal(row: GrantRow | undefined, event: SharedDraft, now: string): "grant_not_found" | "stands" | undefined;
/** True when the deadline is not after `now`; both are ISO 8601 in UTC with milliseconds, so they compare as text. */
export declare function hasPassed(deadline: string | null, now: string): boolean;
