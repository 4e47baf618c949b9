import type { Question, QuestionAnswer } from "@assent/core";
import { isAnswered } from "@assent/core/parts";
import { cut, TEXT_MARK, wrapWords } from "../../io/display-width.ts";
import { markGaps, oneLine, readable, visible } from "../../io/visible-text.ts";
import type { Canvas } from "../draw/dialog.ts";
import { fieldLines } from "../input/text-field.ts";
import { type AskState, answerTo, isTextOnly, questionRows } from "./state.ts";

export type AskedQuestions = { readonly questions: readonly Question[]; readonly agentName?: string; readonly fault?: string };

/** Several rows get a mark, so that text of the model cannot pass for ours. */
function titleRows(asked: AskedQuestions, state: AskState, { question, canvas }: ShownQuestion): readonly string[] {
  const title = titleOf(asked, state, question);
  const rows = wrapWords(title, canvas.columns);
  if (rows.length === 1) return rows;
  return wrapWords(title, canvas.columns - TEXT_MARK.length).map((row) => `${TEXT_MARK}${row}`);
}

export function askLines(asked: AskedQuestions, state: AskState, canvas: Canvas): readonly string[] {
  const { columns, theme } = canvas;
  const question = asked.questions[state.at];
  const lines = question ? questionLines(asked, state, { question, canvas }) : reviewLines(asked, state, canvas);
  const fault = asked.fault === undefined ? [] : [theme.warning(cut(`That answer can't be used: ${oneLine(asked.fault)}`, columns))];
  const stray = state.stray ? wrapWords(strayText(question), columns).map(theme.warning) : [];
  const leaving = state.leaving ? [theme.warning(cut("Press Esc again to cancel, any other key to continue", columns))] : [];
  return [...tabs(asked, state, canvas), ...fault, ...lines, ...stray, ...leaving];
}

function strayText(question: Question | undefined): string {
  if (!question) return "Letters do not answer here, so nothing was sent. Press an arrow key first, then Enter to send.";
  return "Letters do not answer here, so nothing was chosen. Choose with the arrow keys, then press Enter. 'Other' takes your own text.";
}

function tabs({ questions, agentName }: AskedQuestions, { at }: AskState, { columns, theme }: Canvas): readonly string[] {
  const who = agentName === undefined ? "Question" : `Question from ${oneLine(agentName)}`;
  if (questions.length === 1) return [theme.title(cut(who, columns))];
  const names = [...questions.map(({ header, id }) => oneLine(header ?? id)), "Review"];
  const shown = names.map((name, index) => (index === at ? `[${name}]` : ` ${name} `)).join(" ");
  return [theme.title(cut(`${who}  ${shown}`, columns))];
}

type ShownQuestion = { readonly question: Question; readonly canvas: Canvas };

function titleOf({ questions }: AskedQuestions, state: AskState, question: Question): string {
  const place = questions.length > 1 ? ` (${state.at + 1}/${questions.length})` : "";
  const count = question.multi ? ` (${answerTo(state, question).selected.length} selected)` : "";
  return `${visible(markGaps(question.question))}${place}${count}`;
}

function questionLines(asked: AskedQuestions, state: AskState, { question, canvas }: ShownQuestion): readonly string[] {
  const { columns, theme } = canvas;
  if (state.editing) return editorLines(asked, state, { question, canvas });
  const title = titleRows(asked, state, { question, canvas }).map(theme.bold);
  const rows = questionRows(question, asked.questions.length > 1).map((label, at) => ({ at, label }));
  const cursor = state.rows[state.at] ?? 0;
  const room = Math.max(3, canvas.rows - title.length - 6);
  const from = Math.max(0, Math.min(cursor - Math.floor(room / 2), rows.length - room));
  const shown = rows.slice(from, from + room);
  const above = from > 0 ? [theme.dim(`  … ${from} more above`)] : [];
  const below = rows.length - from - shown.length;
  return [
    ...title,
    ...above,
    ...shown.flatMap(({ at, label }) => rowLines(state, { question, canvas, at, label, isAt: at === cursor })),
    ...(below > 0 ? [theme.dim(`  … ${below} more below`)] : []),
    ...previewLines(state, { question, canvas }),
    ...noteLines(answerTo(state, question), canvas),
    ...wrapWords(hints(asked, question, state), columns).map(theme.dim),
  ];
}

type Row = ShownQuestion & { readonly at: number; readonly label: string; readonly isAt: boolean };

function rowLines(state: AskState, { question, canvas, at, label, isAt }: Row): readonly string[] {
  const { columns, theme } = canvas;
  const option = question.options[at];
  const recommended = option && at === question.recommended ? " (Recommended)" : "";
  const line = cut(
    `${isAt ? ">" : " "} ${markOf(question, answerTo(state, question), at)}${oneLine(label)}${recommended}${ownText(question, answerTo(state, question), at)}`,
    columns,
  );
  const description = option?.description ? [theme.dim(cut(`      ${oneLine(option.description)}`, columns))] : [];
  return [isAt ? theme.selected(line) : line, ...description];
}

