import type { Glob } from "@assent/core";
import type { Command, Hazard } from "../shell/plan/plan.ts";
import type { ShellLine, ShellUnit } from "../shell/plan/shell-unit.ts";
import type { RuleOptions } from "./rule.ts";

/** One word of an allow rule: a text, or a glob within that word. */
export type AllowWord = string | Glob;

/** An allow rule's words; with a tail more literal words may follow. */
export type AllowWords = {
  readonly words: readonly AllowWord[];
  readonly tail: boolean;
  /** Whether the script that a package command would run is the one the rule holds for. */
  readonly sameScript: (unit: ShellUnit) => boolean;
};

/**
 * Whether an allow rule covers one command of a line that was understood whole.
 * 1. Nothing about the line or the command is hazardous. Only a rule that names every word may mean an opaque program, and only one that names an absolute path that path.
 * 2. The rule's words stand first, at their places.
 * 3. More words may follow where the rule has a tail, or where the command's table proves that it still only reads.
 * A command that was unwrapped from another is covered with it when the rule names all words of that other one.
 */
export function allowsCommand(rule: AllowWords, unit: ShellUnit): boolean {
  if (!isUnderstood(unit.line) || !rule.sameScript(unit)) return false;
  return matchesWords(rule, unit) || isInsideNamed(rule, unit);
}

/** What the bare name of the shell allows: every program that a table describes, used without a hazard. What nobody described has to be named. */
export function allowsAnyCommand(unit: ShellUnit, scripts: RuleOptions["scripts"]): boolean {
  const described = unit.command?.class === "read" || unit.command?.class === "write";
  return described && allowsCommand({ words: [], tail: true, sameScript: sameScript(undefined, scripts) }, unit);
}

/** A rule holds for the script it is bound to, or for the one found when the policy was loaded. */
export function sameScript(bound: string | undefined, scripts: RuleOptions["scripts"]): AllowWords["sameScript"] {
  return ({ script, words }) => {
    if (bound !== undefined) return script?.digest === bound;
    return script === undefined || scripts === undefined || scripts(words) === script.digest;
  };
}

function isUnderstood({ plan, parsed, limited, malformed, tooLong }: ShellLine): boolean {
  return plan.modelled && plan.hazards.length === 0 && parsed && !limited && !malformed && !tooLong;
}

function matchesWords(rule: AllowWords, { command, words }: ShellUnit): boolean {
  const [program] = words;
  if (!command || program === undefined || !startsWith(words, rule.words)) return false;
  const named = namesAll(rule, words);
  if (isFetchAddress(command, words)) return false;
  if (!isHarmless(command.hazards, { named, path: program.includes("/") && namesProgramPath(rule, program) })) return false;
  if (program.includes("/") && !namesProgramPath(rule, program)) return false;
  if (command.class === "opaque") return named;
  return words.length === rule.words.length || rule.tail || command.class === "read";
}

/** git takes the name of an existing directory for an address, before any remote of that name. */
function isFetchAddress({ operands }: Command, [program, verb]: readonly string[]): boolean {
  return program === "git" && verb === "fetch" && operands.length > 0;
}

function startsWith(words: readonly string[], rule: readonly AllowWord[]): boolean {
  return rule.length <= words.length && rule.every((word, i) => isWord(word, words[i] ?? ""));
}

function isWord(rule: AllowWord, word: string): boolean {
  if (typeof rule === "string") return rule === word;
  return rule.matches(word) && (!CLIMBS.test(word) || CLIMBS.test(rule.text));
}

/** `src/*` does not mean `src/../../x`, unless it says so. */
const CLIMBS = /(?:^|[/=:,])\.\.(?:[/,:]|$)/;

/** Every word written out, no glob and no tail. */
function namesAll({ words: rule, tail }: AllowWords, words: readonly string[]): boolean {
  return !tail && rule.length === words.length && rule.every((word, i) => word === words[i]);
}

function namesProgramPath({ words: [first] }: AllowWords, program: string): boolean {
  return program.startsWith("/") && first === program;
}

type HazardExceptions = { readonly named: boolean; readonly path: boolean };

/** Whether a rule holds for a script that changed was asked first, by `sameScript`. */
function isHarmless(hazards: readonly Hazard[], { named, path }: HazardExceptions): boolean {
  return hazards.every(({ id }) => id === "script_changed" || (id === "opaque_program" && named) || (id === "path_program" && path));
}

function isInsideNamed(rule: AllowWords, { line, command, seen }: ShellUnit): boolean {
  if (!command || !isHarmless(command.hazards, { named: true, path: false })) return false;
  for (let at = seen?.inside; at !== undefined; at = line.seen[at]?.inside) {
    const outer = line.plan.commands[at];
    if (outer && isNamed(rule, outer)) return true;
  }
  return false;
}

function isNamed(rule: AllowWords, { argv, hazards }: Command): boolean {
  const words = argv.map(({ text }) => text);
  const path = namesProgramPath(rule, words[0] ?? "");
  return argv.every(({ dynamic }) => !dynamic) && namesAll(rule, words) && isHarmless(hazards, { named: true, path });
}
