// The world that tools change. Every real execution is counted here, in memory and, where EFFECTS_FILE is set, in a file; nobody's own report is believed.
import { appendFileSync, readFileSync } from "node:fs";

const file = process.env.EFFECTS_FILE;
let count = 0;

/** The effect of the echo tool. */
export function echo({ path, text, limit }) {
  count += 1;
  if (file) appendFileSync(file, `${path}\n`);
  return `${path}: ${text.slice(0, limit)}`;
}

/** How often the effect happened in this process. */
export function effects() {
  return count;
}

/** How often it happened according to the file. */
export function effectsOnDisk() {
  try {
    return readFileSync(file, "utf8").split("\n").length - 1;
  } catch (error) {
    if (error.code === "ENOENT") return 0;
    throw error;
  }
}

/** What the model asks for in the n-th call: three fields, another path each time. */
export function inputOf(n) {
  return { path: `src/${n}.ts`, text: "the same words every time", limit: 10 };
}

/** The same as a model sends it. */
export function argumentsOf(n) {
  return JSON.stringify(inputOf(n));
}

export const TOOL = "echo";
export const DESCRIPTION = "Repeats the beginning of a text.";
export const SYSTEM = "You are measured.";
export const PROMPT = "go";
export const LAST_WORDS = "Done.";

/** The echo tool's input as JSON Schema, for those who take that. */
export const JSON_SCHEMA = {
  type: "object",
  properties: { path: { type: "string" }, text: { type: "string" }, limit: { type: "integer" } },
  required: ["path", "text", "limit"],
  additionalProperties: false,
};

/**
 * What the model does in each of its turns: `answer(k)` gives the numbers of the calls of turn k, an empty list in the last one.
 * `turns`: one call in each of so many turns. `batch`: so many calls in one turn.
 */
export function plan({ turns = 0, batch = 0 }) {
  if (batch > 0) return (turn) => (turn === 0 ? Array.from({ length: batch }, (_, at) => at) : []);
  return (turn) => (turn < turns ? [turn] : []);
}

/** Fails where what should have happened did not. */
export function must(condition, message) {
  if (!condition) throw new Error(message);
}
