import { nearestText, type Region } from "./nearest-text.ts";

const SHOWN_CHARS = 300;

/** A text that does not stand in a file. */
type Missing = {
  readonly shown: string;
  /** What the file holds. */
  readonly text: string;
  readonly from: string;
  readonly to: string;
};

/** Says that a text was not found, and what stands in the file instead, as far as that can be told at a bounded cost. */
export function notFound({ shown, text, from, to }: Missing): string {
  const plain = text.replaceAll("\r\n", "\n");
  const sought = from.replaceAll("\r\n", "\n");
  const hints = HINTS.flatMap(([holds, words]) => (holds({ plain, sought, to }) ? [words] : []));
  const nearest = nearestText(plain, sought);
  return [`old_string does not stand in ${shown}.`, ...hints, ...(nearest ? [regionText(nearest)] : [])].join(" ");
}

type Seen = { readonly plain: string; readonly sought: string; readonly to: string };

/** What often is the matter. */
const HINTS: readonly (readonly [holds: (seen: Seen) => boolean, words: string])[] = [
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
  return `The nearest text is at ${where}${how}:\n${lines.map((one, index) => `${line + index}→${cut(one)}`).join("\n")}`;
}

function cut(line: string): string {
  return line.length > SHOWN_CHARS ? `${line.slice(0, SHOWN_CHARS).toWellFormed()}…` : line;
}
