import { resolve } from "node:path";
import type { JsonObject } from "@assent/core";
import type { PathLookup } from "../../paths/lookup.ts";
import { type ClassifiedCommand, classify } from "../effects/classify.ts";
import type { CommandPlace } from "../effects/look-at.ts";
import type { PlainCommand } from "../read/strict-reader.ts";
import type { SeenCommand, WalkResult } from "../walk/seen-command.ts";
import type { ProgramFinder } from "./find-program.ts";
import type { Command, Hazard } from "./plan.ts";

/** The shell of another program that runs the line as text: its environment, as far as Assent sees it. */
export type OutsideShell = {
  readonly env: Readonly<Record<string, string | undefined>>;
  /** What else the agent says about the call. */
  readonly fields?: JsonObject;
};

export type ShellPlace = {
  readonly cwd: string;
  readonly workspace: string;
  readonly home: string;
  readonly look: PathLookup;
  readonly findProgram: ProgramFinder;
  /** The file that the user's own shell would start, if it is not one that may be taken. */
  readonly findUntrusted?: (name: string) => string | undefined;
  /** Digest of a package command's script when the policy was loaded. */
  readonly scripts?: (words: readonly string[]) => string | undefined;
  /** More names of files with secrets, from settings. */
  readonly secretNames?: () => readonly string[];
  /** Another program's shell runs the line as text. */
  readonly outside?: OutsideShell;
};

/** A plain command with its directory and expanded globs. */
export type PlacedCommand = {
  readonly command: PlainCommand;
  readonly argv: readonly string[];
  readonly cwd: string | null;
  /** `argv` differs from the text because of variables, patterns or `git -C`. */
  readonly expanded: boolean;
  readonly patterns?: true;
  /** The program at the start of the pipeline that it reads from. */
  readonly feeder?: string;
  readonly refused?: Hazard;
};

/** A command of the walk with what the table says about it. */
export type ReadCommand = { readonly command: Command; readonly seen: SeenCommand; readonly classified: ClassifiedCommand | undefined };

/** The top level of the walk where both readers agree. */
export type TopReading = {
  readonly top: readonly SeenCommand[] | undefined;
  readonly plain: readonly PlacedCommand[] | undefined;
  readonly place: ShellPlace;
};

/** Classifies every command of the walk in the directory in which it would run. */
export function readCommands(walk: WalkResult, { top, plain, place }: TopReading): readonly ReadCommand[] {
  const moves = ({ argv }: SeenCommand): boolean => MOVERS.has(argv[0]?.text ?? "");
  const start = plain === undefined && walk.commands.some(moves) ? null : place.cwd;
  const moved = walk.commands.filter((seen) => seen.inside !== undefined && moves(seen));
  const moving = moved.length === 0 ? NOWHERE : new Set(moved.map(({ inside }) => inside));
  const cwds: (string | null)[] = [];
  const done: ReadCommand[] = [];
  for (const [i, seen] of walk.commands.entries()) {
    const at = top && seen.top !== undefined ? plain?.[seen.top] : undefined;
    const outer = at ? at.cwd : moving.has(seen.inside) ? null : findOuterDirectory(cwds, seen, start);
    const cwd = moveFrom(outer, seen);
    cwds[i] = cwd;
    const read = readCommand(at?.expanded ? { ...seen, argv: at.argv.map((text) => ({ text, dynamic: false })) } : seen, cwd, at, place);
    const covered = seen.inside !== undefined && done[seen.inside]?.classified?.covers === true && read.command.hazards.length === 0;
    done.push(covered ? { ...read, command: { ...read.command, class: "read" } } : read);
  }
  return done;
}

/** In a command that only reads, known variables and an input that was checked are no hazards. */
function withoutReplaced(hazards: readonly Hazard[], { command: { words, input } }: PlacedCommand): readonly Hazard[] {
  const variable = words.some(({ raw }) => raw !== undefined);
  if (!variable && input === undefined) return hazards;
  return hazards.filter(({ id }) => !((id === "expansion" && variable) || (id === "redirection" && input !== undefined)));
}

function findOuterDirectory(cwds: readonly (string | null)[], { inside }: SeenCommand, start: string | null): string | null {
  const outer = inside === undefined ? undefined : cwds[inside];
  return outer === undefined ? start : outer;
}

function moveFrom(outer: string | null, { movedTo }: SeenCommand): string | null {
  if (!movedTo) return outer;
  const { text, dynamic } = movedTo;
  return dynamic || (outer === null && !text.startsWith("/")) ? null : resolve(outer ?? "/", text);
}

const NOWHERE: ReadonlySet<number | undefined> = new Set();
const MOVERS: ReadonlySet<string> = new Set(["cd", "pushd", "popd"]);

function readCommand(seen: SeenCommand, cwd: string | null, at: PlacedCommand | undefined, place: ShellPlace): ReadCommand {
  const { argv, path, assignments, redirections } = seen;
  const literal = argv.length > 0 && !seen.openEnd && !argv.some(({ dynamic }) => dynamic);
  const words = argv.map(({ text }) => text);
  const classified = literal ? classify(words, placeAt(cwd, place), at) : undefined;
  const own = at && !at.refused && classified?.class === "read" ? withoutReplaced(seen.hazards, at) : seen.hazards;
  const known = joinHazards(joinHazards(own, classified?.hazards ?? NO_HAZARDS), at ? programHazards(words, place) : NO_HAZARDS);
  const hazards = uniqueHazards(cwd === null || seen.movedTo ? [...known, CWD_UNKNOWN] : known);
  const command: Command = {
    argv,
    path,
    cwd,
    assignments,
    redirections,
    class: classified?.class ?? "unknown",
    operands: classified?.operands ?? NO_OPERANDS,
    hazards,
  };
  return { command, seen, classified };
}

/** Such a program runs only after a person approved the line, from the text. */
function programHazards([name = ""]: readonly string[], place: ShellPlace): readonly Hazard[] {
  const file = place.outside || place.findProgram(name) ? undefined : place.findUntrusted?.(name);
  if (file === undefined) return NO_HAZARDS;
  const why = place.look(file, "/").inside
    ? "it is in the workspace"
    : "other users can change it, or shell.path names other directories. To trust it, add its directory to the setting shell.path";
  return [{ id: "untrusted_program", text: `No rule covers ${file}: ${why}` }];
}

function placeAt(cwd: string | null, place: ShellPlace): CommandPlace {
  return cwd === null || cwd === place.cwd ? place : { ...place, cwd };
}

export function joinHazards(some: readonly Hazard[], more: readonly Hazard[]): readonly Hazard[] {
  if (more.length === 0) return some;
  return some.length === 0 ? more : [...some, ...more];
}

const NO_HAZARDS: readonly Hazard[] = [];
const NO_OPERANDS: Command["operands"] = [];
const CWD_UNKNOWN: Hazard = Object.freeze({ id: "cwd_unknown", text: "Assent can't tell in which directory this runs" });

export function uniqueHazards(hazards: readonly Hazard[]): readonly Hazard[] {
  if (hazards.length < 2) return hazards;
  const known = new Set<string>();
  return hazards.filter(({ id, text }) => known.size < known.add(`${id} ${text}`).size);
}
