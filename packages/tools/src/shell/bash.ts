import { accessSync, constants } from "node:fs";
import { isAbsolute, join } from "node:path";
import type { ProcessSpec } from "@assent/core";
import { createCommandEnvironment } from "@assent/host";
import { isInside, resolvePath } from "@assent/policy";
import type { StepsPlace } from "./steps.ts";

/** The program that runs a command line as text; undefined without bash. */
export function textProgram(place: StepsPlace, command: string): Pick<ProcessSpec, "file" | "args" | "env"> | undefined {
  const { workspace, environment, secretEnv, projectSecretEnv } = place;
  const env = createCommandEnvironment(environment, { secretEnv: secretEnv?.(), projectSecretEnv: projectSecretEnv?.() });
  const file = findBash({ workspace, searchPath: env["PATH"] ?? "" });
  return file === undefined ? undefined : { file, args: ["--noprofile", "--norc", "-c", "--", command], env };
}

export const NO_BASH = "bash was not found on this machine. Without it, only commands allowed by a rule can run.";

const SYSTEM = ["/usr/local/bin", "/usr/bin", "/bin"];

export type SearchPlaces = { readonly workspace: string; readonly searchPath: string; readonly system?: readonly string[] };

/** Finds bash in system directories, then on the search path; never in the workspace, where the model could have put it. */
export function findBash({ workspace, searchPath, system = SYSTEM }: SearchPlaces): string | undefined {
  const own = searchPath.split(":").filter((directory) => isAbsolute(directory) && !leadsInside(workspace, directory));
  return [...system, ...own].map((directory) => join(directory, "bash")).find(isExecutable);
}

function leadsInside(workspace: string, directory: string): boolean {
  const { absolute, real } = resolvePath(directory, "/");
  return real === null || isInside(workspace, absolute) || isInside(workspace, real);
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
