import { type CancelRequest, type Content, followCancelRequests, ParkRequest, type Session } from "@assent/core";
import type { Conversation } from "../loop/conversation.ts";
import type { RunEnd } from "../loop/conversation-state.ts";
import { hasWakingNotice } from "../notices/deliver.ts";
import type { Schedules } from "../schedules/schedules.ts";
import { createWakeup, NoticeRunError, settle } from "./settle.ts";
import { createTurnOrder } from "./turn-order.ts";

/** The background agents of a session, as far as `createAgentSession` needs them. */
export type RunningTasks = {
  readonly running: () => number;
  /** Resolves when none runs. */
  readonly idle: () => Promise<void>;
  /** Ends one task; resolves when the request is recorded. */
  readonly cancel: (id: string, by: string, reason?: string) => Promise<unknown>;
  /** Ends all tasks; resolves when each has its notice. */
  readonly cancelAll: (by: string) => Promise<void>;
  /** Pauses tasks that wait for a person and ends all others. */
  readonly parkAll: (by: string) => Promise<void>;
};

/** What every door drives: one conversation, its background agents and schedules, and the notices of both. */
export type AgentSession = {
  /** Sends a message and runs the turns it causes, after the turns that are queued already. */
  readonly send: (prompt: Content, signal: AbortSignal) => Promise<RunEnd>;
  /** Continues after a restart: an interrupted turn, or a notice that starts one. With `deliverAll`, any notice starts one. */
  readonly resume: (signal: AbortSignal, options?: { readonly deliverAll?: boolean }) => Promise<RunEnd>;
  /** Replaces older turns with a summary. Returns false if the history did not change. */
  readonly compact: (signal: AbortSignal) => Promise<boolean>;
  /** Makes the model call this tool in its next turn. */
  readonly force: (tool: string) => void;
  /** Delivers queued notices turn after turn. Resolves with undefined if there were none. Rejects with `NoticeRunError`. */
  readonly drain: () => Promise<RunEnd | undefined>;
  /**
   * Waits until no background agent runs, no notice is queued and no schedule of this process is left. Resolves with undefined if there was nothing
   * to wait for. With `deliver: false`, notices stay queued for a later run.
   */
  readonly settle: (signal: AbortSignal, options?: { readonly deliver?: boolean }) => Promise<RunEnd | undefined>;
  /** Call when a notice is queued. */
  readonly wake: () => void;
  /** Ends the current turns; background agents keep running. */
  readonly interrupt: () => void;
  /** True while turns run or are queued. */
  readonly isBusy: () => boolean;
  /** Resolves when no turns run. */
  readonly whenIdle: () => Promise<void>;
  /**
   * Ends the turns, background agents and schedules. Undelivered notices stay on record, or are dropped.
   * With `park`, approvals and questions stay open and the agents that wait for them are paused.
   */
  readonly shutdown: (by: string, options?: { readonly notices?: "keep" | "drop"; readonly park?: boolean }) => Promise<void>;
};

/** What `createAgentSession` needs. */
export type AgentSessionDeps = {
  readonly session: Session;
  readonly conversation: Conversation;
  readonly tasks: RunningTasks;
  readonly schedules: Pick<Schedules, "holds" | "stop">;
  /** Aborts everything. */
  readonly signal: AbortSignal;
  /** A person is there: notices are delivered also after turns that failed or were interrupted. */
  readonly interactive?: boolean;
  /** Receives the end of turns that `wake` started. */
  readonly onDrained?: (end: RunEnd | undefined) => void;
};

