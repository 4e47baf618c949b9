import type { OptionLists } from "../../programs/options.ts";
import type { ShellWord } from "../../read/bash-tree.ts";
import { findCodeTexts } from "./code.ts";
import { scanWrapper } from "./scan.ts";
import { asScript, type InnerPart, mergeResults, type UnwrapResult, type WrapperCall } from "./unwrapped.ts";

/** `rsync -e TEXT`, `tar --checkpoint-action=exec=TEXT`. */
export function unwrapOptions({ name, words }: WrapperCall, runs: OptionLists & { readonly text?: RegExp }): UnwrapResult {
  const { found } = scanWrapper(runs, words, 1, true);
  const texts = found.flatMap(({ role, value }) => (role === "script" && value ? [asScript(name, value)] : []));
  const { text } = runs;
  const inWords = text ? words.slice(1).flatMap((word) => matchText(name, word, text)) : [];
  return mergeResults([...texts, ...inWords, ...(name === "tar" ? findTarTexts(words) : [])]);
}

/** `tar cIf TEXT`: letters without a dash, then their values. */
function findTarTexts(words: readonly ShellWord[]): readonly UnwrapResult[] {
  return /^[a-zA-Z]*[IF][a-zA-Z]*$/.test(words[1]?.value ?? "") ? words.slice(2).map((word) => asScript("tar", word)) : [];
}

function matchText(label: string, word: ShellWord, pattern: RegExp): readonly UnwrapResult[] {
  const text = pattern
    .exec(word.value)
    ?.slice(1)
    .find((group) => group !== undefined);
  return text === undefined ? [] : [asScript(label, { ...word, value: text })];
}

const SSH_COMMAND = /^(?:-[a-zA-Z0-9]*o)?\s*(?:ProxyCommand|LocalCommand|RemoteCommand|KnownHostsCommand)\s*[=\s]\s*([\s\S]+)$/i;

/** `-o ProxyCommand=TEXT`, and the program that scp and sftp use instead of ssh. */
export function unwrapSsh({ name, words }: WrapperCall): UnwrapResult {
  const options = words.slice(1).flatMap((word) => matchText(name, word, SSH_COMMAND));
  const programs = name === "ssh" ? [] : words.slice(1).flatMap((word, i) => findProgramOption(word, words[i + 2]));
  return mergeResults([...options, ...programs.map((word) => asScript(name, word))]);
}

function findProgramOption({ value, ...word }: ShellWord, next: ShellWord | undefined): readonly ShellWord[] {
  if (/^-[a-zA-Z]*[SD]$/.test(value)) return next ? [next] : [];
  return /^-[SD]./.test(value) ? [{ ...word, value: value.slice(2) }] : [];
}

/** `tmux new TEXT`: every word may be or start a command. */
export function unwrapWords({ name, words, openEnd }: WrapperCall, names: RegExp | undefined): UnwrapResult {
  const found = words.slice(1).flatMap((word, i): UnwrapResult[] => {
    const { value } = word;
    const text = /^--?[\w-]+=([\s\S]*)$/.exec(value)?.[1];
    if (text !== undefined) return [asScript(name, { ...word, value: text })];
    if (value.startsWith("-") || value === ";" || names?.test(words[i]?.value ?? "")) return [];
    if (/\s/.test(value)) return name === "tmux" ? [asScript(name, word), ...findTmuxTexts(word)] : [asScript(name, word)];
    return [{ inner: [{ label: name, words, from: i + 1, openEnd, guess: true }] }];
  });
  return mergeResults(found);
}

/** `run-shell "TEXT"` as one word. */
function findTmuxTexts(word: ShellWord): readonly UnwrapResult[] {
  const isCommand = /^\s*(?:run|if|new|neww|split|respawn|pipe|display-popup|popup)[\w-]*\s/.test(word.value);
  return isCommand ? [asScript("tmux", { ...word, value: `tmux ${word.value}` })] : [];
}

const DEBUGGER_COMMAND =
  /^(?:--?(?:ex|iex|eval-command|init-eval-command|one-line)=)?\s*(?:shell|!|pipe|platform\s+shell|process\s+launch\s+--)\s*([\s\S]+)$/;

/** `gdb --args COMMAND`, `-ex 'shell TEXT'`, `-ex run PROGRAM`. */
export function unwrapDebugger({ name, words, openEnd }: WrapperCall): UnwrapResult {
  const texts = words.slice(1).flatMap((word) => [...matchText(name, word, DEBUGGER_COMMAND), ...findCodeTexts("code", name, word)]);
  const from = words.findIndex(({ value }) => /^--?args$/.test(value));
  const starts = from === -1 ? words.flatMap(({ value }, i) => (i > 0 && !/^-|\s/.test(value) ? [i] : [])) : [from + 1];
  const inner = starts
    .filter((start) => start < words.length)
    .map((start): InnerPart => ({ label: name, words, from: start, openEnd, guess: from === -1 }));
  return mergeResults([...texts, { inner }]);
}
