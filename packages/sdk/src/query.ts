import type { AnswerReport, Approval, QuestionAnswer } from "./approval.ts";
import { connect } from "./connection.ts";
import type { JsonObject } from "./json.ts";
import type { Message, Mode } from "./message.ts";
import type { QueryOptions } from "./query-options.ts";
import { readApprovals, readReport, readStatus, type Status } from "./read-response.ts";
import type { Exit } from "./sdk-error.ts";

/** An approval, and the request that was shown of it. */
export type ApprovalRef = { readonly approvalId: string; readonly fingerprint: string; readonly reason?: string };

/** A yes given through a method instead of a callback. */
export type Approving = ApprovalRef & {
  readonly updatedInput?: JsonObject;
  /** The id of a suggestion. */
  readonly remember?: string;
  /** For a parked question. */
  readonly answers?: Extract<QuestionAnswer, { outcome: "answered" }>["answers"];
};

/**
 * A run of Assent: iterate it for its messages. It ends when the process has ended. It throws an `SdkError` when that was too early, or on an abort;
 * a run that failed in an orderly way ends with a `result` that says so, and does not throw. A slow reader slows the run down.
 */
export type Query = AsyncIterableIterator<Message, undefined, undefined> &
  AsyncDisposable & {
    /** What Assent said of itself at the start: version, models, commands, agents, tools. */
    readonly ready: Promise<JsonObject>;
    /** How the process ended. Rejects when it could not be started. */
    readonly exit: Promise<Exit>;
    /** Ends the turns of the present message, or with `end` the whole run. Resolves when the results are recorded. */
    interrupt(options?: { readonly end?: boolean }): Promise<void>;
    setMode(mode: Mode): Promise<void>;
    /** From the next request of the model on; null is the default model. */
    setModel(model: string | null): Promise<void>;
    approve(approving: Approving): Promise<AnswerReport>;
    reject(rejecting: ApprovalRef): Promise<AnswerReport>;
    listApprovals(): Promise<readonly Approval[]>;
    taskStop(taskId: string): Promise<void>;
    taskSend(taskId: string, message: string): Promise<void>;
    status(): Promise<Status>;
    /** Stops the process; resolves when it has ended. Closing twice, or after the end, does nothing. */
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
    approve: async ({ updatedInput, answers, remember, ...ref }) =>
      readReport(
        await ask("approve", {
          ...answering(ref),
          ...(updatedInput && { updated_input: updatedInput }),
          ...(remember !== undefined && { remember }),
          ...(answers && { answers }),
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
