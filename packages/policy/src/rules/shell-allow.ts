import type { Glob } from "@assent/core";
import type { Command, Hazard, HazardId } from "../shell/plan/plan.ts";
import type { ShellLine, ShellUnit } from "../shell/plan/shell-unit.ts";
import { findStarLimit, hasPrefix } from "./prefixes.ts";
import type { RuleLimit, RuleOptions } from "./rule.ts";

export type AllowWord = string | Glob;

/** Words of an allow rule; with a tail, more literal words may follow. */
export type AllowWords = {
  readonly words: readonly AllowWord[];
  readonly tail: boolean;
  readonly sameScript: (unit: ShellUnit) => boolean;
};

/** Whether an allow covers a command, or what prevents it although its words match. */
export type AllowAnswer = "yes" | "no" | RuleLimit;

/**
 * Compares an allow rule with one command of a line.
 * 1. The line is fully understood.
 * 2. The rule's words come first, in place.
 * 3. The command has no hazard, except those that a rule with all words, or one with a star, covers.
 * 4. More words may follow if the rule has a star, or if the command still only reads.
 * A wrapped command is covered too if the rule names it behind its wrapper.
 */
export function matchCommand(rule: AllowWords, unit: ShellUnit): AllowAnswer {
  if (!isUnderstood(unit.line)) return startsWith(argvOf(unit.command), rule.words) ? describeLine(unit) : "no";
  const own = matchWords(rule, unit);
  if (own === "yes") return rule.sameScript(unit) ? own : CHANGED_SCRIPT;
  return isInsideNamed(rule, unit) ? "yes" : own;
}

/** What the bare shell name allows: described programs without a hazard. */
export function allowsAnyCommand(unit: ShellUnit, scripts: RuleOptions["scripts"]): boolean {
  const described = unit.command?.class === "read" || unit.command?.class === "write";
  return described && matchCommand({ words: [], tail: true, sameScript: sameScript(undefined, scripts) }, unit) === "yes";
}

/** A rule applies to its bound script, or to the one found when the policy was loaded. */
export function sameScript(bound: string | undefined, scripts: RuleOptions["scripts"]): AllowWords["sameScript"] {
  return ({ script, words, line, index }) => {
    if (script !== undefined && line.plan.commands.slice(0, index).some(mayChangeScript)) return false;
    if (bound !== undefined) return script?.digest === bound;
    return script === undefined || scripts === undefined || scripts(words) === script.digest;
  };
}

function isUnderstood({ plan, parsed, limited, malformed, tooLong }: ShellLine): boolean {
  return plan.modelled && plan.hazards.length === 0 && parsed && !limited && !malformed && !tooLong;
}

/** `git add` and `git fetch` change no file of the workspace. */
function mayChangeScript({ class: known, hazards, operands }: Command): boolean {
  return known !== "read" && (known !== "write" || hazards.length > 0 || operands.some(({ use }) => use === "write"));
}

const CHANGED_SCRIPT: RuleLimit = {
  why: "the package script is new or changed since Assent read the rule, or an earlier command of the line may change it",
  lasting: false,
};

function describeLine({ line, command }: ShellUnit): RuleLimit {
  const [hazard] = [...line.plan.hazards, ...(command?.hazards ?? []), ...line.plan.commands.flatMap(({ hazards }) => hazards)];
  return { why: hazard?.text ?? "Assent does not understand the whole line", lasting: true };
}

function argvOf(command: Command | undefined): readonly string[] {
  const dynamic = command?.argv.findIndex((word) => word.dynamic) ?? 0;
  const words = command?.argv.map(({ text }) => text) ?? [];
  return dynamic === -1 ? words : words.slice(0, dynamic);
}

