import { createHmac } from "node:crypto";
import { messageOf } from "@assent/core";
import { httpFetch } from "@assent/host";

export type Post = {
  readonly url: string;
  readonly type: string;
  readonly body: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Signs the message, so that the receiver can tell who sent it. A message that is sent again has the same id. */
  readonly signed?: { readonly id: string; readonly secret: string };
  readonly now: number;
  readonly timeoutMs: number;
  readonly signal?: AbortSignal;
};

/** Whether the receiver has the message. `answer` is the start of its body, `status` its HTTP status. */
export type PostResult =
  | { readonly sent: true; readonly answer: string }
  | { readonly sent: false; readonly reason: string; readonly status?: number };

const LONGEST_ANSWER = 65_536;

/** Posts a message. Follows no redirect, so the content reaches only the configured host. Signs as Standard Webhooks does. */
export async function postSigned({ url, type, body, headers = {}, signed, now, timeoutMs, signal }: Post): Promise<PostResult> {
  const limit = AbortSignal.timeout(timeoutMs);
  const either = signal ? AbortSignal.any([signal, limit]) : limit;
  try {
    const answer = await httpFetch(url, {
      method: "POST",
      redirect: "error",
      body,
      headers: { "content-type": type, ...(signed ? signatureHeaders(signed, now, body) : {}), ...headers },
      signal: either,
    });
    const text = await readStart(answer);
    if (answer.ok) return { sent: true, answer: text };
    return { sent: false, status: answer.status, reason: `it answered ${answer.status}` };
  } catch (error) {
    if (signal?.aborted) return { sent: false, reason: "it did not answer before the program ended" };
    return { sent: false, reason: limit.aborted ? `it did not answer within ${timeoutMs / 1000} s` : causeOf(error) };
  }
}

export function signatureHeaders({ id, secret }: NonNullable<Post["signed"]>, now: number, body: string): Readonly<Record<string, string>> {
  const timestamp = String(Math.floor(now / 1000));
  const key = secret.startsWith("whsec_") ? Buffer.from(secret.slice("whsec_".length), "base64") : secret;
  const mac = createHmac("sha256", key).update(`${id}.${timestamp}.${body}`).digest("base64");
  return { "webhook-id": id, "webhook-timestamp": timestamp, "webhook-signature": `v1,${mac}` };
}

/** Reads no more than needed: a receiver may answer without end. */
async function readStart({ body }: Response): Promise<string> {
  if (!body) return "";
  const decoder = new TextDecoder();
  let text = "";
  for await (const chunk of body) {
    text += decoder.decode(chunk, { stream: true });
    if (text.length > LONGEST_ANSWER) break;
  }
  return text.slice(0, LONGEST_ANSWER);
}

export const REDIRECTED = "it redirects, which is refused; configure the final address";

/** `fetch failed` alone says nothing. */
export function causeOf(error: unknown): string {
  const reason = error instanceof TypeError && error.cause !== undefined ? messageOf(error.cause) : messageOf(error);
  return reason === "unexpected redirect" ? REDIRECTED : reason;
}
