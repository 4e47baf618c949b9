import type { Question, QuestionRow } from "@assent/core";
import { OTHER } from "@assent/core/parts";
import { cut, LIST_WIDTH, quoted, wrap } from "../../io/display-width.ts";
import type { Style } from "../../io/style.ts";
import { markGaps, oneLine, readable } from "../../io/visible-text.ts";

export function questionSubject(questions: readonly Question[], width: number = LIST_WIDTH): string {
  const more = questions.length > 1 ? ` (and ${questions.length - 1} more)` : "";
  return `${cut(oneLine(questions[0]?.question ?? ""), width)}${more}`;
}

/** The last number is for a custom answer. */
export function questionLines(question: Question, columns: number, style: Style, title: string): string[] {
  const block = (text: string, indent: string): string[] => wrap(safeText(text), columns - indent.length).map((line) => indent + line);
  const numbered = (label: string, at: number): string[] => {
    const number = String(at + 1).padStart(2);
    const lines = block(oneLine(label), "     ");
    return lines.map((line, row) => (row === 0 ? `${style.bold(` ${number}`)}  ${line.trimStart()}` : line));
  };
  const rows = question.options.flatMap(({ label, description, preview }, at) => [
    ...numbered(at === question.recommended ? `${label} (Recommended)` : label, at),
    ...(description === undefined || description === "" ? [] : block(oneLine(description), "     ").map(style.dim)),
    ...(preview === undefined ? [] : [style.dim(`     p${at + 1} shows more of it`)]),
  ]);
  const other = question.options.length === 0 ? [] : numbered(OTHER, question.options.length);
  return [style.bold(title), ...quoted(safeText(question.question), columns), "", ...rows, ...other];
}

export function previewText(preview: string, columns: number): string {
  return quoted(safeText(preview), columns).join("\n");
}

function safeText(text: string): string {
  return readable(markGaps(text));
}

const PLAIN: Style = { bold: String, dim: String, red: String, green: String, yellow: String };

export function questionsText(questions: readonly Question[], columns = 80): string {
  return questions
    .map((question) => {
      const kind = question.options.length === 0 ? "a text" : question.multi ? "any of these, or a text" : "one of these, or a text";
      return `${questionLines(question, columns, PLAIN, `${question.id} (${kind})`).join("\n")}\n`;
    })
    .join("\n");
}

export function answersExample({ questions }: Pick<QuestionRow, "questions">): string {
  return JSON.stringify(
    questions.map(({ id, options }) => (options[0] ? { id, selected: [options[0].label] } : { id, selected: [], custom: "…" })),
  );
}
