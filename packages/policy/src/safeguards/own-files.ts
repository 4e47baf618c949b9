import { basename, dirname, resolve } from "node:path";
import type { Request, Safeguard, Unit } from "@assent/core";
import { getPathFact, getShellUnit } from "../facts/units.ts";
import type { PathTest } from "../paths/control-files.ts";
import { foldPath } from "../paths/fold.ts";
import { type PathFact, pathUse } from "../paths/lookup.ts";
import { isInside, resolveHome, resolvePath } from "../paths/resolve.ts";
import { findScriptFiles, readScript } from "../shell/effects/script-binds.ts";
import { findPossibleDirectories, findTouchedPaths, mayBecome, readKnownPart, splitPathNames } from "../shell/effects/touched-paths.ts";
import { programName } from "../shell/effects/write-targets.ts";
import { isAssentProgram } from "../shell/plan/find-program.ts";
import type { PlanWord } from "../shell/plan/plan.ts";
import type { ShellUnit, TouchedPath } from "../shell/plan/shell-unit.ts";
import {
  changesRecord,
  commandFiles,
  mayStopHook,
  mentionsAnswer,
  mentionsGuard,
  mentionsUnguardedAgent,
  type OwnCommand,
  setsOwnVariable,
  skipsHooks,
} from "./own-commands.ts";

/** Assent's own files, besides `.assent` directories. */
export type OwnFiles = {
  /** Ledger, trust and outputs. Tools may only read the session's own output. */
  readonly stateDirectory: string;
  readonly settingsFiles: readonly string[];
  readonly workspace?: string;
  /** Defaults to the account's home directory. */
  readonly home?: string;
  readonly protect?: readonly PathTest[];
  /** Commands that tools may run if they only look. */
  readonly commands?: readonly OwnCommand[];
  /** Another program runs the calls, so its commands are not marked as ours. */
  readonly outside?: boolean;
  /** The ledger on PostgreSQL, if it is there. */
  readonly storeUrl?: string;
};

/** Creates a test for paths in the state directory. Tools skip them: closing such a file would drop SQLite's locks. */
export function isInStateDirectory(stateDirectory: string): (path: string) => boolean {
  let roots: readonly string[] | undefined;
  return (path) => {
    roots ??= pathSpellings(stateDirectory);
    return isBelow(roots, path);
  };
}

function isBelow(roots: readonly string[], path: string): boolean {
  const folded = foldPath(path);
  return roots.some((root) => isInside(root, folded));
}

/** Denies tools access to Assent's own files, in every mode. For shell lines it is best effort. */
export function ownFilesSafeguard(own: OwnPlaces): Safeguard {
  return { id: "own-files", check: (request, unit) => (touchesOwn(own, request, unit) ? DENIED : NOTHING) };
}

/** Makes a function that says why a request may write one of Assent's own files, also if only a shell can compute the target. */
export function createOwnFilesDoubt(own: OwnPlaces): (request: Request, unit: Unit) => string | undefined {
  return (request, unit) => {
    const shell = getShellUnit(unit);
    if (!shell) return findPathDoubt(request, unit);
    const path =
      touchedBy(own, shell).find((touched) => touched.use === "write" && mayReach(own, touched))?.path ?? mayReadState(own, shell)?.text;
    if (path !== undefined) return `Assent can't tell whether ${JSON.stringify(path)} is one of its own files`;
    const named = own.outside ? findGuardDoubt(own, shell) : undefined;
    if (named !== undefined) return named;
    return own.database !== undefined && isDatabaseClient(shell) ? "Assent can't tell whether this reaches its own record" : undefined;
  };
}

/** A script or a link is another name of what it runs. */
function findGuardDoubt({ home }: OwnPlaces, shell: ShellUnit): string | undefined {
  if (mentionsGuard(shell.line.text)) return "it names a command, process or variable of Assent";
  if (shell.script && mentionsGuard(shell.script.text)) return "its script names a command, process or variable of Assent";
  if (mayStopHook(shell)) return "it may stop the hook";
  if (skipsHooks(shell) || mentionsUnguardedAgent(shell.script?.text ?? "")) return UNGUARDED;
  for (const file of findScriptFiles(shell, home)) {
    if (isAssentProgram(resolvePath(file, "/").real ?? file)) return `${file} is Assent`;
    const script = readScript(file);
    if (typeof script === "string") continue;
    const text = Buffer.from(script).toString("latin1");
    if (mentionsGuard(text)) return `${file} names a command, process or variable of Assent`;
    if (mentionsUnguardedAgent(text)) return `${file}: ${UNGUARDED}`;
  }
  for (const file of findCommandFiles(shell, home)) {
    const text = Buffer.from(readScript(file)).toString("latin1");
    if (mentionsAnswer(text)) return `${file} names a command of Assent`;
    if (mentionsUnguardedAgent(text)) return `${file}: ${UNGUARDED}`;
  }
  return undefined;
}

const UNGUARDED = "it may start an agent without its hooks, or change the agent's configuration";

function findCommandFiles(shell: ShellUnit, home: string): readonly string[] {
  const names = commandFiles(shell);
  return names.length === 0 ? [] : findPossibleDirectories(shell, home).flatMap((cwd) => names.map((name) => resolve(cwd, name)));
}

function findPathDoubt(request: Request, unit: Unit): string | undefined {
  const path = getPathFact(unit);
  return path?.real === null && pathUse(request, path) !== "read" ? "Assent can't tell where this path leads" : undefined;
}

