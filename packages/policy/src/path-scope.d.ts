import { type ResolvedPath } from "./resolve-path.ts";
/** What is known of one path of a request. */
export type PathFact = ResolvedPath & {
  /** Inside the workspace after resolving links. A path that cannot be resolved, or that holds a line break, is not. */
  readonly inside: boolean;
  readonly sensitive: boolean;
  /** One of the session's own output files. */
  readonly ownOutput: boolean;
};
/** The directories a session works in. */
export type SessionDirectories = {
  /** As a real path. */
  readonly workspace: string;
  readonly additionalDirectories?: readonly string[];
  /** Directories of the session's own output, which may be read without asking. */
  readonly readable?: readonly string[];
};
/** Tells of a path, taken from a working directory, where it leads and whether that is the session's business. */
export type PathScope = (path: string, cwd: string) => PathFact;
/** Looks at the disk at every question: links may change between two calls. */
export declare function pathScope({ workspace, additionalDirectories, readable }: SessionDirectories): PathScope;
