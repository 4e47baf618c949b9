import type { PathLookup } from "@assent/policy";
import type { LinkedFile } from "../files/opened-as.ts";
import type { WorkLimits } from "./in-order.ts";
import { readSource, type SkipReason, type SourceText } from "./source-text.ts";
import type { Target } from "./targets.ts";

/** A file with its text, or why it has none. */
export type SourceFile = { readonly target: Target; readonly source: SourceText | SkipReason | "unwanted" };

/** Reads files one by one as they are asked for; those of a language that nothing is looked for in are not read. */
export function* readSourceFiles(targets: readonly Target[], isWanted: (target: Target) => boolean): Generator<SourceFile> {
  for (const target of targets) yield { target, source: isWanted(target) ? readSource(target.realPath) : "unwanted" };
}

/** Whether the text of a file that was read is not shown unasked. */
export type SensitiveSource = (target: Target, linked: LinkedFile | undefined) => boolean;

type SensitivityOptions = { readonly scope: PathLookup; readonly cwd: string; readonly harmless: boolean };

/**
 * Looks at files as they are after they were read. A named file was judged by its name: only another name of it, which says that it holds secrets, can have
 * come since, and counts if nothing that was judged held any.
 */
export function sensitivityTest({ scope, cwd, harmless }: SensitivityOptions): SensitiveSource {
  return ({ path, named }, linked) => {
    if (named && !linked) return false;
    const { sensitive, isProtected } = scope(path, cwd);
    const isSecret = linked !== undefined && isProtected(linked);
    return named ? harmless && isSecret : sensitive || isSecret;
  };
}

/** Enough files at once for every thread of the pool; and few large ones, because a tree takes many times the memory of its text. */
export const FILE_LOAD: WorkLimits<SourceFile> = {
  items: 32,
  most: 1024 * 1024,
  weight: ({ source }) => (typeof source === "string" ? 0 : source.text.length),
};
