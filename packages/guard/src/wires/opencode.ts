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
import type { ForeignCall, GuardEvent, GuardVerdict, HookOutput } from "../guard-event.ts";
import { denyByExit, SILENT } from "./claude.ts";

/** Reads what the plugin that `assent hook install opencode` writes sends: the events of opencode in one object. */
export function readOpencodeEvent(text: string): GuardEvent {
  const from = parseObject(text);
  const name = requiredText(from, "event");
  if (name === "session.deleted")
    return readReport(() => ({ kind: "session-end", session: requiredText(from, "session"), cwd: requiredDirectory(from, "cwd") }));
  if (name === "tool.execute.before") return { kind: "decide", call: readCall(from) };
  if (name === "tool.execute.after")
    return { kind: "report", call: readReport(() => readCall(from)), outcome: "applied", text: resultText(from["output"]) };
  throw unknownEvent(name);
}

function readCall(from: JsonObject): ForeignCall {
  const callId = optionalText(from, "call");
  return {
    session: requiredText(from, "session"),
    cwd: requiredDirectory(from, "cwd"),
    tool: requiredText(from, "tool"),
    input: requiredObject(from, "args"),
    ...(callId !== undefined && { callId }),
  };
}

/** The plugin throws on exit code 2, and opencode does not run the call. */
export function writeOpencodeVerdict(given: GuardVerdict): HookOutput {
  return given.verdict === "deny" ? denyByExit(given.reason) : SILENT;
}
