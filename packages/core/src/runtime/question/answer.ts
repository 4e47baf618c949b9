import { AnswerError } from "../../errors.ts";
import type { Ledger, QuestionRow } from "../../ledger-port.ts";
import type { By } from "../../model/answer.ts";
import type { EventBodies } from "../../model/events.ts";
import { canonicalJson } from "../../model/json/canonical.ts";
import type { Json } from "../../model/json/json.ts";
import { answersFault, type Question, type QuestionAnswer } from "../../model/question/question.ts";
import { readAnswers } from "../../model/question/shape.ts";
import { cutText } from "../../model/text/cut-text.ts";
import type { Clock } from "../../ports.ts";
import { readRow } from "../session/list-rows.ts";

/** The ports for answering a question, from any process. */
export type QuestionPorts = { readonly ledger: Ledger; readonly clock: Clock };

/** A person's reply, with one answer per question. */
export type QuestionReply = {
  readonly question: string;
  readonly outcome: "answered" | "declined" | "cancelled";
  readonly answers?: readonly QuestionAnswer[];
  readonly by: By;
  readonly reason?: string | undefined;
  /** Refuses the reply if another request asked. */
  readonly fingerprint?: string | undefined;
};

/** The recorded reply, and whether this call gave it. */
export type QuestionReport = {
  readonly id: string;
  readonly session: string;
  readonly outcome: QuestionRow["state"];
  readonly alreadyAnswered: boolean;
  /** The recorded reply says the same. */
  readonly identical: boolean;
  readonly refusal: "already_answered" | "already_closed" | null;
  readonly answeredBy: By | null;
  readonly answeredAt: string | null;
};

/** Commits one reply; an earlier reply wins. Rejects with `AnswerError`. */
export async function answerQuestion(ports: QuestionPorts, reply: QuestionReply): Promise<QuestionReport> {
  const row = await findQuestion(ports.ledger, reply.question);
  const answers = checkedAnswers(row.questions, reply);
  if (reply.fingerprint !== undefined && reply.fingerprint !== row.fingerprint)
    throw new AnswerError("stale_revision", `Question ${row.id} was asked by a different request. Review it and answer again.`);
  const reason = cutText((reply.reason ?? "").trim().toWellFormed(), REASON_LIMIT);
  const { outcome, by } = reply;
  return await settleQuestion(ports, row, { outcome, ...(answers && { answers }), by, reason: reason === "" ? null : reason });
}

const REASON_LIMIT = 2_000;

async function findQuestion(ledger: Ledger, id: string): Promise<QuestionRow> {
  const row = await readRow(ledger, "questions", id);
  if (!row) throw new AnswerError("unknown_approval", `There is no question '${id}'.`);
  return await readWholeQuestion(ledger, row);
}

/** Loads the large values of a question. */
export async function readWholeQuestion(ledger: Ledger, row: QuestionRow): Promise<QuestionRow> {
  return (await ledger.resolve(row as unknown as Json)) as unknown as QuestionRow;
}

function checkedAnswers(questions: readonly Question[], { outcome, answers }: QuestionReply): readonly QuestionAnswer[] | undefined {
  if (outcome !== "answered") return undefined;
  const read = readAnswers(answers);
  const fault = "fault" in read ? read.fault : answersFault(questions, read.answers);
  if (fault !== undefined || !("answers" in read)) throw new AnswerError("bad_answer", fault ?? "There is no answer.");
  return sortAnswers(questions, read.answers);
}

export function sortAnswers(questions: readonly Question[], answers: readonly QuestionAnswer[]): readonly QuestionAnswer[] {
  return questions.flatMap(({ id }) => answers.filter((answer) => answer.id === id));
}

export type Settlement = Omit<EventBodies["question.answered"], "question" | "session">;

/** The first settlement wins. */
export async function settleQuestion({ ledger, clock }: QuestionPorts, row: QuestionRow, settlement: Settlement): Promise<QuestionReport> {
  const at = new Date(clock.now()).toISOString();
  const body = { question: row.id, session: row.session, ...settlement };
  const outcome = await ledger.answer([{ type: "question.answered", v: 1, at, body }]);
  return report(await findQuestion(ledger, row.id), settlement, "lost" in outcome);
}

function report(row: QuestionRow, { outcome, answers }: Settlement, alreadyAnswered: boolean): QuestionReport {
  const { id, session, state, answeredBy, answeredAt } = row;
  const identical = state === outcome && answeredBy !== null && answersText(row.answers) === answersText(answers ?? null);
  const closed = state === "cancelled" || state === "expired";
  const refusal = alreadyAnswered && !identical ? (closed ? "already_closed" : "already_answered") : null;
  return { id, session, outcome: state, alreadyAnswered, identical, refusal, answeredBy, answeredAt };
}

function answersText(answers: readonly QuestionAnswer[] | null): string {
  return canonicalJson(answers);
}
