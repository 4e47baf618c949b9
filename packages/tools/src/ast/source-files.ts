import type { PathLookup } from "@assent/policy";
import type { LinkedFile } from "../files/opened-as.ts";
import type { WorkLimits } from "./in-order.ts";
import { readSource, type SkipReason, type SourceText } from "./source-text.ts";
import type { Target } from "./targets.ts";

/** A file with its text, or the reason why it has none. */
export type SourceFile = { readonly target: Target; readonly source: SourceText | SkipReason | "unwanted" };

/** Reads files one by one on demand; skips languages that nothing searches. */
export function* readSourceFiles(targets: readonly Target[], isWanted: (target: Target) => boolean): Generator<SourceFile> {
  for (const target of targets) yield { target, source: isWanted(target) ? readSource(target.realPath) : "unwanted" };
}

/** True if the file is sensitive and its text must not be shown without asking. */
export type SensitiveSource = (target: Target, linked: LinkedFile | undefined) => boolean;

type SensitivityOptions = { readonly scope: PathLookup; readonly cwd: string; readonly harmless: boolean };

/** Checks files after reading them. A named file was judged by its name, so only another hard link to it can make it sensitive now. */
export function sensitivityTest({ scope, cwd, harmless }: SensitivityOptions): SensitiveSource {
  return ({ path, named }, linked) => {
    if (named && !linked) return false;
    const { sensitive, isProtected } = scope(path, cwd);
    const isSecret = linked !== undefined && isProtected(linked);
    return named ? harmless && isSecret : sensitive || isSecret;
  };
}

/** Enough files to keep all threads busy, but few large ones: a tree takes many times the memory of its text. */
export const FILE_LOAD: WorkLimits<SourceFile> = {
  items: 32,
  most: 1024 * 1024,
  weight: ({ source }) => (typeof source === "string" ? 0 : source.text.length),
};
