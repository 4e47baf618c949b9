import { COMMON_SYNONYMS, PROGRAM_OPTIONS, type ProgramOptions, SUBCOMMANDS } from "./option-synonyms.ts";

/** A program's options, ready to be looked up. */
export type OptionWays = {
  readonly values: ReadonlySet<string>;
  readonly flags: ReadonlySet<string>;
  readonly synonyms: ReadonlyMap<string, readonly string[]>;
};

/** What is known of a program's options; with a sub-command, of those behind it. */
export function optionWays(program: string, sub?: string): OptionWays {
  const own = WAYS.get(program) ?? UNKNOWN;
  if (sub === undefined || !SUBCOMMANDS.has(program)) return own;
  return SUB_WAYS.get(program)?.get(sub) ?? BEHIND.get(program) ?? UNKNOWN;
}

/** Whether an option takes the next word as its value. */
export function takesValue({ values, flags }: OptionWays, option: string): "yes" | "no" | "maybe" {
  if (values.has(option)) return "yes";
  if (flags.has(option) || option.includes("=")) return "no";
  if (option.startsWith("--")) return "maybe";
  for (let i = 1; i < option.length; i++) {
    const letter = `-${option[i]}`;
    if (values.has(letter)) return i === option.length - 1 ? "yes" : "no";
    if (!flags.has(letter)) return "maybe";
  }
  return "no";
}

function waysOf({ values = "", flags = "", synonyms = [] }: ProgramOptions): OptionWays {
  const all = new Map<string, readonly string[]>();
  for (const group of [...synonyms, ...COMMON_SYNONYMS].map((options) => options.split(" ")))
    for (const option of group) if (!all.has(option)) all.set(option, group);
  return { values: new Set(values.split(" ")), flags: new Set(flags.split(" ")), synonyms: all };
}

const UNKNOWN = waysOf({});
const WAYS: ReadonlyMap<string, OptionWays> = new Map(Object.entries(PROGRAM_OPTIONS).map(([name, own]) => [name, waysOf(own)]));
/** Behind a sub-command that is not listed, only the spellings hold. */
const BEHIND: ReadonlyMap<string, OptionWays> = new Map([...WAYS].map(([name, { synonyms }]) => [name, { ...UNKNOWN, synonyms }]));
const SUB_WAYS: ReadonlyMap<string, ReadonlyMap<string, OptionWays>> = new Map(
  Object.entries(PROGRAM_OPTIONS).map(([name, { subs = {} }]) => [
    name,
    new Map(Object.entries(subs).map(([sub, own]) => [sub, waysOf(own)])),
  ]),
);
