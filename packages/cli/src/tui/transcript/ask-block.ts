import { isObject, type JsonObject } from "@assent/core";
import { cut, wrapWords } from "../../io/display-width.ts";
import { oneLine } from "../../io/visible-text.ts";
import type { Canvas } from "../draw/dialog.ts";

export type AskBlock = {
  readonly input: JsonObject;
  readonly state: string;
  readonly outcome?: string;
  /** Set when the call has ended. */
  readonly details?: JsonObject;
};

/** `open` also shows descriptions. */
export type AskDrawing = Canvas & { readonly open: boolean };

type RecordedFields = Readonly<Record<string, unknown>>;

export function askTitle(input: JsonObject): string {
  const questions = questionsOf(input);
  const [first] = questions;
  if (questions.length > 1) return `${questions.length} questions`;
  return first ? oneLine(text(first["question"])) : "";
}

/** Draws the questions while waiting, then the answers. Uses the details, never the text for the model. */
export function askRows(block: AskBlock, drawing: AskDrawing): readonly string[] {
  if (block.state !== "ended")
    return questionsOf(block.input).flatMap((question, _, all) => questionRows(question, all.length > 1, drawing));
  const said = answerRows(block);
  const rows = said.map((row, at) => `${at === said.length - 1 ? "└" : "├"} ${row}`);
  const end = block.outcome === "cancelled" ? [drawing.theme.warning("Cancelled")] : [];
  return [...end, ...rows.flatMap((row) => (drawing.open ? wrapWords(row, drawing.columns) : [cut(row, drawing.columns)]))];
}

function questionRows(question: RecordedFields, several: boolean, { columns, theme, open }: AskDrawing): readonly string[] {
  const options = objects(question["options"]);
  const labels = options.map((option) => oneLine(text(option["label"])));
  const title = several ? [cut(oneLine(text(question["question"])), columns)] : [];
  if (!open) return [...title, ...(labels.length === 0 ? [] : [theme.dim(cut(`  ${labels.join(" · ")}`, columns))])];
  const rows = options.flatMap((option, at) => {
    const description = text(option["description"]);
    return wrapWords(`  - ${labels[at] ?? ""}${description === "" ? "" : `: ${oneLine(description)}`}`, columns);
  });
  return [...title, ...rows.map(theme.dim)];
}

function answerRows({ input, details = {} }: AskBlock): readonly string[] {
  const questions = questionsOf(input);
  const results = objects(details["results"] ?? details["partial"]);
  if (results.length > 0) return results.map((result) => `${nameOf(questions, result["id"])}${answerText(result)}`);
  return "selectedOptions" in details ? [answerText(details)] : [];
}

function nameOf(questions: readonly RecordedFields[], id: unknown): string {
  if (questions.length < 2) return "";
  const header = questions.find((question) => question["id"] === id)?.["header"];
  return `${oneLine(text(header) === "" ? text(id) : text(header))}: `;
}

function answerText({ selectedOptions, customInput, note, automatic, multi }: RecordedFields): string {
  const labels = Array.isArray(selectedOptions) ? selectedOptions.map((label) => oneLine(text(label))) : [];
  const chosen = labels.length > 0 ? [labels.join(", ")] : [];
  const own = typeof customInput === "string" ? [`"${oneLine(customInput)}"`] : [];
  const none = multi === true ? "nothing" : "(no answer)";
  const said = [...chosen, ...own].join(" + ");
  return `${said === "" ? none : said}${automatic === true ? " (automatic)" : ""}${typeof note === "string" ? ` note: "${oneLine(note)}"` : ""}`;
}

function questionsOf(input: JsonObject): readonly RecordedFields[] {
  return objects(input["questions"]);
}

function objects(value: unknown): readonly RecordedFields[] {
  return Array.isArray(value) ? value.filter(isObject) : [];
}

function text(value: unknown): string {
  return typeof value === "string" ? value : "";
}
