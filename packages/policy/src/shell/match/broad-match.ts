import { compileGlob } from "@assent/core";
import type { PlanWord } from "../plan/plan.ts";
import { PROGRAMS } from "../programs/table.ts";
import { commandName } from "../read/command-name.ts";
import type { MatchAnswer, SeenCommand } from "../walk/seen-command.ts";
import { type CommandArguments, type OperandWord, sortArguments } from "./command-arguments.ts";
import { compileOptionTest, type OptionTest } from "./option-test.ts";
import type { RuleWord } from "./rule-words.ts";

export type BroadMatch = (seen: SeenCommand) => MatchAnswer;

/**
 * Compiles the words of a deny or ask rule. They are a prefix, read broadly:
 * 1. the name is the last path component, lower-cased, without `.exe`;
 * 2. options are skipped with their values; if it is unknown whether one takes a value, both readings count;
 * 3. other words match operands from the left, a `*` between them any number of operands;
 * 4. options match anywhere before `--`, in every spelling;
 * 5. further words are allowed;
 * 6. a dynamic word in one of these places leaves the rule in doubt.
 */
export function compileBroad(words: readonly RuleWord[]): BroadMatch {
  const [first, ...rest] = words;
  if (!first) return () => "yes";
  const name = nameTest(first);
  const readings = readingsOf(rest);
  return (seen) => {
    const word = seen.argv[0];
    if (!word) return "no";
    if (word.dynamic) return name === ANY_NAME ? matchReadings(readings, seen, "") : "doubt";
    const program = commandName(word.text);
    if (name(program)) return matchAnySpelling(readings, seen, program);
    const outer = outerProgram(program);
    return outer !== undefined && name(outer) ? matchAnySpelling(readings, splitName(seen, program, outer), outer) : "no";
  };
}

/** `git-push` is `git push`. */
function outerProgram(program: string): string | undefined {
  const outer = program.slice(0, Math.max(0, program.indexOf("-")));
  return PROGRAMS.get(outer)?.match?.plugins ? outer : undefined;
}

function matchAnySpelling(readings: readonly RuleReading[], seen: SeenCommand, program: string): MatchAnswer {
  let best: MatchAnswer = "no";
  for (const one of [seen, ...respellSubcommands(seen, program)]) {
    const broad = matchReadings(readings, one, program);
    if (broad === "yes") return broad;
    if (broad === "doubt") best = broad;
  }
  return best;
}

const ANY_NAME = (): boolean => true;

function nameTest({ text, glob }: RuleWord): (name: string) => boolean {
  if (text === "*" && glob) return ANY_NAME;
  if (!glob) {
    const own = commandName(text);
    return (name) => name === own;
  }
  const folded = compileGlob(text.slice(text.lastIndexOf("/") + 1));
  return (name) => folded.matches(name);
}

function splitName(seen: SeenCommand, program: string, outer: string): SeenCommand {
  const [, ...rest] = seen.argv;
  const first = { text: program.slice(outer.length + 1), dynamic: false };
  return { ...seen, argv: [{ text: outer, dynamic: false }, first, ...rest] };
}

type RuleReading = {
  readonly operands: readonly OperandTest[];
  readonly anys: number;
  readonly options: readonly OptionTest[];
};

/** `any`: any number of operands. */
type OperandTest =
  | "any"
  | {
      readonly holds: (text: string) => boolean;
      readonly begins: (text: string) => boolean;
    };

/** Places in a rule are bits of a number. Dropping further words only makes the rule broader. */
const MOST_OPERANDS = 30;

function readingOf(words: readonly RuleWord[], options: readonly OptionTest[]): RuleReading {
  const operands = words.slice(0, MOST_OPERANDS).map(operandTest);
  return { operands, options, anys: operands.reduce((bits, test, at) => (test === "any" ? bits | (1 << at) : bits), 0) };
}

/** A word after an option is an operand or that option's value. */
function readingsOf(words: readonly RuleWord[]): readonly RuleReading[] {
  const wanted = words.filter(({ text, glob }) => glob || text !== "--");
  const isValue = wanted.map((word, i) => i > 0 && !isOption(word) && isOption(wanted[i - 1]) && !isAny(word));
  const free = wanted.filter((word) => !isOption(word));
  const plain = readingOf(
    free,
    wanted.filter(isOption).map((word) => compileOptionTest(word, undefined)),
  );
  if (!isValue.includes(true)) return [plain];
  const options = wanted.flatMap((word, i) =>
    isOption(word) ? [compileOptionTest(word, isValue[i + 1] ? wanted[i + 1] : undefined)] : [],
  );
  return [
    plain,
    readingOf(
      wanted.filter((word, i) => !isOption(word) && !isValue[i]),
      options,
    ),
  ];
}

function isOption(word: RuleWord | undefined): boolean {
  return word !== undefined && word.text.length > 1 && word.text.startsWith("-");
}

function isAny({ text, glob }: RuleWord): boolean {
  return glob !== undefined && text === "*";
}

