import type { ToolAnswer, ToolRequest } from "./approval.ts";
import { type RegisteredHook, registerHooks, registration } from "./hook-registration.ts";
import { isObject, type JsonObject } from "./json.ts";
import type { QueryOptions } from "./query-options.ts";
import { readQuestionRequest, readToolRequest } from "./read-line.ts";
import { SdkError } from "./sdk-error.ts";

/** Answers what Assent asks of the host. */
export type Answering = {
  /** What to tell Assent at the start: who can be asked. */
  readonly offer: JsonObject;
  /** Answers a request, once per id, in its own time. */
  answer(request: JsonObject): void;
  /** The answer is no longer wanted. */
  withdraw(id: unknown): void;
  /** None is wanted any more. */
  stop(): void;
};

/** Where answers go. */
export type AnsweringParts = {
  readonly write: (line: JsonObject) => Promise<void>;
  /** Told of what a callback throws. */
  readonly failed: (message: string) => void;
};

/** Puts the host's callbacks behind the requests they answer. What a callback throws becomes an error response, never a yes, and the host is told of it. */
export function createAnswering(options: QueryOptions, { write, failed }: AnsweringParts): Answering {
  const hooks = registerHooks(options.hooks ?? {});
  const open = new Map<unknown, AbortController>();
  const seen = new Set<unknown>();

  async function respond(id: unknown, body: JsonObject): Promise<void> {
    const controller = new AbortController();
    open.set(id, controller);
    const response = await responseTo({ options, hooks, body, signal: controller.signal });
    if (controller.signal.aborted) return;
    open.delete(id);
    if ("error" in response) failed(`${body["subtype"]}: ${response.error}`);
    await write({ type: "control_response", response: { ...response, request_id: id } }).catch(() => undefined); // its end is told elsewhere
  }

  return {
    offer: {
      can_use_tool: options.canUseTool !== undefined,
      ask_user: options.askUser !== undefined,
      ...(hooks.length > 0 && { hooks: registration(hooks) }),
      ...(options.agents && { agents: options.agents }),
      ...(options.approvalTimeoutMs !== undefined && { approval_timeout_ms: options.approvalTimeoutMs }),
    },
    answer({ request_id: id, request }) {
      if (seen.has(id) || !isObject(request)) return;
      seen.add(id);
      void respond(id, request);
    },
    withdraw(id) {
      open.get(id)?.abort();
      open.delete(id);
    },
    stop() {
      for (const controller of open.values()) controller.abort();
      open.clear();
    },
  };
}

type Asked = {
  readonly options: QueryOptions;
  readonly hooks: readonly RegisteredHook[];
  readonly body: JsonObject;
  readonly signal: AbortSignal;
};

type Response = { readonly subtype: "success"; readonly response: unknown } | { readonly subtype: "error"; readonly error: string };

async function responseTo(asked: Asked): Promise<Response> {
  try {
    return { subtype: "success", response: (await answerTo(asked)) ?? {} };
  } catch (error) {
    return { subtype: "error", error: wordsOf(error) };
  }
}

function wordsOf(thrown: unknown): string {
  try {
    return thrown instanceof Error ? thrown.message : String(thrown);
  } catch {
    return "unknown error"; // not everything that can be thrown can be written
  }
}

async function answerTo({ options, hooks, body, signal }: Asked): Promise<unknown> {
  const { canUseTool, askUser } = options;
  const { subtype } = body;
  if (subtype === "can_use_tool" && canUseTool) {
    const request = readToolRequest(body);
    return bound(await canUseTool(request, { signal }), request);
  }
  if (subtype === "ask_user" && askUser) return await askUser(readQuestionRequest(body), { signal });
  if (subtype === "hook_callback") return await callHook(hooks, body, signal);
  throw new SdkError("protocol", `This host does not answer ${subtype}.`);
}

/** A yes says which request it was shown. */
function bound(answer: ToolAnswer, { fingerprint }: ToolRequest): unknown {
  return isObject(answer) && answer.behavior === "allow" ? { ...answer, fingerprint } : answer;
}

async function callHook(hooks: readonly RegisteredHook[], body: JsonObject, signal: AbortSignal): Promise<JsonObject | undefined> {
  const { callback_id: id, hook_event: event, tool_use_id: call, input } = body;
  const found = hooks.find((hook) => hook.id === id);
  if (!found) throw new SdkError("protocol", `There is no hook ${id}.`);
  const toolUseId = typeof call === "string" ? call : undefined;
  return await found.hook(isObject(input) ? input : {}, { signal, event: typeof event === "string" ? event : found.event, toolUseId });
}
