import { relative } from "node:path";
import { isInside } from "@assent/policy";

/** How results name a path: relative to the workspace where it is inside, else in full. */
export function displayPath(workspace: string, path: string): string {
  return isInside(workspace, path) ? relative(workspace, path) || "." : path;
}

/** The same text on one line: a name with a line break in it cannot pass for two. */
export function oneLine(text: string): string {
  return text.replace(/[\p{Cc}\u2028\u2029]/gu, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`);
}
