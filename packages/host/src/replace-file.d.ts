/**
 * Replaces a whole file: temporary file beside it, fsync, rename, fsync of the directory. Until the rename the old bytes stand whole, and after a failure no temporary
 * file is left. Mode and owner of the old file are kept; where the owner cannot be, nothing is replaced. A link keeps being one: the file it leads to is replaced, or made.
 * Other names (hard links) keep the old bytes; extended attributes are not carried over.
 */
export declare function replaceFile(
  path: string,
  bytes: string | Uint8Array,
  options?: {
    readonly mode?: number;
  },
): Promise<void>;
