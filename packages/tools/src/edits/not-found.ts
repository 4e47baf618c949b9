const SHOWN_CHARS = 300;

/** A text that does not stand in a file. */
type MissingText = {
  readonly shown: string;
  /** What the file holds. */
  readonly text: string;
  readonly from: string;
  readonly to: string;
};

/** Says that a text was not found, and what stands in the file instead, as far as that can be told at a bounded cost. */
export function describeMissing({ shown, text, from, to }: MissingText): string {
  const plain = text.replaceAll("\r\n", "\n");
  const sought = from.replaceAll("\r\n", "\n");
  const hints = HINTS.flatMap(([holds, words]) => (holds({ plain, sought, to }) ? [words] : []));
  const nearest = nearestText(plain, sought);
  return [`old_string does not stand in ${shown}.`, ...hints, ...(nearest ? [regionText(nearest)] : [])].join(" ");
}

type HintInput = { readonly plain: string; readonly sought: string; readonly to: string };

/** What often is the matter. */
const HINTS: readonly (readonly [holds: (seen: HintInput) => boolean, words: string])[] = [
  [({ sought }) => /^\s*\d+→/m.test(sought), "It holds line numbers as read shows them: leave those out."],
  [
    ({ sought }) => sought.includes("\ufffd"),
    "It holds a replacement character, which stands for bytes that are no text: leave those out.",
  ],
  [({ plain, to }) => to.length > 3 && plain.includes(to.replaceAll("\r\n", "\n")), "new_string stands there already."],
];

function regionText({ line, lines, blanksOnly }: Region): string {
  const last = line + lines.length - 1;
  const where = lines.length === 1 ? `line ${line}` : `lines ${line} to ${last}`;
  const how = blanksOnly ? ", which differ from it in blanks alone" : "";
  return `The nearest text is at ${where}${how}:\n${lines.map((one, index) => `${line + index}→${cutShown(one)}`).join("\n")}`;
}

function cutShown(line: string): string {
  return line.length > SHOWN_CHARS ? `${line.slice(0, SHOWN_CHARS).toWellFormed()}…` : line;
}

/** Some lines of a text, and the number of the first of them. */
type Region = {
  readonly line: number;
  readonly lines: readonly string[];
  /** They differ from what was sought in blanks alone. */
  readonly blanksOnly: boolean;
};

/** How many lines of the sought text are looked at, and at how many of its places a line may stand. */
const MOST_LINES = 500;
const MOST_PLACES = 8;
/** What of a line counts when lines are compared. */
const LINE_CHARS = 500;
const SHOWN_LINES = 12;

/**
 * The part of a text that is most like another text, for whoever did not find that one in it. Lines count that are the same but for blanks; if there are none, the line that
 * begins and ends most like the longest of them. Linear in the text.
 */
function nearestText(text: string, sought: string): Region | undefined {
  const wanted = sought.replace(/\n$/, "").split("\n", MOST_LINES).map(lineKey);
  const start = sharedLines(text, wanted) ?? similarLine(text, wanted);
  return start === undefined ? undefined : regionAt(text, start, wanted);
}

/** A line without its blanks. */
function lineKey(line: string): string {
  return line.slice(0, LINE_CHARS).replace(/\s+/g, "");
}

function* linesOf(text: string): Generator<string> {
  let from = 0;
  for (let at = text.indexOf("\n"); at !== -1; at = text.indexOf("\n", from)) {
    yield text.slice(from, at);
    from = at + 1;
  }
  if (from < text.length) yield text.slice(from);
}

/** The line, counted from 0, at which the most of the wanted lines stand as they are wanted; undefined when too few do. */
function sharedLines(text: string, wanted: readonly string[]): number | undefined {
  const places = placesOf(wanted);
  const votes = openVotes(wanted.length);
  let line = 0;
  for (const one of linesOf(text)) {
    const key = lineKey(one);
    for (const index of places.get(key) ?? []) votes.add(line - index, key.length);
    votes.settle(++line - wanted.length);
  }
  for (let start = line - wanted.length + 1; start < line; start++) votes.settle(start);
  const { start, weight } = votes.best();
  const whole = wanted.reduce((sum, key) => sum + key.length, 0);
  return weight > 0 && weight * 4 >= whole ? start : undefined;
}

function placesOf(wanted: readonly string[]): ReadonlyMap<string, readonly number[]> {
  const places = new Map<string, readonly number[]>();
  for (const [index, key] of wanted.entries()) {
    const known = places.get(key) ?? [];
    if (key !== "" && known.length < MOST_PLACES) places.set(key, [...known, index]);
  }
  return places;
}

/** Counts what speaks for a place of so many lines. Only that many places can still get votes at a time; the others are settled. */
function openVotes(lines: number) {
  const weights = new Int32Array(lines);
  let best = { start: 0, weight: 0 };
  return {
    add(start: number, weight: number): void {
      if (start >= 0) weights[start % lines] = (weights[start % lines] ?? 0) + weight;
    },
    settle(start: number): void {
      if (start < 0) return;
      const weight = weights[start % lines] ?? 0;
      if (weight > best.weight) best = { start, weight };
      weights[start % lines] = 0;
    },
    best: () => best,
  };
}

/** The line, counted from 0, from which the wanted lines would stand if the longest of them were the one that is most like it. */
function similarLine(text: string, wanted: readonly string[]): number | undefined {
  const longest = wanted.reduce((at, key, index) => (key.length > (wanted[at]?.length ?? 0) ? index : at), 0);
  const key = wanted[longest] ?? "";
  let best = { line: -1, likeness: 0.5 };
  let line = 0;
  for (const one of linesOf(text)) {
    const likeness = likenessOf(lineKey(one), key);
    if (likeness > best.likeness) best = { line, likeness };
    line++;
  }
  return best.line === -1 ? undefined : Math.max(0, best.line - longest);
}

/** From 0 to 1: how much of both stands in the beginning and the end that they share. */
function likenessOf(left: string, right: string): number {
  const most = Math.min(left.length, right.length);
  if (most === 0) return 0;
  if (left.includes(right)) return 1;
  let start = 0;
  while (start < most && left[start] === right[start]) start++;
  let end = 0;
  while (end < most - start && left[left.length - 1 - end] === right[right.length - 1 - end]) end++;
  return (2 * (start + end)) / (left.length + right.length);
}

function regionAt(text: string, start: number, wanted: readonly string[]): Region {
  const lines: string[] = [];
  let line = 0;
  for (const one of linesOf(text)) {
    if (line >= start + wanted.length) break;
    if (line >= start) lines.push(one);
    line++;
  }
  return { line: start + 1, lines: lines.slice(0, SHOWN_LINES), blanksOnly: areAlike(lines, wanted) };
}

/** The sought text may begin and end within a line. */
function areAlike(lines: readonly string[], wanted: readonly string[]): boolean {
  if (lines.length !== wanted.length || lines.length > SHOWN_LINES || lines.some(({ length }) => length > LINE_CHARS)) return false;
  const whole = wanted.join("\n");
  return lines.map(lineKey).join("\n").includes(whole);
}
