import { parseArgs } from "node:util";
import { type CommandError, usageError } from "../io/failure.ts";
import { nearestSpelling } from "./nearest-spelling.ts";
import { shellWord } from "./shell-word.ts";
import type { Command, OperandSpec, OptionSpec, Options } from "./spec.ts";

export type CommandLine =
  | { readonly ask: "version" }
  | HelpRequest
  | { readonly ask: "run"; readonly command: Command; readonly options: Options; readonly operands: readonly string[] }
  | { readonly ask: "nothing" };

/** Help about a command, about the commands that begin with a word, or about all. */
export type HelpRequest = {
  readonly ask: "help";
  readonly command?: Command | undefined;
  readonly below?: readonly Command[] | undefined;
};

type GivenOption = { readonly name: string; readonly raw: string; readonly value: string | undefined; readonly inline: boolean };
type Values = ReadonlyMap<string, readonly string[]>;

export function parseCommandLine(argv: readonly string[], commands: readonly Command[]): CommandLine {
  const { words, given, dashes } = split(argv, commands);
  if (given.some(({ name }) => name === "help" || name === "h")) return helpOf(words, commands);
  const command = findCommand(words, commands);
  if (!command) {
    if (given.some(({ name }) => name === "version" || name === "V")) return { ask: "version" };
    const stray = given[0];
    const known = commands.some(({ options }) => options.some(({ name }) => name === stray?.name));
    if (stray && known)
      throw usageError("", `without a terminal, option '${stray.raw}' needs a command, such as assent run. See: assent --help`);
    if (stray) throw unknownOption("", stray.raw, ["help", "version"]);
    return { ask: "nothing" };
  }
  const values = readOptions(command.spec, given);
  const operands = readOperands(command.spec, withDashes(command, dashes - words.length));
  return { ask: "run", command: command.spec, options: optionsOf(values), operands };
}

/** `fromEnd` is where `--` was written, counted from the last word: 0 or less; NaN if it was not. */
function withDashes({ spec, rest }: FoundCommand, fromEnd: number): readonly string[] {
  if (spec.keepsDashes !== true || Number.isNaN(fromEnd)) return rest;
  const at = Math.max(0, rest.length + fromEnd);
  return rest.toSpliced(at, 0, "--");
}

function helpOf(words: readonly string[], commands: readonly Command[]): CommandLine {
  const below = words.length === 1 ? commandsBelow(words[0] ?? "", commands) : undefined;
  return below ? { ask: "help", below } : { ask: "help", command: findCommand(words, commands)?.spec };
}

export function isOptionsOnly(argv: readonly string[], commands: readonly Command[]): boolean {
  const { words, given } = split(argv, commands);
  return words.length === 0 && !given.some(({ name }) => ["help", "h", "version", "V"].includes(name));
}

export function wantsJson(argv: readonly string[]): boolean {
  const end = argv.indexOf("--");
  return (end === -1 ? argv : argv.slice(0, end)).includes("--json");
}

// An option takes the same kind of value in every command, so values can be recognized before the command is known.
function split(argv: readonly string[], commands: readonly Command[]): { words: string[]; given: GivenOption[]; dashes: number } {
  const options: Record<string, { type: "string" | "boolean"; multiple: true }> = {};
  for (const option of commands.flatMap((command) => command.options)) {
    options[option.name] = { type: option.takes === "nothing" ? "boolean" : "string", multiple: true };
  }
  const { tokens } = parseArgs({ args: [...argv], options, strict: false, allowPositionals: true, tokens: true });
  const words: string[] = [];
  const given: GivenOption[] = [];
  let dashes = Number.NaN;
  for (const token of tokens) {
    if (token.kind === "option-terminator") dashes = words.length;
    if (token.kind === "positional") words.push(token.value);
    if (token.kind === "option")
      given.push({ name: token.name, raw: token.rawName, value: token.value, inline: token.inlineValue === true });
  }
  return { words, given, dashes };
}

type FoundCommand = { readonly spec: Command; readonly rest: readonly string[] };

function findCommand(words: readonly string[], commands: readonly Command[]): FoundCommand | undefined {
  const [first, second] = words;
  if (first === undefined) return undefined;
  const two = commands.find(({ name }) => name === `${first} ${second}`);
  if (two) return { spec: two, rest: words.slice(2) };
  const one = commands.find(({ name }) => name === first);
  if (one) return { spec: one, rest: words.slice(1) };
  const below = commandsBelow(first, commands);
  if (below) throw usageError(first, `choose one of: ${below.map(({ name }) => `assent ${name}`).join(", ")}.`);
  const known = commands.map(({ name }) => name.split(" ")[0] ?? name);
  const near = first.includes(" ") ? undefined : nearestSpelling(first, known);
  throw usageError("", `unknown command '${first}'. ${near ? `Did you mean '${near}'?` : asPrompt(first)}`);
}

export function commandsBelow(word: string, commands: readonly Command[]): readonly Command[] | undefined {
  const below = commands.filter(({ name }) => name.startsWith(`${word} `));
  return below.length === 0 || commands.some(({ name }) => name === word) ? undefined : below;
}

const SHORT = 80;

/** Unknown words were probably meant as a prompt. */
function asPrompt(words: string): string {
  const prompt = words.length > SHORT ? "PROMPT" : shellWord(words);
  return `To ask a model: assent run ${prompt}, or assent tui ${prompt}. For all commands: assent --help`;
}

