import type { Clock, Usage } from "@assent/core";
import { costOf } from "../../providers/prices.ts";

/** What a run may use up. */
export type RunLimitsOptions = {
  readonly clock: Clock;
  /** Requests of the root session. */
  readonly maxTurns?: number | undefined;
  /** Calls that reach their claim, those of agents too. */
  readonly maxToolCalls?: number | undefined;
  /** Without the time in which a person was waited for. */
  readonly maxTimeMs?: number | undefined;
  readonly maxCostUsd?: number | undefined;
};

/** A limit that is reached, as the end of a run says it. */
export type LimitReached = {
  readonly type: "limit_turns" | "limit_tool_calls" | "limit_time" | "limit_cost";
  readonly message: string;
};

/** What a whole run, of a root session and its agents, has used of what it may. One object is shared by all of them. */
export type RunLimits = {
  /** The first limit but that of turns that is reached; undefined: none. */
  readonly exceeded: () => LimitReached | undefined;
  /** Counts a turn of the root session that is about to start; an answer says that it must not. */
  readonly turn: () => LimitReached | undefined;
  /** Counts a call that is about to be claimed; a text says that it must not be. Made to be a dispatcher's `mayClaim`. */
  readonly claim: () => string | undefined;
  /** Counts what one request used; a model without a price is too much where cost is limited. */
  readonly spend: (usage: Usage | null, modelId: string) => void;
  /** Somebody waits for a person: time stands still until everyone who said so has said `goOn`. */
  readonly pauseClock: () => void;
  readonly goOn: () => void;
  /** Aborts when time is up, with a `TimeoutError` that names the limit. */
  readonly signal: AbortSignal;
  /** The run is over: no time passes any more. */
  readonly end: () => void;
};

/** Limits of a run that begins now. */
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
        return { type: "limit_cost", message: `The cost of ${unpriced} is not known, and the run's cost is limited.` };
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
      const spent = costOf(modelId, usage);
      if (spent === undefined) unpriced ??= modelId;
      else cost += spent;
    },
  };
}

/** The end of a run that may make no further request. */
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

type Timer = Pick<RunLimits, "pauseClock" | "goOn" | "signal" | "end">;

/** Counts down while nobody is waited for. */
function makeTimer(clock: Clock, ms: number | undefined): Timer {
  const over = new AbortController();
  if (ms === undefined) return { signal: over.signal, pauseClock: nothing, goOn: nothing, end: nothing };
  let left = ms;
  let waiting = 0;
  let since = clock.now();
  let cancel: (() => void) | undefined;
  const start = (): void => {
    since = clock.now();
    cancel = clock.timer(left, () => over.abort(new DOMException(timeText(ms), "TimeoutError")));
  };
  const stop = (): void => {
    cancel?.();
    cancel = undefined;
  };
  start();
  return {
    signal: over.signal,
    pauseClock: () => {
      waiting += 1;
      if (waiting > 1) return;
      stop();
      left = Math.min(left, Math.max(0, left - (clock.now() - since))); // a clock that was set back gives nobody time
    },
    goOn: () => {
      waiting = Math.max(0, waiting - 1);
      if (waiting === 0 && !cancel) start();
    },
    end: stop,
  };
}

function nothing(): void {
  // Time is not limited.
}
