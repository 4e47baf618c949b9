import { statSync } from "node:fs";
import { resolve } from "node:path";
import { expandGlobs } from "../effects/expand-glob.ts";
import { findWorkingDirectories } from "../effects/working-directories.ts";
import { effectsOf } from "../programs/table.ts";
import type { PlainCommand, PlainWord } from "../read/strict-reader.ts";
import type { Hazard } from "./plan.ts";
import type { PlacedCommand, ShellPlace } from "./read-commands.ts";

/** Gives each plain command its directory and its final words: known variables replaced, patterns expanded, `git -C` followed. */
export function placeCommands(commands: readonly PlainCommand[], place: ShellPlace): readonly PlacedCommand[] {
  const move = (target: string, from: string): string | null => resolveMove(target, from, place);
  const directories = findWorkingDirectories(commands, place.cwd, move);
  let source: string | undefined;
  return commands.map((command, i) => {
    if (command.join !== "|") source = undefined;
    const placed = placeCommand(command, directories[i] ?? null, place);
    const fed = source === undefined ? {} : { feeder: source };
    source ??= placed.argv[0];
    return { ...placed, ...fed };
  });
}

function placeCommand(command: PlainCommand, cwd: string | null, place: ShellPlace): PlacedCommand {
  const plain: PlacedCommand = { command, argv: command.words.map(({ text }) => text), cwd, expanded: false };
  if (command.input !== undefined && (command.join === "|" || plain.argv[0] === "cd" || !isThere(command.input, cwd)))
    return { ...plain, refused: { id: "redirection", text: `${command.input} can't be the command's input` } };
  const words = replaceVariables(command.words, { ...place, cwd: cwd ?? place.cwd });
  if ("refused" in words) return { ...plain, ...words };
  const changed = words.words !== command.words;
  const moved = followGitDirectory({ ...plain, argv: words.words.map(({ text }) => text), expanded: changed }, place);
  if (!command.words.some(({ glob }) => glob)) return moved;
  if (moved.cwd !== cwd) return { ...plain, refused: { id: "brace_or_glob", text: "A pattern is used together with git -C" } };
  const found = expandGlobs(words.words, { ...place, cwd: cwd ?? place.cwd });
  return "argv" in found ? { ...plain, argv: found.argv, expanded: true, patterns: true } : { ...plain, ...found };
}

/** Without the file, a shell would not start the command. */
function isThere(file: string, cwd: string | null): boolean {
  return cwd !== null && (statSync(resolve(cwd, file), { throwIfNoEntry: false })?.isFile() ?? false);
}

type ReplacedWords = { readonly words: readonly PlainWord[] } | { readonly refused: Hazard };

/** A value that a shell would split or expand again, or that isn't known, is refused. */
function replaceVariables(words: readonly PlainWord[], place: ShellPlace): ReplacedWords {
  if (!words.some(({ raw }) => raw !== undefined)) return { words };
  let unknown: string | undefined;
  const knownValue = (name: string): string => {
    const value = variableValue(name, place);
    if (value === undefined || !/^[\w./:@+,-]+$/.test(value)) unknown = name;
    return value ?? "";
  };
  const replaced = words.map((word) => ({ ...word, text: word.text.replace(/\0(\w+)\0/g, (_, name: string) => knownValue(name)) }));
  if (unknown !== undefined) return { refused: { id: "expansion", text: `Assent doesn't know a plain value of ${unknown}` } };
  return { words: replaced };
}

/** The strict reader accepts only variables that are listed here or come from the environment and are no secrets. */
function variableValue(name: string, { cwd, home }: ShellPlace): string | undefined {
  if (name === "HOME") return home;
  return name === "PWD" ? cwd : process.env[name];
}

/** `git -C DIR …` is the rest of the command in that directory, if it only reads. */
function followGitDirectory(placed: PlacedCommand, place: ShellPlace): PlacedCommand {
  const [name, option, target, ...rest] = placed.argv;
  if (name !== "git" || option !== "-C" || target === undefined || target === "" || placed.cwd === null) return placed;
  const cwd = effectsOf(name, rest)?.class === "read" ? resolveMove(target, placed.cwd, place) : null;
  return cwd === null ? placed : { ...placed, argv: [name, ...rest], cwd, expanded: true };
}

function resolveMove(target: string, from: string, { look }: ShellPlace): string | null {
  const { inside, real, hazards } = look(target, from);
  if (!inside || real === null || hazards.length > 0 || target === "-" || target.startsWith("~")) return null;
  try {
    return statSync(real).isDirectory() ? resolve(from, target) : null;
  } catch {
    return null;
  }
}
