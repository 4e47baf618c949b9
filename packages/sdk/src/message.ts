import type { Approval } from "./approval.ts";
import type { JsonObject } from "./json.ts";

/** What the model may do without asking. */
export type Mode = "default" | "plan" | "auto-edit" | "yolo";

/** What happens to a call that needs approval when no person answers. */
export type OnAsk = "deny" | "park" | "fail";

/** A part of a message. */
export type Block =
  | { readonly type: "text"; readonly text: string }
  | { readonly type: "thinking"; readonly thinking: string }
  | { readonly type: "tool_use"; readonly id: string; readonly name: string; readonly input: JsonObject }
  | {
      readonly type: "tool_result";
      readonly tool_use_id: string;
      readonly content: string | readonly JsonObject[];
      readonly is_error: boolean;
      /** What the tool returned, if that was a JSON value. */
      readonly value?: unknown;
      readonly outcome: string;
      readonly error_type?: string;
    };

/** Tokens of one or more requests. */
export type Usage = {
  readonly input_tokens: number;
  readonly output_tokens: number;
  readonly cache_read_tokens?: number;
  readonly total_tokens?: number;
};

type Common = {
  readonly uuid: string;
  readonly session_id: string;
  /** The ledger event that this line shows. */
  readonly seq?: number;
  /** The call that started the agent; null for the main agent. */
  readonly parent_tool_use_id: string | null;
};

/** A message from the host to the model. */
export type UserMessage = {
  readonly type: "user";
  readonly message: { readonly role: "user"; readonly content: string | readonly Block[] };
  /** A message with a known uuid is ignored. */
  readonly uuid?: string;
};

/** A prompt, results of calls, or a notice. */
export type UserLine = Common & {
  readonly type: "user";
  readonly message: { readonly role: "user"; readonly content: string | readonly Block[] };
  readonly origin: "user" | "notice" | "schedule" | "tool";
  readonly display_text?: string;
};

/** A whole answer of the model. */
export type AssistantLine = Common & {
  readonly type: "assistant";
  readonly message: {
    readonly role: "assistant";
    readonly id: string;
    readonly model: string;
    readonly content: readonly Block[];
    readonly stop_reason: string | null;
    readonly usage: Usage;
  };
};

/** A streaming event of an answer. */
export type StreamEvent =
  | { readonly type: "message_start"; readonly message: { readonly id: string; readonly role: "assistant"; readonly model: string } }
  | { readonly type: "content_block_start"; readonly index: number; readonly content_block: Block }
  | { readonly type: "content_block_delta"; readonly index: number; readonly delta: StreamDelta }
  | { readonly type: "content_block_stop"; readonly index: number }
  | { readonly type: "message_stop" }
  | { readonly type: "tool_progress"; readonly tool_use_id: string; readonly text: string };

/** What an event adds to its block. */
export type StreamDelta =
  | { readonly type: "text_delta"; readonly text: string }
  | { readonly type: "thinking_delta"; readonly thinking: string }
  | { readonly type: "input_json_delta"; readonly partial_json: string };

/** Only with `includePartialMessages`. */
export type StreamLine = Common & { readonly type: "stream_event"; readonly event: StreamEvent };

type Task = { readonly task_id: string; readonly tool_use_id?: string };

/** The fields of each kind of `system` line. */
export type SystemBodies = {
  readonly init: {
    readonly cwd: string;
    readonly model: string;
    readonly permission_mode: Mode;
    readonly on_ask: OnAsk;
    readonly tools: readonly string[];
    readonly agents: readonly string[];
    readonly version: string;
    readonly protocol: number;
    readonly resumed: boolean;
    readonly pending_approvals: readonly Approval[];
  };
  readonly decision: {
    readonly tool_use_id: string;
    readonly tool_name: string;
    readonly decision: "allow" | "deny" | "canceled";
    readonly source: string;
    readonly label?: string;
    readonly rule?: string;
    readonly reason?: string;
    readonly fingerprint: string;
  };
  readonly approval_opened: { readonly approval: Approval };
  readonly approval_closed: {
    readonly approval_id: string;
    /** For a question: `answered` or `declined`. */
    readonly outcome: "approved" | "rejected" | "expired" | "cancelled" | "denied" | "answered" | "declined";
    readonly by?: string;
    readonly reason?: string;
  };
  readonly proposal: {
    readonly proposal_id: string;
    readonly state: string;
    readonly label: string;
    readonly files: readonly { readonly path: string; readonly added: number; readonly removed: number }[];
    readonly tool_use_id: string;
  };
  readonly task_started: Task & { readonly description: string; readonly agent: string };
  readonly task_notification: Task & {
    readonly status: string;
    readonly summary: string;
    readonly output_session: string;
    readonly usage: { readonly total_tokens: number; readonly tool_uses: number; readonly duration_ms: number };
  };
  readonly task_paused: Task & { readonly reason: string };
  readonly schedule_fired: { readonly schedule_id: string; readonly due: string; readonly missed: number };
  readonly notice_delivered: { readonly notice_ids: readonly string[]; readonly turn: number };
  readonly model_changed: Change;
  readonly mode_changed: Change;
  readonly hook: { readonly hook_event: string; readonly hook: string; readonly outcome: string; readonly duration_ms: number };
  readonly warning: { readonly code: string; readonly message: string };
  readonly protocol_error: { readonly line: number; readonly message: string };
};

type Change = { readonly from: string; readonly to: string; readonly by: string };

/** An event of the runtime. Newer versions may send other kinds. */
export type SystemLine = {
  [S in keyof SystemBodies]: Common & { readonly type: "system"; readonly subtype: S } & SystemBodies[S];
}[keyof SystemBodies];

/** The result of one user message. */
export type ResultLine = Common & {
  readonly type: "result";
  readonly subtype:
    | "success"
    | "error_during_execution"
    | "error_max_turns"
    | "error_budget"
    | "error_expectation"
    | "error_incomplete_answer"
    | "interrupted"
    | "parked"
    | "error_cancelled";
  readonly is_error: boolean;
  readonly exit_code: number | null;
  readonly result: string;
  readonly num_turns: number;
  readonly num_tool_calls: number;
  readonly duration_ms: number;
  readonly duration_api_ms: number;
  readonly usage: Usage;
  readonly model_usage: { readonly [model: string]: Usage };
  readonly permission_denials: readonly Denial[];
  readonly unknown_outcomes: readonly { readonly tool_name: string; readonly tool_use_id: string; readonly evidence: unknown }[];
  readonly approvals: readonly Approval[];
  readonly resume?: string;
  readonly error?: { readonly type: string; readonly message: string; readonly hint?: string };
};

/** A call that was denied. */
export type Denial = {
  readonly tool_name: string;
  readonly tool_use_id: string;
  readonly input: JsonObject;
  readonly reason: string;
  readonly source: string;
};

/** A message of a query, as it is on the wire. */
export type Message = SystemLine | UserLine | AssistantLine | StreamLine | ResultLine;
