import type { Wrapper } from "../../programs/program.ts";
import { literalWord, maySplit, type ShellWord } from "../../read/bash-tree.ts";
import { splitBlanks } from "../../read/tolerant-split.ts";
import { readsInput } from "./input.ts";
import { chosenDirectory, hasOption, scanWrapper, type WrapperScan } from "./scan.ts";
import { ELSEWHERE, type Inner, joined, movedTo, NOTHING, scriptOf, together, type Unwrapped, type Wrapping } from "./unwrapped.ts";

/** `nice -n 5 COMMAND`: the command after the wrapper's own options. */
export function unwrapPrefix(wrapping: Wrapping, wrapper: Wrapper): Unwrapped {
  const found = commandInside({ wrapping, wrapper, scan: scanWrapper(wrapper, wrapping.words, 1), label: wrapping.name });
  const inside = wrapper.afterKey ? withoutKeys(found) : found;
  return wrapper.loose ? inside : inPlace(wrapping, inside);
}

/** Before the command that a wrapper runs no word may be several: one of them would be the command. */
export function inPlace({ name, words }: Wrapping, found: Unwrapped): Unwrapped {
  const from = found.inner.reduce(
    (least, one) => ("from" in one && one.words[0] === words[0] ? Math.min(least, one.from) : least),
    words.length,
  );
  if (!words.slice(1, from).some(({ word }) => word.dynamic && maySplit(word.text))) return found;
  return { ...found, doubts: [...(found.doubts ?? []), `Which word ${name} runs as a command is only known at run time`] };
}

/** A wrapper's words as they were scanned. */
export type Scanned = { readonly wrapping: Wrapping; readonly wrapper: Wrapper; readonly scan: WrapperScan; readonly label: string };

/** The scripts among the options' values, then the command or script at the end, in the directory that the options choose. */
export function commandInside(scanned: Scanned): Unwrapped {
  return movedTo(chosenDirectory(scanned.wrapper, scanned.scan), textsInside(scanned));
}

function textsInside(scanned: Scanned): Unwrapped {
  const { wrapping, wrapper, scan, label } = scanned;
  const { words } = wrapping;
  if (hasOption(scan, wrapper.inert)) return NOTHING;
  const texts = scan.found.flatMap(({ role, value }) => (role === "script" && value ? [scriptOf(label, value)] : []));
  const split = scan.found.find(({ role }) => role === "words");
  if (split?.value) {
    const before = [words[0] ?? literalWord(label), ...splitBlanks(split.value.value)];
    return together([...texts, { inner: [{ label, words: [...before, ...words.slice(split.next)], from: 0 }] }]);
  }
  const found = together([...texts, ...scan.starts.map((start) => restAt(scanned, start))]);
  if (found.inner.length > 0) return found;
  if (wrapping.openEnd) return { inner: [], doubts: [`What ${label} runs is only known at run time`] };
  return wrapper.shell ? readsInput(wrapping, undefined) : NOTHING;
}

function restAt({ wrapping: { words, openEnd }, wrapper, scan, label }: Scanned, start: number): Unwrapped {
  const rest = hasOption(scan, wrapper.scriptFlags) ? "text" : (wrapper.rest ?? "command");
  const first = words[start];
  if (rest === "nothing" || !first) return NOTHING;
  if (rest === "command") return { inner: [{ label, words, from: start, openEnd, guess: scan.starts.length > 1 }] };
  return scriptOf(label, rest === "text" ? first : joined(words.slice(start)));
}

/** `bind -x '"KEY": TEXT'`. */
function withoutKeys({ inner, ...rest }: Unwrapped): Unwrapped {
  const texts = inner.map((one) => ("script" in one ? { ...one, script: one.script.replace(/^\s*(?:"[^"]*"|[^:]*):/, "") } : one));
  return { ...rest, inner: texts };
}

/** `npm exec COMMAND`: the command after some words of the wrapper's own. */
export function unwrapRunner(wrapping: Wrapping, after: Readonly<Record<string, Wrapper>>): Unwrapped {
  const { name, words } = wrapping;
  for (const [text, wrapper] of Object.entries(after)) {
    const before = text === "" ? [] : text.split(" ");
    const from = behind(words, before);
    if (from === undefined) continue;
    const scan = scanWrapper(wrapper, words, from);
    const found = commandInside({ wrapping, wrapper, scan, label: [name, ...before].join(" ") });
    const directory = words.slice(1, from).some(({ value }) => RUNS_ELSEWHERE.test(value)) ? ELSEWHERE : undefined;
    return movedTo(directory, { ...found, inner: found.inner.map(withoutVersion) });
  }
  return NOTHING;
}

/** Options before the word that runs a program which choose another directory or package. */
const RUNS_ELSEWHERE = /^(?:-[CFw]|--(?:dir|directory|prefix|cwd|cd|filter|recursive|workspaces?)(?:=|$)|-r$)/;

/** Where the words behind `before` begin, options in between skipped; a word after an option may be its value. */
function behind(words: readonly ShellWord[], before: readonly string[]): number | undefined {
  let at = 0;
  for (let i = 1; i < words.length; i++) {
    const text = words[i]?.value ?? "";
    if (at === before.length) return i;
    if (text === before[at]) at++;
    else if (!text.startsWith("-") && !words[i - 1]?.value.startsWith("-")) return undefined;
  }
  return at === before.length ? words.length : undefined;
}

/** `cowsay@1.2` is the program `cowsay`. */
function withoutVersion(inner: Inner): Inner {
  if (!("words" in inner)) return inner;
  const first = inner.words[inner.from];
  const version = first && !first.word.dynamic ? first.value.indexOf("@", 1) : -1;
  if (!first || version === -1) return inner;
  return { ...inner, words: [literalWord(first.value.slice(0, version)), ...inner.words.slice(inner.from + 1)], from: 0 };
}
