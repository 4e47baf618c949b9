import { fstatSync, statSync } from "node:fs";
import { isatty } from "node:tty";
import type { Io, Keyboard, Output } from "./io.ts";

/** What ends a program from outside: a key, a supervisor, a closing terminal. */
const SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT"] as const;

/** The process this program runs in. */
export function processIo(): Io {
  return {
    stdout: outputOf(process.stdout, false),
    stderr: outputOf(process.stderr, true),
    stdinIsTTY: isatty(0), // the stream is made when something is read from it
    readStdin,
    stdin: () => process.stdin,
    keyboard,
    env: process.env,
    cwd: process.cwd(),
    onSignal,
    exitNow: (code) => process.exit(code),
  };
}

function outputOf(stream: NodeJS.WriteStream, readerMayLeave: boolean): Output {
  stream.on("error", () => undefined); // reported by the write it belongs to
  return {
    isTTY: stream.isTTY === true,
    columns: () => stream.columns,
    rows: () => stream.rows,
    write: (text) =>
      new Promise((resolve, reject) => {
        stream.write(text, (error) => (error && !(readerMayLeave && isGone(error)) ? reject(error) : resolve()));
      }),
  };
}

/** What a write says to a reader, or a terminal, that has gone. */
const GONE: readonly unknown[] = ["EPIPE", "EIO", "ENXIO", "ERR_STREAM_DESTROYED"];

/** True for a write to a reader that has gone. */
export function isGone(error: unknown): boolean {
  return error instanceof Error && "code" in error && GONE.includes(error.code);
}

/** Nothing comes from there, so no stream is made to hear it. */
function isNowhere(descriptor: number): boolean {
  const nowhere = statSync("/dev/null", { throwIfNoEntry: false });
  const given = fstatSync(descriptor);
  return nowhere?.isCharacterDevice() === true && given.isCharacterDevice() && given.rdev === nowhere.rdev;
}

async function readStdin(limit: number): Promise<Uint8Array> {
  if (isNowhere(0)) return new Uint8Array();
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of process.stdin) {
    const bytes = Buffer.from(chunk);
    chunks.push(bytes);
    size += bytes.length;
    if (size > limit) break;
  }
  return Buffer.concat(chunks);
}

const keyboard: Keyboard = {
  open: (keys) => {
    const { stdin } = process;
    const onData = (chunk: string): void => keys(chunk);
    const onEnd = (): void => keys("\u0004");
    stdin.setEncoding("utf8");
    stdin.setRawMode?.(true);
    stdin.on("data", onData).on("end", onEnd).resume();
    return () => {
      stdin.off("data", onData).off("end", onEnd).pause();
      stdin.setRawMode?.(false);
    };
  },
};

function onSignal(received: () => void): () => void {
  const listener = (): void => received();
  for (const signal of SIGNALS) process.on(signal, listener);
  return () => {
    for (const signal of SIGNALS) process.off(signal, listener);
  };
}
