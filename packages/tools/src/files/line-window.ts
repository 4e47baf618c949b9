export type WindowLimits = { readonly offset: number; readonly limit: number; readonly lineChars: number; readonly totalChars: number };

export type LinesShown = {
  readonly lines: readonly string[];
  /** The last line shown; below `offset` if none is. */
  readonly last: number;
  readonly total: number;
};

/** Collects the wanted lines from pieces of a text. Memory is bounded by what is shown, for lines of any length. */
export type LineWindow = { readonly add: (text: string) => void; readonly end: () => LinesShown };

/** Carriage returns before line feeds are dropped. */
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

/** `kept` is the start of the line, or all of it if it fits. */
function cutLine(kept: string, length: number, lineChars: number): string {
  if (length <= lineChars + 1 && kept.endsWith("\r")) return kept.slice(0, -1);
  if (length <= lineChars) return kept;
  const end = isHighSurrogate(kept.charCodeAt(lineChars - 1)) ? lineChars - 1 : lineChars;
  return `${kept.slice(0, end)}… [line cut: ${length} characters]`;
}

function isHighSurrogate(unit: number): boolean {
  return (unit & 0xfc00) === 0xd800;
}
