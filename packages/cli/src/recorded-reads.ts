import { isObject, type Ledger } from "@assent/core";
import { memoryReads, type ReadRecord, type Reads } from "@assent/tools";
import { conversationParts } from "./session-fork-parts.ts";

/** What sessions have read: in this process by memory, in earlier ones by the record. */
export type RecordedReads = Reads & {
  /** From now on this ledger is asked for what an earlier process has read. */
  readonly from: (ledger: Ledger) => void;
};

/** Without a ledger it is a memory. */
export function recordedReads(): RecordedReads {
  const memory = memoryReads();
  let record: Ledger | undefined;
  return {
    from: (ledger) => {
      record = ledger;
    },
    remember: memory.remember,
    recall: async (sessionId, path) => (await memory.recall(sessionId, path)) ?? (record && (await newest(record, sessionId, path))),
  };
}

/** Calls that have looked at files, or changed them, say so in their details; those of the conversation that this one was forked from, too. */
async function newest(ledger: Ledger, id: string, path: string): Promise<ReadRecord | undefined> {
  let found: ReadRecord | undefined;
  for (const { session, through } of await conversationParts(ledger, id)) {
    for await (const { seq, body } of ledger.read({ session, seq: 0 }, { session, types: ["call.ended"] })) {
      if (seq > through) break;
      const details: unknown = body["details"];
      if (isObject(details)) found = knownIn(details, path) ?? knownIn(details["sourceResultDetails"], path) ?? found;
    }
  }
  return found;
}

function knownIn(details: unknown, path: string): ReadRecord | undefined {
  const known = isObject(details) && Array.isArray(details["known"]) ? details["known"] : [];
  const entry: unknown = known.findLast((one: unknown) => isObject(one) && one["path"] === path);
  return isObject(entry) && typeof entry["digest"] === "string" ? { digest: entry["digest"] } : undefined;
}
