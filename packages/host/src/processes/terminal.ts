import { closeSync, readSync } from "node:fs";
import { Readable } from "node:stream";
import { ReadStream } from "node:tty";
import type { ProcessSpec } from "@assent/core";
import { errorCode } from "../system/error-code.ts";
import { coverDescriptor } from "./start-program.ts";

/** Columns and rows of characters. */
export type TerminalSize = NonNullable<ProcessSpec["pty"]>;

/** A terminal with nobody in it. */
export type Terminal = {
  /** The file by which a program enters it. */
  readonly path: string;
  /** Starts reading what programs write, until all of them are gone and it is hung up. */
  readonly output: () => Readable;
  /** To be called when its program has exited: from then on the end of the output shows. */
  readonly hangUp: () => void;
  /** Closes whatever is still open. */
  readonly close: () => void;
};

/**
 * Makes a terminal. The package only makes it: programs are started in it as everywhere else, with nothing of ours open, behind the same gate and with their real
 * exit status. Until it is hung up our own hold on its inner end keeps the system from telling an end while output is still on its way.
 */
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

/** Bytes that may wait before the program does. */
const READ_AHEAD_BYTES = 1024 * 1024;

/** Output is taken as it comes: at a hang-up a stream drops what waits in it. */
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
    if (errorCode(error) !== "EIO") output.destroy(error); // that one is a terminal's way to say that everybody has gone
  });
  stream.on("close", () => output.push(null));
  return output;
}

/** The end of a stream can show while the system still holds some of the output. */
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
