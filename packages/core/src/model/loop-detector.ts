import { canonicalJson } from "./canonical-json.ts";

/** How patient a loop detector is. */
export type LoopDetectorOptions = {
  /** Equal batches in a row that trip it; an integer from 1. */
  readonly threshold?: number;
  /** Tools whose repeated identical calls are expected. */
  readonly pollSafe?: (name: string) => boolean;
  /** The longest alternation that is looked for; 1 looks for none. */
  readonly maxPeriod?: number;
  /** How often an alternation must come round; an integer from 2. */
  readonly cycles?: number;
};

/** One call of a batch; the arguments are the model's text, or a value that a door already parsed. */
export type LoopCall = { readonly name: string; readonly arguments: unknown };

/** What tripped the detector last: the same batch `count` times in a row, or `period` batches in turn, `count` batches in all. */
export type LoopTrip = { readonly count: number; readonly period: number; readonly tool: string };

/** Watches executed batches for a model that makes no progress. Pure state: it has no clock and starts nothing. */
export type LoopDetector = {
  /** Give every executed batch once, with its results or never with them. Warns at the first trip, stops at every later one. */
  readonly record: (calls: readonly LoopCall[], results?: readonly unknown[]) => "ok" | "warn" | "stop";
  readonly consecutive: number;
  readonly strikes: number;
  readonly trip: LoopTrip | undefined;
  /** For a new user prompt, a notice turn, a switch of agent. */
  readonly reset: () => void;
};

/** A detector with nothing recorded. Throws `RangeError` for options that could never trip, or always would. */
export function createLoopDetector(options: LoopDetectorOptions = {}): LoopDetector {
  const patience: Patience = {
    threshold: atLeast(1, "threshold", options.threshold ?? 5),
    cycles: atLeast(2, "cycles", options.cycles ?? 3),
    maxPeriod: atLeast(1, "maxPeriod", options.maxPeriod ?? 3),
  };
  const pollSafe = options.pollSafe ?? (() => false);
  let recent: readonly Batch[] = [];
  let state = FRESH;
  return {
    record: (calls, results) => {
      if (calls.every(({ name }) => pollSafe(name))) return "ok";
      const batch = batchOf(calls, results);
      const consecutive = recent.at(-1)?.calls === batch.calls ? state.consecutive + 1 : 1;
      recent = [...recent.slice(1 - patience.maxPeriod * patience.cycles), batch];
      const trip = tripOf(recent, consecutive, patience);
      state = trip ? { consecutive, strikes: state.strikes + 1, trip } : { ...state, consecutive };
      if (!trip) return "ok";
      return state.strikes === 1 ? "warn" : "stop";
    },
    get consecutive() {
      return state.consecutive;
    },
    get strikes() {
      return state.strikes;
    },
    get trip() {
      return state.trip;
    },
    reset: () => {
      recent = [];
      state = FRESH;
    },
  };
}

/** What the model is told in the turn after a warning. */
export function loopWarning({ count, period }: LoopTrip): string {
  if (period > 1) return `You are repeating the same ${period} tool calls in turn.`;
  return `You have made the same tool call ${count} times in a row without progress. Change your approach, or say what blocks you.`;
}

/** Why a run was stopped. */
export function loopError({ count, period, tool }: LoopTrip): string {
  if (period > 1) return `The model repeated the same ${period} tool calls in turn for ${count} batches, beginning with '${tool}'.`;
  return `The model made the same tool call ${count} times in a row, beginning with '${tool}'.`;
}

type Patience = Required<Omit<LoopDetectorOptions, "pollSafe">>;
type Batch = {
  readonly first: string;
  readonly calls: string;
  /** Compared only where the calls come round: nobody writes down what is never looked at. */
  readonly results: readonly unknown[] | undefined;
};
type LoopState = Pick<LoopDetector, "consecutive" | "strikes" | "trip">;

const FRESH: LoopState = Object.freeze({ consecutive: 0, strikes: 0, trip: undefined });

function atLeast(least: number, name: string, value: number): number {
  if (Number.isInteger(value) && value >= least) return value;
  throw new RangeError(`${name} must be an integer of at least ${least}, not ${value}`);
}

function batchOf(calls: readonly LoopCall[], results: readonly unknown[] | undefined): Batch {
  return { first: calls[0]?.name ?? "", calls: signatureOf(calls), results };
}

function tripOf(recent: readonly Batch[], consecutive: number, { threshold, maxPeriod, cycles }: Patience): LoopTrip | undefined {
  const tool = recent.at(-1)?.first ?? "";
  if (consecutive >= threshold) return { count: consecutive, period: 1, tool };
  for (let period = 2; period <= maxPeriod; period++) {
    if (comesRound(recent.slice(-period * cycles), period, cycles)) return { count: period * cycles, period, tool };
  }
  return undefined;
}

function comesRound(batches: readonly Batch[], period: number, cycles: number): boolean {
  if (batches.length < period * cycles || batches.every(({ calls }) => calls === batches[0]?.calls)) return false;
  return batches.every(({ calls, results }, i) => {
    const before = batches[i - period];
    return i < period || (before?.calls === calls && sameResults(before.results, results));
  });
}

function sameResults(before: Batch["results"], results: Batch["results"]): boolean {
  return before === results || (before !== undefined && results !== undefined && canonical(before) === canonical(results));
}

/** Order counts, call ids do not. Lengths keep two lists apart that would read the same when joined. */
function signatureOf(calls: readonly LoopCall[]): string {
  let out = "";
  for (const { name, arguments: given } of calls) {
    const text = typeof given === "string" ? canonicalText(given) : canonical(given);
    out += `${name.length}:${name}${text.length}:${text}`;
  }
  return out;
}

function canonicalText(text: string): string {
  if (text.trim() === "") return "{}";
  try {
    return canonicalJson(JSON.parse(text));
  } catch {
    return text;
  }
}

/** What has no canonical form is compared by what can be said of it. */
function canonical(value: unknown): string {
  try {
    return canonicalJson(value);
  } catch {
    return loose(value);
  }
}

function loose(value: unknown): string {
  try {
    return JSON.stringify(value) ?? String(value);
  } catch {
    return String(typeof value);
  }
}
