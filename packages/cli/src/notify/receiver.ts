import { createHash } from "node:crypto";
import { isSafeAddress, type NotifyReceiver } from "@assent/policy";
import { cut } from "../io/display-width.ts";
import { readSecretSource } from "../io/secret-source.ts";
import { signatureHeaders } from "../io/signed-post.ts";
import { itemLine, type NoticeMessage } from "./message.ts";

/** What to send over HTTP. */
export type ReceiverRequest = { readonly url: string; readonly headers: Readonly<Record<string, string>>; readonly body: string };

export type ReceiverSurroundings = { readonly env: Readonly<Record<string, string | undefined>>; readonly now: () => number };

export type HttpReceiver = Exclude<NotifyReceiver, { readonly type: "command" }>;

/** A receiver that cannot be used as it is configured. Its message has no secret. */
export class ReceiverError extends Error {}

const JSON_TYPE = { "content-type": "application/json" } as const;

/** The request of a receiver. Throws `ReceiverError`. */
export function receiverRequest(receiver: HttpReceiver, message: NoticeMessage, around: ReceiverSurroundings): ReceiverRequest {
  const url = readAddress(receiver.url, around.env);
  switch (receiver.type) {
    case "webhook": {
      const body = JSON.stringify(webhookBody(message));
      return {
        url: url.href,
        headers: {
          ...JSON_TYPE,
          ...signatureHeaders({ id: message.id, secret: readSource(receiver.secret, around.env) }, around.now(), body),
        },
        body,
      };
    }
    case "slack":
      return { url: url.href, headers: JSON_TYPE, body: JSON.stringify({ text: slackText(message) }) };
    case "ntfy": {
      const token = receiver.token === undefined ? {} : { authorization: `Bearer ${readSource(receiver.token, around.env)}` };
      return { ...ntfyRequest(url, message), headers: { ...JSON_TYPE, ...token } };
    }
    default:
      return receiver satisfies never;
  }
}

/** The body of a webhook, and the standard input of a command. */
export function webhookBody({ id, at, host, title, link, items, more }: NoticeMessage): object {
  return { type: "assent.notify", id, timestamp: at, data: { title, host, link, items, more } };
}

const MOST_LINES = 10;

/** Lines that name what waits. `quote` makes a text of others harmless. */
function messageLines({ items, more, link }: NoticeMessage, quote: (text: string) => string): readonly string[] {
  const unlisted = more + Math.max(0, items.length - MOST_LINES);
  return [
    ...items.slice(0, MOST_LINES).map((item) => `${quote(itemLine(item))}`),
    ...(unlisted > 0 ? [`… and ${unlisted} more`] : []),
    ...(link === null ? [] : [link]),
  ];
}

/** Text of others is code, in which Slack and its look-alikes find no mentions, links or formatting. */
function slackText(message: NoticeMessage): string {
  const quote = (text: string): string => `• \`${text.replaceAll("`", "'").replaceAll("@", "@\u200b")}\``;
  return [message.title, ...messageLines(message, quote)]
    .join("\n")
    .replaceAll("&", "&amp;")
    .replaceAll("<", "&lt;")
    .replaceAll(">", "&gt;");
}

/** Longer messages become attachments. */
const MOST_NTFY_CHARS = 1_000;

/** Publishes as JSON, because a title in a header could contain more headers. */
function ntfyRequest(url: URL, message: NoticeMessage): Pick<ReceiverRequest, "url" | "body"> {
  const [topic = "", ...above] = url.pathname
    .split("/")
    .filter((part) => part !== "")
    .toReversed();
  if (topic === "") throw new ReceiverError("the address of ntfy must end with a topic, such as https://ntfy.example/TOPIC");
  const { title, link } = message;
  const text = cut(messageLines({ ...message, link: null }, (line) => line).join("\n"), MOST_NTFY_CHARS);
  const body = { topic: decodeURIComponent(topic), title: `Assent: ${title}`, message: text, ...(link !== null && { click: link }) };
  return { url: new URL(`/${above.toReversed().join("/")}`, url).href, body: JSON.stringify(body) };
}

function readAddress(source: string, env: ReceiverSurroundings["env"]): URL {
  const text = isSafeAddress(source) ? source : readSource(source, env);
  if (!isSafeAddress(text)) throw new ReceiverError(`${source} must hold an https:// URL, or http:// on this machine, without a user name`);
  return new URL(text);
}

/** The value of `env:NAME` or `file:PATH`. */
function readSource(source: string, env: ReceiverSurroundings["env"]): string {
  const found = readSecretSource(source, env);
  if ("problem" in found) throw new ReceiverError(found.problem);
  return found.secret;
}

/** What an answer must not show: secrets, and what in the address may be one. */
export function receiverSecretTexts(receiver: HttpReceiver, env: ReceiverSurroundings["env"]): readonly string[] {
  const { pathname, search } = readAddress(receiver.url, env);
  const inAddress = `${pathname}${search}`.split(/[/?&=]/).filter((part) => part.length >= 8);
  const source = receiver.type === "webhook" ? receiver.secret : receiver.type === "ntfy" ? receiver.token : undefined;
  return source === undefined ? inAddress : [readSource(source, env), ...inAddress];
}

/** Names a receiver in the record by where it leads, so that two names of one address are one receiver. */
export function receiverKey(receiver: NotifyReceiver, env: ReceiverSurroundings["env"]): string {
  const { type } = receiver;
  const target = receiver.type === "command" ? JSON.stringify(receiver.command) : readAddress(receiver.url, env).href;
  return `${type}:${createHash("sha256").update(target).digest("hex").slice(0, 8)}`;
}
