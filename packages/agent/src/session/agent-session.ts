import { type Content, ParkRequest, type Session } from "@assent/core";
import type { Conversation, RunEnd } from "../loop/conversation.ts";
import { hasWaking } from "../notices/deliver.ts";
import type { Schedules } from "../schedules/schedules.ts";
import { DrainFailure } from "./drain-failure.ts";
import { makeBell, settle } from "./settle.ts";
import { makeTurnOrder } from "./turn-order.ts";

/** What an agent's session waits for and ends. */
export type RunningTasks = {
  /** How many background agents run. */
  readonly running: () => number;
  /** Resolves when none runs. */
  readonly idle: () => Promise<void>;
  /** Ends all at once; resolves when each has its notice. */
  readonly cancelAll: (by: string) => Promise<void>;
  /** Pauses tasks that wait for a person and ends all others. */
  readonly parkAll: (by: string) => Promise<void>;
};

/** What every door drives: one conversation, its background agents, its schedules, and the notices of both. */
export type AgentSession = {
  /** One message of a person and the turns that follow from it. Waits its turn. */
  readonly send: (prompt: Content, signal: AbortSignal) => Promise<RunEnd>;
  /** Goes on after a restart, where there is something to go on with: a turn that was cut short, or a notice that starts one. `toldAll`: any notice does. */
  readonly goOn: (signal: AbortSignal, how?: { readonly toldAll?: boolean }) => Promise<RunEnd>;
  /** Older turns become one summary. Waits its turn. False: the history is as it was. */
  readonly compact: (signal: AbortSignal) => Promise<boolean>;
  /** The model must call this tool in its next turn. */
  readonly force: (tool: string) => void;
  /** Tells the model what is queued, turn after turn; one at a time, whoever asks. Undefined: there was nothing. Rejects with `DrainFailure`. */
  readonly drain: () => Promise<RunEnd | undefined>;
  /**
   * Waits until no background agent runs, no notice waits and no schedule of this process is left. Undefined: there was nothing to wait for.
   * Not delivering: notices stay queued for a later run.
   */
  readonly settle: (signal: AbortSignal, options?: { readonly deliver?: boolean }) => Promise<RunEnd | undefined>;
  /** A notice is queued. */
  readonly wake: () => void;
  /** Ends the run of turns under way, of a person's message or of a notice; background agents go on. */
  readonly interrupt: () => void;
  /** Turns run, or wait to. */
  readonly isBusy: () => boolean;
  /** Resolves when no turns run. */
  readonly rest: () => Promise<void>;
  /**
   * The one way out of every door: ends the turns under way, all background agents and all schedules; the record keeps, or drops, what was not told yet.
   * With `park`, approvals and questions stay open and the agents that wait for them are paused.
   */
  readonly shutdown: (by: string, options?: { readonly notices?: "keep" | "drop"; readonly park?: boolean }) => Promise<void>;
};

/** What an agent's session is made of. */
export type AgentSessionDeps = {
  readonly session: Session;
  readonly conversation: Conversation;
  readonly tasks: RunningTasks;
  readonly schedules: Pick<Schedules, "holds" | "stop">;
  /** Aborts everything. */
  readonly signal: AbortSignal;
  /** A person is there: notices are told also after a run of turns that failed or was interrupted. */
  readonly interactive?: boolean;
  /** What came of notices that were told without anybody waiting for it. */
  readonly told?: (end: RunEnd | undefined) => void;
};

/** A session of an agent, at any door. */
export function createAgentSession(deps: AgentSessionDeps): AgentSession {
  const { session, conversation, tasks, schedules } = deps;
  const turns = makeTurnOrder();
  const bell = makeBell();
  let draining: Promise<RunEnd | undefined> | undefined;
  let ending: Promise<void> | undefined;
  const waits = (): boolean => hasWaking(session);
  const tellAll = async (): Promise<RunEnd | undefined> => {
    let last: RunEnd | undefined;
    while (waits() && !turns.isClosed()) {
      const end = await turns.run((signal) => conversation.goOn(signal), { signal: deps.signal, isNeeded: waits });
      if (end && end.reason !== "done") throw new DrainFailure(end);
      last = end ?? last;
    }
    return last;
  };
  const drain = (): Promise<RunEnd | undefined> => {
    draining ??= tellAll().finally(() => {
      draining = undefined;
    });
    return draining;
  };
  const byPerson = async (talk: (signal: AbortSignal) => Promise<RunEnd>, signal: AbortSignal): Promise<RunEnd> =>
    (await turns.run(talk, { signal })) ?? { reason: "cancelled", text: "" };
  const wake = (): void => {
    bell.ring();
    const mayTell = turns.last() === "done" || (deps.interactive === true && turns.last() !== "parked");
    if (mayTell && !turns.isBusy() && !turns.isClosed()) drain().then(deps.told, (error: unknown) => tellFailure(deps, error));
  };
  const compact = async (signal: AbortSignal): Promise<boolean> => {
    let isShorter = false;
    const shorten = async (aborted: AbortSignal): Promise<RunEnd> => {
      isShorter = await conversation.compact(aborted);
      return { reason: turns.last(), text: "" }; // how the last turns ended still decides what is told by itself
    };
    await turns.run(shorten, { signal });
    if (waits()) wake(); // it came meanwhile
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
    rest: turns.rest,
    wake,
    send: (prompt, signal) => byPerson((aborted) => conversation.send(prompt, aborted), signal),
    goOn: (signal, how) => byPerson((aborted) => takeUp(deps, aborted, how?.toldAll === true), signal),
    settle: (signal, { deliver = true } = {}) =>
      settle({ waits: () => waits() || draining !== undefined, tasks, schedules, bell, drain: deliver ? drain : undefined }, signal),
    shutdown: (by, { notices = "keep", park = false } = {}) => {
      ending ??= end(by, { notices, park });
      return ending;
    },
  };
}

/** Without something to tell, a model that has said its last word is not asked again. */
async function takeUp({ session, conversation }: AgentSessionDeps, signal: AbortSignal, toldAll: boolean): Promise<RunEnd> {
  const isTold = toldAll ? session.state.notices.size > 0 : hasWaking(session);
  return isTold || !conversation.isAtRest() ? await conversation.goOn(signal) : { reason: "done", text: "" };
}

function tellFailure({ told }: AgentSessionDeps, error: unknown): void {
  told?.(error instanceof DrainFailure ? error.end : { reason: "failed", text: "", error: { type: "store_io", message: String(error) } });
}
