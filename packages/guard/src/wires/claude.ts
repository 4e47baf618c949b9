import type { JsonObject } from "@assent/core";
import {
  optionalText,
  parseObject,
  readReport,
  requiredDirectory,
  requiredObject,
  requiredText,
  resultText,
  unknownEvent,
} from "../fields.ts";
import type { CallOutcome, ForeignCall, GuardEvent, GuardVerdict, HookOutput } from "../guard-event.ts";

const OUTCOMES: ReadonlyMap<string, CallOutcome> = new Map([
  ["PostToolUse", "applied"],
  ["PostToolUseFailure", "failed"],
  ["PermissionDenied", "not_applied"],
]);

const ENDS: ReadonlyMap<string, "turn-end" | "session-end"> = new Map([
  ["Stop", "turn-end"],
  ["SessionEnd", "session-end"],
]);

/** Reads the hook input of Claude Code, which Codex and Qwen Code use too. */
export function readClaudeEvent(text: string): GuardEvent {
  const from = parseObject(text);
  const name = requiredText(from, "hook_event_name");
  if (name === "PreToolUse") return { kind: "decide", call: readCall(from) };
  if (name === "PermissionRequest") return { kind: "dialog", call: readCall(from) };
  const outcome = OUTCOMES.get(name);
  if (outcome !== undefined) {
    const failure = optionalText(from, "error") ?? optionalText(from, "reason");
    return { kind: "report", call: readReport(() => readCall(from)), outcome, text: resultText(failure ?? from["tool_response"]) };
  }
  const ends = ENDS.get(name);
  if (ends !== undefined)
    return readReport(() => ({ kind: ends, session: requiredText(from, "session_id"), cwd: requiredDirectory(from, "cwd") }));
  throw unknownEvent(name);
}

function readCall(from: JsonObject): ForeignCall {
  const callId = optionalText(from, "tool_use_id");
  const mode = optionalText(from, "permission_mode");
  const subagent = optionalText(from, "agent_type");
  const transcript = optionalText(from, "transcript_path");
  return {
    session: requiredText(from, "session_id"),
    cwd: requiredDirectory(from, "cwd"),
    tool: requiredText(from, "tool_name"),
    input: requiredObject(from, "tool_input"),
    ...(callId !== undefined && { callId }),
    ...(mode !== undefined && { mode }),
    ...(subagent !== undefined && { subagent }),
    ...(transcript !== undefined && { transcript }),
  };
}

/** Denies by exit code 2, because an agent that cannot parse the output runs the call. */
export function denyByExit(reason: string): HookOutput {
  return { stdout: "", stderr: `${reason}\n`, exit: 2 };
}

export const SILENT: HookOutput = { stdout: "", stderr: "", exit: 0 };

/**
 * Denies a call of Qwen Code. Its hooks are merged field by field: a plain denial would not count beside a hook that answers with
 * `permissionDecision`. The wrapper script moves the answer to stderr, without warnings beside it.
 */
export function denyQwen(reason: string): HookOutput {
  const specific = { hookEventName: "PreToolUse", permissionDecision: "deny", permissionDecisionReason: reason };
  return { ...printed({ decision: "deny", reason, hookSpecificOutput: specific }), exit: 2 };
}

const REASON = "Allowed by Assent";

/** `dialog` is safe only where the agent asks a person or refuses. */
export function writeClaudeVerdict(given: GuardVerdict, event: "PreToolUse" | "PermissionRequest"): HookOutput {
  if (given.verdict === "none") return SILENT;
  if (event === "PermissionRequest") return writeDialogAnswer(given);
  if (given.verdict === "deny") return denyByExit(given.reason);
  const permissionDecision = given.verdict === "allow" ? "allow" : "ask";
  return printed({ hookSpecificOutput: { hookEventName: event, permissionDecision, permissionDecisionReason: REASON } });
}

function writeDialogAnswer(given: GuardVerdict): HookOutput {
  if (given.verdict === "dialog" || given.verdict === "none") return SILENT;
  const decision = given.verdict === "deny" ? { behavior: "deny", message: given.reason } : { behavior: "allow" };
  return printed({ hookSpecificOutput: { hookEventName: "PermissionRequest", decision } });
}

/** An allow has no `permissionDecision`, which would count more than a denial by another hook. */
export function writeQwenVerdict(given: GuardVerdict): HookOutput {
  if (given.verdict === "deny") return denyQwen(given.reason);
  return given.verdict === "allow" ? printed({ decision: "allow" }) : writeClaudeVerdict(given, "PreToolUse");
}

/** Codex takes an allow only together with a rewritten input, so silence lets its own rules continue. */
export function writeCodexVerdict(given: GuardVerdict): HookOutput {
  return given.verdict === "deny" ? denyByExit(given.reason) : SILENT;
}

function printed(answer: JsonObject): HookOutput {
  return { stdout: `${JSON.stringify(answer)}\n`, stderr: "", exit: 0 };
}
