import { type Dirent, readdirSync, realpathSync } from "node:fs";
import type { PathFact, PathLookup } from "../../paths/lookup.ts";
import { isAbsent, isInside } from "../../paths/resolve.ts";
import { isInSecretDirectory } from "../../paths/sensitive.ts";
import type { ProgramFinder } from "../plan/find-program.ts";
import type { Hazard, HazardId, Operand } from "../plan/plan.ts";

/** A path among a command's words; `follows`: links below it are followed; `whole`: every file below it is read. */
export type PathWord = { readonly path: string; readonly use: Operand["use"]; readonly follows: boolean; readonly whole?: boolean };

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
  { path, use, follows, whole = false }: PathWord,
  place: CommandPlace,
): { readonly operand: Operand; readonly hazards: readonly Hazard[] } {
  const fact = place.look(path, place.cwd);
  const hazards: Hazard[] = [...fact.hazards];
  const add = (id: HazardId, text: string): void => void hazards.push({ id, text });
  if (FOR_OTHER_SHELL.test(path)) add("other_shell", `Another shell would expand ${path}`);
  if (path === "" || climbsElsewhere(path, fact, place))
    add("path_unresolved", path === "" ? "A path is empty" : `${path} doesn't lead where it seems to`);
  if (isOutside(fact, place)) add("outside_workspace", `${path} is outside the workspace`);
  const secrets = fact.sensitive || (whole && isInSecretDirectory(fact.real ?? fact.absolute, place.workspace));
  if (secrets) add("sensitive_file", `${path} may contain secrets`);
  if (follows && fact.inside && mayLeadOutside(fact.absolute, place))
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
function mayLeadOutside(directory: string, place: CommandPlace): boolean {
  const waiting = new Set([directory]); // also grows while it is read
  let seen = 0;
  for (const at of waiting) {
    const entries = entriesOf(at);
    seen += 1 + (entries?.length ?? MOST);
    if (seen > MOST) return true;
    for (const entry of entries ?? []) {
      const path = `${at}/${entry.name}`;
      const target = entry.isSymbolicLink() ? followHarmless(path, place) : path;
      if (target === undefined) return true;
      if (target !== path || entry.isDirectory()) waiting.add(target);
    }
  }
  return false;
}

/** Where a link leads; undefined: outside, or to secrets. */
function followHarmless(path: string, { look, workspace }: CommandPlace): string | undefined {
  const { inside, sensitive, real } = look(path, "/");
  return inside && !sensitive && real !== null && !isInSecretDirectory(real, workspace) ? real : undefined;
}

/** Undefined: not readable. */
function entriesOf(path: string): readonly Dirent[] | undefined {
  try {
    return readdirSync(path, { withFileTypes: true });
  } catch (error) {
    return isAbsent(error) ? [] : undefined;
  }
}
