import type { Question } from "@assent/core";
import { DONE, OTHER } from "@assent/core/parts";
import type { Key } from "../draw/dialog.ts";
import { typeKey } from "../input/text-field.ts";
import {
  type AskOutcome,
  type AskState,
  allAnswers,
  answerTo,
  beginEditing,
  givenAnswers,
  goToQuestion,
  isTextOnly,
  questionRows,
  withAnswer,
} from "./state.ts";

/** The state after a key, and the outcome if the dialog ended. */
export type AskKeyResult = { readonly state: AskState; readonly outcome?: AskOutcome };

export function pressAsk(questions: readonly Question[], state: AskState, key: Key): AskKeyResult {
  const question = questions[state.at];
  if (state.editing && question) return pressEditor(questions, state, question, key);
  if (question && isTextOnly(question) && isText(key))
    return pressEditor(questions, beginEditing({ ...state, leaving: false }, question, "custom"), question, key);
  if (!("name" in key)) return { state: { ...state, leaving: false, stray: true } };
  if (key.name === "ctrl+c") return cancelAsk(questions, state);
  if (key.name === "escape") return leave(questions, state);
  const isLate = state.fresh && CHOOSING.includes(key.name) && !key.alone;
  const stray = (state.stray || isLate) && !ARROWS.includes(key.name);
  const going = { ...state, leaving: false, stray, fresh: false };
  if (stray) return { state: going };
  return question ? pressList(questions, going, question, key.name) : pressReview(questions, going, key.name);
}

const ARROWS: readonly string[] = ["up", "down", "left", "right"];
const CHOOSING: readonly string[] = ["enter", "space"];

function isText(key: Key): boolean {
  return "pasted" in key || [...key.name].length === 1;
}

function cancelAsk(questions: readonly Question[], state: AskState): AskKeyResult {
  return { state, outcome: { cancelled: givenAnswers(state, questions) } };
}

/** Esc asks once before answers are lost. */
function leave(questions: readonly Question[], state: AskState): AskKeyResult {
  const loses = questions.length > 1 && givenAnswers(state, questions).length > 0;
  return loses && !state.leaving ? { state: { ...state, leaving: true } } : cancelAsk(questions, state);
}

function pressReview(questions: readonly Question[], state: AskState, name: string): AskKeyResult {
  if (name === "enter") return { state, outcome: { answers: allAnswers(state, questions) } };
  return name === "left" ? { state: goToQuestion(state, questions, questions.length - 1) } : { state: markStray(state, name) };
}

function markStray(state: AskState, name: string): AskState {
  return [...name].length === 1 ? { ...state, stray: true } : state;
}

function pressList(questions: readonly Question[], state: AskState, question: Question, name: string): AskKeyResult {
  const rows = questionRows(question, questions.length > 1);
  const row = state.rows[state.at] ?? 0;
  const to = (next: number): AskKeyResult => ({
    state: { ...state, preview: false, rows: state.rows.with(state.at, (next + rows.length) % rows.length) },
  });
  switch (name) {
    case "up":
      return to(row - 1);
    case "down":
      return to(row + 1);
    case "left":
      return { state: goToQuestion(state, questions, Math.max(0, state.at - 1)) };
    case "right":
      return questions.length > 1 ? next(questions, state) : { state };
    case "n":
      return { state: beginEditing(state, question, "note") };
    case "p":
      return { state: { ...state, preview: !state.preview && question.options[row]?.preview !== undefined } };
    case "space":
      if (!question.multi) return { state: { ...state, stray: true } };
      return choose(questions, state, question, rows[row] ?? OTHER);
    case "enter":
      return choose(questions, state, question, rows[row] ?? OTHER);
    default:
      return /^[1-9]$/.test(name) && Number(name) <= rows.length ? to(Number(name) - 1) : { state: markStray(state, name) };
  }
}

/** Goes to the next question, then to the review; a single question ends at once. */
function next(questions: readonly Question[], state: AskState): AskKeyResult {
  if (questions.length === 1) return { state, outcome: { answers: allAnswers(state, questions) } };
  return { state: goToQuestion(state, questions, Math.min(questions.length, state.at + 1)) };
}

function choose(questions: readonly Question[], state: AskState, question: Question, label: string): AskKeyResult {
  if (label === OTHER) return { state: beginEditing(state, question, "custom") };
  if (label === DONE) return next(questions, state);
  const said = answerTo(state, question);
  if (!question.multi) {
    const { custom: _replaced, ...rest } = said;
    return next(questions, withAnswer(state, { ...rest, selected: [label] }));
  }
  const others = said.selected.filter((other) => other !== label);
  const selected = others.length < said.selected.length ? others : [...others, label];
  return { state: withAnswer(state, { ...said, selected }) };
}

function pressEditor(questions: readonly Question[], state: AskState, question: Question, key: Key): AskKeyResult {
  const { editing } = state;
  if (!editing) return { state };
  const name = "name" in key ? key.name : "";
  const isOwn = isTextOnly(question) && editing.what === "custom";
  if (name === "ctrl+c") return cancelAsk(questions, state);
  if (name === "escape") return { state: closeField(isOwn ? withText(state, question, editing.field.text) : state) };
  const stayed = isOwn && editing.field.text === "" ? pressEmpty(questions, state, name) : undefined;
  if (stayed) return { state: stayed };
  if (name !== "enter")
    return { state: { ...state, empty: false, editing: { ...editing, field: typeKey(editing.field, key) ?? editing.field } } };
  return submitText(questions, state, { question, what: editing.what, text: editing.field.text });
}

function closeField(state: AskState): AskState {
  return { ...state, editing: undefined, empty: false };
}

/** In an empty field, Enter does not submit, and Left and Right change the question. */
function pressEmpty(questions: readonly Question[], state: AskState, name: string): AskState | undefined {
  if (name === "enter") return { ...state, empty: true };
  if (questions.length === 1 || (name !== "left" && name !== "right")) return undefined;
  return goToQuestion(state, questions, Math.max(0, state.at + (name === "left" ? -1 : 1)));
}

/** Keeps the typed text when the field is left. */
function withText(state: AskState, question: Question, text: string): AskState {
  const { custom, ...rest } = answerTo(state, question);
  if (text === "" && custom === undefined) return state;
  return withAnswer(state, text === "" ? rest : { ...rest, custom: text });
}

type SubmittedText = { readonly question: Question; readonly what: "custom" | "note"; readonly text: string };

function submitText(questions: readonly Question[], state: AskState, { question, what, text }: SubmittedText): AskKeyResult {
  const done = closeField(state);
  const said = answerTo(state, question);
  if (what === "note") {
    const { note: _old, ...rest } = said;
    return { state: withAnswer(done, text === "" ? rest : { ...rest, note: text }) };
  }
  return next(questions, withAnswer(done, { ...said, custom: text, selected: question.multi ? said.selected : [] }));
}
