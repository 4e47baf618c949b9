import type { PlanWord } from "../plan/plan.ts";
import { type OptionLists, optionsOf, splitNames } from "../programs/options.ts";
import { type Reach, type Subcommand, TEMPLATE_HOOKS, type Writes } from "../programs/program.ts";
import { PROGRAMS } from "../programs/table.ts";
import { isOneWord } from "../read/bash-tree.ts";
import { commandName } from "../read/command-name.ts";
import type { SeenCommand } from "../walk/seen-command.ts";
import { type CommandWords, commandWords, isGiven, valuesFor, valuesOf } from "./command-words.ts";

/** What happens to a directory that is the target: it is kept, replaced, or filled if it exists. */
export type DirectoryFate = "kept" | "replaced" | "filled";

/** A path that a command would change, or would read with everything below it. */
export type WriteTarget = {
  readonly path: string;
  readonly dynamic: boolean;
  readonly use: "write" | "read";
  readonly reach: Reach;
  readonly fate: DirectoryFate;
};

/** Finds what a command would write by its words and redirections. Read broadly: it proves nothing safe. */
export function findWriteTargets(seen: SeenCommand): readonly WriteTarget[] {
  const found = seen.redirections.length === 0 ? programTargets(seen) : [...redirectionTargets(seen), ...programTargets(seen)];
  return found.length === 0 ? found : found.filter(({ path }) => path !== "" && path !== "-");
}

/** A program's name as deny rules compare it. */
export function programName({ argv }: SeenCommand): string {
  return commandName(argv[0]?.text ?? "");
}

/** `>&2` and `>&-` open no file. */
function redirectionTargets({ redirections }: SeenCommand): readonly WriteTarget[] {
  return redirections
    .filter(({ op, target }) => op.includes(">") && !(op.endsWith("&") && /^(?:\d+-?|-)$/.test(target)))
    .map(({ target, dynamic }) => writeTo({ text: target, dynamic }));
}

function programTargets(seen: SeenCommand): readonly WriteTarget[] {
  const { subcommands, writes } = PROGRAMS.get(programName(seen)) ?? {};
  const words = seen.argv.slice(1);
  if (subcommands) return subcommandTargets(subcommands, words, seen.openEnd);
  return writes ? targetsOf(writes, words, seen.openEnd) : NO_TARGETS;
}

const NO_TARGETS: readonly WriteTarget[] = [];
const WRITES_NOTHING: Writes = {};

const BEFORE_SUBCOMMAND: OptionLists = {
  options: `-C= -c= --git-dir= --work-tree= --namespace= --exec-path= --config-env= --prefix= --cwd= --dir= --manifest-path= --color= -w= --workspace=
    --filter=`,
};
const DIRECTORY_OPTIONS = ["-C", "--work-tree", "--prefix", "--cwd", "--dir"];

/** A directory among the options before the subcommand is where the rest happens. */
function subcommandTargets(
  subcommands: Readonly<Record<string, Subcommand>>,
  words: readonly PlanWord[],
  openEnd: boolean,
): readonly WriteTarget[] {
  const takesValue = (text: string): boolean => optionsOf(BEFORE_SUBCOMMAND).has(text);
  let at = 0;
  while (words[at]?.text.startsWith("-")) at += takesValue(words[at]?.text ?? "") ? 2 : 1;
  const name = words[at]?.text ?? "";
  const command = (Object.hasOwn(subcommands, name) && subcommands[name]?.writes) || WRITES_NOTHING;
  const targets = targetsOf(command, words.slice(at + 1), openEnd);
  if (at === 0) return targets;
  const before = commandWords(words.slice(0, at), BEFORE_SUBCOMMAND);
  const all = [
    ...targets,
    ...configuredTargets(command, before),
    ...(command.makes ? valuesOf(before, ["--git-dir"]).map((word) => writeInto(word)) : []),
  ];
  const directory = valuesOf(before, DIRECTORY_OPTIONS).at(-1);
  if (!directory) return all;
  return [...(command.makes ? [writeInto(directory)] : []), ...all.map((target) => inDirectory(directory, target))];
}

