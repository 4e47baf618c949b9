import { statSync } from "node:fs";
import { resolve } from "node:path";
import { findWorkspace, WorkspaceNotFoundError } from "@assent/policy";
import type { Context } from "../command-line/spec.ts";
import { CommandError, usageError } from "../io/failure.ts";

export type WorkPlace = { readonly cwd: string; readonly workspace: string };

export function readPlace({ io, options }: Context, command = ""): WorkPlace {
  const cwd = givenDirectory({ io, options }, command) ?? io.cwd;
  return { cwd, workspace: readWorkspace({ io, options }, cwd) };
}

/** The directory that `--cwd` names. */
export function givenDirectory({ io, options }: Pick<Context, "io" | "options">, command: string): string | undefined {
  const given = options.text("cwd");
  const cwd = given === undefined ? undefined : resolve(io.cwd, given);
  if (cwd !== undefined && !isDirectory(cwd)) throw usageError(command, `option '--cwd' must be a directory, but '${cwd}' is not.`);
  return cwd;
}

/** The directory in which a session continues, if `--cwd` names one; otherwise its own must still exist. */
export function otherDirectory(context: Context, { id, cwd }: { readonly id: string; readonly cwd: string }): string | undefined {
  const given = givenDirectory(context, "resume");
  if (given !== undefined || isDirectory(cwd)) return given;
  throw new CommandError("cwd_missing", 1, {
    message: `The directory of this session no longer exists: ${cwd}`,
    hint: `Continue in another directory, where waiting calls are asked again: assent resume ${id} --cwd DIR`,
  });
}

export function readWorkspace({ io, options }: Pick<Context, "io" | "options">, cwd: string = io.cwd): string {
  const given = options.text("workspace");
  try {
    return findWorkspace(cwd, given === undefined ? undefined : resolve(io.cwd, given));
  } catch (error) {
    if (!(error instanceof WorkspaceNotFoundError)) throw error;
    throw new CommandError("workspace_not_found", 2, { message: error.message });
  }
}

export function isDirectory(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
}
