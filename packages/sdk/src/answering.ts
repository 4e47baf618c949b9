import type { ToolAnswer, ToolRequest } from "./approval.ts";
import { isObject, type JsonObject } from "./json.ts";
import { isSdkMcpServer, type SdkMcpServer } from "./mcp-server.ts";
import type { HookOption, QueryOptions } from "./query-options.ts";
import { readQuestionRequest, readToolRequest } from "./read-line.ts";
import { SdkError } from "./sdk-error.ts";

export type HostAnswers = {
  /** What the host can answer, for the first request. */
  readonly offer: JsonObject;
  /** Answers a request, once per id. */
  answer(request: JsonObject): void;
  withdraw(id: unknown): void;
  stop(): void;
};

export type HostAnswersOptions = {
  readonly write: (line: JsonObject) => Promise<void>;
  /** Called with the message of an error that a callback throws. */
  readonly failed: (message: string) => void;
};

/** Connects the host's callbacks to requests. An error in a callback becomes an error response, never an approval. */
export function createHostAnswers(options: QueryOptions, { write, failed }: HostAnswersOptions): HostAnswers {
  const hooks = registerHooks(options.hooks ?? {});
  const servers = new Map(Object.entries(options.mcpServers ?? {}).flatMap(([name, one]) => (isSdkMcpServer(one) ? [[name, one]] : [])));
  const open = new Map<unknown, AbortController>();
  const seen = new Set<unknown>();

  async function respond(id: unknown, body: JsonObject): Promise<void> {
    const controller = new AbortController();
    open.set(id, controller);
    const response = await responseTo({ options, hooks, servers, body, signal: controller.signal });
    if (controller.signal.aborted) return;
    open.delete(id);
    if ("error" in response) failed(`${body["subtype"]}: ${response.error}`);
    await write({ type: "control_response", response: { ...response, request_id: id } }).catch(() => undefined); // the end of the process is reported elsewhere
  }

  return {
    offer: {
      can_use_tool: options.canUseTool !== undefined,
      ask_user: options.askUser !== undefined,
      ...(hooks.length > 0 && { hooks: registration(hooks) }),
      ...(options.agents && { agents: options.agents }),
      ...(servers.size > 0 && { sdkMcpServers: [...servers.keys()] }),
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

type HostRequest = {
  readonly options: QueryOptions;
  readonly hooks: readonly RegisteredHook[];
  readonly servers: ReadonlyMap<string, SdkMcpServer>;
  readonly body: JsonObject;
  readonly signal: AbortSignal;
};

type HostResponse = { readonly subtype: "success"; readonly response: unknown } | { readonly subtype: "error"; readonly error: string };

async function responseTo(asked: HostRequest): Promise<HostResponse> {
  try {
    return { subtype: "success", response: (await answerTo(asked)) ?? {} };
  } catch (error) {
    return { subtype: "error", error: errorText(error) };
  }
}

function errorText(thrown: unknown): string {
  try {
    return thrown instanceof Error ? thrown.message : String(thrown);
  } catch {
    return "unknown error"; // some values cannot be converted to text
  }
}

async function answerTo({ options, hooks, servers, body, signal }: HostRequest): Promise<unknown> {
  const { canUseTool, askUser } = options;
  const { subtype } = body;
  if (subtype === "can_use_tool" && canUseTool) {
    const request = readToolRequest(body);
    return bindApproval(await canUseTool(request, { signal }), request);
  }
  if (subtype === "ask_user" && askUser) return await askUser(readQuestionRequest(body), { signal });
  if (subtype === "hook_callback") return await callHook(hooks, body, signal);
  if (subtype === "mcp_message") return await passMessage(servers, body);
  throw new SdkError("protocol", `This host does not answer ${subtype}.`);
}

async function passMessage(servers: HostRequest["servers"], { server_name: name, message }: JsonObject): Promise<JsonObject> {
  const server = typeof name === "string" ? servers.get(name) : undefined;
  if (!server || !isObject(message))
    throw new SdkError("protocol", `There is no MCP server ${JSON.stringify(name ?? null)} in this program.`);
  const answer = await server.answer(message);
  return answer ? { mcp_response: answer } : {};
}

/** Adds the fingerprint of the shown request to an approval. */
function bindApproval(answer: ToolAnswer, { fingerprint }: ToolRequest): unknown {
  return isObject(answer) && answer.behavior === "allow" ? { ...answer, fingerprint } : answer;
}

async function callHook(hooks: readonly RegisteredHook[], body: JsonObject, signal: AbortSignal): Promise<JsonObject | undefined> {
  const { callback_id: id, hook_event: event, tool_use_id: call, input } = body;
  const found = hooks.find((hook) => hook.id === id);
  if (!found) throw new SdkError("protocol", `There is no hook ${id}.`);
  const toolUseId = typeof call === "string" ? call : undefined;
  return await found.hook(isObject(input) ? input : {}, { signal, event: typeof event === "string" ? event : found.event, toolUseId });
}

export type RegisteredHook = HookOption & { readonly id: string; readonly event: string };

function registerHooks(hooks: NonNullable<QueryOptions["hooks"]>): readonly RegisteredHook[] {
  const all = Object.entries(hooks).flatMap(([event, options]) => options.map((option) => ({ ...option, event })));
  return all.map((hook, at) => ({ ...hook, id: `hook_${at + 1}` }));
}

/** The hooks for the first request, by event. */
function registration(hooks: readonly RegisteredHook[]): JsonObject {
  const events = Map.groupBy(hooks, ({ event }) => event);
  return Object.fromEntries([...events].map(([event, its]) => [event, its.map(announced)]));
}

function announced({ id, matcher, timeoutMs }: RegisteredHook): JsonObject {
  return { callback_ids: [id], ...(matcher !== undefined && { matcher }), ...(timeoutMs !== undefined && { timeout_ms: timeoutMs }) };
}
