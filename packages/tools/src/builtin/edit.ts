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
import { makeEditInput } from "../edits/edited-input.ts";
import { describeMissing } from "../edits/not-found.ts";
import { confirmFile, MAX_TEXT, previewFile, recordApplied, warnAboutFile } from "../edits/preview.ts";
import { MOST_PLACES, type ReplaceOutcome, replaceText } from "../edits/replace-text.ts";
import { checkPlace, checkRead, type FileDeps, type FileTarget, findFailure, findTarget } from "../edits/target.ts";
import { failure, isResult } from "../failure.ts";
import { isBinary, readCurrentFile } from "../files/file-bytes.ts";
import { type JudgedPaths, judgedPaths } from "../files/judged-paths.ts";
import { filePath, pathFault } from "../files/path-input.ts";
import { displayPath } from "../files/shown-path.ts";
import { boolean, type InputOf, object, optional, string } from "../schema/fields.ts";
import { listedFields, type ToolListing } from "../tool-listing.ts";

const FIELDS = {
  file_path: filePath,
  old_string: string({ description: "The text to replace, exactly as it is in the file.", minLength: 1, maxLength: MAX_TEXT }),
  new_string: string({ description: "The text to put in its place.", maxLength: MAX_TEXT }),
  replace_all: optional(boolean({ description: "Replace the text everywhere in the file. Default false." })),
};

type EditArguments = InputOf<typeof FIELDS>;

/** What the edit tool needs. */
export type EditDeps = FileDeps;

export const EDIT: ToolListing = { name: "edit", title: "Edit", kind: "edit", subject: "file_path" };

/** Replaces text in a file that the session has read and that has not changed since. Always asks. */
export function editTool(deps: EditDeps): Tool {
  const judged = judgedPaths();
  const placeOf = (input: EditArguments): string => {
    const { real, absolute } = deps.scope(input.file_path, deps.workspace);
    return judged.place(input) ?? real ?? absolute;
  };
  return defineTool({
    ...listedFields(EDIT),
    input: object(FIELDS),
    isOutputMarkdown: false,
    check: ({ file_path }) => pathFault(file_path),
    describe: (input, { cwd }) => describe(displayPath(deps.workspace, resolve(cwd, input.file_path)), input),
    locations: ({ file_path }) => [{ path: file_path }],
    permission: (input, { cwd }) => {
      judged.note(input, deps.scope(input.file_path, cwd));
      return "ask";
    },
    fails: (input, ctx) => findFailure(deps, { path: input.file_path, ctx }, (target) => editTarget(target, input)),
    confirm: (input, ctx) => confirmEdit(deps, input, ctx),
    modify: {
      current: async (input) => (await readText(placeOf(input)))?.toString("utf8") ?? "",
      proposed: async (input) => {
        const bytes = (await readText(placeOf(input))) ?? Buffer.alloc(0);
        const made = replaceIn(bytes, input);
        return (made.state === "replaced" ? made.bytes : bytes).toString("utf8");
      },
      withContent: (input, content) => makeEditInput(placeOf(input), input, content),
    },
    preview: (input, ctx) => previewEdit({ ...deps, judged }, input, ctx),
    apply: (applied, ctx) => recordApplied(deps.reads, applied, ctx),
  });
}

function describe(shown: string, { old_string, new_string, replace_all = false }: EditArguments): string {
  const lines = (text: string): string => {
    const count = text.replace(/\n$/, "").split("\n").length;
    return count === 1 ? "1 line" : `${count} lines`;
  };
  const what = new_string === "" ? `delete ${lines(old_string)}` : `replace ${lines(old_string)} with ${lines(new_string)}`;
  return `Edit ${shown}: ${what}${replace_all ? " everywhere" : ""}`;
}

async function readText(path: string): Promise<Buffer | undefined> {
  return (await readCurrentFile(path, MAX_TEXT))?.bytes;
}

function replaceIn(bytes: Buffer, { old_string: from, new_string: to, replace_all: everywhere = false }: EditArguments): ReplaceOutcome {
  return replaceText(bytes, { from, to, everywhere }, MAX_TEXT);
}

