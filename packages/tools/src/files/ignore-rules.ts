import { compileNameGlob, compilePathGlob } from "./path-glob.ts";

/** Whether one ignore file ignores a path below its directory; undefined if no line matches. */
export type IgnoreRules = (path: string, isDirectory: boolean) => boolean | undefined;

type IgnoreRule = {
  readonly ignores: boolean;
  readonly directoriesOnly: boolean;
  readonly matches: (path: string) => boolean;
};

/** Parses an ignore file in git's syntax. Paths are relative to its directory; the last matching line wins. */
export function parseIgnoreRules(text: string): IgnoreRules {
  const rules = text
    .replace(/^\ufeff/, "")
    .split("\n")
    .flatMap((line) => readLine(line) ?? [])
    .reverse();
  return (path, isDirectory) => rules.find((rule) => (isDirectory || !rule.directoriesOnly) && rule.matches(path))?.ignores;
}

/** Undefined for a blank line or a comment. */
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

/** A slash before the end anchors the pattern. `a/**` matches what is inside `a`, not `a` itself. */
function anchored(path: string): IgnoreRule["matches"] {
  const pattern = path.startsWith("/") ? path.slice(1) : path;
  const matches = compilePathGlob(pattern.endsWith("/**") ? `${pattern}/*` : pattern);
  return (given) => matches(given.split("/"));
}

function anywhere(name: string): IgnoreRule["matches"] {
  const matches = compileNameGlob(name);
  return (given) => matches(given.slice(given.lastIndexOf("/") + 1));
}

/** Trailing spaces count only after a backslash. */
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
