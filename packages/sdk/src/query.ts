import type { AnswerReport, AppliedChoice, Approval, QuestionAnswer } from "./approval.ts";
import { connect } from "./connection.ts";
import type { JsonObject } from "./json.ts";
import type { Message, Mode } from "./message.ts";
import type { QueryOptions } from "./query-options.ts";
import { type Exit, SdkError } from "./sdk-error.ts";

/** An approval, and the fingerprint of the request that was shown. */
export type ApprovalRef = { readonly approvalId: string; readonly fingerprint: string; readonly reason?: string };

/** An approval given by a method instead of a callback. */
export type ApprovalAnswer = ApprovalRef &
  AppliedChoice & {
    readonly updatedInput?: JsonObject;
    /** The id of a suggestion. */
    readonly remember?: string;
    /** For a parked question. */
    readonly answers?: Extract<QuestionAnswer, { outcome: "answered" }>["answers"];
  };

/**
 * A run of Assent. Iterate it for its messages; it ends with the process. Throws an `SdkError` on an abort or if the process ends too
 * early. A run that fails otherwise ends with a `result`. A slow reader slows the run down.
 */
export type Query = AsyncIterableIterator<Message, undefined, undefined> &
  AsyncDisposable & {
    /** Version, models, commands, agents and tools of Assent. */
    readonly ready: Promise<JsonObject>;
    /** How the process ended. Rejects if it could not be started. */
    readonly exit: Promise<Exit>;
    /** Ends the current turns, or with `end` the whole run. Resolves when the results are recorded. */
    interrupt(options?: { readonly end?: boolean }): Promise<void>;
    setMode(mode: Mode): Promise<void>;
    /** From the next request on; null is the default model. */
    setModel(model: string | null): Promise<void>;
    approve(approving: ApprovalAnswer): Promise<AnswerReport>;
    reject(rejecting: ApprovalRef): Promise<AnswerReport>;
    listApprovals(): Promise<readonly Approval[]>;
    taskStop(taskId: string): Promise<void>;
    taskSend(taskId: string, message: string): Promise<void>;
    status(): Promise<Status>;
    /** Stops the process and waits for its end. Can be called more than once. */
    close(): Promise<void>;
  };

/** Runs a prompt, or a conversation. */
export function query(options: QueryOptions): Query {
  const { ask, take, ready, exit, close } = connect(options);
  const tell = async (subtype: string, fields: JsonObject): Promise<void> => void (await ask(subtype, fields));
  const self: Query = {
    ready,
    exit,
    next: () => take(),
    return: async () => {
      await close();
      return { done: true, value: undefined };
    },
    [Symbol.asyncIterator]: () => self,
    [Symbol.asyncDispose]: close,
    interrupt: ({ end = false } = {}) => tell("interrupt", end ? { end } : {}),
    setMode: (mode) => tell("set_permission_mode", { mode }),
    setModel: (model) => tell("set_model", { model }),
    approve: async ({ updatedInput, answers, remember, write, part, ...ref }) =>
      readReport(
        await ask("approve", {
          ...answering(ref),
          ...(updatedInput && { updated_input: updatedInput }),
          ...(remember !== undefined && { remember }),
          ...(answers && { answers }),
          ...(write !== undefined && { write }),
          ...(part && { part }),
        }),
      ),
    reject: async (ref) => readReport(await ask("reject", answering(ref))),
    listApprovals: async () => readApprovals(await ask("list_approvals")),
    taskStop: (taskId) => tell("task_stop", { task_id: taskId }),
    taskSend: (taskId, message) => tell("task_send", { task_id: taskId, message }),
    status: async () => readStatus(await ask("status")),
    close,
  };
  return self;
}

function answering({ approvalId, fingerprint, reason }: ApprovalRef): JsonObject {
  return { approval_id: approvalId, fingerprint, ...(reason !== undefined && { reason }) };
}

/** What a run is doing. */
export type Status = {
  readonly session_id: string;
  readonly state: "idle" | "running" | "waiting";
  readonly turn: number;
  readonly open_calls: readonly { readonly tool_use_id: string; readonly tool_name: string; readonly state: string }[];
  readonly tasks: readonly { readonly task_id: string; readonly agent: string; readonly description: string; readonly status: string }[];
  readonly schedules: readonly { readonly schedule_id: string; readonly due: string; readonly prompt: string }[];
};

function readReport(response: JsonObject): AnswerReport {
  if (typeof response["outcome"] !== "string") throw invalidResponse("approve");
  return response as unknown as AnswerReport;
}

function readApprovals({ approvals }: JsonObject): readonly Approval[] {
  if (!Array.isArray(approvals)) throw invalidResponse("list_approvals");
  return approvals;
}

function readStatus(response: JsonObject): Status {
  if (typeof response["state"] !== "string") throw invalidResponse("status");
  return response as unknown as Status;
}

function invalidResponse(subtype: string): SdkError {
  return new SdkError("protocol", `The response to ${subtype} is invalid.`);
}
