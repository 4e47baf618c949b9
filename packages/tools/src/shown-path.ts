import { relative } from "node:path";
import { isInside } from "@assent/policy";

/** How results name a path: relative to the workspace where it is inside, else in full. */
export function shownPath(workspace: string, path: string): string {
  return isInside(workspace, path) ? relative(workspace, path) || "." : path;
}
