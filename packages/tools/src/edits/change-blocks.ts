import type { LineChange } from "./line-changes.ts";

/** One block per change of a file: its place, the removed and the added lines. The first block names the file. */
export function makeChangeBlocks(path: string, changes: readonly LineChange[]): readonly string[] {
  return changes.map(({ line, removed, added }, index) =>
    [
      ...(index === 0 ? [path] : []),
      `  ${line}:${findColumn(removed[0], added[0])}`,
      ...signLines("-", removed),
      ...signLines("+", added),
    ].join("\n"),
  );
}

/** The first column at which the lines differ, from 1. */
function findColumn(removed: string | undefined, added: string | undefined): number {
  if (removed === undefined || added === undefined) return 1;
  let at = 0;
  while (at < removed.length && removed[at] === added[at]) at++;
  return at + 1;
}

function signLines(sign: string, lines: readonly string[]): readonly string[] {
  return lines.flatMap((line) => (line.endsWith("\n") ? [`  ${sign} ${line.slice(0, -1)}`] : [`  ${sign} ${line}`, NO_END]));
}

const NO_END = "  \\ No newline at end of file";
