import { compileNameGlob, compilePathGlob } from "./path-glob.ts";

/** What one ignore file says of a path below its directory; undefined: nothing. */
export type IgnoreRules = (path: string, isDirectory: boolean) => boolean | undefined;

type IgnoreRule = {
  readonly ignores: boolean;
  readonly directoriesOnly: boolean;
  readonly matches: (path: string) => boolean;
};

/** Reads an ignore file in git's notation. Paths are relative to its directory, with slashes; the last line that matches has the say. */
export function parseIgnoreRules(text: string): IgnoreRules {
  const rules = text
    .replace(/^\ufeff/, "")
    .split("\n")
    .flatMap((line) => readLine(line) ?? [])
    .reverse();
  return (path, isDirectory) => rules.find((rule) => (isDirectory || !rule.directoriesOnly) && rule.matches(path))?.ignores;
}

/** Undefined: the line is blank or a comment. */
function readLine(line: string): IgnoreRule | undefined {
  const text = withoutTrailingBlanks(line.endsWith("\r") ? line.slice(0, -1) : line);
  if (text === "" || text.startsWith("#")) return undefined;
  const ignores = !text.startsWith("!");
  const pattern = ignores ? text : text.slice(1);
  const directoriesOnly = pattern.endsWith("/");
  const path = directoriesOnly ? pattern.slice(0, -1) : pattern;
  if (path === "" || path === "/") return undefined;
  return { ignores, directoriesOnly, matches: path.includes("/") ? anchored(path) : anywhere(path) };
}

/** A slash before the end ties the pattern to the file's directory. `a/**` is what lies in `a`, not `a` itself. */
function anchored(path: string): IgnoreRule["matches"] {
  const pattern = path.startsWith("/") ? path.slice(1) : path;
  const matches = compilePathGlob(pattern.endsWith("/**") ? `${pattern}/*` : pattern);
  return (given) => matches(given.split("/"));
}

function anywhere(name: string): IgnoreRule["matches"] {
  const matches = compileNameGlob(name);
  return (given) => matches(given.slice(given.lastIndexOf("/") + 1));
}

/** Blanks at the end count only where a backslash stands before them. */
function withoutTrailingBlanks(line: string): string {
  let end = line.length;
  while (end > 0 && line[end - 1] === " " && !isEscaped(line, end - 1)) end--;
  return line.slice(0, end);
}

function isEscaped(line: string, index: number): boolean {
  let backslashes = 0;
  while (line[index - 1 - backslashes] === "\\") backslashes++;
  return backslashes % 2 === 1;
}
