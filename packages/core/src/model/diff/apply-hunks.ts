import type { FileDiff, Hunk } from "./parse-diff.ts";

/** Returns the file's content with only the chosen hunks applied. */
export function applyHunks(original: string, diff: FileDiff, chosen: ReadonlySet<number>): string {
  const lines = original.match(/[^\n]*\n|[^\n]+$/g) ?? [];
  let made = "";
  let at = 0;
  for (const hunk of diff.hunks.filter((_, index) => chosen.has(index))) {
    const start = hunk.oldStart - 1;
    made += lines.slice(at, start).join("") + hunkContent(hunk);
    at = start + hunk.oldLines;
  }
  return made + lines.slice(at).join("");
}

function hunkContent({ lines }: Hunk): string {
  const kept = lines.filter(({ kind }) => kind !== "removed");
  return kept.map(({ text, open }) => (open ? text : `${text}\n`)).join("");
}
