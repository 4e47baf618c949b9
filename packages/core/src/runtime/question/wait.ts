import type { QuestionRow } from "../../ledger-port.ts";
import type { By } from "../../model/answer.ts";
import { toolHookInput } from "../../model/hooks/input.ts";
import { answersFault, type QuestionAnswer } from "../../model/question/question.ts";
import { readAnswers } from "../../model/question/shape.ts";
import { messageOf } from "../../model/result/thrown.ts";
import { AnsweredElsewhere, type OpenQuestion, type QuestionerReply } from "../../question-port.ts";
import type { Ending } from "../dispatch.ts";
import { type BatchRun, type CallRun, isParking, skipRest } from "../pipeline/call-run.ts";
import { tellHooks } from "../pipeline/notify.ts";
import { hookSession } from "../pipeline/rewrite.ts";
import { traceApproval } from "../pipeline/tracing.ts";
import { makeWakeSignal } from "../waiting.ts";
import { type Settlement, settleQuestion, sortAnswers } from "./answer.ts";
import { abortedEnd, settledEnd } from "./ends.ts";
import { type Countdown, makeCountdown } from "./timer.ts";

type QuestionDesk = {
  readonly row: QuestionRow;
  readonly countdown: Countdown;
  readonly showing: AbortController;
  readonly ring: () => void;
  /** A later cancel is too late. */
  said: "answered" | "cancelled" | "expired" | undefined;
  noAnswer: boolean;
  failure: unknown;
};

/** `unasked`: no answer here, so `onAsk` decides. */
export async function waitForReply(batch: BatchRun, run: CallRun, row: QuestionRow): Promise<Ending | "unasked"> {
  const wakeSignal = makeWakeSignal();
  const desk = openDesk(batch, run, row, wakeSignal.ring);
  const { session, policy } = batch.deps;
  run.wake = wakeSignal.ring;
  const watch = session.watch(wakeSignal.ring, (error) => {
    desk.failure = error;
    wakeSignal.ring();
  });
  const unsubscribe = policy.subscribe(desk.countdown.changed);
  try {
    if (!run.stopped) {
      tellWaiting(batch, run);
      void showQuestion(batch, run, desk);
    }
    for (;;) {
      const settled = await checkQuestion(batch, run, desk);
      if (settled) return settled;
      await wakeSignal.heard();
    }
  } finally {
    run.wake = undefined;
    watch.close();
    unsubscribe();
    desk.countdown.close();
    desk.showing.abort();
    traceApproval(batch, run, "assent.approval.answered");
  }
}

function openDesk(batch: BatchRun, run: CallRun, row: QuestionRow, ring: () => void): QuestionDesk {
  const { clock } = batch.deps;
  const over = (): void => {
    if (desk.said || run.stopped) return;
    void recordSettlement(batch, desk, { outcome: "expired", answers: desk.countdown.answersSoFar(), by: clockBy(batch), reason: null });
  };
  const countdown = makeCountdown(clock, row.questions, () => secondsAllowed(batch), over);
  const desk: QuestionDesk = { row, countdown, showing: new AbortController(), ring, said: undefined, noAnswer: false, failure: undefined };
  return desk;
}

const LONGEST_SECONDS = 2_147_483;

/** Plan mode has no time limit. */
function secondsAllowed(batch: BatchRun): number {
  const seconds = batch.deps.askTimeout?.() ?? 0;
  return batch.policy().mode === "plan" ? 0 : Math.min(seconds, LONGEST_SECONDS);
}

function tellWaiting(batch: BatchRun, run: CallRun): void {
  const { input, callId, tool } = run;
  tellHooks(batch, run, "on_user_input", () => {
    const about = { event: "on_user_input", tool: tool?.name ?? run.name, kind: tool?.kind ?? "think", callId, input } as const;
    return { ...toolHookInput(hookSession(batch, run), about), label: "question" };
  });
}

const TRIES = 3;

async function showQuestion(batch: BatchRun, run: CallRun, desk: QuestionDesk): Promise<void> {
  const { warn } = batch.deps;
  try {
    let fault: string | undefined;
    for (let tries = 0; tries < TRIES; tries += 1) {
      const said = await askQuestioner(batch, run, { desk, fault });
      if (desk.showing.signal.aborted || desk.said || run.stopped) return; // settled elsewhere first
      if (!said) break;
      const settlement = readReply(batch, desk, said);
      if (!("fault" in settlement)) return await recordSettlement(batch, desk, settlement);
      fault = settlement.fault;
      warn?.(fault);
    }
  } catch (error) {
    warn?.(`the questioner failed: ${messageOf(error)}`); // no reply is not an answer
  }
  desk.noAnswer = true;
  desk.ring();
}

