/** A place to write text. A rejected write says why; nothing is lost silently. */
export type Output = {
  readonly isTTY: boolean;
  /** Width of the terminal now; undefined where there is none. */
  readonly columns: () => number | undefined;
  readonly rows: () => number | undefined;
  /** Resolves when the text was handed to the system, so that a slow reader slows the writer. */
  readonly write: (text: string) => Promise<void>;
};

/** A person's keys, as they are pressed. */
export type Keyboard = {
  /** Takes the keys until the returned function gives the terminal back as it was. `ended`: the terminal is gone, so no more keys will come. */
  readonly open: (keys: (text: string) => void, ended: () => void) => () => void;
};

/** Signals that end a program: from a key, a supervisor, or a closing terminal. */
export type EndingSignal = "SIGINT" | "SIGTERM" | "SIGHUP" | "SIGQUIT";

/** Everything a command may touch of the process it runs in. */
export type Io = {
  readonly stdout: Output;
  /** For people. A reader that went away is no error here. */
  readonly stderr: Output;
  readonly stdinIsTTY: boolean;
  /** Reads to the end, or until more than `limit` bytes have come: what is returned is then longer than the limit. */
  readonly readStdin: (limit: number) => Promise<Uint8Array>;
  /** The same piece by piece as it comes, for what may be longer than memory. */
  readonly stdin: () => AsyncIterable<Uint8Array>;
  readonly keyboard: Keyboard;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly cwd: string;
  /** SIGINT, SIGTERM, SIGHUP and SIGQUIT from now on, until the returned function is called. */
  readonly onSignal: (received: (signal: EndingSignal) => void) => () => void;
  /** The process runs this command and nothing else. */
  readonly ownsProcess?: boolean;
  /** Ends the process at once. */
  readonly exitNow: (code: number) => void;
};
