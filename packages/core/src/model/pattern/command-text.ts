import type { Verdict } from "../decision.ts";
import type { Glob } from "./glob.ts";

/** How a command is read by a rule where nothing analyses shell: as text, narrowly for an allow, broadly for a deny or ask. */
export function commandTest(glob: Glob, how: Verdict): (command: string) => boolean {
  return how === "allow" ? (command) => allows(glob, command) : (command) => partsOf(command).some(glob.matches);
}

const MAX_LENGTH = 4096;
const BARE_WORDS = /^[\w./:=@+,%^~ \t-]*$/;
/** A shell would put a home directory here. */
const EXPANDED_TILDE = /(?:^|[ \t:=])~/;

/** True for bare words and blanks: no quoting, no expansion, no operator, so that there is nothing a shell could read differently. */
export function isPlainCommand(command: unknown): boolean {
  if (typeof command !== "string" || command.length > MAX_LENGTH || command.trim() === "") return false;
  return BARE_WORDS.test(command) && !EXPANDED_TILDE.test(command);
}

/** Word by word and case-sensitively; a star at the end stands for further whole words, so `ls*` is not `lsof`. No other glob can allow a command. */
function allows({ plain }: Glob, command: string): boolean {
  if (!plain || !isPlainCommand(command)) return false;
  const rule = wordsOf(plain.text);
  const words = wordsOf(command);
  return (plain.star ? words.length >= rule.length : words.length === rule.length) && rule.every((word, i) => word === words[i]);
}

function wordsOf(text: string): readonly string[] {
  return text.split(/[ \t]+/).filter((word) => word !== "");
}

/** The whole text, and what stands between separators and brackets: each may be a command of its own. */
function partsOf(command: string): readonly string[] {
  const parts = command.split(/[\n\r;&|(){}`]+/).map((part) => part.trim());
  return [command, ...parts.filter((part) => part !== "")];
}
