import type { Glob } from "@assent/core";
import type { Command, Hazard } from "../shell/plan/plan.ts";
import type { ShellLine, ShellUnit } from "../shell/plan/shell-unit.ts";
import type { RuleOptions } from "./rule.ts";

export type AllowWord = string | Glob;

/** Words of an allow rule; with a tail, more literal words may follow. */
export type AllowWords = {
  readonly words: readonly AllowWord[];
  readonly tail: boolean;
  readonly sameScript: (unit: ShellUnit) => boolean;
};

/**
 * True if an allow rule covers one command of a fully understood line.
 * 1. The line and the command have no hazard. Only a rule with all words may cover an unknown program, and only one with its absolute path a path.
 * 2. The rule's words come first, in place.
 * 3. More words may follow if the rule has a tail, or if the command still only reads.
 * A wrapped command is covered too if the rule has all words of its wrapper.
 */
export function allowsCommand(rule: AllowWords, unit: ShellUnit): boolean {
  if (!isUnderstood(unit.line) || !rule.sameScript(unit)) return false;
  return matchesWords(rule, unit) || isInsideNamed(rule, unit);
}

/** What the bare shell name allows: described programs without a hazard. */
export function allowsAnyCommand(unit: ShellUnit, scripts: RuleOptions["scripts"]): boolean {
  const described = unit.command?.class === "read" || unit.command?.class === "write";
  return described && allowsCommand({ words: [], tail: true, sameScript: sameScript(undefined, scripts) }, unit);
}

/** A rule applies to its bound script, or to the one found when the policy was loaded. */
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

/** `src/*` does not match `src/../../x`. */
const CLIMBS = /(?:^|[/=:,])\.\.(?:[/,:]|$)/;

function namesAll({ words: rule, tail }: AllowWords, words: readonly string[]): boolean {
  return !tail && rule.length === words.length && rule.every((word, i) => word === words[i]);
}

function namesProgramPath({ words: [first] }: AllowWords, program: string): boolean {
  return program.startsWith("/") && first === program;
}

type HazardExceptions = { readonly named: boolean; readonly path: boolean };

/** Changed scripts were already checked by `sameScript`. */
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
