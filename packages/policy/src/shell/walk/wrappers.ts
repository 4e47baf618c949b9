import type { Hazard } from "../plan/plan.ts";
import { type OptionScan, type OptionTable, optionTable, scanOptions, type WrapperSpec } from "../programs/option-scan.ts";
import { hasSubscript, isOneWord, literalWord, maySplit, type ShellWord } from "../read/bash-tree.ts";
import { commandName } from "../read/command-name.ts";
import { splitBlanks } from "../read/tolerant-split.ts";
import {
  LOADER,
  LOADER_SPEC,
  OPTION_COMMANDS,
  SCRIPT_PROGRAMS,
  TEXT_TAKERS,
  unwrapGdb,
  unwrapOptions,
  unwrapProgram,
  unwrapSsh,
  unwrapTexts,
  VERSIONED,
} from "./wrappers/command-texts.ts";
import { unwrapGit } from "./wrappers/git.ts";
import { PACKAGE_RUNNERS, type Runner } from "./wrappers/package-runners.ts";
import { MULTIPLEXERS, PREFIX_COMMANDS } from "./wrappers/prefix-commands.ts";
import { SCRIPT_BUILTINS, SETTERS, SUBSCRIPT_BUILTINS, variableScript } from "./wrappers/script-texts.ts";
import { unwrapFind, unwrapParallel, unwrapXargs } from "./wrappers/searches.ts";
import { READERS, SHELL_OPTIONS, SHELLS } from "./wrappers/shells.ts";
import {
  directoryOf,
  ELSEWHERE,
  type Inner,
  joined,
  movedTo,
  type Surroundings,
  scriptOf,
  together,
  type Unwrapped,
  type Wrapping,
} from "./wrappers/unwrapped.ts";

/** Everything that a command would run on behalf of its words. Undefined: it is no wrapper. */
export function unwrap(words: readonly ShellWord[], { stdin, openEnd }: Surroundings): Unwrapped | undefined {
  const first = words[0];
  if (!first || first.word.dynamic) return undefined;
  const name = commandName(first.value);
  const run = WRAPPERS.get(name) ?? wrapperLike(name);
  if (!(run || RUNNING.has(name))) return undefined;
  const inside = run?.({ name, words, stdin, openEnd });
  const subscripted = SUBSCRIPT_BUILTINS.has(name) ? [{ inner: subscripts(words) }] : NONE;
  const set = SETTERS.has(name) ? variables(words) : NONE;
  return subscripted.length + set.length === 0 ? inside : together([...(inside ? [inside] : NONE), ...subscripted, ...set]);
}

const NONE: readonly Unwrapped[] = [];

/** Wrappers whose names have versions in them. */
function wrapperLike(name: string): Unwrap | undefined {
  if (LOADER.test(name)) return bySpec(LOADER_SPEC);
  return VERSIONED.test(name) ? unwrapProgram : undefined;
}

type Unwrap = (wrapping: Wrapping) => Unwrapped;

/** Before the command that a wrapper runs no word may be several: one of them would be the command. */
function inPlace(run: Unwrap): Unwrap {
  return (wrapping) => {
    const { name, words } = wrapping;
    const found = run(wrapping);
    const from = found.inner.reduce(
      (least, one) => ("from" in one && one.words[0] === words[0] ? Math.min(least, one.from) : least),
      words.length,
    );
    if (!words.slice(1, from).some(({ word }) => word.dynamic && maySplit(word.text))) return found;
    return { ...found, doubts: [...(found.doubts ?? []), `which word is the command of ${name} is not known before it runs`] };
  };
}

function bySpec(spec: WrapperSpec): Unwrap {
  return (wrapping) => {
    const table = tableOf(spec);
    return insideOf({ wrapping, table, scan: scanOptions(table, wrapping.words, 1), label: wrapping.name });
  };
}

type Scanned = { readonly wrapping: Wrapping; readonly table: OptionTable; readonly scan: OptionScan; readonly label: string };

function insideOf(scanned: Scanned): Unwrapped {
  return movedTo(directoryOf(scanned.table, scanned.scan), textsOf(scanned));
}

