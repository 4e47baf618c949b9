import type { Json, JsonObject } from "../json/json.ts";
import { isAnswered, type Question, type QuestionAnswer } from "./question.ts";

/** The answers as models and programs receive them. */
export type QuestionResult = { readonly text: string; readonly details: JsonObject; readonly outcome: "answered" | "timed_out" };

/** The result of an `ask` call; `timeout` is in seconds. */
export function questionResult(questions: readonly Question[], answers: readonly QuestionAnswer[], timeout = 0): QuestionResult {
  const pairs = questions.map((question) => ({ question, answer: answers.find(({ id }) => id === question.id) ?? emptyAnswer(question) }));
  const outcome = pairs.some(({ answer }) => answer.timedOut) ? "timed_out" : "answered";
  const [only] = pairs;
  if (only && pairs.length === 1) return { text: answerText(only, timeout), details: { ...oneDetails(only) }, outcome };
  const text = ["User answers:", ...pairs.map(answerLine)].join("\n");
  return { text, details: { results: pairs.map(resultDetails), outcome }, outcome };
}

/** The choices made before a call was cancelled. */
export function partialResult(
  questions: readonly Question[],
  answers: readonly QuestionAnswer[],
): { readonly lines: readonly string[]; readonly partial: readonly Json[] } {
  const pairs = questions.flatMap((question) => {
    const answer = answers.find(({ id }) => id === question.id);
    return answer && isAnswered(answer) ? [{ question, answer }] : [];
  });
  const lines = pairs.length === 0 ? [] : ["Answered before cancelling:", ...pairs.map(answerLine)];
  return { lines, partial: pairs.map(resultDetails) };
}

type AnsweredQuestion = { readonly question: Question; readonly answer: QuestionAnswer };

function emptyAnswer({ id }: Question): QuestionAnswer {
  return { id, selected: [] };
}

function answerText({ question, answer }: AnsweredQuestion, timeout: number): string {
  const { selected, custom, note, timedOut } = answer;
  const lines: string[] = [];
  if (selected.length > 0) lines.push(`User selected: ${selected.join(", ")}`);
  if (custom !== undefined) lines.push(`User provided custom input: ${custom.replaceAll("\n", "\n  ")}`);
  if (!isAnswered(answer)) lines.push(question.multi ? "User selected nothing." : `${question.id}: (no answer)`);
  if (note !== undefined) lines.push(`User added note: ${note}`);
  if (timedOut) lines.push(`(selected automatically after ${timeout} s without an answer)`);
  return lines.join("\n");
}

function answerLine({ question, answer }: AnsweredQuestion): string {
  const automatic = answer.timedOut ? " (automatic)" : "";
  const note = answer.note === undefined ? "" : ` note: ${JSON.stringify(answer.note)}`;
  return `${question.id}: ${choiceText(question, answer)}${automatic}${note}`;
}

function choiceText({ multi }: Question, { selected, custom }: QuestionAnswer): string {
  const checks = `[${selected.join(", ")}]`;
  if (custom !== undefined) return selected.length > 0 ? `${checks} + ${JSON.stringify(custom)}` : JSON.stringify(custom);
  if (multi) return checks;
  return selected[0] ?? "(no answer)";
}

function oneDetails({ question: { question, options, multi }, answer }: AnsweredQuestion): JsonObject {
  const { selected, custom, note, timedOut, automatic } = answer;
  const unanswered = !isAnswered(answer) && !multi;
  return {
    question,
    options: options.map(({ label }) => label),
    multi,
    selectedOptions: [...selected],
    ...(custom !== undefined && { customInput: custom }),
    ...(note !== undefined && { note }),
    outcome: timedOut ? "timed_out" : unanswered ? "unanswered" : "answered",
    ...(automatic && { automatic: true }),
  };
}

function resultDetails(pair: AnsweredQuestion): JsonObject {
  return { id: pair.question.id, ...oneDetails(pair) };
}
