import { type IPty, spawn } from "@lydell/node-pty";
import { BIN, type Place, until } from "./assent.ts";

/** A command on a real terminal. */
export type PtyScreen = {
  readonly pty: IPty;
  readonly text: () => string;
  readonly end: Promise<number>;
  /** Resolves when the text appears after everything that was shown before. */
  readonly shows: (text: string) => Promise<void>;
  /** Waits for a prompt, lets it become readable, and types. */
  readonly reply: (prompt: string, keys: string) => Promise<void>;
};

export type PtyOptions = { readonly columns?: number; readonly rows?: number; readonly env?: Record<string, string> };

export function openPty(at: Place, argv: readonly string[], { columns = 80, rows = 24, env = {} }: PtyOptions = {}): PtyScreen {
  const pty = spawn(process.execPath, [BIN, ...argv], {
    cols: columns,
    rows,
    cwd: at.workspace,
    env: { ...at.env, TERM: "xterm-256color", ...env },
  });
  let text = "";
  let seen = 0;
  pty.onData((data) => (text += data));
  const end = new Promise<number>((resolve) => pty.onExit(({ exitCode }) => resolve(exitCode)));
  const shows = async (wanted: string): Promise<void> => {
    await until(`the terminal shows ${JSON.stringify(wanted)}; it shows ${JSON.stringify(text)}`, () => text.indexOf(wanted, seen) !== -1);
    seen = text.indexOf(wanted, seen) + wanted.length;
  };
  const reply = async (prompt: string, keys: string): Promise<void> => {
    await shows(prompt);
    await afterReading();
    pty.write(keys);
  };
  return { pty, text: () => text, end, shows, reply };
}

/** Keys pressed before the text can be read are dropped. */
export function afterReading(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, 1_000));
}
