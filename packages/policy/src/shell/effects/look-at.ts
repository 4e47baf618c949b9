import { realpathSync } from "node:fs";
import type { PathFact, PathLookup } from "../../paths/lookup.ts";
import { isInside } from "../../paths/resolve.ts";
import type { Hazard, HazardId, Operand } from "../plan/plan.ts";
import { mayLeadOutside } from "./linked-outside.ts";

/** A word of a command that is a path. `follows`: so are the links below it. */
export type PathWord = { readonly path: string; readonly use: Operand["use"]; readonly follows: boolean };

type Place = { readonly cwd: string; readonly workspace: string; readonly look: PathLookup };

/** Where a path of a command leads, and what speaks against going there: outside by either spelling, sensitive, or strange in itself. */
export function lookAt({ path, use, follows }: PathWord, place: Place): { readonly operand: Operand; readonly hazards: readonly Hazard[] } {
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

function isOutside({ absolute, real, inside, ownOutput }: PathFact, { workspace }: Place): boolean {
  if (ownOutput) return false;
  return !inside || (absolute !== real && !isInside(workspace, absolute));
}

/** The system goes up from where a link leads, not from where it stands: `link/..` and, in a directory reached by a link, `..` may be another place than it seems. */
function climbsElsewhere(path: string, { real }: PathFact, { cwd, look }: Place): boolean {
  if (real === null || !path.includes("..")) return false;
  const [climb] = /^(?:.*\/)?\.\.(?=\/|$)/s.exec(path) ?? [];
  if (climb === undefined) return false;
  try {
    return realpathSync.native(climb.startsWith("/") ? climb : `${cwd}/${climb}`) !== look(climb, cwd).real;
  } catch {
    return true;
  }
}
