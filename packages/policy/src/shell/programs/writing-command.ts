/** How far a write reaches: the thing itself; everything below it too; things below it that nobody can name; or such things, where there was nothing before. */
export type Reach = "self" | "all" | "some" | "new";

/** What a program writes, as far as its words tell. Deny reads broadly: an operand too many only matters when it is a protected file. */
export type WritingCommand = {
  /**
   * Which operands are written. `to`: the last one, and what the others are called in it. `from-to`: those others as well. `names`: what each is called, in `into`.
   * `starts`: those before the first option. `cloned`: the second one, or what the first is called.
   */
  readonly operands?: "all" | "to" | "from-to" | "names" | "first" | "second" | "after-first" | "last" | "starts" | "cloned";
  /** Options whose value is written, always. */
  readonly files?: readonly string[];
  /** Options whose value is a directory in which something comes to be, under a name that is none of those we protect. */
  readonly places?: readonly string[];
  /** Options whose value is the directory written into; the working directory where `operands` names none. */
  readonly into?: readonly string[];
  /** Things nobody can name are written below `into`, or below the working directory. */
  readonly spreads?: true;
  /** No operand is written without one of these options, or words in the first place. */
  readonly only?: readonly string[];
  /** So many operands count as one of `only`. */
  readonly least?: number;
  /** No operand is written with one of these options, or words in the first place. */
  readonly never?: readonly string[];
  /** With one of these, everything below the operands (those read, where they are copied) is meant. `*`: always. */
  readonly deep?: readonly string[];
  /** A directory among the operands stays where it is. */
  readonly keeps?: true;
  /** With one of these, the last operand is not a directory to put things in, but the very name. */
  readonly exact?: readonly string[];
  /** With one of these, sources are put in a directory under all of their path. */
  readonly whole?: readonly string[];
  /** It gives names: a lone operand gets one in the working directory. */
  readonly alone?: true;
  /** It makes something of the directory that it is sent to; where it has operands, of the working directory if there are none. */
  readonly makes?: true;
  /** It runs another command: only words up to the first operand are its own. */
  readonly leads?: true;
  /** What it does instead with one of these options. */
  readonly modes?: readonly { readonly given: readonly string[]; readonly does: WritingCommand }[];
  /** Further options that take a value, which is no operand. */
  readonly values?: readonly string[];
  /** Words like `of=FILE`. */
  readonly assigned?: readonly string[];
  /** Files that are written whatever the words are. */
  readonly fixed?: readonly string[];
  /** The first word may be options without a dash. */
  readonly bare?: true;
  /** Texts of the words that name files: `w FILE` of sed, `> "FILE"` of awk. */
  readonly script?: RegExp;
};

/** What `-o FILE` says to most programs. */
export const TO_OUTPUT: WritingCommand = { files: ["-o", "--output", "--out", "-out", "--output-file"] };

/** No name of a program is ever found on an object's prototype. */
export function table<T>(rows: Readonly<Record<string, T>>): ReadonlyMap<string, T> {
  return new Map(Object.entries(rows));
}
