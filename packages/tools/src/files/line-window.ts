/** Which lines are wanted, and how much of them. */
export type WindowLimits = { readonly offset: number; readonly limit: number; readonly lineChars: number; readonly totalChars: number };

/** The wanted lines, numbered. */
export type LinesShown = {
  readonly lines: readonly string[];
  /** The last line that is given; below `offset` when none is. */
  readonly last: number;
  /** Lines of the whole text. */
  readonly total: number;
};

/** Takes a text in pieces and keeps only the wanted lines, so that a line of any length costs no more memory than what is shown of it. */
export type LineWindow = { readonly add: (text: string) => void; readonly end: () => LinesShown };

/** A window on the lines of a text. A carriage return before a line break is not shown. */
export function lineWindow({ offset, limit, lineChars, totalChars }: WindowLimits): LineWindow {
  const lines: string[] = [];
  let number = 1;
  let chars = 0;
  let length = 0;
  let kept = "";
  let open = true;

  const extend = (piece: string): void => {
    length += piece.length;
    if (open && number >= offset && kept.length <= lineChars) kept += piece.slice(0, lineChars + 2);
  };
  const close = (): void => {
    if (open && number >= offset) {
      const shown = `${number}→${cutLine(kept, length, lineChars)}`;
      open = lines.length < limit && (lines.length === 0 || chars + shown.length + 1 <= totalChars);
      if (open) {
        lines.push(shown);
        chars += shown.length + 1;
      }
    }
    number++;
    length = 0;
    kept = "";
  };
  return {
    add(text) {
      let from = 0;
      for (let at = text.indexOf("\n"); at !== -1; at = text.indexOf("\n", from)) {
        extend(text.slice(from, at));
        close();
        from = at + 1;
      }
      extend(text.slice(from));
    },
    end() {
      if (length > 0) close();
      return { lines, last: offset + lines.length - 1, total: number - 1 };
    },
  };
}

/** `kept` is the line's beginning; a line that fits is kept whole, with its carriage return. */
function cutLine(kept: string, length: number, lineChars: number): string {
  if (length <= lineChars + 1 && kept.endsWith("\r")) return kept.slice(0, -1);
  if (length <= lineChars) return kept;
  const end = isHighSurrogate(kept.charCodeAt(lineChars - 1)) ? lineChars - 1 : lineChars;
  return `${kept.slice(0, end)}… [line cut: ${length} characters]`;
}

function isHighSurrogate(unit: number): boolean {
  return (unit & 0xfc00) === 0xd800;
}
