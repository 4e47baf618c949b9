import type { SharedDraft } from "../ledger-port.ts";
import type { BatchRun, CallRun } from "./call-run.ts";
import type { Session } from "./session.ts";
/** Closes the call's approval, if one is open or its yes is unused; whoever was first stands. */
export declare function closeApproval(batch: BatchRun, run: CallRun, outcome: "expired" | "cancelled" | "denied"): Promise<void>;
/** Puts one event before the shared chain's compare-and-set; when this resolves, whoever won is folded. */
export declare function settleShared(session: Session, event: SharedDraft): Promise<void>;
