import { lstatSync } from "node:fs";
import { resolve } from "node:path";
import { mayBeProxy } from "../plan/find-program.ts";
import type { CommandClass, Hazard, Operand } from "../plan/plan.ts";
import type { CommandEffects } from "../programs/reads.ts";
import { effectsOf, isOpaque } from "../programs/table.ts";
import { builtinText, changesShell } from "../read/shell-builtins.ts";
import { useFoundFiles } from "./found-files.ts";
import { inspectRepository } from "./git-repository.ts";
import { homeHazards } from "./home-settings.ts";
import { type CommandPlace, lookAtPath } from "./look-at.ts";

export type ClassifiedCommand = {
  readonly class: CommandClass;
  readonly operands: readonly Operand[];
  readonly hazards: readonly Hazard[];
  readonly words: readonly string[];
  readonly skips?: CommandEffects["skips"];
  /** Where the data of git's repository is, if not next to its files. */
  readonly gitData?: readonly string[];
  /** The commands that it runs only read. */
  readonly covers?: true;
  /** It opens files that its input names, so the names are checked on the way. */
  readonly vets?: true;
};

/** Where a command's input comes from. */
export type CommandFeed = { readonly feeder?: string; readonly command: { readonly input?: string } };

/** Tells what a literal command may do and which files it touches, by the row of its program. */
export function classify(argv: readonly string[], place: CommandPlace, feed?: CommandFeed): ClassifiedCommand {
  const [name = ""] = argv;
  const strange = nameHazards(argv);
  if (strange.length > 0) return classifyUnknown(argv, strange);
  const effects = effectsOf(name, argv.slice(1));
  if (!effects || (effects.fed && !listsNames(feed)) || !isOwnProgram(name, effects, place)) return classifyUnknown(argv, []);
  const input = feed?.command.input;
  return classifyByEffects(argv, input === undefined ? effects : { ...effects, reads: [...effects.reads, input] }, place);
}

/** The table describes a program, not a proxy of that name that may run what a file of the project says. */
function isOwnProgram(name: string, { located, class: said }: CommandEffects, { findProgram }: CommandPlace): boolean {
  const found = findProgram?.(name);
  if (located) return !findProgram || (found !== undefined && !mayBeProxy(name, found));
  return said !== "read" || !found?.byUserPath || !mayBeProxy(name, found);
}

/** Names must be one per line, which `echo` and `printf` don't ensure. */
function listsNames(feed: CommandFeed | undefined): boolean {
  if (feed?.feeder === undefined) return feed?.command.input !== undefined;
  return feed.feeder !== "echo" && feed.feeder !== "printf";
}

function nameHazards(argv: readonly string[]): readonly Hazard[] {
  const [name = ""] = argv;
  if (name.includes("/")) return [{ id: "path_program", text: `${name} is a path, not the name of an installed program` }];
  if (name === "" || changesShell(argv))
    return [{ id: "state_builtin", text: name === "" ? "The command has an empty name" : builtinText(name) }];
  return NONE;
}

const NONE: readonly Hazard[] = [];

function classifyUnknown(argv: readonly string[], hazards: readonly Hazard[]): ClassifiedCommand {
  const opaque = isOpaque(argv);
  const all: readonly Hazard[] = opaque
    ? [...hazards, { id: "opaque_program", text: `Assent doesn't know what ${argv[0]} does, so it can't predict the effect` }]
    : hazards;
  return { class: opaque ? "opaque" : "unknown", operands: [], hazards: all, words: argv };
}

function classifyByEffects(argv: readonly string[], effects: CommandEffects, place: CommandPlace): ClassifiedCommand {
  const { reads, writes, perhaps, follows = false, repository = false, runs = [], skips } = effects;
  const operands: Operand[] = [];
  const uses = runs.map(useFoundFiles);
  const unproven = uses.includes(undefined);
  if (unproven && effects.fed) return classifyUnknown(argv, []);
  const hazards: Hazard[] = [...effects.hazards, ...(unproven ? [RUNS_PROGRAM] : []), ...homeHazards(effects, place)];
  const look = (path: string, use: Operand["use"]): void => {
    const looked = lookAtPath({ path, use, follows, whole: skips !== undefined }, place);
    operands.push(looked.operand);
    hazards.push(...looked.hazards);
  };
  for (const path of [...reads, ...uses.flatMap((use) => use?.reads ?? [])]) if (isFile(path, place.cwd)) look(path, "read");
  for (const path of perhaps) if (exists(path, place.cwd) && path !== "/dev/null") look(path, "read");
  for (const path of writes) look(path, "write");
  const vets = effects.fed && uses.some((use) => use?.uses === "files");
  if (vets) hazards.push(...lookAtPath({ path: ".", use: "read", follows: false, whole: true }, place).hazards);
  const { hazards: found = [], data } = repository ? inspectRepository(place) : {};
  hazards.push(...found);
  return {
    class: provenClass({ ...effects, hazards }),
    operands,
    hazards,
    words: effects.words ?? argv,
    ...(skips && { skips }),
    ...(data && { gitData: data }),
    ...(runs.length > 0 && !unproven && { covers: true }),
    ...(vets && { vets }),
  };
}

const RUNS_PROGRAM: Hazard = { id: "runs_program", text: "-exec runs another program" };

/** `-` is the input unless a file has that name. */
function isFile(path: string, cwd: string): boolean {
  return path !== "/dev/null" && (path !== "-" || exists(path, cwd));
}

/** An option that writes or is unknown refutes `read`. */
function provenClass({ class: said, hazards }: CommandEffects): CommandClass {
  if (said !== "read" || hazards.length === 0) return said;
  if (hazards.some(({ id }) => id === "writes_file")) return "write";
  return hazards.some(({ id }) => id === "unmodelled_option" || id === "runs_program") ? "unknown" : "read";
}

/** A word that starts with `/` or `..` is a path even if it doesn't exist. */
function exists(path: string, cwd: string): boolean {
  if (/^\/|^\.\.(?:\/|$)/.test(path)) return true;
  try {
    return lstatSync(resolve(cwd, path), { throwIfNoEntry: false }) !== undefined;
  } catch {
    return true; // treat it as a path
  }
}
