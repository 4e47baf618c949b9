import type { Json } from "../json/json.ts";

/** One piece of content for the model. */
export type ContentPart =
  | { readonly type: "text"; readonly text: string }
  | { readonly type: "image"; readonly mediaType: string; readonly data: string }
  | { readonly type: "file"; readonly mediaType: string; readonly data: string; readonly name?: string }
  | { readonly type: "json"; readonly value: Json };

/** What the model receives: text, or parts. */
export type Content = string | readonly ContentPart[];

/** Lines and characters a change adds and removes, by the model and by the person's edit of it. */
export type DiffStat = {
  readonly model_added_lines: number;
  readonly model_removed_lines: number;
  readonly model_added_chars: number;
  readonly model_removed_chars: number;
  readonly user_added_lines: number;
  readonly user_removed_lines: number;
  readonly user_added_chars: number;
  readonly user_removed_chars: number;
};

/** A run of terminal text with one set of attributes. */
export type AnsiRun = {
  readonly text: string;
  readonly bold: boolean;
  readonly italic: boolean;
  readonly underline: boolean;
  readonly dim: boolean;
  readonly inverse: boolean;
  readonly fg: string;
  readonly bg: string;
};

/** A nested call, as an agent run shows it. */
export type TaskCall = {
  readonly callId: string;
  readonly name: string;
  readonly status: "executing" | "awaiting_approval" | "success" | "failed";
  readonly error?: string;
  readonly args?: Json;
  readonly result?: string;
  readonly resultDisplay?: string;
  readonly responseParts?: readonly ContentPart[];
  readonly description?: string;
};

/** What people see of a result. */
export type Display =
  | string
  | {
      readonly type: "file_diff";
      readonly fileDiff: string;
      readonly fileName: string;
      readonly originalContent: string | null;
      readonly newContent: string;
      readonly diffStat?: DiffStat;
    }
  | {
      readonly type: "todo_list";
      readonly todos: readonly {
        readonly id: string;
        readonly content: string;
        readonly status: "pending" | "in_progress" | "completed";
      }[];
    }
  | { readonly type: "plan_summary"; readonly message: string; readonly plan: string; readonly rejected?: boolean }
  | {
      readonly type: "task_execution";
      readonly agentName: string;
      readonly agentColor?: string;
      readonly taskDescription: string;
      readonly taskPrompt: string;
      readonly status: "running" | "completed" | "failed" | "cancelled" | "background";
      readonly terminateReason?: string;
      readonly result?: string;
      readonly executionSummary?: {
        readonly turns: number;
        readonly toolCalls: number;
        readonly succeededCalls: number;
        readonly failedCalls: number;
        readonly inputTokens: number;
        readonly outputTokens: number;
        readonly totalTokens: number;
        readonly durationMs: number;
      };
      readonly pendingConfirmation?: { readonly approvalId: string; readonly details: Json };
      readonly toolCalls?: readonly TaskCall[];
    }
  | { readonly type: "ansi_output"; readonly ansiOutput: readonly (readonly AnsiRun[])[] }
  | { readonly type: "tool_progress"; readonly progress: number; readonly total?: number; readonly message?: string };

/** A file with the full output of a call whose text was cut; `cut` means the file hit its own limit. */
export type SpilledOutput = { readonly path: string; readonly size: number; readonly sha256: string; readonly cut?: true };

/** The result of a call; it is a failure exactly if `error` is present. */
export type ToolResult = {
  readonly content: Content;
  /** The result as a JSON value, for programs. A `content` of one `json` part sets it. */
  readonly value?: Json;
  readonly display?: Display;
  readonly error?: { readonly message: string; readonly type?: string };
  readonly modelOverride?: string;
  readonly details?: Json;
  readonly spilled?: readonly SpilledOutput[];
};

/** What a body may return: a `ToolResult`, a text, or any other JSON value, which the model gets as JSON text. */
export type ToolOutput = ToolResult | Json;

/** The JSON value of a result or of a recorded end, if it has one. */
export function resultValue({ content, value }: Pick<ToolResult, "content" | "value">): Json | undefined {
  return value === undefined ? onlyValue(content) : value;
}

/** The value of content that is exactly one `json` part. */
export function onlyValue(content: Content): Json | undefined {
  const [part, ...others] = typeof content === "string" ? [] : content;
  return part?.type === "json" && others.length === 0 ? part.value : undefined;
}
