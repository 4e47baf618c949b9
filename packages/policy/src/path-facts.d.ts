import { type Facts, type Unit } from "@assent/core";
import { type PathFact, type SessionDirectories } from "./path-scope.ts";
/** What a path unit's `data` holds; guards and checkers of this package read it. */
export type PathUnitData = {
  readonly path: PathFact;
};
/**
 * Facts about requests that name files: one unit per location. Where a writing request's path leads through a link, the place it leads to is bound: when that changes
 * after judging, the fingerprint differs and the old answer no longer counts. Shell lines are one unit until there is an analysis of them.
 */
export declare function pathFacts(scope: SessionDirectories): Facts;
/** The path data of a unit that `pathFacts` made. */
export declare function pathOf(unit: Unit): PathFact | undefined;
