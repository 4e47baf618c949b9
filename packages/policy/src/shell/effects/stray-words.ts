import { lstatSync } from "node:fs";
import { resolve } from "node:path";
import type { Hazard } from "../plan/plan.ts";
import { type CommandPlace, lookAtPath } from "./look-at.ts";

/** A hazard of one word, by its place among the words. */
export type StrayWord = Hazard & { readonly word: number };

/** Finds words of a command without a table that lead outside the workspace or name secrets. A rule with a star does not cover them. */
export function findStrayWords(words: readonly string[], place: CommandPlace): readonly StrayWord[] {
  return words.flatMap((text, word) => {
    if (word === 0) return [];
    if (/:\/\//.test(text) && !/\s/.test(text))
      return [{ id: "outside_workspace", text: `${text} is an address, which a rule must name`, word }];
    return pathsIn(text).flatMap((path) => strayHazards(path, place).map((hazard) => ({ ...hazard, word })));
  });
}

/** What in a word may be a path: `x`, `--file=x`, `-Fx`, `@x`, `+x`, `a:b`. */
function pathsIn(word: string): readonly string[] {
  const [, letter] = /^-[^-]/.test(word) ? (/^-[A-Za-z]+?([/.~].*)$/s.exec(word) ?? ["", word.slice(2)]) : [];
  const parts = /[=:,@+]/.test(word) ? word.split(/[=:,@]|^\+/) : [];
  return [...new Set([word, ...(letter === undefined ? [] : [letter]), ...parts])].filter((part) => part !== "" && part !== "-");
}

const LEADS_AWAY = /^[/~]|(?:^|\/)\.\.(?:\/|$)/;

function strayHazards(path: string, place: CommandPlace): readonly Hazard[] {
  const isPath = (LEADS_AWAY.test(path) && !/\s/.test(path)) || exists(path, place.cwd);
  return isPath && path !== "/dev/null" ? lookAtPath({ path, use: "read", follows: false }, place).hazards : [];
}

function exists(path: string, cwd: string): boolean {
  try {
    return lstatSync(resolve(cwd, path), { throwIfNoEntry: false }) !== undefined;
  } catch {
    return true; // such as a name that is too long; the lookup decides
  }
}
