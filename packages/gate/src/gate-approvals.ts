import {
  AnswerError,
  type AnswerPorts,
  type AnswerReport,
  type Approver,
  answerApproval,
  type By,
  type Ledger,
  readCallRecord,
  refuseLostAnswer,
} from "@assent/core";
import type { GateApproval } from "./gate.ts";
import { type Approve, type FullAnswer, type GateAnswer, readGateAnswer } from "./gate-options.ts";
import { type ChatMessage, findRequestedApprovals, withApprovalResponses } from "./wrap/ai-sdk.ts";

/** Asks through a program's function. A function that never answers stops waiting when the call is cancelled. */
export function functionApprover(approve: Approve, by: (name?: string) => By): Approver {
  return {
    available: () => true,
    ask: async (approval, signal) => {
      const given = await Promise.race([approve(approval, signal), aborted(signal)]);
      if (given === undefined) return undefined;
      const answer = readGateAnswer(given);
      return { ...answer, approval: approval.id, by: by(answer.by) };
    },
  };
}

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

/** Saves an answer. Rejects with `AnswerError` if it comes too late or another is in force, and with `GateUsageError` if it cannot be read. */
export async function saveAnswer(
  ports: AnswerPorts,
  approval: string,
  given: GateAnswer,
  by: (name?: string) => By,
): Promise<AnswerReport> {
  return await saveFullAnswer(ports, approval, readGateAnswer(given), by);
}

async function saveFullAnswer(ports: AnswerPorts, approval: string, answer: FullAnswer, by: (name?: string) => By): Promise<AnswerReport> {
  const full = { ...answer, approval, by: by(answer.by) };
  const report = refuseLostAnswer(full, await answerApproval(ports, full));
  if (!report.alreadyAnswered || report.identical) return report;
  const how = { expired: "has expired", cancelled: "was cancelled" }[String(report.outcome)] ?? "was denied by a changed policy";
  throw new AnswerError("already_answered", `Approval ${approval} ${how}. It can no longer be answered.`);
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
