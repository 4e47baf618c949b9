import { optionalText, parseObject, requiredDirectory, requiredObject, requiredText, resultText, unknownEvent } from "../fields.ts";
import type { ForeignCall, GuardEvent, GuardVerdict, HookOutput } from "../guard-event.ts";
import { denyByExit, SILENT } from "./claude.ts";

/** Reads what the plugin that `assent hook install opencode` writes sends: the events of opencode in one object. */
export function readOpencodeEvent(text: string): GuardEvent {
  const from = parseObject(text);
  const name = requiredText(from, "event");
  if (name === "session.deleted")
    return { kind: "session-end", session: requiredText(from, "session"), cwd: requiredDirectory(from, "cwd") };
  if (name !== "tool.execute.before" && name !== "tool.execute.after") throw unknownEvent(name);
  const callId = optionalText(from, "call");
  const call: ForeignCall = {
    session: requiredText(from, "session"),
    cwd: requiredDirectory(from, "cwd"),
    tool: requiredText(from, "tool"),
    input: requiredObject(from, "args"),
    ...(callId !== undefined && { callId }),
  };
  return name === "tool.execute.before"
    ? { kind: "decide", call }
    : { kind: "report", call, outcome: "applied", text: resultText(from["output"]) };
}

/** The plugin throws on exit code 2, and opencode does not run the call. */
export function writeOpencodeVerdict(given: GuardVerdict): HookOutput {
  return given.verdict === "deny" ? denyByExit(given.reason) : SILENT;
}
