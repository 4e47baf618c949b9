import type { Wrapper } from "../../programs/program.ts";
import { literalWord, maySplit, type ShellWord } from "../../read/bash-tree.ts";
import { splitBlanks } from "../../read/tolerant-split.ts";
import { unwrapInput } from "./input.ts";
import { chosenDirectory, hasOption, scanWrapper, type WrapperScan } from "./scan.ts";
import {
  asScript,
  ELSEWHERE,
  type InnerPart,
  joinWords,
  mergeResults,
  NOTHING,
  type UnwrapResult,
  type WrapperCall,
  withDirectory,
} from "./unwrapped.ts";

/** `nice -n 5 COMMAND`. */
export function unwrapPrefix(wrapping: WrapperCall, wrapper: Wrapper): UnwrapResult {
  const found = unwrapScanned({ wrapping, wrapper, scan: scanWrapper(wrapper, wrapping.words, 1), label: wrapping.name });
  const inside = wrapper.afterKey ? withoutKeys(found) : found;
  return wrapper.loose ? inside : addSplitDoubt(wrapping, inside);
}

/** A word before the command that becomes several words would change which one is the command. */
export function addSplitDoubt({ name, words }: WrapperCall, found: UnwrapResult): UnwrapResult {
  const from = found.inner.reduce(
    (least, one) => ("from" in one && one.words[0] === words[0] ? Math.min(least, one.from) : least),
    words.length,
  );
  if (!words.slice(1, from).some(({ word }) => word.dynamic && maySplit(word.text))) return found;
  return { ...found, doubts: [...(found.doubts ?? []), `Which word ${name} runs as a command is only known at run time`] };
}

export type ScannedWrapper = {
  readonly wrapping: WrapperCall;
  readonly wrapper: Wrapper;
  readonly scan: WrapperScan;
  readonly label: string;
};

/** The scripts among the options' values, then the command or script at the end. */
export function unwrapScanned(scanned: ScannedWrapper): UnwrapResult {
  return withDirectory(chosenDirectory(scanned.wrapper, scanned.scan), findTexts(scanned));
}

function findTexts(scanned: ScannedWrapper): UnwrapResult {
  const { wrapping, wrapper, scan, label } = scanned;
  const { words } = wrapping;
  if (hasOption(scan, wrapper.inert)) return NOTHING;
  const texts = scan.found.flatMap(({ role, value }) => (role === "script" && value ? [asScript(label, value)] : []));
  const split = scan.found.find(({ role }) => role === "words");
  if (split?.value) {
    const before = [words[0] ?? literalWord(label), ...splitBlanks(split.value.value)];
    return mergeResults([...texts, { inner: [{ label, words: [...before, ...words.slice(split.next)], from: 0 }] }]);
  }
  const found = mergeResults([...texts, ...scan.starts.map((start) => unwrapRest(scanned, start))]);
  if (found.inner.length > 0) return found;
  if (wrapping.openEnd) return { inner: [], doubts: [`What ${label} runs is only known at run time`] };
  return wrapper.shell ? unwrapInput(wrapping, undefined) : NOTHING;
}

function unwrapRest({ wrapping: { words, openEnd }, wrapper, scan, label }: ScannedWrapper, start: number): UnwrapResult {
  const rest = hasOption(scan, wrapper.scriptFlags) ? "text" : (wrapper.rest ?? "command");
  const first = words[start];
  if (rest === "nothing" || !first) return NOTHING;
  if (rest === "command") return { inner: [{ label, words, from: start, openEnd, guess: scan.starts.length > 1 }] };
  return asScript(label, rest === "text" ? first : joinWords(words.slice(start)));
}

function withoutKeys({ inner, ...rest }: UnwrapResult): UnwrapResult {
  const texts = inner.map((one) => ("script" in one ? { ...one, script: one.script.replace(/^\s*(?:"[^"]*"|[^:]*):/, "") } : one));
  return { ...rest, inner: texts };
}

/** `npm exec COMMAND`. */
export function unwrapRunner(wrapping: WrapperCall, after: Readonly<Record<string, Wrapper>>): UnwrapResult {
  const { name, words } = wrapping;
  for (const [text, wrapper] of Object.entries(after)) {
    const before = text === "" ? [] : text.split(" ");
    const from = findAfter(words, before);
    if (from === undefined) continue;
    const scan = scanWrapper(wrapper, words, from);
    const found = unwrapScanned({ wrapping, wrapper, scan, label: [name, ...before].join(" ") });
    const directory = words.slice(1, from).some(({ value }) => RUNS_ELSEWHERE.test(value)) ? ELSEWHERE : undefined;
    return withDirectory(directory, { ...found, inner: found.inner.map(withoutVersion) });
  }
  return NOTHING;
}

/** Options that choose another directory or package. */
const RUNS_ELSEWHERE = /^(?:-[CFw]|--(?:dir|directory|prefix|cwd|cd|filter|recursive|workspaces?)(?:=|$)|-r$)/;

/** A word after an option may be its value. */
function findAfter(words: readonly ShellWord[], before: readonly string[]): number | undefined {
  let at = 0;
  for (let i = 1; i < words.length; i++) {
    const text = words[i]?.value ?? "";
    if (at === before.length) return i;
    if (text === before[at]) at++;
    else if (!text.startsWith("-") && !words[i - 1]?.value.startsWith("-")) return undefined;
  }
  return at === before.length ? words.length : undefined;
}

/** `cowsay@1.2` is `cowsay`. */
function withoutVersion(inner: InnerPart): InnerPart {
  if (!("words" in inner)) return inner;
  const first = inner.words[inner.from];
  const version = first && !first.word.dynamic ? first.value.indexOf("@", 1) : -1;
  if (!first || version === -1) return inner;
  return { ...inner, words: [literalWord(first.value.slice(0, version)), ...inner.words.slice(inner.from + 1)], from: 0 };
}
