import { CURSOR_MARKER, type Terminal, TuiMainScreen, visibleWidth } from "@earendil-works/pi-tui";

/** One frame. */
export type Frame = {
  /** Final lines, printed once into the scrollback. */
  readonly printed: readonly string[];
  /** Lines that may change; only the last ones that fit are drawn. */
  readonly lines: readonly string[];
  /** A full-screen page shown instead. */
  readonly page?: readonly string[] | undefined;
};

/** Provides frames to the screen. */
export type Painter = {
  readonly frame: (size: { readonly columns: number; readonly rows: number }) => Frame;
  /** Called after the frame is written. */
  readonly painted: () => void;
};

type Cursor = { readonly row: number; readonly column: number };

const BEGIN = "\u001b[?2026h\u001b[?25l";
const END = "\u001b[?2026l";
const RESET = "\u001b[0m";
/** Erases this row and all below. Some terminals copy a cleared screen to the scrollback, so the first row is erased separately. */
const ERASE = "\u001b[2K\u001b7\u001b[1B\r\u001b[J\u001b8";

/** Draws only its own lines at the bottom. Final lines go to the scrollback once, only changed rows are written, and nothing above is cleared, even after a resize. */
export class LiveScreen extends TuiMainScreen {
  readonly #painter: Painter;
  /** The rows on the screen. */
  #rows: readonly string[];
  /** Rows that a smaller window pushed into the scrollback; a larger one may bring them back. */
  #stranded: readonly string[] = [];
  #columns: number;
  #height: number;
  #cursor: Cursor;
  #page: readonly string[] | undefined;
  #pageColumns = 0;
  #pageRows = 0;

  /** `shown`: rows that are already on the screen. */
  constructor(terminal: Terminal, painter: Painter, shown: readonly string[] = []) {
    super(terminal);
    this.#painter = painter;
    this.#rows = shown;
    this.#columns = terminal.columns;
    this.#height = terminal.rows;
    this.#cursor = { row: Math.max(0, shown.length - 1), column: visibleWidth(shown.at(-1) ?? "") };
  }

  /** Erases the live rows. */
  wipe(): void {
    this.terminal.write(`${this.#leavePage()}${this.#toTop()}${ERASE}\u001b[?25h`);
    this.#rows = [];
    this.#cursor = { row: 0, column: 0 };
  }

  protected override resetRenderState(): void {
    this.#columns = -1;
  }

  protected override beforeTerminalStop(): void {
    this.wipe();
  }

  protected override doRender(): void {
    if (this.stopped) return;
    const { columns, rows } = this.terminal;
    const { printed, lines, page } = this.#painter.frame({ columns, rows });
    if (page) this.#drawPage(page.slice(0, rows));
    else this.#drawLines(printed, lines.slice(-Math.max(rows, 1)));
    this.#painter.painted();
  }

