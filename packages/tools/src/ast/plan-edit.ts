import { ToolError } from "@assent/core";
import type { EditOp } from "./ast-edit-input.ts";
import { type EditedFile, editFile, type FileOutcome } from "./edit-file.ts";
import { editInThreads, MANY_FILES } from "./edit-threads.ts";
import { type Engine, loadEngine } from "./engine.ts";
import { mapInOrder } from "./in-order.ts";
import type { Issue } from "./issue.ts";
import { type PreparedOps, prepareOps } from "./ready-ops.ts";
import { FILE_LOAD, readSourceFiles, type SensitiveSource } from "./source-files.ts";
import type { SkipReason } from "./source-text.ts";
import type { Target } from "./targets.ts";

/** What the operations would change. */
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
  /** How to name a file in messages. */
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
  for await (const outcome of editAll(wanted, { engine, ops, signal: planning.signal })) {
    planning.signal.throwIfAborted();
    addOutcome(tally, hideSensitive(outcome, planning), planning);
  }
  const { files, filesSearched, nestedSkipped, skipped } = tally;
  return { files, filesSearched, nestedSkipped, skipped, issues: [...ops.issues(), ...tally.issues] };
}

type PlanSearch = { readonly engine: Engine; readonly ops: PreparedOps; readonly signal: AbortSignal };

/** Starts threads only if there are many files. */
function editAll(targets: readonly Target[], { engine, ops, signal }: PlanSearch): AsyncGenerator<FileOutcome> {
  if (targets.length < MANY_FILES) {
    const editing = { parse: engine.parse, ops: ops.in };
    return mapInOrder(
      readSourceFiles(targets, () => true),
      FILE_LOAD,
      (file) => editFile(file, editing),
    );
  }
  const languages = new Set(targets.map(({ language }) => language));
  return editInThreads(targets, { ops: new Map([...languages].map((language) => [language.name, ops.in(language)])) }, signal);
}

/** Matches in sensitive files are dropped. */
function hideSensitive(outcome: FileOutcome, { isSensitive }: PlanOptions): FileOutcome {
  if (outcome.state !== "searched" || !outcome.edited) return outcome;
  const { target, linked } = outcome.edited;
  return !isSensitive(target, linked) ? outcome : { state: "skipped", reason: "sensitive", target };
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

function addOutcome(tally: Tally, outcome: FileOutcome, planning: PlanOptions): void {
  const { shown } = planning;
  switch (outcome.state) {
    case "searched":
      tally.filesSearched++;
      tally.nestedSkipped += outcome.nestedSkipped;
      if (outcome.edited) addEdited(tally, outcome.edited, planning);
      return;
    case "skipped":
      tally.skipped[outcome.reason] = (tally.skipped[outcome.reason] ?? 0) + 1;
      if (outcome.target.named) tally.issues.push({ path: shown(outcome.target.path), message: SKIPPED_TEXTS[outcome.reason] });
      return;
    case "broken":
      tally.issues.push({ path: shown(outcome.target.path), message: "Syntax error, file skipped" });
      return;
    case "overlapping": {
      const { ops, at, target } = outcome;
      const place = `${shown(target.path)}:${at.line}:${at.column}`;
      throw new ToolError(`ops[${ops[0]}] and ops[${ops[1]}] overlap in ${place}.`, "overlapping_changes");
    }
    case "untouched":
      return;
    default:
      outcome satisfies never;
  }
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
