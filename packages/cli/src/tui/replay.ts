import { knownEvent, type Ledger, type LedgerEvent } from "@assent/core";
import { currentUser } from "@assent/host";
import { wholeEvent } from "./session-feed.ts";
import type { Block } from "./transcript/block.ts";
import { answeredBy, isPerson } from "./transcript/call-words.ts";
import { afterRecord, EMPTY, type Transcript, takeSettled } from "./transcript/transcript.ts";

/** A conversation as it is on record: what is settled, and what is open. */
export type Replayed = { readonly settled: readonly Block[]; readonly open: Transcript };

const HEARING = { pid: -1, live: false } as const;

/** Reads a session's transcript back. */
export async function replay(ledger: Ledger, session: string): Promise<Replayed> {
  const settled: Block[] = [];
  let open = EMPTY;
  for await (const stored of ledger.read({ session, seq: 0 }, { session })) {
    const event = knownEvent(stored);
    if (!event) continue;
    open = afterRecord(open, await wholeEvent({ ledger }, event), HEARING);
    const taken = takeSettled(open);
    settled.push(...taken.settled);
    open = taken.rest;
  }
  return { settled: withAnswers(settled, await answersOf(ledger, session)), open };
}

type Answered = LedgerEvent<"approval.answered">["body"];

async function answersOf(ledger: Ledger, session: string): Promise<ReadonlyMap<string, Answered>> {
  const answers = new Map<string, Answered>();
  for await (const stored of ledger.read({ pos: 0 }, { naming: session })) {
    const event = knownEvent(stored);
    if (event?.type === "approval.answered") answers.set(event.body.call, event.body);
  }
  return answers;
}

function withAnswers(blocks: readonly Block[], answers: ReadonlyMap<string, Answered>): readonly Block[] {
  const you = currentUser().user;
  return blocks.map((block) => {
    const answer = block.type === "call" ? answers.get(block.callId) : undefined;
    return answer ? { ...block, decided: answeredBy(answer, isPerson(answer.by, you)) } : block;
  });
}
