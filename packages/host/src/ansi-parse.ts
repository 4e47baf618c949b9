/** A piece of terminal output: text, a control character, or a sequence with its parameters. */
export type AnsiPiece =
  | { readonly kind: "text"; readonly text: string }
  | { readonly kind: "control"; readonly code: string }
  | { readonly kind: "sequence"; readonly final: string; readonly parameters: string };

export type AnsiParser = (chunk: string) => readonly AnsiPiece[];

/** Longer incomplete sequences are not treated as sequences. */
const LONGEST = 256;

/** The order matters: known sequences, dropped ones, incomplete ones, invalid ones, single controls. */
const PIECE = new RegExp(
  [
    "(?<text>[^\\x00-\\x1f\\x7f-\\x9f]+)",
    "(?:\\x1b\\[|\\x9b)(?<parameters>[0-?]*)[ -/]*(?<final>[@-~])",
    "(?<string>\\x1b[PX\\]^_]|[\\x90\\x98\\x9d-\\x9f])",
    "\\x1b(?<short>[ -/]*[0-OQ-WYZ\\\\`-~])",
    "(?<open>(?:\\x1b(?:\\[[0-?]*[ -/]*|[ -/]*)|\\x9b[0-?]*[ -/]*)$)",
    "(?<broken>\\x1b(?:\\[[0-?]*[ -/]*)?|\\x9b[0-?]*[ -/]*)",
    "(?<control>[\\x00-\\x1f\\x7f-\\x9f])",
  ].join("|"),
  "y",
);

/** Ends a string for the terminal itself, such as a title. A newline also does, so an open string cannot hide later text. */
const STRING_END = new RegExp(["[\\x07\\x18\\x1a\\x9c]", "(?=\\n)", "\\x1b\\\\?"].join("|"), "g");

/** Parses output like a terminal. Drops unknown sequences and holds incomplete ones until the rest arrives. */
export function makeAnsiParser(): AnsiParser {
  let rest = "";
  let inString = false;
  return (chunk) => {
    const pieces: AnsiPiece[] = [];
    const { whole: input, half } = wholeCharacters(rest + chunk);
    rest = "";
    for (let at = 0; at < input.length; ) {
      if (inString) {
        const end = endOfString(input, at);
        inString = end.open;
        rest = end.rest;
        at = end.at;
        continue;
      }
      PIECE.lastIndex = at;
      const { 0: whole = "", groups = {} } = PIECE.exec(input) ?? {};
      at += Math.max(whole.length, 1);
      if (groups["open"] !== undefined && whole.length < LONGEST) rest = whole;
      inString = groups["string"] !== undefined;
      pieces.push(...piecesOf(groups));
    }
    rest += half;
    return pieces;
  };
}

/** Holds the first half of a surrogate pair. */
function wholeCharacters(text: string): { readonly whole: string; readonly half: string } {
  const last = text.charCodeAt(text.length - 1);
  const end = last >= 0xd800 && last <= 0xdbff ? text.length - 1 : text.length;
  return { whole: text.slice(0, end), half: text.slice(end) };
}

function endOfString(input: string, from: number): { readonly open: boolean; readonly at: number; readonly rest: string } {
  STRING_END.lastIndex = from;
  const end = STRING_END.exec(input);
  if (end === null) return { open: true, at: input.length, rest: "" };
  const at = end.index + end[0].length;
  if (end[0] !== "\x1b") return { open: false, at, rest: "" };
  return at === input.length ? { open: true, at, rest: "\x1b" } : { open: false, at: end.index, rest: "" }; // another sequence also ends the string
}

function piecesOf({ text, parameters = "", final, short, control }: Readonly<Record<string, string | undefined>>): readonly AnsiPiece[] {
  if (text !== undefined) return [{ kind: "text", text }];
  if (final !== undefined) return [{ kind: "sequence", final, parameters }];
  if (short !== undefined) return [{ kind: "control", code: `\x1b${short}` }];
  return control === undefined ? [] : [{ kind: "control", code: control }];
}
