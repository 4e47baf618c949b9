import type { EventBodies, LedgerEvent } from "../events.ts";
import type { QuestionRow } from "../ledger-rows.ts";

export function askedQuestion(event: LedgerEvent<"question.asked">): QuestionRow {
  const { question: id, callId, fingerprint, questions } = event.body;
  return {
    ...{ id, session: event.session, callId, fingerprint, questions },
    askedAt: event.at,
    state: "open",
    answers: null,
    answeredBy: null,
    answeredAt: null,
    answerReason: null,
  };
}

/** Undefined if the question has an answer already. */
export function answeredQuestion(
  row: QuestionRow,
  { at, body }: { readonly at: string; readonly body: EventBodies["question.answered"] },
): QuestionRow | undefined {
  if (row.state !== "open") return undefined;
  const { outcome, answers = null, by, reason } = body;
  return { ...row, state: outcome, answers, answeredBy: by, answeredAt: at, answerReason: reason };
}
