import { foldPath } from "../paths/fold.ts";
import { programName } from "../shell/effects/write-targets.ts";
import type { ShellUnit } from "../shell/plan/shell-unit.ts";

/** A command of Assent itself, of one word or of two. One that does not say that it only looks may write the record: answers, trust, grants. */
export type OwnCommand = { readonly name: string; readonly looks?: true };

/** Whether a simple command is one of Assent's own that may write the record. Of a command that is in no table nobody knows that it only looks. */
export function changesRecord({ seen }: ShellUnit, commands: readonly OwnCommand[]): boolean {
  if (!seen) return false;
  const most = RUNS_SCRIPTS.has(programName(seen)) ? SCRIPT_WORDS : 1;
  const own = seen.argv.findIndex(({ text }, at) => at < most && isAssent(text, at === 0));
  if (own === -1) return false;
  const [command, ...words] = seen.argv.slice(own + 1).flatMap(({ text }) => (text.startsWith("-") ? [] : [text]));
  return command !== undefined && mayAct(command, words, commands);
}

/** Which of the words is an option's value is not known here, so each may be the second word of a command, and all that may be meant must only look. */
function mayAct(command: string, words: readonly string[], commands: readonly OwnCommand[]): boolean {
  const names = [command, ...words.map((word) => `${command} ${word}`)];
  const meant = commands.filter(({ name }) => names.includes(name));
  return meant.length === 0 || meant.some(({ looks }) => !looks);
}

/** Options may stand between an interpreter and its script. */
const SCRIPT_WORDS = 8;
const RUNS_SCRIPTS: ReadonlySet<string> = new Set(["node", "nodejs", "bun", "deno", "tsx"]);

/** The program by its name, or by the file it is: `…/cli/bin/assent.js`. */
function isAssent(word: string, first: boolean): boolean {
  const folded = foldPath(word);
  const name = folded.slice(folded.lastIndexOf("/") + 1);
  return name === "assent.js" || (first && name === "assent");
}
