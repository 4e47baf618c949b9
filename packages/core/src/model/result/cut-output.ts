import { splitsPair } from "../text/cut-text.ts";

/** How much text of one call the model receives, and from which end. */
export type OutputLimits = { readonly maxChars: number; readonly maxLines: number; readonly keep: "head" | "tail" | "both" };

/** What is kept of a text over its limits, and whether the whole is worth a file. */
export type Cut = {
  readonly head: string;
  readonly tail: string;
  readonly chars: number;
  readonly lines: number;
  readonly needsFile: boolean;
};

/** Where the full output is: a file, possibly cut at its own limit; "unsaved" if writing failed; undefined if little was cut. */
export type CutPlace = { readonly path: string; readonly cut?: true } | "unsaved" | undefined;

/** Limit for all results of one batch together. */
export const BATCH_CHARS = 200_000;

const DEFAULT_CHARS = 25_000;
const DEFAULT_LINES = 1_000;
/** Text this little over the limit is not worth a file. */
const SLACK = 3_000;

/** The limits of one tool; tools with their own tighter limits are not cut here. */
export function outputLimits(definition: {
  readonly maxOutputChars?: number;
  readonly maxOutputLines?: number;
  readonly keep?: OutputLimits["keep"];
}): OutputLimits {
  const maxChars = definition.maxOutputChars ?? DEFAULT_CHARS;
  const maxLines = definition.maxOutputLines ?? (maxChars === Number.POSITIVE_INFINITY ? maxChars : DEFAULT_LINES);
  return { maxChars, maxLines, keep: definition.keep ?? "both" };
}

/** Cuts a text, or returns undefined if it is within its limits. `composeCut` joins the pieces once the full text is saved. */
export function cutOutput(text: string, limits: OutputLimits): Cut | undefined {
  const { maxChars, maxLines } = limits;
  const chars = text.length;
  if (chars <= maxChars && chars <= maxLines) return undefined;
  const lines = countLines(text);
  if (chars <= maxChars && lines <= maxLines) return undefined;
  const shares = sharesOf(limits);
  let headEnd = lines > maxLines ? endOfLines(text, shares.headLines) : chars;
  let tailStart = lines > maxLines ? startOfLines(text, shares.tailLines) : 0;
  if (lines <= maxLines || headEnd + chars - tailStart > maxChars) {
    headEnd = Math.min(headEnd, shares.headChars);
    tailStart = Math.max(tailStart, chars - shares.tailChars);
  }
  const head = text.slice(0, splitsPair(text, headEnd) ? headEnd - 1 : headEnd);
  const tail = text.slice(splitsPair(text, tailStart) ? tailStart + 1 : tailStart);
  return { head, tail, chars, lines, needsFile: tailStart - headEnd > SLACK };
}

/** Joins the kept pieces around one line that says what is missing. */
export function composeCut({ head, tail, chars, lines }: Cut, place: CutPlace): string {
  let where = "";
  if (place === "unsaved") where = "; full output could not be saved";
  else if (place !== undefined)
    where = place.cut ? `; output in ${place.path}, cut there at the file limit` : `; full output in ${place.path}`;
  const before = head === "" || head.endsWith("\n") ? head : `${head}\n`;
  const after = tail === "" ? "" : `\n${tail}`;
  return `${before}[output truncated: ${chars} characters, ${lines} lines${where}]${after}`;
}

/** How many characters each result of a batch may keep; the largest is shortened first, and of equal ones the first. */
export function fitBatch(lengths: readonly number[], budget: number): readonly number[] {
  let total = 0;
  for (const length of lengths) total += length;
  if (total <= budget) return lengths;
  const { level, spare } = levelFor(lengths, Math.max(0, budget));
  let left = spare;
  const kept = lengths.map((length) => Math.min(length, level));
  for (let i = lengths.length - 1; i >= 0 && left > 0; i--) {
    if ((lengths[i] ?? 0) <= level) continue;
    kept[i] = level + 1;
    left--;
  }
  return kept;
}

/** The length at which results are cut, and what is left of the budget. */
function levelFor(lengths: readonly number[], budget: number): { readonly level: number; readonly spare: number } {
  let rest = budget;
  let many = lengths.length;
  for (const length of [...lengths].sort((a, b) => a - b)) {
    if (length * many > rest) return { level: Math.floor(rest / many), spare: rest % many };
    rest -= length;
    many--;
  }
  return { level: Number.POSITIVE_INFINITY, spare: 0 };
}

function sharesOf({
  maxChars,
  maxLines,
  keep,
}: OutputLimits): Readonly<Record<"headChars" | "tailChars" | "headLines" | "tailLines", number>> {
  if (keep === "head") return { headChars: maxChars, tailChars: 0, headLines: maxLines, tailLines: 0 };
  if (keep === "tail") return { headChars: 0, tailChars: maxChars, headLines: 0, tailLines: maxLines };
  const headChars = Math.floor(maxChars / 5);
  const headLines = Math.floor(maxLines / 5);
  return { headChars, tailChars: maxChars - headChars, headLines, tailLines: maxLines - headLines };
}

/** A trailing line break begins no new line. */
function countLines(text: string): number {
  let lines = text === "" || text.endsWith("\n") ? 0 : 1;
  for (let at = text.indexOf("\n"); at !== -1; at = text.indexOf("\n", at + 1)) lines++;
  return lines;
}

function endOfLines(text: string, lines: number): number {
  let end = 0;
  for (let i = 0; i < lines; i++) end = text.indexOf("\n", end) + 1;
  return end;
}

function startOfLines(text: string, lines: number): number {
  let start = text.endsWith("\n") ? text.length : text.length + 1;
  for (let i = 0; i < lines; i++) start = text.lastIndexOf("\n", start - 2) + 1;
  return Math.min(start, text.length);
}
