import { isObject, type JsonObject } from "../json/json.ts";
import { type AskedQuestion, type Question, type QuestionAnswer, readQuestions } from "./question.ts";

/** Reads the questions of an input, or says what is wrong. */
export function questionsOf({ questions }: JsonObject): { readonly questions: readonly Question[] } | { readonly fault: string } {
  const given: unknown = questions;
  if (!Array.isArray(given)) return { fault: "questions must be an array" };
  const strange = given.findIndex((question) => !isQuestion(question));
  return strange === -1 ? readQuestions(given.filter(isQuestion)) : { fault: `questions/${strange} is not a question` };
}

function isQuestion(value: unknown): value is AskedQuestion {
  if (!isObject(value)) return false;
  const { id, question, header, options, multi, recommended } = value;
  return (
    typeof id === "string" &&
    typeof question === "string" &&
    isAbsentOr("string", header) &&
    Array.isArray(options) &&
    options.every(isOption) &&
    isAbsentOr("boolean", multi) &&
    isAbsentOr("number", recommended)
  );
}

function isOption(value: unknown): boolean {
  return (
    isObject(value) &&
    typeof value["label"] === "string" &&
    isAbsentOr("string", value["description"]) &&
    isAbsentOr("string", value["preview"])
  );
}

function isAbsentOr(type: "string" | "boolean" | "number", value: unknown): boolean {
  return value === undefined || typeof value === type;
}

const ANSWER_KEYS: readonly string[] = ["id", "selected", "custom", "note"];

/** Reads answers of the form `[{ id, selected, custom?, note? }]`; refuses fields that only Assent sets. */
export function readAnswers(value: unknown): { readonly answers: readonly QuestionAnswer[] } | { readonly fault: string } {
  if (!Array.isArray(value)) return { fault: "Answers are a list: one { id, selected, custom?, note? } per question." };
  const answers: QuestionAnswer[] = [];
  for (const [at, item] of value.entries()) {
    const read = readAnswer(item, at);
    if (typeof read === "string") return { fault: read };
    answers.push(read);
  }
  return { answers };
}

function readAnswer(value: unknown, at: number): QuestionAnswer | string {
  if (!isObject(value)) return `Answer ${at + 1} is not an object.`;
  const { id, selected, custom, note } = value;
  if (typeof id !== "string") return `Answer ${at + 1} names no question.`;
  const strange = Object.keys(value).find((key) => !ANSWER_KEYS.includes(key));
  if (strange !== undefined) return `Question ${id}: an answer has no '${strange}'.`;
  if (!isLabels(selected)) return `Question ${id}: selected must be a list of labels.`;
  if (custom !== undefined && typeof custom !== "string") return `Question ${id}: custom must be a text.`;
  if (note !== undefined && typeof note !== "string") return `Question ${id}: note must be a text.`;
  return {
    id,
    selected: [...selected],
    ...(custom !== undefined && { custom: custom.toWellFormed() }),
    ...(note !== undefined && { note: note.toWellFormed() }),
  };
}

function isLabels(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((label) => typeof label === "string");
}
