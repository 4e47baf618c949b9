import type { LanguageModelV4Message, LanguageModelV4ToolResultPart, SharedV4ProviderOptions } from "@ai-sdk/provider";
import { type CallReport, type Content, isObject, type Json } from "@assent/core";
import type { AnswerPart } from "../model/stream-answer.ts";
import { type Mark, marked } from "./marks.ts";

type UserMessage = Extract<LanguageModelV4Message, { readonly role: "user" }>;
type AssistantMessage = Extract<LanguageModelV4Message, { readonly role: "assistant" }>;
type ResultOutput = LanguageModelV4ToolResultPart["output"];

/** A message of a person or of the runtime. */
export function userMessage(content: Content, origin: NonNullable<Mark["origin"]>): UserMessage {
  const parts = typeof content === "string" ? [{ type: "text" as const, text: content }] : content.map(shownPart);
  return { role: "user", content: parts, providerOptions: marked({ origin }) };
}

type ShownPart =
  | { readonly type: "text"; readonly text: string }
  | {
      readonly type: "file";
      readonly mediaType: string;
      readonly data: { readonly type: "data"; readonly data: string };
      readonly filename?: string;
    };

/** Types that every provider accepts. Any other type in the history would make every request fail. */
const SHOWN_TYPES: ReadonlySet<string> = new Set(["image/png", "image/jpeg", "image/gif", "image/webp", "application/pdf"]);

function shownPart(part: Exclude<Content, string>[number]): ShownPart {
  if (part.type === "text") return { type: "text", text: part.text };
  if (part.type === "json") return { type: "text", text: JSON.stringify(part.value) };
  const name = part.type === "file" ? part.name : undefined;
  if (SHOWN_TYPES.has(part.mediaType)) {
    const { mediaType, data } = part;
    return { type: "file", mediaType, data: { type: "data", data }, ...(name !== undefined && { filename: name }) };
  }
  const bytes = Buffer.from(part.data, "base64");
  if (part.mediaType.startsWith("text/")) return { type: "text", text: bytes.toString("utf8") };
  return { type: "text", text: `[${name ?? part.type}: ${part.mediaType}, ${bytes.length} bytes, cannot be shown]` };
}

/** A message of the model. Its calls carry their recorded ids, so that each has one result. */
export function assistantMessage(parts: readonly AnswerPart[], callIds: readonly string[]): AssistantMessage {
  let calls = 0;
  const content = parts.map((part): AssistantContentPart => {
    const converted = part.type === "call" ? callPart(part, callIds[calls++] ?? part.call) : { type: part.type, text: part.text };
    // Provider data goes back unchanged.
    return part.provider === undefined ? converted : { ...converted, providerOptions: part.provider as SharedV4ProviderOptions };
  });
  return { role: "assistant", content };
}

type AssistantContentPart = AssistantMessage["content"][number];

function callPart({ tool, input }: Extract<AnswerPart, { readonly type: "call" }>, id: string): AssistantContentPart {
  return { type: "tool-call", toolCallId: wireId(id), toolName: tool, input: shownInput(input) };
}

/** Providers require an object, so other arguments are wrapped. */
function shownInput(input: Json): unknown {
  if (typeof input !== "string") return isObject(input) ? input : { input };
  try {
    const value: unknown = JSON.parse(input);
    return isObject(value) ? value : { input };
  } catch {
    return { input };
  }
}

/** Some providers accept only letters, digits, hyphens and underscores in ids. */
function wireId(id: string): string {
  return FOREIGN.test(id) ? id.replaceAll(/[^\w-]/g, "_") : id;
}

const FOREIGN = /[^\w-]/;

/** The result of a call for the history. */
export type CallResult = {
  readonly callId: string;
  readonly tool: string;
  readonly outcome: string;
  readonly type: string | null;
  readonly content: Content;
};

/** The results of a turn in one message, in call order. */
export function toolMessage(results: readonly CallResult[]): LanguageModelV4Message {
  return { role: "tool", content: results.map(resultPart) };
}

function resultPart({ callId, tool, outcome, type, content }: CallResult): LanguageModelV4ToolResultPart {
  return {
    type: "tool-result",
    toolCallId: wireId(callId),
    toolName: tool,
    output: output(content, outcome === "succeeded"),
    providerOptions: outcome === "succeeded" && type === null ? SUCCEEDED : marked(type === null ? { outcome } : { outcome, type }),
  };
}

const SUCCEEDED = marked({ outcome: "succeeded" });

/** One text, then the files: some providers turn every text into a result, and need at least one. */
function output(content: Content, ok: boolean): ResultOutput {
  if (typeof content === "string") return { type: ok ? "text" : "error-text", value: content };
  const parts = content.map(shownPart);
  const files = parts.flatMap((part) => (part.type === "file" ? [part] : []));
  const text = parts.flatMap((part) => (part.type === "text" ? [part.text] : [])).join("\n");
  if (files.length === 0) return { type: ok ? "text" : "error-text", value: text };
  return { type: "content", value: [{ type: "text", text: text === "" ? "(see the file)" : text }, ...files] };
}

/** The results of a batch; undefined while a call waits. */
export function collectResults(
  reports: readonly CallReport[],
  calls: readonly { readonly name: string }[],
): readonly CallResult[] | undefined {
  const collected: CallResult[] = [];
  for (const report of reports) {
    if (report.outcome === "waiting") return undefined;
    const { callId, outcome, type, result } = report;
    collected.push({ callId, tool: calls[collected.length]?.name ?? "", outcome, type, content: result.content });
  }
  return collected;
}
