import type { Hazard } from "../../plan/plan.ts";
import { dynamicWord, type ShellWord, type Stdin } from "../../read/bash-tree.ts";

/** A command or a script that a wrapper runs. */
export type InnerPart = (InnerCommand | { readonly label: string; readonly script: string }) & {
  readonly directory?: ShellWord;
};

export type InnerCommand = {
  readonly label: string;
  readonly words: readonly ShellWord[];
  readonly from: number;
  /** More words follow at run time. */
  readonly openEnd?: boolean;
  /** One of several possible starts. */
  readonly guess?: boolean;
};

/** What a command runs, and why some of it is unknown. */
export type UnwrapResult = {
  readonly inner: readonly InnerPart[];
  readonly doubts?: readonly string[];
  readonly hazards?: readonly Hazard[];
};

export type WrapperCall = CommandInput & { readonly name: string; readonly words: readonly ShellWord[] };

/** A command's input, and whether more words follow at run time. */
export type CommandInput = { readonly stdin: Stdin | undefined; readonly openEnd: boolean };

export function asScript(label: string, { word, value }: ShellWord): UnwrapResult {
  return {
    inner: [{ label, script: value }],
    ...(word.dynamic && { doubts: [`The text that ${label} runs is only known at run time`] }),
  };
}

export const NOTHING: UnwrapResult = { inner: [] };

export function mergeResults(all: readonly UnwrapResult[]): UnwrapResult {
  const [first, second] = all;
  if (!second) return first ?? { inner: [] };
  return {
    inner: all.flatMap(({ inner }) => inner),
    doubts: all.flatMap(({ doubts }) => doubts ?? []),
    hazards: all.flatMap(({ hazards }) => hazards ?? []),
  };
}

/** Joins words to the text that a shell would read. */
export function joinWords(words: readonly ShellWord[]): ShellWord {
  const text = words.map(({ value }) => value).join(" ");
  return { word: { text, dynamic: words.some(({ word }) => word.dynamic) }, value: text, hazards: [] };
}

/** Whether a shell reads these words as the same command again. */
export function isPlain(words: readonly ShellWord[]): boolean {
  return words.every(({ word, value }) => !word.dynamic && /^[\w./:@%+,-]+$/.test(value));
}

/** An unknown directory. */
export const ELSEWHERE: ShellWord = dynamicWord("$");

export function withDirectory(directory: ShellWord | undefined, found: UnwrapResult): UnwrapResult {
  if (!directory || found.inner.length === 0) return found;
  return { ...found, inner: found.inner.map((one) => ({ ...one, directory })) };
}
