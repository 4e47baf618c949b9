import {
  AnswerError,
  type AnswerPorts,
  type AnswerReport,
  type Approver,
  answerApproval,
  type By,
  type Ledger,
  readCallRecord,
} from "@assent/core";
import type { GateApproval } from "./gate.ts";
import { GateUsageError } from "./gate-error.ts";
import { type Approve, type FullAnswer, type GateAnswer, readGateAnswer } from "./gate-options.ts";
import { type ChatMessage, findRequestedApprovals, withApprovalResponses } from "./wrap/ai-sdk.ts";

/** Asks through a program's function. A function that never answers stops waiting when the call is cancelled. */
export function functionApprover(approve: Approve, by: (name?: string) => By, warn: (message: string) => void): Approver {
  return {
    available: () => true,
    ask: async (approval, signal) => {
      const given = await Promise.race([approve(approval, signal), aborted(signal)]);
      if (given === undefined) return undefined;
      const answer = readGateAnswer(given);
      if (!answer) warn(`approve gave no answer that can be read: ${BAD_ANSWER}`);
      return answer && { ...answer, approval: approval.id, by: by(answer.by) };
    },
  };
}

const BAD_ANSWER = 'answer with "approve", "reject", { reject: "reason" } or { outcome: "approve", … }';

function aborted(signal: AbortSignal): Promise<undefined> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve(undefined);
    else signal.addEventListener("abort", () => resolve(undefined), { once: true });
  });
}

/** Lists the open approvals with their frozen inputs. */
export async function listApprovals(ledger: Ledger): Promise<readonly GateApproval[]> {
  const rows = await ledger.pending("approvals");
  return await Promise.all(
    rows.map(async (row) => {
      const { "call.judged": judged } = await readCallRecord(ledger, row.session, row.call);
      return { ...row, input: judged?.fingerprint === row.fingerprint ? judged.input : null };
    }),
  );
}

/** Saves an answer. Rejects with `AnswerError` if the opposite answer is in force, and with `GateUsageError` if it cannot be read. */
export async function saveAnswer(
  ports: AnswerPorts,
  approval: string,
  given: GateAnswer,
  by: (name?: string) => By,
): Promise<AnswerReport> {
  const answer = readGateAnswer(given);
  if (!answer) throw new GateUsageError("bad_answer", `This is not an answer: ${BAD_ANSWER}.`);
  return await saveFullAnswer(ports, approval, answer, by);
}

async function saveFullAnswer(ports: AnswerPorts, approval: string, answer: FullAnswer, by: (name?: string) => By): Promise<AnswerReport> {
  const report = await answerApproval(ports, { ...answer, approval, by: by(answer.by) });
  const wanted = answer.outcome === "approve" ? "approved" : "rejected";
  if (report.alreadyAnswered && report.outcome !== wanted)
    throw new AnswerError("already_answered", `Approval ${approval} was ${report.outcome} before. That answer cannot be changed.`);
  return report;
}

/** Messages with the answers of the ledger, and whether any approval in them is still open. */
export type ReconciledMessages<M> = { readonly messages: M[]; readonly open: readonly string[]; readonly rejected: boolean };

type Reconciliation = { readonly ports: AnswerPorts; readonly session: string; readonly by: ((name?: string) => By) | undefined };

/** Adds answers from the ledger to messages. With `by`, answers in the messages are recorded first. */
export async function reconcileMessages<M extends ChatMessage>(
  { ports, session, by }: Reconciliation,
  messages: readonly M[],
): Promise<ReconciledMessages<M>> {
  const requested = findRequestedApprovals(messages);
  if (requested.length === 0) return { messages: [...messages], open: [], rejected: false };
  const list = () => ports.ledger.pending("approvals", { session, all: true, limit: 10_000 });
  const before = await list();
  for (const { callId, answered } of requested) {
    const row = before.find(({ call, state }) => call === callId && state === "open");
    if (by && row && answered)
      await saveFullAnswer(
        ports,
        row.id,
        { outcome: answered.approved ? "approve" : "reject", ...(answered.reason !== undefined && { reason: answered.reason }) },
        by,
      );
  }
  const rows = by ? await list() : before;
  const states = requested.map((request) => ({ ...request, row: rows.findLast(({ call }) => call === request.callId) }));
  const responses = states.flatMap(({ approvalId, answered, row }) => {
    if (answered || !row || row.state === "open") return [];
    return [{ approvalId, approved: row.state === "approved", ...(row.answerReason !== null && { reason: row.answerReason }) }];
  });
  return {
    messages: withApprovalResponses(messages, responses),
    open: states.filter(({ row }) => !row || row.state === "open").map(({ row, callId }) => row?.id ?? callId),
    rejected: states.some(({ row }) => row !== undefined && row.state !== "open" && row.state !== "approved"),
  };
}
