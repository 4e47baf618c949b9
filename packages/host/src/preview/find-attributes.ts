import { rmSync, writeFileSync } from "node:fs";
import type { Processes } from "@assent/core";
import { SYSTEM_ENV } from "./workspace-view.ts";

/** Where to look, and a file for the list of paths. */
export type AttributeSearch = { readonly processes: Processes; readonly tree: string; readonly list: string };

/** `tar` names what Node cannot read: its verbose list marks entries with attributes. Prints the numbers of these, then the number of all. */
const FIND = [
  "set -o pipefail",
  [
    'tar --create --file=- --format=posix --xattrs "--xattrs-include=user.*" "--xattrs-include=security.capability" --acls',
    '--no-recursion --directory="$0" --null --verbatim-files-from --files-from="$1" 2>/dev/null',
  ].join(" "),
  "tar --list -vv --xattrs --acls --quoting-style=escape --file=- 2>/dev/null",
  "awk '/^ / { next } { n++ } substr($0, 11, 1) ~ /[*+]/ { print n } END { print n }'",
];

const WITHIN_MS = 60_000;

/** Finds paths of a tree that have extended attributes or access control lists. Rejects if that cannot be found out. */
export async function findAttributes({ processes, tree, list }: AttributeSearch, paths: readonly string[]): Promise<readonly string[]> {
  if (paths.length === 0) return [];
  writeFileSync(list, paths.map((path) => `./${path}\0`).join(""));
  try {
    const args = ["--noprofile", "--norc", "-c", `${FIND[0]}; ${FIND.slice(1).join(" | ")}`, tree, list];
    const end = await processes.run(
      { file: "/bin/bash", args, cwd: "/", env: SYSTEM_ENV, timeoutMs: WITHIN_MS },
      new AbortController().signal,
    );
    const numbers = end.output.trim().split("\n").map(Number);
    if (end.exitCode !== 0 || numbers.pop() !== paths.length) throw new Error("tar could not read the extended attributes");
    return numbers.flatMap((number) => paths[number - 1] ?? []);
  } finally {
    rmSync(list, { force: true });
  }
}
