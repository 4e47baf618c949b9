import { basename, dirname, resolve } from "node:path";
import type { Guard, Request, Unit } from "@assent/core";
import { getPathFact, getShellUnit } from "../facts/units.ts";
import type { PathTest } from "../paths/control-files.ts";
import { foldPath } from "../paths/fold.ts";
import type { PathFact } from "../paths/lookup.ts";
import { isInside, resolveHome, resolvePath } from "../paths/resolve.ts";
import { findPossibleDirectories, findTouchedPaths, mayBecome, readKnownPart, splitPathNames } from "../shell/effects/touched-paths.ts";
import type { PlanWord } from "../shell/plan/plan.ts";
import type { ShellUnit, TouchedPath } from "../shell/plan/shell-unit.ts";
import { onlyReads } from "./control-files.ts";
import { changesRecord, type OwnCommand } from "./own-commands.ts";

/** Where Assent's own files are, besides `.assent` directories. */
export type OwnFiles = {
  /** Ledger, trust, outputs. No tool may touch it, except to read the session's own output. */
  readonly stateDirectory: string;
  /** The user's and the team's settings. */
  readonly settingsFiles: readonly string[];
  /** Whose `.assent` a write to a directory above may reach. */
  readonly workspace?: string;
  /** The home directory; the system's word for it when absent. */
  readonly home?: string;
  /** Control files that settings add. */
  readonly protect?: readonly PathTest[];
  /** Assent's own commands; absent: none of them is open to tools, not even to look. */
  readonly commands?: readonly OwnCommand[];
};

/** True for a path in the state directory. Tools that walk directories skip it: closing one of its files would drop SQLite's locks. */
export function isInStateDirectory(stateDirectory: string): (path: string) => boolean {
  let roots: readonly string[] | undefined;
  return (path) => {
    roots ??= pathSpellings(stateDirectory);
    const folded = foldPath(path);
    return roots.some((root) => isInside(root, folded));
  };
}

/** Closes Assent's own files to tools, in every mode and by either spelling of a path. For shell lines it is a guard-rail, not a proof. */
export function ownFilesSafeguard(files: OwnFiles): Guard {
  const own = resolveOwnPlaces(files);
  return { id: "own-files", check: (request, unit) => (touchesOwn(own, request, unit) ? DENIED : NOTHING) };
}

/**
 * Why it cannot be ruled out that a request writes one of Assent's own files; undefined when it can. A write whose target only a shell can name is such a case:
 * the guard that denies these files looks at every write, so in contrast to `ls $X` there is something a deny looks at.
 */
export function createOwnFilesDoubt(files: OwnFiles): (request: Request, unit: Unit) => string | undefined {
  const own = resolveOwnPlaces(files);
  return (request, unit) => {
    const shell = getShellUnit(unit);
    if (!shell) return findPathDoubt(request, unit);
    const path =
      touchedBy(own, shell).find((touched) => touched.use === "write" && mayReach(own, touched))?.path ?? mayReadState(own, shell)?.text;
    return path === undefined ? undefined : `Assent can't tell whether ${JSON.stringify(path)} is one of its own files`;
  };
}

/** A writing call whose path cannot be resolved: nobody can rule out that it leads to a protected file. */
function findPathDoubt(request: Request, unit: Unit): string | undefined {
  const unresolved = !onlyReads(request) && getPathFact(unit)?.real === null;
  return unresolved ? "Assent can't tell where this path leads" : undefined;
}

const NOTHING = { verdict: "none" } as const;
const DENIED = { verdict: "deny", note: "tools may not access Assent's own files" } as const;

/** Places in the spelling in which denies compare. */
type OwnPlaces = {
  readonly commands: readonly OwnCommand[];
  readonly home: string;
  readonly state: readonly string[];
  readonly settings: readonly string[];
  /** The workspace's own directory, whether it exists or not. */
  readonly project: readonly string[];
  /** Directories that hold settings and bear Assent's name: nothing else is put there. */
  readonly named: readonly string[];
  /** How a text may spell out the state directory. */
  readonly spelled: readonly string[];
  /** Whether a path lies in the state directory. */
  readonly isInState: (path: string) => boolean;
  /** Whether a directory has the state directory below it. */
  readonly isAbove: (directory: string) => boolean;
  /** Inputs already scanned: all units of a request share one, which may be long. */
  readonly inputs: WeakMap<object, boolean>;
};

