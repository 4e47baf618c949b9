import { isObject } from "@assent/core";
import type { ShownFile } from "@assent/core/parts";
import { type Embedding, embeddedTurns } from "./embedding.ts";
import { makeAdapter, type ProviderAdapter, parametersOf, proposedCall, type TurnResult, type Wire } from "./provider-adapter.ts";

type Parameters = Record<string, unknown>;

/** A tool for the Chat Completions API. */
export type OpenAIChatTool = {
  type: "function";
  function: { name: string; description: string; parameters: Parameters };
};

/** A result for the Chat Completions API. Results take only text, so files follow in a user message. */
export type OpenAIChatMessage =
  | { role: "tool"; tool_call_id: string; content: string }
  | { role: "user"; content: (ChatText | ChatImage | ChatFile)[] };

type ChatText = { type: "text"; text: string };
type ChatImage = { type: "image_url"; image_url: { url: string } };
type ChatFile = { type: "file"; file: { filename: string; file_data: string } };

/** A tool for the Responses API. It is not strict, because strict schemas allow no optional fields. */
export type OpenAIResponsesTool = { type: "function"; name: string; description: string; parameters: Parameters; strict: false };

/** A result for the Responses API. */
export type OpenAIResponsesItem = {
  type: "function_call_output";
  call_id: string;
  output: string | (ResponsesText | ResponsesImage | ResponsesFile)[];
};

type ResponsesText = { type: "input_text"; text: string };
type ResponsesImage = { type: "input_image"; image_url: string; detail: "auto" };
type ResponsesFile = { type: "input_file"; filename: string; file_data: string };

/** The adapter for OpenAI's Chat Completions API and compatible servers. `dispatch` takes `message.tool_calls`. */
export function openaiChat(embedding: Embedding): ProviderAdapter<OpenAIChatTool, OpenAIChatMessage> {
  return makeAdapter(embeddedTurns(embedding), OPENAI_CHAT);
}

/** The adapter for OpenAI's Responses API. `dispatch` takes `response.output`. */
export function openaiResponses(embedding: Embedding): ProviderAdapter<OpenAIResponsesTool, OpenAIResponsesItem> {
  return makeAdapter(embeddedTurns(embedding), OPENAI_RESPONSES);
}

/** The wire of the Chat Completions API. */
export const OPENAI_CHAT: Wire<OpenAIChatTool, OpenAIChatMessage> = {
  declare: (tool) => ({
    type: "function",
    function: { name: tool.name, description: tool.description, parameters: parametersOf(tool) },
  }),
  takes: "message.tool_calls",
  read: ({ type, id, function: called }) => {
    if (type !== "function" && !(type === undefined && isObject(called))) return undefined; // some servers leave the type out
    const { name, arguments: given } = isObject(called) ? called : {};
    return proposedCall(id, name, given);
  },
  tell: (results) => {
    const told: OpenAIChatMessage[] = results.map(({ id, text }) => ({ role: "tool", tool_call_id: id, content: text }));
    const files = results.flatMap(chatFiles);
    return files.length > 0 ? [...told, { role: "user", content: files }] : told;
  },
};

function chatFiles({ id, files }: TurnResult): (ChatText | ChatImage | ChatFile)[] {
  if (files.length === 0) return [];
  return [{ type: "text", text: `Files of the result of ${id}:` }, ...files.map(chatFile)];
}

function chatFile(file: ShownFile): ChatImage | ChatFile {
  if (isImage(file)) return { type: "image_url", image_url: { url: dataUrl(file) } };
  return { type: "file", file: { filename: nameOf(file), file_data: dataUrl(file) } };
}

/** The wire of the Responses API. */
export const OPENAI_RESPONSES: Wire<OpenAIResponsesTool, OpenAIResponsesItem> = {
  declare: (tool) => ({
    type: "function",
    name: tool.name,
    description: tool.description,
    parameters: parametersOf(tool),
    strict: false,
  }),
  takes: "response.output",
  read: ({ type, call_id: id, name, arguments: given }) => (type === "function_call" ? proposedCall(id, name, given) : undefined),
  tell: (results) =>
    results.map(({ id, text, files }) => ({
      type: "function_call_output",
      call_id: id,
      output: files.length === 0 ? text : [{ type: "input_text", text }, ...files.map(responsesFile)],
    })),
};

function responsesFile(file: ShownFile): ResponsesImage | ResponsesFile {
  if (isImage(file)) return { type: "input_image", image_url: dataUrl(file), detail: "auto" };
  return { type: "input_file", filename: nameOf(file), file_data: dataUrl(file) };
}

function isImage({ mediaType }: ShownFile): boolean {
  return mediaType.startsWith("image/");
}

function nameOf({ filename }: ShownFile): string {
  return filename ?? "file.pdf";
}

function dataUrl({ mediaType, data }: ShownFile): string {
  return `data:${mediaType};base64,${data}`;
}
