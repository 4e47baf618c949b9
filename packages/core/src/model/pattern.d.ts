import type { Verdict } from "./decision.ts";
import { type Glob } from "./glob.ts";
/** A rule text of the notation `tool` or `tool:arg=glob[:arg2=glob2…]`, compiled once. */
export type Pattern = {
  readonly text: string;
  readonly tool: Glob;
  readonly conditions: readonly Condition[];
};
/** One argument that must match; `path` reaches into objects. */
export type Condition = {
  readonly path: readonly [string, ...string[]];
  readonly glob: Glob;
};
/** What a pattern is held against: a request, and what its tool declares about its input. */
export type Subject = {
  readonly tool: string;
  readonly input: Readonly<Record<string, unknown>>;
  /** Other spellings of root properties, so that neither spelling dodges a rule. */
  readonly aliases?: Readonly<Record<string, string>>;
  /** The root property that holds a shell command. */
  readonly commandArg?: string;
};
/** Reads a rule text. Throws `PatternError`: a rule that does not parse guards nothing, so nobody may go on with it. */
export declare function parsePattern(text: string): Pattern;
/**
 * An allow reads narrowly, a deny or ask broadly: of an array every element must match or any one; of a command only bare words, compared word by word,
 * or the whole text and every part of it.
 */
export declare function matchesPattern(pattern: Pattern, how: Verdict, subject: Subject): boolean;
