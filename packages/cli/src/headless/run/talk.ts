import {
  type AgentSession,
  cancelledError,
  hasWakingNotice,
  NoticeRunError,
  type RunEnd,
  type RunLimits,
  readHistory,
  ScriptFailure,
} from "@assent/agent";
import { type CancelRequest, followCancelRequests, ParkRequest, type Registry, type Session } from "@assent/core";
import type { ComposedAgent } from "../../compose/agent.ts";
import type { RunModel } from "../../compose/model.ts";
import { waitsForPerson } from "../../desk/approvals/waiting-list.ts";
import { untilAborted } from "../../io/cancel-on-signal.ts";
import type { Inbox, Work } from "../host/inbox.ts";
import type { HostSettings } from "../host/settings.ts";
import { cancelled, failed, failedBy, type RunOutcome, runOutcome } from "./outcome.ts";

export type TalkParts = {
  readonly session: Session;
  readonly agent: ComposedAgent;
  readonly tools: Registry;
  readonly chosen: RunModel;
  readonly inbox: Inbox;
  readonly limits: RunLimits;
  /** The end of turns that started by themselves. */
  readonly notices: { end: RunEnd | undefined };
  readonly settings: Pick<HostSettings, "settled">;
  readonly signal: AbortSignal;
};

export type Talk = {
  /** Handles the work until nothing runs in the background or new work arrives. */
  readonly handle: (work: Work) => Promise<RunOutcome>;
  /** Waits for remaining background work. Undefined if there was none. */
  readonly finish: () => Promise<RunOutcome | undefined>;
  /** Interrupts the current turns and resolves when they have ended. Background agents continue. */
  readonly interrupt: () => Promise<void>;
  readonly shutdown: (by: string) => Promise<void>;
  readonly isBusy: () => boolean;
  /** Something runs in the background or is still to be reported. */
  readonly hasLeft: () => boolean;
};

export function createTalk(talking: TalkParts): Talk {
  const { inbox, signal, agent } = talking;
  const state: TalkState = { drive: undefined, interrupting: new AbortController() };
  let busy: Promise<unknown> | undefined;
  let next = Promise.withResolvers<void>();
  return {
    handle: async (piece) => {
      const running = doWork(talking, state, piece).catch((error: unknown) => (signal.aborted ? cancelled("") : failedBy(error)));
      busy = running;
      next.resolve();
      next = Promise.withResolvers<void>();
      return await running.finally(() => {
        busy = undefined;
        state.interrupting = new AbortController();
        talking.notices.end = undefined; // its result reports them
      });
    },
    finish: async () => {
      const end = (await settle(talking, state, { hold: signal, deliver: true })) ?? talking.notices.end;
      return end && (await outcomeOf(talking, end));
    },
    interrupt: async () => {
      if (busy || inbox.waits()) state.interrupting.abort(); // earlier messages count as started
      state.drive?.interrupt();
      if (!busy && inbox.waits()) await Promise.race([next.promise, untilAborted(signal)]);
      else if (!busy) await state.drive?.whenIdle(); // turns that report a notice may start by themselves
      await busy;
    },
    shutdown: async (by) => {
      const park = ParkRequest.isReasonOf(signal);
      if (state.drive) await state.drive.shutdown(by, { park });
      else await Promise.all([park ? agent.tasks.parkAll(by) : agent.tasks.cancelAll(by), agent.schedules.stop()]);
    },
    isBusy: () => busy !== undefined || inbox.waits() || state.drive?.isBusy() === true,
    hasLeft: () => agent.tasks.running() > 0 || (state.drive !== undefined && hasWakingNotice(talking.session)),
  };
}

type TalkState = { drive: AgentSession | undefined; interrupting: AbortController };

async function doWork(talking: TalkParts, state: TalkState, piece: Work): Promise<RunOutcome> {
  const { signal, session, inbox } = talking;
  const { interrupting } = state;
  const either = AbortSignal.any([signal, interrupting.signal]);
  await talking.settings.settled();
  const opened = "resume" in piece || session.state.calls.size > 0 ? await resumeCalls(talking, either) : undefined;
  const end = opened ?? (await converse(talking, state, { piece, signal: either }));
  if (end.reason !== "done" && end.reason !== "parked") return runOutcome(end, { whole: signal.aborted });
  const hold = AbortSignal.any([either, arrivalOf(inbox)]);
  const last = await settle(talking, state, { hold, deliver: end.reason === "done" });
  const isOver = last !== undefined && (end.reason === "done" || last.reason !== "done");
  return await outcomeOf(talking, isOver ? last : end);
}

