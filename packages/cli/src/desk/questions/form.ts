import type { JsonObject, Question, QuestionRow } from "@assent/core";
import type { RecordedJudgement } from "../approvals/form.ts";
import { questionSubject } from "./view.ts";

export function questionForm(row: Pick<QuestionRow, "id" | "session" | "callId" | "questions" | "askedAt" | "fingerprint">): JsonObject {
  const { id, session, callId, questions, askedAt, fingerprint } = row;
  return {
    id,
    sessionId: session,
    callId,
    tool: "ask",
    title: questionSubject(questions),
    reason: "tool",
    requestedAt: askedAt,
    fingerprint,
    questions: questions.map(questionFields),
  };
}

export function questionFields({ id, question, header, options, multi, recommended }: Question): JsonObject {
  return {
    id,
    question,
    ...(header !== undefined && { header }),
    multi,
    ...(recommended !== undefined && { recommended }),
    allowCustom: true,
    options: options.map((option) => ({ ...option })),
  };
}

export function questionLongForm(row: QuestionRow, judged: RecordedJudgement & { readonly consumed: boolean }): JsonObject {
  const { kind, input, cwd, verdict, reason, source, rule, explicitAsk, units, trace, consumed } = judged;
  const { state, answers, answeredBy, answeredAt, answerReason } = row;
  return {
    ...questionForm(row),
    ...{ kind, input, cwd, facts: null, preview: null, suggestions: [] },
    decision: { verdict, reason, source, ...(rule && { rule }), explicitAsk, units, trace },
    state,
    ...(answers && { answers: answers.map((answer) => ({ ...answer })) }),
    ...(answeredBy && { answeredBy }),
    ...(answeredAt !== null && { answeredAt }),
    ...(answerReason !== null && { answerReason }),
    consumed,
  };
}
