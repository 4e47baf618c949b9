import { type Content, type ContentPart, isObject, type JsonObject, messageOf } from "@assent/core";
import { isJsonObject } from "@assent/core/parts";

export type HostLine =
  | { readonly kind: "blank" }
  | { readonly kind: "user"; readonly content: Content; readonly uuid: string | undefined }
  | { readonly kind: "request"; readonly id: string; readonly subtype: string; readonly fields: JsonObject }
  | { readonly kind: "response"; readonly id: string; readonly reply: HostReply }
  | { readonly kind: "cancel"; readonly id: string }
  | { readonly kind: "fault"; readonly message: string };

export type HostReply = { readonly value: unknown } | { readonly error: string };

export function readHostLine(text: string): HostLine {
  if (text.trim() === "") return { kind: "blank" };
  let value: unknown;
  try {
    value = HALVES.test(text) ? JSON.parse(text, wellFormed) : JSON.parse(text);
  } catch (error) {
    return fault(`the line is not JSON: ${messageOf(error)}`);
  }
  if (!isJsonObject(value)) return fault("the line is not an object");
  const { type } = value;
  const read = typeof type === "string" && Object.hasOwn(READERS, type) ? READERS[type] : undefined;
  return read ? read(value) : fault(`unknown type ${JSON.stringify(type)?.slice(0, 80) ?? "(none)"}`);
}

/** Half of a surrogate pair is valid in JSON but cannot be recorded. */
const HALVES = /\\ud[89a-f]/i;

function wellFormed(_key: string, value: unknown): unknown {
  return typeof value === "string" ? value.toWellFormed() : value;
}

function fault(message: string): HostLine {
  return { kind: "fault", message };
}

const READERS: Readonly<Record<string, (line: JsonObject) => HostLine>> = {
  user: ({ message, uuid }) => {
    const content = isObject(message) && message["role"] === "user" ? readContent(message["content"]) : "needs a message of role user";
    if (typeof content === "string") return fault(`the user message ${content}`);
    return { kind: "user", content: content.content, uuid: typeof uuid === "string" ? uuid : undefined };
  },
  control_request: ({ request_id: id, request }) => {
    if (typeof id !== "string" || id === "") return fault("the control request has no request_id");
    if (!isJsonObject(request) || typeof request["subtype"] !== "string") return fault("the control request has no subtype");
    return { kind: "request", id, subtype: request["subtype"], fields: request };
  },
  control_response: ({ response }) => {
    if (!isObject(response) || typeof response["request_id"] !== "string") return fault("the control response has no request_id");
    const { request_id: id, subtype, response: value, error } = response;
    if (subtype === "success") return { kind: "response", id, reply: { value } };
    if (subtype !== "error") return fault("the control response is neither success nor error");
    return { kind: "response", id, reply: { error: typeof error === "string" ? error : "the host failed" } };
  },
  control_cancel_request: ({ request_id: id }) => (typeof id === "string" ? { kind: "cancel", id } : fault("the cancel has no request_id")),
};

function readContent(content: unknown): { readonly content: Content } | string {
  if (typeof content === "string") return content.trim() === "" ? "is empty" : { content };
  if (!Array.isArray(content) || content.length === 0) return "has no content";
  const parts: ContentPart[] = [];
  for (const block of content) {
    const part = isObject(block) ? readBlock(block) : undefined;
    if (!part) return "has a block that is neither text nor a picture or document in base64";
    parts.push(part);
  }
  const [only] = parts;
  return { content: parts.length === 1 && only?.type === "text" ? only.text : parts };
}

function readBlock({ type, text, source, title }: Readonly<Record<string, unknown>>): ContentPart | undefined {
  if (type === "text" && typeof text === "string") return { type, text };
  if (!isObject(source) || source["type"] !== "base64") return undefined;
  const { media_type: mediaType, data } = source;
  if (typeof mediaType !== "string" || typeof data !== "string") return undefined;
  if (type === "image") return { type, mediaType, data };
  return type === "document" ? { type: "file", mediaType, data, ...(typeof title === "string" && { name: title }) } : undefined;
}
