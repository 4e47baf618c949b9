// What the ledgers on SQLite and PostgreSQL share. For @assent/store-postgres of the same version only, so it is not part of the API reference.
export { COPIED_COLUMNS, COPIED_PLACE, COPIED_TABLES, COPY_PAGE } from "./copy/ledger-copy.ts";
export { type Mark, type Marks, openMarks } from "./files/marks.ts";
export { ledgerReplaced, listsMismatch, storeCorrupt, storeNewer } from "./files/store-error.ts";
export { cancelAnswers, restoredWarning } from "./open/restored.ts";
export { choosePrunable, type ListedSession, type Prunable, SELECT_WAITING } from "./prune/prunable.ts";
export { OWN_BLOBS, outputDirectory, sizeOfTree } from "./prune/prune.ts";
export { makeDamageRecord } from "./read/damage.ts";
export { notifySink } from "./read/followers.ts";
export { buildListStatement, ENDED, LIST_TABLES, listedSession, type Statement } from "./read/list-query.ts";
export { checkEvent, checkLink } from "./read/read-events.ts";
export { readSnapshot, SNAPSHOT_VERSION, type SnapshotRow, snapshotText, snapshotWarning } from "./read/snapshots.ts";
export { EVENT_COLUMNS, type EventColumns, toStoredEvent } from "./rows/event-columns.ts";
export { foldCall } from "./rows/fold-call.ts";
export {
  type CallEntry,
  type ChainEntry,
  callKey,
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
export { type ChainColumns, toChainEntry } from "./rows/stored-chains.ts";
export { type ChainNow, compareAnchors } from "./verify/anchor.ts";
export { collectPastCuts, SELECT_CUTS } from "./verify/past-cuts.ts";
export { makeEventScan, type Scan, type ScannedRow } from "./verify/scan.ts";
export { isKnownSession, makeReport, missingMarks } from "./verify/verify.ts";
export { checkBlob, checkSnapshot, compareLists, type ListColumns, selectList } from "./verify/verify-lists.ts";
export { answer, prepareAnswer } from "./write/answer.ts";
export { append, prepareBatch, stageShared, staleWriter } from "./write/append.ts";
export { blobRefs, checkedBytes, withBlobs } from "./write/blobs.ts";
export { chainHash, sha256 } from "./write/chain.ts";
export { CHECKPOINT_EVERY, type CheckpointHead, stageCheckpoint } from "./write/checkpoint.ts";
export { claim, prepareClaim } from "./write/claim.ts";
export { acquire, isGoneHere } from "./write/lease.ts";
export { type EventStaging, makeDraft, makeEventStaging, type PreparedEvent, type StagedEvent } from "./write/staging.ts";
