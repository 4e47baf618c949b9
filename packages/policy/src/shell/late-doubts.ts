import type { CommandShape } from "./bash-tree.ts";
import { commandName } from "./command-name.ts";
import { SHELLS } from "./wrappers/shells.ts";

/** Programs that run what an option tells them to. */
const TOLD_BY_OPTIONS: ReadonlySet<string> = new Set([
  ...SHELLS,
  ..."env su sudo doas script runuser xargs parallel watch nsenter unshare".split(" "),
]);

/** Why nobody can tell what a command runs though most of its words are literal: the shell reads something once more, or only it knows which option stands there. */
export function lateDoubts({ words, assignments, redirections }: CommandShape): readonly string[] {
  const doubts: string[] = [];
  if (redirections.some(({ op, target }) => op === ">&" && /[$`]/.test(target))) doubts.push("what stands behind >& is expanded twice");
  const set = [...assignments.map(({ name, value }) => `${name}=${value.value}`), ...words.map(({ value }) => value)];
  if (set.some((text) => READ_AT_START.test(text))) doubts.push("a variable is set that a shell reads as a program when it starts");
  if (hasUnknownOption(words)) doubts.push("which option stands here is not known before it runs");
  return doubts;
}

/** Their values are expanded, or are functions. */
const READ_AT_START = /^(?:BASH_ENV|ENV|BASH_FUNC_[^=]*)=[\s\S]*[$`{]/;

/** A word that may become an option, where one decides what is run. */
function hasUnknownOption([first, ...rest]: CommandShape["words"]): boolean {
  const name = first && !first.word.dynamic ? commandName(first.value) : "";
  const mayBeOption = rest.some(({ word }) => word.dynamic && /^["']?(?:-|[$`{"])/.test(word.text));
  if (!mayBeOption) return false;
  if (name === "find") return rest.some(({ value }) => value === ";" || value === "+");
  return TOLD_BY_OPTIONS.has(name) && rest.some(({ word, value }) => !word.dynamic && /\s/.test(value));
}