/** Creates the session of an agent. */
export function createAgentSession(deps: AgentSessionDeps): AgentSession {
  const { session, conversation, tasks, schedules } = deps;
  const turns = createTurnOrder();
  const wakeup = createWakeup();
  let draining: Promise<RunEnd | undefined> | undefined;
  let ending: Promise<void> | undefined;
  let waiting = new AbortController();
  /** While it is set, nothing starts by itself. */
  let request: CancelRequest | undefined;
  /** Says who cancelled, if it was a person in another process. */
  const nameCanceller = (end: RunEnd): RunEnd => (request && end.reason === "cancelled" ? { ...end, error: cancelledError(request) } : end);
  const namingCanceller =
    (run: (signal: AbortSignal) => Promise<RunEnd>) =>
    async (signal: AbortSignal): Promise<RunEnd> => {
      request = undefined;
      return nameCanceller(await run(signal));
    };
  const obey = (given: CancelRequest): void => {
    const { target, by, reason } = given;
    if (target === null) {
      request = given;
      turns.interrupt();
      waiting.abort();
      tasks.cancelAll(by.name).catch(() => undefined); // the end of a task that cannot be stored fails the run
    } else if ("task" in target) tasks.cancel(target.task, by.name, reason ?? undefined).catch(() => undefined); // as above
  };
  const cancelRequests = followCancelRequests(session.ledger, session.id, obey);
  session.onClose(async () => cancelRequests.close());
  const hasNotice = (): boolean => hasWakingNotice(session);
  const deliverAll = async (): Promise<RunEnd | undefined> => {
    let last: RunEnd | undefined;
    while (hasNotice() && !turns.isClosed() && !request) {
      const end = await turns.run(
        namingCanceller((signal) => conversation.resume(signal)),
        { signal: deps.signal, isNeeded: hasNotice },
      );
      if (end && end.reason !== "done") throw new NoticeRunError(end);
      last = end ?? last;
    }
    return last;
  };
  const drain = (): Promise<RunEnd | undefined> => {
    draining ??= deliverAll().finally(() => {
      draining = undefined;
    });
    return draining;
  };
  const runForPerson = async (run: (signal: AbortSignal) => Promise<RunEnd>, signal: AbortSignal): Promise<RunEnd> =>
    (await turns.run(namingCanceller(run), { signal })) ?? { reason: "cancelled", text: "" };
  const wake = (): void => {
    wakeup.notify();
    const mayDeliver = turns.last() === "done" || (deps.interactive === true && turns.last() !== "parked");
    if (mayDeliver && !request && !turns.isBusy() && !turns.isClosed())
      drain().then(deps.onDrained, (error: unknown) => deps.onDrained?.(failedEnd(error)));
  };
  const compact = async (signal: AbortSignal): Promise<boolean> => {
    let isShorter = false;
    const shorten = async (aborted: AbortSignal): Promise<RunEnd> => {
      isShorter = await conversation.compact(aborted);
      return { reason: turns.last(), text: "" }; // the end of the last turns still decides whether notices are delivered
    };
    await turns.run(shorten, { signal });
    if (hasNotice()) wake(); // it was queued meanwhile
    return isShorter;
  };
  const end = async (by: string, { notices, park }: { readonly notices: "keep" | "drop"; readonly park: boolean }): Promise<void> => {
    await turns.close(park ? new ParkRequest() : undefined);
    await Promise.all([park ? tasks.parkAll(by) : tasks.cancelAll(by), schedules.stop()]);
    const ids = [...session.state.notices.keys()];
    if (notices === "drop" && ids.length > 0) await session.record([session.draft("notice.dropped", { ids, why: by })], "normal");
  };
  return {
    drain,
    compact,
    force: conversation.steering.force,
    interrupt: turns.interrupt,
    isBusy: turns.isBusy,
    whenIdle: turns.whenIdle,
    wake,
    send: (prompt, signal) => runForPerson((aborted) => conversation.send(prompt, aborted), signal),
    resume: (signal, options) => runForPerson((aborted) => resumeIfNeeded(deps, aborted, options?.deliverAll === true), signal),
    settle: async (signal, { deliver = true } = {}) => {
      waiting = new AbortController();
      const end = await settle(
        { hasNotice: () => hasNotice() || draining !== undefined, tasks, schedules, wakeup, drain: deliver ? drain : undefined },
        AbortSignal.any([signal, waiting.signal]),
      );
      return end && nameCanceller(end);
    },
    shutdown: (by, { notices = "keep", park = false } = {}) => {
      ending ??= end(by, { notices, park }).finally(cancelRequests.close);
      return ending;
    },
  };
}

/** Says who cancelled a session, and why. */
export function cancelledError({ by, reason }: CancelRequest): NonNullable<RunEnd["error"]> {
  return { type: "cancelled", message: `${by.name} cancelled the session${reason === null ? "" : `: ${reason}`}.` };
}

/** Asks the model again only if there is something new for it. */
async function resumeIfNeeded({ session, conversation }: AgentSessionDeps, signal: AbortSignal, deliverAll: boolean): Promise<RunEnd> {
  const hasNotice = deliverAll ? session.state.notices.size > 0 : hasWakingNotice(session);
  return hasNotice || !conversation.isFinished() ? await conversation.resume(signal) : { reason: "done", text: "" };
}

function failedEnd(error: unknown): RunEnd {
  return error instanceof NoticeRunError ? error.end : { reason: "failed", text: "", error: { type: "store_io", message: String(error) } };
}
