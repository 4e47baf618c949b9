import type { Json, Request, RuleRef, Unit, Verdict } from "@assent/core";
import type { MatchAnswer } from "../shell/walk/seen-command.ts";

/** One rule of either notation, compiled. Deny and ask read broadly, allow narrowly. */
export type Rule = {
  readonly verdict: Verdict;
  /** The rule exactly as written, with where it stands. */
  readonly at: RuleRef;
  /** Canonical spelling: both notations of one rule give the same. Goes into the policy revision. */
  readonly record: string;
  /** Whether requests of this tool can be meant at all; decided once per tool. */
  readonly concerns: (tool: string, kind: string) => boolean;
  /** An allow answers `yes` or `no`; a deny or ask may also be in doubt. Pure. */
  readonly test: (request: Request, unit: Unit) => MatchAnswer;
  /** A deny of whole tools (no specifier, no condition): such tools are not offered to the model. */
  readonly bare: boolean;
  /** A deny or ask about a command's words alone, by which a line too long to parse is scanned for all such rules at once. */
  readonly plainWords?: readonly string[];
  /** How an example of this rule is put; undefined where no known tool is meant. */
  readonly example?: RuleExample;
};

/** The tool an example is a call of, and the argument that a text stands for. */
export type RuleExample = { readonly tool: string; readonly argument?: string };

/** A rule as a settings file, a flag or a grant has it. */
export type WrittenRule = { readonly verdict: Verdict; readonly at: RuleRef; readonly bind?: ScriptBinding };

/** What a rule holds for only as long as it stays the same. */
export type ScriptBinding = { readonly script?: string };

/** What rules must know about a tool; undefined for a tool that does not exist. */
export type RuleTool = {
  readonly kind: string;
  readonly aliases?: Readonly<Record<string, string>>;
  /** Every argument it takes, other spellings included; absent: any. */
  readonly args?: readonly string[];
  /** The argument that is a shell line. */
  readonly commandArg?: string;
  readonly pathArgs?: readonly string[];
  readonly urlArg?: string;
};

/** The tools that rules speak of. */
export type RuleTools = { readonly get: (name: string) => RuleTool | undefined; readonly names: () => readonly string[] };

/** Where `/x`, `~/x` and relative paths of a path specifier start. */
export type RuleRoots = {
  readonly settingsRoot: string;
  readonly workspace: string;
  readonly home: string;
  /** Part of the workspace: a relative path of a deny or ask is looked for in them too. */
  readonly additionalDirectories?: readonly string[];
};

/** All that the reading of a rule depends on besides its text. */
export type RuleOptions = {
  readonly tools: RuleTools;
  readonly roots: RuleRoots;
  /** Digest of the script that a package command ran when the policy was loaded: from memory, never from the disk. Absent: nothing is bound but what a rule binds itself. */
  readonly scripts?: (words: readonly string[]) => string | undefined;
};

/** What a rule looks at, compiled for one verdict; `record` is its canonical form. */
export type RuleTest = { readonly record: Json; readonly test: Rule["test"]; readonly plainWords?: readonly string[] };
