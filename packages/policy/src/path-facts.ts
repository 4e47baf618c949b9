import { type Facts, type JsonObject, MUTATOR_KINDS, type RequestFacts, type Unit } from "@assent/core";
import { type PathFact, pathScope, type SessionDirectories } from "./path-scope.ts";

/** What a path unit's `data` holds; guards and checkers of this package read it. */
export type PathUnitData = { readonly path: PathFact };

/**
 * Facts about requests that name files: one unit per location. Where a writing request's path leads through a link, the place it leads to is bound: when that changes
 * after judging, the fingerprint differs and the old answer no longer counts. Shell lines are one unit until there is an analysis of them.
 */
export function pathFacts(scope: SessionDirectories): Facts {
  const look = pathScope(scope);
  return ({ tool, kind, input, cwd, locations }) => {
    if (!locations || locations.length === 0) return { units: [{ subject: subjectOf(tool, input) }], binds: {} };
    const paths = locations.map(({ path }) => look(path, cwd));
    return {
      units: paths.map(unitOf),
      binds: MUTATOR_KINDS.includes(kind) ? linkBinds(paths) : {},
      insideWorkspace: paths.every((path) => path.inside),
      view: { paths: paths.map(({ lexical, real, inside, sensitive }) => ({ lexical, real, inside, sensitive })) },
    } satisfies RequestFacts;
  };
}

/** The path data of a unit that `pathFacts` made. */
export function pathOf(unit: Unit): PathFact | undefined {
  return isPathData(unit.data) ? unit.data.path : undefined;
}

const MADE = new WeakSet<object>();

function isPathData(data: unknown): data is PathUnitData {
  return typeof data === "object" && data !== null && MADE.has(data);
}

function unitOf(path: PathFact): Unit {
  const data: PathUnitData = { path };
  MADE.add(data);
  return { subject: path.lexical, data };
}

function subjectOf(tool: string, { command }: JsonObject): string {
  return typeof command === "string" ? command : tool;
}

function linkBinds(paths: readonly PathFact[]): Readonly<Record<string, string>> {
  const linked = paths.filter(({ absolute, real }) => real !== absolute);
  return Object.fromEntries(linked.map(({ absolute, real }) => [absolute, `leads to ${real ?? "nowhere one can look"}`]));
}
