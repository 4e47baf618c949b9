import type { Maybe } from "@assent/core";

/** What a session has read of a file. */
export type ReadRecord = {
  /** SHA-256 of the whole file at that time. */
  readonly digest: string;
};

/** What each session has read, by real path. Implementations may persist it. */
export interface Reads {
  remember(sessionId: string, path: string, record: ReadRecord): Maybe<void>;
  /** The newest record. */
  recall(sessionId: string, path: string): Maybe<ReadRecord | undefined>;
}

/** Keeps records in memory: after a restart files must be read again before they are changed. */
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
