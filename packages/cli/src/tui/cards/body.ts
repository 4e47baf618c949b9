import type { EffectOffer, OpenApproval, ShownEffect } from "@assent/core";
import { type FileDiff, parseDiff } from "@assent/core/parts";
import { describeEffect } from "../../desk/approvals/effect.ts";
import { restOfInput } from "../../desk/approvals/rest-of-input.ts";
import { approvalFacts, approvalText, approvalWarnings, wrapFact } from "../../desk/approvals/view.ts";
import { quotedAfter, TEXT_MARK, wrap } from "../../io/display-width.ts";
import { markGaps, oneLine, readable, visible } from "../../io/visible-text.ts";
import { type ChoiceStop, type ChosenParts, choiceMark } from "../diff/choice.ts";
import { drawDiffItem, SPLIT_COLUMNS } from "../diff/draw.ts";
import { type DiffItem, diffItems } from "../diff/items.ts";
import type { Canvas } from "../draw/dialog.ts";
import type { Pages } from "../draw/pages.ts";

/** Which files are folded or skipped, what is chosen, and where the cursor is while choosing. */
export type BodyView = {
  readonly folded: ReadonlySet<number>;
  readonly skipped: ReadonlySet<number>;
  readonly chosen: ChosenParts | undefined;
  readonly cursor: ChoiceStop;
};

/** The body in pieces, with the places of its files and hunks. */
export type CardPages = Pages & {
  /** The first piece of each file, and the piece after the last file. */
  readonly starts: readonly number[];
  readonly placeOf: (stop: ChoiceStop) => number;
};

type BodyPiece =
  | { readonly type: "fact"; readonly label: string; readonly text: string }
  | { readonly type: "text"; readonly text: string; readonly strong: boolean; readonly several: boolean }
  | { readonly type: "warning"; readonly text: string }
  | { readonly type: "gap" }
  | { readonly type: "diff"; readonly item: DiffItem; readonly mark: string };

/** Longer lines are split, so that they can be paged through. */
const LONGEST_PIECE = 400;

/** Everything a person must see before approving. The latest layout is cached, because one frame asks for it several times. */
export function cardBody(
  approval: OpenApproval,
  diff: readonly FileDiff[],
  original?: OpenApproval,
): (view: BodyView, columns: number) => CardPages {
  let last: { readonly view: BodyView; readonly split: boolean; readonly pages: CardPages } | undefined;
  return (view, columns) => {
    const split = columns >= SPLIT_COLUMNS;
    if (last && isSameView(last.view, view) && last.split === split) return last.pages;
    const { folded, skipped, chosen, cursor } = view;
    const pieces = [...approvalPieces(approval, { folded, skipped, chosen, cursor, split, diff, original })];
    const pages: CardPages = {
      count: pieces.length,
      draw: (at, canvas) => drawPiece(pieces[at] ?? { type: "gap" }, canvas),
      starts: startsOf(pieces),
      placeOf: (stop) =>
        Math.max(
          0,
          pieces.findIndex((piece) => isAt(piece, stop)),
        ),
    };
    last = { view: { folded, skipped, chosen, cursor }, split, pages };
    return pages;
  };
}

function isSameView(left: BodyView, right: BodyView): boolean {
  return left.folded === right.folded && left.skipped === right.skipped && left.chosen === right.chosen && left.cursor === right.cursor;
}

function startsOf(pieces: readonly BodyPiece[]): readonly number[] {
  const files = [...pieces.entries()].flatMap(([at, piece]) => (piece.type === "diff" && piece.item.type === "file" ? [at] : []));
  return [...files, pieces.findLastIndex(({ type }) => type === "diff") + 1];
}

function isAt(piece: BodyPiece, { file, hunk }: ChoiceStop): boolean {
  if (piece.type !== "diff") return false;
  const { item } = piece;
  return hunk === undefined ? item.type === "file" && item.file === file : item.type === "hunk" && item.file === file && item.hunk === hunk;
}

type BodyLayout = BodyView & { readonly split: boolean; readonly diff: readonly FileDiff[]; readonly original: OpenApproval | undefined };

/** The diff of an edit, or of what a command did on a copy; empty for anything else. */
export function approvalDiff({ details }: OpenApproval): readonly FileDiff[] {
  if (details.type === "edit") return parseDiff(details.fileDiff);
  return details.effect?.state === "shown" ? details.effect.blocks.flatMap(parseDiff) : [];
}

