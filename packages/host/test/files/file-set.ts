import { createHash } from "node:crypto";
import { lstatSync, readdirSync, readFileSync, readlinkSync } from "node:fs";
import { join } from "node:path";
import type { ChangeSet, FileChange, FileImage } from "@assent/core";

/** A content and its digest. */
export function image(content: string | Uint8Array | null): FileImage | null {
  if (content === null) return null;
  const bytes = Buffer.from(content);
  return { digest: `sha256:${createHash("sha256").update(bytes).digest("hex")}`, bytes: () => bytes };
}

/** One file: what it was, what it is to be, and the bits of a new one. */
export type Row = readonly [path: string, before: string | null, after: string | null, mode?: number];

/** A set of files below a directory. */
export function fileSet(directory: string, rows: readonly Row[], id = "p_test"): ChangeSet {
  return {
    id,
    changes: rows.map(
      ([path, before, after, mode]): FileChange => ({
        path: join(directory, path),
        before: image(before),
        after: image(after),
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
    if (stats.isDirectory()) Object.assign(found, { [`${path}/`]: "" }, tree(directory, path));
    else if (stats.isSymbolicLink()) found[path] = `-> ${readlinkSync(join(directory, path))}`;
    else if (stats.isFile()) found[path] = `${(stats.mode & 0o7777).toString(8)} ${readFileSync(join(directory, path), "utf8")}`;
    else found[path] = "special";
  }
  return found;
}
