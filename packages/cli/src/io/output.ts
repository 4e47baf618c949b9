import { displayWidth, wrap } from "./display-width.ts";
import { type Failure, hintText } from "./failure.ts";
import type { Io, Output } from "./io.ts";
import { oneLine, visible } from "./visible-text.ts";

/** A value as one line of JSON: nothing inside it can end the line, for any reader. */
export function jsonLine(value: unknown): string {
  return `${JSON.stringify(value).replaceAll("\u2028", "\\u2028").replaceAll("\u2029", "\\u2029")}\n`;
}

/** The chosen format, and nothing else, goes to stdout. */
export function printJson(io: Io, value: unknown): Promise<void> {
  return io.stdout.write(jsonLine(value));
}

/** Text of a tool, ended by a newline. A terminal gets it escaped, a file or pipe gets it as it is. */
export function printContent(output: Output, text: string): Promise<void> {
  const shown = output.isTTY ? visible(text) : text;
  return output.write(shown.endsWith("\n") ? shown : `${shown}\n`);
}

/** A failure, where the caller reads it: as JSON on stdout, else as a line and its hint on stderr. */
export async function printFailure(io: Io, failure: Failure, json: boolean): Promise<void> {
  const { type, message, hint } = failure;
  if (json) return printJson(io, { error: { type, message, hint } });
  await io.stderr.write(`${type === "usage" ? "" : "assent: "}${oneLine(message)}\n${hint ? `${oneLine(hintText(hint))}\n` : ""}`);
}

/** A warning for whoever watches; it changes nothing. */
export function warn(io: Io, message: string): Promise<void> {
  return io.stderr.write(`assent: warning: ${oneLine(message)}\n`);
}

/** The same for a text of several lines, a program's own words before all: each on a line of its own, indented, so that none looks like ours. */
export function warnInLines(io: Io, message: string): Promise<void> {
  const lines = message.split("\n").filter((line) => line.trim() !== "");
  return io.stderr.write(`assent: warning: ${lines.map(oneLine).join("\n  ")}\n`);
}

/** Labelled values, one per line, continued lines indented; values are escaped. */
export function fieldsText(fields: readonly (readonly [string, string])[], columns: number | undefined): string {
  const width = Math.max(...fields.map(([label]) => displayWidth(label))) + 2;
  return fields.map(([label, value]) => field(label.padEnd(width), value, columns)).join("");
}

function field(label: string, value: string, columns: number | undefined): string {
  const room = columns === undefined ? Number.POSITIVE_INFINITY : Math.max(columns - label.length, 16);
  const lines = wrap(visible(value).replaceAll("\t", "    "), room);
  return lines.map((line, index) => `${index === 0 ? label : " ".repeat(label.length)}${line}\n`).join("");
}
