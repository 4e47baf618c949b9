import { statSync } from "node:fs";
import type { ApprovalRow } from "@assent/core";
import { type Database, query } from "../database/database.ts";
import { findMissingMarks, type Mark } from "../files/marks.ts";
import type { StoreWarning } from "../files/state-directory.ts";
import { parseRow } from "../rows/rows.ts";
import { stageShared } from "../write/append.ts";
import type { FilePlace } from "../write/lease.ts";
import { type EventStaging, makeDraft } from "../write/staging.ts";

/** Includes the creation time (0 if unknown), because inode numbers are reused. */
export type StorePlace = FilePlace & { readonly born: string };

export function readPlace(file: string): StorePlace {
  const { dev, ino, birthtimeNs } = statSync(file, { bigint: true });
  return { device: String(dev), inode: String(ino), born: String(birthtimeNs) };
}

export function recordPlace(database: Database, { device, inode, born }: StorePlace): void {
  query(database, "insert or replace into meta (key, value) values ('place', ?)").run(JSON.stringify({ device, inode, born }));
}

/** True for a copy, which was last written elsewhere. */
export function hasMoved(database: Database, now: StorePlace): boolean {
  const found = query<{ value: string }>(database, "select value from meta where key = 'place'").get();
  if (!found) return false;
  const { device, inode, born = now.born } = parseRow<FilePlace & Partial<StorePlace>>(found.value);
  return device !== now.device || inode !== now.inode || born !== now.born;
}

export function unsettledMarks(database: Database, marks: readonly Mark[]): readonly Mark[] {
  const missing = findMissingMarks(database, marks);
  if (missing.length === 0) return missing;
  const settled = query<{ value: string }>(database, "select value from meta where key = 'settled'").get()?.value.split(" ") ?? [];
  return missing.filter(({ hash }) => !settled.includes(hash));
}

/** This process may end before it removes the marks. */
export function recordSettled(database: Database, marks: readonly Mark[]): void {
  const value = marks.map(({ hash }) => hash).join(" ");
  query(database, "insert or replace into meta (key, value) values ('settled', ?)").run(value);
}

export function findUnusedAnswers(database: Database): readonly ApprovalRow[] {
  const candidates = query<{ row: string }>(
    database,
    "select row from approvals where open = 1 or json_extract(row, '$.state') = 'approved' and json_extract(row, '$.consumed') = 0 order by first",
  );
  return candidates.all().map(({ row }) => parseRow<ApprovalRow>(row));
}

/** Voids open approvals and unused answers, which may have been used elsewhere. */
export function cancelAnswers(writing: EventStaging, approvals: readonly ApprovalRow[], at: string): void {
  for (const { id: approval, session, call, revision } of approvals) {
    stageShared(
      writing,
      makeDraft("approval.closed", { approval, session, call, revision, outcome: "cancelled", by: "store_restored" }, at),
    );
  }
  stageShared(writing, makeDraft("store.restored", { approvals: approvals.length }, at));
}

export function restoredWarning(cancelled: number): StoreWarning {
  return { type: "store_restored", message: `This ledger is a copy or a restored backup. ${cancelledText(cancelled)}` };
}

function cancelledText(count: number): string {
  if (count === 0) return "There were no open approvals or unused answers to cancel.";
  return count === 1 ? "One open approval or unused answer was cancelled." : `${count} open approvals and unused answers were cancelled.`;
}