function operandTest(word: RuleWord): OperandTest {
  if (isAny(word)) return "any";
  const { text, glob } = word;
  if (glob) return { holds: glob.matches, begins: () => false };
  return { holds: (operand) => operand === text, begins: (operand) => operand !== "" && operand !== text && text.startsWith(operand) };
}

function matchReadings(readings: readonly RuleReading[], seen: SeenCommand, program: string): MatchAnswer {
  const args = sortArguments(seen, program);
  let best: MatchAnswer = "no";
  for (const reading of readings) {
    const one = matchReading(reading, args, { openEnd: seen.openEnd, shortens: PROGRAMS.get(program)?.match?.shortens === true });
    if (one === "yes") return one;
    if (one === "doubt") best = one;
  }
  return best;
}

type MatchManner = { readonly openEnd: boolean; readonly shortens: boolean };

function matchReading(reading: RuleReading, args: CommandArguments, manner: MatchManner): MatchAnswer {
  const { openEnd } = manner;
  let result = matchOperands(reading, args.operands, manner);
  const unheard: MatchAnswer = args.unknownOption || (openEnd && !args.ended) ? "doubt" : "no";
  for (const carries of reading.options) {
    if (result === "no") break;
    const one = carries(args.options);
    result = weaker(result, one === "no" ? unheard : one);
  }
  return result;
}

function weaker(a: MatchAnswer, b: MatchAnswer): MatchAnswer {
  return a === "yes" ? b : b === "no" ? b : a;
}

/** Tracks all ways to match at once: a bit is set for each place that some reading reaches. */
function matchOperands(reading: RuleReading, operands: readonly OperandWord[], { openEnd, shortens }: MatchManner): MatchAnswer {
  const [first] = reading.operands;
  const end = 1 << reading.operands.length;
  let alive = spreadPlaces(1, reading.anys);
  let result: MatchAnswer = "no";
  for (const operand of operands) {
    if (alive === 0 || (alive & end) !== 0) break;
    if (operand.dynamic || (shortens && (alive & 1) !== 0 && isShort(first, operand))) result = "doubt";
    alive = advancePlaces(reading, alive, operand);
  }
  if ((alive & end) !== 0) return "yes";
  return alive !== 0 && openEnd ? "doubt" : result;
}

function isShort(test: OperandTest | undefined, { text }: OperandWord): boolean {
  return test !== undefined && test !== "any" && test.begins(text);
}

/** An `any` keeps its place, a match moves on, and an operand that may be an option's value leaves all as it was. */
function advancePlaces({ operands, anys }: RuleReading, alive: number, { text, dynamic, maybe }: OperandWord): number {
  let bits = alive & anys;
  if (dynamic) return spreadPlaces(bits, anys);
  if (maybe) bits |= alive;
  operands.forEach((test, at) => {
    if ((alive & (1 << at)) !== 0 && test !== "any" && test.holds(text)) bits |= 1 << (at + 1);
  });
  return spreadPlaces(bits, anys);
}

/** After an `any` the next place is reachable, too. */
function spreadPlaces(places: number, anys: number): number {
  let alive = places;
  for (let more = (alive & anys) << 1; (more & ~alive) !== 0; more = (alive & anys) << 1) alive |= more;
  return alive;
}

/** The same command with every other spelling of its subcommand. Any word may be the subcommand, because options may take values. */
function respellSubcommands(seen: SeenCommand, program: string): readonly SeenCommand[] {
  const groups = PROGRAMS.get(program)?.match?.subcommandSynonyms?.map((group) => group.split(", "));
  if (!groups) return [];
  const free = seen.argv.flatMap(({ text, dynamic }, i) => (i > 0 && !dynamic && !text.startsWith("-") ? [i] : []));
  const places = free.filter((_, i) => i === 0 || seen.argv[(free[i - 1] ?? 0) - 1]?.text.startsWith("-")); // the first, or after a possible option value
  return places.flatMap((first) => groups.flatMap((group) => respellSubcommand(seen, group, [first, free[free.indexOf(first) + 1]])));
}

function respellSubcommand(
  seen: SeenCommand,
  group: readonly string[],
  [first, second]: readonly [number, number | undefined],
): readonly SeenCommand[] {
  const one = seen.argv[first]?.text ?? "";
  const both = second === undefined ? undefined : `${one} ${seen.argv[second]?.text ?? ""}`;
  const written = both !== undefined && group.includes(both) ? [first, second] : group.includes(one) ? [first] : undefined;
  if (!written) return [];
  const spelled = written.length === 2 ? both : one;
  return group.filter((other) => other !== spelled).map((other) => ({ ...seen, argv: replaceWords(seen.argv, written, other) }));
}

function replaceWords(argv: readonly PlanWord[], places: readonly (number | undefined)[], words: string): readonly PlanWord[] {
  const [first] = places;
  return argv.flatMap((word, i) => {
    if (i === first) return words.split(" ").map((text) => ({ text, dynamic: false }));
    return places.includes(i) ? [] : [word];
  });
}