function readOptions(spec: Command, given: readonly GivenOption[]): Values {
  const values = new Map<string, string[]>();
  for (const each of given) {
    const option = spec.options.find(({ name }) => name === each.name);
    if (!option) throw unknownOption(spec.name, each.raw, [...spec.options.map(({ name }) => name), "help"]);
    const value = readValue(spec.name, option, each);
    const before = values.get(option.name);
    if (before && option.takes !== "list") throw usageError(spec.name, `option '--${option.name}' may be given only once.`);
    values.set(option.name, [...(before ?? []), value]);
  }
  return values;
}

function readValue(command: string, option: OptionSpec, { value, inline }: GivenOption): string {
  const flag = `--${option.name}`;
  if (option.takes === "nothing") {
    if (value !== undefined) throw usageError(command, `option '${flag}' takes no value.`);
    return "";
  }
  if (value === undefined || (!inline && value.startsWith("--"))) throw usageError(command, `option '${flag}' needs a value.`);
  const problem = valueProblem(option, value);
  if (problem) throw usageError(command, `option '${flag}' ${problem}`);
  return value;
}

function valueProblem(option: OptionSpec, value: string): string | undefined {
  switch (option.takes) {
    case "choice":
      return option.choices.includes(value) ? undefined : choiceProblem(option.choices, value);
    case "count":
      return isCount(value, option.max) ? undefined : `must be an integer from 1 to ${option.max}, not '${value}'.`;
    case "duration":
      return parseDuration(value) === undefined ? `must be a duration such as 500ms, 30s, 10m, 2h or 30d, not '${value}'.` : undefined;
    case "text":
    case "list":
      return value === "" && PATHS.includes(option.value) ? "must not be empty. Use . for this directory." : undefined;
    case "nothing":
      return undefined;
    default:
      return option satisfies never;
  }
}

function choiceProblem(choices: readonly string[], given: string): string {
  const near = nearestSpelling(given, choices);
  return `must be one of ${choices.join(", ")}, not '${given}'.${near ? ` Did you mean '${near}'?` : ""}`;
}

/** An empty path, perhaps from an unset variable, is refused. */
const PATHS: readonly string[] = ["DIR", "FILE"];

function isCount(value: string, max: number): boolean {
  return /^[1-9][0-9]{0,15}$/.test(value) && Number(value) <= max;
}

function readOperands(spec: Command, words: readonly string[]): readonly string[] {
  const missing = spec.operands[words.length];
  if (missing?.required) {
    const list = missing.listedBy === undefined ? "" : ` See: ${missing.listedBy}.`;
    throw usageError(spec.name, `${missing.name} is missing.${list} Usage: ${usageLine(spec)}`);
  }
  const extra = spec.operands.at(-1)?.repeats ? undefined : words[spec.operands.length];
  if (extra !== undefined)
    throw usageError(spec.name, `unexpected argument '${extra}'.${adviceFor(spec, words)} Usage: ${usageLine(spec)}`);
  for (const [index, { name, choices }] of spec.operands.entries()) {
    const word = words[index];
    if (choices && word !== undefined && !choices.includes(word)) {
      throw usageError(spec.name, `${name} ${choiceProblem(choices, word)}`);
    }
  }
  return words;
}

function adviceFor({ name, operands }: Command, [tool = "", ...rest]: readonly string[]): string {
  switch (operands.at(-1)?.name) {
    case "PROMPT":
      return " Put the whole prompt in quotes.";
    case "INPUT":
      return ` Put the input in quotes: assent ${name} ${shellWord(tool)} ${shellWord(rest.join(" "))}.`;
    case "TOOL":
      return tool === "shell" && name === "call"
        ? ` Give the input as JSON: assent call shell --input ${shellWord(JSON.stringify({ command: rest.join(" ") }))}.`
        : "";
    default:
      return "";
  }
}

export function usageLine(spec: Command): string {
  const operands = spec.operands.map((operand) => ` ${operandText(operand)}`);
  return `assent ${spec.name}${operands.join("")}${spec.options.length > 0 ? " [options]" : ""}`;
}

export function operandText({ name, required, repeats }: OperandSpec): string {
  const shown = repeats ? `${name}…` : name;
  return required ? shown : `[${shown}]`;
}

function unknownOption(command: string, raw: string, known: readonly string[]): CommandError {
  const near = nearestSpelling(raw.replace(/^--?/, ""), known);
  return usageError(
    command,
    `unknown option '${raw}'. ${near ? `Did you mean '--${near}'?` : `See: assent${command && ` ${command}`} --help`}`,
  );
}

function optionsOf(values: Values): Options {
  const text = (name: string): string | undefined => values.get(name)?.[0];
  return {
    text,
    flag: (name) => values.has(name),
    list: (name) => values.get(name) ?? [],
    count: (name) => (values.has(name) ? Number(text(name)) : undefined),
    duration: (name) => parseDuration(text(name) ?? ""),
  };
}

const UNITS: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 };

/** Milliseconds of e.g. `500ms`, `30s`, `10m`, `2h` or `30d`. */
function parseDuration(text: string): number | undefined {
  const match = /^([0-9]{1,9})(ms|s|m|h|d)$/.exec(text);
  const unit = UNITS[match?.[2] ?? ""];
  return unit === undefined ? undefined : Number(match?.[1]) * unit;
}
