import { cutToWidth, displayWidth } from "@assent/core";
import { visible } from "../../io/visible-text.ts";
import type { Key } from "../draw/dialog.ts";

export type TextField = { readonly text: string; readonly at: number };

export function textField(text = ""): TextField {
  return { text, at: text.length };
}

const before = ({ text, at }: TextField): number => at - ([...text.slice(0, at)].at(-1)?.length ?? 0);
const after = ({ text, at }: TextField): number => at + ([...text.slice(at)][0]?.length ?? 0);

function lineStart({ text, at }: TextField): TextField {
  return { text, at: text.slice(0, at).lastIndexOf("\n") + 1 };
}

function lineEnd({ text, at }: TextField): TextField {
  return { text, at: text.indexOf("\n", at) === -1 ? text.length : text.indexOf("\n", at) };
}

function wordBefore({ text, at }: TextField): TextField {
  const from = text.slice(0, at).replace(/\S*\s*$/, "").length;
  return { text: text.slice(0, from) + text.slice(at), at: from };
}

const EDITS: Readonly<Record<string, (field: TextField) => TextField>> = {
  left: (field) => ({ ...field, at: before(field) }),
  right: (field) => ({ ...field, at: after(field) }),
  home: lineStart,
  "ctrl+a": lineStart,
  end: lineEnd,
  "ctrl+e": lineEnd,
  backspace: (field) => ({ text: field.text.slice(0, before(field)) + field.text.slice(field.at), at: before(field) }),
  delete: (field) => ({ text: field.text.slice(0, field.at) + field.text.slice(after(field)), at: field.at }),
  "ctrl+u": ({ text, at }) => ({ text: text.slice(at), at: 0 }),
  "ctrl+k": ({ text, at }) => ({ text: text.slice(0, at), at }),
  "ctrl+w": wordBefore,
  "alt+backspace": wordBefore,
  space: (field) => insertText(field, " "),
  "shift+enter": (field) => insertText(field, "\n"),
  "alt+enter": (field) => insertText(field, "\n"),
  "ctrl+j": (field) => insertText(field, "\n"),
};

function insertText({ text, at }: TextField, more: string): TextField {
  return { text: text.slice(0, at) + more + text.slice(at), at: at + more.length };
}

/** Handles a key; undefined if it is not for the field. */
export function typeKey(field: TextField, key: Key): TextField | undefined {
  if ("pasted" in key) return insertText(field, key.pasted.replaceAll("\r\n", "\n").replaceAll("\r", "\n"));
  const edit = EDITS[key.name];
  if (edit) return edit(field);
  return [...key.name].length === 1 ? insertText(field, key.name) : undefined;
}

export function fieldLines({ text, at }: TextField, columns: number, rows: number): readonly string[] {
  const shown = `${visible(text.slice(0, at))}▏${visible(text.slice(at))}`.replaceAll("\t", "    ");
  const lines = shown.split("\n").flatMap((line) => broken(line, columns - 2));
  const cursor = lines.findIndex((line) => line.includes("▏"));
  const from = Math.max(0, Math.min(cursor - rows + 1, lines.length - rows));
  return lines.slice(from, from + rows).map((line, index) => `${index === 0 && from === 0 ? ">" : " "} ${line}`);
}

function broken(line: string, columns: number): readonly string[] {
  if (displayWidth(line) <= columns) return [line];
  const rows: string[] = [];
  let row = "";
  for (const character of line) {
    if (displayWidth(row + character) > columns) {
      rows.push(row);
      row = "";
    }
    row += character;
  }
  return [...rows, cutToWidth(row, columns)];
}
