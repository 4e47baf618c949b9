import type { LinkedFile } from "../files/opened-as.ts";
import type { Engine } from "./engine.ts";
import type { Language } from "./languages.ts";
import { findMatches, placeFinder, type TextPlace } from "./match.ts";
import type { PreparedOp } from "./prepared-ops.ts";
import { applyChanges, type Change, planChanges } from "./rewrite.ts";
import type { SkipReason, SourceText } from "./source-files.ts";
import { hasSyntaxError } from "./syntax-tree.ts";

export type PlacedChange = Pick<Change, "op" | "before" | "after"> & TextPlace & { readonly endLine: number; readonly endColumn: number };

/** The changes of one file, and its content before and after them. */
export type FileEdit = {
  readonly changes: readonly PlacedChange[];
  readonly before: Uint8Array;
  readonly after: Uint8Array;
  readonly isBroken: boolean;
  /** Set if the file has other hard links. */
  readonly linked?: LinkedFile;
};

export type FileOutcome =
  | { readonly state: "searched"; readonly nestedSkipped: number; readonly edit?: FileEdit }
  | { readonly state: "skipped"; readonly reason: SkipReason }
  /** The file has a syntax error. */
  | { readonly state: "broken" }
  | { readonly state: "overlapping"; readonly ops: readonly [number, number]; readonly at: TextPlace };

export type EditOptions = {
  readonly parse: Engine["parse"];
  readonly ops: (language: Language) => readonly PreparedOp[];
};

/** Applies all operations to a file in memory, and checks that the result parses. */
export async function editFile(source: SourceText | SkipReason, language: Language, { parse, ops }: EditOptions): Promise<FileOutcome> {
  if (typeof source === "string") return { state: "skipped", reason: source };
  const { text } = source;
  const root = (await parse(language, text)).root();
  if (hasSyntaxError(root, language)) return { state: "broken" };
  const found = ops(language).map(({ op, template, pattern }) => ({ op, template, matches: findMatches({ root, text }, pattern) }));
  const plan = planChanges(text, found);
  if (plan.state === "overlapping") return { state: "overlapping", ops: plan.ops, at: placeFinder(text)(plan.at) };
  const { changes, nestedSkipped } = plan;
  if (changes.length === 0) return { state: "searched", nestedSkipped };
  const after = applyChanges(text, changes);
  const keepsSyntax = changes.every((change) => onlyRenames(change, language));
  const edit: FileEdit = {
    changes: placeChanges(text, changes),
    before: source.bytes,
    after: Buffer.from(source.mark + after),
    isBroken: !keepsSyntax && hasSyntaxError((await parse(language, after)).root(), language),
    ...(source.linked && { linked: source.linked }),
  };
  return { state: "searched", nestedSkipped, edit };
}

function placeChanges(text: string, changes: readonly Change[]): readonly PlacedChange[] {
  const place = placeFinder(text);
  return changes.map(({ op, start, end, before, after }) => {
    const { line: endLine, column: endColumn } = place(end);
    return { op, before, after, ...place(start), endLine, endColumn };
  });
}

const RESERVED = new Set(
  (
    "abstract accessor any as assert asserts async await bigint boolean break case catch class const constructor continue debugger declare default defer " +
    "delete do else enum eval export extends false finally for from function get global if implements import in infer instanceof interface intrinsic is " +
    "keyof let meta module namespace never new null number object of out override package private protected public readonly require return satisfies set " +
    "source static string super switch symbol target this throw true try type typeof undefined unique unknown using var void while with yield"
  ).split(" "),
);
const FAMILY = new Set(["typescript", "tsx", "javascript"]);

const WORD = /([A-Za-z_$][\w$]*)/;

/** Next to one of these, a word is part of something else: an escape, a number, regex flags, a longer name. */
const JOINED = /[\d\\/'"`\u0080-\uffff]/;

/** True if a change only replaces names with names, so the result still parses and need not be checked. False in doubt. */
export function onlyRenames({ before, after }: Pick<Change, "before" | "after">, { name }: Language): boolean {
  if (!FAMILY.has(name)) return false;
  const [old, present] = [before.split(WORD), after.split(WORD)]; // words are at odd indexes
  const isRename = (index: number): boolean => index % 2 === 1 && isName(old, index) && isName(present, index);
  return old.length === present.length && old.every((piece, index) => piece === present[index] || isRename(index));
}

function isName(pieces: readonly string[], index: number): boolean {
  const [previous = "", word = "", next = ""] = pieces.slice(index - 1, index + 2);
  return !(RESERVED.has(word) || JOINED.test(previous.slice(-1)) || JOINED.test(next.slice(0, 1)));
}