function* approvalPieces(approval: OpenApproval, laid: BodyLayout): Generator<BodyPiece> {
  const { details } = approval;
  if (laid.original) yield { type: "fact", label: "edited", text: editedText(laid.original) };
  const hidden = details.effect?.state === "shown" ? ["id", "always"] : ["id"]; // after a preview, no answer is remembered
  for (const [label, text] of approvalFacts(approval)) if (!hidden.includes(label)) yield { type: "fact", label, text };
  const { lines, blocks } = restOfInput(approval);
  const inputs = lines.map((text): BodyPiece => ({ type: "fact", label: "input", text }));
  const isPlan = details.type === "plan"; // the plan comes before the input it was handed in with
  if (!isPlan) yield* inputs;
  yield { type: "gap" };
  for (const text of approvalWarnings(details, laid.original !== undefined)) yield { type: "warning", text };
  const isChange = laid.diff.length > 0 && details.effect === undefined;
  if (!isChange) yield* textPieces(approvalText(details), details.type === "exec");
  if (details.effect?.state === "shown") yield* effectPieces(details.effect, laid.chosen !== undefined);
  if (laid.diff.length > 1) yield { type: "text", text: countFiles(laid.diff), strong: false, several: false };
  yield* diffPieces(laid);
  if (details.effect?.state === "shown") yield* outputPieces(details.effect);
  if (isPlan && inputs.length > 0) yield* [{ type: "gap" } as const, ...inputs];
  for (const text of blocks) {
    yield { type: "gap" };
    yield* textPieces(`input ${text}`, false);
  }
}

function* effectPieces(effect: Extract<EffectOffer, { readonly state: "shown" }>, isChoosing: boolean): Generator<BodyPiece> {
  const { heading, changes, warnings, outcome } = describeEffect(effect);
  yield { type: "gap" };
  yield { type: "fact", label: "preview", text: heading };
  for (const text of changes) yield { type: "fact", label: "", text };
  for (const text of warnings) yield { type: "warning", text };
  yield { type: "fact", label: "yes", text: isChoosing ? WRITES_CHOSEN : outcome };
  yield { type: "gap" };
}

const WRITES_CHOSEN =
  "Yes writes what is marked [x], exactly these bytes. It does not run the command again. Files that it only read may have changed since.";

function* outputPieces({ output }: ShownEffect): Generator<BodyPiece> {
  if (output === "") return;
  yield { type: "gap" };
  yield { type: "fact", label: "output", text: "of the command, on the copy:" };
  yield* textPieces(output, false);
}

function editedText({ details }: OpenApproval): string {
  return `by you, and checked again${details.type === "exec" ? `; the model proposed: ${details.command}` : ""}`;
}

function* textPieces(text: string, strong: boolean): Generator<BodyPiece> {
  const parts = wrap(readable(markGaps(text)), LONGEST_PIECE);
  for (const part of parts) yield { type: "text", text: part, strong, several: parts.length > 1 };
}

function countFiles(diff: readonly FileDiff[]): string {
  const count = (of: "added" | "removed"): number => diff.reduce((sum, file) => sum + file[of], 0);
  return `${diff.length} files, +${count("added")} -${count("removed")}`;
}

function* diffPieces({ diff, folded, skipped, chosen, cursor, split }: BodyLayout): Generator<BodyPiece> {
  for (const item of diffItems(diff, { split, folded, skipped }))
    yield { type: "diff", item, mark: markOf(item, { diff, chosen, cursor }) };
}

/** Marks what is chosen, and where the cursor is. The only file needs no mark, its hunks have them. */
function markOf(item: DiffItem, { diff, chosen, cursor }: Pick<BodyLayout, "diff" | "chosen" | "cursor">): string {
  if (!chosen || (item.type !== "hunk" && item.type !== "file")) return "";
  const stop: ChoiceStop = item.type === "hunk" ? { file: item.file, hunk: item.hunk } : { file: item.file };
  const isOnlyFile = item.type === "file" && diff.length === 1 && item.file === 0 && (diff[0]?.hunks.length ?? 0) > 1;
  const mark = isOnlyFile ? "" : choiceMark(diff, chosen, stop);
  return mark === "" ? "" : `${cursor.file === stop.file && cursor.hunk === stop.hunk ? ">" : " "}${mark}`;
}

const LABEL_COLUMNS = 8;

function drawPiece(piece: BodyPiece, canvas: Canvas): readonly string[] {
  const { columns, theme } = canvas;
  switch (piece.type) {
    case "gap":
      return [""];
    case "fact":
      return wrapFact(piece.label, oneLine(piece.text), columns - LABEL_COLUMNS).map(
        (line, at) => `${theme.dim((at === 0 ? piece.label : "").padEnd(LABEL_COLUMNS))}${line}`,
      );
    case "warning":
      return quotedAfter("! ", visible(piece.text), columns).map(theme.warning);
    case "text": {
      const rows = wrap(piece.text, columns - TEXT_MARK.length);
      const mark = piece.several || rows.length > 1 ? theme.border(TEXT_MARK) : "  ";
      return rows.map((line) => `${mark}${piece.strong ? theme.bold(line) : line}`);
    }
    default:
      return drawDiffItem(piece.item, { ...canvas, columns: columns - piece.mark.length }).map(
        (line, at) => `${at === 0 ? piece.mark : ""}${line}`,
      );
  }
}
