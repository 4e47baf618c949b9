import type { RunEnd } from "@assent/agent";
import type { EventBodies } from "@assent/core";
import { asFailure } from "../../io/failure.ts";

export type RunOutcome = {
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
  readonly exit: number;
  readonly text: string;
  readonly error?: { readonly type: string; readonly message: string; readonly hint?: string };
};

export function succeeded(text: string): RunOutcome {
  return { subtype: "success", exit: 0, text };
}

const INCOMPLETE: readonly string[] = ["answer_cut", "answer_refused"];
const SCRIPT_ENDS: readonly string[] = ["expectation_failed", "script_exhausted", "script_unused"];

/** Translates an end. `whole`: the run was stopped, not only the current turns. */
export function runOutcome({ reason, text, error }: RunEnd, { whole }: { readonly whole: boolean }): RunOutcome {
  switch (reason) {
    case "done":
      return succeeded(text);
    case "parked":
      return { subtype: "parked", exit: 75, text };
    case "cancelled":
      if (error) return { ...cancelled(text), error };
      return whole ? cancelled(text) : { subtype: "interrupted", exit: 0, text };
    case "turn_limit":
      return { subtype: "error_max_turns", exit: 53, text, error: error ?? LIMITED };
    default:
      return failed(text, error ?? UNKNOWN);
  }
}

const LIMITED = { type: "limit_turns", message: "The limit of turns is reached." };
const UNKNOWN = { type: "unhandled_exception", message: "The run failed." };

export function cancelled(text: string): RunOutcome {
  return { subtype: "error_cancelled", exit: 130, text, error: { type: "cancelled", message: "The run was cancelled." } };
}

export function failed(text: string, error: NonNullable<RunOutcome["error"]>): RunOutcome {
  if (SCRIPT_ENDS.includes(error.type)) return { subtype: "error_expectation", exit: 70, text, error };
  if (error.type.startsWith("limit_") && error.type !== "limit_turns") return { subtype: "error_budget", exit: 55, text, error };
  if (error.type === "limit_turns") return { subtype: "error_max_turns", exit: 53, text, error };
  if (INCOMPLETE.includes(error.type)) return { subtype: "error_incomplete_answer", exit: 1, text, error };
  const type = error.type === "denied_unattended" ? "approval_required" : error.type;
  return { subtype: "error_during_execution", exit: 1, text, error: { ...error, type } };
}

export function failedBy(error: unknown): RunOutcome {
  const { type, message, hint } = asFailure(error);
  return failed("", { type, message, ...(hint !== "" && { hint }) });
}

const STRENGTH: readonly number[] = [130, 70, 1, 55, 53, 75, 0];

export function strongestExit(exits: readonly number[]): number {
  return STRENGTH.find((exit) => exits.includes(exit)) ?? 0;
}

export function closeReason(exit: number): EventBodies["session.closed"]["reason"] {
  if (exit === 0) return "done";
  if (exit === 75) return "parked";
  if (exit === 130) return "cancelled";
  return exit === 53 || exit === 55 ? "limit" : "failed";
}
