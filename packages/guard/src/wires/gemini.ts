import { isObject, type JsonObject } from "@assent/core";
import { parseObject, readReport, requiredDirectory, requiredObject, requiredText, resultText, unknownEvent } from "../fields.ts";
import type { ForeignCall, GuardEvent, GuardVerdict, HookOutput } from "../guard-event.ts";
import { denyByExit, SILENT } from "./claude.ts";

/** Gemini CLI gives a call no id. */
export function readGeminiEvent(text: string): GuardEvent {
  const from = parseObject(text);
  const name = requiredText(from, "hook_event_name");
  if (name === "BeforeTool") return { kind: "decide", call: readCall(from) };
  if (name === "AfterTool") {
    const response = from["tool_response"];
    const failure = isObject(response) ? response["error"] : undefined;
    const content = isObject(response) ? (response["llmContent"] ?? response) : response;
    return {
      kind: "report",
      call: readReport(() => readCall(from)),
      outcome: failure === undefined || failure === null ? "applied" : "failed",
      text: resultText(failure ?? content),
    };
  }
  if (name === "SessionEnd")
    return readReport(() => ({ kind: "session-end", session: requiredText(from, "session_id"), cwd: requiredDirectory(from, "cwd") }));
  throw unknownEvent(name);
}

function readCall(from: JsonObject): ForeignCall {
  return {
    session: requiredText(from, "session_id"),
    cwd: requiredDirectory(from, "cwd"),
    tool: requiredText(from, "tool_name"),
    input: requiredObject(from, "tool_input"),
  };
}

/** Never `ask`: Gemini CLI hangs on it without a terminal. */
export function writeGeminiVerdict(given: GuardVerdict): HookOutput {
  if (given.verdict === "deny") return denyByExit(given.reason);
  return given.verdict === "allow" ? { stdout: `${JSON.stringify({ decision: "allow" })}\n`, stderr: "", exit: 0 } : SILENT;
}
