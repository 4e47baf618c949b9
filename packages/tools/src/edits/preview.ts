import { basename } from "node:path";
import {
  type AppliedPreview,
  type CallContext,
  type ConfirmationDetails,
  type DiffStat,
  type Display,
  isObject,
  type Preview,
  type ToolResult,
} from "@assent/core";
import { diffText, type LineChange, lineChanges, makeChangeBlocks, makeStat } from "@assent/core/parts";
import type { PathFact } from "@assent/policy";
import { isBinary } from "../files/file-bytes.ts";
import type { Reads } from "../files/reads.ts";
import { oneLine } from "../files/shown-path.ts";
import type { FileTarget } from "./target.ts";

/** Larger files are not compared as text. */
export const MAX_TEXT: number = 16 * 1024 * 1024;

export type PlannedFile = {
  readonly target: FileTarget;
  readonly after: Buffer;
  readonly verb: "Write" | "Edit";
  /** The result text without counts, such as "Created a.ts". */
  readonly done: string;
};

/** Describes the whole change without writing anything. */
export function previewFile({ target, after, verb, done }: PlannedFile): Preview {
  const { shown, real, current, fact } = target;
  const { changes, fileDiff, originalContent, newContent } = compareTexts(shown, current?.bytes ?? null, after);
  const stat = makeStat(changes);
  const display: Display = { type: "file_diff", fileName: basename(shown), fileDiff, originalContent, newContent, diffStat: stat };
  const path = oneLine(shown);
  const blocks = makeChangeBlocks(path, changes);
  return {
    label: `${verb}: ${shown}`,
    blocks: blocks.length > 0 ? blocks : [`${path}\n  1:1`],
    changes: [{ path: fact.absolute, realPath: real, before: current?.bytes ?? null, after }],
    data: { real, done: `${done}: ${describeCounts(stat)}.` },
    details: { applied: false, path: shown, created: !current, addedLines: stat.model_added_lines, removedLines: stat.model_removed_lines },
    display,
  };
}

/** Records the new content as read, so the session can keep editing the file, and describes what was done. */
export async function recordApplied(reads: Reads, applied: AppliedPreview, { sessionId }: CallContext): Promise<ToolResult> {
  const { data, display, files, label } = applied;
  const { real, done } = isObject(data) ? data : {};
  const digest = files[0]?.digest.replace(/^sha256:/, "");
  const known = typeof real === "string" && digest !== undefined ? [{ path: real, digest }] : [];
  for (const { path, digest: now } of known) await reads.remember(sessionId, path, { digest: now });
  return {
    content: typeof done === "string" ? done : `Applied ${label}.`,
    ...(display !== undefined && { display }),
    details: { applied: true, files: files.map(({ path, digest: now }) => ({ path, digest: now })), known },
  };
}

function describeCounts({ model_added_lines, model_removed_lines }: DiffStat): string {
  return `${model_added_lines} ${model_added_lines === 1 ? "line" : "lines"} added, ${model_removed_lines} removed`;
}

type ComparedTexts = {
  readonly changes: readonly LineChange[];
  readonly fileDiff: string;
  readonly originalContent: string | null;
  readonly newContent: string;
};

/** Binary and very large content is described by its size. */
function compareTexts(name: string, before: Buffer | null, after: Buffer): ComparedTexts {
  const newContent = after.toString("utf8");
  if (before && (before.length > MAX_TEXT || isBinary(before))) {
    const originalContent = `[${before.length} bytes, not shown]`;
    const changes = lineChanges(`${originalContent}\n`, newContent);
    const fileDiff = `--- a/${oneLine(name)}\n+++ b/${oneLine(name)}\n${originalContent} are replaced by the new content\n`;
    return { changes, fileDiff, originalContent, newContent };
  }
  const originalContent = before?.toString("utf8") ?? null;
  const changes = lineChanges(originalContent ?? "", newContent);
  return { changes, fileDiff: diffText({ name, before: originalContent }, changes), originalContent, newContent };
}

export type AskedChange = {
  readonly shown: string;
  readonly fact: PathFact;
  readonly before: Buffer | null;
  readonly after: Buffer;
  /** Why the change would fail now. */
  readonly refused: ToolResult | undefined;
};

/** What a person sees before approving: the real path, the change and all warnings. */
export function confirmFile({ shown, fact, before, after, refused }: AskedChange): ConfirmationDetails {
  const { fileDiff, originalContent, newContent } = compareTexts(shown, before, after);
  const filePath = fact.real ?? fact.absolute;
  const details = { type: "edit", fileName: basename(fact.absolute), filePath, fileDiff, originalContent, newContent } as const;
  const warnings = warnAboutFile({ shown, fact, refused });
  return warnings.length > 0 ? { ...details, warnings } : details;
}

export function warnAboutFile({ shown, fact, refused }: Pick<AskedChange, "shown" | "fact" | "refused">): readonly string[] {
  return [
    ...warnAboutPath(shown, fact),
    ...(refused?.error ? [`This would fail now, so nothing would be written: ${refused.error.message}`] : []),
  ];
}

function warnAboutPath(shown: string, { absolute, real, inside, sensitive, control, hazards, writeHazards }: PathFact): readonly string[] {
  return [
    ...(real !== absolute ? [`${shown} leads to ${real ?? "a place that cannot be determined"}.`] : []),
    ...(inside ? [] : ["The file is outside the workspace."]),
    ...(sensitive ? ["The file probably contains secrets, judging by its name or location."] : []),
    ...(control ? ["This is a control file: it configures agents or runs code later."] : []),
    ...writeHazards.slice(real === null ? hazards.length : 0).map(({ text }) => text),
  ];
}
