import type { JsonObject } from "@assent/core";
import type { RunOutcome } from "../run/outcome.ts";
import type { RunCounts } from "../run/tally.ts";
import { type WireMessage, wireMessage } from "./message.ts";

export type ResultFacts = {
  readonly session: string;
  readonly seq: number;
  readonly counted: RunCounts;
  readonly approvals: readonly JsonObject[];
  /** The command that resumes the session; absent if it has ended. */
  readonly resume?: string;
  /** The exit code of the process, as far as it is known. */
  readonly exit: number;
};

export function resultMessage(outcome: RunOutcome, { session, seq, counted, approvals, resume, exit }: ResultFacts): WireMessage {
  const { subtype, text, error } = outcome;
  const isError = error !== undefined;
  const fields = {
    type: "result",
    subtype,
    is_error: isError,
    exit_code: exit,
    result: text,
    ...counted,
    approvals,
    ...(resume !== undefined && { resume }),
    ...(error && { error, errors: [error.message] }),
  };
  return wireMessage({ session, parent: null }, fields, seq);
}
