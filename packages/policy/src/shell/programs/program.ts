import type { Notation, OptionLists } from "./options.ts";
import type { ReadModel, ReadTable } from "./reads.ts";

/** What Assent knows of one program. An option that a part does not list prevents an allow and is skipped by a deny. */
export type Program = {
  /** Which uses only read: a table for options and operands, else a function. */
  readonly reads?: ReadTable | ReadModel;
  /** Words that, alone, make it print its version. */
  readonly version?: string;
  readonly writes?: Writes;
  /** Which of its words are commands that it runs. */
  readonly runs?: Runs;
  /** How deny and ask rules compare its words. */
  readonly match?: Match;
  /** It runs a script: by `-c` and from a file (`shell`), by an option such as `-e` and from a file (`code`), or only from a file (`file`). */
  readonly interprets?: "shell" | "code" | "file";
  /** It runs code that Assent doesn't inspect: always, or depending on its first word. */
  readonly opaque?: true | { readonly only: string } | { readonly except: string };
  /** Keys may be two words: `stash list`. */
  readonly subcommands?: Readonly<Record<string, Subcommand>>;
  /** A builtin that evaluates subscripts: `test -v 'a[$(…)]'`. */
  readonly subscripts?: true;
  /** It sets variables among its words: `export PAGER=…`. */
  readonly sets?: true;
};

export type Subcommand = {
  readonly reads?: ReadTable;
  readonly writes?: Writes;
  readonly match?: Pick<Match, "options" | "synonyms">;
  /** Options whose value is run; `*` matches any letters. */
  readonly runs?: Notation;
  readonly hooks?: true;
};

/** How deny and ask rules compare a program's words. */
export type Match = OptionLists & {
  /** Spellings of the same option: `-f --force`. */
  readonly synonyms?: readonly string[];
  readonly subcommands?: true;
  /** Spellings of the same subcommand, separated by commas: `rm, container rm`. */
  readonly subcommandSynonyms?: readonly string[];
  /** A subcommand's name may be abbreviated. */
  readonly shortens?: true;
  /** `git-push` is `git push`. */
  readonly plugins?: true;
};

/** Where a program's words contain commands that it runs. */
export type Runs =
  /** After its own options: `nice -n 5 COMMAND`. */
  | ({ readonly how: "prefix" } & Wrapper)
  /** After some words of its own: `npm exec COMMAND`; `languages`: in scripts too, as `bun -e CODE`. */
  | { readonly how: "runner"; readonly after: Readonly<Record<string, Wrapper>>; readonly languages?: readonly Language[] }
  /** In the values of options, or in words that match `text`. */
  | ({ readonly how: "options"; readonly text?: RegExp } & OptionLists)
  /** Any word may be or start a command, except after an option in `names`. */
  | { readonly how: "words"; readonly names?: RegExp }
  /** In scripts of other languages; `modules`: `-m MODULE` runs a program, too. */
  | { readonly how: "code"; readonly languages: readonly Language[]; readonly modules?: true }
  /** In a way of its own, see `walk/unwrap.ts`. */
  | ({ readonly how: OwnWay } & Wrapper);

type OwnWay = "shell" | "source" | "eval" | "alias" | "jobs" | "input" | "xargs" | "find" | "parallel" | "git" | "ssh" | "debugger";

/** Languages in which shell commands are searched for. */
export type Language = "awk" | "sed" | "expect" | "code" | "javascript" | "quoting" | "escapes";

/** How a wrapper takes its options. After an unlisted option, every later word may be the command. */
export type Wrapper = OptionLists & {
  readonly moves?: string;
  /** It always runs in another directory. */
  readonly away?: true;
  /** How many of its own operands come before the command. */
  readonly operands?: number;
  /** `NAME=value` words may come before the command. */
  readonly assignments?: true;
  /** `+x` is an option. */
  readonly plus?: true;
  /** Without a command it starts a shell. */
  readonly shell?: true;
  /** Options count after operands too. */
  readonly permuted?: true;
  /** The first operand: a command (default), words of a script, the text of one, or nothing that is run. */
  readonly rest?: "command" | "script" | "text" | "nothing";
  /** An unknown option may turn any word into a script. */
  readonly byOption?: true;
  /** No doubt is raised if a word before the command may become several. */
  readonly loose?: true;
  /** A script after a key and a colon: `bind -x '"KEY": TEXT'`. */
  readonly afterKey?: true;
};

/** How far a write reaches: the path itself, everything below it, unknown paths below it, or unknown paths in a new directory. */
export type Reach = "self" | "all" | "some" | "new";

/** Which files a program writes, read broadly: an extra operand only matters if it is protected. */
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
  /** Unknown paths below the `=into` or working directory are written. */
  readonly spreads?: true;
  /** Operands are written only with one of these options or first words. */
  readonly only?: string;
  /** This many operands count as one of `only`. */
  readonly least?: number;
  /** Operands are not written with one of these options or first words. */
  readonly never?: string;
  /** With one of these, everything below the operands is written; `*`: always. */
  readonly deep?: string;
  /** A directory among the operands is kept. */
  readonly keeps?: true;
  /** With one of these, the last operand is the exact name. */
  readonly exact?: string;
  /** With one of these, sources keep their whole path. */
  readonly whole?: string;
  /** A single operand gets a link in the working directory. */
  readonly alone?: true;
  /** It fills the given or the working directory. */
  readonly makes?: true;
  /** The first operand ends the options, unless it is one of these words. */
  readonly leads?: string;
  /** What it does instead with one of these options. */
  readonly modes?: readonly { readonly given: string; readonly does: Writes }[];
  /** Words like `of=FILE`. */
  readonly assigned?: string;
  readonly fixed?: readonly string[];
  /** The first word may be options without a dash. */
  readonly bare?: true;
  /** Finds file names in words: `w FILE` of sed, `> "FILE"` of awk. */
  readonly script?: RegExp;
};

/** What `-o FILE` means to most programs. */
export const TO_OUTPUT: Writes = { options: "-o=file --output=file --out=file -out=file --output-file=file" };

/** Formatters rewrite their operands only with one of these options. */
export const FORMATTER: Writes = {
  operands: "all",
  options: "--output-file=file",
  only: "-w --write --fix -i --in-place",
  keeps: true,
};

/** A template's hooks are copied into a new repository and run there. */
export const TEMPLATE_HOOKS = ".git/hooks/template";

/** The same row for several programs or subcommands. */
export function sameRow<Row extends Program | Subcommand>(names: string, row: Row): Readonly<Record<string, Row>> {
  return Object.fromEntries(names.split(" ").map((name) => [name, row]));
}
