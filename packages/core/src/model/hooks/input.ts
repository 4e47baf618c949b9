import type { JsonObject } from "../json/json.ts";
import type { Kind } from "../kind.ts";
import type { Content } from "../result/result.ts";
import { hookPointNamed, sharedHookName } from "./event-table.ts";
import { sharedToolName } from "./tool-names.ts";

/** Where a hook's event happens; the hook runner fills in a missing cwd and the time. */
export type HookSession = {
  readonly sessionId: string;
  readonly transcriptPath?: string;
  readonly cwd?: string;
  readonly mode: string;
  readonly agentName?: string;
};

/** The call an event is about, under our own names. */
export type HookCall = {
  /** Our name of the event; defaults to `pre_tool_use`. */
  readonly event?: string;
  readonly callId: string;
  readonly tool: string;
  readonly kind: Kind;
  readonly input?: JsonObject;
};

/** A call's result, for the events after it. */
export type HookResult = {
  readonly content: Content;
  readonly durationMs: number;
  readonly error?: { readonly message: string; readonly type?: string };
  /** A person or the run cancelled it while it ran. */
  readonly interrupted?: boolean;
};

/** Builds the object a hook reads about a call: the shared contract's names beside our own. */
export function toolHookInput(session: HookSession, call: HookCall): JsonObject {
  const server = /^mcp__([A-Za-z0-9-]+(?:_[A-Za-z0-9-]+)*)__./.exec(call.tool)?.[1];
  return {
    ...sessionHookInput(session, call.event ?? "pre_tool_use"),
    tool_name: sharedToolName(call.tool),
    tool: call.tool,
    tool_use_id: call.callId,
    tool_kind: call.kind,
    tool_input: call.input ?? {},
    ...(server !== undefined && { mcp_server: { name: server } }),
  };
}

/** Builds what a hook reads when all calls of a batch have ended. */
export function batchHookInput(
  session: HookSession,
  calls: readonly (Omit<HookCall, "kind" | "event"> & { readonly type: string | null })[],
): JsonObject {
  const told = calls.map(({ tool, callId, input, type }) => ({
    tool_name: sharedToolName(tool),
    tool,
    tool_use_id: callId,
    tool_input: input ?? {},
    type,
  }));
  return { ...sessionHookInput(session, "post_tool_batch"), tool_calls: told };
}

/** Builds what a hook reads about an event without a call; the caller adds the event's own fields. */
export function sessionHookInput(session: HookSession, event: string): JsonObject {
  const point = hookPointNamed(event);
  return {
    session_id: session.sessionId,
    transcript_path: session.transcriptPath ?? "",
    ...(session.cwd !== undefined && { cwd: session.cwd }),
    hook_event_name: point ? sharedHookName(point) : event,
    permission_mode: sharedMode(session.mode),
    mode: session.mode,
    agent_name: session.agentName ?? "",
  };
}

/** Builds what a hook reads after a call; the event defaults to that for success or failure. */
export function postToolHookInput(session: HookSession, call: HookCall, result: HookResult): JsonObject {
  const { content, durationMs, error } = result;
  const event = call.event ?? (error ? "post_tool_use_failure" : "post_tool_use");
  return {
    ...toolHookInput(session, { ...call, event }),
    tool_response: content,
    tool_error: error !== undefined,
    duration_ms: durationMs,
    ...(error && { error: error.message, error_type: error.type ?? "unknown", is_interrupt: result.interrupted === true }),
  };
}

/** The name of one of our modes in the shared hook contract. */
export function sharedMode(mode: string): string {
  return SHARED_MODES.get(mode) ?? "default";
}

const SHARED_MODES: ReadonlyMap<string, string> = new Map([
  ["default", "default"],
  ["plan", "plan"],
  ["auto-edit", "acceptEdits"],
  ["yolo", "bypassPermissions"],
]);
