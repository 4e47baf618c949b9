import type { JsonObject } from "../model/json.ts";
import type { NotificationSource } from "../model/notification-source.ts";
import type { HookNotice } from "../ports.ts";
import type { BatchRun, CallRun } from "./call-run.ts";
import type { Ready } from "./judge.ts";
/** A final verdict and the stable words for who gave it. */
export type Notifying = {
  readonly ready: Ready;
  readonly source: NotificationSource;
};
/** Tells observers and hooks that the verdict on this call is final: once per call, whatever else happens to it. */
export declare function notify(batch: BatchRun, run: CallRun, notifying: Notifying): void;
/** The same for a call that was cancelled before there was a verdict. */
export declare function notifyUnjudged(batch: BatchRun, run: CallRun, { decision, source }: NotificationSource): void;
/** Hooks that are only told change nothing, whatever they do. */
export declare function tell(batch: BatchRun, event: HookNotice, input: () => JsonObject): void;
