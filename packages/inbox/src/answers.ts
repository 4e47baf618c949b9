import { isObject, type JsonObject, type QuestionAnswer } from "@assent/core";
import type { CancelTarget, InboxAnswer } from "./desk.ts";

const MOST = 500;

/** Reads the answers of a request; a string says what is wrong. Nothing unknown is accepted. */
export function readAnswers(body: Readonly<Record<string, unknown>>): readonly InboxAnswer[] | string {
  const { answers, ...rest } = body;
  if (Object.keys(rest).length > 0 || !Array.isArray(answers)) return "Send { answers: [ … ] }.";
  if (answers.length === 0 || answers.length > MOST) return `Send 1 to ${MOST} answers.`;
  const read: InboxAnswer[] = [];
  for (const [at, one] of answers.entries()) {
    const answer = readAnswer(one);
    if (typeof answer === "string") return `Answer ${at + 1}: ${answer}`;
    read.push(answer);
  }
  return read;
}

/** Reads what to cancel; undefined if it is something else. */
export function readCancelTarget(body: Readonly<Record<string, unknown>>): CancelTarget | undefined {
  const [[name, id] = [], ...others] = Object.entries(body);
  if (name === undefined) return null;
  if (typeof id !== "string" || others.length > 0) return undefined;
  return name === "call" ? { call: id } : name === "task" ? { task: id } : undefined;
}

type FieldCheck = (value: unknown) => boolean;

const isText: FieldCheck = (value) => typeof value === "string";
const isTexts: FieldCheck = (value) => Array.isArray(value) && value.every(isText);

const FIELDS: Readonly<Record<keyof InboxAnswer, { readonly needed?: true; readonly is: FieldCheck }>> = {
  id: { needed: true, is: isText },
  revision: { needed: true, is: Number.isSafeInteger },
  fingerprint: { needed: true, is: isText },
  outcome: { needed: true, is: (value) => value === "approve" || value === "reject" },
  reason: { is: isText },
  stop: { is: (value) => typeof value === "boolean" },
  remember: {
    is: (value) =>
      isObject(value) && ["session", "project", "user"].includes(String(value["scope"])) && isTexts(value["rules"]) && hasOnly(value, 2),
  },
  input: { is: isObject },
  write: { is: isText },
  mode: { is: isText },
  files: { is: (value) => Array.isArray(value) && value.length > 0 && value.every(isFilePart) },
  answers: { is: (value) => Array.isArray(value) && value.every(isObject) },
};

function hasOnly(value: object, count: number): boolean {
  return Object.keys(value).length === count;
}

function isFilePart(value: unknown): boolean {
  return (
    isObject(value) &&
    isText(value["path"]) &&
    (value["hunks"] === undefined ? hasOnly(value, 1) : isTexts(value["hunks"]) && hasOnly(value, 2))
  );
}

function readAnswer(value: unknown): InboxAnswer | string {
  if (!isObject(value)) return "is not an object.";
  const unknown = Object.keys(value).find((name) => !Object.hasOwn(FIELDS, name));
  if (unknown !== undefined) return `has an unknown field '${unknown}'.`;
  for (const [name, { needed, is }] of Object.entries(FIELDS)) {
    const given = value[name];
    if (given === undefined ? needed : !is(given)) return `field '${name}' is missing or invalid.`;
  }
  // Every field was checked; the texts of questions are checked again where the answer is saved.
  return value as unknown as InboxAnswer & { readonly input?: JsonObject; readonly answers?: readonly QuestionAnswer[] };
}