/** The scripts among the options' values, then the command or script at the end. */
function textsOf(scanned: Scanned): Unwrapped {
  const { wrapping, table, scan, label } = scanned;
  const { words } = wrapping;
  if (scan.found.some(({ kind }) => kind === "inert")) return NOTHING;
  const texts = scan.found.flatMap(({ kind, value }) => (kind === "script" && value ? [scriptOf(label, value)] : []));
  const split = scan.found.find(({ kind }) => kind === "split");
  if (split?.value) {
    const before = [words[0] ?? literalWord(label), ...splitBlanks(split.value.value)];
    return together([...texts, { inner: [{ label, words: [...before, ...words.slice(split.next)], from: 0 }] }]);
  }
  const rests = scan.starts.map((start) => restAt(scanned, start));
  const found = together(texts.length === 0 ? rests : [...texts, ...rests]);
  if (found.inner.length > 0) return found;
  if (wrapping.openEnd) return { inner: [], doubts: [`what ${label} runs is not known before it runs`] };
  return table.spec.shell ? readsInput(wrapping, undefined) : NOTHING;
}

function restAt({ wrapping: { words, openEnd }, table, scan, label }: Scanned, start: number): Unwrapped {
  const rest = scan.found.some(({ kind }) => kind === "scriptFlag") ? "text" : (table.spec.rest ?? "command");
  const first = words[start];
  if (rest === "nothing" || !first) return NOTHING;
  if (rest === "command") return { inner: [{ label, words, from: start, openEnd, guess: scan.starts.length > 1 }] };
  return scriptOf(label, rest === "text" ? first : joined(words.slice(start)));
}

const NOTHING: Unwrapped = { inner: [] };
const SHELL_TABLE = optionTable(SHELL_OPTIONS);

/** `-c TEXT`, else the text on the shell's input where no file is named. */
function unwrapShell(wrapping: Wrapping): Unwrapped {
  const { name, words } = wrapping;
  const scan = scanOptions(SHELL_TABLE, words, 1);
  if (scan.found.some(({ kind }) => kind === "inert")) return NOTHING;
  const inside = insideOf({ wrapping, table: SHELL_TABLE, scan, label: `${name} -c` });
  const readsToo = scan.found.some(({ option }) => option === "-s");
  if (scan.found.some(({ kind }) => kind === "scriptFlag" || kind === "script")) {
    const isKnown = scan.starts.length > 0 || inside.inner.length > 0;
    const text = isKnown ? inside : { inner: [], doubts: [`${name} -c gets its text from elsewhere`] };
    return readsToo ? together([text, readsInput(wrapping, undefined)]) : text;
  }
  return together([inside, readsInput(wrapping, readsToo ? undefined : words[scan.starts[0] ?? words.length])]);
}

/** `source FILE` reads like a shell that is given a file. */
function unwrapReader(wrapping: Wrapping): Unwrapped {
  const file = wrapping.words[wrapping.words[1]?.value === "--" ? 2 : 1];
  return file ? readsInput(wrapping, file) : NOTHING;
}

const INPUT_FILE = /^\/(?:dev\/stdin|dev\/fd\/\d+|proc\/self\/fd\/\d+)$/;

function readsInput({ name, stdin }: Wrapping, file: ShellWord | undefined): Unwrapped {
  if (file?.word.dynamic)
    return isFile(name, file.word.text) ? NOTHING : { inner: [], doubts: [`what ${name} would run is not known before it runs`] };
  if (file && !INPUT_FILE.test(file.value)) return NOTHING;
  if (stdin?.kind === "pipe") {
    const inner = stdin.text === undefined ? [] : [{ label: "pipe", script: stdin.text }];
    return { inner, doubts: [`${name} reads its program from a pipe`], hazards: [PIPE] };
  }
  if (stdin?.kind !== "text") return NOTHING;
  const doubts = stdin.literal ? [] : [`the text that ${name} reads is not known before it runs`];
  return { inner: [{ label: "heredoc", script: stdin.text }], doubts };
}

