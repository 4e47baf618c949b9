import type { NamedChecker, RuleRef, Scope } from "./decision.ts";
import { type Subject } from "./pattern.ts";
/** Rules of one layer: pattern texts, or references that say where the text stands and why. */
export type CheckerRules = {
  readonly label: string;
  readonly scope: Scope;
  readonly deny?: readonly (string | RuleRef)[];
  readonly ask?: readonly (string | RuleRef)[];
  readonly allow?: readonly (string | RuleRef)[];
  /** What the tool of this name declares; without it no alias is folded and nothing is read as a command. */
  readonly tools?: (name: string) => ToolShape | undefined;
};
/** What a tool declares about its input that rules depend on. */
export type ToolShape = Pick<Subject, "aliases" | "commandArg">;
/** A rule that was left out, and why. */
export type RuleWarning = {
  readonly rule: RuleRef;
  readonly message: string;
};
/**
 * A checker of compiled patterns. Within it: deny, then ask, then allow; order in a list and specificity mean nothing.
 * A broken deny or ask throws `PatternError`, because a policy without its guard must not be used; a broken allow is dropped with a warning.
 */
export declare function makeChecker(lists: CheckerRules): {
  readonly checker: NamedChecker;
  readonly warnings: readonly RuleWarning[];
};
/** All checkers of several lists in their order; an absent or empty list adds nothing. */
export declare function mergeCheckers(...lists: readonly (readonly NamedChecker[] | undefined)[]): readonly NamedChecker[];