async function previewEdit(
  deps: EditDeps & { readonly judged: JudgedPaths },
  input: EditArguments,
  ctx: RunContext,
): Promise<Preview | ToolResult> {
  const target = await findTarget(deps, input.file_path, ctx);
  if (isResult(target)) return target;
  const moved = checkPlace(deps.judged, input, target);
  const edited = moved ?? editTarget(target, input);
  return isResult(edited) ? edited : previewFile({ target, after: edited.bytes, verb: "Edit", done: describeDone(target.shown, edited) });
}

type EditedText = Extract<ReplaceOutcome, { readonly state: "replaced" }>;

function editTarget(target: FileTarget, input: EditArguments): EditedText | ToolResult {
  const { shown, current } = target;
  if (!current) return failure("file_not_found", `${shown} does not exist. Use write to create it.`);
  const fault = checkRead(target);
  if (fault) return fault;
  const { bytes } = current;
  if (bytes.length > MAX_TEXT) return failure("file_too_large", `${shown} has ${bytes.length} bytes; at most ${MAX_TEXT} can be edited.`);
  if (isBinary(bytes)) return failure("edit_preparation_failure", `${shown} is a binary file and cannot be edited as text.`);
  const made = replaceIn(bytes, input);
  return made.state === "replaced" ? made : editFailure(shown, bytes, input, made);
}

function editFailure(shown: string, bytes: Buffer, input: EditArguments, made: Exclude<ReplaceOutcome, EditedText>): ToolResult {
  switch (made.state) {
    case "equal":
      return failure("edit_no_change", equalText(shown, input));
    case "absent":
      return failure("edit_no_occurrence_found", describeMissing(shown, bytes.toString("utf8"), input.old_string, input.new_string));
    case "several":
      return failure(
        "edit_expected_occurrence_mismatch",
        `old_string occurs ${made.count} times in ${shown}, at ${linesText(made)}. Include more of the surrounding text, or set replace_all.`,
      );
    case "too_many":
      return failure("too_many_changes", `old_string occurs more than ${MOST_PLACES} times in ${shown}.`);
    case "too_large":
      return failure("file_too_large", `${shown} would have more than ${MAX_TEXT} bytes.`);
    default:
      return made satisfies never;
  }
}

function equalText(shown: string, { old_string, new_string }: EditArguments): string {
  if (old_string === new_string) return "old_string and new_string are equal.";
  return `old_string and new_string differ only in line breaks, and an edit keeps those of the file. Use write to change the line breaks of ${shown}.`;
}

function linesText({ count, lines }: { readonly count: number; readonly lines: readonly number[] }): string {
  const numbers = [...new Set(lines)];
  if (count > lines.length) return `lines ${numbers.join(", ")} and more`;
  if (numbers.length === 1) return `line ${numbers[0]}`;
  return `lines ${numbers.slice(0, -1).join(", ")} and ${numbers.at(-1)}`;
}

function describeDone(shown: string, made: EditedText): string {
  const places = made.count === 1 ? "" : ` at ${made.count} places`;
  return `Edited ${shown}${places}, ${linesText(made)}`;
}

async function confirmEdit(deps: EditDeps, input: EditArguments, ctx: CallContext): Promise<ConfirmationDetails> {
  const fact = deps.scope(input.file_path, ctx.cwd);
  const shown = displayPath(deps.workspace, fact.absolute);
  const target = await findTarget(deps, input.file_path, ctx);
  const edited = isResult(target) ? target : editTarget(target, input);
  if (!isResult(target) && !isResult(edited)) {
    return confirmFile({ shown, fact, before: target.current?.bytes ?? null, after: edited.bytes, refused: undefined });
  }
  const signed = (sign: string, text: string): string => text.replaceAll(/^/gm, `${sign} `);
  const prompt = `${shown}\n${signed("-", input.old_string)}\n${signed("+", input.new_string)}`;
  return { type: "info", prompt, warnings: warnAboutFile({ shown, fact, refused: isResult(edited) ? edited : undefined }) };
}
