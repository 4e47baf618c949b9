import { foldPath } from "../paths/fold.ts";
import { programName } from "../shell/effects/write-targets.ts";
import type { ShellUnit } from "../shell/plan/shell-unit.ts";

/** A command of Assent. Without `looks` it may change the record. */
export type OwnCommand = { readonly name: string; readonly looks?: true };

/** True if a command is Assent itself and may change the record. */
export function changesRecord({ seen }: ShellUnit, commands: readonly OwnCommand[]): boolean {
  if (!seen) return false;
  const most = RUNS_SCRIPTS.has(programName(seen)) ? SCRIPT_WORDS : 1;
  const own = seen.argv.findIndex(({ text }, at) => at < most && isAssent(text, at === 0));
  if (own === -1) return false;
  const [command, ...words] = seen.argv.slice(own + 1).flatMap(({ text }) => (text.startsWith("-") ? [] : [text]));
  return command !== undefined && mayAct(command, words, commands);
}

/** Any word may be a subcommand, because options are unknown here. */
function mayAct(command: string, words: readonly string[], commands: readonly OwnCommand[]): boolean {
  const names = [command, ...words.map((word) => `${command} ${word}`)];
  const meant = commands.filter(({ name }) => names.includes(name));
  return meant.length === 0 || meant.some(({ looks }) => !looks);
}

const SCRIPT_WORDS = 8;
const RUNS_SCRIPTS: ReadonlySet<string> = new Set(["node", "nodejs", "bun", "deno", "tsx"]);

/** By name, or by file: `…/cli/bin/assent.js`. */
function isAssent(word: string, first: boolean): boolean {
  const folded = foldPath(word);
  const name = folded.slice(folded.lastIndexOf("/") + 1);
  return name === "assent.js" || (first && name === "assent");
}
