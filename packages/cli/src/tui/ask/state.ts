import type { Question, QuestionAnswer } from "@assent/core";
import { DONE, isAnswered, OTHER } from "@assent/core/parts";
import { type TextField, textField } from "../input/text-field.ts";

export type AskState = {
  /** The index of the question; one past the last is the review. */
  readonly at: number;
  /** The cursor's row in each question. */
  readonly rows: readonly number[];
  readonly answers: ReadonlyMap<string, QuestionAnswer>;
  readonly editing: { readonly what: "custom" | "note"; readonly field: TextField } | undefined;
  /** Enter was pressed on an empty text field. */
  readonly empty: boolean;
  /** Stray text was typed: keys choose nothing until an arrow key is pressed. */
  readonly stray: boolean;
  /** No key was pressed yet. Keys in quick succession belong to text typed before the question appeared. */
  readonly fresh: boolean;
  readonly preview: boolean;
  /** Esc was pressed once, and answers would be lost. */
  readonly leaving: boolean;
  /** Seconds until the question answers itself. */
  readonly left: number | undefined;
};

export type AskOutcome = { readonly answers: readonly QuestionAnswer[] } | { readonly cancelled: readonly QuestionAnswer[] };

/** The initial state, with the cursor on the recommended option. */
export function beginAsk(questions: readonly Question[]): AskState {
  const rows = questions.map(({ recommended }) => recommended ?? 0);
  const nothing = { answers: new Map(), editing: undefined, empty: false, stray: false, fresh: true, preview: false, leaving: false };
  return goToQuestion({ at: 0, rows, left: undefined, ...nothing }, questions, 0);
}

export function isTextOnly({ options }: Question): boolean {
  return options.length === 0;
}

/** Shows another question. A question without options opens its text field at once. */
export function goToQuestion(state: AskState, questions: readonly Question[], at: number): AskState {
  const question = questions[at];
  const there = { ...state, at, preview: false, editing: undefined, empty: false, stray: false };
  return question && isTextOnly(question) ? beginEditing(there, question, "custom") : there;
}

/** The options, "Other", and "Done" for a single multiple-choice question. */
export function questionRows({ options, multi }: Question, several: boolean): readonly string[] {
  return [...options.map(({ label }) => label), OTHER, ...(multi && !several ? [DONE] : [])];
}

export function answerTo({ answers }: AskState, { id }: Question): QuestionAnswer {
  return answers.get(id) ?? { id, selected: [] };
}

/** Records an answer, which is then no longer automatic. */
export function withAnswer(state: AskState, answer: QuestionAnswer): AskState {
  const { timedOut: _late, automatic: _own, ...said } = answer;
  return { ...state, answers: new Map(state.answers).set(answer.id, said) };
}

/** All answers in the order of the questions; skipped ones are empty. */
export function allAnswers(state: AskState, questions: readonly Question[]): readonly QuestionAnswer[] {
  return questions.map((question) => answerTo(state, question));
}

export function givenAnswers(state: AskState, questions: readonly Question[]): readonly QuestionAnswer[] {
  return allAnswers(state, questions).filter(isAnswered);
}

/** Records a timed-out answer and shows the next open question. */
export function expireQuestion(state: AskState, questions: readonly Question[], answer: QuestionAnswer): AskState {
  const answers = new Map(state.answers).set(answer.id, answer);
  const late = questions.findIndex(({ id }) => id === answer.id);
  const next = questions.findIndex(({ id }, index) => index > late && !answers.has(id));
  return goToQuestion({ ...state, answers, leaving: false }, questions, next === -1 ? questions.length : next);
}

/** Opens the text field for an own answer or a note. */
export function beginEditing(state: AskState, question: Question, what: "custom" | "note"): AskState {
  const { custom, note } = answerTo(state, question);
  return { ...state, preview: false, stray: false, editing: { what, field: textField(what === "custom" ? custom : note) } };
}
