import type { LanguageModelV4Message, LanguageModelV4ToolResultPart, SharedV4ProviderOptions } from "@ai-sdk/provider";
import { type CallReport, type Content, isObject, type Json } from "@assent/core";
import type { AnswerPart } from "../model/stream-answer.ts";
import { type Mark, marked } from "./marks.ts";

type UserMessage = Extract<LanguageModelV4Message, { readonly role: "user" }>;
type AssistantMessage = Extract<LanguageModelV4Message, { readonly role: "assistant" }>;
type ResultOutput = LanguageModelV4ToolResultPart["output"];

/** Converts a message of a person or the runtime for providers. */
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

/** Media types that every provider accepts. Any other type in a history would make each later request fail. */
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

/** Converts a model's answer. Its calls carry their recorded ids, so that each has one result. */
export function assistantMessage(parts: readonly AnswerPart[], callIds: readonly string[]): AssistantMessage {
  let calls = 0;
  const content = parts.map((part): AssistantContentPart => {
    const converted = part.type === "call" ? callPart(part, callIds[calls++] ?? part.call) : { type: part.type, text: part.text };
    // Parsing: metadata of a provider is sent back unchanged.
    return part.provider === undefined ? converted : { ...converted, providerOptions: part.provider as SharedV4ProviderOptions };
  });
  return { role: "assistant", content };
}

type AssistantContentPart = AssistantMessage["content"][number];

function callPart({ tool, input }: Extract<AnswerPart, { readonly type: "call" }>, id: string): AssistantContentPart {
  return { type: "tool-call", toolCallId: wireId(id), toolName: tool, input: shownInput(input) };
}

/** Wraps arguments that are not a JSON object, because providers require an object. */
function shownInput(input: Json): unknown {
  if (typeof input !== "string") return isObject(input) ? input : { input };
  try {
    const value: unknown = JSON.parse(input);
    return isObject(value) ? value : { input };
  } catch {
    return { input };
  }
}

/** Some providers accept only letters, digits, hyphens and underscores. Repeated ids of ours contain another character. */
function wireId(id: string): string {
  return FOREIGN.test(id) ? id.replaceAll(/[^\w-]/g, "_") : id;
}

const FOREIGN = /[^\w-]/;

/** The end of a call, with what the history needs. */
export type CallResult = {
  readonly callId: string;
  readonly tool: string;
  readonly outcome: string;
  readonly type: string | null;
  readonly content: Content;
};

/** The results of a turn's calls in one message, in call order. */
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

/** Joins all texts into one, then adds the files: some providers make a result of every text, and none of a result without text. */
function output(content: Content, ok: boolean): ResultOutput {
  if (typeof content === "string") return { type: ok ? "text" : "error-text", value: content };
  const parts = content.map(shownPart);
  const files = parts.flatMap((part) => (part.type === "file" ? [part] : []));
  const text = parts.flatMap((part) => (part.type === "text" ? [part.text] : [])).join("\n");
  if (files.length === 0) return { type: ok ? "text" : "error-text", value: text };
  return { type: "content", value: [{ type: "text", text: text === "" ? "(see the file)" : text }, ...files] };
}

/** The results of a batch; undefined while one of its calls waits. */
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
