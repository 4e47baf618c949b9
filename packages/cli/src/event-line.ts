import type { JsonObject, StoredEvent } from "@assent/core";
import { cut } from "./display-width.ts";
import { oneLine } from "./visible-text.ts";
import { whenText } from "./who.ts";

/** One event for people: where, when, what, and the plain values of its body, cut to the terminal. */
export function eventLine(event: StoredEvent, columns: number | undefined): string {
  const place = `${String(event.pos).padStart(5)}  ${event.session}#${event.seq}`;
  const line = `${place}  ${whenText(event.at)}  ${event.type.padEnd(18)}  ${summary(event.body)}`.trimEnd();
  return `${columns === undefined ? line : cut(line, columns)}\n`;
}

/** What is worth a glance; long texts, structures and digests are left to `--json`. */
function summary(body: JsonObject): string {
  const words: string[] = [];
  for (const [name, value] of Object.entries(body)) {
    if (typeof value === "string" && value.length <= 60 && !DIGESTS.includes(name)) words.push(`${name}=${oneLine(value)}`);
    else if (typeof value === "number" || typeof value === "boolean") words.push(`${name}=${value}`);
  }
  return words.join(" ");
}

const DIGESTS: readonly string[] = ["fingerprint", "toolDigest", "policy", "planDigest", "digest", "processStart"];
