import type { PlanWord } from "../plan/plan.ts";
import { type OptionSet, optionsOf, takesNext } from "../programs/options.ts";
import type { Match } from "../programs/program.ts";
import { PROGRAMS } from "../programs/table.ts";
import { isOneWord } from "../read/bash-tree.ts";
import type { SeenCommand } from "../walk/seen-command.ts";

/** A word that is or may be an operand. */
export type OperandWord = {
  readonly text: string;
  readonly dynamic: boolean;
  readonly maybe: boolean;
};

/** An option with the word that is or may be its value. */
export type OptionWord = { readonly text: string; readonly next: PlanWord | undefined; readonly ways: OptionWays };

export type CommandArguments = {
  readonly operands: readonly OperandWord[];
  readonly options: readonly OptionWord[];
  /** A dynamic word may be an option. */
  readonly unknownOption: boolean;
  /** `--` has certainly ended the options. */
  readonly ended: boolean;
};

/** Sorts a command's words. Keeps the last result, because many rules ask about one command. */
export function sortArguments(seen: SeenCommand, program: string): CommandArguments {
  if (last?.seen !== seen) last = { seen, sorted: sortWords(seen, program) };
  return last.sorted;
}

let last: { readonly seen: SeenCommand; readonly sorted: CommandArguments } | undefined;

function sortWords({ argv }: SeenCommand, program: string): CommandArguments {
  const sorting: ArgumentSorter = {
    operands: [],
    options: [],
    unknownOption: false,
    ended: "no",
    value: "no",
    program,
    ways: findOptionWays(program),
  };
  for (let i = 1; i < argv.length; i++) sortWord(sorting, argv[i] ?? NO_WORD);
  const { operands, options, unknownOption, ended } = sorting;
  return { operands, options, unknownOption, ended: ended === "yes" };
}

const NO_WORD: PlanWord = { text: "", dynamic: false };

type ArgumentSorter = {
  readonly operands: OperandWord[];
  readonly options: OptionWord[];
  unknownOption: boolean;
  ended: "yes" | "no" | "maybe";
  value: "yes" | "no" | "maybe";
  readonly program: string;
  ways: OptionWays;
};

function sortWord(sorting: ArgumentSorter, word: PlanWord): void {
  const before = sorting.value;
  sorting.value = "no";
  if (before !== "no") attachValue(sorting, word);
  if (before === "yes" && (!word.dynamic || isOneWord(word.text))) return;
  const isDash = word.text.startsWith("-") && word.text.length > 1 && sorting.ended !== "yes";
  if (word.dynamic) sortDynamic(sorting, word, isDash);
  else if (isDash && word.text === "--") sorting.ended = before === "maybe" ? "maybe" : "yes";
  else if (isDash) sortOption(sorting, word);
  else addOperand(sorting, word.text, before === "maybe");
}

function attachValue({ options }: ArgumentSorter, word: PlanWord): void {
  const last = options.pop();
  if (last) options.push({ ...last, next: word });
}

function sortOption(sorting: ArgumentSorter, { text }: PlanWord): void {
  sorting.options.push({ text, next: undefined, ways: sorting.ways });
  sorting.value = takesNext(text, sorting.ways.options);
  if (sorting.ended === "maybe") addOperand(sorting, text, true);
}

/** A dynamic option with a written-out name is that option; anything else may be one word, several or none. */
function sortDynamic(sorting: ArgumentSorter, { text }: PlanWord, isDash: boolean): void {
  const name = isDash ? NAMED.exec(text)?.[0] : undefined;
  if (name !== undefined) sorting.options.push({ text: name, next: undefined, ways: sorting.ways });
  if (name !== undefined && isOneWord(text)) return;
  if (sorting.ended !== "yes") sorting.unknownOption = true;
  if (!isDash || !isOneWord(text)) sorting.operands.push({ text, dynamic: true, maybe: true });
}

const NAMED = /^--[a-zA-Z][\w-]*(?==)|^-[a-zA-Z](?=["'])/;

function addOperand(sorting: ArgumentSorter, text: string, maybe: boolean): void {
  if (sorting.operands.length === 0 && !maybe) sorting.ways = findOptionWays(sorting.program, text);
  sorting.operands.push({ text, dynamic: false, maybe });
}

/** What rules know of a program's options. */
export type OptionWays = { readonly options: OptionSet; readonly synonyms: ReadonlyMap<string, readonly string[]> };

/** Used unless a program's own synonyms say otherwise. */
const COMMON_SYNONYMS: readonly string[] = ["-f --force", "-r -R --recursive"];
const NO_OPTIONS: Match = {};

/** After a subcommand that the table doesn't list, only synonyms are known. */
function findOptionWays(program: string, sub?: string): OptionWays {
  const { match = NO_OPTIONS, subcommands } = PROGRAMS.get(program) ?? {};
  if (sub === undefined || !match.subcommands) return waysOf(match);
  const below = subcommands && Object.hasOwn(subcommands, sub) ? subcommands[sub]?.match : undefined;
  return below ? waysOf(below) : { options: optionsOf(NO_OPTIONS), synonyms: waysOf(match).synonyms };
}

const WAYS = new WeakMap<Match, OptionWays>();

function waysOf(match: Match): OptionWays {
  const known = WAYS.get(match);
  if (known) return known;
  const synonyms = new Map<string, readonly string[]>();
  for (const group of [...(match.synonyms ?? []), ...COMMON_SYNONYMS].map((options) => options.split(" ")))
    for (const option of group) if (!synonyms.has(option)) synonyms.set(option, group);
  const ways = { options: optionsOf(match), synonyms };
  WAYS.set(match, ways);
  return ways;
}
