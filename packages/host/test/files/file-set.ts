import { createHash } from "node:crypto";
import { chmodSync, lstatSync, mkdirSync, readdirSync, readFileSync, readlinkSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { ChangeSet, FileChange, FileImage } from "@assent/core";

/** A content and its digest; "-> x" is a link to x, "/" a directory. */
export function image(content: string | Uint8Array | null, mode?: number): FileImage | null {
  if (content === null) return null;
  const bits = typeof mode === "number" ? { mode } : {}; // null if a child read the row from JSON
  const special =
    content === "/" ? "directory" : typeof content === "string" && content.startsWith("-> ") ? `link:${content.slice(3)}` : "";
  if (special !== "") return { digest: special, bytes: () => Buffer.alloc(0), ...bits };
  const bytes = Buffer.from(content);
  return { digest: `sha256:${createHash("sha256").update(bytes).digest("hex")}`, bytes: () => bytes, ...bits };
}

/** Puts down what is there before the set. */
export function lay(directory: string, rows: readonly Row[]): void {
  for (const [path, before, , mode, modes] of rows) {
    if (before === null) continue;
    const place = join(directory, path);
    mkdirSync(dirname(place), { recursive: true });
    if (before === "/") mkdirSync(place, { recursive: true });
    else if (before.startsWith("-> ")) symlinkSync(before.slice(3), place);
    else writeFileSync(place, before);
    if (!before.startsWith("-> ")) chmodSync(place, modes?.[0] ?? mode ?? (before === "/" ? 0o755 : 0o644));
  }
}

/** One path: what it was, what it is to be, the bits of a new file, and the bits before and after if they are part of the change. */
export type Row = readonly [
  path: string,
  before: string | null,
  after: string | null,
  mode?: number | undefined,
  modes?: readonly [before: number | undefined, after: number | undefined],
];

/** A set of files below a directory. */
export function fileSet(directory: string, rows: readonly Row[], id = "p_test"): ChangeSet {
  return {
    id,
    changes: rows.map(
      ([path, before, after, mode, modes]): FileChange => ({
        path: join(directory, path),
        before: image(before, modes?.[0]),
        after: image(after, modes?.[1]),
        mode: mode ?? null,
      }),
    ),
  };
}

/** Everything below a directory: files with mode and bytes, links with where they lead, directories. */
export function tree(directory: string, below = ""): Readonly<Record<string, string>> {
  const found: Record<string, string> = {};
  for (const name of readdirSync(join(directory, below)).toSorted()) {
    const path = join(below, name);
    const stats = lstatSync(join(directory, path));
    if (stats.isDirectory())
      Object.assign(found, { [`${path}/`]: (stats.mode & 0o777) === 0o755 ? "" : (stats.mode & 0o777).toString(8) }, tree(directory, path));
    else if (stats.isSymbolicLink()) found[path] = `-> ${readlinkSync(join(directory, path))}`;
    else if (stats.isFile()) found[path] = `${(stats.mode & 0o7777).toString(8)} ${readFileSync(join(directory, path), "utf8")}`;
    else found[path] = "special";
  }
  return found;
}
