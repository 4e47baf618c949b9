import type { CallContext, ToolResult } from "@assent/core";
import type { PathFact, PathLookup } from "@assent/policy";
import { failure, fileFailure, isResult } from "../failure.ts";
import { type CurrentFile, readCurrentFile } from "../files/file-bytes.ts";
import type { JudgedPaths } from "../files/judged-paths.ts";
import type { Reads } from "../files/reads.ts";
import { displayPath } from "../files/shown-path.ts";

export type FileDeps = { readonly workspace: string; readonly scope: PathLookup; readonly reads: Reads };

export type FileTarget = {
  readonly fact: PathFact;
  readonly shown: string;
  readonly real: string;
  readonly current: CurrentFile | undefined;
  /** Digest of what this session has read. */
  readonly known: string | undefined;
};

/** Limit for the stored copy of a replaced file. */
const MOST_KEPT = 256 * 1024 * 1024;

/** Reads the file to change, or returns why it cannot be changed. */
export async function findTarget(
  { workspace, scope, reads }: FileDeps,
  path: string,
  { cwd, sessionId }: Pick<CallContext, "cwd" | "sessionId">,
): Promise<FileTarget | ToolResult> {
  const fact = scope(path, cwd);
  const { absolute, real } = fact;
  const shown = displayPath(workspace, absolute);
  if (real === null) return failure("file_write_failure", `Where ${shown} leads cannot be determined. Nothing was written.`);
  try {
    const current = await readCurrentFile(real, MOST_KEPT);
    return { fact, shown, real, current, known: current && (await reads.recall(sessionId, real))?.digest };
  } catch (error) {
    return fileFailure(error, { shown, otherwise: "prior_read_verification_failed" });
  }
}

type ChangePlace = { readonly path: string; readonly ctx: Pick<CallContext, "cwd" | "sessionId"> };

/**
 * Why a change would certainly fail now. Tells nothing about files outside the workspace, with secrets or with a second name (which may be outside),
 * because even their existence is for a person to show.
 */
export async function findFailure(
  deps: FileDeps,
  { path, ctx }: ChangePlace,
  change: (target: FileTarget) => object | undefined,
): Promise<ToolResult | undefined> {
  const { inside, sensitive, writeHazards } = deps.scope(path, ctx.cwd);
  if (!inside || sensitive || writeHazards.length > 0) return undefined;
  const target = await findTarget(deps, path, ctx);
  const changed = isResult(target) ? target : change(target);
  return changed && isResult(changed) ? changed : undefined;
}

/** Fails if the path leads elsewhere than when it was judged. */
export function checkPlace(judged: JudgedPaths, input: object, { fact, shown }: FileTarget): ToolResult | undefined {
  if (!judged.changed(input, fact.real) && !judged.exchanged(input)) return undefined;
  return failure("execution_denied", `${shown} no longer leads where it did when the call was judged. Nothing was written.`);
}

/** Fails if the session has not read the file in its current state. */
export function checkRead({ shown, current, known }: FileTarget): ToolResult | undefined {
  if (!current || known === current.digest) return undefined;
  if (known === undefined) return failure("edit_requires_prior_read", `${shown} exists and was not read in this session. Read it first.`);
  return failure("file_changed_since_read", `${shown} changed after it was read. Read it again.`);
}