function resolveOwnPlaces({ stateDirectory, settingsFiles, workspace, home, commands = [] }: OwnFiles): OwnPlaces {
  const at = resolveHome(home);
  const state = pathSpellings(stateDirectory);
  const settings = settingsFiles.flatMap(pathSpellings);
  return {
    commands,
    home: at,
    state,
    settings,
    project: workspace === undefined ? [] : pathSpellings(`${workspace}/.assent`),
    named: settings.map((file) => dirname(file)).filter((directory) => basename(directory) === "assent"),
    spelled: state.flatMap((root) => [root, ...homeSpellings(root, foldPath(at)), ...(basename(root) === "assent" ? IN_STATE_HOME : [])]),
    isInState: (path) => {
      const folded = foldPath(path);
      return state.some((root) => isInside(root, folded));
    },
    isAbove: (directory) => {
      const folded = foldPath(directory);
      return state.some((root) => isInside(folded, root));
    },
    inputs: new WeakMap(),
  };
}

/** With the links of every directory on the way resolved, or not. What does not exist yet has its real spelling already. */
function pathSpellings(path: string): readonly string[] {
  const { lexical } = resolvePath(path, "/");
  const names = lexical.split("/");
  const resolved = names.map((_, at) => {
    const start = names.slice(0, at + 1).join("/") || "/";
    const rest = names.slice(at + 1).join("/");
    return resolve(resolvePath(start, "/").real ?? start, rest);
  });
  return [...new Set([lexical, ...resolved].map(foldPath))];
}

function touchesOwn(own: OwnPlaces, request: Request, unit: Unit): boolean {
  const path = getPathFact(unit);
  if (path) return isOwnPath(own, request, path);
  const shell = getShellUnit(unit);
  return namesState(own, request) || (shell !== undefined && isOwnCommand(own, shell));
}

function isOwnPath({ state, settings, project }: OwnPlaces, request: Request, path: PathFact): boolean {
  if (path.planFile && (request.kind === "read" || request.kind === "edit")) return false;
  const places = [path.lexical, path.real ?? path.lexical].map(foldPath);
  const goesAway = request.kind === "delete" || request.kind === "move";
  if (goesAway && [...state, ...settings, ...project].some((own) => places.some((place) => isInside(place, own)))) return true;
  if (places.some((place) => state.some((root) => isInside(root, place)))) return !(request.kind === "read" && path.ownOutput);
  return !onlyReads(request) && places.some((place) => settings.includes(place) || isAssentFile(place));
}

/** `.assent` at any depth: a nested one may become a workspace's own. Plans are for tools to write. */
function isAssentFile(folded: string): boolean {
  const names = folded.split("/");
  return names.some((name, at) => name === ".assent" && !(names[at + 1] === "plans" && names.length > at + 2));
}

/** A text that spells out the state directory, whatever program would read it. */
function namesState({ spelled, inputs }: OwnPlaces, { kind, input }: Request): boolean {
  if (kind !== "execute") return false;
  const known = inputs.get(input);
  if (known !== undefined) return known;
  const names = Object.values(input).some(
    (value) => typeof value === "string" && MAY_NAME_PATH.test(value) && containsSpelling(spelled, foldPath(value)),
  );
  inputs.set(input, names);
  return names;
}

/** Every spelling of the state directory begins with one of these, and folding makes them of nothing else. */
const MAY_NAME_PATH = /[/~$]/;

function containsSpelling(spelled: readonly string[], folded: string): boolean {
  return spelled.some((root) => folded.includes(root));
}

const IN_STATE_HOME = ["$xdg_state_home/assent", "$" + "{xdg_state_home}/assent"];

function homeSpellings(root: string, home: string): readonly string[] {
  if (root === home || !isInside(home, root)) return [];
  const rest = root.slice(home.length);
  return [`~${rest}`, `$home${rest}`, `\${home}${rest}`];
}

function isOwnCommand(own: OwnPlaces, shell: ShellUnit): boolean {
  return readsState(own, shell) || changesRecord(shell, own.commands) || touchedBy(own, shell).some((touched) => isOwnTouch(own, touched));
}

/** By a word of the command, by the directory it runs in, or by a file it is known to read. */
function readsState(own: OwnPlaces, shell: ShellUnit): boolean {
  const { command, seen } = shell;
  const { isInState, isAbove, home } = own;
  if (command?.operands.some(({ path, real }) => isInState(path) || (real !== null && isInState(real)))) return true;
  const cwds = findPossibleDirectories(shell, home);
  if (cwds.length === 1 && cwds.some(isInState)) return true;
  const near = cwds.some(isAbove);
  const isMeant = (word: PlanWord): boolean =>
    (near || LEADS_AWAY.test(word.text)) && pathsIn(word, home).some((path) => cwds.some((cwd) => isInState(resolve(cwd, path))));
  if (!seen) return false;
  return seen.argv.some(isMeant) || seen.redirections.some(({ target, dynamic }) => isMeant({ text: target, dynamic }));
}

