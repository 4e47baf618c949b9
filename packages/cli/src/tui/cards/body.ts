import type { OpenApproval } from "@assent/core";
import { type FileDiff, parseDiff } from "@assent/core/parts";
import { restOfInput } from "../../desk/approvals/rest-of-input.ts";
import { approvalFacts, approvalText, approvalWarnings } from "../../desk/approvals/view.ts";
import { quotedAfter, TEXT_MARK, wrap } from "../../io/display-width.ts";
import { markGaps, oneLine, visible } from "../../io/visible-text.ts";
import { drawDiffItem, SPLIT_COLUMNS } from "../diff/draw.ts";
import { type DiffItem, diffItems } from "../diff/items.ts";
import type { Canvas } from "../draw/dialog.ts";
import type { Pages } from "../draw/pages.ts";

/** Which files are folded and which hunks are chosen. */
export type BodyView = { readonly folded: ReadonlySet<number>; readonly chosen: ReadonlySet<number> | undefined };

type Piece =
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
): (view: BodyView, columns: number) => Pages {
  let last: { readonly view: BodyView; readonly split: boolean; readonly pages: Pages } | undefined;
  return ({ folded, chosen }, columns) => {
    const split = columns >= SPLIT_COLUMNS;
    if (last?.view.folded === folded && last.view.chosen === chosen && last.split === split) return last.pages;
    const pieces = [...approvalPieces(approval, { folded, chosen, split, diff, original })];
    const pages: Pages = { count: pieces.length, draw: (at, canvas) => drawPiece(pieces[at] ?? { type: "gap" }, canvas) };
    last = { view: { folded, chosen }, split, pages };
    return pages;
  };
}

type BodyLayout = BodyView & { readonly split: boolean; readonly diff: readonly FileDiff[]; readonly original: OpenApproval | undefined };

/** The diff of an edit; empty for anything else. */
export function approvalDiff({ details }: OpenApproval): readonly FileDiff[] {
  return details.type === "edit" ? parseDiff(details.fileDiff) : [];
}

function* approvalPieces(approval: OpenApproval, laid: BodyLayout): Generator<Piece> {
  const { details } = approval;
  if (laid.original) yield { type: "fact", label: "edited", text: editedText(laid.original) };
  for (const [label, text] of approvalFacts(approval)) if (label !== "id") yield { type: "fact", label, text };
  const { lines, blocks } = restOfInput(approval);
  const inputs = lines.map((text): Piece => ({ type: "fact", label: "input", text }));
  const isPlan = details.type === "plan"; // the plan comes before the input it was handed in with
  if (!isPlan) yield* inputs;
  yield { type: "gap" };
  for (const text of approvalWarnings(details, laid.original !== undefined)) yield { type: "warning", text };
  if (laid.diff.length > 0) yield* diffPieces(laid);
  else yield* textPieces(approvalText(details), details.type === "exec");
  if (isPlan && inputs.length > 0) yield* [{ type: "gap" } as const, ...inputs];
  for (const text of blocks) {
    yield { type: "gap" };
    yield* textPieces(`input ${text}`, false);
  }
}

function editedText({ details }: OpenApproval): string {
  return `by you, and checked again${details.type === "exec" ? `; the model proposed: ${details.command}` : ""}`;
}

function* textPieces(text: string, strong: boolean): Generator<Piece> {
  const parts = wrap(visible(markGaps(text)).replaceAll("\t", "    "), LONGEST_PIECE);
  for (const part of parts) yield { type: "text", text: part, strong, several: parts.length > 1 };
}

function* diffPieces({ diff, folded, chosen, split }: BodyLayout): Generator<Piece> {
  for (const item of diffItems(diff, { split, folded })) {
    const mark = item.type !== "hunk" || !chosen ? "" : chosen.has(item.hunk) ? "[x] " : "[ ] ";
    yield { type: "diff", item, mark };
  }
}

const LABEL_COLUMNS = 8;

function drawPiece(piece: Piece, canvas: Canvas): readonly string[] {
  const { columns, theme } = canvas;
  switch (piece.type) {
    case "gap":
      return [""];
    case "fact":
      return wrap(oneLine(piece.text), columns - LABEL_COLUMNS).map(
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
