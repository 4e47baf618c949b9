import type { Clock } from "@assent/core";
import { createCommandEnvironment, createHostProcesses, httpFetch } from "@assent/host";
import type { NotifyReceiver, Settings } from "@assent/policy";
import { cut } from "../io/display-width.ts";
import type { Io } from "../io/io.ts";
import { hideSecrets } from "../io/secret-source.ts";
import { causeOf, REDIRECTED } from "../io/signed-post.ts";
import { oneLine } from "../io/visible-text.ts";
import type { NoticeMessage } from "./message.ts";
import { type HttpReceiver, ReceiverError, receiverRequest, receiverSecretTexts, webhookBody } from "./receiver.ts";

/** The result of one attempt. `again`: a later attempt may succeed. `detail` is text of the receiver; it contains none of our secrets. */
export type AttemptResult = { readonly delivered: boolean; readonly again: boolean; readonly detail: string };

export type DeliveryParts = {
  readonly env: Io["env"];
  readonly clock: Clock;
  readonly secretEnv: Settings["secretEnv"];
};

const ATTEMPT_MS = 10_000;

/** Sends a message once. Never rejects, and ends when the signal aborts or after ten seconds. */
export async function deliver(
  receiver: NotifyReceiver,
  message: NoticeMessage,
  parts: DeliveryParts,
  signal: AbortSignal,
): Promise<AttemptResult> {
  const late = new AbortController();
  const { promise: stopped, resolve: stop } = Promise.withResolvers<AttemptResult>();
  const both = AbortSignal.any([signal, late.signal]);
  both.addEventListener("abort", () => stop({ delivered: false, again: true, detail: signal.aborted ? "it was stopped" : NO_ANSWER }));
  if (both.aborted) return { delivered: false, again: true, detail: "it was stopped" };
  const cancel = parts.clock.timer(ATTEMPT_MS, () => late.abort());
  try {
    const sending = receiver.type === "command" ? runCommand(receiver.command, message, parts) : post(receiver, message, parts, both);
    return await Promise.race([sending.catch(describeFailure), stopped]);
  } finally {
    cancel();
    late.abort(); // nothing more is read from the receiver
  }
}

const NO_ANSWER = "it did not answer within 10 seconds";

function describeFailure(error: unknown): AttemptResult {
  if (error instanceof ReceiverError) return { delivered: false, again: false, detail: error.message };
  const reason = causeOf(error);
  return { delivered: false, again: reason !== REDIRECTED, detail: oneLine(reason) };
}

async function post(
  receiver: HttpReceiver,
  message: NoticeMessage,
  { env, clock }: DeliveryParts,
  signal: AbortSignal,
): Promise<AttemptResult> {
  const { url, headers, body } = receiverRequest(receiver, message, { env, now: () => clock.now() });
  const answer = await httpFetch(url, { method: "POST", headers, body, redirect: "error", signal });
  const { status } = answer;
  const delivered = status >= 200 && status < 300;
  const detail = `HTTP ${status}${await startOf(answer.body, signal, receiverSecretTexts(receiver, env))}`;
  if (status >= 300 && status < 400) return { delivered, again: false, detail: REDIRECTED };
  return { delivered, again: !delivered && (status >= 500 || status === 408 || status === 425 || status === 429), detail };
}

const SHOWN_CHARS = 200;
const READ_MS = 500;

/** The beginning of the answer, for people who test a receiver. Its end is not waited for. */
async function startOf(body: ReadableStream<Uint8Array> | null, signal: AbortSignal, secrets: readonly string[]): Promise<string> {
  if (!body) return "";
  const reader = body.getReader();
  const decoder = new TextDecoder();
  let text = "";
  const most = SHOWN_CHARS + Math.max(0, ...secrets.map(({ length }) => length)); // no secret is cut in two
  const timer = setTimeout(() => void reader.cancel().catch(() => undefined), READ_MS);
  try {
    while (text.length < most && !signal.aborted) {
      const { done, value } = await reader.read();
      if (done) break;
      text += decoder.decode(value, { stream: true });
    }
  } catch {
    // the status says whether it was delivered
  } finally {
    clearTimeout(timer);
    void reader.cancel().catch(() => undefined);
  }
  const shown = hideSecrets(text, secrets).trim();
  return shown === "" ? "" : `, ${cut(oneLine(shown), SHOWN_CHARS)}`;
}

/** The program gets the message on standard input, and no secrets of the environment. It does not run in a project. */
async function runCommand(
  [file = "", ...args]: readonly string[],
  message: NoticeMessage,
  { env, secretEnv }: DeliveryParts,
): Promise<AttemptResult> {
  let output = "";
  const hear = (text: string): void => {
    if (output.length < SHOWN_CHARS) output += text;
  };
  const program = { file, args, cwd: "/", env: createCommandEnvironment(env, { secretEnv }) };
  const decoder = new TextDecoder();
  const running = await createHostProcesses({ graceMs: ATTEMPT_MS }).open({
    ...program,
    onOutput: (chunk) => hear(decoder.decode(chunk)),
    onError: hear,
  });
  running.write(`${JSON.stringify(webhookBody(message))}\n`).catch(() => undefined); // it need not read
  await running.close();
  const { exitCode, signal } = await running.ended;
  const detail = `${exitCode === null ? `killed by ${signal ?? "a signal"}` : `exit code ${exitCode}`}${output.trim() === "" ? "" : `, ${cut(oneLine(output.trim()), SHOWN_CHARS)}`}`;
  return { delivered: exitCode === 0, again: exitCode !== 0, detail };
}
