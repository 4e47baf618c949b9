import { PatternError } from "@assent/core";
import type { Rule } from "./rule.ts";

/** Why a text is no rule, or not the one that was meant; `hint` says what to write instead. */
export type RuleFault = {
  readonly type: "rule_syntax" | "rule_unknown_tool" | "rule_bad_glob" | "rule_too_broad" | "rule_example";
  readonly message: string;
  readonly hint: string;
  /** From 1, in UTF-16 units of the rule's text. */
  readonly column?: number;
  /** A deny or ask about a tool that is not there now: it holds as soon as the tool is. */
  readonly rule?: Rule;
};

/** Tells a fault from what reading was meant to give. */
export function isFault<T extends object>(value: T | RuleFault): value is RuleFault {
  return "hint" in value && "message" in value;
}

/** A text that is not read in either notation. */
export function syntaxFault(message: string, hint: string, column?: number): RuleFault {
  return { type: "rule_syntax", message, hint, ...(column !== undefined && { column }) };
}

const GLOB_PROBLEMS = /class|dangling|range/;

/** Runs a reader of `@assent/core`'s globs and patterns; what it throws about a text becomes a fault. `whole` is the text in which that one stands. */
export function catchPatternError<T extends object>(read: () => T, whole = ""): T | RuleFault {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof PatternError)) throw error;
    const { problem, column, text } = error.about;
    const at = { message: `'${text}': ${problem}`, column: column + Math.max(0, whole.indexOf(text)) };
    if (GLOB_PROBLEMS.test(problem)) {
      return { type: "rule_bad_glob", ...at, hint: "close every [ with ]; to match a special character literally, put \\ before it" };
    }
    return { type: "rule_syntax", ...at, hint: NOTATIONS };
  }
}

/** What the two notations look like. */
export const NOTATIONS =
  "write Tool, Tool(specifier), as in Shell(git status), or tool:argument=glob, as in fetch:url=https://example.com/*";
