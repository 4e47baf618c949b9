import type { CommandClass, Hazard, HazardId } from "../plan/plan.ts";
import { type OptionLists, type OptionToken, optionsOf, readTokens } from "./options.ts";

/** What a command would do, by its words alone. */
export type CommandEffects = {
  readonly class: CommandClass;
  readonly reads: readonly string[];
  readonly writes: readonly string[];
  /** Files to read if they exist, else something else. */
  readonly perhaps: readonly string[];
  readonly hazards: readonly Hazard[];
  /** Links below the files it reads are followed. */
  readonly follows?: boolean;
  /** It works on the git repository around the working directory. */
  readonly repository?: boolean;
  /** The words that an allow rule compares, if not all. */
  readonly words?: readonly string[];
  /** It reads whole directories, and this is how it skips files with secrets. */
  readonly skips?: "grep" | "rg" | "diff" | "find";
  /** Commands that it runs with names of files. */
  readonly runs?: readonly FoundRun[];
  /** The names come from its input. */
  readonly fed?: true;
  /** The program must be installed outside the workspace under its own name. */
  readonly located?: true;
  /** It shows addresses of git, which may contain a password. */
  readonly addresses?: true;
  /** It asks a server, as the user's settings say. */
  readonly client?: "docker" | "kubectl";
};

/** A command that gets names of files in place of `{}`: one, or perhaps several. */
export type FoundRun = { readonly words: readonly string[]; readonly many: boolean };

/** Computes the effects of a program whose words are special; undefined: it doesn't describe them. */
export type ReadModel = (args: readonly string[]) => CommandEffects | undefined;

export type ReadTable = OptionLists & {
  /** `read` unless it is known to change something. */
  readonly class?: "write";
  /**
   * What operands are:
   * - `files`: files to read; `here`: the working directory if there are none
   * - `pattern`: the first is data unless an option gave it, the others are files
   * - `revisions`: of git, before `--` a file only where such a file exists
   * - `data`, `none`: no files
   */
  readonly operands: "files" | "here" | "pattern" | "revisions" | "data" | "none";
  readonly patternOptions?: string;
  /** An option's value may begin with a dash. */
  readonly dashValues?: true;
  /** The first operand ends the options. */
  readonly leads?: true;
  /** A letter takes the next word even if more letters follow it. */
  readonly looseLetters?: true;
  readonly refine?: (reading: OptionReading, plain: CommandEffects) => CommandEffects;
};

export type OptionReading = {
  /** Options as the table spells them, each with its values. */
  readonly found: ReadonlyMap<string, readonly string[]>;
  readonly operands: readonly string[];
  /** Operands before `--`. */
  readonly before: number;
  /** Values of options that are files to read. */
  readonly paths: readonly string[];
  readonly hazards: readonly Hazard[];
};

/** A command that reads nothing but its words. */
export const NO_EFFECTS: CommandEffects = { class: "read", reads: [], writes: [], perhaps: [], hazards: [] };

export function withHazard(effects: CommandEffects, id: HazardId, text: string): CommandEffects {
  return { ...effects, hazards: [...effects.hazards, { id, text }] };
}

/** Adds a hazard if a program that takes no operands got one. */
export function withoutOperands(effects: CommandEffects, { operands }: OptionReading, table: ReadTable): CommandEffects {
  const [first] = table.operands === "none" ? operands : [];
  return first === undefined ? effects : withHazard(effects, "unmodelled_option", `Assent doesn't expect the extra word ${first}`);
}

export function effectsByTable(args: readonly string[], table: ReadTable): CommandEffects {
  const reading = readOptions(args, table);
  const plain: CommandEffects = { ...NO_EFFECTS, reads: [...reading.paths, ...filesAmong(reading, table)], hazards: reading.hazards };
  const strict = withoutOperands(plain, reading, table);
  return table.refine ? table.refine(reading, strict) : strict;
}

function filesAmong(reading: OptionReading, table: ReadTable): readonly string[] {
  const { operands } = reading;
  switch (table.operands) {
    case "files":
    case "revisions":
      return operands;
    case "here":
      return operands.length > 0 ? operands : ["."];
    case "pattern":
      return withoutPattern(operands, reading, table);
    case "data":
    case "none":
      return [];
    default:
      return table.operands satisfies never;
  }
}

/** Operands without the one that is the pattern. */
export function withoutPattern(
  operands: readonly string[],
  { found }: OptionReading,
  { patternOptions = "" }: ReadTable,
): readonly string[] {
  return patternOptions.split(" ").some((name) => found.has(name)) ? operands : operands.slice(1);
}

/** Reads words by a table. Anything unlisted, abbreviations included, is a hazard. */
export function readOptions(args: readonly string[], table: ReadTable): OptionReading {
  const reading: OptionReader = { args, table, found: new Map(), operands: [], paths: [], hazards: [] };
  let before: number | undefined;
  for (const token of readTokens(args, optionsOf(table), { exact: true, leads: table.leads })) {
    if (token.kind === "option") addOption(reading, token);
    else if (token.kind === "operand") reading.operands.push(args[token.at] ?? "");
    else before = reading.operands.length;
  }
  const { found, operands, paths, hazards } = reading;
  return { found, operands, before: before ?? operands.length, paths, hazards };
}

type OptionReader = {
  readonly args: readonly string[];
  readonly table: ReadTable;
  readonly found: Map<string, string[]>;
  readonly operands: string[];
  readonly paths: string[];
  readonly hazards: Hazard[];
};

function addOption(reading: OptionReader, token: OptionToken): void {
  const { args, table, found, paths, hazards } = reading;
  const { name, option, attached, at, next } = token;
  const addUnknown = (word: string): void =>
    void hazards.push({ id: "unmodelled_option", text: `Assent doesn't know whether ${word} is safe` });
  if (!option || isMisused(token, table)) {
    addUnknown(token.whole || !option ? (args[at] ?? "") : `${name}${attached ?? ""}`);
    return;
  }
  const following = args.slice(at + 1, next);
  const isBareLetter = option.arity === "attached" && !token.whole; // `-I` alone has an empty value
  const values = option.arity === "none" ? [] : attached === undefined && !isBareLetter ? following : [attached ?? ""];
  const isMissing = next > args.length && option.arity !== "last";
  const isDoubtful =
    attached === undefined && !table.dashValues && following.some((value) => value.startsWith("-") && !/^-\d+$/.test(value));
  if (isMissing || isDoubtful) addUnknown([name, ...values].join(" "));
  found.set(name, [...(found.get(name) ?? []), ...values]);
  if (option.role === "path") paths.push(...values);
  if (option.hazard) hazards.push({ id: option.hazard, text: unsafeText(name, option.hazard) });
}

/** A value for an option that takes none, or takes it differently. */
function isMisused({ option, attached, whole }: OptionToken, { looseLetters }: ReadTable): boolean {
  if (attached === undefined || option === undefined) return false;
  if (whole) return option.arity === "none" || option.arity === "two";
  if (option.arity === "none") return false;
  return option.arity === "two" || (looseLetters === true && !/^\d+$/.test(attached));
}

export function unsafeText(option: string, hazard: HazardId): string {
  const does = DOES[hazard];
  return does === undefined ? `Assent doesn't know whether ${option} is safe` : `${option} ${does}`;
}

const DOES: Readonly<Partial<Record<HazardId, string>>> = {
  writes_file: "writes files",
  runs_program: "runs another program",
  outside_workspace: "can lead outside the workspace",
};