const NOTHING = { verdict: "none" } as const;
const DENIED = { verdict: "deny", note: "tools may not access Assent's own files" } as const;

export type OwnPlaces = {
  readonly commands: readonly OwnCommand[];
  readonly home: string;
  readonly state: readonly string[];
  readonly settings: readonly string[];
  readonly project: readonly string[];
  /** Settings directories named `assent`. */
  readonly named: readonly string[];
  /** Spellings of the state directory in texts. */
  readonly spelled: readonly string[];
  readonly outside: boolean;
  /** The name of the ledger's database on PostgreSQL. */
  readonly database: string | undefined;
  readonly isInState: (path: string) => boolean;
  readonly isAbove: (directory: string) => boolean;
  /** Inputs already scanned; all units of a request share one. */
  readonly inputs: WeakMap<object, boolean>;
};

export function resolveOwnPlaces(files: OwnFiles): OwnPlaces {
  const { stateDirectory, settingsFiles, workspace, home, commands = [], outside = false, storeUrl = "" } = files;
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
    spelled: [
      ...state.flatMap((root) => [root, ...homeSpellings(root, foldPath(at)), ...(basename(root) === "assent" ? IN_STATE_HOME : [])]),
      ...databaseSpellings(storeUrl),
    ],
    outside,
    database: databaseOf(storeUrl)?.pathname.slice(1),
    isInState: (path) => isBelow(state, path),
    isAbove: (directory) => {
      const folded = foldPath(directory);
      return state.some((root) => isInside(folded, root));
    },
    inputs: new WeakMap(),
  };
}

/** With and without the links of each parent resolved. */
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
  const use = pathUse(request, path);
  if (use === "remove" && [...state, ...settings, ...project].some((own) => places.some((place) => isInside(place, own)))) return true;
  if (places.some((place) => state.some((root) => isInside(root, place)))) return !(request.kind === "read" && path.ownOutput);
  return use !== "read" && places.some((place) => settings.includes(place) || isAssentFile(place));
}

/** `.assent` at any depth, except plans. */
function isAssentFile(folded: string): boolean {
  const names = folded.split("/");
  return names.some((name, at) => name === ".assent" && !(names[at + 1] === "plans" && names.length > at + 2));
}

/** True if a text spells out the state directory. */
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

/** Every spelling contains one of these. */
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
  return (
    readsState(own, shell) ||
    changesRecord(shell, own.commands) ||
    (own.outside && setsOwnVariable(shell.line.text)) ||
    reachesDatabase(own, shell) ||
    touchedBy(own, shell).some((touched) => isOwnTouch(own, touched))
  );
}

function databaseOf(url: string): URL | undefined {
  return URL.canParse(url) ? new URL(url) : undefined;
}

/** Host and database, with and without the port. */
function databaseSpellings(url: string): readonly string[] {
  const { host, hostname, pathname = "" } = databaseOf(url) ?? {};
  return pathname.length < 2 ? [] : [`${host}${pathname}`, `${hostname}${pathname}`, `${hostname}:5432${pathname}`].map(foldPath);
}

const DATABASE_CLIENTS = /^(?:psql|pgcli|usql|pg_dump|pg_dumpall|pg_restore|dropdb|createdb|vacuumdb|reindexdb|pgbench)$/;

function isDatabaseClient({ seen }: ShellUnit): boolean {
  return seen !== undefined && DATABASE_CLIENTS.test(programName(seen));
}

function reachesDatabase({ database }: OwnPlaces, shell: ShellUnit): boolean {
  if (database === undefined || !isDatabaseClient(shell)) return false;
  return shell.line.text.includes("ASSENT_STORE") || (database !== "" && shell.line.text.includes(database));
}

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

/** A word with shell syntax that may become a path in the state directory. */
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

/** Only such words can leave the working directory. */
const LEADS_AWAY = /^[/~$"'\\]|[=.][./~$"'\\]/;

/** The known parts of paths in a word; `if=FILE` and `--file=FILE` count. */
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

/** True if the touch certainly reaches an own file. */
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

/** Own places that a touch of a parent directory certainly changes. */
function affectedOwnPlaces({ state, settings, project }: OwnPlaces, { use, reach, fate }: TouchedPath): readonly string[] {
  if (use === "write" && fate === "replaced") return [...state, ...settings, ...project];
  if (reach !== "all") return [];
  return use === "write" ? [...state, ...settings] : state;
}

/** True if the touch may reach an own file. */
function mayReach(own: OwnPlaces, touched: TouchedPath): boolean {
  const { places, open, reach, fate, certain, lost } = touched;
  if (lost || (!certain && isOwnTouch(own, { ...touched, certain: true }))) return true;
  const known = [...own.state, ...own.settings, ...(reach === "new" ? [] : own.project)];
  if (open) return known.some((one) => places.some((place) => mayBegin(one, place, open)));
  return (reach !== "self" || fate === "unsure") && known.some((one) => places.some((place) => isInside(place, one)));
}

/** True if a place may be in a directory under a name with this start. */
function mayBegin(one: string, directory: string, { start, dotless }: NonNullable<TouchedPath["open"]>): boolean {
  if (!isInside(directory, one) || one === directory) return false;
  const name = one.slice(directory === "/" ? 1 : directory.length + 1);
  return name.startsWith(start) && !(dotless && name.startsWith("."));
}
