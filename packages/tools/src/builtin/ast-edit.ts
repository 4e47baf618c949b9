import { relative } from "node:path";
import { defineTool, type Preview, type RunContext, type Tool, ToolError, type ToolResult } from "@assent/core";
import { isInside, type PathLookup } from "@assent/policy";
import { appliedResult, editPreview, limitResult } from "../ast/edit-preview.ts";
import { type AstEditInput, astEditInput, astEditSchema, editFault } from "../ast/input.ts";
import { type JudgedPlaces, judgedPlaces } from "../ast/judged-places.ts";
import { findKnownFiles, rememberApplied } from "../ast/known-files.ts";
import { findPatternFailure } from "../ast/pattern-failure.ts";
import { planEdit } from "../ast/plan-edit.ts";
import type { Issue } from "../ast/prepared-ops.ts";
import { sensitivityTest } from "../ast/source-files.ts";
import { findTargets, type Targets } from "../ast/targets.ts";
import { failure, fileFailure } from "../failure.ts";
import type { Hides } from "../files/hidden-files.ts";
import type { Reads } from "../files/reads.ts";
import { listedFields, type ToolListing } from "../tool-listing.ts";

/** What `ast_edit` needs. */
export type AstEditDeps = {
  readonly workspace: string;
  readonly scope: PathLookup;
  readonly reads: Reads;
  readonly maxFiles: () => number;
  readonly maxChanges: () => number;
  readonly hides?: Hides;
};

export const AST_EDIT: ToolListing = { name: "ast_edit", title: "AST edit", kind: "edit" };

/** Rewrites code by its structure. It only previews; applying the proposal makes the change. */
export function astEditTool(deps: AstEditDeps): Tool {
  const judged = judgedPlaces(deps.scope);
  return defineTool({
    ...listedFields(AST_EDIT),
    input: astEditInput,
    inputSchema: astEditSchema,
    isOutputMarkdown: false,
    alwaysStages: true,
    check: editFault,
    describe,
    locations: ({ paths = [] }) => paths.map((path) => ({ path })),
    permission: (input, { cwd }) => {
      judged.note(input, input.paths ?? [], cwd);
      return "ask";
    },
    fails: ({ ops = [], paths = [] }) =>
      findPatternFailure(
        ops.map(({ pat }) => pat),
        paths,
      ),
    preview: (input, ctx) => previewEdit({ ...deps, judged }, input, ctx),
    apply: async (applied, { cwd, sessionId }) => {
      const known = await rememberApplied(deps.reads, applied, sessionId);
      return appliedResult(applied, (path) => nameFile(deps, path, cwd), known);
    },
  });
}

const LONGEST_SHOWN = 100;

function describe({ ops: [op, ...ops] = [], paths: [path, ...paths] = [] }: AstEditInput): string {
  const shown = [`${op?.pat} → ${op?.out}`, path ?? ""].map((text) =>
    text.length > LONGEST_SHOWN ? `${text.slice(0, LONGEST_SHOWN).toWellFormed()}…` : text,
  );
  const more = (count: number): string => (count > 0 ? ` and ${count} more` : "");
  return `AST edit ${shown[0]}${more(ops.length)} in ${shown[1]}${more(paths.length)}`;
}

async function previewEdit(
  deps: AstEditDeps & { readonly judged: JudgedPlaces },
  input: AstEditInput,
  { cwd, signal, sessionId }: RunContext,
): Promise<Preview | ToolResult> {
  const { ops = [], paths = [] } = input;
  const { moved, scope, harmless } = deps.judged.open(input, paths, cwd);
  if (moved !== undefined) return failure("execution_denied", `${moved} no longer leads where it did when the call was judged.`);
  const maxFiles = deps.maxFiles();
  const shown = (path: string): string => nameFile(deps, path, cwd);
  try {
    const targets = await findTargets(paths, { ...deps, scope, cwd, signal, maxFiles });
    if (targets.limitReached) return limitResult(maxFiles);
    const isSensitive = sensitivityTest(deps.scope, cwd, harmless);
    const plan = await planEdit(targets.files, { ops, maxChanges: deps.maxChanges(), signal, shown, isSensitive });
    const known = await findKnownFiles(deps.reads, plan.files, sessionId);
    return editPreview({ ...plan, issues: [...listIssues(targets), ...plan.issues], hidden: targets.hidden, known }, shown);
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof ToolError) return failure(error.type, error.message);
    return fileFailure(error, { shown: "The paths", otherwise: "edit_preparation_failure" });
  }
}

function listIssues({ unsupportedNames, empty }: Targets): readonly Issue[] {
  return [
    ...unsupportedNames.map((path) => ({ path, message: "No grammar for this kind of file, file skipped" })),
    ...empty.map((path) => ({ path, message: "No file matches this glob" })),
  ];
}

/** Relative to the working directory if inside the workspace, otherwise absolute. */
function nameFile({ workspace }: AstEditDeps, path: string, cwd: string): string {
  return isInside(workspace, path) || isInside(cwd, path) ? relative(cwd, path) || "." : path;
}
