const SHOWN_CHARS = 300;

/** Explains that a text was not found, and shows the most similar lines at a bounded cost. */
export function describeMissing(shown: string, text: string, from: string, to: string): string {
  const plain = text.replaceAll("\r\n", "\n");
  const sought = from.replaceAll("\r\n", "\n");
  const hints = HINTS.flatMap(([holds, words]) => (holds({ plain, sought, to }) ? [words] : []));
  const nearest = nearestText(plain, sought);
  return [`old_string was not found in ${shown}.`, ...hints, ...(nearest ? [regionText(nearest)] : [])].join(" ");
}

type HintInput = { readonly plain: string; readonly sought: string; readonly to: string };

const HINTS: readonly (readonly [holds: (seen: HintInput) => boolean, words: string])[] = [
  [({ sought }) => /^\s*\d+→/m.test(sought), "It contains the line numbers that read shows. Leave them out."],
  [
    ({ sought }) => sought.includes("\ufffd"),
    "It contains a replacement character, which stands for bytes that are not text. Leave it out.",
  ],
  [({ plain, to }) => to.length > 3 && plain.includes(to.replaceAll("\r\n", "\n")), "new_string is already in the file."],
];

function regionText({ line, lines, blanksOnly }: Region): string {
  const last = line + lines.length - 1;
  const where = lines.length === 1 ? `line ${line}` : `lines ${line} to ${last}`;
  const how = blanksOnly ? ", which differ only in whitespace" : "";
  return `The most similar text is at ${where}${how}:\n${lines.map((one, index) => `${line + index}→${cutShown(one)}`).join("\n")}`;
}

function cutShown(line: string): string {
  return line.length > SHOWN_CHARS ? `${line.slice(0, SHOWN_CHARS).toWellFormed()}…` : line;
}

type Region = {
  readonly line: number;
  readonly lines: readonly string[];
  readonly blanksOnly: boolean;
};

/** Limits for the lines that are compared, and for the positions of a repeated line. */
const MOST_LINES = 500;
const MOST_PLACES = 8;
/** Only this much of a line is compared. */
const LINE_CHARS = 500;
const SHOWN_LINES = 12;

/**
 * Finds the lines most similar to a text, in linear time. Lines count as equal if only whitespace differs; if none are, the line that
 * shares the longest start and end with the longest wanted line is used.
 */
function nearestText(text: string, sought: string): Region | undefined {
  const wanted = sought.replace(/\n$/, "").split("\n", MOST_LINES).map(lineKey);
  const start = sharedLines(text, wanted) ?? similarLine(text, wanted);
  return start === undefined ? undefined : regionAt(text, start, wanted);
}

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

/** The index at which most of the wanted lines match; undefined if too few do. */
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

/** Counts votes for start lines. Only the last `lines` starts can still get votes; older ones are settled. */
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

/** The start index that puts the longest wanted line on the most similar line. */
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

/** From 0 to 1: the share of both texts that their common start and end make up. */
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

/** The wanted text may start and end within a line. */
function areAlike(lines: readonly string[], wanted: readonly string[]): boolean {
  if (lines.length !== wanted.length || lines.length > SHOWN_LINES || lines.some(({ length }) => length > LINE_CHARS)) return false;
  const whole = wanted.join("\n");
  return lines.map(lineKey).join("\n").includes(whole);
}
