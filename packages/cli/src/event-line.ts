import { isObject, type Json, type StoredEvent } from "@assent/core";
import { cut } from "./display-width.ts";
import { editedSubject } from "./edited-answer.ts";
import { oneLine } from "./visible-text.ts";
import { whenText } from "./who.ts";

/** One event for people: its position, when, what, and the plain values of its body, cut to the terminal. */
export function eventLine(event: StoredEvent, columns: number | undefined): string {
  const line = `${String(event.pos).padStart(5)}  ${whenText(event.at)}  ${event.type.padEnd(17)}  ${summary(event)}`.trimEnd();
  return `${columns === undefined ? line : cut(line, columns)}\n`;
}

/** What is worth a glance, the telling first and ids last; long texts, structures and digests are left to `--json`. */
function summary({ body, session, seq }: StoredEvent): string {
  const words = Object.entries(body).flatMap(([name, value]) => {
    const shown = glance(name, value);
    return shown === undefined ? [] : [{ name, text: `${name}=${shown}` }];
  });
  words.sort((left, right) => rank(left.name) - rank(right.name));
  return [...words.map(({ text }) => text), `${session}#${seq}`].join(" ");
}

function rank(name: string): number {
  if (IDS.includes(name)) return TELLING.length + 1;
  const at = TELLING.indexOf(name);
  return at === -1 ? TELLING.length : at;
}

function glance(name: string, value: Json): string | undefined {
  if (name === "edited" && isObject(value)) return editedSubject(value["input"] as Json, GLANCE); // parsing: the record is JSON
  if (typeof value === "number" || typeof value === "boolean") return String(value);
  const text = isObject(value) ? (value["name"] ?? value["text"]) : value;
  return typeof text === "string" && text !== "" && text.length <= GLANCE && !DIGESTS.includes(name) ? oneLine(text) : undefined;
}

const GLANCE = 60;

const TELLING: readonly string[] = [
  "tool",
  "verdict",
  "outcome",
  "edited",
  "type",
  "title",
  "by",
  "raw",
  "rule",
  "reason",
  "exit",
  "content",
  "mode",
];
const IDS: readonly string[] = ["call", "approval", "grant", "session"];
const DIGESTS: readonly string[] = ["fingerprint", "toolDigest", "policy", "planDigest", "digest", "processStart"];
