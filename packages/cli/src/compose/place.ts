import { statSync } from "node:fs";
import { resolve } from "node:path";
import { findWorkspace, WorkspaceNotFoundError } from "@assent/policy";
import type { Context } from "../command-line/spec.ts";
import { CommandError, usageError } from "../io/failure.ts";

export type WorkPlace = { readonly cwd: string; readonly workspace: string };

export function readPlace({ io, options }: Context, command = ""): WorkPlace {
  const cwd = resolve(io.cwd, options.text("cwd") ?? ".");
  if (!isDirectory(cwd)) throw usageError(command, `option '--cwd' must be a directory, but '${cwd}' is not.`);
  return { cwd, workspace: readWorkspace({ io, options }, cwd) };
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
