import type { JsonObject } from "./json.ts";
import type { Kind } from "./kind.ts";
import type { Content } from "./result.ts";
/** Where a hook's event happens. An absent cwd is filled in by whoever runs the hook, as the time is. */
export type HookSession = {
  readonly sessionId: string;
  readonly transcriptPath?: string;
  readonly cwd?: string;
  readonly mode: string;
  readonly agentName?: string;
};
/** The call an event is about, under our own names. */
export type HookCall = {
  /** Our name of the event; `pre_tool_use` when absent. */
  readonly event?: string;
  readonly callId: string;
  readonly tool: string;
  readonly kind: Kind;
  /** Absent: the call has no arguments. */
  readonly input?: JsonObject;
};
/** What a call gave, for the events after it. */
export type HookResult = {
  readonly content: Content;
  readonly durationMs: number;
  readonly error?: {
    readonly message: string;
    readonly type?: string;
  };
  /** A person or the run cancelled it while it ran. */
  readonly interrupted?: boolean;
};
/** The object a hook reads about a call: names of the shared hook contract beside our own. */
export declare function toolHookInput(session: HookSession, call: HookCall): JsonObject;
/** What a hook reads when all calls of a batch have ended. */
export declare function batchHookInput(
  session: HookSession,
  calls: readonly (Omit<HookCall, "kind" | "event"> & {
    readonly type: string | null;
  })[],
): JsonObject;
/** The same after the call ended. Without an event of its own it is the one for success or failure. */
export declare function postToolHookInput(session: HookSession, call: HookCall, result: HookResult): JsonObject;