/** Waits for background work. Undefined if there was none, or it continues. */
async function settle(
  { signal, limits, agent }: TalkParts,
  { drive }: TalkState,
  { hold, deliver }: { readonly hold: AbortSignal; readonly deliver: boolean },
): Promise<RunEnd | undefined> {
  const either = AbortSignal.any([hold, limits.signal]);
  if (!drive && agent.tasks.running() > 0) await Promise.race([agent.tasks.idle(), untilAborted(either)]);
  const end = await drive?.settle(either, { deliver });
  if (end?.reason !== "cancelled") return (deliver ? await drained(drive) : undefined) ?? end;
  if (signal.aborted || end.error) return end;
  const reached = limits.signal.aborted ? limits.exceeded() : undefined;
  return reached && { reason: "budget", text: end.text, error: reached };
}

async function drained(drive: AgentSession | undefined): Promise<RunEnd | undefined> {
  try {
    return await drive?.drain();
  } catch (error) {
    if (error instanceof NoticeRunError) return error.end;
    throw error;
  }
}

const NOTHING_SAID: RunEnd = { reason: "done", text: "" };

function arrivalOf(inbox: Inbox): AbortSignal {
  const arrived = new AbortController();
  void inbox.arrival().then(() => arrived.abort());
  return arrived.signal;
}

type TurnRequest = { readonly piece: Work; readonly signal: AbortSignal };

async function converse(talking: TalkParts, state: TalkState, { piece, signal }: TurnRequest): Promise<RunEnd> {
  const { session, agent, chosen } = talking;
  if (!state.drive) {
    const { messages, providerId } = await readHistory(session.ledger, session.id);
    chosen.script?.resumeAfter(providerId);
    state.drive = agent.drive(messages);
  }
  if ("say" in piece)
    return await state.drive.send(typeof piece.say === "string" ? await agent.expand(piece.say, signal) : piece.say, signal);
  if (piece.resume === "if notified" && !hasWakingNotice(session)) return NOTHING_SAID;
  return await state.drive.resume(signal, { deliverAll: piece.resume === "always" }); // a resumed run has its answers
}

/** Resumes calls of an earlier process. Undefined once all have ended. */
export async function resumeCalls(
  { session, agent, tools }: Pick<TalkParts, "session" | "agent" | "tools">,
  signal: AbortSignal,
): Promise<RunEnd | undefined> {
  const stopping = new AbortController();
  let request: CancelRequest | undefined;
  const following = followCancelRequests(session.ledger, session.id, (given) => {
    if (given.target !== null) return;
    request = given;
    stopping.abort();
  });
  const { results } = await agent.dispatcher.resume({ tools, signal: AbortSignal.any([signal, stopping.signal]) }).finally(following.close);
  const failure = agent.dispatcher.failure();
  if (failure !== undefined) throw failure;
  if (request) return { reason: "cancelled", text: "", error: cancelledError(request) };
  const waits = results.some(({ outcome }) => outcome === "waiting");
  if (signal.aborted && !(waits && ParkRequest.isReasonOf(signal))) return { reason: "cancelled", text: "" };
  return waits ? { reason: "parked", text: "" } : undefined;
}

/** A background agent that waits for a person keeps the run open. */
async function outcomeOf({ session, signal }: TalkParts, end: RunEnd): Promise<RunOutcome> {
  const outcome = runOutcome(end, { whole: signal.aborted });
  const isParked = outcome.subtype === "success" && (await waitsForPerson(session));
  return isParked ? { subtype: "parked", exit: 75, text: end.text } : outcome;
}

/** Fails a successful run whose script has unused turns. */
export function refuseUnusedScript({ script }: RunModel, outcome: RunOutcome): RunOutcome {
  if (outcome.subtype !== "success") return outcome;
  try {
    script?.assertUsed();
    return outcome;
  } catch (error) {
    if (!(error instanceof ScriptFailure)) throw error;
    return failed(outcome.text, { type: error.type, message: error.message });
  }
}
