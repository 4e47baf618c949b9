import type { FileDiff } from "@assent/core/parts";
import { quotedAfter } from "../../io/display-width.ts";
import type { Style } from "../../io/style.ts";
import { oneLine, readable } from "../../io/visible-text.ts";
import { type ChosenParts, partKeys } from "../../tui/diff/choice.ts";
import { type DiffItem, diffItems } from "../../tui/diff/items.ts";

/** Every change as lines of text, with a number for each file and hunk that can be chosen. */
export function reviewLines(files: readonly FileDiff[], { columns, style }: { readonly columns: number; readonly style: Style }): string[] {
  return diffItems(files, { split: false, folded: new Set() }).flatMap((item) => itemLines(item, files, columns, style));
}

const SIGNS = { same: " ", added: "+", removed: "-" } as const;

function itemLines(item: DiffItem, files: readonly FileDiff[], columns: number, style: Style): readonly string[] {
  switch (item.type) {
    case "file": {
      const state = item.isNew ? ", new file" : item.isDeleted ? ", deleted" : "";
      return quotedAfter(`${item.file + 1}  `, `${oneLine(item.name)}  +${item.added} -${item.removed}${state}`, columns).map(style.bold);
    }
    case "note":
      return quotedAfter("     ", oneLine(item.text), columns).map(style.yellow);
    case "hunk":
      return [`${(files[item.file]?.hunks.length ?? 0) > 1 ? `${item.file + 1}.${item.hunk + 1}  ` : "   "}${item.header}`];
    case "line": {
      const { kind, text, open } = item.line;
      const paint = kind === "added" ? style.green : kind === "removed" ? style.red : (line: string) => line;
      const shown = readable(text).replaceAll("\n", "\\n");
      return quotedAfter(`   ${SIGNS[kind]} `, `${shown}${open ? " (no line break at the end)" : ""}`, columns).map(paint);
    }
    default:
      return [];
  }
}

/** Reads numbers such as `1 3.2`; a text says what is wrong. */
export function readChoice(files: readonly FileDiff[], typed: string): ChosenParts | string {
  const chosen = new Set<string>();
  for (const word of typed.split(/[\s,]+/).filter((each) => each !== "")) {
    const [, file = "", hunk] = /^(\d+)(?:\.(\d+))?$/.exec(word) ?? [];
    const stop = { file: Number(file) - 1, ...(hunk !== undefined && { hunk: Number(hunk) - 1 }) };
    const keys = file === "" ? [] : partKeys(files, stop);
    if (keys.length === 0) return `'${oneLine(word).slice(0, 20)}' is not a number from the list.`;
    for (const key of keys) chosen.add(key);
  }
  return chosen.size === 0 ? "Nothing is chosen." : chosen;
}
