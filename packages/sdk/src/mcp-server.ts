import { isObject, type JsonObject } from "./json.ts";

/** What a tool returns: a text, or content as MCP has it. */
export type SdkToolResult =
  | string
  | { readonly content: readonly JsonObject[]; readonly structuredContent?: JsonObject; readonly isError?: boolean };

/** A schema that validates and describes itself, such as one of zod. */
type DescribedSchema = {
  readonly "~standard": {
    readonly validate: (value: unknown) => unknown;
    readonly jsonSchema?: { readonly input: (options: { readonly target: string }) => unknown };
  };
  readonly toJSONSchema?: () => unknown;
};

/** A JSON Schema of an object, or a schema that validates and describes itself, such as one of zod. */
export type SdkToolSchema = JsonObject | DescribedSchema;

/** A tool that runs in this program. */
export type SdkTool = {
  readonly name: string;
  readonly description: string;
  readonly inputSchema: SdkToolSchema;
  readonly run: (input: JsonObject, asking: { readonly signal: AbortSignal }) => Promise<SdkToolResult> | SdkToolResult;
  readonly annotations?: JsonObject;
};

/** An MCP server in this program; give it to `query` in `mcpServers`. */
export type SdkMcpServer = {
  readonly type: "sdk";
  readonly name: string;
  /** Answers one message of MCP; undefined for a notification. */
  readonly answer: (message: JsonObject) => Promise<JsonObject | undefined>;
};

/** Declares a tool of `createSdkMcpServer`. A throw in `run` reaches the model as the tool's error. */
export function tool(
  name: string,
  description: string,
  inputSchema: SdkToolSchema,
  run: SdkTool["run"],
  options: { readonly annotations?: JsonObject } = {},
): SdkTool {
  return { name, description, inputSchema, run, ...options };
}

const PROTOCOL = "2025-11-25";

/** Creates an MCP server in this program. The model calls its tools as `mcp__NAME__TOOL`, by the rules for MCP tools. */
export function createSdkMcpServer(options: {
  readonly name: string;
  readonly version?: string;
  readonly tools?: readonly SdkTool[];
}): SdkMcpServer {
  const { name, version = "1", tools = [] } = options;
  const listed = tools.map((one) => ({
    name: one.name,
    description: one.description,
    inputSchema: describeSchema(one),
    ...(one.annotations && { annotations: one.annotations }),
  }));
  const running = new Map<unknown, AbortController>();
  const call = async (id: unknown, params: JsonObject): Promise<JsonObject> => {
    const called = tools.find((one) => one.name === params["name"]);
    if (!called) throw new MethodError(-32_602, `There is no tool ${JSON.stringify(params["name"] ?? null)}.`);
    const cancel = new AbortController();
    running.set(id, cancel);
    try {
      const input = await validate(called, isObject(params["arguments"]) ? params["arguments"] : {});
      return toResult(await called.run(input, { signal: cancel.signal }));
    } catch (error) {
      return { ...toResult(error instanceof Error ? error.message : String(error)), isError: true };
    } finally {
      running.delete(id);
    }
  };
  const methods: Readonly<Record<string, (id: unknown, params: JsonObject) => Promise<JsonObject> | JsonObject>> = {
    initialize: (_id, { protocolVersion }) => ({
      protocolVersion: typeof protocolVersion === "string" ? protocolVersion : PROTOCOL,
      capabilities: { tools: {} },
      serverInfo: { name, version },
    }),
    ping: () => ({}),
    "tools/list": () => ({ tools: listed }),
    "tools/call": call,
  };
  return {
    type: "sdk",
    name,
    answer: async ({ id, method, params }) => {
      const given = isObject(params) ? params : {};
      if (method === "notifications/cancelled") running.get(given["requestId"])?.abort();
      if (id === undefined || id === null || typeof method !== "string") return undefined;
      const handler = Object.hasOwn(methods, method) ? methods[method] : undefined;
      try {
        if (!handler) throw new MethodError(-32_601, `This server does not know ${method}.`);
        return { jsonrpc: "2.0", id, result: await handler(id, given) };
      } catch (error) {
        const code = error instanceof MethodError ? error.code : -32_603;
        return { jsonrpc: "2.0", id, error: { code, message: error instanceof Error ? error.message : String(error) } };
      }
    },
  };
}

/** True for a server of this program. */
export function isSdkMcpServer(server: unknown): server is SdkMcpServer {
  return isObject(server) && server["type"] === "sdk" && typeof server["answer"] === "function";
}

class MethodError extends Error {
  readonly code: number;
  constructor(code: number, message: string) {
    super(message);
    this.code = code;
  }
}

function isDescribed(schema: SdkToolSchema): schema is DescribedSchema {
  return "~standard" in schema;
}

function describeSchema({ name, inputSchema }: SdkTool): unknown {
  if (!isDescribed(inputSchema)) return inputSchema;
  const described = inputSchema["~standard"].jsonSchema?.input({ target: "draft-2020-12" }) ?? inputSchema.toJSONSchema?.();
  if (isObject(described)) return described;
  throw new TypeError(`The schema of the tool ${name} does not describe itself as JSON Schema. Give a JSON Schema instead.`);
}

/** Assent has checked the JSON Schema already; a schema of a library may check and change more. */
async function validate({ inputSchema }: SdkTool, input: JsonObject): Promise<JsonObject> {
  if (!isDescribed(inputSchema)) return input;
  const read: unknown = await inputSchema["~standard"].validate(input);
  const { value, issues } = isObject(read) ? read : {};
  if (Array.isArray(issues))
    throw new TypeError(issues.map((issue) => (isObject(issue) ? String(issue["message"]) : "invalid")).join("; "));
  return isObject(value) ? value : {};
}

function toResult(result: SdkToolResult): JsonObject {
  return typeof result === "string" ? { content: [{ type: "text", text: result }] } : { ...result };
}
