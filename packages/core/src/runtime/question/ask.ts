import { LedgerError, type QuestionRow } from "../../ledger-port.ts";
import { mayBeUnderWay } from "../../model/call.ts";
import type { JsonObject } from "../../model/json/json.ts";
import type { Question } from "../../model/question/question.ts";
import { questionsOf } from "../../model/question/shape.ts";
import { modelText } from "../../model/text/model-text.ts";
import type { DispatcherDeps, Ending } from "../dispatch.ts";
import { type BatchRun, type CallRun, isParking, skipRest, toolName } from "../pipeline/call-run.ts";
import { errorEnding } from "../pipeline/endings.ts";
import { isAsk } from "../pipeline/judge.ts";
import type { JudgedCall } from "../pipeline/judged-call.ts";
import { classifyLane, enterLane } from "../pipeline/lanes.ts";
import { restoreCall } from "../pipeline/restore.ts";
import { traceApproval, traceUnrun } from "../pipeline/tracing.ts";
import { readWholeQuestion } from "./answer.ts";
import { abortedEnd, unaskableEnd, unavailableEnd } from "./ends.ts";
import { endQuestion, waitForReply } from "./wait.ts";

export type QuestionOutcome = Ending | { readonly parked: string | undefined };

export function checkAskTimeout({ askTimeout }: Pick<DispatcherDeps, "askTimeout">): void {
  const seconds: unknown = askTimeout?.() ?? 0;
  if (typeof seconds !== "number" || !(seconds >= 0))
    throw new RangeError(`ask.timeout must be a number of seconds, 0 for no limit, not '${String(seconds)}'.`);
}

/** Runs the body of `ask`. */
export function askQuestions(batch: BatchRun, run: CallRun, { request }: JudgedCall): Promise<QuestionOutcome> {
  return observeAsking(batch, run, async () => {
    const read = questionsOf(request.input);
    if ("fault" in read) return unaskableEnd(read.fault);
    return await putQuestion(batch, run, { questions: read.questions, fingerprint: request.fingerprint ?? "" });
  });
}

/** True for a call that asks again after a restart. */
export function isAsking(batch: BatchRun, callId: string): boolean {
  const call = batch.deps.session.state.calls.get(callId);
  if (!mayBeUnderWay(call)) return false;
  const tool = batch.batch.tools.get(call.tool);
  return questionOf(batch, callId) !== undefined || (tool !== undefined && isAsk(batch, { tool }));
}

/** Asks the recorded question, even if the tool changed. */
export async function askAgain(batch: BatchRun, run: CallRun): Promise<QuestionOutcome> {
  classifyLane(batch.lanes, run.index, false);
  if (!(await enterLane(batch.lanes, run.index))) return { parked: undefined };
  const restored = await restoreCall(batch, run);
  return await observeAsking(batch, run, async () => {
    const row = questionOf(batch, run.callId);
    if (row) return await putQuestion(batch, run, await readWholeQuestion(batch.deps.session.ledger, row));
    const read = !restored || "end" in restored ? { fault: NEVER_ASKED } : questionsOf(run.input);
    if ("fault" in read) return errorEnding("failed", "not_applied", NEVER_ASKED);
    const call = batch.deps.session.state.calls.get(run.callId);
    const fingerprint = mayBeUnderWay(call) ? call.judged.fingerprint : undefined;
    return await putQuestion(batch, run, { questions: read.questions, fingerprint: fingerprint ?? "" });
  });
}

const NEVER_ASKED = "Did not happen: the program stopped before the question was asked.";

async function observeAsking(batch: BatchRun, run: CallRun, ask: () => Promise<QuestionOutcome>): Promise<QuestionOutcome> {
  run.phase = "running";
  run.startedAt = batch.deps.clock.now();
  const input: JsonObject = run.input;
  batch.emit?.({ type: "toolCall", callId: run.callId, agentName: batch.batch.agentName, tool: toolName(run), input });
  try {
    const asked = await ask();
    if (!("parked" in asked)) traceUnrun(batch, run, asked);
    return asked;
  } catch (error) {
    if (!(error instanceof LedgerError)) throw error; // asking has no effect, so a failing store leaves no doubt
    batch.deps.warn?.(error.message);
    return errorEnding("failed", "execution_failed", modelText.execution_failed(error.message));
  }
}

function questionOf({ deps }: BatchRun, callId: string): QuestionRow | undefined {
  for (const row of deps.session.state.questions.values()) if (row.callId === callId) return row;
  return undefined;
}

type QuestionDraft = { readonly questions: readonly Question[]; readonly fingerprint: string };

async function putQuestion(batch: BatchRun, run: CallRun, { questions, fingerprint }: QuestionDraft): Promise<QuestionOutcome> {
  const { questioner, askTimeout } = batch.deps;
  const onAsk = onAskOf(batch, run);
  const before = questionOf(batch, run.callId);
  if (before && before.state !== "open")
    return await endQuestion(batch, { ...before, questions }, { seconds: askTimeout?.() ?? 0, said: undefined });
  if (run.stopped) return stoppedQuestion(run, before, questions);
  const reachable = questioner?.available() === true;
  if (!reachable && onAsk !== "park") return endUnavailable(batch);
  const row = before ?? (await recordQuestion(batch, run, { questions, fingerprint }));
  const waited = reachable ? await waitForReply(batch, run, { ...row, questions }) : "unasked";
  if (waited !== "unasked") return waited;
  return onAskOf(batch, run) === "park" ? { parked: row.id } : endUnavailable(batch);
}

function stoppedQuestion(run: CallRun, asked: QuestionRow | undefined, questions: readonly Question[]): QuestionOutcome {
  return isParking(run) && asked ? { parked: asked.id } : abortedEnd({ questions, answers: [] });
}

/** A nested call cannot outlive its process. */
function onAskOf({ deps }: BatchRun, run: CallRun): DispatcherDeps["onAsk"] {
  if (run.nested) return "deny";
  return isParking(run) ? "park" : deps.onAsk;
}

function endUnavailable(batch: BatchRun): Ending {
  if (batch.deps.onAsk === "fail") skipRest(batch, "unanswered");
  return unavailableEnd();
}

async function recordQuestion(batch: BatchRun, run: CallRun, { questions, fingerprint }: QuestionDraft): Promise<QuestionRow> {
  const { session, ids } = batch.deps;
  const question = ids.next("q_");
  traceApproval(batch, run, "assent.approval.requested");
  await session.record([session.draft("question.asked", { question, callId: run.callId, fingerprint, questions })], "full");
  const row = session.state.questions.get(question);
  if (!row) throw new Error(`question ${question} is not in the state it was recorded in`);
  return row;
}
