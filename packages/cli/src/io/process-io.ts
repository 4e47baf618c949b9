import { existsSync, fstatSync, statSync } from "node:fs";
import { isatty } from "node:tty";
import type { EndingSignal, Io, Keyboard, Output } from "./io.ts";

const SIGNALS: readonly EndingSignal[] = ["SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT"];

export function processIo(): Io {
  return {
    stdout: outputOf(process.stdout, false),
    stderr: outputOf(process.stderr, true),
    get stdinIsTTY() {
      return isatty(0); // neither the stream nor its module is needed until a command asks
    },
    readStdin,
    stdin: () => process.stdin,
    keyboard,
    env: process.env,
    cwd: process.cwd(),
    onSignal,
    ownsProcess: true,
    exitNow: endProcess,
  };
}

/** Ends this process, also during a name lookup. */
export function endProcess(code: number): never {
  process.on("exit", (last) => {
    // Node would wait until the name server answers. A shell in place of this process does not.
    if (!(process.getActiveResourcesInfo().includes("GetAddrInfoReqWrap") && existsSync(SHELL))) return;
    restoreStreams();
    process.execve?.(SHELL, ["sh", "-c", `exit ${last}`], {});
  });
  process.exit(code);
}

const SHELL = "/bin/sh";

/** Other programs share the terminal and the pipes; Node restores them only at an exit of its own. */
function restoreStreams(): void {
  process.stdin.setRawMode?.(false);
  for (const stream of [process.stdin, process.stdout, process.stderr])
    (stream as { readonly _handle?: { readonly setBlocking?: (on: boolean) => void } })._handle?.setBlocking?.(true);
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

const GONE: readonly unknown[] = ["EPIPE", "EIO", "ENXIO", "ERR_STREAM_DESTROYED"];

export function isGone(error: unknown): boolean {
  return error instanceof Error && "code" in error && GONE.includes(error.code);
}

/** Ignores errors of a closed terminal. */
export async function writeIfRead(output: Output, text: string): Promise<void> {
  try {
    await output.write(text);
  } catch (error) {
    if (!isGone(error)) throw error;
  }
}

/** True for `/dev/null`, which needs no stream. */
function isDevNull(descriptor: number): boolean {
  const nowhere = statSync("/dev/null", { throwIfNoEntry: false });
  const given = fstatSync(descriptor);
  return nowhere?.isCharacterDevice() === true && given.isCharacterDevice() && given.rdev === nowhere.rdev;
}

async function readStdin(limit: number): Promise<Uint8Array> {
  if (isDevNull(0)) return new Uint8Array();
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
  open: (keys, ended) => {
    const { stdin } = process;
    const onData = (chunk: string): void => keys(chunk);
    stdin.setEncoding("utf8");
    stdin.setRawMode?.(true);
    stdin.on("data", onData).on("end", ended).on("error", unreadable).resume();
    if (stdin.readableEnded) queueMicrotask(ended);
    return () => {
      stdin.off("data", onData).off("end", ended).pause();
      stdin.setRawMode?.(false);
      stdin.off("error", unreadable);
    };
  },
};

function unreadable(): void {
  // A closed terminal cannot be restored.
}

function onSignal(received: (signal: EndingSignal) => void): () => void {
  for (const signal of SIGNALS) process.on(signal, received);
  return () => {
    for (const signal of SIGNALS) process.off(signal, received);
  };
}
