/** The two spellings of a path. */
export type ResolvedPath = {
  /** What tools open: absolute, `.`, `..` and repeated slashes removed without looking at the disk. */
  readonly absolute: string;
  /** The same in NFC, for comparing and showing. */
  readonly lexical: string;
  /** Every link resolved, also for a file that does not exist yet. Null: a loop, or a place one may not look at. */
  readonly real: string | null;
};
/** Both spellings of a path that a request names, taken from the request's working directory. */
export declare function resolvePath(path: string, cwd: string): ResolvedPath;
/** By component, never by text prefix: `/w/app-evil` is not inside `/w/app`. */
export declare function isInside(root: string, path: string): boolean;
