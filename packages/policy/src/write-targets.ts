import { type CommandWords, commandWords, isGiven, valuesOf } from "./command-words.ts";
import type { PlanWord } from "./shell/plan.ts";
import type { SeenCommand } from "./shell/seen-command.ts";
import { ALSO_CALLED, type Reach, WRITING_COMMANDS, WRITING_SUBCOMMANDS, type WritingCommand } from "./write-commands.ts";

/** A path that a command would change, or would read with everything below it. A dynamic one is known up to its first sign for a shell. */
export type WriteTarget = { readonly path: string; readonly dynamic: boolean; readonly use: "write" | "read"; readonly reach: Reach };

/** What a command would write, as far as its words and redirections tell: read broadly, it proves nothing harmless. */
export function writeTargets(seen: SeenCommand): readonly WriteTarget[] {
  return [...redirected(seen), ...byProgram(seen)].filter(({ path }) => path !== "" && path !== "-");
}

/** The name of a command's program, as denies compare it. */
export function programName({ argv }: SeenCommand): string {
  const name = (argv[0]?.text ?? "").toLowerCase();
  const base = name.slice(name.lastIndexOf("/") + 1).replace(/\.exe$/, "");
  return ALSO_CALLED.get(base) ?? base;
}

/** Every operator that opens a file for writing; `>&2` and `>&-` open none. */
function redirected({ redirections }: SeenCommand): readonly WriteTarget[] {
  return redirections
    .filter(({ op, target }) => op.includes(">") && !(op.endsWith("&") && /^(?:\d+-?|-)$/.test(target)))
    .map(({ target, dynamic }) => written({ text: target, dynamic }));
}

function byProgram(seen: SeenCommand): readonly WriteTarget[] {
  const name = programName(seen);
  const words = seen.argv.slice(1);
  const below = WRITING_SUBCOMMANDS.get(name);
  if (below) return bySubcommand(below, words, seen.openEnd);
  const command = WRITING_COMMANDS.get(name);
  return command ? targetsOf(command, words, seen.openEnd) : [];
}

const GLOBAL_VALUES = ["-C", "-c", "--git-dir", "--work-tree", "--namespace", "--exec-path", "--config-env", "--prefix"];
const DIRECTORY_OPTIONS = ["-C", "--work-tree", "--prefix"];

/** Options before the sub-command are skipped; a directory among them is where the rest happens. */
function bySubcommand(below: ReadonlyMap<string, WritingCommand>, words: readonly PlanWord[], openEnd: boolean): readonly WriteTarget[] {
  let at = 0;
  while (words[at]?.text.startsWith("-")) at += GLOBAL_VALUES.includes(words[at]?.text ?? "") ? 2 : 1;
  const command = below.get(words[at]?.text ?? "");
  if (!command) return [];
  const directory = at === 0 ? undefined : valuesOf(commandWords(words.slice(0, at), GLOBAL_VALUES), DIRECTORY_OPTIONS).at(-1);
  const targets = targetsOf(command, words.slice(at + 1), openEnd);
  return directory
    ? targets.map((target) => ({
        ...written(within(directory, { text: target.path, dynamic: target.dynamic }), target.reach),
        use: target.use,
      }))
    : targets;
}

function targetsOf(command: WritingCommand, words: readonly PlanWord[], openEnd: boolean): readonly WriteTarget[] {
  const { files = [], into = [], values = [], assigned = [], fixed = [], script } = command;
  if (isOnlyFiles(command) && !words.some(({ text }) => mayName(text, files))) return [];
  const read = commandWords(command.bare ? withDash(words) : words, [...files, ...into, ...values]);
  const targets = [
    ...valuesOf(read, files).map((word) => written(word)),
    ...assigned.flatMap((name) => assignedTo(words, name)),
    ...(script ? words.flatMap((word) => named(word, script)) : []),
  ];
  if (!writesOperands(command, read)) return targets;
  const open: readonly PlanWord[] = openEnd && command.operands ? [UNKNOWN] : [];
  const all: CommandWords = { ...read, operands: [...read.operands, ...open] };
  return [
    ...targets,
    ...fixed.map((text) => written({ text, dynamic: false })),
    ...operandTargets(command, all, words),
    ...spread(command, all),
  ];
}

/** Most commands of such programs write nothing: they are not taken apart. */
function isOnlyFiles({ operands, spreads, fixed, assigned, script }: WritingCommand): boolean {
  return !(operands || spreads || fixed || assigned || script);
}

