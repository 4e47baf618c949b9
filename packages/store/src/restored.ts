import type { ApprovalRow } from "@assent/core";
import { stageShared } from "./append.ts";
import { type Database, query } from "./database.ts";
import type { FilePlace } from "./lease.ts";
import { draft } from "./own-draft.ts";
import { parseRow } from "./rows.ts";
import type { Writing } from "./writing.ts";

/** Where the file was when it was last written under an epoch; undefined before the first. */
export function recordedPlace(database: Database): FilePlace | undefined {
  const found = query<{ value: string }>(database, "select value from meta where key = 'place'").get();
  // Parsing: the value is written below.
  return found && (JSON.parse(found.value) as FilePlace);
}

/** Remembers where the file is now. */
export function recordPlace(database: Database, { device, inode }: FilePlace): void {
  query(database, "insert or replace into meta (key, value) values ('place', ?)").run(JSON.stringify({ device, inode }));
}

/**
 * A copy or a restored backup: whatever somebody said or could still say to it may have been used elsewhere.
 * Open approvals close, unused answers are void. Returns how many there were.
 */
export function voidAnswers(database: Database, writing: Writing, at: string): number {
  const candidates = query<{ row: string }>(
    database,
    "select row from approvals where open = 1 or json_extract(row, '$.state') = 'approved' and json_extract(row, '$.consumed') = 0 order by first",
  );
  const approvals = candidates.all().map(({ row }) => parseRow<ApprovalRow>(row));
  for (const { id: approval, session, call, revision } of approvals) {
    stageShared(writing, draft("approval.closed", { approval, session, call, revision, outcome: "cancelled", by: "store_restored" }, at));
  }
  stageShared(writing, draft("store.restored", { approvals: approvals.length }, at));
  return approvals.length;
}

/** True for two different places. */
export function hasMoved(recorded: FilePlace | undefined, now: FilePlace): boolean {
  return recorded !== undefined && (recorded.device !== now.device || recorded.inode !== now.inode);
}
