import { ToolError } from "@assent/core";
import { editFile, type FileEdit, type FileOutcome } from "./edit-file.ts";
import { editInThreads, MANY_FILES } from "./edit-threads.ts";
import { type Engine, loadEngine } from "./engine.ts";
import { mapInOrder } from "./in-order.ts";
import type { EditOp } from "./input.ts";
import { type Issue, type PreparedOps, prepareOps } from "./prepared-ops.ts";
import { FILE_LOAD, readSourceFiles, type SensitiveSource, type SkipReason } from "./source-files.ts";
import type { Target } from "./targets.ts";

export type EditedFile = FileEdit & { readonly target: Target };

export type EditPlan = {
  readonly files: readonly EditedFile[];
  readonly issues: readonly Issue[];
  readonly filesSearched: number;
  readonly nestedSkipped: number;
  readonly skipped: SkippedCounts;
};

export type SkippedCounts = Readonly<Partial<Record<SkipReason, number>>>;

export type PlanOptions = {
  readonly ops: readonly EditOp[];
  readonly maxChanges: number;
  readonly signal: AbortSignal;
  readonly shown: (path: string) => string;
  readonly isSensitive: SensitiveSource;
};

const MAX_BYTES = 256 * 1024 * 1024;

/** Runs all operations on all files. Writes nothing. Throws `ToolError` if the result cannot be staged. */
export async function planEdit(targets: readonly Target[], planning: PlanOptions): Promise<EditPlan> {
  const engine = await loadEngine();
  const ops = prepareOps(engine, planning.ops);
  const tally: Tally = { files: [], issues: [], filesSearched: 0, nestedSkipped: 0, skipped: {}, changes: 0, bytes: 0 };
  const wanted = targets.filter(({ language }) => ops.in(language).length > 0);
  let index = 0;
  for await (const outcome of editAll(wanted, engine, ops, planning.signal)) {
    planning.signal.throwIfAborted();
    const target = wanted[index++];
    if (target) addOutcome(tally, target, outcome, planning);
  }
  const { files, filesSearched, nestedSkipped, skipped } = tally;
  return { files, filesSearched, nestedSkipped, skipped, issues: [...ops.issues(), ...tally.issues] };
}

/** Outcomes in the order of the files. Starts threads only if there are many files. */
function editAll(targets: readonly Target[], engine: Engine, ops: PreparedOps, signal: AbortSignal): AsyncGenerator<FileOutcome> {
  if (targets.length < MANY_FILES) {
    const editing = { parse: engine.parse, ops: ops.in };
    return mapInOrder(readSourceFiles(targets), FILE_LOAD, ({ source, target }) => editFile(source, target.language, editing));
  }
  const languages = new Set(targets.map(({ language }) => language));
  return editInThreads(targets, { ops: new Map([...languages].map((language) => [language.name, ops.in(language)])) }, signal);
}

type Tally = {
  readonly files: EditedFile[];
  readonly issues: Issue[];
  readonly skipped: Partial<Record<SkipReason, number>>;
  filesSearched: number;
  nestedSkipped: number;
  changes: number;
  bytes: number;
};

const SKIPPED_TEXTS: Readonly<Record<SkipReason, string>> = {
  binary: "Binary file, skipped",
  not_utf8: "Not UTF-8, file skipped",
  too_large: "Over 2 MiB, file skipped",
  unreadable: "Cannot be read, file skipped",
  sensitive: "Contains secrets, file skipped",
};

function addOutcome(tally: Tally, target: Target, outcome: FileOutcome, planning: PlanOptions): void {
  const shown = (): string => planning.shown(target.path);
  switch (outcome.state) {
    case "searched":
      if (outcome.edit && planning.isSensitive(target, outcome.edit.linked)) {
        addSkipped(tally, target, { reason: "sensitive", shown });
        return;
      }
      tally.filesSearched++;
      tally.nestedSkipped += outcome.nestedSkipped;
      if (outcome.edit) addEdited(tally, { ...outcome.edit, target }, planning);
      return;
    case "skipped":
      addSkipped(tally, target, { reason: outcome.reason, shown });
      return;
    case "broken":
      tally.issues.push({ path: shown(), message: "Syntax error, file skipped" });
      return;
    case "overlapping": {
      const { ops, at } = outcome;
      throw new ToolError(`ops[${ops[0]}] and ops[${ops[1]}] overlap in ${shown()}:${at.line}:${at.column}.`, "overlapping_changes");
    }
    default:
      outcome satisfies never;
  }
}

function addSkipped(
  tally: Tally,
  { named }: Target,
  { reason, shown }: { readonly reason: SkipReason; readonly shown: () => string },
): void {
  tally.skipped[reason] = (tally.skipped[reason] ?? 0) + 1;
  if (named) tally.issues.push({ path: shown(), message: SKIPPED_TEXTS[reason] });
}

/** Checks limits after each file, so an oversized edit stops early. */
function addEdited(tally: Tally, file: EditedFile, { maxChanges, shown }: PlanOptions): void {
  tally.files.push(file);
  tally.changes += file.changes.length;
  tally.bytes += file.after.length;
  if (tally.changes > maxChanges)
    throw new ToolError(`More than ${maxChanges} changes; narrow the paths or the patterns. Nothing was staged.`, "too_many_changes");
  if (tally.bytes > MAX_BYTES)
    throw new ToolError("More than 256 MiB of changed files; narrow the paths. Nothing was staged.", "proposal_too_large");
  if (file.isBroken) tally.issues.push({ path: shown(file.target.path), message: "Result has a syntax error" });
}
