import type { Hazard } from "../../plan/plan.ts";
import { dynamicWord, type ShellWord, type Stdin } from "../../read/bash-tree.ts";

/** What a wrapper runs: a command, or a text that is a script. */
export type InnerPart = (InnerCommand | { readonly label: string; readonly script: string }) & {
  /** The directory into which the wrapper goes first. */
  readonly directory?: ShellWord;
};

/** A command among a wrapper's words. */
export type InnerCommand = {
  readonly label: string;
  readonly words: readonly ShellWord[];
  /** Where in `words` it begins. */
  readonly from: number;
  /** Further words follow that nobody knows. */
  readonly openEnd?: boolean;
  /** One of several places where it may begin: all the later ones are tried too. */
  readonly guess?: boolean;
};

/** What was found inside a command, and why some of it cannot be told. */
export type UnwrapResult = {
  readonly inner: readonly InnerPart[];
  readonly doubts?: readonly string[];
  readonly hazards?: readonly Hazard[];
};

/** A wrapper's words with its name. */
export type WrapperCall = CommandInput & { readonly name: string; readonly words: readonly ShellWord[] };

/** What a command is given beside its words: its input, and further words that nobody knows. */
export type CommandInput = { readonly stdin: Stdin | undefined; readonly openEnd: boolean };

/** The text that one word holds, as a script. */
export function asScript(label: string, { word, value }: ShellWord): UnwrapResult {
  return {
    inner: [{ label, script: value }],
    ...(word.dynamic && { doubts: [`The text that ${label} runs is only known at run time`] }),
  };
}

/** Nothing that is run. */
export const NOTHING: UnwrapResult = { inner: [] };

/** Several findings as one. */
export function mergeResults(all: readonly UnwrapResult[]): UnwrapResult {
  const [first, second] = all;
  if (!second) return first ?? { inner: [] };
  return {
    inner: all.flatMap(({ inner }) => inner),
    doubts: all.flatMap(({ doubts }) => doubts ?? []),
    hazards: all.flatMap(({ hazards }) => hazards ?? []),
  };
}

/** Several words as the one text that a shell would read. */
export function joinWords(words: readonly ShellWord[]): ShellWord {
  const text = words.map(({ value }) => value).join(" ");
  return { word: { text, dynamic: words.some(({ word }) => word.dynamic) }, value: text, hazards: [] };
}

/** Whether words are the same command when a shell reads them once more. */
export function isPlain(words: readonly ShellWord[]): boolean {
  return words.every(({ word, value }) => !word.dynamic && /^[\w./:@%+,-]+$/.test(value));
}

/** A directory that nobody can tell. */
export const ELSEWHERE: ShellWord = dynamicWord("$");

/** What a wrapper runs in another directory. */
export function withDirectory(directory: ShellWord | undefined, found: UnwrapResult): UnwrapResult {
  if (!directory || found.inner.length === 0) return found;
  return { ...found, inner: found.inner.map((one) => ({ ...one, directory })) };
}
