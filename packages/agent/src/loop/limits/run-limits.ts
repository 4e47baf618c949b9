import type { Clock, LedgerEvent, Session, Usage } from "@assent/core";
import { estimateCost } from "../../providers/known-models.ts";

/** The limits of a run, agents included. */
export type RunLimitsOptions = {
  readonly clock: Clock;
  /** Requests of the main session. */
  readonly maxTurns?: number | undefined;
  /** Calls that run, agents' calls included. */
  readonly maxToolCalls?: number | undefined;
  /** The time waiting for a person does not count. */
  readonly maxTimeMs?: number | undefined;
  readonly maxCostUsd?: number | undefined;
};

/** A limit that was reached. */
export type LimitReached = {
  readonly type: "limit_turns" | "limit_tool_calls" | "limit_time" | "limit_cost";
  readonly message: string;
};

/** Counts what a run has used. The session and all its agents share one object. */
export type RunLimits = {
  /** The first limit that is reached, apart from the turn limit. */
  readonly exceeded: () => LimitReached | undefined;
  /** Counts a turn of the main session before it starts. Returns the limit if it must not start. */
  readonly turn: () => LimitReached | undefined;
  /** Counts a call before it runs. Returns a text if it must not run. Pass it to the dispatcher as `mayClaim`. */
  readonly claim: () => string | undefined;
  /** Counts the cost of one request. If cost is limited, a model without a known price exceeds the limit. */
  readonly spend: (usage: Usage | null, modelId: string) => void;
  /** Stops the clock until every caller has called `resumeClock`. */
  readonly pauseClock: () => void;
  readonly resumeClock: () => void;
  /** Aborts with a `TimeoutError` when the time is up. */
  readonly signal: AbortSignal;
  /** Stops the clock for good. */
  readonly end: () => void;
};

/** Creates the limits of a run and starts its clock. */
export function createRunLimits({ clock, maxTurns, maxToolCalls, maxTimeMs, maxCostUsd }: RunLimitsOptions): RunLimits {
  let turns = 0;
  let claims = 0;
  let refused = false;
  let cost = 0;
  let unpriced: string | undefined;
  const time = makeTimer(clock, maxTimeMs);
  return {
    ...time,
    exceeded: () => {
      if (refused) return { type: "limit_tool_calls", message: sentence(toolCalls(maxToolCalls)) };
      if (time.signal.aborted) return { type: "limit_time", message: sentence(timeText(maxTimeMs)) };
      if (maxCostUsd === undefined) return undefined;
      if (unpriced !== undefined)
        return { type: "limit_cost", message: `The cost of ${unpriced} is not known, but the run's cost is limited.` };
      return cost >= maxCostUsd ? { type: "limit_cost", message: `The limit of ${maxCostUsd} USD is reached.` } : undefined;
    },
    turn: () => {
      if (maxTurns !== undefined && turns >= maxTurns) return turnLimit(maxTurns);
      turns += 1;
      return undefined;
    },
    claim: () => {
      if (maxToolCalls !== undefined && claims >= maxToolCalls) {
        refused = true;
        return toolCalls(maxToolCalls);
      }
      claims += 1;
      return undefined;
    },
    spend: (usage, modelId) => {
      if (maxCostUsd === undefined || usage === null) return;
      const spent = estimateCost(modelId, usage);
      if (spent === undefined) unpriced ??= modelId;
      else cost += spent;
    },
  };
}

export function turnLimit(maxTurns: number): LimitReached {
  return { type: "limit_turns", message: `The limit of ${maxTurns} ${maxTurns === 1 ? "turn" : "turns"} is reached.` };
}

function toolCalls(most = 0): string {
  return `the limit of ${most} tool ${most === 1 ? "call" : "calls"} is reached`;
}

function timeText(ms = 0): string {
  return `the time limit of ${ms} ms is reached`;
}

function sentence(text: string): string {
  return `${text.slice(0, 1).toUpperCase()}${text.slice(1)}.`;
}

type Timer = Pick<RunLimits, "pauseClock" | "resumeClock" | "signal" | "end">;

function makeTimer(clock: Clock, ms: number | undefined): Timer {
  const expired = new AbortController();
  if (ms === undefined) return { signal: expired.signal, pauseClock: doNothing, resumeClock: doNothing, end: doNothing };
  let left = ms;
  let waiting = 0;
  let since = clock.now();
  let cancel: (() => void) | undefined;
  const start = (): void => {
    since = clock.now();
    cancel = clock.timer(left, () => expired.abort(new DOMException(timeText(ms), "TimeoutError")));
  };
  const stop = (): void => {
    cancel?.();
    cancel = undefined;
  };
  start();
  return {
    signal: expired.signal,
    pauseClock: () => {
      waiting += 1;
      if (waiting > 1) return;
      stop();
      left = Math.min(left, Math.max(0, left - (clock.now() - since))); // setting the clock back does not add time
    },
    resumeClock: () => {
      waiting = Math.max(0, waiting - 1);
      if (waiting === 0 && !cancel) start();
    },
    end: stop,
  };
}

function doNothing(): void {
  // Time is not limited.
}
/** Stops the clock while an approval or question of this session is open. The returned function ends this. */
export function pauseWhileWaiting(limits: RunLimits, session: Session): () => void {
  const open = new Set<string>();
  const wait = (id: string | null | undefined): void => {
    if (id === null || id === undefined) return;
    if (open.size === 0) limits.pauseClock();
    open.add(id);
  };
  const free = (id: string | null | undefined): void => {
    if (id !== null && id !== undefined && open.delete(id) && open.size === 0) limits.resumeClock();
  };
  const listening = session.listen((event: LedgerEvent) => {
    if (event.type === "approval.opened") wait(event.body.approval);
    else if (event.type === "question.asked") wait(event.body.question);
    else if (event.type === "approval.answered" || event.type === "approval.closed") free(event.body.approval);
    else if (event.type === "question.answered") free(event.body.question);
  });
  return () => {
    listening.close();
    if (open.size > 0) limits.resumeClock();
    open.clear();
  };
}
