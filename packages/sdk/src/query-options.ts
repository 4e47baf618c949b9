import type { QuestionAnswer, QuestionRequest, ToolAnswer, ToolRequest } from "./approval.ts";
import type { JsonObject } from "./json.ts";
import type { Mode, OnAsk, UserMessage } from "./message.ts";

/** What a callback is told besides its question. */
export type Asking = {
  /** Aborted when the answer is no longer wanted: somebody else answered, the call ended, the process is gone. */
  readonly signal: AbortSignal;
};

/** A function consulted at an event. Undefined is no opinion; what it throws is a failure, and where a hook can block, that blocks. */
export type HookCallback = (
  input: JsonObject,
  asking: Asking & { readonly event: string; readonly toolUseId: string | undefined },
) => Promise<JsonObject | undefined> | JsonObject | undefined;

/** A hook, and what it is consulted on. */
export type HookOption = {
  /** Anchored regular expression on the tool's name, or on what the event matches; absent: all. */
  readonly matcher?: string;
  readonly hook: HookCallback;
  /** Default 60 seconds. */
  readonly timeoutMs?: number;
};

/** How to run Assent, and who answers it. */
export type QueryOptions = {
  /** One prompt, or prompts as they come; each gets one `result`. */
  readonly prompt: string | AsyncIterable<UserMessage | string>;
  /** Answers calls that ask. Without it `onAsk` decides. */
  readonly canUseTool?: (request: ToolRequest, asking: Asking) => Promise<ToolAnswer> | ToolAnswer;
  /** Answers questions of the model. Without it `onAsk` decides. */
  readonly askUser?: (request: QuestionRequest, asking: Asking) => Promise<QuestionAnswer> | QuestionAnswer;
  /** By event, in either spelling: `PreToolUse` or `pre_tool_use`. */
  readonly hooks?: { readonly [event: string]: readonly HookOption[] };
  /** Agents of this session besides those of the workspace. */
  readonly agents?: { readonly [name: string]: JsonObject };
  /** Answers after this time come too late. Null or absent: any time. */
  readonly approvalTimeoutMs?: number | null;

  readonly model?: string;
  readonly mode?: Mode;
  readonly onAsk?: OnAsk;
  readonly maxTurns?: number;
  readonly maxToolCalls?: number;
  readonly maxTimeMs?: number;
  readonly includePartialMessages?: boolean;
  /** A session to take up again. */
  readonly resume?: string;
  readonly workspace?: string;
  readonly addDirs?: readonly string[];
  /** Modules of custom tools. */
  readonly tools?: readonly string[];
  readonly allow?: readonly string[];
  readonly ask?: readonly string[];
  readonly deny?: readonly string[];
  readonly policy?: string;
  readonly store?: string;
  /** More options of the command line, as they are. */
  readonly args?: readonly string[];

  /** Default: `assent`, looked up in PATH. A path that ends in `.js` or `.mjs` runs with this Node. */
  readonly executable?: string;
  readonly cwd?: string;
  /** On top of this process's environment; undefined takes a variable away. */
  readonly env?: { readonly [name: string]: string | undefined };
  /** Ends the query: the process is told to stop, the iterator throws `aborted`. */
  readonly abort?: AbortSignal;
  /** How long the process may take to answer the first request. Default one minute. */
  readonly startTimeoutMs?: number;
  /** How long the process may take to stop, results recorded, before it is killed. Default ten seconds. */
  readonly graceMs?: number;
  /** What the process says on stderr. */
  readonly onStderr?: (text: string) => void;
  /** A line on stdout that is no message of the protocol. */
  readonly onStrayLine?: (line: string) => void;
};