function markOf({ options, multi }: Question, { selected, custom }: QuestionAnswer, at: number): string {
  if (at > options.length) return "";
  const label = options[at]?.label;
  const isOn = label === undefined ? custom !== undefined : selected.includes(label);
  if (multi) return isOn ? "[x] " : "[ ] ";
  return isOn ? "* " : "  ";
}

function ownText({ options }: Question, { custom }: QuestionAnswer, at: number): string {
  return at === options.length && custom !== undefined ? `: ${oneLine(custom)}` : "";
}

const PREVIEW_ROWS = 10;

function previewLines(state: AskState, { question, canvas }: ShownQuestion): readonly string[] {
  const { columns, theme } = canvas;
  const preview = question.options[state.rows[state.at] ?? 0]?.preview;
  if (!state.preview || preview === undefined) return [];
  const lines = wrapWords(readable(markGaps(preview)), columns - 4);
  const more = lines.length > PREVIEW_ROWS ? [theme.dim(`    … ${lines.length - PREVIEW_ROWS} more lines`)] : [];
  return [...lines.slice(0, PREVIEW_ROWS).map((line) => `  ${theme.border("│")} ${line}`), ...more];
}

function noteLines({ note }: QuestionAnswer, { columns, theme }: Canvas): readonly string[] {
  return note === undefined ? [] : [theme.italic(cut(`  note: ${oneLine(note)}`, columns))];
}

function hints({ questions }: AskedQuestions, question: Question, { left }: AskState): string {
  const several = questions.length > 1;
  const { options, multi } = question;
  const parts = [
    isTextOnly(question) ? "Enter or any letter: type an answer" : multi ? "Enter or Space: check" : "Enter: choose",
    ...(several ? ["Left/Right: previous/next"] : []),
    ...(isTextOnly(question) ? [] : ["n: note"]),
    ...(options.some(({ preview }) => preview !== undefined) ? ["p: preview"] : []),
    "Esc: cancel",
    ...(left === undefined ? [] : [`answers itself in ${left} s unless you press a key`]),
  ];
  return parts.join(" · ");
}

const MOST_OPTIONS = 8;
const MOST_ROWS = 16;

/** Repeats the question above the text field; checked options stay visible. */
function editorLines(asked: AskedQuestions, state: AskState, { question, canvas }: ShownQuestion): readonly string[] {
  const { columns, theme } = canvas;
  const { selected } = answerTo(state, question);
  const isOn = (label: string): boolean => selected.includes(label);
  const labels = question.options.map(({ label }) => label);
  const kept =
    labels.length <= MOST_OPTIONS ? labels : [...labels.filter(isOn), ...labels.filter((label) => !isOn(label))].slice(0, MOST_OPTIONS);
  const gone = labels.filter((label) => !kept.includes(label));
  const checked = gone.filter(isOn).length;
  const gap = gone.length === 0 ? [] : [`  … ${gone.length} more${checked > 0 ? `, ${checked} checked` : ""}`];
  const head = [
    ...titleRows(asked, state, { question, canvas }),
    ...labels.filter((label) => kept.includes(label)).map((label) => cut(`  ${isOn(label) ? "[x]" : " - "} ${oneLine(label)}`, columns)),
    ...gap,
  ].slice(0, MOST_ROWS);
  const what = state.editing?.what === "note" ? "Your note" : "Your answer";
  const field = state.editing?.field ?? { text: "", at: 0 };
  const rows = Math.max(3, Math.min(10, canvas.rows - head.length - 3));
  const how = cut(`${what} (Enter: send, Shift+Enter or Ctrl+J: new line, Esc: back)`, columns);
  const walk = asked.questions.length > 1 ? "; Left and Right go to the other questions" : "";
  const empty = state.empty
    ? wrapWords(`Nothing is typed yet. Type an answer, or press Esc twice to cancel${walk}.`, columns).map(theme.warning)
    : [];
  return [...head.map(theme.dim), theme.bold(how), ...fieldLines(field, columns, rows), ...empty];
}

function reviewLines({ questions }: AskedQuestions, state: AskState, { columns, theme }: Canvas): readonly string[] {
  const lines = questions.map((question) => {
    const answer = answerTo(state, question);
    const text = `  ${oneLine(question.header ?? question.id)}: ${answerText(question, answer)}`;
    return isAnswered(answer) || question.multi ? cut(text, columns) : theme.warning(cut(text, columns));
  });
  const open = questions.filter((question) => !isAnswered(answerTo(state, question)) && !question.multi).length;
  const warned = open === 0 ? [] : [theme.warning(`${open} ${open === 1 ? "question has" : "questions have"} no answer.`)];
  return [theme.bold("Your answers"), ...lines, ...warned, theme.dim(cut("Enter: send · Left: back · Esc: cancel", columns))];
}

function answerText({ multi }: Question, { selected, custom, note, automatic }: QuestionAnswer): string {
  const chosen = multi ? `[${selected.map(oneLine).join(", ")}]` : selected.map(oneLine).join("");
  const own = custom === undefined ? "" : `"${oneLine(custom)}"`;
  const all = [selected.length > 0 || (multi && own === "") ? chosen : "", own].filter((text) => text !== "").join(" + ");
  return `${all === "" ? "(no answer)" : all}${automatic ? " (automatic)" : ""}${note === undefined ? "" : ` note: "${oneLine(note)}"`}`;
}
