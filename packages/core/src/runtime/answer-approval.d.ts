import type { ApprovalRow, Ledger } from "../ledger-port.ts";
import type { Answer, By } from "../model/answer.ts";
import type { Request } from "../model/request.ts";
import type { Clock, Ids, Rules } from "../ports.ts";
/** An answer that cannot be used; the approval stays as it was. */
export declare class AnswerError extends Error {
  readonly type: "unknown_approval" | "stale_revision" | "bad_answer" | "bad_rule" | "invalid_tool_params" | "not_modifiable";
  constructor(type: AnswerError["type"], message: string, options?: ErrorOptions);
}
/** How the answer stands now, whoever gave it. */
export type AnswerReport = {
  readonly id: string;
  readonly outcome: ApprovalRow["state"];
  /** This call changed nothing, because something stood already. */
  readonly alreadyAnswered: boolean;
  /** What stands is what this answer says too. */
  readonly identical: boolean;
  readonly answeredBy: By | null;
  readonly answeredAt: string | null;
  readonly fingerprint: string;
};
/** How a door gets at the request behind an approval, and at what an edit of it would be. */
export type Requests = {
  readonly load: (row: ApprovalRow) => Promise<Request>;
  /** The edited request, validated, frozen and fingerprinted. Throws `AnswerError`. */
  readonly edit: (
    row: ApprovalRow,
    answer: Answer,
  ) => Promise<
    Request & {
      readonly fingerprint: string;
    }
  >;
};
/** What answering needs; any process may do it. */
export type AnswerPorts = {
  readonly ledger: Ledger;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly rules: Rules;
  readonly requests: Requests;
};
/** Commits one answer, with the grants it asks for. Resolves after the commit; what stood already wins and is reported. */
export declare function answerApproval(ports: AnswerPorts, answer: Answer): Promise<AnswerReport>;
/** True when a deadline has passed by the clock, or by the newest time on record. */
export declare function isPast(deadline: string | null, clock: Clock, newest?: string): boolean;
