import { type Dirent, readdirSync, realpathSync } from "node:fs";
import type { PathFact, PathLookup } from "../../paths/lookup.ts";
import { isAbsent, isInside } from "../../paths/resolve.ts";
import type { ProgramFinder } from "../plan/find-program.ts";
import type { Hazard, HazardId, Operand } from "../plan/plan.ts";

/** A path among a command's words; `follows`: links below it are followed. */
export type PathWord = { readonly path: string; readonly use: Operand["use"]; readonly follows: boolean };

/** Where a command would run. */
export type CommandPlace = {
  readonly cwd: string;
  readonly workspace: string;
  readonly look: PathLookup;
  readonly home?: string;
  /** Absent: every program is installed. */
  readonly findProgram?: ProgramFinder;
};

/** Resolves a path of a command and finds its hazards. */
export function lookAtPath(
  { path, use, follows }: PathWord,
  place: CommandPlace,
): { readonly operand: Operand; readonly hazards: readonly Hazard[] } {
  const fact = place.look(path, place.cwd);
  const hazards: Hazard[] = [...fact.hazards];
  const add = (id: HazardId, text: string): void => void hazards.push({ id, text });
  if (FOR_OTHER_SHELL.test(path)) add("other_shell", `Another shell would expand ${path}`);
  if (path === "" || climbsElsewhere(path, fact, place))
    add("path_unresolved", path === "" ? "A path is empty" : `${path} doesn't lead where it seems to`);
  if (isOutside(fact, place)) add("outside_workspace", `${path} is outside the workspace`);
  if (fact.sensitive) add("sensitive_file", `${path} may contain secrets`);
  if (follows && fact.inside && mayLeadOutside(fact.absolute, place.look))
    add("outside_workspace", `Links below ${path} may lead outside the workspace`);
  return { operand: { path: fact.absolute, real: fact.real, use }, hazards };
}

/** `~`, `=id`, `%PATH%`, `@(…)`, a trailing `^`, a backslash. */
const FOR_OTHER_SHELL = /^[~=]|%[A-Za-z_]{3,}%|@\(|\^$|\\/;

function isOutside({ absolute, real, inside, ownOutput }: PathFact, { workspace }: CommandPlace): boolean {
  if (ownOutput) return false;
  return !inside || (absolute !== real && !isInside(workspace, absolute));
}

/** `..` goes up from where a link leads, so `link/..` may not be where it seems. */
function climbsElsewhere(path: string, { real }: PathFact, { cwd, look }: CommandPlace): boolean {
  if (real === null || !path.includes("..")) return false;
  const [climb] = /^(?:.*\/)?\.\.(?=\/|$)/s.exec(path) ?? [];
  if (climb === undefined) return false;
  try {
    return realpathSync.native(climb.startsWith("/") ? climb : `${cwd}/${climb}`) !== look(climb, cwd).real;
  } catch {
    return true;
  }
}

const MOST = 5000;

/** Whether following links below a directory may leave the workspace. */
function mayLeadOutside(directory: string, look: PathLookup): boolean {
  const waiting = [directory];
  let seen = 0;
  while (waiting.length > 0 && seen <= MOST) {
    const at = waiting.pop() ?? directory;
    const entries = entriesOf(at);
    seen += entries?.length ?? MOST + 1;
    if (entries?.some((entry) => entry.isSymbolicLink() && !isHarmless(`${at}/${entry.name}`, look))) return true;
    for (const entry of entries ?? []) if (entry.isDirectory()) waiting.push(`${at}/${entry.name}`);
  }
  return seen > MOST;
}

function isHarmless(path: string, look: PathLookup): boolean {
  const { inside, sensitive } = look(path, "/");
  return inside && !sensitive;
}

/** Undefined: not readable. */
function entriesOf(path: string): readonly Dirent[] | undefined {
  try {
    return readdirSync(path, { withFileTypes: true });
  } catch (error) {
    return isAbsent(error) ? [] : undefined;
  }
}