function mayName(text: string, options: readonly string[]): boolean {
  return options.some((name) => text.startsWith(name.slice(0, 3)) || (/^-[^-]/.test(text) && text.includes(name.charAt(1))));
}

function writesOperands({ only, least = Number.POSITIVE_INFINITY, never = [] }: WritingCommand, read: CommandWords): boolean {
  return (!only || isGiven(read, only) || read.operands.length >= least) && !isGiven(read, never);
}

const UNKNOWN: PlanWord = Object.freeze({ text: "$", dynamic: true });
const HERE: PlanWord = Object.freeze({ text: ".", dynamic: false });

function operandTargets(command: WritingCommand, read: CommandWords, words: readonly PlanWord[]): readonly WriteTarget[] {
  const { operands } = read;
  const reach: Reach = isDeep(command, read) ? "all" : "self";
  switch (command.operands) {
    case undefined:
      return [];
    case "all":
      return operands.map((word) => written(word, reach));
    case "first":
      return operands.slice(0, 1).map((word) => written(word));
    case "second":
      return operands.slice(1, 2).map((word) => written(word));
    case "after-first":
      return operands.slice(1).map((word) => written(word));
    case "starts":
      return startsOf(words).map((word) => written(word, "some"));
    case "names":
      return directoriesOf(command, read).flatMap((directory) => operands.map((word) => written(within(directory, nameOf(word)))));
    case "to":
    case "from-to":
      return copied(command, read, reach);
    default:
      return command.operands satisfies never;
  }
}

/** The destination, and what the sources are called in it. Copying what is in a directory writes names nobody can tell. */
function copied(command: WritingCommand, read: CommandWords, reach: Reach): readonly WriteTarget[] {
  const given = valuesOf(read, command.into ?? []);
  const destinations = given.length > 0 ? given : read.operands.slice(1).slice(-1);
  const sources = given.length > 0 ? read.operands : read.operands.slice(0, -1);
  const spreads = sources.some(({ text }) => /(?:^|\/)(?:\.{0,2})$/.test(text));
  const moved = command.operands === "from-to";
  return [
    ...sources.flatMap((word): WriteTarget[] =>
      moved ? [written(word, reach)] : reach === "all" ? [{ ...written(word, reach), use: "read" }] : [],
    ),
    ...destinations.flatMap((directory) => [
      written(directory, spreads ? "some" : "self"),
      ...sources.map((source) => written(within(directory, nameOf(source)))),
    ]),
  ];
}

function spread(command: WritingCommand, read: CommandWords): readonly WriteTarget[] {
  return command.spreads ? directoriesOf(command, read).map((word) => written(word, "some")) : [];
}

function directoriesOf({ into = [] }: WritingCommand, read: CommandWords): readonly PlanWord[] {
  const given = valuesOf(read, into);
  return given.length > 0 ? given : [HERE];
}

function isDeep({ deep = [] }: WritingCommand, read: CommandWords): boolean {
  return deep.includes("*") || isGiven(read, deep);
}

function written(word: PlanWord, reach: Reach = "self"): WriteTarget {
  return { path: word.text, dynamic: word.dynamic, use: "write", reach };
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

/** What a path or URL is called where it is put; unknown when a shell has to say. */
function nameOf({ text, dynamic }: PlanWord): PlanWord {
  if (dynamic) return UNKNOWN;
  const path = text.includes("://") ? (text.split(/[?#]/, 1)[0] ?? "") : text;
  return { text: path.replace(/\/+$/, "").split("/").at(-1) ?? "", dynamic };
}

function within(directory: PlanWord, { text, dynamic }: PlanWord): PlanWord {
  const path = text.startsWith("/") ? text : `${directory.text}/${text}`;
  return { text: path, dynamic: dynamic || directory.dynamic };
}

function assignedTo(words: readonly PlanWord[], name: string): readonly WriteTarget[] {
  return words
    .filter(({ text }) => text.startsWith(`${name}=`))
    .map(({ text, dynamic }) => written({ text: text.slice(name.length + 1), dynamic }));
}

function named({ text }: PlanWord, pattern: RegExp): readonly WriteTarget[] {
  return [...text.matchAll(pattern)].flatMap(([, file]) => (file === undefined ? [] : [written({ text: file, dynamic: false })]));
}