/** Whether an unknown word is at least the name of a file: no output of a command, and for a shell no option. */
function isFile(name: string, text: string): boolean {
  if (/[<>$]\(|`/.test(text)) return false;
  return READERS.includes(name) || isOneWord(text) || /^~[\w./-]*$/.test(text);
}

const PIPE: Hazard = { id: "pipe_to_shell", text: "a shell reads its program from a pipe" };

/** The words of `eval` are joined by blanks and read again. */
function unwrapEval({ name, words }: Wrapping): Unwrapped {
  const rest = words.slice(words[1]?.value === "--" ? 2 : 1);
  return rest.length === 0 ? NOTHING : scriptOf(name, joined(rest));
}

/** `alias x=TEXT`: the text is what `x` will run. */
function unwrapAlias({ name, words }: Wrapping): Unwrapped {
  const texts = words.slice(1).filter(({ value }) => value.includes("="));
  return together(texts.map(({ word, value, hazards }) => scriptOf(name, { word, value: value.slice(value.indexOf("=") + 1), hazards })));
}

/** `bind -x '"KEY": TEXT'`. */
function unwrapBind(wrapping: Wrapping): Unwrapped {
  const { inner, ...rest } = bySpec(SCRIPT_BUILTINS["bind"] ?? {})(wrapping);
  return {
    ...rest,
    inner: inner.map((one) => ("script" in one ? { ...one, script: one.script.replace(/^\s*(?:"[^"]*"|[^:]*):/, "") } : one)),
  };
}

/** `jobs -x COMMAND`. */
function unwrapJobs({ name, words }: Wrapping): Unwrapped {
  return words[1]?.value === "-x" ? { inner: [{ label: name, words, from: 2 }] } : NOTHING;
}

/** A subscript in a word of a builtin is evaluated, quoted or not. */
function subscripts(words: readonly ShellWord[]): readonly Inner[] {
  return words.filter(({ value }) => hasSubscript(value)).map(({ value }) => ({ label: "[]", script: `: ${value}` }));
}

/** A variable among the words whose value is run. */
function variables(words: readonly ShellWord[]): readonly Unwrapped[] {
  return words.flatMap((word) => {
    const name = /^\w+(?==)/.exec(word.value)?.[0] ?? "";
    const script = name === "" ? undefined : variableScript(name, word.value.slice(name.length + 1));
    return script === undefined ? [] : [scriptOf(`${name}=`, { ...word, value: script })];
  });
}

const TABLES = new WeakMap<WrapperSpec, OptionTable>();

/** Made when such a command is first met: there are hundreds, and most sessions meet few. */
function tableOf(spec: WrapperSpec): OptionTable {
  const table = TABLES.get(spec) ?? optionTable(spec);
  TABLES.set(spec, table);
  return table;
}

function byRunners(runners: readonly Runner[]): Unwrap {
  return (wrapping) => {
    const { name, words } = wrapping;
    for (const { words: before, spec } of runners) {
      const from = behind(words, before);
      if (from === undefined) continue;
      const table = tableOf(spec);
      const found = insideOf({ wrapping, table, scan: scanOptions(table, words, from), label: [name, ...before].join(" ") });
      const directory = words.slice(1, from).some(({ value }) => RUNS_ELSEWHERE.test(value)) ? ELSEWHERE : undefined;
      return movedTo(directory, { ...found, inner: found.inner.map(withoutVersion) });
    }
    return NOTHING;
  };
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

/** `at` and `batch` run the commands on their input. */
function unwrapLater(wrapping: Wrapping): Unwrapped {
  return readsInput(wrapping, undefined);
}

const WRAPPERS: ReadonlyMap<string, Unwrap> = new Map<string, Unwrap>([
  ...Object.entries(OPTION_COMMANDS).map(([name, spec]) => [name, unwrapOptions(spec)] as const),
  ...TEXT_TAKERS.map((name) => [name, unwrapTexts] as const),
  ...Object.keys(SCRIPT_PROGRAMS).map((name) => [name, unwrapProgram] as const),
  ...["ssh", "scp", "sftp", "autossh", "slogin"].map((name) => [name, unwrapSsh] as const),
  ...["at", "batch"].map((name) => [name, unwrapLater] as const),
  ["gdb", unwrapGdb],
  ["lldb", unwrapGdb],
  ...Object.entries({ ...PREFIX_COMMANDS, ...MULTIPLEXERS }).map(([name, spec]) => [name, inPlace(bySpec(spec))] as const),
  ...Object.entries(SCRIPT_BUILTINS).map(([name, spec]) => [name, bySpec(spec)] as const),
  ...Object.entries(PACKAGE_RUNNERS).map(([name, runners]) => [name, byRunners(runners)] as const),
  ...SHELLS.map((name) => [name, unwrapShell] as const),
  ...READERS.map((name) => [name, unwrapReader] as const),
  ["eval", unwrapEval],
  ["alias", unwrapAlias],
  ["bind", unwrapBind],
  ["jobs", unwrapJobs],
  ["xargs", inPlace(unwrapXargs)],
  ["find", unwrapFind],
  ["fd", unwrapFind],
  ["fdfind", unwrapFind],
  ["parallel", inPlace(unwrapParallel)],
  ["git", unwrapGit],
]);

/** Every name under which something inside is looked for. */
const RUNNING: ReadonlySet<string> = new Set([...WRAPPERS.keys(), ...SUBSCRIPT_BUILTINS, ...SETTERS]);
