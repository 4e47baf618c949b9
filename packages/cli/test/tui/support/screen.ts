import { spawn } from "@lydell/node-pty";
import headless, { type IBufferCell, type Terminal } from "@xterm/headless";
import { BIN } from "../../support/assent.ts";
import { keyBytes } from "./key-bytes.ts";

/** A program to open on a terminal of its own. */
export type OpenScreen = {
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  /** Arguments of `assent`. */
  readonly args?: readonly string[];
  /** Arguments for Node instead of `assent` and its own. */
  readonly program?: readonly string[];
  /** Another program than Node for these arguments. */
  readonly file?: string;
  readonly columns?: number;
  readonly rows?: number;
};

/** What a screen is waited for. */
export type Wanted = string | RegExp | ((screen: string) => boolean);

/** A terminal with a program in it: keys go in, a screen comes out. */
export type Screen = {
  readonly pid: number;
  /** Characters as they are, in one piece. */
  readonly type: (text: string) => void;
  /** Keys by name (`enter`, `ctrl+c`, `y`), one after the other in one piece. */
  readonly press: (...names: readonly string[]) => void;
  readonly paste: (text: string) => void;
  readonly resize: (columns: number, rows: number) => void;
  /** Resolves with the screen as soon as a whole frame on it fits. */
  readonly until: (wanted: Wanted, deadlineMs?: number) => Promise<string>;
  /** Waits for the text, and then as long as a person needs to begin reading: keys pressed sooner answer no card. */
  readonly read: (wanted: Wanted, deadlineMs?: number) => Promise<string>;
  /** What is on the screen now, without blanks at the ends. */
  readonly lines: () => readonly string[];
  /** What can be scrolled back to, and the screen. */
  readonly scrollback: () => readonly string[];
  readonly cells: () => readonly (readonly Cell[])[];
  /** Everything the program wrote, as it wrote it. */
  readonly rawBytes: () => string;
  readonly ended: Promise<number>;
  /** The exit code, once the program has ended by itself. */
  readonly exit: (deadlineMs?: number) => Promise<number>;
  readonly kill: (signal: string) => void;
  /** What the program left of the terminal's modes. */
  readonly modes: () => { readonly paste: boolean; readonly cursorHidden: boolean; readonly isAlternate: boolean };
  readonly [Symbol.dispose]: () => void;
};

/** A colour: one of the 256, or red, green and blue in one number; undefined: the terminal's own. */
export type Colour = { readonly palette: number } | { readonly rgb: number } | undefined;

/** One character on the screen, and how it looks. */
export type Cell = {
  readonly text: string;
  readonly width: number;
  readonly front: Colour;
  readonly ground: Colour;
  readonly bold: boolean;
  readonly dim: boolean;
  readonly italic: boolean;
  readonly underline: boolean;
  readonly inverse: boolean;
};

/** A machine under load may take its time; a test that fails waits this long once. */
const DEADLINE_MS = 45_000;
/** Twice the grace in which a new card takes no keys. */
const READING_MS = 600;

