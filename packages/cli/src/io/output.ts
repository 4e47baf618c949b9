import { displayWidth, wrap } from "./display-width.ts";
import { type Failure, hintText } from "./failure.ts";
import type { Io, Output } from "./io.ts";
import { oneLine, readable, visible } from "./visible-text.ts";

/** One line of JSON, without characters that some readers treat as line ends. */
export function jsonLine(value: unknown): string {
  return `${JSON.stringify(value).replaceAll("\u2028", "\\u2028").replaceAll("\u2029", "\\u2029")}\n`;
}

export function printJson(io: Io, value: unknown): Promise<void> {
  return io.stdout.write(jsonLine(value));
}

/** Escapes control characters only on a terminal. */
export function printContent(output: Output, text: string): Promise<void> {
  const shown = output.isTTY ? visible(text) : text;
  return output.write(shown.endsWith("\n") ? shown : `${shown}\n`);
}

export async function printFailure(io: Io, failure: Failure, json: boolean): Promise<void> {
  const { type, message, hint } = failure;
  if (json) return printJson(io, { error: { type, message, hint } });
  await io.stderr.write(`${type === "usage" ? "" : "assent: "}${oneLine(message)}\n${hint ? `${oneLine(hintText(hint))}\n` : ""}`);
}

export function warn(io: Io, message: string): Promise<void> {
  return io.stderr.write(`assent: warning: ${oneLine(message)}\n`);
}

/** Indents further lines, so that none looks like ours. */
export function warnInLines(io: Io, message: string): Promise<void> {
  const lines = message.split("\n").filter((line) => line.trim() !== "");
  return io.stderr.write(`assent: warning: ${lines.map(oneLine).join("\n  ")}\n`);
}

export function fieldsText(fields: readonly (readonly [string, string])[], columns: number | undefined): string {
  const width = Math.max(...fields.map(([label]) => displayWidth(label))) + 2;
  return fields.map(([label, value]) => field(label.padEnd(width), value, columns)).join("");
}

function field(label: string, value: string, columns: number | undefined): string {
  const room = columns === undefined ? Number.POSITIVE_INFINITY : Math.max(columns - label.length, 16);
  const lines = wrap(readable(value), room);
  return lines.map((line, index) => `${index === 0 ? label : " ".repeat(label.length)}${line}\n`).join("");
}
