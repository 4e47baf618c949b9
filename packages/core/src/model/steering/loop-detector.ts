import { canonicalJson } from "../json/canonical.ts";
import { sameJson } from "../json/same.ts";

/** The limits of a loop detector. */
export type LoopDetectorOptions = {
  /** How many equal batches in a row trip it. */
  readonly threshold?: number;
  /** Tools that may poll with identical calls. */
  readonly pollSafe?: (name: string) => boolean;
  /** The longest alternation to detect; 1 disables it. */
  readonly maxPeriod?: number;
  /** How often an alternation must repeat; at least 2. */
  readonly cycles?: number;
};

/** A call; arguments are text or a parsed value. */
export type LoopCall = { readonly name: string; readonly arguments: unknown };

/** What tripped the detector: one batch `count` times, or `period` batches alternating over `count` batches. */
export type LoopTrip = { readonly count: number; readonly period: number; readonly tool: string };

/** Detects a model that makes no progress. */
export type LoopDetector = {
  /** Records an executed batch, always with results or always without; warns at the first trip, stops at later ones. */
  readonly record: (calls: readonly LoopCall[], results?: readonly unknown[]) => "ok" | "warn" | "stop";
  readonly consecutive: number;
  readonly strikes: number;
  readonly trip: LoopTrip | undefined;
  readonly reset: () => void;
};

/** Creates a loop detector; throws `RangeError` for invalid options. */
export function createLoopDetector(options: LoopDetectorOptions = {}): LoopDetector {
  const patience: Patience = {
    threshold: atLeast(1, "threshold", options.threshold ?? 5),
    cycles: atLeast(2, "cycles", options.cycles ?? 3),
    maxPeriod: atLeast(1, "maxPeriod", options.maxPeriod ?? 3),
  };
  const pollSafe = options.pollSafe ?? (() => false);
  const recent: LoopBatch[] = [];
  // Plain fields: a getter would keep a whole conversation alive until the next full garbage collection.
  const detector: { -readonly [K in keyof LoopDetector]: LoopDetector[K] } = {
    consecutive: 0,
    strikes: 0,
    trip: undefined,
    record: (calls, results) => {
      if (calls.every(({ name }) => pollSafe(name))) return "ok";
      const batch = batchOf(calls, results);
      detector.consecutive = sameCalls(recent.at(-1), batch) ? detector.consecutive + 1 : 1;
      recent.push(batch);
      if (recent.length > patience.maxPeriod * patience.cycles) recent.shift();
      const trip = tripOf(recent, detector.consecutive, patience);
      if (!trip) return "ok";
      detector.trip = trip;
      detector.strikes += 1;
      return detector.strikes === 1 ? "warn" : "stop";
    },
    reset: () => {
      recent.length = 0;
      detector.consecutive = 0;
      detector.strikes = 0;
      detector.trip = undefined;
    },
  };
  return detector;
}

/** The text for the model after a warning. */
export function loopWarning({ count, period }: LoopTrip): string {
  if (period > 1) return `You are repeating the same ${period} tool calls in turn.`;
  return `You have made the same tool call ${count} times in a row without progress. Change your approach, or say what blocks you.`;
}

/** The error of a stopped run. */
export function loopError({ count, period, tool }: LoopTrip): string {
  if (period > 1) return `The model repeated the same ${period} tool calls in turn for ${count} batches, beginning with '${tool}'.`;
  return `The model made the same tool call ${count} times in a row, beginning with '${tool}'.`;
}

type Patience = Required<Omit<LoopDetectorOptions, "pollSafe">>;
type LoopBatch = { readonly calls: readonly LoopInput[]; readonly results: readonly unknown[] | undefined };
type LoopInput = {
  readonly name: string;
  readonly text: string;
  /** Parsed on first use; undefined if it does not parse. */
  value: unknown;
  isRead: boolean;
};

function atLeast(least: number, name: string, value: number): number {
  if (Number.isInteger(value) && value >= least) return value;
  throw new RangeError(`${name} must be an integer of at least ${least}, not ${value}`);
}

function batchOf(calls: readonly LoopCall[], results: readonly unknown[] | undefined): LoopBatch {
  return { calls: calls.map(toLoopInput), results };
}

function toLoopInput({ name, arguments: given }: LoopCall): LoopInput {
  return { name, text: typeof given === "string" ? given : canonical(given), value: undefined, isRead: false };
}

function tripOf(recent: readonly LoopBatch[], consecutive: number, { threshold, maxPeriod, cycles }: Patience): LoopTrip | undefined {
  const tool = recent.at(-1)?.calls[0]?.name ?? "";
  if (consecutive >= threshold) return { count: consecutive, period: 1, tool };
  for (let period = 2; period <= maxPeriod; period++) {
    if (isAlternating(recent, period, cycles)) return { count: period * cycles, period, tool };
  }
  return undefined;
}

/** Equal batches are not an alternation. */
function isAlternating(recent: readonly LoopBatch[], period: number, cycles: number): boolean {
  const first = recent.length - period * cycles;
  if (first < 0) return false;
  for (let at = recent.length - 1; at >= first + period; at--) {
    if (!sameCalls(recent[at - period], recent[at]) || !sameResults(recent[at - period]?.results, recent[at]?.results)) return false;
  }
  for (let at = first + 1; at < first + period; at++) if (!sameCalls(recent[first], recent[at])) return true;
  return false;
}

/** Ignores call ids. */
function sameCalls(before: LoopBatch | undefined, batch: LoopBatch | undefined): boolean {
  if (!before || !batch || before.calls.length !== batch.calls.length) return false;
  return batch.calls.every((call, at) => sameCall(before.calls[at], call));
}

function sameCall(before: LoopInput | undefined, call: LoopInput): boolean {
  if (before?.name !== call.name) return false;
  if (before.text === call.text) return true;
  return haveSameValue(before, call) && canonicalText(before.text) === canonicalText(call.text);
}

/** Cheap comparison first; equal values may still differ where parsing loses digits. */
function haveSameValue(before: LoopInput, call: LoopInput): boolean {
  try {
    return sameJson(parsedValue(before), parsedValue(call));
  } catch {
    return true; // nested too deep to compare
  }
}

function parsedValue(given: LoopInput): unknown {
  if (!given.isRead) given.value = parseText(given.text);
  given.isRead = true;
  return given.value;
}

function parseText(text: string): unknown {
  try {
    return text.trim() === "" ? {} : JSON.parse(text);
  } catch {
    return undefined;
  }
}

function sameResults(before: LoopBatch["results"], results: LoopBatch["results"]): boolean {
  return before === results || (before !== undefined && results !== undefined && canonical(before) === canonical(results));
}

function canonicalText(text: string): string {
  if (text.trim() === "") return "{}";
  try {
    return canonicalJson(JSON.parse(text));
  } catch {
    return text;
  }
}

/** Describes values that have no canonical form. */
function canonical(value: unknown): string {
  try {
    return canonicalJson(value);
  } catch {
    return describeValue(value);
  }
}

function describeValue(value: unknown): string {
  try {
    return JSON.stringify(value) ?? String(value);
  } catch {
    return String(typeof value);
  }
}
