import type { DiffLine, FileDiff } from "@assent/core/parts";

/** One item of a drawn diff. A `pair` is two lines side by side. */
export type DiffItem =
  | {
      readonly type: "file";
      readonly file: number;
      readonly name: string;
      readonly isNew: boolean;
      readonly isDeleted: boolean;
      readonly added: number;
      readonly removed: number;
      readonly folded: boolean;
      readonly skipped: boolean;
    }
  | { readonly type: "note"; readonly text: string }
  | { readonly type: "hunk"; readonly file: number; readonly hunk: number; readonly header: string; readonly id: string | undefined }
  | { readonly type: "line"; readonly name: string; readonly line: DiffLine; readonly other: DiffLine | undefined }
  | { readonly type: "pair"; readonly name: string; readonly left: DiffLine | undefined; readonly right: DiffLine | undefined };

export type DiffLayout = { readonly split: boolean; readonly folded: ReadonlySet<number>; readonly skipped?: ReadonlySet<number> };

export function diffItems(files: readonly FileDiff[], { split, folded, skipped }: DiffLayout): readonly DiffItem[] {
  const items: DiffItem[] = [];
  for (const [file, diff] of files.entries()) {
    const { name, isNew, isDeleted = false, added, removed } = diff;
    items.push({
      type: "file",
      file,
      name,
      isNew,
      isDeleted,
      added,
      removed,
      folded: folded.has(file),
      skipped: skipped?.has(file) === true,
    });
    if (folded.has(file)) continue;
    for (const item of fileItems(diff, { file, split })) items.push(item);
  }
  return items;
}

function* fileItems(
  { name, notes, hunks, inside = [] }: FileDiff,
  { file, split }: { readonly file: number; readonly split: boolean },
): Generator<DiffItem> {
  for (const text of notes) yield { type: "note", text };
  for (const diff of inside) yield* insideItems(diff, split);
  for (const [hunk, { header, lines, id }] of hunks.entries()) {
    yield { type: "hunk", file, hunk, header, id };
    for (const block of blocksOf(lines)) yield* blockItems(block, name, split);
  }
}

function* insideItems({ name, notes, hunks }: FileDiff, split: boolean): Generator<DiffItem> {
  for (const text of [name, ...notes]) yield { type: "note", text };
  for (const { header, lines } of hunks) {
    yield { type: "note", text: header };
    for (const block of blocksOf(lines)) yield* blockItems(block, name, split);
  }
}

/** Removed lines and the lines that replace them; an unchanged line is on both sides. */
type ChangeBlock = { readonly left: readonly DiffLine[]; readonly right: readonly DiffLine[] };

function* blocksOf(lines: readonly DiffLine[]): Generator<ChangeBlock> {
  for (let at = 0; at < lines.length; ) {
    const left = run(lines, at, "removed");
    const right = run(lines, at + left.length, "added");
    at += left.length + right.length;
    if (left.length + right.length > 0) yield { left, right };
    const same = run(lines, at, "same");
    at += same.length;
    for (const line of same) yield { left: [line], right: [line] };
  }
}

function run(lines: readonly DiffLine[], from: number, kind: DiffLine["kind"]): readonly DiffLine[] {
  let to = from;
  while (lines[to]?.kind === kind) to += 1;
  return lines.slice(from, to);
}

function blockItems({ left, right }: ChangeBlock, name: string, split: boolean): readonly DiffItem[] {
  if (split)
    return Array.from({ length: Math.max(left.length, right.length) }, (_, at) => ({
      type: "pair",
      name,
      left: left[at],
      right: right[at],
    }));
  const [first] = left;
  if (first?.kind === "same") return [{ type: "line", name, line: first, other: undefined }];
  const paired = left.length === right.length;
  return [
    ...left.map((line, at): DiffItem => ({ type: "line", name, line, other: paired ? right[at] : undefined })),
    ...right.map((line, at): DiffItem => ({ type: "line", name, line, other: paired ? left[at] : undefined })),
  ];
}
