import { type Ledger, parseEvent } from "@assent/core";
import { currentUser } from "@assent/host";
import { loadWholeEvent } from "../../desk/sessions/whole-event.ts";
import type { Block } from "../transcript/block.ts";
import { describeAnswer, describeReply, isSamePerson } from "../transcript/call-words.ts";
import { applyLedgerEvent, EMPTY_TRANSCRIPT, type Transcript, takeSettled } from "../transcript/transcript.ts";

export type ReplayedTranscript = { readonly settled: readonly Block[]; readonly open: Transcript };

const HEARING = { pid: -1, live: false } as const;

export async function replayTranscript(ledger: Ledger, session: string): Promise<ReplayedTranscript> {
  const settled: Block[] = [];
  let open = EMPTY_TRANSCRIPT;
  for await (const stored of ledger.read({ session, seq: 0 }, { session })) {
    const event = parseEvent(stored);
    if (!event) continue;
    open = applyLedgerEvent(open, await loadWholeEvent({ ledger }, event), HEARING);
    const taken = takeSettled(open);
    settled.push(...taken.settled);
    open = taken.rest;
  }
  return { settled: withAnswers(settled, await answersOf(ledger, session)), open };
}

/** By call or question id. */
type Answers = ReadonlyMap<string, string>;

async function answersOf(ledger: Ledger, session: string): Promise<Answers> {
  const you = currentUser().user;
  const answers = new Map<string, string>();
  for await (const stored of ledger.read({ pos: 0 }, { naming: session })) {
    const event = parseEvent(stored);
    if (event?.type === "approval.answered") answers.set(event.body.call, describeAnswer(event.body, isSamePerson(event.body.by, you)));
    if (event?.type === "question.answered") answers.set(event.body.question, describeReply(event.body, isSamePerson(event.body.by, you)));
  }
  return answers;
}

function withAnswers(blocks: readonly Block[], answers: Answers): readonly Block[] {
  return blocks.map((block) => {
    if (block.type !== "call") return block;
    const decided = answers.get(block.callId) ?? answers.get(block.question ?? "");
    return decided === undefined ? block : { ...block, decided };
  });
}
