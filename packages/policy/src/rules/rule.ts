import type { Request, RuleRef, Unit, Verdict } from "@assent/core";
import type { Broad } from "../shell/seen-command.ts";

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
  readonly test: (request: Request, unit: Unit) => Broad;
  /** A deny of whole tools (no specifier, no condition): such tools are not offered to the model. */
  readonly bare: boolean;
};

/** What rules must know about a tool; undefined for a tool that does not exist. */
export type RuleTool = {
  readonly kind: string;
  readonly aliases?: Readonly<Record<string, string>>;
  /** The argument that is a shell line. */
  readonly commandArg?: string;
  readonly pathArgs?: readonly string[];
  readonly urlArg?: string;
};

/** The tools that rules speak of. */
export type RuleTools = { readonly get: (name: string) => RuleTool | undefined; readonly names: () => readonly string[] };

/** Where `/x` and `~/x` of a path specifier start. */
export type RuleRoots = { readonly settingsRoot: string; readonly workspace: string; readonly home: string };