type AskInput = { readonly desk: QuestionDesk; readonly fault: string | undefined };

async function askQuestioner(batch: BatchRun, run: CallRun, { desk, fault }: AskInput): Promise<QuestionerReply | undefined> {
  const { id, session: sessionId, callId, questions } = desk.row;
  const { agentName } = batch.batch;
  const { timer, chosen } = desk.countdown;
  const open: OpenQuestion = {
    ...{ id, sessionId, callId, questions, timer },
    timeout: () => secondsAllowed(batch),
    ...(fault !== undefined && { fault }),
    ...(agentName !== undefined && { agentName }),
  };
  try {
    return await batch.deps.questioner?.ask(open, desk.showing.signal, (answers) => {
      if (run.phase === "running" && !desk.said) chosen(answers);
    });
  } finally {
    timer.stop();
  }
}

function readReply(batch: BatchRun, { row, countdown }: QuestionDesk, said: QuestionerReply): Settlement | { readonly fault: string } {
  const by = said.by ?? personHere(batch);
  const { questions } = row;
  if (said.outcome === "cancelled") {
    const answers = said.partial.map(countdown.marked);
    return { outcome: "cancelled", ...(answers.length > 0 && { answers }), by, reason: said.reason ?? null };
  }
  const read = readAnswers(said.answers.map(({ timedOut: _timedOut, automatic: _automatic, ...plain }) => plain));
  const fault = "fault" in read ? read.fault : answersFault(questions, read.answers);
  if (fault !== undefined) return { fault };
  return { outcome: "answered", answers: sortAnswers(questions, said.answers.map(countdown.marked)), by, reason: null };
}

function personHere({ deps }: BatchRun): By {
  const { door, pid } = deps.session.holder;
  return deps.by ?? { kind: "person", user: "", name: "", door, pid };
}

function clockBy(batch: BatchRun): By {
  return { ...personHere(batch), kind: "host", name: "clock" };
}

async function recordSettlement(batch: BatchRun, desk: QuestionDesk, settlement: Settlement): Promise<void> {
  const { ledger } = batch.deps.session;
  if (settlement.outcome !== "declined") desk.said = settlement.outcome;
  try {
    await settleQuestion({ ledger, clock: batch.deps.clock }, desk.row, settlement);
  } catch (error) {
    desk.failure = error;
  }
  desk.ring();
}

/** The first of cancel and answer counts. */
async function checkQuestion(batch: BatchRun, run: CallRun, desk: QuestionDesk): Promise<Ending | "unasked" | undefined> {
  const { row, countdown, showing } = desk;
  const { session } = batch.deps;
  if (desk.failure !== undefined) throw desk.failure;
  if (isParking(run) && !desk.said) return "unasked";
  if (run.stopped && !desk.said) {
    showing.abort(); // lets the questioner report the last choice
    return abortedEnd({ questions: row.questions, answers: countdown.answersSoFar() });
  }
  const now = session.state.questions.get(row.id);
  if (now && now.state !== "open") {
    showing.abort(new AnsweredElsewhere(now));
    return await endQuestion(batch, now, { seconds: countdown.seconds(), said: desk.said });
  }
  return desk.noAnswer && !desk.said ? "unasked" : undefined;
}

type DeskEnd = { readonly seconds: number; readonly said: QuestionDesk["said"] };

/** A person who cancels the question cancels the turn. */
export async function endQuestion(batch: BatchRun, row: QuestionRow, { seconds, said }: DeskEnd): Promise<Ending> {
  const { state, answerReason: reason } = row;
  if (state === "open") throw new Error(`question ${row.id} is still open`);
  if (said === "cancelled" && state === "cancelled") skipRest(batch, "interrupted");
  // the ledger returns the value it was given
  const answers = (await batch.deps.session.ledger.resolve(row.answers as never)) as readonly QuestionAnswer[] | null;
  return settledEnd({ state, questions: row.questions, answers: answers ?? [], reason, seconds });
}
