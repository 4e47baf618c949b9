import {
  AnswerError,
  type Approver,
  answerApproval,
  answerQuestion,
  createRequestReader,
  LedgerError,
  type LedgerEvent,
  type OpenQuestion,
  patternRules,
  type QuestionAnswer,
  type Questioner,
  type QuestionerReply,
} from "@assent/core";
import { digest, toolsOf } from "./tools.ts";
import { answerFor, newTerminal, PERSON, type Process, plannedCall, type World } from "./world.ts";

/** The person in front of a process: answers, or says nothing for as long as they are asked, or leaves it to others. */
export function personAt(world: World, { actor }: Process): { readonly approver: Approver; readonly questioner: Questioner } {
  const asked = async <T>(
    { id, callId }: Pick<OpenQuestion, "id" | "callId">,
    signal: AbortSignal,
    answer: () => T,
  ): Promise<T | undefined> => {
    const where = plannedCall(world, callId)?.person.where ?? "here";
    if (where === "elsewhere") return await new Promise((resolve) => signal.addEventListener("abort", () => resolve(undefined)));
    await world.on.step(actor, where === "late" ? `nobody answers ${id}` : `the person answers ${id}`);
    return where === "late" ? undefined : answer();
  };
  return {
    approver: { available: () => true, ask: (open, signal) => asked(open, signal, () => answerFor(world, open)) },
    questioner: { available: () => true, ask: (open, signal) => asked(open, signal, () => replyAt(world, open)) },
  };
}

/** What somebody says to a question who is in front of it. */
function replyAt(world: World, { callId }: Pick<OpenQuestion, "callId">): QuestionerReply {
  return plannedCall(world, callId)?.person.says === "reject"
    ? { outcome: "cancelled", partial: [] }
    : { outcome: "answered", answers: [CHOSEN] };
}

const CHOSEN: QuestionAnswer = { id: "q", selected: ["left"] };

/** Somebody at a terminal of their own, who answers as soon as an approval is on record; or twice. */
export function attend(world: World, { body }: LedgerEvent<"approval.opened">): void {
  const person = plannedCall(world, body.call)?.person;
  if (!person || person.where === "here" || person.where === "late") return;
  for (let times = person.twice ? 2 : 1; times > 0; times -= 1) answerElsewhere(world, body);
}

/** The same of a question. */
export function attendQuestion(world: World, { body }: LedgerEvent<"question.asked">): void {
  const person = plannedCall(world, body.callId)?.person;
  if (!person || person.where === "here" || person.where === "late") return;
  for (let times = person.twice ? 2 : 1; times > 0; times -= 1) replyElsewhere(world, body);
}

/** Opens a terminal and answers a question there. */
export function replyElsewhere(
  world: World,
  { question, callId }: Pick<LedgerEvent<"question.asked">["body"], "question" | "callId">,
): void {
  const { on } = world;
  const actor = newTerminal(world);
  const ports = { ledger: world.ledgerOf(actor), clock: on.clock(actor) };
  const declines = plannedCall(world, callId)?.person.says === "reject";
  const reply = declines ? ({ outcome: "declined" } as const) : ({ outcome: "answered", answers: [CHOSEN] } as const);
  on.submit(actor, `answers ${question}`, () => {
    answerQuestion(ports, { question, ...reply, by: PERSON }).then(
      ({ outcome }) => void world.told.push({ what: "reply", question, call: callId, outcome }),
      (error: unknown) => refused(world, error),
    );
  });
}

function refused(world: World, error: unknown): void {
  if (error instanceof AnswerError || error instanceof LedgerError) return;
  world.violations.push({ rule: "U", message: `an answer failed: ${String(error)}` });
}

/** Opens a terminal and answers there. What it was told is kept: it may be relied on. */
export function answerElsewhere(
  world: World,
  {
    approval: id,
    call: callId,
    revision,
    fingerprint,
  }: Pick<LedgerEvent<"approval.opened">["body"], "approval" | "call" | "revision" | "fingerprint">,
): void {
  const { on } = world;
  const actor = newTerminal(world);
  const ledger = world.ledgerOf(actor);
  const tools = toolsOf({ on, actor, things: world.things });
  const ports = {
    ledger,
    clock: on.clock(actor),
    ids: world.ids,
    rules: patternRules,
    requests: createRequestReader({ ledger, tools, digest }),
  };
  on.submit(actor, `answers ${id}`, () => {
    answerApproval(ports, answerFor(world, { callId, id, revision, fingerprint })).then(
      (report) => void world.told.push({ what: "answer", approval: id, call: callId, outcome: report.outcome }),
      (error: unknown) => refused(world, error),
    );
  });
}
