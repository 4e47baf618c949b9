import { basename, resolve } from "node:path";
import {
  type CallContext,
  type ConfirmationDetails,
  type Display,
  defineTool,
  type Files,
  type ProbeAnswer,
  type RunContext,
  type Tool,
  type ToolResult,
} from "@assent/core";
import { errorCode } from "@assent/host";
import { type PathScope, resolvePath } from "@assent/policy";
import { description } from "./description.ts";
import { failure, fileFailure } from "./failure.ts";
import { type InputOf, object, string } from "./fields.ts";
import { type CurrentFile, contentDigest, currentFile } from "./file-bytes.ts";
import { type JudgedPaths, judgedPaths } from "./judged-paths.ts";
import { filePath, pathFault } from "./path-input.ts";
import type { Reads } from "./reads.ts";
import { shownPath } from "./shown-path.ts";
import { diffStat, unifiedDiff } from "./unified-diff.ts";

const MAX_CONTENT = 16 * 1024 * 1024;

const FIELDS = {
  file_path: filePath,
  content: string({ description: "The whole new content of the file.", maxLength: MAX_CONTENT }),
};

type Input = InputOf<typeof FIELDS>;

/** What the write tool needs: where the session works, who replaces files, and what the session has read. */
export type WriteDeps = { readonly workspace: string; readonly scope: PathScope; readonly files: Files; readonly reads: Reads };

/**
 * Creates or replaces a whole file. An existing one must have been read in this session and be unchanged since. It asks, wherever the file is; what a person
 * approved it does, if the path still leads where it led when the call was judged.
 */
export function writeTool(deps: WriteDeps): Tool {
  const judged = judgedPaths();
  return defineTool({
    name: "write",
    title: "Write",
    description: description("write"),
    kind: "edit",
    input: object(FIELDS),
    isOutputMarkdown: false,
    check: ({ file_path, content }) => pathFault(file_path) ?? contentFault(content),
    describe: ({ file_path, content }, { cwd }) =>
      `Write ${content.length} characters to ${shownPath(deps.workspace, resolve(cwd, file_path))}`,
    locations: ({ file_path }) => [{ path: file_path }],
    permission: (input, { cwd }) => {
      judged.note(input, deps.scope(input.file_path, cwd));
      return "ask";
    },
    confirm: (input, ctx) => confirm(deps, input, ctx),
    modify: {
      current: async (input) =>
        (await currentFile(judged.place(input) ?? resolve(deps.workspace, input.file_path), MAX_CONTENT))?.text ?? "",
      proposed: ({ content }) => content,
      withContent: (input, content) => ({ ...input, content }),
    },
    run: (input, ctx) => run({ ...deps, judged }, input, ctx),
    probe: (input, ctx) => probe(deps, input, ctx),
  });
}

function contentFault(content: string): string | undefined {
  if (!content.isWellFormed()) return "params/content must be well-formed Unicode";
  return Buffer.byteLength(content) > MAX_CONTENT ? `params/content must NOT have more than ${MAX_CONTENT} bytes` : undefined;
}

async function run(
  { workspace, scope, files, reads, judged }: WriteDeps & { readonly judged: JudgedPaths },
  input: Input,
  ctx: RunContext,
): Promise<ToolResult> {
  const { absolute, real, anchor: present } = scope(input.file_path, ctx.cwd);
  const shown = shownPath(workspace, absolute);
  if (judged.changed(input, real)) return elsewhere(shown);
  const anchor = judged.anchor(input) ?? present;
  if (real === null || anchor === null) return failure("file_write_failure", `Where ${shown} leads cannot be told. Nothing was written.`);
  let current: CurrentFile | undefined;
  try {
    current = await currentFile(real, MAX_CONTENT);
  } catch (error) {
    return fileFailure(error, { shown, otherwise: "prior_read_verification_failed" });
  }
  const digest = contentDigest(input.content);
  const refused = current && (await refusal(current, { shown, digest, known: (await reads.recall(ctx.sessionId, real))?.digest }));
  if (refused) return refused;
  ctx.signal.throwIfAborted();
  try {
    await files.replace(real, input.content, { anchor });
  } catch (error) {
    if (errorCode(error) === "ERR_PLACE_CHANGED") return elsewhere(shown);
    return fileFailure(error, { shown, otherwise: "file_write_failure" });
  }
  await reads.remember(ctx.sessionId, real, { digest });
  return written(shown, current, input.content);
}

