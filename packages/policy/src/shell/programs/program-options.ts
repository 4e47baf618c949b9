import { COMMON_SYNONYMS, PROGRAM_OPTIONS, type ProgramOptions, SUBCOMMANDS } from "./option-synonyms.ts";

/** A program's options, ready to be looked up. */
export type OptionWays = {
  readonly values: ReadonlySet<string>;
  readonly flags: ReadonlySet<string>;
  readonly synonyms: ReadonlyMap<string, readonly string[]>;
};

/** What is known of a program's options; with a sub-command, of those behind it. */
export function optionWays(program: string, sub?: string): OptionWays {
  const ways = waysWith(program);
  if (!ways) return UNKNOWN;
  return sub === undefined || !SUBCOMMANDS.has(program) ? ways.own : (ways.subs.get(sub) ?? ways.behind);
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

type Ways = { readonly own: OptionWays; readonly behind: OptionWays; readonly subs: ReadonlyMap<string, OptionWays> };

const UNKNOWN = waysOf({});
const KNOWN = new Map<string, Ways>();

/** Made when a program is first met. Behind a sub-command that is not listed, only the spellings hold. */
function waysWith(program: string): Ways | undefined {
  const known = KNOWN.get(program);
  const options = Object.hasOwn(PROGRAM_OPTIONS, program) ? PROGRAM_OPTIONS[program] : undefined;
  if (known || !options) return known;
  const own = waysOf(options);
  const subs = new Map(Object.entries(options.subs ?? {}).map(([sub, given]) => [sub, waysOf(given)]));
  const made = { own, behind: { ...UNKNOWN, synonyms: own.synonyms }, subs };
  KNOWN.set(program, made);
  return made;
}
