import type { Question, QuestionAnswer } from "@assent/core";
import { DONE, isAnswered, OTHER } from "@assent/core/parts";
import { type TextField, textField } from "../input/text-field.ts";

/** A question dialog as it stands: which question, where its cursor is, what was said so far. */
export type AskState = {
  /** The index of the question; their number: the review of all. */
  readonly at: number;
  /** The row of the cursor in each question. */
  readonly rows: readonly number[];
  readonly answers: ReadonlyMap<string, QuestionAnswer>;
  readonly editing: { readonly what: "custom" | "note"; readonly field: TextField } | undefined;
  /** Enter was pressed on an empty field of a question that only a text answers. */
  readonly empty: boolean;
  /** The person types text, which is not an answer here: keys choose nothing until an arrow is pressed. */
  readonly stray: boolean;
  /** No key was pressed yet. A key that follows others closely belongs to text typed before the question appeared. */
  readonly fresh: boolean;
  /** The preview of the option under the cursor is open. */
  readonly preview: boolean;
  /** Esc was pressed once, and something would be lost. */
  readonly leaving: boolean;
  /** Seconds until the question answers itself. */
  readonly left: number | undefined;
};

/** What came of it. */
export type AskOutcome = { readonly answers: readonly QuestionAnswer[] } | { readonly cancelled: readonly QuestionAnswer[] };

/** The state before anything was said: the cursor on what is recommended. */
export function beginAsk(questions: readonly Question[]): AskState {
  const rows = questions.map(({ recommended }) => recommended ?? 0);
  const nothing = { answers: new Map(), editing: undefined, empty: false, stray: false, fresh: true, preview: false, leaving: false };
  return goToQuestion({ at: 0, rows, left: undefined, ...nothing }, questions, 0);
}

/** True where only a text answers. */
export function isTextOnly({ options }: Question): boolean {
  return options.length === 0;
}

/** The state with another question in front. One that only a text answers has its field open from the start. */
export function goToQuestion(state: AskState, questions: readonly Question[], at: number): AskState {
  const question = questions[at];
  const there = { ...state, at, preview: false, editing: undefined, empty: false, stray: false };
  return question && isTextOnly(question) ? beginEditing(there, question, "custom") : there;
}

/** The rows of a question: its options, one for a text of one's own, and one that ends a choice of several where nothing else does. */
export function questionRows({ options, multi }: Question, several: boolean): readonly string[] {
  return [...options.map(({ label }) => label), OTHER, ...(multi && !several ? [DONE] : [])];
}

/** What was said to a question; nothing so far is an answer without a choice. */
export function answerTo({ answers }: AskState, { id }: Question): QuestionAnswer {
  return answers.get(id) ?? { id, selected: [] };
}

/** The state with this answer; what stood there by itself is no longer automatic. */
export function withAnswer(state: AskState, answer: QuestionAnswer): AskState {
  const { timedOut: _late, automatic: _own, ...said } = answer;
  return { ...state, answers: new Map(state.answers).set(answer.id, said) };
}

/** All answers in the order of the questions; what was passed over has none. */
export function allAnswers(state: AskState, questions: readonly Question[]): readonly QuestionAnswer[] {
  return questions.map((question) => answerTo(state, question));
}

/** What was really said. */
export function givenAnswers(state: AskState, questions: readonly Question[]): readonly QuestionAnswer[] {
  return allAnswers(state, questions).filter(isAnswered);
}

/** A question's time was over: what stands for it is kept, and the next open one is shown. */
export function expireQuestion(state: AskState, questions: readonly Question[], answer: QuestionAnswer): AskState {
  const answers = new Map(state.answers).set(answer.id, answer);
  const late = questions.findIndex(({ id }) => id === answer.id);
  const next = questions.findIndex(({ id }, index) => index > late && !answers.has(id));
  return goToQuestion({ ...state, answers, leaving: false }, questions, next === -1 ? questions.length : next);
}

/** The editor for a text of one's own, or a note, with what it held before. */
export function beginEditing(state: AskState, question: Question, what: "custom" | "note"): AskState {
  const { custom, note } = answerTo(state, question);
  return { ...state, preview: false, stray: false, editing: { what, field: textField(what === "custom" ? custom : note) } };
}