function elsewhere(shown: string): ToolResult {
  return failure("execution_denied", `${shown} leads to another place than when it was judged. Nothing was written.`);
}

type Known = { readonly shown: string; readonly digest: string; readonly known: string | undefined };

/** Why an existing file may not be replaced; undefined when it may. */
function refusal(current: CurrentFile, { shown, digest, known }: Known): ToolResult | undefined {
  if (known === undefined) return failure("edit_requires_prior_read", `${shown} exists and was not read in this session. Read it first.`);
  if (known !== current.digest) return failure("file_changed_since_read", `${shown} changed after it was read. Read it again.`);
  return digest === current.digest ? failure("edit_no_change", `${shown} has exactly this content already.`) : undefined;
}

function written(shown: string, current: CurrentFile | undefined, content: string): ToolResult {
  const stat = diffStat(current ? (current.text ?? "") : null, content);
  const lines = `${stat.model_added_lines} lines added, ${stat.model_removed_lines} removed`;
  const display: Display = { type: "file_diff", fileName: basename(shown), ...sides(shown, current, content), diffStat: stat };
  return { content: current ? `Replaced ${shown}: ${lines}.` : `Created ${shown}: ${lines}.`, display };
}

type Shown = { readonly fileDiff: string; readonly originalContent: string | null; readonly newContent: string };

/** Both sides for people. What is no text, or too long to compare, is named by its size. */
function sides(name: string, current: CurrentFile | undefined, content: string): Shown {
  if (current && current.text === undefined) {
    const what = `[${current.size} bytes that are not shown]`;
    return {
      fileDiff: `--- a/${name}\n+++ b/${name}\n${what} are replaced by the new content\n`,
      originalContent: what,
      newContent: content,
    };
  }
  const before = current?.text ?? null;
  return { fileDiff: unifiedDiff({ name, before, after: content }), originalContent: before, newContent: content };
}

async function confirm(
  { workspace, scope, reads }: WriteDeps,
  input: Input,
  { cwd, sessionId }: CallContext,
): Promise<ConfirmationDetails> {
  const { absolute, real, inside, sensitive, control, hazards, writeHazards } = scope(input.file_path, cwd);
  const place = real ?? absolute;
  const shown = shownPath(workspace, absolute);
  const current = real === null ? undefined : await currentFile(real, MAX_CONTENT);
  const known = current && (await reads.recall(sessionId, place))?.digest;
  const refused = current && refusal(current, { shown, digest: contentDigest(input.content), known });
  const warnings = [
    ...(real !== absolute ? [`${shown} leads to ${real ?? "a place that cannot be told"}.`] : []),
    ...(inside ? [] : ["The file is outside the workspace."]),
    ...(sensitive ? ["The file's name or place says that it holds secrets."] : []),
    ...(control ? ["This is a control file: it steers agents, or runs code later."] : []),
    ...writeHazards.slice(real === null ? hazards.length : 0).map(({ text }) => text),
    ...(refused?.error ? [`As things are, nothing will be written: ${refused.error.message}`] : []),
  ];
  const details = { type: "edit", fileName: basename(absolute), filePath: place, ...sides(shown, current, input.content) } as const;
  return warnings.length > 0 ? { ...details, warnings } : details;
}

/** After a crash: the replace is one rename, so the file has the new bytes or it has not. Bytes of neither time tell nothing. */
async function probe({ workspace, reads }: WriteDeps, input: Input, { cwd, sessionId }: CallContext): Promise<ProbeAnswer> {
  const { absolute, real } = resolvePath(input.file_path, cwd);
  if (real === null) return { state: "unknown" };
  const current = await currentFile(real, 0);
  const evidence = { path: real, sha256: current?.digest ?? null };
  if (current?.digest === contentDigest(input.content))
    return { state: "applied", content: `Wrote ${shownPath(workspace, absolute)}.`, evidence };
  const before = (await reads.recall(sessionId, real))?.digest;
  return { state: !current || current.digest === before ? "not_applied" : "unknown", evidence };
}
