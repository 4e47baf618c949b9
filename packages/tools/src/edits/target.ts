import type { CallContext, ToolResult } from "@assent/core";
import type { PathFact, PathLookup } from "@assent/policy";
import { failure, fileFailure } from "../failure.ts";
import { type CurrentFile, readCurrentFile } from "../files/file-bytes.ts";
import type { JudgedPaths } from "../files/judged-paths.ts";
import type { Reads } from "../files/reads.ts";
import { displayPath } from "../files/shown-path.ts";

/** What the tools that change files need: where the session works, and what it has read. */
export type FileDeps = { readonly workspace: string; readonly scope: PathLookup; readonly reads: Reads };

/** A file that is to be changed, as it is now. */
export type FileTarget = {
  readonly fact: PathFact;
  /** How it is named to people and the model. */
  readonly shown: string;
  /** Where it is; a path without a place never gets so far. */
  readonly real: string;
  /** Undefined: there is no such file. */
  readonly current: CurrentFile | undefined;
  /** The digest of what this session has read of it. */
  readonly known: string | undefined;
};

/** What is kept of a file that is replaced has to fit where changes are kept. */
const MOST_KEPT = 256 * 1024 * 1024;

/** Looks at a file that is to be changed, or says why it cannot be. */
export async function findTarget(
  { workspace, scope, reads }: FileDeps,
  path: string,
  { cwd, sessionId }: Pick<CallContext, "cwd" | "sessionId">,
): Promise<FileTarget | ToolResult> {
  const fact = scope(path, cwd);
  const { absolute, real } = fact;
  const shown = displayPath(workspace, absolute);
  if (real === null) return failure("file_write_failure", `Where ${shown} leads cannot be told. Nothing was written.`);
  try {
    const current = await readCurrentFile(real, MOST_KEPT);
    return { fact, shown, real, current, known: current && (await reads.recall(sessionId, real))?.digest };
  } catch (error) {
    return fileFailure(error, { shown, otherwise: "prior_read_verification_failed" });
  }
}

/** Why a path may no longer be written to, though it was judged; undefined when it may. */
export function checkPlace(judged: JudgedPaths, input: object, { fact, shown }: FileTarget): ToolResult | undefined {
  if (!judged.changed(input, fact.real) && !judged.exchanged(input)) return undefined;
  return failure("execution_denied", `${shown} leads to another place than when it was judged. Nothing was written.`);
}

/** Why an existing file may not be changed: the session has not read it as it is. Undefined when it may. */
export function checkRead({ shown, current, known }: FileTarget): ToolResult | undefined {
  if (!current || known === current.digest) return undefined;
  if (known === undefined) return failure("edit_requires_prior_read", `${shown} exists and was not read in this session. Read it first.`);
  return failure("file_changed_since_read", `${shown} changed after it was read. Read it again.`);
}
