import { type Dirent, readdirSync, type Stats, statSync } from "node:fs";
import { join } from "node:path";

/** Changes when a file below these paths is created, changed or removed. */
export function toolStamp(paths: readonly string[]): string {
  return paths.flatMap((path) => (statsOf(path)?.isDirectory() ? stampsIn(path) : stampsOf(path))).join("\n");
}

const INSTALLED: readonly string[] = ["node_modules", ".git"];

function stampsIn(folder: string): readonly string[] {
  return entriesOf(folder).flatMap((entry) => {
    const path = join(folder, entry.name);
    if (!entry.isDirectory()) return stampsOf(path);
    return INSTALLED.includes(entry.name) ? [] : stampsIn(path);
  });
}

function stampsOf(file: string): readonly string[] {
  const stats = statsOf(file);
  return stats ? [`${file} ${stats.ino} ${stats.size} ${stats.mtimeMs}`] : [];
}

function statsOf(path: string): Stats | undefined {
  try {
    return statSync(path, { throwIfNoEntry: false });
  } catch {
    return undefined; // a loop of links, or a folder without access
  }
}

function entriesOf(folder: string): readonly Dirent[] {
  try {
    return readdirSync(folder, { withFileTypes: true }).sort((a, b) => (a.name < b.name ? -1 : 1));
  } catch {
    return []; // removed meanwhile, or unreadable
  }
}