function matchWords(rule: AllowWords, unit: ShellUnit): AllowAnswer {
  const { command, words } = unit;
  const [program] = words;
  if (!command || program === undefined || !startsWith(words, rule.words)) return "no";
  if (words.length > rule.words.length && !rule.tail && command.class !== "read") return describeMore(command);
  if (isFetchAddress(command, words)) return { why: "a file has the name of that remote", lasting: false };
  const path = namesProgramPath(rule, program);
  if (program.includes("/") && !path) return RELATIVE_PATH;
  const named = namesAll(rule, words);
  const star = hasStar(rule);
  const limit = star ? findStarLimit(unit, countLead(rule), findOpenWords(rule, words)) : undefined;
  const covered = named ? BY_ALL_WORDS : star && limit === undefined ? (hasPrefix(words) ? BY_ALL_WORDS : BY_STAR) : NONE;
  const hazard = command.hazards.find(({ id }) => !isCovered(id, covered, path));
  const isDescribed = command.class === "read" || command.class === "write";
  if (limit && (!isDescribed || hazard)) return limit;
  return hazard ? { why: hazard.text, lasting: !isCurable(hazard, words) } : "yes";
}

const RELATIVE_PATH: RuleLimit = { why: "a rule names a program by its name or its absolute path", lasting: true };

/** Further words may name a subcommand, or list an option that the table knows. */
function isCurable({ id }: Hazard, words: readonly string[]): boolean {
  return BY_ALL_WORDS.includes(id) || (id === "git_global_option" && words.length === 1);
}

function describeMore({ hazards }: Command): RuleLimit {
  const other = hazards.find(({ id }) => !isCovered(id, BY_ALL_WORDS, false));
  return { why: other?.text ?? "the command has more words than the rule, which does not end in a star", lasting: false };
}

/** Hazards that a rule covers. A changed script was already checked by `sameScript`. */
const BY_ALL_WORDS: readonly HazardId[] = ["opaque_program", "runs_hooks", "unmodelled_option"];
const BY_STAR: readonly HazardId[] = ["opaque_program"];
const NONE: readonly HazardId[] = [];

function isCovered(id: Hazard["id"], covered: readonly HazardId[], path: boolean): boolean {
  return id === "script_changed" || covered.includes(id) || (id === "path_program" && path);
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

function hasStar({ words, tail }: AllowWords): boolean {
  return words.length > 0 && (tail || words.some((word) => typeof word !== "string"));
}

/** How many literal words come before the first glob. */
function countLead({ words }: AllowWords): number {
  const glob = words.findIndex((word) => typeof word !== "string");
  return glob === -1 ? words.length : glob;
}

/** Words that the rule does not write out: those under a star, and under a glob that names no place outside and no host. */
function findOpenWords({ words: rule }: AllowWords, words: readonly string[]): readonly number[] {
  const isOpen = (word: AllowWord | undefined): boolean => word === undefined || (typeof word !== "string" && !LEADS_AWAY.test(word.text));
  return words.flatMap((_, i) => (isOpen(rule[i]) ? [i] : []));
}

const LEADS_AWAY = /^\/|(?:^|\/)\.\.(?:\/|$)|^[\w+-]+:\/\/[^*?[\\]+\//;

function namesAll({ words: rule, tail }: AllowWords, words: readonly string[]): boolean {
  return !tail && rule.length === words.length && rule.every((word, i) => word === words[i]);
}

function namesProgramPath({ words: [first] }: AllowWords, program: string): boolean {
  return program.startsWith("/") && first === program;
}

/** True behind a wrapper that the rule names with all its words, or if the rule also names this command in its place. */
function isInsideNamed(rule: AllowWords, unit: ShellUnit): boolean {
  const { line, command, seen, words } = unit;
  if (!command) return false;
  for (let at = seen?.inside; at !== undefined; at = line.seen[at]?.inside) {
    const outer = line.plan.commands[at];
    if (!outer || outer.argv.some(({ dynamic }) => dynamic)) continue;
    const around = argvOf(outer);
    if (!coversAll(outer, namesProgramPath(rule, around[0] ?? ""))) continue;
    if (namesAll(rule, around) && coversAll(command, false)) return true;
    const start = around.length - words.length;
    const isEnd = start > 0 && start < rule.words.length && words.length > 0 && words.every((word, i) => word === around[start + i]);
    if (isEnd && startsWith(around, rule.words) && matchWords({ ...rule, words: rule.words.slice(start) }, unit) === "yes") return true;
  }
  return false;
}

function coversAll({ hazards }: Command, path: boolean): boolean {
  return hazards.every(({ id }) => isCovered(id, BY_ALL_WORDS, path));
}