/** A word that only a shell can read, which may become a path in the state directory. Of what a variable holds alone nothing is guessed. */
function mayReadState(own: OwnPlaces, shell: ShellUnit): PlanWord | undefined {
  const { seen } = shell;
  if (!seen?.argv.some(isDynamic) && !seen?.redirections.some(isDynamic)) return undefined;
  const words = [...seen.argv, ...seen.redirections.map(({ target, dynamic }) => ({ text: target, dynamic }))];
  const open = words.filter(({ text, dynamic }) => dynamic && /[^\s"'=$`]/.test(text));
  if (open.length === 0) return undefined;
  const cwds = findPossibleDirectories(shell, own.home);
  return open.find((word) => valuesIn(word).some((value) => mayLeadTo(own, value, cwds)));
}

function isDynamic({ dynamic }: { readonly dynamic: boolean }): boolean {
  return dynamic;
}

function mayLeadTo({ home, state }: OwnPlaces, word: PlanWord, cwds: readonly string[]): boolean {
  const { start, open, rest = "" } = readKnownPart(word, home);
  const end = start.lastIndexOf("/") + 1;
  if (open === undefined || (open === "unknown" && start.length === end)) return false;
  const names = splitPathNames(`${start.slice(end)}${rest}`);
  return cwds.some((cwd) => {
    const place = foldPath(resolve(cwd, start.slice(0, end)));
    return state.some((root) => {
      if (root === place || !isInside(place, root)) return false;
      const below = root.slice(place === "/" ? 1 : place.length + 1).split("/");
      return (
        (open === "unknown" || names.length >= below.length) &&
        below.every((name, at) => at >= names.length || mayBecome(names[at] ?? "", name))
      );
    });
  });
}

/** Only such a word can lead to a place that is not below the working directory. */
const LEADS_AWAY = /^[/~$"'\\]|[=.][./~$"'\\]/;

/** As much as is known of the path that a word may be; `if=FILE` and `--file=FILE` name one, too. */
function pathsIn(word: PlanWord, home: string): readonly string[] {
  return valuesIn(word).map((value) => readKnownPart(value, home).start);
}

function valuesIn(word: PlanWord): readonly PlanWord[] {
  const at = word.text.indexOf("=");
  return at === -1 ? [word] : [word, { ...word, text: word.text.slice(at + 1) }];
}

function touchedBy({ home }: OwnPlaces, shell: ShellUnit): readonly TouchedPath[] {
  return shell.touched ?? findTouchedPaths(shell, { home });
}

/** Certainly one of them: the place itself, what is known to lie below it and goes with it, or what something else at the place would stand in for. */
function isOwnTouch(own: OwnPlaces, touched: TouchedPath): boolean {
  const { state, settings, named } = own;
  const { use, fate, places, open, certain } = touched;
  if (!certain) return false;
  const below = open ? [] : affectedOwnPlaces(own, touched);
  return places.some((place) => {
    const probe = open ? `${place}/${open.start || "x"}` : place;
    if (state.some((root) => isInside(root, probe)) || below.some((one) => isInside(place, one))) return true;
    if (use === "read") return false;
    return settings.includes(probe) || isAssentFile(probe) || (fate === "filled" && !open && named.includes(place));
  });
}

/** What of ours a touch of a directory above it changes, without a doubt. */
function affectedOwnPlaces({ state, settings, project }: OwnPlaces, { use, reach, fate }: TouchedPath): readonly string[] {
  if (use === "write" && fate === "replaced") return [...state, ...settings, ...project];
  if (reach !== "all") return [];
  return use === "write" ? [...state, ...settings] : state;
}

/** It may be one of them: nobody can say where it goes, or one of them lies below the place. */
function mayReach(own: OwnPlaces, touched: TouchedPath): boolean {
  const { places, open, reach, fate, certain, lost } = touched;
  if (lost || (!certain && isOwnTouch(own, { ...touched, certain: true }))) return true;
  const known = [...own.state, ...own.settings, ...(reach === "new" ? [] : own.project)];
  if (open) return known.some((one) => places.some((place) => mayBegin(one, place, open)));
  return (reach !== "self" || fate === "unsure") && known.some((one) => places.some((place) => isInside(place, one)));
}

/** Whether a place may lie in a directory under a name of which only the start is known. */
function mayBegin(one: string, directory: string, { start, dotless }: NonNullable<TouchedPath["open"]>): boolean {
  if (!isInside(directory, one) || one === directory) return false;
  const name = one.slice(directory === "/" ? 1 : directory.length + 1);
  return name.startsWith(start) && !(dotless && name.startsWith("."));
}
