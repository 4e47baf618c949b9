/** A place to write text. A rejected write says why. */
export type Output = {
  readonly isTTY: boolean;
  readonly columns: () => number | undefined;
  readonly rows: () => number | undefined;
  /** Resolves when the system has accepted the text. */
  readonly write: (text: string) => Promise<void>;
};

export type Keyboard = {
  /** Takes the keyboard until the returned function is called. `ended`: the terminal is gone. */
  readonly open: (keys: (text: string) => void, ended: () => void) => () => void;
};

export type EndingSignal = "SIGINT" | "SIGTERM" | "SIGHUP" | "SIGQUIT";

export type Io = {
  readonly stdout: Output;
  /** For people. A reader that is gone is not an error. */
  readonly stderr: Output;
  readonly stdinIsTTY: boolean;
  /** Reads to the end, or until more than `limit` bytes arrived. */
  readonly readStdin: (limit: number) => Promise<Uint8Array>;
  readonly stdin: () => AsyncIterable<Uint8Array>;
  readonly keyboard: Keyboard;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly cwd: string;
  /** Reports signals until the returned function is called. */
  readonly onSignal: (received: (signal: EndingSignal) => void) => () => void;
  readonly ownsProcess?: boolean;
  readonly exitNow: (code: number) => void;
};
