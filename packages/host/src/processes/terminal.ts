import { closeSync, readSync } from "node:fs";
import { Readable } from "node:stream";
import { ReadStream } from "node:tty";
import { errorCode, type ProcessSpec } from "@assent/core";
import { coverDescriptor } from "./start-program.ts";

export type TerminalSize = NonNullable<ProcessSpec["pty"]>;

export type Terminal = {
  readonly path: string;
  /** Starts reading until all programs are gone and it is hung up. */
  readonly output: () => Readable;
  /** Call it after the program's exit, so that the end of the output shows. */
  readonly hangUp: () => void;
  readonly close: () => void;
};

/** Opens a pseudo-terminal. Programs start in it behind the same gate as elsewhere. Holding its inner end keeps output from being lost before the hang-up. */
export async function openTerminal({ columns, rows }: TerminalSize): Promise<Terminal> {
  for (const count of [columns, rows])
    if (!Number.isInteger(count) || count < 1 || count > 0xffff) throw new RangeError(`${count} is not a valid terminal size`);
  const { master, slave, pty } = (await loadBinary()).open(columns, rows);
  const uncover = [master, slave].map(coverDescriptor);
  let output: Readable | undefined;
  let hungUp = false;
  const hangUp = (): void => {
    if (!hungUp) closeSync(slave);
    hungUp = true;
  };
  return {
    path: pty,
    output: () => {
      output = createOutput(master);
      return output;
    },
    hangUp,
    close: () => {
      hangUp();
      if (output) output.destroy();
      else closeSync(master);
      for (const end of uncover) end();
    },
  };
}

async function loadBinary(): Promise<ReturnType<typeof import("@lydell/node-pty/requireBinary.js").requireBinary>> {
  try {
    const { requireBinary } = await import("@lydell/node-pty/requireBinary.js");
    return requireBinary("pty.node");
  } catch (cause) {
    const message = "Running a program in a terminal needs the optional package @lydell/node-pty. Install it: npm install @lydell/node-pty";
    throw Object.assign(new Error(message, { cause }), { code: "ERR_NO_TERMINAL" });
  }
}

const READ_AHEAD_BYTES = 1024 * 1024;

/** Reads at once, because a hang-up drops waiting output. */
function createOutput(master: number): Readable {
  const stream = new ReadStream(master);
  const output = new Readable({
    highWaterMark: READ_AHEAD_BYTES,
    read: () => {
      stream.resume();
    },
    destroy: (error, done) => {
      stream.destroy();
      done(error);
    },
  });
  stream.on("data", (chunk) => {
    if (!output.push(chunk)) stream.pause();
  });
  stream.on("end", () => {
    for (const chunk of readRemaining(master)) output.push(chunk);
  });
  stream.on("error", (error) => {
    if (errorCode(error) !== "EIO") output.destroy(error); // EIO means that every program has left the terminal
  });
  stream.on("close", () => output.push(null));
  return output;
}

/** The stream can end while the system still holds output. */
function* readRemaining(master: number): Generator<Buffer> {
  for (;;) {
    const buffer = Buffer.allocUnsafe(16 * 1024);
    const count = readNow(master, buffer);
    if (count === 0) return;
    yield buffer.subarray(0, count);
  }
}

function readNow(master: number, buffer: Buffer): number {
  try {
    return readSync(master, buffer);
  } catch (error) {
    if (["EIO", "EAGAIN"].includes(errorCode(error) ?? "")) return 0;
    throw error;
  }
}
