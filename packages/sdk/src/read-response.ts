import type { AnswerReport, Approval } from "./approval.ts";
import type { JsonObject } from "./json.ts";
import { SdkError } from "./sdk-error.ts";

/** What a run is doing. */
export type Status = {
  readonly session_id: string;
  readonly state: "idle" | "running" | "waiting";
  readonly turn: number;
  readonly open_calls: readonly { readonly tool_use_id: string; readonly tool_name: string; readonly state: string }[];
  readonly tasks: readonly { readonly task_id: string; readonly agent: string; readonly description: string; readonly status: string }[];
  readonly schedules: readonly { readonly schedule_id: string; readonly due: string; readonly prompt: string }[];
};

/** The report of an answer. */
export function readReport(response: JsonObject): AnswerReport {
  if (typeof response["outcome"] !== "string") throw invalidResponse("approve");
  return response as unknown as AnswerReport;
}

/** The approvals of a list. */
export function readApprovals({ approvals }: JsonObject): readonly Approval[] {
  if (!Array.isArray(approvals)) throw invalidResponse("list_approvals");
  return approvals;
}

/** The state of a run. */
export function readStatus(response: JsonObject): Status {
  if (typeof response["state"] !== "string") throw invalidResponse("status");
  return response as unknown as Status;
}

function invalidResponse(subtype: string): SdkError {
  return new SdkError("protocol", `The response to ${subtype} is invalid.`);
}
