import { closeSync, constants, mkdtempSync, openSync, rmSync } from "node:fs";
import { Socket } from "node:net";
import { join } from "node:path";
import { makeFifos } from "../processes/output-pipe.ts";

/** The three standard streams of one program: its ends of them, and ours. */
export type ProgramPipes = {
  /** Descriptors 0 to 2 of the child; blocking, as programs expect. */
  readonly childEnds: readonly [number, number, number];
  /** To be called once the child has its copies: an end shows only when nobody else can write. */
  readonly closeChildEnds: () => void;
  readonly open: () => { readonly stdin: Socket; readonly stdout: Socket; readonly stderr: Socket };
  /** Closes whatever is still open. */
  readonly close: () => void;
};

const { O_RDONLY, O_WRONLY, O_NONBLOCK } = constants;
const NAMES = ["0", "1", "2"] as const;

/**
 * Real pipes. Node's own are sockets, and a socket cannot be opened again by name, which scripts do: `cat /dev/stdin`, `echo … > /dev/stderr`.
 * Each of the three is its own, so that output and error stay apart.
 */
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
    const early = openOnce("0", O_RDONLY | O_NONBLOCK); // only so can the writer be opened without a reader to wait for
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
