import { resolve } from "node:path";
import {
  type CallContext,
  type ConfirmationDetails,
  defineTool,
  type Preview,
  type RunContext,
  type Tool,
  type ToolResult,
} from "@assent/core";
import { confirmFile, MAX_TEXT, previewFile, recordApplied } from "../edits/preview.ts";
import { checkPlace, checkRead, type FileDeps, type FileTarget, findFailure, findTarget } from "../edits/target.ts";
import { failure, isResult } from "../failure.ts";
import { readCurrentFile } from "../files/file-bytes.ts";
import { type JudgedPaths, judgedPaths } from "../files/judged-paths.ts";
import { filePath, pathFault } from "../files/path-input.ts";
import { displayPath } from "../files/shown-path.ts";
import { type InputOf, object, string } from "../schema/fields.ts";
import { listedFields, type ToolListing } from "../tool-listing.ts";

const FIELDS = {
  file_path: filePath,
  content: string({ description: "The whole new content of the file.", maxLength: MAX_TEXT }),
};

type WriteInput = InputOf<typeof FIELDS>;

/** What the write tool needs. */
export type WriteDeps = FileDeps;

export const WRITE: ToolListing = { name: "write", title: "Write", kind: "edit", subject: "file_path" };

/** Creates or replaces a file. An existing file must have been read in this session and be unchanged. Always asks. */
export function writeTool(deps: WriteDeps): Tool {
  const judged = judgedPaths();
  return defineTool({
    ...listedFields(WRITE),
    input: object(FIELDS),
    isOutputMarkdown: false,
    check: ({ file_path, content }) => pathFault(file_path) ?? contentFault(content),
    describe: ({ file_path, content }, { cwd }) =>
      `Write ${content.length} characters to ${displayPath(deps.workspace, resolve(cwd, file_path))}`,
    locations: ({ file_path }) => [{ path: file_path }],
    permission: (input, { cwd }) => {
      judged.note(input, deps.scope(input.file_path, cwd));
      return "ask";
    },
    fails: (input, ctx) => findFailure(deps, { path: input.file_path, ctx }, (target) => writeFailure(target, Buffer.from(input.content))),
    confirm: (input, ctx) => confirmWrite(deps, input, ctx),
    modify: {
      current: async (input) => {
        const { real, absolute } = deps.scope(input.file_path, deps.workspace);
        const current = await readCurrentFile(judged.place(input) ?? real ?? absolute, MAX_TEXT);
        return current?.bytes.toString("utf8") ?? "";
      },
      proposed: ({ content }) => content,
      withContent: (input, content) => ({ ...input, content }),
    },
    preview: (input, ctx) => previewWrite({ ...deps, judged }, input, ctx),
    apply: (applied, ctx) => recordApplied(deps.reads, applied, ctx),
  });
}

function contentFault(content: string): string | undefined {
  return Buffer.byteLength(content) > MAX_TEXT ? `params/content must NOT have more than ${MAX_TEXT} bytes` : undefined;
}

async function previewWrite(
  deps: WriteDeps & { readonly judged: JudgedPaths },
  input: WriteInput,
  ctx: RunContext,
): Promise<Preview | ToolResult> {
  const target = await findTarget(deps, input.file_path, ctx);
  if (isResult(target)) return target;
  const after = Buffer.from(input.content);
  const refused = checkPlace(deps.judged, input, target) ?? writeFailure(target, after);
  if (refused) return refused;
  const { shown, current } = target;
  return previewFile({ target, after, verb: "Write", done: current ? `Replaced ${shown}` : `Created ${shown}` });
}

/** Why the file cannot be written this way; undefined if it can. */
function writeFailure(target: FileTarget, after: Buffer): ToolResult | undefined {
  const fault = checkRead(target);
  if (fault) return fault;
  return target.current?.bytes.equals(after) ? failure("edit_no_change", `${target.shown} already has exactly this content.`) : undefined;
}

async function confirmWrite(deps: WriteDeps, input: WriteInput, ctx: CallContext): Promise<ConfirmationDetails> {
  const fact = deps.scope(input.file_path, ctx.cwd);
  const shown = displayPath(deps.workspace, fact.absolute);
  const target = await findTarget(deps, input.file_path, ctx);
  const after = Buffer.from(input.content);
  if (isResult(target)) return confirmFile({ shown, fact, before: null, after, refused: target });
  return confirmFile({ shown, fact, before: target.current?.bytes ?? null, after, refused: writeFailure(target, after) });
}
