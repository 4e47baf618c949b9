import type { AppliedPreview, Json, JsonObject, Preview, ToolResult } from "@assent/core";
import { isJsonObject } from "@assent/core/parts";
import { hiddenText } from "../files/hidden-files.ts";
import type { PlacedChange } from "./edit-file.ts";
import type { KnownFile, KnownPlace } from "./known-files.ts";
import type { EditedFile, EditPlan, SkippedCounts } from "./plan-edit.ts";
import type { Issue } from "./prepared-ops.ts";

type HiddenCount = {
  readonly hidden?: number;
};

/** Turns a plan into a preview to stage, or into a result that says there is nothing to stage. */
export function editPreview(
  plan: EditPlan & HiddenCount & { readonly known: readonly KnownPlace[] },
  nameFile: (path: string) => string,
): Preview | ToolResult {
  const { files, known } = plan;
  const names = new Map(files.map(({ target }) => [target.path, nameFile(target.path)]));
  const shown = (path: string): string => names.get(path) ?? path;
  const totals = countTotals(plan, shown);
  const details = makeDetails(plan, totals, shown);
  const notes = listNotes(plan);
  if (files.length === 0) return { content: ["No matches. Nothing was staged.", ...notes].join("\n"), details };
  return {
    label: `AST edit: ${replacementsIn(totals.totalReplacements, totals.filesTouched)}`,
    blocks: [...(notes.length > 0 ? [notes.join("\n")] : []), ...files.flatMap((file) => makeBlocks(file, shown))],
    changes: files.map(({ target, before, after }) => ({ path: target.path, realPath: target.realPath, before, after })),
    data: known.length === 0 ? totals : { ...totals, known },
    details,
  };
}

export function limitResult(maxFiles: number): ToolResult {
  const plan: EditPlan = { files: [], issues: [], filesSearched: 0, nestedSkipped: 0, skipped: {} };
  return {
    content: `File limit of ${maxFiles} reached; narrow the paths.`,
    details: { ...makeDetails(plan, countTotals(plan, String), String), limitReached: true },
  };
}

export function appliedResult({ data, files }: AppliedPreview, shown: (path: string) => string, known: readonly KnownFile[]): ToolResult {
  const { totalReplacements, filesTouched, fileReplacements } = readTotals(data);
  return {
    content: `Applied ${replacementsIn(totalReplacements, filesTouched)}.`,
    details: {
      applied: true,
      totalReplacements,
      filesTouched,
      fileReplacements,
      files: files.map(({ path, digest }) => ({ path: shown(path), digest })),
      ...(known.length > 0 && { known }),
    },
  };
}

type Totals = { readonly totalReplacements: number; readonly filesTouched: number; readonly fileReplacements: readonly Json[] };

function countTotals({ files }: EditPlan, shown: (path: string) => string): Totals {
  const fileReplacements = files.map(({ target, changes }) => ({ path: shown(target.path), count: changes.length }));
  return { totalReplacements: files.reduce((sum, { changes }) => sum + changes.length, 0), filesTouched: files.length, fileReplacements };
}

/** Reads the totals that `editPreview` stored, possibly in another process. */
function readTotals(data: Json | undefined): Totals {
  const { totalReplacements, filesTouched, fileReplacements }: JsonObject = isJsonObject(data) ? data : {};
  if (typeof totalReplacements !== "number" || typeof filesTouched !== "number" || !Array.isArray(fileReplacements))
    throw new TypeError("the preview's data does not belong to an AST edit");
  return { totalReplacements, filesTouched, fileReplacements };
}

function makeDetails(plan: EditPlan & HiddenCount, totals: Totals, shown: (path: string) => string): JsonObject {
  const { files, issues, filesSearched, nestedSkipped, skipped, hidden = 0 } = plan;
  return {
    applied: false,
    ...totals,
    filesSearched,
    changes: files.flatMap(({ target, changes }) => changes.map((change) => changeDetails(shown(target.path), change))),
    issues: issues.slice(0, MOST_ISSUES).map(issueDetails),
    issueCount: issues.length,
    limitReached: false,
    nestedSkipped,
    skipped: { ...skipped },
    ...(hidden > 0 && { hidden }),
  };
}

function changeDetails(path: string, { op, line, column, endLine, endColumn, before, after }: PlacedChange): JsonObject {
  return { path, op, line, column, endLine, endColumn, before, after };
}

function issueDetails({ path, op, message }: Issue): JsonObject {
  return { ...(path !== undefined && { path }), ...(op !== undefined && { op }), message };
}

/** Notes come first, so they are never cut off. */
function listNotes({ issues, nestedSkipped, skipped, hidden = 0 }: EditPlan & HiddenCount): readonly string[] {
  return [
    ...(hidden > 0 ? [`${hiddenText(hidden)}.`] : []),
    ...(nestedSkipped > 0 ? [`${nestedSkipped} nested matches were skipped; run again after applying.`] : []),
    ...skippedLines(skipped),
    ...issueLines(issues),
  ];
}

const MOST_ISSUES = 20;

/** One line per issue; issues past the limit are counted. */
function issueLines(issues: readonly Issue[]): readonly string[] {
  const lines = issues
    .slice(0, MOST_ISSUES)
    .map(({ path, op, message }) =>
      [...(path === undefined ? [] : [path]), ...(op === undefined ? [] : [`ops[${op}]`]), message].join(": "),
    );
  const rest = issues.length - lines.length;
  return rest > 0 ? [...lines, `… ${rest} more issues`] : lines;
}

const REASONS: Readonly<Record<string, string>> = {
  binary: "binary",
  not_utf8: "not UTF-8",
  too_large: "over 2 MiB",
  unreadable: "cannot be read",
  sensitive: "contain secrets",
};

function skippedLines(skipped: SkippedCounts): readonly string[] {
  const counts = Object.entries(skipped).map(([reason, count]) => `${count} (${REASONS[reason] ?? reason})`);
  return counts.length > 0 ? [`Files skipped: ${counts.join(", ")}.`] : [];
}

/** One block per change; the first block of a file starts with its name. */
function makeBlocks({ target, changes }: EditedFile, shown: (path: string) => string): readonly string[] {
  return changes.map(({ line, column, before, after }, index) =>
    [
      ...(index === 0 ? [shown(target.path)] : []),
      `  ${line}:${column}`,
      ...splitAnyLines(before).map((text) => `  - ${text}`),
      ...(after === "" ? [] : splitAnyLines(after).map((text) => `  + ${text}`)),
    ].join("\n"),
  );
}

function splitAnyLines(text: string): readonly string[] {
  return text.split(/\r?\n/);
}

function replacementsIn(replacements: number, files: number): string {
  return `${replacements} ${replacements === 1 ? "replacement" : "replacements"} in ${files} ${files === 1 ? "file" : "files"}`;
}
