import { spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { closeSync, constants, openSync, rmSync } from "node:fs";
import { Socket } from "node:net";
import { join } from "node:path";
import type { Readable } from "node:stream";

export type OutputPipe = {
  /** Blocking descriptor for the child's stdout and stderr. */
  readonly writeFd: number;
  /** Call it once the child has its copy; otherwise the end never shows. */
  readonly closeWriter: () => void;
  readonly readers: () => readonly Readable[];
  readonly close: () => void;
};

/** One real pipe for stdout and stderr keeps their order. Node's pipes are sockets, which scripts cannot reopen as `/dev/stderr`. */
export async function openOutputPipe(directory: string): Promise<OutputPipe> {
  const [pipe] = await openFifos(directory, 1);
  if (pipe === undefined) throw new Error("No pipe was made.");
  return createPipe(pipe.readFd, pipe.writeFd);
}

type Fifo = { readonly readFd: number; readonly writeFd: number };

/** Opens pipes by temporary names. */
export async function openFifos(directory: string, count: number): Promise<readonly Fifo[]> {
  if (count === 0) return [];
  const paths = Array.from({ length: count }, () => join(directory, `assent-${randomBytes(16).toString("hex")}`));
  const opened: Fifo[] = [];
  try {
    await makeFifos(paths);
    for (const path of paths) opened.push(openFifo(path));
    return opened;
  } catch (error) {
    closeFifos(opened);
    throw error;
  } finally {
    for (const path of paths) rmSync(path, { force: true });
  }
}

function openFifo(path: string): Fifo {
  const readFd = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  try {
    return { readFd, writeFd: openSync(path, constants.O_WRONLY) };
  } catch (error) {
    closeSync(readFd);
    throw error;
  }
}

export function closeFifos(fifos: readonly Fifo[]): void {
  for (const fd of fifos.flatMap(({ readFd, writeFd }) => [readFd, writeFd])) closeSync(fd);
}

function createPipe(readFd: number, writeFd: number): OutputPipe {
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

/** Creates named pipes, which Node cannot do itself. */
export async function makeFifos(paths: readonly string[]): Promise<void> {
  const child = spawn("mkfifo", ["-m", "600", ...paths], { stdio: "ignore", env: { PATH: "/usr/bin:/bin:/usr/local/bin" } });
  const [code] = await once(child, "exit");
  if (code !== 0) throw new Error(`mkfifo ended with ${code}.`);
}
