import type { QuestionRequest, ToolRequest } from "./approval.ts";
import { isObject, type JsonObject } from "./json.ts";
import type { Message } from "./message.ts";
import { SdkError } from "./sdk-error.ts";

/** A line of the process: a message for the host, or part of the protocol. */
export type Line =
  | { readonly kind: "message"; readonly message: Message }
  | { readonly kind: "request" | "response" | "cancel"; readonly body: JsonObject }
  | { readonly kind: "stray" };

const MESSAGES: readonly unknown[] = ["system", "user", "assistant", "stream_event", "result"];
const STRAY: Line = { kind: "stray" };

/** Reads one line. A line outside the protocol is `stray` and has no effect. */
export function readLine(text: string): Line {
  const value = json(text);
  if (!isObject(value)) return STRAY;
  const { type } = value;
  if (type === "control_request") return isObject(value["request"]) ? { kind: "request", body: value } : STRAY;
  if (type === "control_response") return isObject(value["response"]) ? { kind: "response", body: value["response"] } : STRAY;
  if (type === "control_cancel_request") return { kind: "cancel", body: value };
  return MESSAGES.includes(type) ? { kind: "message", message: value as unknown as Message } : STRAY;
}

function json(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

export function readToolRequest(body: JsonObject): ToolRequest {
  if (typeof body["tool_name"] !== "string" || !isObject(body["input"])) throw new SdkError("protocol", "The request names no tool call.");
  return body as unknown as ToolRequest;
}

export function readQuestionRequest(body: JsonObject): QuestionRequest {
  if (!Array.isArray(body["questions"])) throw new SdkError("protocol", "The request contains no questions.");
  return body as unknown as QuestionRequest;
}
