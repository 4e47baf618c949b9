import {
  type Answer,
  AnswerError,
  type AnswerReport,
  answerApproval,
  answerQuestion,
  type By,
  createRequestReader,
  type Dispatcher,
  droppedText,
  type JsonObject,
  type Ledger,
  type QuestionAnswer,
  readPart,
  readRow,
} from "@assent/core";
import { isJsonObject } from "@assent/core/parts";
import type { HostPorts } from "@assent/host";
import type { FollowedPolicy } from "../../compose/follow-policy.ts";
import { refuseWideAnswer } from "../../desk/sessions/agent-session.ts";
import { CommandError } from "../../io/failure.ts";
import { readChosen } from "./can-use-tool.ts";
import { HostError } from "./error.ts";

export type HostAnswerParts = {
  readonly ledger: Ledger;
  readonly ports: Pick<HostPorts, "clock" | "ids" | "digest">;
  readonly policy: Pick<FollowedPolicy, "tools" | "facts" | "rules">;
  readonly by: By;
};

/** Saves a host's answer to an approval of any session. Rejects with `AnswerError`. */
export function commitAnswer({ ledger, ports, policy, by }: HostAnswerParts, answer: Omit<Answer, "by">): Promise<AnswerReport> {
  const { clock, ids, digest } = ports;
  const { tools, facts, rules } = policy;
  return answerApproval({ ledger, clock, ids, rules, requests: createRequestReader({ ledger, tools, digest, facts }) }, { ...answer, by });
}

export async function answerForHost(
  answering: HostAnswerParts,
  { fields, yes, proposals }: { readonly fields: JsonObject; readonly yes: boolean; readonly proposals: Dispatcher["proposals"] },
): Promise<JsonObject> {
  const { approval_id: id, fingerprint } = fields;
  if (typeof id !== "string" || typeof fingerprint !== "string")
    throw new HostError("bad_answer", "An answer needs approval_id and the fingerprint that was shown.");
  try {
    if (id.startsWith("q_")) return await answerOfQuestion(answering, { id, fingerprint, fields, yes });
    if (id.startsWith("p_")) return await settleProposalFor(answering, { id, fields, yes, proposals });
    const answer = approvalAnswer({ id, fingerprint, fields, yes });
    const row = await readRow(answering.ledger, "approvals", id);
    if (row) await refuseWideAnswer(answering.ledger, row, answer);
    return answerReport(await commitAnswer(answering, answer));
  } catch (error) {
    if (error instanceof AnswerError || error instanceof CommandError) throw new HostError(error.type, error.message);
    throw error;
  }
}

type HostAnswer = { readonly id: string; readonly fingerprint: string; readonly fields: JsonObject; readonly yes: boolean };

const SCOPES = ["session", "project", "user"] as const;

function approvalAnswer({ id, fingerprint, fields, yes }: HostAnswer): Omit<Answer, "by"> {
  const { reason, updated_input: updatedInput, remember, write, part } = fields;
  const scope = SCOPES.find((each) => each === remember);
  if (remember !== undefined && remember !== null && remember !== "once" && !scope)
    throw new HostError("bad_answer", "'remember' must be once, session, project or user.");
  if (updatedInput !== undefined && !isJsonObject(updatedInput)) throw new HostError("bad_answer", "'updated_input' must be an object.");
  const chosen = readChosen(write, part);
  if (typeof chosen === "string") throw new HostError("bad_answer", chosen);
  return {
    approval: id,
    fingerprint,
    outcome: yes ? "approve" : "reject",
    ...(typeof reason === "string" && { reason }),
    ...(yes && updatedInput && { updatedInput }),
    ...(yes && chosen),
    ...(yes && scope && { remember: { scope } }),
  };
}

function answerReport(report: AnswerReport): JsonObject {
  const { id, outcome, alreadyAnswered, identical, answeredBy, answeredAt } = report;
  if (alreadyAnswered && !identical) {
    const type =
      outcome === "expired" ? "approval_expired" : outcome === "cancelled" || outcome === "denied" ? "already_closed" : "already_answered";
    throw new HostError(type, `${id} is ${outcome}${answeredBy ? ` by ${answeredBy.name}` : ""}. ${droppedText(report)}`.trim());
  }
  return { id, outcome, alreadyAnswered, answeredBy, answeredAt };
}

async function answerOfQuestion({ ledger, ports, by }: HostAnswerParts, { id, fingerprint, fields, yes }: HostAnswer): Promise<JsonObject> {
  const { reason, answers } = fields;
  // The answers are checked when they are saved.
  const said = yes ? { answers: answers as unknown as readonly QuestionAnswer[] } : {};
  const outcome = yes ? "answered" : "declined";
  const why = typeof reason === "string" ? reason : undefined;
  const report = await answerQuestion({ ledger, clock: ports.clock }, { question: id, outcome, ...said, by, reason: why, fingerprint });
  if (report.refusal !== null) throw new HostError(report.refusal, `${id} is ${report.outcome}.`);
  const { alreadyAnswered, answeredBy, answeredAt } = report;
  return { id, outcome: report.outcome, alreadyAnswered, answeredBy, answeredAt };
}

type HostSettlement = Omit<HostAnswer, "fingerprint"> & { readonly proposals: Dispatcher["proposals"] };

async function settleProposalFor({ by, ports }: HostAnswerParts, { id, fields, yes, proposals }: HostSettlement): Promise<JsonObject> {
  const reason = typeof fields["reason"] === "string" ? fields["reason"] : "";
  const { part } = fields;
  const chosen = yes && part !== undefined ? readPart(part) : undefined;
  if (typeof chosen === "string") throw new HostError("invalid_part", chosen);
  const { ok, type, text, state, appliedAs } = await proposals[yes ? "apply" : "discard"](id, by, reason, chosen);
  if (!ok) throw new HostError(type, text);
  return {
    id: appliedAs ?? id,
    outcome: appliedAs === undefined ? state : "applied",
    alreadyAnswered: false,
    answeredBy: by,
    answeredAt: new Date(ports.clock.now()).toISOString(),
  };
}