  #drawPage(page: readonly string[]): void {
    const { columns, rows } = this.terminal;
    const moved = this.#pageColumns !== columns || this.#pageRows !== rows;
    const enter = `${this.#page ? "" : "\u001b[?1049h"}${!this.#page || moved ? "\u001b[2J" : ""}`;
    if (moved) this.#page = [];
    this.#pageColumns = columns;
    this.#pageRows = rows;
    const changed = page.map((line, row) => (this.#page?.[row] === line ? "" : `\u001b[${row + 1};1H\u001b[2K${line}${RESET}`)).join("");
    const below = (this.#page?.length ?? 0) > page.length ? `\u001b[${page.length + 1};1H\u001b[J` : "";
    this.#page = page;
    this.terminal.write(`${BEGIN}${enter}${changed}${below}${END}`);
  }

  #leavePage(): string {
    if (!this.#page) return "";
    this.#page = undefined;
    return "\u001b[?1049l";
  }

  #drawLines(printed: readonly string[], lines: readonly string[]): void {
    const { rows, cursor } = withoutCursor(lines.length === 0 ? [""] : lines);
    const leave = this.#leavePage();
    const { columns, rows: height } = this.terminal;
    const moved = columns === this.#columns && height === this.#height ? "" : this.#forgetRows(columns, height);
    if (printed.length > 0) this.#stranded = []; // the printed lines come in between
    const body = printed.length > 0 || this.#rows.length === 0 ? this.#rewrite(printed, rows) : this.#update(rows);
    const out = `${leave}${moved}${body}${this.#place(cursor, rows)}`;
    if (out !== "") this.terminal.write(`${BEGIN}${out}${END}`);
  }

  /** After a resize the terminal rewraps and moves rows. Counts the rows above the cursor anew and erases all that can be reached. */
  #forgetRows(columns: number, height: number): string {
    const width = Math.max(columns, 1);
    const above = [...this.#stranded, ...this.#rows.slice(0, this.#cursor.row)];
    let reach = Math.floor(this.#cursor.column / width);
    let first = above.length;
    for (; first > 0 && reach < height - 1; first -= 1) reach += Math.max(1, Math.ceil(visibleWidth(above[first - 1] ?? "") / width));
    this.#stranded = above.slice(0, first);
    this.#columns = columns;
    this.#height = height;
    this.#rows = [];
    this.#cursor = { row: 0, column: 0 };
    return `${up(Math.min(reach, height - 1))}\r${ERASE}`;
  }

  #toTop(): string {
    return `${up(this.#cursor.row)}\r`;
  }

  /** Rewrites everything; leaves the cursor in the last row. */
  #rewrite(printed: readonly string[], rows: readonly string[]): string {
    const all = [...printed, ...rows];
    const out = this.#toTop() + all.map((row, at) => `${at === all.length - 1 ? "\u001b[J" : "\u001b[2K"}${row}${RESET}`).join("\r\n");
    this.#rows = rows;
    this.#cursor = { row: Math.max(0, rows.length - 1), column: 0 };
    return out;
  }

  /** Rewrites only changed rows. */
  #update(rows: readonly string[]): string {
    let out = "";
    let at = this.#cursor.row;
    const before = this.#rows;
    for (const [row, line] of rows.entries()) {
      if (before[row] === line) continue;
      out += `${row < before.length ? move(row - at) : `${move(before.length - 1 - at)}${"\r\n".repeat(row - before.length + 1)}`}\r\u001b[2K${line}${RESET}`;
      at = row;
      if (row >= before.length) return `${out}${this.#append(rows, row)}`;
    }
    if (rows.length < before.length) {
      out += `${move(rows.length - at)}\r\u001b[J${up(1)}`;
      at = rows.length - 1;
    }
    this.#rows = rows;
    this.#cursor = { row: at, column: 0 };
    return out;
  }

  #append(rows: readonly string[], from: number): string {
    this.#rows = rows;
    this.#cursor = { row: rows.length - 1, column: 0 };
    return rows
      .slice(from + 1)
      .map((line) => `\r\n\u001b[2K${line}${RESET}`)
      .join("");
  }

  /** Places the hidden terminal cursor at the prompt, where input methods open their windows. */
  #place(cursor: Cursor | undefined, rows: readonly string[]): string {
    const { row, column } = cursor ?? { row: rows.length - 1, column: 0 };
    if (row === this.#cursor.row && column === this.#cursor.column) return "";
    const out = `${move(row - this.#cursor.row)}\r${column > 0 ? `\u001b[${column}C` : ""}`;
    this.#cursor = { row, column };
    return out;
  }
}

function withoutCursor(lines: readonly string[]): { readonly rows: readonly string[]; readonly cursor: Cursor | undefined } {
  const row = lines.findLastIndex((line) => line.includes(CURSOR_MARKER));
  if (row === -1) return { rows: lines, cursor: undefined };
  const line = lines[row] ?? "";
  const at = line.indexOf(CURSOR_MARKER);
  return {
    rows: lines.with(row, line.replace(CURSOR_MARKER, "")),
    cursor: { row, column: visibleWidth(line.slice(0, at)) },
  };
}

function up(rows: number): string {
  return rows > 0 ? `\u001b[${rows}A` : "";
}

function move(rows: number): string {
  return rows > 0 ? `\u001b[${rows}B` : up(-rows);
}
