import { relative } from "node:path";
import { isInside } from "@assent/policy";

/** Relative to the workspace if inside, otherwise absolute. */
export function displayPath(workspace: string, path: string): string {
  return isInside(workspace, path) ? relative(workspace, path) || "." : path;
}

/** Escapes control characters and line breaks, so that a file name cannot look like two lines. */
export function oneLine(text: string): string {
  return text.replace(/[\p{Cc}\u2028\u2029]/gu, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`);
}
