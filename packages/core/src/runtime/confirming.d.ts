import type { ConfirmationDetails } from "../model/confirmation.ts";
import type { BatchRun, CallRun } from "./call-run.ts";
import type { Ready } from "./judge.ts";
/** What the person is shown. An author's `confirm` that throws or takes too long leaves the plain description, with a warning: the call still asks. */
export declare function confirmationOf(batch: BatchRun, run: CallRun, ready: Ready): Promise<ConfirmationDetails>;
