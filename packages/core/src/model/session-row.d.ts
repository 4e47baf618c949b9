import type { LedgerEvent } from "./events.ts";
import type { ApprovalRow, SessionRow } from "./ledger-rows.ts";
/**
 * The session's row after an event of its chain, or of the shared chain where it names the session.
 * `opened` is the change in the number of its open approvals, from `openedBy`.
 */
export declare function nextSessionRow(row: SessionRow | undefined, event: LedgerEvent, opened?: number): SessionRow;
/** By how much an approval's change changes the number of open ones: 1, 0 or -1. */
export declare function openedBy(before: ApprovalRow | undefined, after: ApprovalRow): number;
/** The session as it stands when its writer is or is not alive: one that did not close and has no writer was interrupted. */
export declare function sessionAt(row: SessionRow, writerLives: boolean): SessionRow;
