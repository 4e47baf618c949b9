import { readdirSync, statSync } from "node:fs";
import { resolve } from "node:path";
import { compileGlob } from "@assent/core";
import { foldPath } from "../../paths/fold.ts";
import { resolvePhysically } from "../../paths/resolve.ts";
import type { PlanWord } from "../plan/plan.ts";
import type { OpenEnd, ShellLine, ShellUnit, TouchedPath } from "../plan/shell-unit.ts";
import { TEMPLATE_HOOKS } from "../programs/program.ts";
import type { SeenCommand } from "../walk/seen-command.ts";
import { type DirectoryFate, findWriteTargets, programName, type WriteTarget } from "./write-targets.ts";

export type LookUp = (path: string, cwd: string) => { readonly lexical: string; readonly real: string | null };

export type TouchedPlace = { readonly home: string; readonly look?: LookUp };

/** Finds the paths that a command would change or read whole. */
export function findTouchedPaths(unit: ShellUnit, around: TouchedPlace): readonly TouchedPath[] {
  const { seen } = unit;
  const written = seen ? [...findWriteTargets(seen), ...targetsByVariables(unit)] : [];
  if (written.length === 0) return NOTHING;
  const targets = written.flatMap(withoutBraces);
  const cwds = findPossibleDirectories(unit, around.home);
  return targets.map((target) => {
    const found = resolveTarget(target, cwds, around);
    return found.fate === "replaced" && target.fate === "filled" && mayBeMade(target.path, unit) ? { ...found, fate: "unsure" } : found;
  });
}

const NOTHING: readonly TouchedPath[] = [];

