import type { Maybe } from "@assent/core";

/** What a session has seen of a file. */
export type ReadRecord = {
  /** SHA-256 of all its bytes at that time. */
  readonly digest: string;
  /** First and last line that was shown; undefined for what has no lines. */
  readonly lines?: { readonly from: number; readonly to: number };
};

/** What each session has read, by real path. An implementation may keep it beyond the process. */
export interface Reads {
  remember(sessionId: string, path: string, record: ReadRecord): Maybe<void>;
  /** The newest record, if any. */
  recall(sessionId: string, path: string): Maybe<ReadRecord | undefined>;
}

/** What was read, for as long as this process lives: afterwards files have to be read again before they are replaced. */
export function memoryReads(): Reads {
  const sessions = new Map<string, Map<string, ReadRecord>>();
  return {
    remember(sessionId, path, record) {
      const records = sessions.get(sessionId) ?? new Map<string, ReadRecord>();
      sessions.set(sessionId, records);
      records.set(path, record);
    },
    recall: (sessionId, path) => sessions.get(sessionId)?.get(path),
  };
}
