import { optionsOf, readTokens, splitNames, type ValueRole } from "../../programs/options.ts";
import type { Wrapper } from "../../programs/program.ts";
import { dynamicWord, isOneWord, literalWord, type ShellWord } from "../../read/bash-tree.ts";
import { ELSEWHERE } from "./unwrapped.ts";

type FoundOption = {
  readonly name: string;
  readonly role: ValueRole | undefined;
  readonly value: ShellWord | undefined;
  readonly next: number;
};

/** A wrapper's options and where its command begins. */
export type WrapperScan = {
  readonly found: readonly FoundOption[];
  /** One place, or every place after something unknown. */
  readonly starts: readonly number[];
};

/** Reads a wrapper's own words; `permuted`: also after its operands. */
export function scanWrapper(
  wrapper: Wrapper,
  words: readonly ShellWord[],
  from: number,
  permuted: boolean | undefined = wrapper.permuted,
): WrapperScan {
  const found: FoundOption[] = [];
  let operands = wrapper.operands ?? 0;
  let start: number | undefined;
  let unknown: number | undefined; // nothing is certain from here on
  const texts = words.slice(from).map(({ value }) => value);
  for (const token of readTokens(texts, optionsOf(wrapper), { plus: wrapper.plus, endless: permuted })) {
    if (token.kind === "end") continue;
    const at = from + token.at;
    const word = words[at] ?? literalWord("");
    const { dynamic, text } = word.word;
    if (token.kind === "option") {
      const { name, option, attached, whole } = token;
      const next = from + token.next;
      const value = attached === undefined ? (next > at + 1 ? words[at + 1] : undefined) : partOf(word, attached);
      if (option) found.push({ name, role: option.role, value, next });
      else unknown ??= at + 1;
      if (dynamic && !(whole && isOneWord(text))) unknown ??= at + 1;
      if (next > at + 1 && value?.word.dynamic && !isOneWord(value.word.text)) unknown ??= next;
    } else if (start === undefined && wrapper.assignments && isAssignment(word)) {
      // NAME=value before the command
    } else if (operands > 0 && start === undefined) {
      operands--;
      if (dynamic && !isOneWord(text)) unknown ??= at + 1;
    } else {
      start ??= at;
      if (dynamic) unknown ??= at;
      if (!permuted) break;
    }
  }
  if (unknown === undefined) return { found, starts: start === undefined ? [] : [start] };
  const first = Math.min(start ?? words.length, unknown);
  return { found, starts: Array.from({ length: Math.max(0, words.length - first) }, (_, i) => first + i) };
}

/** An expansion before the `=` may become several words, so only a plain name is certain. */
function isAssignment({ word, value }: ShellWord): boolean {
  return word.dynamic ? /^\w+\+?=/.test(value) : value.includes("=");
}

function partOf({ word }: ShellWord, text: string): ShellWord {
  return word.dynamic ? dynamicWord(text) : literalWord(text);
}

export function hasOption({ found }: WrapperScan, names: string | undefined): boolean {
  if (names === undefined) return false;
  const wanted = splitNames(names);
  return found.some(({ name }) => wanted.includes(name));
}

/** The directory that the options choose. `..` is unknown, because a link may come before it. */
export function chosenDirectory({ away, moves }: Wrapper, { found }: WrapperScan): ShellWord | undefined {
  if (away) return ELSEWHERE;
  const names = splitNames(moves);
  const [one, ...more] = found.filter(({ name }) => names.includes(name));
  if (!one) return undefined;
  const isKnown = more.length === 0 && one.value && !one.value.word.dynamic && !one.value.value.split("/").includes("..");
  return isKnown ? one.value : ELSEWHERE;
}
