import type { LinkedFile } from "../files/opened-as.ts";
import type { Engine } from "./engine.ts";
import type { Language } from "./languages.ts";
import { placeFinder, type TextPlace } from "./line-columns.ts";
import { findMatches } from "./match.ts";
import { onlyRenames } from "./only-renames.ts";
import type { PreparedOp } from "./ready-ops.ts";
import { applyChanges, type Change, planChanges } from "./rewrite.ts";
import type { SourceFile } from "./source-files.ts";
import type { SkipReason, SourceText } from "./source-text.ts";
import { hasSyntaxError } from "./syntax-error.ts";
import type { Target } from "./targets.ts";

export type PlacedChange = Change & TextPlace & { readonly endLine: number; readonly endColumn: number };

export type EditedFile = {
  readonly target: Target;
  readonly changes: readonly PlacedChange[];
  readonly before: Uint8Array;
  readonly after: Uint8Array;
  /** True if the result has a syntax error. */
  readonly isBroken: boolean;
  /** Set if the file has other hard links. */
  readonly linked?: LinkedFile;
};

/** The result of all operations on one file. */
export type FileOutcome =
  | { readonly state: "searched"; readonly nestedSkipped: number; readonly edited?: EditedFile }
  | { readonly state: "skipped"; readonly reason: SkipReason; readonly target: Target }
  /** The file has a syntax error. */
  | { readonly state: "broken"; readonly target: Target }
  /** No operation supports its language. */
  | { readonly state: "untouched" }
  | { readonly state: "overlapping"; readonly ops: readonly [number, number]; readonly at: TextPlace; readonly target: Target };

export type EditOptions = {
  readonly parse: Engine["parse"];
  readonly ops: (language: Language) => readonly PreparedOp[];
};

/** Applies all operations to a file in memory, and checks that the result parses. */
export async function editFile({ target, source }: SourceFile, { parse, ops }: EditOptions): Promise<FileOutcome> {
  if (source === "unwanted") return { state: "untouched" };
  if (typeof source === "string") return { state: "skipped", reason: source, target };
  const { text } = source;
  const root = (await parse(target.language, text)).root();
  if (hasSyntaxError(root, target.language)) return { state: "broken", target };
  const found = ops(target.language).map(({ op, template, pattern }) => ({ op, template, matches: findMatches({ root, text }, pattern) }));
  const rewriting = planChanges(text, found);
  if (rewriting.state === "overlapping") return { state: "overlapping", ops: rewriting.ops, at: placeFinder(text)(rewriting.at), target };
  const { changes, nestedSkipped } = rewriting;
  if (changes.length === 0) return { state: "searched", nestedSkipped };
  return { state: "searched", nestedSkipped, edited: await makeEditedFile(parse, { target, source, changes }) };
}

type PlannedRewrite = { readonly target: Target; readonly source: SourceText; readonly changes: readonly Change[] };

async function makeEditedFile(parse: Engine["parse"], { target, source, changes }: PlannedRewrite): Promise<EditedFile> {
  const { language } = target;
  const after = applyChanges(source.text, changes);
  const place = placeFinder(source.text);
  const placed = changes.map((change) => {
    const end = place(change.end);
    return { ...change, ...place(change.start), endLine: end.line, endColumn: end.column };
  });
  return {
    target,
    changes: placed,
    before: source.bytes,
    ...(source.linked && { linked: source.linked }),
    after: Buffer.from(source.mark + after),
    isBroken: !changes.every((change) => onlyRenames(change, language)) && hasSyntaxError((await parse(language, after)).root(), language),
  };
}
