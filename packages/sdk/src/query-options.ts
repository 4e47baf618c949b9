import type { QuestionAnswer, QuestionRequest, ToolAnswer, ToolRequest } from "./approval.ts";
import type { JsonObject } from "./json.ts";
import type { SdkMcpServer } from "./mcp-server.ts";
import type { Mode, OnAsk, UserMessage } from "./message.ts";

/** The second argument of callbacks. */
export type CallbackOptions = {
  /** Aborted when the answer is no longer needed. */
  readonly signal: AbortSignal;
};

/** A hook function. Undefined means no opinion. An error counts as a failure, and blocks where a hook can block. */
export type HookCallback = (
  input: JsonObject,
  options: CallbackOptions & { readonly event: string; readonly toolUseId: string | undefined },
) => Promise<JsonObject | undefined> | JsonObject | undefined;

/** A hook and what it matches. */
export type HookOption = {
  /** An anchored regular expression on the tool's name or the event's own value. Default: everything. */
  readonly matcher?: string;
  readonly hook: HookCallback;
  /** Default: 60 seconds. */
  readonly timeoutMs?: number;
};

/** Options of `query`. */
export type QueryOptions = {
  /** One prompt, or a stream of prompts. Each gets one `result`. */
  readonly prompt: string | AsyncIterable<UserMessage | string>;
  /** Answers calls that need approval. Default: `onAsk` decides. */
  readonly canUseTool?: (request: ToolRequest, options: CallbackOptions) => Promise<ToolAnswer> | ToolAnswer;
  /** Answers questions of the model. Default: `onAsk` decides. */
  readonly askUser?: (request: QuestionRequest, options: CallbackOptions) => Promise<QuestionAnswer> | QuestionAnswer;
  /** By event, as `PreToolUse` or `pre_tool_use`. */
  readonly hooks?: { readonly [event: string]: readonly HookOption[] };
  /** Agents in addition to those of the workspace. */
  readonly agents?: { readonly [name: string]: JsonObject };
  /** Approvals expire after this time. Default: never. */
  readonly approvalTimeoutMs?: number | null;

  readonly model?: string;
  readonly mode?: Mode;
  readonly onAsk?: OnAsk;
  readonly maxTurns?: number;
  readonly maxToolCalls?: number;
  readonly maxTimeMs?: number;
  readonly includePartialMessages?: boolean;
  /** The session to resume. */
  readonly resume?: string;
  readonly workspace?: string;
  readonly addDirs?: readonly string[];
  /** Modules with custom tools. */
  readonly tools?: readonly string[];
  /**
   * MCP servers by name: in the form of `.mcp.json`, or made by `createSdkMcpServer`. Other users of the machine can see the former; write
   * secrets as `${VAR}`.
   */
  readonly mcpServers?: { readonly [name: string]: JsonObject | SdkMcpServer };
  readonly allow?: readonly string[];
  readonly ask?: readonly string[];
  readonly deny?: readonly string[];
  readonly policy?: string;
  readonly store?: string;
  /** More command line options. */
  readonly args?: readonly string[];

  /** Default: `assent` in PATH. A `.js` or `.mjs` file runs with this Node. */
  readonly executable?: string;
  readonly cwd?: string;
  /** Added to this process's environment; undefined removes a variable. */
  readonly env?: { readonly [name: string]: string | undefined };
  /** Stops the process; the iterator throws `aborted`. */
  readonly abort?: AbortSignal;
  /** How long the process may take to answer the first request. Default: one minute. */
  readonly startTimeoutMs?: number;
  /** How long the process may take to stop before it is killed. Default: ten seconds. */
  readonly graceMs?: number;
  /** Receives stderr of the process. */
  readonly onStderr?: (text: string) => void;
  /** Receives lines on stdout that are not messages. */
  readonly onStrayLine?: (line: string) => void;
};
