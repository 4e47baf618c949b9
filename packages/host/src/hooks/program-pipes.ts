import { closeSync, constants, mkdtempSync, openSync, rmSync } from "node:fs";
import { Socket } from "node:net";
import { join } from "node:path";
import { makeFifos } from "../processes/output-pipe.ts";

export type ProgramPipes = {
  /** Blocking descriptors 0 to 2 of the child. */
  readonly childEnds: readonly [number, number, number];
  /** Call it once the child has its copies; otherwise the end never shows. */
  readonly closeChildEnds: () => void;
  readonly open: () => { readonly stdin: Socket; readonly stdout: Socket; readonly stderr: Socket };
  readonly close: () => void;
};

const { O_RDONLY, O_WRONLY, O_NONBLOCK } = constants;
const NAMES = ["0", "1", "2"] as const;

/** Opens real pipes, because scripts reopen `/dev/stdin` and `/dev/stderr`, which fails with Node's sockets. */
export async function openProgramPipes(temporaryDirectory: string): Promise<ProgramPipes> {
  const directory = mkdtempSync(join(temporaryDirectory, "assent-hook-"));
  const opened: number[] = [];
  const openOnce = (name: string, flags: number): number => {
    const fd = openSync(join(directory, name), flags);
    opened.push(fd);
    return fd;
  };
  try {
    await makeFifos(NAMES.map((name) => join(directory, name)));
    const early = openOnce("0", O_RDONLY | O_NONBLOCK); // a writer can be opened without blocking only if there is a reader
    const input = openOnce("0", O_WRONLY | O_NONBLOCK);
    const output = openOnce("1", O_RDONLY | O_NONBLOCK);
    const error = openOnce("2", O_RDONLY | O_NONBLOCK);
    const childEnds = [openOnce("0", O_RDONLY), openOnce("1", O_WRONLY), openOnce("2", O_WRONLY)] as const;
    closeSync(early);
    return createPipes(childEnds, [input, output, error]);
  } catch (failure) {
    for (const fd of opened) closeSync(fd);
    throw failure;
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

type DescriptorTriple = readonly [number, number, number];

function createPipes(childEnds: DescriptorTriple, ours: DescriptorTriple): ProgramPipes {
  let childHas = false;
  let sockets: readonly Socket[] | undefined;
  const closeChildEnds = (): void => {
    if (!childHas) for (const fd of childEnds) closeSync(fd);
    childHas = true;
  };
  return {
    childEnds,
    closeChildEnds,
    open: () => {
      const [input, output, error] = ours;
      const stdin = new Socket({ fd: input, readable: false, writable: true });
      const stdout = new Socket({ fd: output, readable: true, writable: false });
      const stderr = new Socket({ fd: error, readable: true, writable: false });
      sockets = [stdin, stdout, stderr];
      return { stdin, stdout, stderr };
    },
    close: () => {
      closeChildEnds();
      if (sockets) for (const socket of sockets) socket.destroy();
      else for (const fd of ours) closeSync(fd);
    },
  };
}
