import type { Hazard, HazardId } from "../plan/plan.ts";

/**
 * How a program reads its options, in words separated by blanks: `-a` and `--all` take nothing; `-n=` and `--lines=` take a value, in the same word or the next;
 * `-I[=]` and `--color[=]` may have one in the same word; `--merged=?` takes the next word if there is one; `--arg==` takes two words; `=path` says that the value
 * is a file that is read; `-NUMBER` is an option of digits.
 */
export type Notation = string;

/** The options of a program. */
export type OptionTable = {
  /** Those that only read or format. */
  readonly options?: Notation;
  /** Those that are known to do more, by what they do. */
  readonly unsafe?: readonly (readonly [does: HazardId, options: Notation])[];
  /** A value in the next word may begin with a dash: the program takes it whatever it is. */
  readonly dashValues?: boolean;
  /** A letter takes its value from the next word even when more letters follow it. */
  readonly looseLetters?: boolean;
};

/** What was found among a command's words. */
export type OptionReading = {
  /** Options as the table spells them, each with its values. */
  readonly found: ReadonlyMap<string, readonly string[]>;
  readonly operands: readonly string[];
  /** How many operands stand before `--`. */
  readonly before: number;
  /** Values of options that are files to read. */
  readonly paths: readonly string[];
  readonly hazards: readonly Hazard[];
};

/** Reads a command's words after its name by its table. Whatever the table does not hold, an abbreviation among them, is a hazard. */
export function readOptions(args: readonly string[], table: OptionTable): OptionReading {
  const reading: Reading = { args, at: 0, table, found: undefined, operands: [], paths: [], hazards: [] };
  const options = compiled(table);
  while (reading.at < args.length && args[reading.at] !== "--") {
    readWord(reading, options, args[reading.at] ?? "");
    reading.at++;
  }
  const { found = NONE, paths, hazards } = reading;
  const before = reading.operands.length;
  const operands = reading.at < args.length ? [...reading.operands, ...args.slice(reading.at + 1)] : reading.operands;
  return { found, operands, before, paths, hazards };
}

const NONE: OptionReading["found"] = new Map();

function readWord(reading: Reading, options: Options, word: string): void {
  if (!word.startsWith("-") || word === "-") reading.operands.push(word);
  else if (word.startsWith("--")) readLong(reading, options, word);
  else readShort(reading, options, word);
}

type Arity = "none" | "value" | "attached" | "last" | "two";
type Option = { readonly name: string; readonly arity: Arity; readonly path: boolean; readonly hazard?: HazardId };
type Options = ReadonlyMap<string, Option>;

type Reading = {
  readonly args: readonly string[];
  at: number;
  readonly table: OptionTable;
  /** Undefined while there are none. */
  found: Map<string, string[]> | undefined;
  readonly operands: string[];
  readonly paths: string[];
  readonly hazards: Hazard[];
};

const ARITIES: Readonly<Record<string, Arity>> = {
  "": "none",
  "=": "value",
  "=path": "value",
  "[=]": "attached",
  "=?": "last",
  "==": "two",
};
const COMPILED = new WeakMap<OptionTable, Options>();

/** A table is compiled when its program is first met. */
function compiled(table: OptionTable): Options {
  const known = COMPILED.get(table);
  if (known) return known;
  const unsafe = (table.unsafe ?? []).flatMap(([hazard, notation]) => parsed(notation).map((option) => ({ ...option, hazard })));
  const options = new Map([...parsed(table.options ?? ""), ...unsafe].map((option) => [option.name, option]));
  COMPILED.set(table, options);
  return options;
}

function parsed(notation: Notation): readonly Option[] {
  return notation
    .split(/\s+/)
    .filter(Boolean)
    .map((token) => {
      const [, name = token, suffix = ""] = /^(--?[^=[]+)(.*)$/.exec(token) ?? [];
      return { name, arity: ARITIES[suffix] ?? "none", path: suffix === "=path" };
    });
}

function readLong(reading: Reading, options: Options, word: string): void {
  const sign = word.indexOf("=");
  const option = options.get(sign < 0 ? word : word.slice(0, sign));
  if (!option || (sign >= 0 && (option.arity === "none" || option.arity === "two"))) unmodelled(reading, word);
  else if (sign >= 0) found(reading, option, [word.slice(sign + 1)]);
  else takeValues(reading, option);
}

function readShort(reading: Reading, options: Options, word: string): void {
  const number = /^-\d+$/.test(word) ? options.get("-NUMBER") : undefined;
  if (number) return void found(reading, number, [word.slice(1)]);
  for (let i = 1; i < word.length; i++) {
    const option = options.get(`-${word.charAt(i)}`);
    const rest = word.slice(i + 1);
    if (!option) return void unmodelled(reading, word);
    if (option.arity !== "none") return void readLetterWithValue(reading, option, rest);
    found(reading, option, []);
  }
}

/** After a letter that takes a value the rest of the word is the value. */
function readLetterWithValue(reading: Reading, option: Option, rest: string): void {
  if (rest !== "" && (option.arity === "two" || (reading.table.looseLetters && !/^\d+$/.test(rest))))
    unmodelled(reading, option.name + rest);
  else if (rest !== "" || option.arity === "attached") found(reading, option, [rest]);
  else takeValues(reading, option);
}

const WORDS: Readonly<Record<Arity, number>> = { none: 0, value: 1, attached: 0, last: 1, two: 2 };

function takeValues(reading: Reading, option: Option): void {
  const values = reading.args.slice(reading.at + 1, reading.at + 1 + WORDS[option.arity]);
  reading.at += values.length;
  const missing = values.length < WORDS[option.arity] && option.arity !== "last";
  const doubtful = !reading.table.dashValues && values.some((value) => value.startsWith("-") && !/^-\d+$/.test(value));
  if (missing || doubtful) unmodelled(reading, [option.name, ...values].join(" "));
  found(reading, option, values);
}

function found(reading: Reading, { name, path, hazard }: Option, values: readonly string[]): void {
  reading.found ??= new Map();
  const before = reading.found.get(name);
  if (before) before.push(...values);
  else reading.found.set(name, [...values]);
  if (path) reading.paths.push(...values);
  if (hazard) reading.hazards.push({ id: hazard, text: `${name} ${DOES[hazard] ?? "is not known to be harmless"}` });
}

const DOES: Readonly<Partial<Record<HazardId, string>>> = {
  writes_file: "writes a file",
  runs_program: "runs a program",
  outside_workspace: "leads outside",
};

function unmodelled(reading: Reading, word: string): void {
  reading.hazards.push({ id: "unmodelled_option", text: `${word} is not known to be harmless` });
}
