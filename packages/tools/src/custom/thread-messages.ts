import type { MessagePort } from "node:worker_threads";
import type { JsonSchema, PendingAction } from "@assent/core";
import { messageOf } from "@assent/core/setup";
import type { CustomTool, CustomToolContext, ExecOptions, LogLevel } from "./custom-tool.ts";
import type { FailureType } from "./tool-failure.ts";

export type ThreadStart = {
  /** With links resolved. */
  readonly file: string;
  /** The name to show to people. */
  readonly shownFile: string;
  readonly cwd: string;
  readonly staging: boolean;
  readonly port: MessagePort;
  /** Answers to `sync` messages arrive here; then `answered[0]` becomes 1. */
  readonly syncPort: MessagePort;
  readonly answered: Int32Array;
};

/** A tool as plain data. Its functions stay in the thread. */
export type DescribedTool = Pick<CustomTool, DataField> & {
  /** `standard`: the schema validates with its own code, in the thread. */
  readonly schemaKind: "standard" | "plain";
  readonly inputSchema: JsonSchema;
  readonly functions: readonly ToolFunction[];
};

export const DATA_FIELDS = ["name", "label", "description", "kind", "readOnly", "hidden", "pollSafe", "timeoutMs"] as const;
type DataField = (typeof DATA_FIELDS)[number];

export const TOOL_FUNCTIONS = [
  "execute",
  "permission",
  "preview",
  "apply",
  "idempotencyKey",
  "probe",
  "renderCall",
  "renderResult",
] as const;
export type ToolFunction = (typeof TOOL_FUNCTIONS)[number];

export type DescribedItem = { readonly tool: DescribedTool } | { readonly name?: string; readonly fault: string };

export type LoadReport =
  | { readonly items: readonly DescribedItem[] }
  | { readonly failure: { readonly type: FailureType; readonly reason: string } };

export type CallFacts = Pick<CustomToolContext, "cwd" | "sessionId" | "callId" | "mode" | "idempotencyKey">;

/** Requests to a thread. `at` is the tool's index in the factory's list. */
export type ThreadRequest =
  | { readonly fn: "validate" | "permission" | "renderCall" | "renderResult"; readonly at: number; readonly input: unknown }
  | { readonly fn: "idempotencyKey" | "probe"; readonly at: number; readonly input: unknown; readonly ctx: unknown }
  | { readonly fn: "execute" | "preview" | "apply"; readonly at: number; readonly input: unknown; readonly call: CallFacts }
  | {
      readonly fn: "settle";
      readonly action: number;
      readonly how: "apply" | "reject";
      readonly reason: string;
      readonly extra: unknown;
      readonly proposalId: string;
    };

export type ToThread =
  | { readonly type: "request"; readonly id: number; readonly request: ThreadRequest }
  | { readonly type: "abort"; readonly id: number; readonly reason: SentError }
  | { readonly type: "answer"; readonly id: number; readonly outcome: SentOutcome }
  | { readonly type: "ping" };

/** Requests from a thread that do not block it. `request` is the call it belongs to. */
export type ThreadAsk =
  | {
      readonly kind: "exec";
      readonly request: number;
      readonly file: string;
      readonly args: readonly string[];
      readonly options: SentExecOptions;
    }
  | { readonly kind: "gate"; readonly request: number; readonly nested: { readonly name: string; readonly arguments: unknown } }
  | { readonly kind: "ui"; readonly method: UiMethod; readonly args: readonly unknown[] };

export type SentExecOptions = Omit<ExecOptions, "signal">;
export type UiMethod = "select" | "confirm" | "input" | "editor";

export type ThreadSyncAsk = { readonly kind: "hasUI" } | { readonly kind: "push"; readonly request: number; readonly action: SentAction };

/** A pending action. Its callbacks stay in the thread, under `number`. */
export type SentAction = {
  readonly number: number;
  readonly label: string | undefined;
  readonly sourceToolName: string | undefined;
  readonly details: unknown;
  readonly callbacks: Readonly<Record<"apply" | "reject", "function" | "absent" | "other">>;
};

export type FromThread =
  | { readonly type: "started" | "imported" | "pong" }
  | { readonly type: "loaded"; readonly report: LoadReport }
  /** The module imported this file. */
  | { readonly type: "file"; readonly path: string; readonly digest: string }
  | { readonly type: "log"; readonly level: LogLevel; readonly message: string }
  | { readonly type: "done"; readonly id: number; readonly outcome: SentOutcome }
  | { readonly type: "ask"; readonly id: number; readonly ask: ThreadAsk }
  | { readonly type: "cancelAsk"; readonly id: number }
  | { readonly type: "sync"; readonly ask: ThreadSyncAsk }
  | { readonly type: "update"; readonly request: number; readonly soFar: unknown }
  | { readonly type: "commit"; readonly request: number }
  | { readonly type: "notify"; readonly message: string; readonly level: "info" | "warning" | "error" | undefined };

export type SentOutcome = { readonly value: unknown } | { readonly error: SentError };

export type SentError = {
  readonly isError: boolean;
  readonly message: string;
  readonly name?: string;
  readonly type?: string;
  readonly code?: string;
};

/** Converts a thrown value to data. Never throws. */
export function toSentError(thrown: unknown): SentError {
  const message = messageOf(thrown);
  try {
    if (!(thrown instanceof Error)) return { isError: false, message };
    const [name, type, code] = ["name", "type", "code"].map((field) => Reflect.get(thrown, field));
    return {
      isError: true,
      message,
      ...(typeof name === "string" && { name }),
      ...(typeof type === "string" && { type }),
      ...(typeof code === "string" && { code }),
    };
  } catch {
    return { isError: true, message };
  }
}

export function reviveError({ isError, message, ...fields }: SentError): unknown {
  return isError ? Object.assign(new Error(message), fields) : message;
}

export function toSentAction(given: unknown, number: number): SentAction {
  const { label, sourceToolName, details, apply, reject } = Object(given) as Partial<PendingAction>; // a module may push anything
  const kindOf = (callback: unknown) => (typeof callback === "function" ? "function" : callback === undefined ? "absent" : "other");
  return {
    number,
    label: typeof label === "string" ? label : undefined,
    sourceToolName: typeof sourceToolName === "string" ? sourceToolName : undefined,
    details,
    callbacks: { apply: kindOf(apply), reject: kindOf(reject) },
  };
}
