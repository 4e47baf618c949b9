import { isObject, type Ledger } from "@assent/core";
import { memoryReads, type ReadRecord, type Reads } from "@assent/tools";
import { type ConversationPart, conversationParts } from "../desk/sessions/conversation-parts.ts";

export type RecordedReads = Reads & {
  /** Adds the reads of earlier processes. */
  readonly from: (ledger: Ledger) => void;
};

export function recordedReads(): RecordedReads {
  const memory = memoryReads();
  let recorded: ((sessionId: string) => Promise<KnownReads>) | undefined;
  return {
    from: (ledger) => {
      recorded = following(ledger);
    },
    remember: memory.remember,
    recall: async (sessionId, path) => (await memory.recall(sessionId, path)) ?? (await recorded?.(sessionId))?.get(path),
  };
}

type KnownReads = Map<string, ReadRecord>;

/** Reads each event only once. */
function following(ledger: Ledger): (sessionId: string) => Promise<KnownReads> {
  const sessions = new Map<string, { readonly known: KnownReads; through: number }>();
  return async (id) => {
    const seen = sessions.get(id) ?? { known: await forkedKnown(ledger, id), through: 0 };
    sessions.set(id, seen);
    seen.through = await gather(ledger, { session: id, after: seen.through, through: Number.POSITIVE_INFINITY }, seen.known);
    return seen.known;
  };
}

async function forkedKnown(ledger: Ledger, id: string): Promise<KnownReads> {
  const known: KnownReads = new Map();
  for (const part of await conversationParts(ledger, id)) if (part.session !== id) await gather(ledger, { ...part, after: 0 }, known);
  return known;
}

async function gather(
  ledger: Ledger,
  { session, after, through }: ConversationPart & { readonly after: number },
  known: KnownReads,
): Promise<number> {
  let last = after;
  for await (const { seq, body } of ledger.read({ session, seq: after }, { session, types: ["call.ended"] })) {
    if (seq > through) break;
    last = seq;
    const details: unknown = body["details"];
    if (!isObject(details)) continue;
    for (const { path, digest } of [...knownIn(details["sourceResultDetails"]), ...knownIn(details)]) known.set(path, { digest });
  }
  return last;
}

function knownIn(details: unknown): readonly { readonly path: string; readonly digest: string }[] {
  const known: readonly unknown[] = isObject(details) && Array.isArray(details["known"]) ? details["known"] : [];
  return known.flatMap((one) => {
    if (!isObject(one) || typeof one["path"] !== "string" || typeof one["digest"] !== "string") return [];
    return [{ path: one["path"], digest: one["digest"] }];
  });
}
