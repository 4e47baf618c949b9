import { spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { closeSync, constants, openSync, unlinkSync } from "node:fs";
import { Socket } from "node:net";
import { join } from "node:path";
import type { Readable } from "node:stream";

/** Both ends of a pipe. */
export type OutputPipe = {
  /** For the child's descriptors 1 and 2; a blocking descriptor, as programs expect. */
  readonly writeFd: number;
  /** To be called once the child has its copy: the end of the output shows only when nobody else can write. */
  readonly closeWriter: () => void;
  /** Starts reading. */
  readonly readers: () => readonly Readable[];
  /** Closes whatever is still open. */
  readonly close: () => void;
};

/**
 * One real pipe for standard output and error together: only so do both come in the order they were written. Node's own `pipe` is a pair of sockets, of which two
 * would be needed, and a socket cannot be opened again as `/dev/stderr`, which scripts do.
 */
export async function openOutputPipe(directory: string): Promise<OutputPipe> {
  const path = join(directory, `assent-${randomBytes(16).toString("hex")}`);
  await makeFifo(path);
  try {
    const readFd = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
    return pipeOf(readFd, openSync(path, constants.O_WRONLY));
  } finally {
    unlinkSync(path);
  }
}

function pipeOf(readFd: number, writeFd: number): OutputPipe {
  let writing = true;
  let socket: Socket | undefined;
  const closeWriter = (): void => {
    if (writing) closeSync(writeFd);
    writing = false;
  };
  return {
    writeFd,
    closeWriter,
    readers: () => {
      socket = new Socket({ fd: readFd, readable: true, writable: false });
      return [socket];
    },
    close: () => {
      closeWriter();
      if (socket) socket.destroy();
      else closeSync(readFd);
    },
  };
}

async function makeFifo(path: string): Promise<void> {
  const child = spawn("mkfifo", ["-m", "600", path], { stdio: "ignore", env: { PATH: "/usr/bin:/bin:/usr/local/bin" } });
  const [code] = await once(child, "exit");
  if (code !== 0) throw new Error(`mkfifo ended with ${code}.`);
}
