import { PatternError } from "@assent/core";
import type { Rule } from "./rule.ts";

/** Why a text is not a valid rule; `hint` says what to write instead. */
export type RuleFault = {
  readonly type: "rule_syntax" | "rule_unknown_tool" | "rule_bad_glob" | "rule_example";
  readonly message: string;
  readonly hint: string;
  /** From 1, in UTF-16 units. */
  readonly column?: number;
  /** A deny or ask about a missing tool; it applies once the tool exists. */
  readonly rule?: Rule;
};

export function isFault<T extends object>(value: T | RuleFault): value is RuleFault {
  return "hint" in value && "message" in value;
}

export function syntaxFault(message: string, hint: string, column?: number): RuleFault {
  return { type: "rule_syntax", message, hint, ...(column !== undefined && { column }) };
}

/** True if the problem of a `PatternError` is about a glob. */
export function isGlobProblem(problem: string): boolean {
  return /class|dangling|range/.test(problem);
}

/** Turns a `PatternError` into a fault. `whole` is the text around the pattern. */
export function catchPatternError<T extends object>(read: () => T, whole = ""): T | RuleFault {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof PatternError)) throw error;
    const { problem, column, text } = error.about;
    const at = { message: `'${text}': ${problem}`, column: column + Math.max(0, whole.indexOf(text)) };
    if (isGlobProblem(problem)) {
      return { type: "rule_bad_glob", ...at, hint: "Close every [ with ]. To match a special character literally, put \\ before it." };
    }
    return { type: "rule_syntax", ...at, hint: NOTATIONS };
  }
}

/** Examples of both notations. */
export const NOTATIONS =
  "Write Tool, Tool(specifier), as in Shell(git status), or tool:argument=glob, as in fetch:url=https://example.com/*";
