import { basename } from "node:path";
import type { Safeguard } from "@assent/core";
import { getPathFact, getShellUnit } from "../facts/units.ts";
import {
  CONTROL_NAME_STARTS,
  CONTROL_NAMES,
  CONTROL_TREES,
  controlPathsInHome,
  createControlFileTest,
  isControlName,
  type PathTest,
  SYSTEM_FILES,
} from "../paths/control-files.ts";
import { foldPath } from "../paths/fold.ts";
import { pathUse } from "../paths/lookup.ts";
import { isInside, resolveHome } from "../paths/resolve.ts";
import { findTouchedPaths, mayBecome } from "../shell/effects/touched-paths.ts";
import type { OpenEnd, ShellUnit, TouchedPath } from "../shell/plan/shell-unit.ts";

/** Directories that may bring control files along. */
const CONTROL_PARENTS: readonly string[] = [".github", ".vscode"];

export type ControlPlaces = { readonly workspace?: string; readonly home?: string; readonly protect?: readonly PathTest[] };

/** Asks before a control file is written, in every mode. */
export function controlFileSafeguard({ workspace, home: given, protect = [] }: ControlPlaces): Safeguard {
  const home = resolveHome(given);
  const isControl = createControlFileTest(home, protect);
  const outer = [...controlPathsInHome(home), ...SYSTEM_FILES];
  const known = workspace === undefined ? outer : [foldPath(`${workspace}/.git`), ...outer];
  const isMeant = (touched: TouchedPath): boolean =>
    isControlTouch(touched, isControl) ||
    (touched.open ? mayBeControl(touched.open, touched.places, known) : holdsControl(touched, touched.reach === "new" ? outer : known));
  const touched = (shell: ShellUnit): string | undefined =>
    (shell.touched ?? findTouchedPaths(shell, { home })).find((one) => one.use === "write" && isMeant(one))?.path;
  return {
    id: "control-file",
    check: (request, unit) => {
      const path = getPathFact(unit);
      if (path) return path.control && pathUse(request, path) !== "read" ? askFor(path.lexical) : NOTHING;
      const shell = getShellUnit(unit);
      const written = shell && touched(shell);
      return written === undefined ? NOTHING : askFor(written);
    },
  };
}

const NOTHING = { verdict: "none" } as const;

function askFor(path: string): { readonly verdict: "ask"; readonly note: string } {
  return { verdict: "ask", note: `it would change the control file ${path}` };
}

function isControlTouch({ places, open }: TouchedPath, isControl: PathTest): boolean {
  return places.some((place) => isControl(open ? `${place}/${open.start || "x"}` : place));
}

/** True if a path with shell syntax may name a control file. A variable's value is not guessed beyond a leading dot. */
function mayBeControl({ names, there }: OpenEnd, places: readonly string[], known: readonly string[]): boolean {
  const [first = "", ...more] = names;
  const isThere = (place: string): boolean =>
    there?.some((name) => mayBecome(first, name) && isControlName([place, name, ...more].join("/"))) ?? false;
  const isNamed = (place: string): boolean => {
    const all = [basename(place), ...names];
    return all.some((_, at) => !(at === 1 && there) && CONTROL_NAME_PATHS.some((control) => mayFit(all.slice(at), control)));
  };
  const isKnown = (place: string): boolean =>
    known.some((one) => one !== place && isInside(place, one) && mayFit(names, namesBelow(place, one)));
  return places.some((place) => isThere(place) || isNamed(place) || isKnown(place));
}

const CONTROL_NAME_PATHS: readonly (readonly string[])[] = [...CONTROL_NAMES, ...CONTROL_NAME_STARTS, ...CONTROL_TREES].map((path) =>
  path.split("/"),
);

function namesBelow(place: string, one: string): readonly string[] {
  return one.slice(place === "/" ? 1 : place.length + 1).split("/");
}

function mayFit(names: readonly string[], control: readonly string[]): boolean {
  return names.length >= control.length && control.every((name, at) => mayBeName(names[at] ?? "", name));
}

function mayBeName(written: string, name: string): boolean {
  if (/^[*?[$`{(<>]/.test(written)) return false;
  return (written.startsWith(".") || !/[$`{(<>]/.test(written)) && mayBecome(written, name);
}

/** Removing, replacing or filling a directory reaches everything below it. */
function holdsControl({ places, reach, fate }: TouchedPath, known: readonly string[]): boolean {
  const fills = fate === "replaced" || reach === "some" || reach === "new";
  if (fills && places.some((place) => CONTROL_PARENTS.some((name) => place.endsWith(`/${name}`)))) return true;
  return (reach !== "self" || fate === "replaced") && known.some((one) => places.some((place) => isInside(place, one)));
}
