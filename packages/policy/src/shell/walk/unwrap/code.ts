import type { Language, Runs } from "../../programs/program.ts";
import { literalWord, parseBash, type ShellWord } from "../../read/bash-tree.ts";
import { splitTolerant } from "../../read/tolerant-split.ts";
import { asScript, type InnerPart, joinWords, mergeResults, type UnwrapResult, type WrapperCall } from "./unwrapped.ts";

const RUNS =
  "\\b(?:system|\\w*popen\\d?|exec(?:[lv]\\w*|Sync|File\\w*)?|os\\.execute|\\w*spawn\\w*|run|call|check_output|check_call|getoutput|Popen|shell_exec|passthru|proc_open|capture\\w*|Command)";
/** A list, a parameter's name, or a string prefix may come before the text. */
const BEFORE_TEXT = "\\s*\\(\\s*(?:\\w+\\s*=\\s*)?[[(]?\\s*[rbfu]{0,2}";

const LANGUAGES: Readonly<Record<Exclude<Language, "sed" | "javascript">, readonly RegExp[]>> = {
  awk: [/\bsystem\s*\(\s*"((?:[^"\\]|\\.)*)"/g, /\|&?\s*"((?:[^"\\]|\\.)*)"/g, /"((?:[^"\\]|\\.)*)"\s*\|&?\s*getline/g],
  expect: [/\b(?:spawn|exec|system)\s+(?:-\w+\s+)*([^;\n\]}]+)/g, /\bopen\s+["{]?\|\s*([^;\n\]}"]+)/g],
  code: [
    new RegExp(`${RUNS}${BEFORE_TEXT}"((?:[^"\\\\]|\\\\.)*)"`, "g"),
    new RegExp(`${RUNS}${BEFORE_TEXT}'((?:[^'\\\\]|\\\\.)*)'`, "g"),
    new RegExp(`${RUNS}${BEFORE_TEXT}(?:"{3}|'{3}|\`|\\[\\[)([^"'\`\\]]*)`, "g"),
    new RegExp(`${RUNS}\\w*\\s*\\(\\s*(?:\\w+\\s*=\\s*)?([[(]?\\s*(?:["'][^"']*["']\\s*,?\\s*)+)`, "g"),
    // A program, and a list of its arguments, with or without its name as the first: spawn("git", ["push"]), execvp("git", ["git", "push"]), execlp("git", "git", "push").
    new RegExp(`${RUNS}\\w*\\s*\\(\\s*(["'][^"']*["']\\s*,\\s*[[({](?:\\s*args:\\s*\\[)?\\s*(?:["'][^"']*["']\\s*,?\\s*)+)`, "g"),
    /\b(?:exec|spawn)l\w*\s*\([^"']*["'][^"']*["']\s*,\s*((?:["'][^"']*["']\s*,?\s*)+)/g,
    /\b(?:exec|spawn)v\w*\s*\([^[(]*[[(]\s*((?:["'][^"']*["']\s*,?\s*)+)/g,
    /\b(?:system|exec|execute|spawn)\s+((?:["'][^"']*["']\s*,\s*)+["'][^"']*["'])/g,
    /\b(?:system|exec|execute|spawn)\s*(?:["']([^"']*)["']|\[\[([^\]]*)\]\])/g,
    /\$`([^`]*)`/g,
  ],
  // Backquotes and some prefixes run a command.
  quoting: [
    /`([^`]+)`/g,
    /(?:\bqx|%x)\s*[{(/[]([^})/\]]+)/g,
    /\b(?:system|exec)\s*\(?\s*(?:qw?|%[qQwW])\s*[{(/[]([^})/\]]+)/g,
    /["']\|\s*([^"'|]+)["']/g,
    /["']([^"'|]+)\|["']/g,
    /["']-\|["']\s*,\s*((?:["'][^"']*["']\s*,?\s*)+)/g,
  ],
  // Editors, pagers and database clients run a command after a character such as `!`.
  escapes: [
    /(?:^|[\n:+|\\])\s*(?:silent\s+|r(?:ead)?\s+)?!\s*([^\n]+)/g,
    /^\s*\.(?:shell|system)\s+([^\n]+)/gm,
    /(?:^|[\n;])\s*system\s+([^\n;]+)/g,
    /\bprogram\s+'([^']+)'/gi,
    /\(\s*(?:shell-command[\w-]*|call-process|start-process(?:\s+"[^"]*"\s+\S+)?)\s+"([^"]*)"/g,
    /\b(?:system|os\.execute)\s*\(\s*["']([^"']*)["']/g,
  ],
};

/** In JavaScript `exec` is mostly a method of patterns and databases. */
const STARTS_PROGRAMS = /child_process|\b(?:Bun|Deno|execa|zx|shelljs)\b/;

/** `sed '1e TEXT'`, `awk 'BEGIN { system("TEXT") }'`, `python3 -c 'os.system("TEXT")'`, `python3 -m MODULE`, and the same on the input. */
export function unwrapCode(
  { name, words, stdin, openEnd }: WrapperCall,
  { languages, modules }: Extract<Runs, { readonly how: "code" }>,
): UnwrapResult {
  const input = stdin === undefined || stdin.kind === "other" || stdin.text === undefined ? [] : [literalWord(stdin.text)];
  const texts = [...words.slice(1), ...input].flatMap((word) => languages.flatMap((language) => findCodeTexts(language, name, word)));
  return mergeResults([...texts, { inner: modules ? findModule(name, words, openEnd) : [] }]);
}

/** `-m` with or without the module, also after other letters: `-m`, `-Im`, `-mtimeit`. */
const MODULE = /^-[BbdEiIOPqsSuvx]*m([\w.]*)$/;
/** Python's options whose value may be the next word. */
const TAKES_VALUE = /^(?:-\w*[WXQ]|--check-hash-based-pycs)$/;

/** Finds the command after `-m MODULE` anywhere, or `-mMODULE` and `-Im MODULE` before the first operand. */
function findModule(name: string, words: readonly ShellWord[], openEnd: WrapperCall["openEnd"]): readonly InnerPart[] {
  const isOption = ({ value }: ShellWord, i: number, options: readonly ShellWord[]): boolean =>
    value.startsWith("-") || TAKES_VALUE.test(options[i - 1]?.value ?? "");
  const at = words.findIndex(({ value }, i) => i > 0 && (value === "-m" || (MODULE.test(value) && words.slice(1, i).every(isOption))));
  const attached = MODULE.exec(words[at]?.value ?? "")?.[1] ?? "";
  const command = [...(attached === "" ? [] : [literalWord(attached)]), ...words.slice(at + 1)];
  return at > 0 && command.length > 0 ? [{ label: `${name} -m`, words: command, from: 0, openEnd }] : [];
}

/** The commands in a script of another language. */
export function findCodeTexts(language: Language, name: string, word: ShellWord): readonly UnwrapResult[] {
  if (language === "sed") return findSedTexts(name, word.value);
  if (language !== "javascript") return LANGUAGES[language].flatMap((pattern) => matchedTexts(name, word, pattern));
  return STARTS_PROGRAMS.test(word.value) ? findCodeTexts("code", name, word) : [];
}

const SED_ADDRESS = "(?:\\d+(?:~\\d+)?|\\$|/(?:\\\\.|[^\\\\/\\n])*/[IM]*)";

/** An address, then a substitution with its flags, the text of `e`, or another command. */
const SED_COMMAND = new RegExp(
  `[\\s;{}]*(?:${SED_ADDRESS}(?:\\s*,\\s*(?:[+~]\\d+|${SED_ADDRESS}))?[\\s!]*)?` +
    "(?:s([^\\s\\\\])(?:\\\\.|(?!\\1)[^\\\\])*\\1((?:\\\\.|(?!\\1)[^\\\\])*)\\1(\\w*)|e[ \\t]*([^\\n]*)|[aicrRwWbtT:][^\\n]*|[\\w=])",
  "gy",
);

function findSedTexts(name: string, value: string): readonly UnwrapResult[] {
  const text = value.replace(/^(?:--[a-z]+=|-[nErsuz]*e)/, "");
  return [...text.matchAll(SED_COMMAND)].flatMap(([, , instead = "", flags = "", run = ""]) => {
    const ran = flags.includes("e") ? instead : run;
    return ran === "" ? [] : [foreignText(name, literalWord(ran))];
  });
}

function matchedTexts(label: string, word: ShellWord, pattern: RegExp): readonly UnwrapResult[] {
  return [...word.value.matchAll(pattern)].map((match) => {
    const text = match.slice(1).findLast((group) => group !== undefined) ?? "";
    const list = [...text.matchAll(/["']([^"']*)["']/g)].map(([, one = ""]) => literalWord(one));
    const isList = list.length > 0 && /^[[(]?\s*["']/.test(text);
    return foreignText(label, isList ? joinWords(list) : literalWord(text.replaceAll(/\\(["'\\/])/g, "$1")));
  });
}

/** A text may not be a script (`run("don't")`): if a shell can't parse it, its words count without doubt. */
function foreignText(label: string, word: ShellWord): UnwrapResult {
  const tree = parseBash(word.value);
  if (tree && !tree.errors) return asScript(label, word);
  return { inner: splitTolerant(word.value).map((words) => ({ label, words, from: 0 })) };
}
