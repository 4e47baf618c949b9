import { basename, dirname } from "node:path";
import type { ChangeSet, FileChange, FileImage } from "@assent/core";

/** One file of a set, and the temporary name of its new bytes. */
export type LaidOutFile = FileChange & { readonly directory: string; readonly name: string; readonly temporary: string };

/** A directory above a new file. If Assent creates it, a marker beside it says so until the set is settled. */
export type LaidOutDirectory = {
  readonly path: string;
  readonly parent: string;
  readonly name: string;
  readonly marker: string;
  /** Part of the set itself. */
  readonly image?: FileImage;
};

export type Layout = {
  readonly files: readonly LaidOutFile[];
  /** Parents first. */
  readonly directories: readonly LaidOutDirectory[];
};

/** Derives all names from the set's id, so a later process finds the temporary files without searching. */
export function layOut({ id, changes }: ChangeSet): Layout {
  if (!/^[\w-]{1,128}$/.test(id)) throw new Error(`'${id}' cannot be part of a file name`);
  const sorted = changes.toSorted((a, b) => comparePaths(a.path, b.path));
  const twice = sorted.find(({ path }, n) => path === sorted[n + 1]?.path);
  if (twice) throw new Error(`${twice.path} appears twice in one change set`);
  const own = new Map(
    sorted.flatMap(({ path, before, after }) => (before === null && after?.digest === "directory" ? [[path, after]] : [])),
  );
  const made = new Set([...sorted.filter(({ before }) => before === null).flatMap(({ path }) => directoriesAbove(path)), ...own.keys()]);
  return {
    files: sorted.map((change, n) => ({ ...change, ...splitPath(change.path), temporary: `.assent-${id}-${n}.tmp` })),
    directories: [...made].toSorted(comparePaths).map((path, n) => {
      const { directory: parent, name } = splitPath(path);
      const image = own.get(path);
      return { path, parent, name, marker: `.assent-${id}-d${n}.tmp`, ...(image && { image }) };
    }),
  };
}

export function parentsOf(files: Iterable<LaidOutFile>): ReadonlySet<string> {
  return new Set([...files].map(({ directory }) => directory));
}

function splitPath(path: string): { readonly directory: string; readonly name: string } {
  return { directory: dirname(path), name: basename(path) };
}

function directoriesAbove(path: string): readonly string[] {
  const directory = dirname(path);
  return directory === dirname(directory) ? [] : [...directoriesAbove(directory), directory];
}

function comparePaths(a: string, b: string): number {
  return a === b ? 0 : a < b ? -1 : 1;
}
