import { CURSOR_MARKER, type Terminal, TuiMainScreen, visibleWidth } from "@earendil-works/pi-tui";

export type Frame = {
  /** Final lines, printed once into the scrollback. */
  readonly printed: readonly string[];
  /** Lines that may change; only the last ones that fit are drawn. */
  readonly lines: readonly string[];
  /** A full-screen page shown instead. */
  readonly page?: readonly string[] | undefined;
};

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

/** The cursor's column after a row was written, until it is placed. */
const UNPLACED = -1;
const ASK_CURSOR = "\u001b[6n";
/** The answer, after its escape character. */
const CURSOR_REPORT = /^\[(\d+);\d+R$/;
/** A terminal that has not answered by then is taken for one that never does. */
const ANSWER_MS = 500;

/** Rows that are on the screen before the live screen starts, and the size of the terminal when they were written. */
export type ShownRows = { readonly lines: readonly string[]; readonly columns: number; readonly rows: number };

/** Where the cursor is after a resize. `row` is undefined until the terminal answers. */
type CursorQuery = { readonly columns: number; readonly height: number; row: number | undefined; isOver: boolean };

/** Draws only its own lines at the bottom. Final lines go to the scrollback once, only changed rows are written, and nothing above is cleared, even after a resize. */
export class LiveScreen extends TuiMainScreen {
  readonly #painter: Painter;
  #rows: readonly string[];
  /** The widths of rows that a smaller window pushed into the scrollback; a larger one may bring them back. */
  #stranded: readonly number[] = [];
  #columns: number;
  #height: number;
  #cursor: Cursor;
  #page: readonly string[] | undefined;
  #pageColumns = 0;
  #pageRows = 0;
  #query: CursorQuery | undefined;
  #answersDue = 0;
  /** Final lines of frames that were not drawn. */
  #unprinted: readonly string[] = [];

  constructor(terminal: Terminal, painter: Painter, shown?: ShownRows) {
    super(terminal);
    this.#painter = painter;
    this.#rows = shown?.lines ?? [];
    this.#columns = shown?.columns ?? terminal.columns;
    this.#height = shown?.rows ?? terminal.rows;
    this.#cursor = { row: Math.max(0, this.#rows.length - 1), column: visibleWidth(this.#rows.at(-1) ?? "") };
    this.addInputListener((data) => (this.#takeAnswer(data) ? { consume: true } : undefined));
  }

  /** Draws at once, without asking the terminal where the cursor is. */
  override renderNow(force = false): void {
    this.#query = { columns: this.terminal.columns, height: this.terminal.rows, row: undefined, isOver: true };
    super.renderNow(force);
  }

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
    this.#unprinted = [...this.#unprinted, ...printed];
    if (page) this.#drawPage(page.slice(0, rows));
    else if (this.#isCursorKnown()) this.#drawLines(lines.slice(-Math.max(rows, 1)));
    else return;
    this.#painter.painted();
  }

  /** After a resize only the terminal knows where the cursor is: asks once per size, and draws again with the answer or without. */
  #isCursorKnown(): boolean {
    const { columns, rows: height } = this.terminal;
    if (this.#rows.length === 0 || (columns === this.#columns && height === this.#height)) {
      this.#query = undefined;
      return true;
    }
    if (this.#query?.columns === columns && this.#query.height === height) return this.#query.isOver;
    const query: CursorQuery = { columns, height, row: undefined, isOver: false };
    this.#query = query;
    this.#answersDue += 1;
    this.terminal.write(`${this.#leavePage()}${ASK_CURSOR}`);
    setTimeout(() => this.#settle(query, undefined), ANSWER_MS).unref();
    return false;
  }

  #takeAnswer(data: string): boolean {
    const report = this.#answersDue > 0 && data.startsWith("\u001b") ? CURSOR_REPORT.exec(data.slice(1)) : null;
    if (!report) return false;
    this.#answersDue -= 1;
    if (this.#query && this.#answersDue === 0) this.#settle(this.#query, Number(report[1]) - 1);
    return true;
  }

  #settle(query: CursorQuery, row: number | undefined): void {
    if (query.isOver) return;
    query.row = row;
    query.isOver = true;
    this.requestRender();
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

  #drawLines(lines: readonly string[]): void {
    const printed = this.#unprinted;
    this.#unprinted = [];
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
    const top = this.#query?.row ?? height - 1;
    this.#query = undefined;
    const above = [...this.#stranded, ...this.#rows.slice(0, this.#cursor.row).map((row) => visibleWidth(row))];
    let reach = Math.floor(this.#cursor.column / width);
    let first = above.length;
    for (; first > 0 && reach < top; first -= 1) reach += Math.max(1, Math.ceil((above[first - 1] ?? 0) / width));
    const cutOff = reach > top ? [(reach - top) * width] : []; // the part of a wrapped row that is above the window
    this.#stranded = [...above.slice(0, first), ...cutOff];
    this.#columns = columns;
    this.#height = height;
    this.#rows = [];
    this.#cursor = { row: 0, column: 0 };
    return `${up(Math.min(reach, top))}\r${ERASE}`;
  }

  #toTop(): string {
    return `${up(this.#cursor.row)}\r`;
  }

  /** Rewrites everything; leaves the cursor in the last row. */
  #rewrite(printed: readonly string[], rows: readonly string[]): string {
    const all = [...printed, ...rows];
    const out = this.#toTop() + all.map((row, at) => `${at === all.length - 1 ? "\u001b[J" : "\u001b[2K"}${row}${RESET}`).join("\r\n");
    this.#rows = rows;
    this.#cursor = { row: rows.length - 1, column: UNPLACED };
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
    if (out !== "") this.#cursor = { row: at, column: UNPLACED };
    return out;
  }

  #append(rows: readonly string[], from: number): string {
    this.#rows = rows;
    this.#cursor = { row: rows.length - 1, column: UNPLACED };
    return rows
      .slice(from + 1)
      .map((line) => `\r\n\u001b[2K${line}${RESET}`)
      .join("");
  }

  /** Places the hidden cursor: at the prompt while someone types, for input methods, else where all terminals move it alike. */
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