/** Template hooks and trace files that git writes because of `-c` settings. */
function configuredTargets({ makes, operands }: Writes, before: CommandWords): readonly WriteTarget[] {
  const isNew = makes === true || operands === "cloned";
  return valuesOf(before, ["-c", "--config-env"]).flatMap(({ text, dynamic }) => {
    const [key = "", value = ""] = text.split(/=(.*)/s);
    if (isNew && key.toLowerCase() === "init.templatedir") return [writeTo({ text: TEMPLATE_HOOKS, dynamic: false })];
    return TRACE_TARGET.test(key) && /^[/~$"']/.test(value) ? [writeTo({ text: value, dynamic })] : [];
  });
}

const TRACE_TARGET = /^trace2\.(?:normal|perf|event)target$/i;

function inDirectory(directory: PlanWord, target: WriteTarget): WriteTarget {
  const { text, dynamic } = joinPath(directory, { text: target.path, dynamic: target.dynamic });
  return { ...target, path: text, dynamic };
}

function targetsOf(command: Writes, words: readonly PlanWord[], openEnd: boolean): readonly WriteTarget[] {
  const { assigned, script } = command;
  const read = readWords(command, command.bare ? withDash(words) : words);
  const targets = [
    ...valuesFor(read, "file").map((word) => writeTo(word)),
    ...valuesFor(read, "place").map((word) => writeInto(word)),
    ...splitNames(assigned).flatMap((name) => assignedTargets(openEnd ? [...words, UNKNOWN] : words, name)),
    ...(script ? words.flatMap((word) => scriptTargets(word, script)) : []),
  ];
  const other = command.modes?.find(({ given }) => isGiven(read, given))?.does;
  const meant = other ? { ...command, ...other } : command;
  return writesOperands(meant, read) ? [...targets, ...allOperandTargets(meant, read, words, openEnd)] : targets;
}

function readWords(command: Writes, words: readonly PlanWord[]): CommandWords {
  const read = commandWords(words, command, command.leads !== undefined);
  return splitNames(command.leads).includes(read.operands[0]?.text ?? "") ? commandWords(words, command) : read;
}

function allOperandTargets(command: Writes, read: CommandWords, words: readonly PlanWord[], openEnd: boolean): readonly WriteTarget[] {
  const open: readonly PlanWord[] = openEnd && command.operands ? [UNKNOWN] : [];
  const here = command.makes && read.operands.length === 0 && !openEnd ? [HERE] : [];
  const all: CommandWords = { ...read, operands: [...read.operands, ...open, ...here] };
  const targets = operandTargets(command, all, words);
  return [
    ...(command.fixed ?? []).map((text) => writeTo({ text, dynamic: false })),
    ...(command.keeps ? targets.map((target): WriteTarget => ({ ...target, fate: "kept" })) : targets),
    ...spreadTargets(command, all),
  ];
}

function writesOperands({ only, least = Number.POSITIVE_INFINITY, never }: Writes, read: CommandWords): boolean {
  return (!only || isGiven(read, only) || read.operands.length >= least) && !isGiven(read, never);
}

const UNKNOWN: PlanWord = Object.freeze({ text: "$", dynamic: true });
const HERE: PlanWord = Object.freeze({ text: ".", dynamic: false });

function operandTargets(command: Writes, read: CommandWords, words: readonly PlanWord[]): readonly WriteTarget[] {
  const { operands } = read;
  const reach: Reach = isDeep(command, read) ? "all" : "self";
  switch (command.operands) {
    case undefined:
      return [];
    case "all":
      return operands.map((word) => writeTo(word, reach));
    case "first":
      return operands.slice(0, 1).map((word) => writeTo(word));
    case "second":
      return operands.slice(1, 2).map((word) => writeTo(word));
    case "after-first":
      return operands.slice(1).map((word) => writeTo(word));
    case "last":
      return lastOperand(operands).map((word) => writeTo(word));
    case "cloned":
      return (operands.length > 1 ? operands.slice(1, 2) : operands.map(cloneName)).map((word) => writeTo(word, "new"));
    case "starts":
      return startsOf(words).map((word) => writeInto(word, "some"));
    case "names":
      return directoriesOf(read).flatMap((directory) => operands.map((word) => writeTo(joinPath(directory, nameOf(word)))));
    case "to":
    case "from-to":
      return copyTargets(command, read, reach);
    default:
      return command.operands satisfies never;
  }
}

/** The destination and the sources' names in it. Copying the content of a directory writes unknown names. */
function copyTargets(command: Writes, read: CommandWords, reach: Reach): readonly WriteTarget[] {
  const { destinations, sources } = findCopyEnds(command, read);
  if (destinations.length === 0 && sources.concat(read.operands).some(({ dynamic }) => dynamic)) return [writeTo(UNKNOWN)]; // it may become several words
  const isExact = isGiven(read, command.exact);
  const merges = command.operands === "to" && isExact;
  const spreads = merges || sources.some(({ text }) => /(?:^|\/)(?:\.{0,2})$/.test(text));
  const fate: DirectoryFate = isExact && !merges ? "replaced" : "filled";
  const called = isGiven(read, command.whole) ? (word: PlanWord): PlanWord => word : nameOf;
  const linked = command.alone ? destinations.flatMap((place) => sources.flatMap((source) => linkTargets(place, source))) : [];
  const names = sources.map(called).filter(({ text }) => !/^\.{0,2}$/.test(text));
  return [
    ...sources.flatMap((word) => sourceTargets(command, word, reach)),
    ...linked,
    ...destinations.flatMap((directory) => [
      { ...writeTo(directory, spreads ? "some" : "self"), fate },
      ...names.map((name) => writeTo({ text: `${directory.text}/${name.text}`, dynamic: directory.dynamic || name.dynamic })),
    ]),
  ];
}

/** The target of a symbolic link is relative to the link's directory. */
function linkTargets(place: PlanWord, source: PlanWord): readonly WriteTarget[] {
  if (source.text.startsWith("/") || !source.text.split("/").includes("..")) return []; // otherwise it stays below the link's directory, which is checked anyway
  const above: PlanWord = { ...place, text: place.text.includes("/") ? place.text.replace(/\/[^/]*\/*$/, "") || "/" : "." };
  return [above, place].filter(({ text }) => text !== ".").map((directory) => writeInto(joinPath(directory, source), "some"));
}

type CopyEnds = { readonly sources: readonly PlanWord[]; readonly destinations: readonly PlanWord[] };

function findCopyEnds({ alone }: Writes, read: CommandWords): CopyEnds {
  const { operands } = read;
  const given = valuesFor(read, "into");
  if (given.length > 0) return { sources: operands, destinations: given };
  if (alone && operands.length === 1) return { sources: operands, destinations: [HERE] };
  return { sources: operands.slice(0, -1), destinations: lastOperand(operands) };
}

/** None if there is only one operand. */
function lastOperand(operands: readonly PlanWord[]): readonly PlanWord[] {
  return operands.slice(1).slice(-1);
}

/** A source is moved away, linked, or read whole. */
function sourceTargets({ operands, alone }: Writes, word: PlanWord, reach: Reach): readonly WriteTarget[] {
  if (alone) return [writeInto(word, "some")];
  if (operands === "from-to") return [writeTo(word, reach)];
  return reach === "all" ? [{ ...writeInto(word, reach), use: "read" }] : [];
}

function spreadTargets(command: Writes, read: CommandWords): readonly WriteTarget[] {
  return command.spreads ? directoriesOf(read).map((word) => writeInto(word, "some")) : [];
}

function directoriesOf(read: CommandWords): readonly PlanWord[] {
  const given = valuesFor(read, "into");
  return given.length > 0 ? given : [HERE];
}

function isDeep({ deep }: Writes, read: CommandWords): boolean {
  return deep === "*" || isGiven(read, deep);
}

function writeTo(word: PlanWord, reach: Reach = "self"): WriteTarget {
  return { path: word.text, dynamic: word.dynamic, use: "write", reach, fate: "replaced" };
}

function writeInto(word: PlanWord, reach: Reach = "self"): WriteTarget {
  return { ...writeTo(word, reach), fate: "kept" };
}

function startsOf(words: readonly PlanWord[]): readonly PlanWord[] {
  const end = words.findIndex(({ text }) => /^(?:-[^HLPDO]|[(!])/.test(text));
  const starts = (end === -1 ? words : words.slice(0, end)).filter(({ text }) => !text.startsWith("-"));
  return starts.length > 0 ? starts : [HERE];
}

function withDash([first, ...rest]: readonly PlanWord[]): readonly PlanWord[] {
  if (!first) return [];
  return /^[A-Za-z]+$/.test(first.text) ? [{ ...first, text: `-${first.text}` }, ...rest] : [first, ...rest];
}

/** The last name of a path or URL; unknown if a shell has to resolve it. */
function nameOf({ text, dynamic }: PlanWord): PlanWord {
  if (dynamic && !KNOWN_START.test(text)) return UNKNOWN;
  const path = text.includes("://") ? (text.split(/[?#]/, 1)[0] ?? "") : text;
  const [name = ""] = path
    .replace(/\/*"?$/, "")
    .split(/[/:]/)
    .slice(-1);
  return { text: name, dynamic: false };
}

/** Words of which only the start needs a shell. */
const KNOWN_START = /^(?:~|"?\$(?:PWD|HOME|\{PWD\}|\{HOME\})"?)\/[\w.@%+/-]+"?$/;

function cloneName(word: PlanWord): PlanWord {
  const { text, dynamic } = nameOf(word);
  return { text: text.replace(/\.git$/, ""), dynamic };
}

function joinPath(directory: PlanWord, { text, dynamic }: PlanWord): PlanWord {
  const path = text.startsWith("/") ? text : `${directory.text}/${text}`;
  return { text: path, dynamic: dynamic || directory.dynamic };
}

function assignedTargets(words: readonly PlanWord[], name: string): readonly WriteTarget[] {
  const start = `${name}=`;
  return words.flatMap((word) => {
    const { text, dynamic } = word;
    if (text.startsWith(start)) return [writeTo({ text: text.slice(start.length), dynamic })];
    return mayBecome(word, start) ? [writeTo(UNKNOWN)] : [];
  });
}

/** Whether an expansion may begin like this, or give a word that does. */
function mayBecome({ text, dynamic }: PlanWord, start: string): boolean {
  if (!dynamic) return false;
  const [known = ""] = text.replace(/["'\\]/g, "").split(/[$`*?[{(<>]/, 1);
  return start.startsWith(known) || (/[$`*?[{]/.test(text) && !isOneWord(text));
}

function scriptTargets({ text }: PlanWord, pattern: RegExp): readonly WriteTarget[] {
  return [...text.matchAll(pattern)].flatMap(([, file]) => (file === undefined ? [] : [writeTo({ text: file, dynamic: false })]));
}
