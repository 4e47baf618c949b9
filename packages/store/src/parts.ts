// What the ledgers on SQLite and PostgreSQL share. For @assent/store-postgres of the same version only, so it is not part of the API reference.
export { type Mark, type Marks, openMarks } from "./files/marks.ts";
export { listsMismatch, storeCorrupt } from "./files/store-error.ts";
export { cancelAnswers, restoredWarning } from "./open/restored.ts";
export { buildListStatement, ENDED, LIST_TABLES, listedSession, type Statement } from "./read/list-query.ts";
export { readSnapshot, SNAPSHOT_VERSION, type SnapshotRow, snapshotText, snapshotWarning } from "./read/snapshots.ts";
export { EVENT_COLUMNS, type EventColumns, toStoredEvent } from "./rows/event-columns.ts";
export { foldCall } from "./rows/fold-call.ts";
export {
  type CallEntry,
  type ChainEntry,
  IS_OPEN,
  type ListEntry,
  type ListRows,
  makeUndoable,
  parseRow,
  type Rows,
  SEARCH_COLUMN,
  splitCallKey,
  type Table,
} from "./rows/rows.ts";
export { type ChainNow, compareAnchor } from "./verify/anchor.ts";
export { collectPastCuts, SELECT_CUTS } from "./verify/past-cuts.ts";
export { makeEventScan, type ScannedRow } from "./verify/scan.ts";
export { isKnownSession, makeReport, missingMarks } from "./verify/verify.ts";
export { checkBlob, checkSnapshot, compareLists, type ListColumns, selectList } from "./verify/verify-lists.ts";
export { answer, prepareAnswer } from "./write/answer.ts";
export { append, prepareBatch, stageShared, staleWriter } from "./write/append.ts";
export { checkedBytes, withBlobs } from "./write/blobs.ts";
export { chainHash, sha256 } from "./write/chain.ts";
export { CHECKPOINT_EVERY, type CheckpointHead, stageCheckpoint } from "./write/checkpoint.ts";
export { claim, prepareClaim } from "./write/claim.ts";
export { acquire, liveness, thisPlace } from "./write/lease.ts";
export { type EventStaging, makeDraft, makeEventStaging, type StagedEvent } from "./write/staging.ts";
