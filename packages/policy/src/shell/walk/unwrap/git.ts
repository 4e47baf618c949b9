import { optionsOf } from "../../programs/options.ts";
import { PROGRAMS } from "../../programs/table.ts";
import type { ShellWord } from "../../read/bash-tree.ts";
import {
  asScript,
  ELSEWHERE,
  isPlain,
  joinWords,
  mergeResults,
  NOTHING,
  type UnwrapResult,
  type WrapperCall,
  withDirectory,
} from "./unwrapped.ts";

const GIT_RUNNERS: readonly (readonly [sub: string, action: string])[] = [
  ["submodule", "foreach"],
  ["bisect", "run"],
];

const GIT_SCRIPT_KEYS: RegExp =
  /^(?:core\.(?:pager|editor|sshcommand|fsmonitor|askpass|gitproxy|alternaterefscommand)|diff\.external|sequence\.editor|pager\..+|gpg\.(?:.+\.)?program|credential\.(?:.+\.)?helper|uploadpack\.packobjectshook|interactive\.difffilter|imap\.tunnel|gpg\.ssh\.defaultkeycommand|sendemail\.(?:.+\.)?(?:smtpserver|\w+cmd)|.+\.(?:textconv|command|cmd|clean|smudge|process|driver|path|uploadpack|receivepack|vcs))$/;

const SCRIPT_OPTIONS: ReadonlyMap<string, readonly string[]> = new Map(
  Object.entries(PROGRAMS.get("git")?.subcommands ?? {}).flatMap(([name, { runs }]) =>
    runs ? [[name, [...optionsOf({ options: runs }).keys()]] as const] : [],
  ),
);

/** Texts that git runs: aliases, configured commands, and options that name a program. */
export function unwrapGit({ words }: WrapperCall): UnwrapResult {
  if (!words.some(({ value }) => TELLING.has(value) || /^(?:--conf|ext::)/.test(value))) return NOTHING;
  const isElsewhere = words.some(({ value }) => AWAY.test(value));
  return withDirectory(
    isElsewhere ? ELSEWHERE : undefined,
    mergeResults([...findConfigured(words), ...findRunners(words), ...findOptionScripts(words), ...findAddresses(words)]),
  );
}

/** With these git changes the directory first. */
const AWAY = /^(?:-C|--(?:git-dir|work-tree)(?:=.*)?|foreach)$/;

/** Without one of these words there is nothing to find. */
const TELLING: ReadonlySet<string> = new Set(["-c", "config", ...SCRIPT_OPTIONS.keys(), ...GIT_RUNNERS.map(([sub]) => sub)]);

function findConfigured(words: readonly ShellWord[]): readonly UnwrapResult[] {
  const found: UnwrapResult[] = [];
  words.forEach((word, i) => {
    if (word.value === "-c" || word.value === "--config") found.push(...readSetting(words[i + 1]));
    else if (word.value.startsWith("--config=")) found.push(...readSetting(partOf(word, "--config=".length)));
    else if (isKey(word.value) && words.slice(1, i).some(({ value }) => value === "config"))
      found.push(...readKeyValue(word.value, words[i + 1]));
  });
  return found;
}

function isKey(text: string): boolean {
  return /^alias\../i.test(text) || GIT_SCRIPT_KEYS.test(text.toLowerCase());
}

function readSetting(word: ShellWord | undefined): readonly UnwrapResult[] {
  const equals = word?.value.indexOf("=") ?? -1;
  return !word || equals === -1 ? [] : readKeyValue(word.value.slice(0, equals), partOf(word, equals + 1));
}

/** An alias without `!` is a subcommand. */
function readKeyValue(key: string, value: ShellWord | undefined): readonly UnwrapResult[] {
  if (!value || value.value === "" || !isKey(key)) return [];
  if (value.value.startsWith("!")) return [asScript("git alias", partOf(value, 1))];
  return [asScript(`git ${key}`, /^alias\./i.test(key) ? { ...value, value: `git ${value.value}` } : value)];
}

function partOf(word: ShellWord, from: number): ShellWord {
  return { ...word, value: word.value.slice(from) };
}

/** Git runs TEXT for the address `ext::TEXT`. */
function findAddresses(words: readonly ShellWord[]): readonly UnwrapResult[] {
  return words.filter(({ value }) => value.startsWith("ext::")).map((word) => asScript("git ext::", partOf(word, "ext::".length)));
}

function findRunners(words: readonly ShellWord[]): readonly UnwrapResult[] {
  return GIT_RUNNERS.flatMap(([sub, action]) => {
    const at = words.findIndex(({ value }) => value === sub);
    const run = at === -1 ? -1 : words.findIndex(({ value }, i) => i > at && value === action);
    const start = run === -1 ? -1 : words.findIndex(({ value }, i) => i > run && !value.startsWith("-"));
    if (start === -1) return [];
    const label = `git ${sub} ${action}`;
    const rest = words.slice(start);
    const text = rest.length === 1 || !isPlain(rest) ? [asScript(label, joinWords(rest))] : [];
    return rest.length === 1 ? text : [...text, { inner: [{ label, words: rest, from: 0 }] }];
  });
}

function findOptionScripts(words: readonly ShellWord[]): readonly UnwrapResult[] {
  const sub = words.findIndex(({ value }, i) => i > 0 && SCRIPT_OPTIONS.has(value));
  const name = words[sub]?.value ?? "";
  const options = SCRIPT_OPTIONS.get(name);
  if (sub === -1 || !options) return [];
  return words.flatMap((word, i) => {
    if (i <= sub || !word.value.startsWith("-")) return [];
    const value = scriptValue(options, word, words[i + 1]);
    return value ? [asScript(`git ${name}`, value)] : [];
  });
}

function scriptValue(options: readonly string[], word: ShellWord, next: ShellWord | undefined): ShellWord | undefined {
  const { value } = word;
  if (!value.startsWith("--")) {
    const letters = options.filter((option) => option.length === 2).map((option) => option.slice(1));
    const [before] = new RegExp(`^-[a-zA-Z]*?[${letters.join("")}]`).exec(letters.length === 0 ? "" : value) ?? []; // flags may come before it: `-ix`
    if (before === undefined) return undefined;
    return value.length === before.length ? next : partOf(word, before.length);
  }
  const equals = value.indexOf("=");
  const name = equals === -1 ? value : value.slice(0, equals);
  if (name.length < 4 || !options.some((option) => isNamed(option, name))) return undefined;
  return equals === -1 ? next : partOf(word, equals + 1);
}

function isNamed(option: string, name: string): boolean {
  return option.startsWith("--*") ? name.endsWith(option.slice(3)) : option.startsWith(name);
}
