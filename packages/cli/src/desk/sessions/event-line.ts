import { isObject, type Json, type StoredEvent } from "@assent/core";
import { cut } from "../../io/display-width.ts";
import { oneLine } from "../../io/visible-text.ts";
import { whenText } from "../../io/who.ts";
import { inputSubject } from "../approvals/edited-answer.ts";

export type LineOptions = {
  readonly columns: number | undefined;
  /** Undefined if all sessions are shown. */
  readonly session: string | undefined;
};

export function eventLine(event: StoredEvent, { columns, session }: LineOptions): string {
  const place = session === event.session ? "" : ` ${event.session}#${event.seq}`;
  const number = numberIn(session, event).padStart(5);
  const line = `${number}  ${whenText(event.at)}  ${event.type.padEnd(17)}  ${summary(event)}${place}`.trimEnd();
  return `${columns === undefined ? line : cut(line, columns)}\n`;
}

function numberIn(session: string | undefined, event: StoredEvent): string {
  if (session === undefined) return String(event.pos);
  return session === event.session ? `#${event.seq}` : "";
}

/** Long texts and digests appear only with `--json`. */
function summary({ body }: StoredEvent): string {
  const words = Object.entries(body).flatMap(([name, value]) => {
    const shown = glance(name, value);
    return shown === undefined ? [] : [{ name, text: name === "group" ? `(${shown})` : `${name}=${shown}` }];
  });
  words.sort((left, right) => rank(left.name) - rank(right.name));
  return words.map(({ text }) => text).join(" ");
}

function rank(name: string): number {
  if (IDS.includes(name)) return TELLING.length + 1;
  const at = TELLING.indexOf(name);
  return at === -1 ? TELLING.length : at;
}

function glance(name: string, value: Json): string | undefined {
  if (name === "group" && isObject(value)) return `run by ${oneLine(String(value["title"]))}`;
  if (name === "edited" && isObject(value)) return inputSubject(value["input"] as Json, GLANCE); // the record is JSON
  if (name === "error" && isObject(value)) return oneLine(String(value["message"] ?? value["type"]));
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
  "group",
  "title",
  "by",
  "raw",
  "rule",
  "reason",
  "error",
  "exit",
  "content",
  "mode",
];
const IDS: readonly string[] = ["call", "approval", "grant", "session"];
const DIGESTS: readonly string[] = ["fingerprint", "toolDigest", "policy", "planDigest", "digest", "processStart"];
