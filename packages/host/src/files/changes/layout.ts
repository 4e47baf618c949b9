import { basename, dirname } from "node:path";
import type { ChangeSet, FileChange } from "@assent/core";

/** One file of a set, and where its new bytes wait. */
export type LaidOutFile = FileChange & { readonly directory: string; readonly name: string; readonly temporary: string };

/** A directory on the way to a new file. If it has to be made, a marker beside it says so until the set is settled. */
export type LaidOutDirectory = { readonly path: string; readonly parent: string; readonly name: string; readonly marker: string };

/** A set in the order in which it is worked on. */
export type Layout = {
  /** In the order of their paths. */
  readonly files: readonly LaidOutFile[];
  /** A parent before what is in it. */
  readonly directories: readonly LaidOutDirectory[];
};

/** Names depend on the set alone: a later process finds the temporary files of an earlier one without searching. */
export function layOut({ id, changes }: ChangeSet): Layout {
  if (!/^[\w-]{1,128}$/.test(id)) throw new Error(`'${id}' cannot be part of a file name`);
  const sorted = changes.toSorted((a, b) => comparePaths(a.path, b.path));
  const twice = sorted.find(({ path }, n) => path === sorted[n + 1]?.path);
  if (twice) throw new Error(`${twice.path} appears twice in one change set`);
  const made = new Set(sorted.filter(({ before }) => before === null).flatMap(({ path }) => directoriesAbove(path)));
  return {
    files: sorted.map((change, n) => ({ ...change, ...splitPath(change.path), temporary: `.assent-${id}-${n}.tmp` })),
    directories: [...made].toSorted(comparePaths).map((path, n) => {
      const { directory: parent, name } = splitPath(path);
      return { path, parent, name, marker: `.assent-${id}-d${n}.tmp` };
    }),
  };
}

/** The directories that some files are in. */
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
