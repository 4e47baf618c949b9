import { type Dirent, readdirSync, realpathSync } from "node:fs";
import type { PathFact, PathLookup } from "../../paths/lookup.ts";
import { isInside } from "../../paths/resolve.ts";
import type { Hazard, HazardId, Operand } from "../plan/plan.ts";

/** A word of a command that is a path. `follows`: so are the links below it. */
export type PathWord = { readonly path: string; readonly use: Operand["use"]; readonly follows: boolean };

type PathPlace = { readonly cwd: string; readonly workspace: string; readonly look: PathLookup };

/** Where a path of a command leads, and what speaks against going there: outside by either spelling, sensitive, or strange in itself. */
export function lookAtPath(
  { path, use, follows }: PathWord,
  place: PathPlace,
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

function isOutside({ absolute, real, inside, ownOutput }: PathFact, { workspace }: PathPlace): boolean {
  if (ownOutput) return false;
  return !inside || (absolute !== real && !isInside(workspace, absolute));
}

/** The system goes up from where a link leads, not from where it stands: `link/..` and, in a directory reached by a link, `..` may be another place than it seems. */
function climbsElsewhere(path: string, { real }: PathFact, { cwd, look }: PathPlace): boolean {
  if (real === null || !path.includes("..")) return false;
  const [climb] = /^(?:.*\/)?\.\.(?=\/|$)/s.exec(path) ?? [];
  if (climb === undefined) return false;
  try {
    return realpathSync.native(climb.startsWith("/") ? climb : `${cwd}/${climb}`) !== look(climb, cwd).real;
  } catch {
    return true;
  }
}

/** More entries are not looked at. */
const MOST = 5000;

/** Whether a program that follows links below a directory might leave the workspace: a link leads outside, or there is too much to look at. */
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

/** Undefined: one may not look. A file has none. */
function entriesOf(path: string): readonly Dirent[] | undefined {
  try {
    return readdirSync(path, { withFileTypes: true });
  } catch (error) {
    return error instanceof Error && "code" in error && (error.code === "ENOTDIR" || error.code === "ENOENT") ? [] : undefined;
  }
}
