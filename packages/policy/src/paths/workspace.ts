import { existsSync, realpathSync, statSync } from "node:fs";
import { dirname, join, resolve } from "node:path";

/** The workspace directory does not exist. */
export class WorkspaceNotFoundError extends Error {
  readonly code = "workspace_not_found";
  constructor(directory: string, options?: ErrorOptions) {
    super(`${directory} is not a directory. Name an existing one with --workspace.`, options);
    this.name = "WorkspaceNotFoundError";
  }
}

const MARKS = [".git", ".assent"];

/** Finds the workspace's real path: the given directory, the nearest parent with `.git` or `.assent`, or the working directory. */
export function findWorkspace(cwd: string, explicit?: string): string {
  if (explicit !== undefined) return realDirectory(resolve(cwd, explicit));
  const start = realDirectory(cwd);
  for (let at = start; ; at = dirname(at)) {
    if (MARKS.some((mark) => existsSync(join(at, mark)))) return at;
    if (at === dirname(at)) return start;
  }
}

function realDirectory(path: string): string {
  let real: string;
  try {
    real = realpathSync.native(path);
  } catch (error) {
    throw new WorkspaceNotFoundError(path, { cause: error });
  }
  if (!statSync(real).isDirectory()) throw new WorkspaceNotFoundError(path);
  return real;
}
