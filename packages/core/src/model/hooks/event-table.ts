import type { Verdict } from "../decision.ts";

/** Events at which hooks can influence what happens. */
export type HookEvent =
  | "pre_tool_use"
  | "permission_request"
  | "tool_response_transform"
  | "post_tool_use"
  | "post_tool_use_failure"
  | "post_tool_batch"
  | "user_prompt_submit"
  | "session_start"
  | "turn_start"
  | "stop"
  | "subagent_start"
  | "subagent_stop"
  | "pre_compact";

/** Events that hooks only observe. */
export type HookNotice =
  | "permission_denied"
  | "on_tool_approval_decision"
  | "on_user_input"
  | "session_end"
  | "turn_end"
  | "post_compact"
  | "notification"
  | "on_error"
  | "on_agent_switch"
  | "config_change";

/** Every event a hook can be configured for, by our own name. */
export type HookPoint = HookEvent | HookNotice;

/** What a hook can do at one event. */
export type HookEventRow = {
  /** The name in the hook contract shared by coding agents, if it has one. */
  readonly shared?: string;
  /** The input fields a matcher is compared with; empty if there is nothing to match on. */
  readonly matchesOn: readonly string[];
  /** What a block does: prevents the action, keeps the agent working, is passed to the model, or nothing. */
  readonly blocks: "prevents" | "holds" | "feedback" | "no";
  /** What a failure does: denies, counts as no opinion and voids every allow, withholds the output, or only warns. */
  readonly failsClosed: "deny" | "no_opinion" | "withhold" | "no";
  readonly rewrites: "input" | "result" | "no";
  readonly decides: readonly Verdict[];
  readonly context: boolean;
};

const TOOL = ["tool", "tool_name"] as const;
const OBSERVES = { matchesOn: [], blocks: "no", failsClosed: "no", rewrites: "no", decides: [], context: false } as const;
const ADDS_CONTEXT = { ...OBSERVES, context: true } as const;
const GIVES_FEEDBACK = { ...ADDS_CONTEXT, blocks: "feedback" } as const;
const PREVENTS = { ...ADDS_CONTEXT, blocks: "prevents", failsClosed: "deny" } as const;
const KEEPS_RUNNING = { ...ADDS_CONTEXT, blocks: "holds" } as const;

/** All hook events in the order of a run, with what hooks can do there. */
export const HOOK_EVENTS: Readonly<Record<HookPoint, HookEventRow>> = Object.freeze({
  pre_tool_use: { ...PREVENTS, shared: "PreToolUse", matchesOn: TOOL, rewrites: "input", decides: ["allow", "ask", "deny"] },
  permission_request: {
    ...PREVENTS,
    shared: "PermissionRequest",
    matchesOn: TOOL,
    failsClosed: "no_opinion",
    rewrites: "input",
    decides: ["allow", "deny"],
    context: false,
  },
  tool_response_transform: { ...OBSERVES, matchesOn: TOOL, failsClosed: "withhold", rewrites: "result" },
  post_tool_use: { ...GIVES_FEEDBACK, shared: "PostToolUse", matchesOn: TOOL },
  post_tool_use_failure: { ...GIVES_FEEDBACK, shared: "PostToolUseFailure", matchesOn: TOOL },
  post_tool_batch: { ...GIVES_FEEDBACK, shared: "PostToolBatch" },
  user_prompt_submit: { ...PREVENTS, shared: "UserPromptSubmit" },
  session_start: { ...ADDS_CONTEXT, shared: "SessionStart", matchesOn: ["source"] },
  turn_start: ADDS_CONTEXT,
  stop: { ...KEEPS_RUNNING, shared: "Stop" },
  subagent_start: { ...PREVENTS, shared: "SubagentStart", matchesOn: ["agent_type"] },
  subagent_stop: { ...KEEPS_RUNNING, shared: "SubagentStop", matchesOn: ["agent_type"] },
  pre_compact: { ...PREVENTS, shared: "PreCompact", matchesOn: ["trigger"] },
  permission_denied: { ...OBSERVES, shared: "PermissionDenied", matchesOn: TOOL },
  on_tool_approval_decision: { ...OBSERVES, matchesOn: TOOL },
  on_user_input: { ...OBSERVES, matchesOn: ["label"] },
  session_end: { ...OBSERVES, shared: "SessionEnd", matchesOn: ["reason"] },
  turn_end: { ...OBSERVES, matchesOn: ["reason"] },
  post_compact: { ...OBSERVES, shared: "PostCompact", matchesOn: ["trigger"] },
  notification: { ...OBSERVES, shared: "Notification", matchesOn: ["notification_type"] },
  on_error: { ...OBSERVES, shared: "StopFailure", matchesOn: ["error_type"] },
  on_agent_switch: { ...OBSERVES, matchesOn: ["to_agent"] },
  config_change: { ...OBSERVES, shared: "ConfigChange", matchesOn: ["source"] },
});

/** How often in a row hooks may keep an agent from finishing, by default. */
export const STOP_HOOK_LIMIT = 8;

const BY_NAME: ReadonlyMap<string, HookPoint> = new Map(
  listPoints().flatMap((point) => [[point, point] as const, [sharedHookName(point), point]]),
);

/** Finds the event for a name in either spelling. */
export function hookPointNamed(name: string): HookPoint | undefined {
  return BY_NAME.get(name);
}

/** The event's shared name, or ours if there is none. */
export function sharedHookName(point: HookPoint): string {
  return HOOK_EVENTS[point].shared ?? point;
}

/** True if a hook there may change what happens; such hooks are always awaited. */
export function hookMayChange({ blocks, rewrites, decides }: HookEventRow): boolean {
  return blocks === "prevents" || blocks === "holds" || rewrites !== "no" || decides.length > 0;
}

function listPoints(): readonly HookPoint[] {
  return Object.keys(HOOK_EVENTS).filter(isPoint);
}

function isPoint(name: string): name is HookPoint {
  return Object.hasOwn(HOOK_EVENTS, name);
}