/** Starts the program on a terminal. Disposing of it ends the program. */
export function openScreen({ cwd, env, args = [], program, file = process.execPath, columns = 80, rows = 24 }: OpenScreen): Screen {
  const terminal = new headless.Terminal({ cols: columns, rows, scrollback: 20_000, allowProposedApi: true });
  const pty = spawn(file, [...(program ?? [BIN, ...args])], {
    cols: columns,
    rows,
    cwd,
    env: { TERM: "xterm-256color", ...env },
  });
  const waiting = new Set<() => void>();
  let raw = "";
  let isOver = false;
  const look = (): void => {
    for (const wake of waiting) wake();
  };
  terminal.onData((answer) => isOver || pty.write(answer));
  pty.onData((data) => {
    raw += data;
    terminal.write(data, look);
  });
  const ended = new Promise<number>((resolve) =>
    pty.onExit(({ exitCode, signal }) => {
      isOver = true;
      terminal.write("", () => {
        resolve(signal ? 128 + signal : exitCode);
        look();
      });
    }),
  );
  const bufferLines = (from: number): readonly string[] => {
    const { active } = terminal.buffer;
    return Array.from({ length: active.length - from }, (_, at) => active.getLine(from + at)?.translateToString(true) ?? "");
  };
  const lines = (): readonly string[] => bufferLines(terminal.buffer.active.baseY);
  /** Half a frame is no screen. */
  const whole = (): string | undefined => (terminal.modes.synchronizedOutputMode && !isOver ? undefined : lines().join("\n"));
  const until: Screen["until"] = (wanted, deadlineMs = DEADLINE_MS) =>
    new Promise((resolve, reject) => {
      const end = (fault?: string): void => {
        clearTimeout(late);
        waiting.delete(check);
        const screen = lines().join("\n");
        if (fault === undefined) resolve(screen);
        else reject(new Error(`${fault} ${said(wanted)}; the screen:\n${screen}`));
      };
      const check = (): void => {
        const screen = whole();
        if (screen !== undefined && fits(wanted, screen)) end();
        else if (isOver) end("the program ended without showing");
      };
      const late = setTimeout(() => end("the screen never showed"), deadlineMs);
      waiting.add(check);
      check();
    });
  return {
    pid: pty.pid,
    type: (text) => pty.write(text),
    press: (...names) => {
      if (names.slice(0, -1).includes("escape")) throw new Error("a terminal takes Esc and the next key for one: wait for what Esc does");
      pty.write(names.map(keyBytes).join(""));
    },
    paste: (text) => pty.write(`\u001b[200~${text}\u001b[201~`),
    resize: (nextColumns, nextRows) => {
      terminal.resize(nextColumns, nextRows);
      if (!isOver) pty.resize(nextColumns, nextRows);
    },
    until,
    read: async (wanted, deadlineMs) => {
      await until(wanted, deadlineMs);
      await new Promise((resolve) => setTimeout(resolve, READING_MS));
      return await until(wanted, deadlineMs);
    },
    lines,
    scrollback: () => bufferLines(0),
    cells: () => cellsOf(terminal),
    rawBytes: () => raw,
    ended,
    exit: (deadlineMs = DEADLINE_MS) => within(ended, deadlineMs, () => `the program goes on:\n${lines().join("\n")}`),
    kill: (signal) => pty.kill(signal),
    modes: () => ({
      paste: terminal.modes.bracketedPasteMode,
      cursorHidden: raw.lastIndexOf("\u001b[?25l") > raw.lastIndexOf("\u001b[?25h"),
      isAlternate: terminal.buffer.active.type === "alternate",
    }),
    [Symbol.dispose]: () => {
      if (!isOver) pty.kill("SIGKILL");
      terminal.dispose();
    },
  };
}

function fits(wanted: Wanted, screen: string): boolean {
  if (typeof wanted === "string") return screen.includes(wanted);
  return wanted instanceof RegExp ? wanted.test(screen) : wanted(screen);
}

function said(wanted: Wanted): string {
  return typeof wanted === "string" ? JSON.stringify(wanted) : String(wanted);
}

function within<T>(promise: Promise<T>, ms: number, why: () => string): Promise<T> {
  let late: NodeJS.Timeout | undefined;
  const deadline = new Promise<never>((_, reject) => {
    late = setTimeout(() => reject(new Error(why())), ms);
  });
  return Promise.race([promise, deadline]).finally(() => clearTimeout(late));
}

function cellsOf(terminal: Terminal): readonly (readonly Cell[])[] {
  const { active } = terminal.buffer;
  return Array.from({ length: terminal.rows }, (_, row) => {
    const line = active.getLine(active.baseY + row);
    return Array.from({ length: terminal.cols }, (_, column) => line?.getCell(column)).flatMap((cell) => (cell ? [cellOf(cell)] : []));
  });
}

function cellOf(cell: IBufferCell): Cell {
  const front = cell.isFgDefault() ? undefined : cell.isFgPalette() ? { palette: cell.getFgColor() } : { rgb: cell.getFgColor() };
  const ground = cell.isBgDefault() ? undefined : cell.isBgPalette() ? { palette: cell.getBgColor() } : { rgb: cell.getBgColor() };
  return {
    text: cell.getChars(),
    width: cell.getWidth(),
    front,
    ground,
    bold: cell.isBold() !== 0,
    dim: cell.isDim() !== 0,
    italic: cell.isItalic() !== 0,
    underline: cell.isUnderline() !== 0,
    inverse: cell.isInverse() !== 0,
  };
}
