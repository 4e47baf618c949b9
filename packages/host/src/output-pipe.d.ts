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
export declare function openOutputPipe(directory: string): Promise<OutputPipe>;
