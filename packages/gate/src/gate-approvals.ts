import {
  AnswerError,
  type AnswerPorts,
  type AnswerReport,
  answerApproval,
  type By,
  createRequestReader,
  type Digest,
  type Ledger,
  readCallRecord,
  refuseLostAnswer,
} from "@assent/core";
import type { GateApproval } from "./gate.ts";
import { type FullAnswer, type GateAnswer, readGateAnswer } from "./gate-options.ts";
import type { GatePolicy } from "./gate-policy.ts";
import type { GateTools } from "./gate-tools.ts";
import { type ChatMessage, findRequestedApprovals, withApprovalResponses } from "./wrap/ai-sdk.ts";

/** What people do with the approvals of a ledger. */
export type GateApprovals = {
  readonly list: () => Promise<readonly GateApproval[]>;
  readonly answer: (approval: string, answer: GateAnswer) => Promise<AnswerReport>;
  readonly reconcile: <M extends ChatMessage>(messages: readonly M[], options: ReconcileOptions) => Promise<ReconciledMessages<M>>;
};

type ApprovalParts = Pick<AnswerPorts, "ledger" | "clock" | "ids"> & {
  readonly digest: Digest;
  readonly tools: GateTools;
  readonly policy: GatePolicy;
};

/** Opens the approvals of a gate's ledger. */
export function gateApprovals({ policy: { facts, rules }, ...parts }: ApprovalParts, by: (name?: string) => By): GateApprovals {
  const ports = { ...parts, rules, requests: createRequestReader({ ...parts, facts }) };
  return {
    list: () => listApprovals(ports.ledger),
    answer: (approval, answer) => saveAnswer(ports, approval, answer, by),
    reconcile: (messages, options) => reconcileMessages(ports, messages, options),
  };
}

/** Lists the open approvals with their frozen inputs. */
async function listApprovals(ledger: Ledger): Promise<readonly GateApproval[]> {
  const rows = await ledger.pending("approvals");
  return await Promise.all(
    rows.map(async (row) => {
      const { "call.judged": judged } = await readCallRecord(ledger, row.session, row.call);
      return { ...row, input: judged?.fingerprint === row.fingerprint ? judged.input : null };
    }),
  );
}

/** Saves an answer. Rejects with `AnswerError` if it comes too late or another is in force, and with `GateUsageError` if it cannot be read. */
async function saveAnswer(ports: AnswerPorts, approval: string, given: GateAnswer, by: (name?: string) => By): Promise<AnswerReport> {
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

type ReconcileOptions = { readonly session: string; readonly by: (() => By) | undefined };

/** Adds answers from the ledger to messages. With `by`, answers in the messages are recorded first. */
async function reconcileMessages<M extends ChatMessage>(
  ports: AnswerPorts,
  messages: readonly M[],
  { session, by }: ReconcileOptions,
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