/** Template hooks and trace files that git writes because of variables in the line. */
function targetsByVariables({ seen, line: { text } }: ShellUnit): readonly WriteTarget[] {
  if (!seen || !text.includes("GIT_") || programName(seen) !== "git") return [];
  const makes = seen.argv.some((word) => word.text === "init" || word.text === "clone");
  const template = makes && /GIT_TEMPLATE_DIR|GIT_CONFIG_(?:COUNT|KEY|PARAMETERS|GLOBAL|SYSTEM)/.test(text) ? [TEMPLATE_HOOKS] : [];
  const traced = [...text.matchAll(/\bGIT_TRACE\w*=(["']?)(\/[^\s"';&|]*)\1/g)].map(([, , path = ""]) => path);
  return [...template, ...traced].map((path) => ({ path, dynamic: false, use: "write", reach: "self", fate: "replaced" }));
}

function mayBeMade(path: string, { line }: ShellUnit): boolean {
  const meant = path.replace(/\/+$/, "");
  return line.seen.some((one) => programName(one) === "mkdir" && one.argv.some(({ text }) => text.replace(/\/+$/, "") === meant));
}

/** The directories in which a command may run. Empty: only known at run time. */
export function findPossibleDirectories({ line, command, seen }: ShellUnit, home: string): readonly string[] {
  const known = command?.cwd ?? null;
  if (known !== null && seen?.top !== undefined) return [known];
  const { moves, wrapped } = findMoves(line, home);
  return visitDirectories(known ?? line.plan.cwd, known === null ? [...wrapped, ...moves, ...wrapped] : moves);
}

type MoveTarget = string | null | undefined;
type LineMoves = { readonly home: string; readonly moves: readonly MoveTarget[]; readonly wrapped: readonly MoveTarget[] };

const MOVES = new WeakMap<ShellLine, LineMoves>();

function findMoves(line: ShellLine, home: string): LineMoves {
  const known = MOVES.get(line);
  if (known?.home === home) return known;
  const { seen } = line;
  const moves = withoutRuns(seen.map((one) => findMoveTarget(one, home)));
  const wrapped = withoutRuns(seen.map(({ movedTo }) => movedTo && targetOf(movedTo, home)));
  const found = { home, moves, wrapped };
  MOVES.set(line, found);
  return found;
}

function withoutRuns(targets: readonly MoveTarget[]): readonly MoveTarget[] {
  return targets.filter((target, i) => target !== undefined || (i > 0 && targets[i - 1] !== undefined));
}

function visitDirectories(from: string, moves: readonly MoveTarget[]): readonly string[] {
  const found = new Set([from]);
  for (const target of moves) {
    if (target === null || found.size > MOST_DIRECTORIES) return [];
    if (target !== undefined) for (const one of [...found]) found.add(resolve(one, target));
  }
  return [...found];
}

const MOST_DIRECTORIES = 32;

/** Undefined: it doesn't move, or only back. Null: unknown. */
function findMoveTarget(seen: SeenCommand, home: string): MoveTarget {
  const name = programName(seen);
  if (name !== "cd" && name !== "pushd") return undefined;
  const [operand] = seen.argv.slice(1).filter(({ text }) => !/^-[LPe@]+$|^--$/.test(text));
  if (!operand) return name === "cd" ? home : undefined;
  if (operand.text === "-") return undefined;
  return targetOf(operand, home);
}

function targetOf(operand: PlanWord, home: string): string | null {
  const { start, open } = readKnownPart(operand, home);
  return open === undefined ? start : null;
}

/** `{a,b}` counts as two words. */
function withoutBraces(target: WriteTarget): readonly WriteTarget[] {
  const { path, dynamic } = target;
  const found = dynamic && !/[$`"'\\]/.test(path) ? /\{([^{},]*(?:,[^{},]*)+)\}/.exec(path) : null;
  if (!found || path.length > LONGEST_BRACED) return [target];
  const [braces, list = ""] = found;
  const words = list.split(",").map((one) => `${path.slice(0, found.index)}${one}${path.slice(found.index + braces.length)}`);
  return words.flatMap((word) => withoutBraces({ ...target, path: word, dynamic: /[*?[{]/.test(word) }));
}

const LONGEST_BRACED = 200;

function resolveTarget(
  { path, dynamic, use, reach, fate: meant }: WriteTarget,
  cwds: readonly string[],
  { home, look = lexically }: TouchedPlace,
): TouchedPath {
  const { start, open, rest = "" } = readKnownPart({ text: path, dynamic }, home);
  const place = open === undefined ? start : start.slice(0, start.lastIndexOf("/") + 1);
  const from = place.startsWith("/") ? ["/"] : cwds;
  if (from.length === 0 || (open === "unknown" && start === ""))
    return { path, use, reach, fate: resolveFate(meant, []), places: [], certain: false, lost: true };
  const facts = from.map((cwd) => look(place === "" ? "." : place, cwd));
  const physical = look !== lexically && /(?:^|\/)\.\.(?:\/|$)/.test(place) ? from.map((cwd) => resolvePhysically(place, cwd)) : [];
  const places = new Set(
    [...facts.flatMap(({ lexical, real }) => [lexical, real ?? lexical]), ...physical.flatMap((at) => at ?? [])].map(foldPath),
  );
  const begun = foldPath(start.slice(place.length));
  const where = {
    places: [...places],
    certain: from.length === 1,
    lost: facts.some(({ real }) => real === null) || physical.includes(null),
  };
  const fate = resolveFate(meant, look === lexically ? [] : facts);
  return {
    path,
    use,
    reach,
    fate,
    ...where,
    ...(open !== undefined && {
      open: makeOpenEnd(begun, `${start.slice(place.length)}${rest}`, open, look === lexically ? [] : facts),
    }),
  };
}

function makeOpenEnd(begun: string, written: string, open: NonNullable<KnownPart["open"]>, facts: readonly ReturnType<LookUp>[]): OpenEnd {
  const dotless = begun === "" && open === "glob";
  const isPattern = open === "glob" && !begun.startsWith(".") && facts.length > 0;
  return { start: begun, dotless, names: splitPathNames(written), ...(isPattern && { there: facts.flatMap(entries) }) };
}

export function splitPathNames(written: string): readonly string[] {
  return foldPath(written.replace(/["'\\]/g, ""))
    .split("/")
    .filter((name) => name !== "");
}

/** Whether a shell may turn the written name into this one. A pattern without a leading dot matches no name with one. */
export function mayBecome(written: string, name: string): boolean {
  if (name.startsWith(".") && /^[*?[]/.test(written)) return false;
  const [known = ""] = written.split(/[@+!?*]?\(|[[$`{<>]/, 1);
  return compileGlob(known === written ? known : `${known}*`).matches(name);
}

function entries({ lexical, real }: ReturnType<LookUp>): readonly string[] {
  try {
    return readdirSync(real ?? lexical).map(foldPath);
  } catch {
    return []; // no pattern matches anything there
  }
}

function resolveFate(meant: DirectoryFate, facts: readonly ReturnType<LookUp>[]): TouchedPath["fate"] {
  if (meant !== "filled") return meant;
  if (facts.length === 0) return "unsure";
  return facts.every(isDirectory) ? meant : "replaced";
}

function isDirectory({ lexical, real }: ReturnType<LookUp>): boolean {
  try {
    return statSync(real ?? lexical, { throwIfNoEntry: false })?.isDirectory() ?? false;
  } catch {
    return false;
  }
}

function lexically(path: string, cwd: string): { readonly lexical: string; readonly real: string } {
  const lexical = resolve(cwd, path).normalize("NFC");
  return { lexical, real: lexical };
}

/** A word up to the first character that only a shell can resolve. */
export type KnownPart = { readonly start: string; readonly open?: "glob" | "unknown"; readonly rest?: string };

export function readKnownPart({ text, dynamic }: PlanWord, home: string): KnownPart {
  if (!dynamic) return { start: expandHome(text, home) };
  const inHome = HOME_START.exec(text);
  if (inHome) return readUpToSign(home, `${inHome[1] ?? ""}${text.slice(inHome[0].length)}`);
  const here = CWD_START.exec(text);
  if (here) return readUpToSign(".", `${here[1] ?? ""}${text.slice(here[0].length)}`);
  return text.startsWith("~") ? { start: "", open: "unknown", rest: text } : readUpToSign("", text);
}

function readUpToSign(before: string, text: string): KnownPart {
  let start = before;
  let quoted = false;
  for (const found of text.matchAll(TOKENS)) {
    const [token] = found;
    const open = signOf(token, quoted);
    if (open) return { start, open, rest: text.slice(found.index) };
    if (token === '"') quoted = !quoted;
    else start += token.replace(/^\\/, "").replace(/^'([^']*)'$/, "$1");
  }
  return { start };
}

const HOME_START = /^(?:~|("?)\$(?:HOME\b|\{HOME\}))(?=["/]|$)/;
const CWD_START = /^("?)\$(?:PWD\b|\{PWD\})(?=["/]|$)/;
const TOKENS = /"|\\[\s\S]|'[^']*'|[^"\\'$`*?[{(<>]+|[\s\S]/g;

function signOf(token: string, quoted: boolean): KnownPart["open"] {
  if (/^[$`]/.test(token) || (quoted && token.startsWith("'"))) return "unknown";
  if (quoted || token.length > 1) return undefined;
  if (/[*?[]/.test(token)) return "glob";
  return /[{(<>']/.test(token) ? "unknown" : undefined;
}

function expandHome(text: string, home: string): string {
  const found = HOME_START.exec(text);
  return found ? `${home}${text.slice(found[0].length).replace(/^"/, "")}` : text;
}
