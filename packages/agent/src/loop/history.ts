import type { LanguageModelV4Message, LanguageModelV4ToolResultPart } from "@ai-sdk/provider";
import type { AssistantPart, CallReport, Content, Json } from "@assent/core";
import { type Mark, marked } from "./marks.ts";

type UserMessage = Extract<LanguageModelV4Message, { readonly role: "user" }>;
type AssistantMessage = Extract<LanguageModelV4Message, { readonly role: "assistant" }>;
type ResultOutput = LanguageModelV4ToolResultPart["output"];

/** What a person or the runtime says, as a provider takes it. */
export function userMessage(content: Content, origin: NonNullable<Mark["origin"]>): UserMessage {
  const parts = typeof content === "string" ? [{ type: "text" as const, text: content }] : content.map(userPart);
  return { role: "user", content: parts, providerOptions: marked({ origin }) };
}

function userPart(part: Exclude<Content, string>[number]): UserMessage["content"][number] {
  if (part.type === "text") return { type: "text", text: part.text };
  if (part.type === "json") return { type: "text", text: JSON.stringify(part.value) };
  return { type: "file", mediaType: part.mediaType, data: { type: "data", data: part.data } };
}

/** What a model said. Its calls carry the ids under which they are on record, so that each has one result. */
export function assistantMessage(parts: readonly AssistantPart[], callIds: readonly string[]): AssistantMessage {
  let calls = 0;
  const content = parts.map((part): AssistantMessage["content"][number] => {
    if (part.type === "text") return { type: "text", text: part.text };
    if (part.type === "reasoning") {
      // Parsing: what a provider gave for its own reasoning goes back to it as it came.
      const options = part.provider as Record<string, Record<string, never>> | undefined;
      return { type: "reasoning", text: part.text, ...(options && { providerOptions: options }) };
    }
    const toolCallId = callIds[calls] ?? part.call;
    calls += 1;
    return { type: "tool-call", toolCallId, toolName: part.tool, input: shownInput(part.input) };
  });
  return { role: "assistant", content };
}

/** Arguments that are no JSON were the model's own text; a provider takes an object. */
function shownInput(input: Json): unknown {
  if (typeof input !== "string") return input;
  try {
    const value: unknown = JSON.parse(input);
    return typeof value === "object" && value !== null ? value : { input };
  } catch {
    return { input };
  }
}

/** A call's end as the history needs it. */
export type ToldResult = {
  readonly callId: string;
  readonly tool: string;
  readonly outcome: string;
  readonly type: string | null;
  readonly content: Content;
};

/** The results of a turn's calls in one message, in call order. */
export function toolMessage(results: readonly ToldResult[]): LanguageModelV4Message {
  return { role: "tool", content: results.map(resultPart) };
}

function resultPart({ callId, tool, outcome, type, content }: ToldResult): LanguageModelV4ToolResultPart {
  return {
    type: "tool-result",
    toolCallId: callId,
    toolName: tool,
    output: output(content, outcome === "succeeded"),
    providerOptions: marked({ outcome, ...(type !== null && { type }) }),
  };
}

function output(content: Content, ok: boolean): ResultOutput {
  if (typeof content === "string") return ok ? { type: "text", value: content } : { type: "error-text", value: content };
  const value = content.map((part): Extract<ResultOutput, { readonly type: "content" }>["value"][number] => {
    if (part.type === "text") return { type: "text", text: part.text };
    if (part.type === "json") return { type: "text", text: JSON.stringify(part.value) };
    const name = part.type === "file" ? part.name : undefined;
    return {
      type: "file",
      mediaType: part.mediaType,
      data: { type: "data", data: part.data },
      ...(name !== undefined && { filename: name }),
    };
  });
  return { type: "content", value };
}

/** The results of a batch that has ended as a whole; undefined while a call of it waits. */
export function toldResults(reports: readonly CallReport[], tools: readonly string[]): readonly ToldResult[] | undefined {
  const told: ToldResult[] = [];
  for (const [at, report] of reports.entries()) {
    if (report.outcome === "waiting") return undefined;
    const { callId, outcome, type, result } = report;
    told.push({ callId, tool: tools[at] ?? "", outcome, type, content: result.content });
  }
  return told;
}
