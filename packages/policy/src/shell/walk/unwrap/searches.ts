import type { Wrapper } from "../../programs/program.ts";
import { dynamicWord, literalWord, type ShellWord } from "../../read/bash-tree.ts";
import { chosenDirectory, scanWrapper } from "./scan.ts";
import {
  asScript,
  ELSEWHERE,
  type InnerPart,
  isPlain,
  joinWords,
  mergeResults,
  type UnwrapResult,
  type WrapperCall,
  withDirectory,
} from "./unwrapped.ts";

/** The command after the options, with more words at run time or in place of a mark. */
export function unwrapXargs({ name, words, openEnd }: WrapperCall, xargs: Wrapper): UnwrapResult {
  const { found, starts } = scanWrapper(xargs, words, 1);
  if (starts.length === 0 && openEnd) return { inner: [], doubts: [`What ${name} runs is only known at run time`] };
  const replace = found.findLast(({ name: option }) => /^-(?:I|J|i|-replace)$/.test(option));
  const mark = replace && (replace.value?.value || "{}");
  const given = mark ? words.map((word) => markPlaceholder(word, mark)) : words;
  return { inner: starts.map((from): InnerPart => ({ label: name, words: given, from, openEnd: !mark, guess: starts.length > 1 })) };
}

function markPlaceholder(word: ShellWord, mark: string): ShellWord {
  return word.value.includes(mark) ? dynamicWord(word.word.text, word.value) : word;
}

const FIND_ACTIONS: ReadonlySet<string> = new Set(["-exec", "-execdir", "-ok", "-okdir", "-x", "-X", "--exec", "--exec-batch"]);

/** `fd` also takes the command's name in the same word. */
const ATTACHED = /^(?:-[xX]|--exec(?:-batch)?=)([\s\S]+)$/;

function attachedCommand(name: string, { value }: ShellWord, rest: readonly ShellWord[]): readonly InnerPart[] {
  const command = ATTACHED.exec(value)?.[1];
  return command === undefined ? [] : [{ label: `${name} -x`, words: [literalWord(command), ...rest], from: 0, openEnd: true }];
}

const BASE = /^(?:-C|--base-d)/;

/** `find -exec COMMAND ;`. */
export function unwrapFind({ name, words }: WrapperCall): UnwrapResult {
  const inner: InnerPart[] = name === "find" ? [] : words.flatMap((word, i) => attachedCommand(name, word, words.slice(i + 1)));
  for (let i = 1; i < words.length; i++) {
    const action = words[i]?.value ?? "";
    if (!FIND_ACTIONS.has(action)) continue;
    const end = words.findIndex(({ value }, at) => at > i && (value === ";" || (value === "+" && words[at - 1]?.value === "{}")));
    const last = end === -1 ? words.length : end;
    const given = words.slice(i + 1, last).map((word) => markPlaceholder(word, "{}"));
    const isElsewhere = action.endsWith("dir") || (name !== "find" && words.some(({ value }) => BASE.test(value)));
    inner.push({ label: `${name} ${action}`, words: given, from: 0, ...(isElsewhere && { directory: ELSEWHERE }) });
    i = last;
  }
  return { inner };
}

const SOURCES = /^:{3,4}\+?$/;

/** A shell reads the words before `:::`; without any, each word after it is a command. */
export function unwrapParallel({ name, words, stdin, openEnd }: WrapperCall, parallel: Wrapper): UnwrapResult {
  const source = words.findIndex(({ value }) => SOURCES.test(value));
  const own = source === -1 ? words : words.slice(0, source);
  const scan = scanWrapper(parallel, own, 1);
  const { starts } = scan;
  const directory = chosenDirectory(parallel, scan);
  if (starts.length > 0) return withDirectory(directory, mergeResults(starts.map((start) => unwrapTemplate(name, own.slice(start)))));
  const given = source === -1 ? [] : words.slice(source + 1).filter(({ value }) => !SOURCES.test(value));
  const unknown = openEnd || (given.length === 0 && stdin !== undefined);
  const doubts = unknown ? [`${name} reads its commands from a pipe`] : [];
  return withDirectory(directory, mergeResults([...given.map((word) => asScript(name, word)), { inner: [], doubts }]));
}

function unwrapTemplate(name: string, words: readonly ShellWord[]): UnwrapResult {
  const script = joinWords(words);
  const isKnown = !script.value.trimStart().split(/\s/, 1)[0]?.includes("{");
  const isText = words.length === 1 && /\s/.test(script.value);
  return {
    inner: [
      ...(isKnown && !isPlain(words) ? [{ label: name, script: script.value }] : []),
      ...(isText && isKnown ? [] : [{ label: name, words: words.map((word) => markPlaceholder(word, "{")), from: 0, openEnd: true }]),
    ],
  };
}
