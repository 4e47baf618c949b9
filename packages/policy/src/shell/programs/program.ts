import type { Notation, OptionLists } from "./options.ts";
import type { ReadModel, ReadTable } from "./reads.ts";

/**
 * What Assent knows of one program. Each part answers one question and lists only the options it needs for that.
 * What is not listed counts as dangerous where something is allowed, and is passed over where something is denied.
 */
export type Program = {
  /** Which uses only read: a table where options come before operands, a function for anything else. */
  readonly reads?: ReadTable | ReadModel;
  /** Words that make it print its version and exit, if they stand alone. */
  readonly version?: string;
  /** Which files it writes. */
  readonly writes?: Writes;
  /** Which commands it runs that stand among its own words. */
  readonly runs?: Runs;
  /** How deny and ask rules compare its words. */
  readonly match?: Match;
  /** It runs code that Assent does not look into: always, or depending on its first word. */
  readonly opaque?: true | { readonly only: string } | { readonly except: string };
  /** By their name, or by two words: `stash list`. */
  readonly subcommands?: Readonly<Record<string, Subcommand>>;
  /** A builtin that evaluates subscripts in its words: `test -v 'a[$(…)]'`. */
  readonly subscripts?: true;
  /** It sets variables that stand among its words: `export PAGER=…`. */
  readonly sets?: true;
};

/** What Assent knows of one subcommand. */
export type Subcommand = {
  readonly reads?: ReadTable;
  readonly writes?: Writes;
  readonly match?: Pick<Match, "options" | "synonyms">;
  /** Options whose value is run as a command; `*` stands for any letters. */
  readonly runs?: Notation;
};

/** How deny and ask rules compare a program's words, so that no spelling hides from them. */
export type Match = OptionLists & {
  /** Spellings of the same option: `-f --force`. */
  readonly synonyms?: readonly string[];
  /** The first operand is a subcommand. */
  readonly subcommands?: true;
  /** Spellings of the same subcommand, separated by commas: `rm, container rm`. */
  readonly subcommandSynonyms?: readonly string[];
  /** The start of a subcommand's name stands for all of it. */
  readonly shortens?: true;
  /** `git-push` is `git push`. */
  readonly plugins?: true;
};

/** How the commands that a program runs are found among its words. */
export type Runs =
  /** After its own options: `nice -n 5 COMMAND`. */
  | ({ readonly how: "prefix" } & Wrapper)
  /** After some words of its own: `npm exec COMMAND`; `languages`: in scripts too, as `bun -e CODE`. */
  | { readonly how: "runner"; readonly after: Readonly<Record<string, Wrapper>>; readonly languages?: readonly Language[] }
  /** In the values of options, or in words that match `text`. */
  | ({ readonly how: "options"; readonly text?: RegExp } & OptionLists)
  /** Any word may be a command line or start one; a word after an option in `names` is only a name. */
  | { readonly how: "words"; readonly names?: RegExp }
  /** In scripts of other languages; `modules`: `-m MODULE` runs a program, too. */
  | { readonly how: "code"; readonly languages: readonly Language[]; readonly modules?: true }
  /** In a way of its own, see `walk/unwrap.ts`. */
  | ({ readonly how: OwnWay } & Wrapper);

type OwnWay = "shell" | "source" | "eval" | "alias" | "jobs" | "input" | "xargs" | "find" | "parallel" | "git" | "ssh" | "debugger";

/** The languages in which shell commands are looked for. */
export type Language = "awk" | "sed" | "expect" | "code" | "javascript" | "quoting" | "escapes";

/** How a wrapper takes its options. After an option that is not listed, every later word may be the command. */
export type Wrapper = OptionLists & {
  /** Options that choose the directory in which it runs. */
  readonly moves?: string;
  /** It always runs in another directory. */
  readonly away?: true;
  /** How many operands of its own come before the command. */
  readonly operands?: number;
  /** `NAME=value` words may come before the command. */
  readonly assignments?: true;
  /** `+x` is an option. */
  readonly plus?: true;
  /** Without a command it starts a shell. */
  readonly shell?: true;
  /** Options count after operands too. */
  readonly permuted?: true;
  /** What the first operand is: a command (the default), words that make a script, the text of one, or nothing that is run. */
  readonly rest?: "command" | "script" | "text" | "nothing";
  /** An option that is unknown may turn any word into a script. */
  readonly byOption?: true;
  /** It is not doubtful which word is the command if a word before it may become several. */
  readonly loose?: true;
  /** A script follows a key and a colon: `bind -x '"KEY": TEXT'`. */
  readonly afterKey?: true;
};

/** How far a write reaches: the path itself; everything below it too; unknown paths below it; or the same where nothing was before. */
export type Reach = "self" | "all" | "some" | "new";

/** Which files a program writes. It is read broadly: an operand too many only matters if it is a protected file. */
export type Writes = OptionLists & {
  /**
   * Which operands are written:
   * - `all`, `first`, `second`, `last`; `after-first`: all but the first
   * - `to`: the last one, and the others under it by their names; `from-to`: the others as well
   * - `names`: each by its name, in the directory of an `=into` option
   * - `starts`: those before the first option
   * - `cloned`: the second, or what the first is called
   */
  readonly operands?: "all" | "to" | "from-to" | "names" | "first" | "second" | "after-first" | "last" | "starts" | "cloned";
  /** Unknown paths are written below the `=into` directory, or below the working directory. */
  readonly spreads?: true;
  /** Operands are written only with one of these options or first words. */
  readonly only?: string;
  /** This many operands count as one of `only`. */
  readonly least?: number;
  /** Operands are not written with one of these options or first words. */
  readonly never?: string;
  /** With one of these options, everything below the operands is written too; `*`: always. */
  readonly deep?: string;
  /** A directory among the operands stays where it is. */
  readonly keeps?: true;
  /** With one of these options, the last operand is the exact name, not a directory to put things in. */
  readonly exact?: string;
  /** With one of these options, sources keep their whole path. */
  readonly whole?: string;
  /** It links: a single operand gets a link in the working directory. */
  readonly alone?: true;
  /** It fills the directory it is sent to, or the working directory if there are no operands. */
  readonly makes?: true;
  /** It runs another command: only words up to the first operand are its own. */
  readonly leads?: true;
  /** What it does instead with one of these options. */
  readonly modes?: readonly { readonly given: string; readonly does: Writes }[];
  /** Words like `of=FILE`. */
  readonly assigned?: string;
  /** Files that are always written. */
  readonly fixed?: readonly string[];
  /** The first word may be options without a dash. */
  readonly bare?: true;
  /** Finds file names in words: `w FILE` of sed, `> "FILE"` of awk. */
  readonly script?: RegExp;
};

/** What `-o FILE` means to most programs. */
export const TO_OUTPUT: Writes = { options: "-o=file --output=file --out=file -out=file --output-file=file" };

/** What formatters do: they rewrite their operands only if told to. */
export const FORMATTER: Writes = {
  operands: "all",
  options: "--output-file=file",
  only: "-w --write --fix -i --in-place",
  keeps: true,
};

/** A template's hooks are copied into a new repository and run there. */
export const TEMPLATE_HOOKS = ".git/hooks/template";

/** The same row for several programs. */
export function sameRow(names: string, row: Program): Readonly<Record<string, Program>> {
  return Object.fromEntries(names.split(" ").map((name) => [name, row]));
}
