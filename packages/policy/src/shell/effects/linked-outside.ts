import { type Dirent, readdirSync } from "node:fs";
import type { PathLookup } from "../../paths/lookup.ts";

/** More entries are not looked at. */
const MOST = 5000;

/** Whether a program that follows links below a directory might leave the workspace: a link leads outside, or there is too much to look at. */
export function mayLeadOutside(directory: string, look: PathLookup): boolean {
  const waiting = [directory];
  let seen = 0;
  while (waiting.length > 0 && seen <= MOST) {
    const at = waiting.pop() ?? directory;
    const entries = entriesOf(at);
    seen += entries?.length ?? MOST + 1;
    if (entries?.some((entry) => entry.isSymbolicLink() && !isHarmless(`${at}/${entry.name}`, look))) return true;
    for (const entry of entries ?? []) if (entry.isDirectory()) waiting.push(`${at}/${entry.name}`);
  }
  return seen > MOST;
}

function isHarmless(path: string, look: PathLookup): boolean {
  const { inside, sensitive } = look(path, "/");
  return inside && !sensitive;
}

/** Undefined: one may not look. A file has none. */
function entriesOf(path: string): readonly Dirent[] | undefined {
  try {
    return readdirSync(path, { withFileTypes: true });
  } catch (error) {
    return error instanceof Error && "code" in error && (error.code === "ENOTDIR" || error.code === "ENOENT") ? [] : undefined;
  }
}
