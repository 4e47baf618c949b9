import type { Json, PathUse, Request, RuleRef, Unit, Verdict } from "@assent/core";
import type { MatchAnswer } from "../shell/walk/seen-command.ts";

/** A compiled rule. Deny and ask match broadly, allow narrowly. */
export type Rule = {
  readonly verdict: Verdict;
  readonly at: RuleRef;
  /** Canonical form, equal for both notations; part of the policy revision. */
  readonly record: string;
  readonly concerns: (tool: string, kind: string) => boolean;
  /** Allow answers yes or no; deny and ask may also answer doubt. Pure. */
  readonly test: (request: Request, unit: Unit) => MatchAnswer;
  /** A deny of whole tools; they are not offered to the model. */
  readonly bare: boolean;
  /** Words by which long lines are scanned. */
  readonly plainWords?: readonly string[];
  /** How an example is run; undefined without a known tool. */
  readonly example?: RuleExample;
  /** What an allow with a star permits beyond its words, in one sentence. */
  readonly risk?: string;
  /** Why an allow whose words match does not allow this unit. */
  readonly whyNot?: (unit: Unit) => RuleLimit | undefined;
  /** Calls that it was written for, as values of its tool's argument. */
  readonly samples?: readonly string[];
  /** Why it can never match: its conditions exclude each other. */
  readonly contradiction?: string;
};

/** What keeps an allow from allowing; `lasting`: further words can't change that. */
export type RuleLimit = { readonly why: string; readonly lasting: boolean };

export type RuleExample = { readonly tool: string; readonly argument?: string };

/** A rule as written in settings, a flag or a grant. */
export type WrittenRule = { readonly verdict: Verdict; readonly at: RuleRef; readonly bind?: ScriptBinding };

/** A rule applies only while this script, or the definition of the tool, is unchanged. Only grants are bound to a definition. */
export type ScriptBinding = { readonly script?: string; readonly tool?: string };

export type RuleTool = {
  readonly kind: string;
  readonly aliases?: Readonly<Record<string, string>>;
  /** All arguments, aliases included; absent: any. */
  readonly args?: readonly string[];
  readonly commandArg?: string;
  readonly pathArgs?: readonly string[];
  /** What it does to files, if its kind does not say. */
  readonly pathUses?: readonly PathUse[];
  readonly urlArg?: string;
};

/** The tools that rules can name. */
export type RuleTools = { readonly get: (name: string) => RuleTool | undefined; readonly names: () => readonly string[] };

/** Where `/x`, `~/x` and relative paths start. */
export type RuleRoots = {
  readonly settingsRoot: string;
  readonly workspace: string;
  readonly home: string;
  /** Parts of the workspace, for relative paths of deny and ask. */
  readonly additionalDirectories?: readonly string[];
};

/** What reading a rule depends on. */
export type RuleOptions = {
  readonly tools: RuleTools;
  readonly roots: RuleRoots;
  /** Digest of the script that a package command ran when the policy was loaded. */
  readonly scripts?: (words: readonly string[]) => string | undefined;
};

/** A compiled specifier; `record` is its canonical form. */
export type RuleTest = { readonly record: Json } & Pick<Rule, "test" | RuleTraits>;

/** What a compiled specifier or condition adds to its rule. */
export type RuleTraits = "plainWords" | "risk" | "whyNot" | "samples" | "contradiction";
