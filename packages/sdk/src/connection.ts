import { randomUUID } from "node:crypto";
import { createHostAnswers, type HostAnswers } from "./answering.ts";
import { type Child, startChild } from "./child.ts";
import { commandLine } from "./command-line.ts";
import { type Counter, createCounter, feed } from "./feed.ts";
import { isObject, type JsonObject } from "./json.ts";
import { createMailbox, type Mailbox } from "./mailbox.ts";
import type { Message } from "./message.ts";
import type { QueryOptions } from "./query-options.ts";
import { readLine } from "./read-line.ts";
import { createRequests, type Requests } from "./requests.ts";
import { type Exit, exitedEarly, SdkError } from "./sdk-error.ts";

export type Connection = {
  readonly take: Mailbox<Message>["take"];
  readonly ask: Requests["ask"];
  readonly ready: Promise<JsonObject>;
  readonly exit: Promise<Exit>;
  close(): Promise<void>;
};

const ROOM = 64;
const START_MS = 60_000;
const GRACE_MS = 10_000;
const PROTOCOL = 1;

/** Starts the process and exchanges messages with it until it ends. */
export function connect(options: QueryOptions): Connection {
  if (options.abort?.aborted) throw aborted(options.abort);
  const child = startChild({
    ...commandLine(options),
    cwd: options.cwd,
    env: { ...process.env, ...options.env },
    onStderr: options.onStderr,
    graceMs: options.graceMs ?? GRACE_MS,
  });
  const write = (line: JsonObject): Promise<void> => child.write(JSON.stringify(line));
  const mailbox = createMailbox<Message>(ROOM);
  const session = { id: "" };
  const requests = createRequests({ write, lift: mailbox.lift });
  const parts: Parts = {
    options,
    child,
    write,
    mailbox,
    requests,
    answering: createHostAnswers(options, { write, failed: (message) => void mailbox.put(callbackFailed(session.id, message)) }),
    session,
    results: createCounter(),
    over: new AbortController(),
  };
  const { abort } = options;
  abort?.addEventListener("abort", () => endQuery(parts, { error: aborted(abort), drop: true }), { signal: parts.over.signal });
  const ready = sendInitialize(parts);
  handleProcess(parts, ready).catch((error) => endQuery(parts, { error }));
  const close = async (): Promise<void> => {
    endQuery(parts, { drop: true });
    await child.exit.catch(() => undefined); // `exit` and the iterator report it
  };
  return { take: mailbox.take, ask: requests.ask, ready, exit: child.exit, close };
}

type Parts = {
  readonly options: QueryOptions;
  readonly child: Child;
  readonly write: (line: JsonObject) => Promise<void>;
  readonly mailbox: Mailbox<Message>;
  readonly requests: Requests;
  readonly answering: HostAnswers;
  readonly session: { id: string };
  readonly results: Counter;
  /** Aborted when the query ends; the process may still be stopping. */
  readonly over: AbortController;
};

/** Ends the query, once. Stops the process and discards its remaining output. */
function endQuery(
  { over, answering, requests, mailbox, child }: Parts,
  { error, drop }: { readonly error?: Error; readonly drop?: boolean },
): void {
  if (over.signal.aborted) return;
  over.abort();
  answering.stop();
  requests.fail(error ?? new SdkError("closed", "The query has ended."));
  if (drop) mailbox.drop(error);
  else mailbox.end(error);
  child.stop();
}

/** Sends the first request. A program that does not answer is not Assent. */
async function sendInitialize({ options, requests, answering }: Parts): Promise<JsonObject> {
  const { startTimeoutMs = START_MS } = options;
  const silent = Promise.withResolvers<never>();
  const remedy = "Look whether `executable` is assent, or raise `startTimeoutMs`.";
  const late = new SdkError("not_started", `No answer to the first request within ${startTimeoutMs} ms. ${remedy}`);
  const timer = setTimeout(() => silent.reject(late), startTimeoutMs);
  try {
    return await Promise.race([requests.ask("initialize", { protocol: PROTOCOL, ...answering.offer }), silent.promise]);
  } finally {
    clearTimeout(timer);
  }
}

/** Reads until the process ends, while prompts are sent. */
async function handleProcess(parts: Parts, ready: Promise<JsonObject>): Promise<void> {
  const { child, mailbox } = parts;
  let fed = false;
  converse(parts, ready).then(
    () => {
      fed = true;
      child.endInput();
    },
    (error) => {
      if (!(error instanceof SdkError && error.type === "process_exited")) endQuery(parts, { error }); // the exit is reported once all output is read
    },
  );
  void child.gone.then(mailbox.lift);
  let exitCode: number | null = null;
  for await (const line of child.lines) {
    const message = handleLine(parts, line);
    if (message) parts.session.id = message.session_id;
    if (message?.type === "result") {
      exitCode = message.exit_code;
      parts.results.add();
    }
    if (message) await mailbox.put(message);
  }
  const exit = await child.exit;
  const orderly = exit.signal === null && (exit.code === 0 ? fed : exit.code === exitCode);
  endQuery(parts, orderly ? {} : { error: exitedEarly(exit) });
}

async function converse({ options, answering, results, over, write }: Parts, ready: Promise<JsonObject>): Promise<void> {
  const { pending } = await ready;
  const waiting = Array.isArray(pending) ? pending.filter(isObject) : [];
  for (const request of waiting) answering.answer(request);
  await feed(options.prompt, { write, results: results.reach, resumes: waiting.length > 0, over: over.signal });
}

/** Passes messages to the host and handles the rest. */
function handleLine({ options, requests, answering }: Parts, text: string): Message | undefined {
  const line = readLine(text);
  switch (line.kind) {
    case "message":
      return line.message;
    case "request":
      answering.answer(line.body);
      return undefined;
    case "response":
      requests.settle(line.body);
      return undefined;
    case "cancel":
      answering.withdraw(line.body["request_id"]);
      return undefined;
    case "stray":
      if (text.trim() !== "") options.onStrayLine?.(text);
      return undefined;
    default:
      return line satisfies never;
  }
}

function callbackFailed(session_id: string, message: string): Message {
  const common = { uuid: randomUUID(), session_id, parent_tool_use_id: null };
  return { type: "system", subtype: "warning", ...common, code: "callback_failed", message };
}

function aborted({ reason }: AbortSignal): SdkError {
  return new SdkError("aborted", "The query was aborted.", { cause: reason });
}
