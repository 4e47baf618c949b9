import type { LanguageModelV4Message, LanguageModelV4ToolResultPart, SharedV4ProviderOptions } from "@ai-sdk/provider";
import { type CallReport, type Content, isObject, type Json } from "@assent/core";
import { type ShownPart, showContent, showPart } from "@assent/core/parts";
import type { AnswerPart } from "../model/stream-answer.ts";
import { type Mark, marked } from "./marks.ts";

type UserMessage = Extract<LanguageModelV4Message, { readonly role: "user" }>;
type AssistantMessage = Extract<LanguageModelV4Message, { readonly role: "assistant" }>;
type ResultOutput = LanguageModelV4ToolResultPart["output"];

export function userMessage(content: Content, origin: NonNullable<Mark["origin"]>): UserMessage {
  const parts =
    typeof content === "string" ? [{ type: "text" as const, text: content }] : content.map((part) => messagePart(showPart(part)));
  return { role: "user", content: parts, providerOptions: marked({ origin }) };
}

type MessagePart = Extract<UserMessage["content"][number], { readonly type: "text" | "file" }>;

function messagePart(part: ShownPart): MessagePart {
  return part.type === "file" ? { ...part, data: { type: "data", data: part.data } } : part;
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

export type CallResult = {
  readonly callId: string;
  readonly tool: string;
  readonly outcome: string;
  readonly type: string | null;
  readonly content: Content;
};

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

function output(content: Content, ok: boolean): ResultOutput {
  const { text, files } = showContent(content);
  if (files.length === 0) return { type: ok ? "text" : "error-text", value: text };
  return {
    type: "content",
    value: [{ type: "text", text }, ...files.map((file) => ({ ...file, data: { type: "data" as const, data: file.data } }))],
  };
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
