import type { CommandEffects, FoundRun } from "../programs/reads.ts";
import { effectsOf } from "../programs/table.ts";

/** Programs that may get files whose names are only known at run time. */
const READERS: ReadonlySet<string> = new Set(
  (
    "awk base64 cat cksum cmp cut du file fold grep egrep fgrep head hexdump jq ls md5sum nl od readlink realpath rev sed sha1sum sha224sum sha256sum " +
    "sha384sum sha512sum sort stat tac tail test wc xxd"
  ).split(" "),
);

/** These only print the names. */
const PRINTERS: ReadonlySet<string> = new Set(["echo", "printf", "basename", "dirname"]);

/** Where a file's name is put. */
const FOUND = "{}";

export type FoundUse = { readonly uses: "files" | "names"; readonly reads: readonly string[] };

/** What a command does with files that are found at run time; undefined: more than reading them. It is tried with one file and, if it may get several, with two. */
export function useFoundFiles({ words, many }: FoundRun): FoundUse | undefined {
  const [name = "", ...args] = words;
  if (PRINTERS.has(name)) return effectsOf(name, args)?.hazards.length === 0 ? { uses: "names", reads: [] } : undefined;
  if (!READERS.has(name) || args.some((word) => word.includes(FOUND) && word !== FOUND)) return undefined;
  const trials = [args, ...(many ? [args.flatMap((word) => (word === FOUND ? [word, word] : [word]))] : [])];
  const effects = trials.map((trial) => effectsOf(name, trial));
  return effects.every((one, i) => one && onlyReads(one, trials[i] ?? []))
    ? { uses: "files", reads: (effects[0]?.reads ?? []).filter((path) => path !== FOUND) }
    : undefined;
}

function onlyReads(
  { class: said, reads, writes, perhaps, hazards, follows, repository, skips }: CommandEffects,
  args: readonly string[],
): boolean {
  if (said !== "read" || hazards.length + writes.length + perhaps.length > 0 || follows || repository || skips) return false;
  const count = (all: readonly string[]): number => all.filter((word) => word === FOUND).length;
  return count(args) > 0 && count(reads) === count(args);
}
