import { isObject } from "@assent/core";

/** The input of a new schedule. */
export type ScheduleInput = {
  /** ISO 8601 with an offset. */
  readonly at?: string | undefined;
  /** An interval from `30s` to `24h`. */
  readonly every?: string | undefined;
  readonly prompt: string;
  readonly recurring?: boolean | undefined;
  readonly durable?: boolean | undefined;
};

/** When a schedule fires first, and how often. */
export type Timing = { readonly first: number; readonly everyMs: number | null; readonly recurring: boolean };

/** Why a schedule was refused, for the model. */
export type ScheduleRefusal = {
  readonly type: "schedule_past" | "schedule_too_often" | "schedule_limit" | "schedule_invalid";
  readonly message: string;
};

const MOMENT = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(?::\d{2}(?:\.\d{1,9})?)?(?:Z|[+-]\d{2}:\d{2})$/;
const DISTANCE = /^([1-9]\d{0,7})(s|m|h)$/;
const UNITS: Readonly<Record<string, number>> = { s: 1_000, m: 60_000, h: 3_600_000 };
const LEAST_MS = 30_000;
const MOST_MS = 24 * 3_600_000;
const LONGEST_PROMPT = 10_000;

export function readTiming(input: ScheduleInput, now: number): Timing | ScheduleRefusal {
  const { at, every, prompt } = input;
  if (typeof prompt !== "string" || prompt.trim() === "" || prompt.length > LONGEST_PROMPT)
    return invalid(`prompt must be a text of 1 to ${LONGEST_PROMPT} characters`);
  if ((at === undefined) === (every === undefined)) return invalid("give exactly one of 'at' and 'every'");
  return at === undefined ? repeating(String(every), input.recurring ?? true, now) : once(at, now);
}

function once(at: string, now: number): Timing | ScheduleRefusal {
  const first = MOMENT.test(at) ? Date.parse(at) : Number.NaN;
  if (Number.isNaN(first)) return invalid(`at must be a time with an offset, like 2026-05-01T09:00:00+02:00; got '${at}'`);
  if (first <= now) return { type: "schedule_past", message: `'${at}' is in the past.` };
  return { first, everyMs: null, recurring: false };
}

function repeating(every: string, recurring: boolean, now: number): Timing | ScheduleRefusal {
  const [, count, unit] = DISTANCE.exec(every) ?? [];
  const everyMs = Number(count) * (UNITS[unit ?? ""] ?? Number.NaN);
  if (Number.isNaN(everyMs) || everyMs > MOST_MS) return invalid(`every must be 30s to 24h, like 90s, 10m or 2h; got '${every}'`);
  if (everyMs < LEAST_MS) return { type: "schedule_too_often", message: `'${every}' is too often; the shortest interval is 30s.` };
  return { first: now + everyMs, everyMs, recurring };
}

function invalid(message: string): ScheduleRefusal {
  return { type: "schedule_invalid", message: `${message}.` };
}

/** True for a refusal. */
export function isScheduleRefusal(value: object): value is ScheduleRefusal {
  return "type" in value;
}

const KEYS: readonly string[] = ["at", "every", "prompt", "recurring", "durable"];

/** Validates an entry of a schedule file. Returns a text that says what is wrong. */
export function readScheduleEntry(entry: unknown, now: number): ScheduleInput | string {
  if (!isObject(entry)) return "must be an object with 'prompt' and one of 'at' and 'every'";
  const unknown = Object.keys(entry).find((key) => !KEYS.includes(key));
  if (unknown !== undefined) return `has an unknown key '${unknown}'`;
  const wrong = (["at", "every", "prompt"] as const).find((key) => entry[key] !== undefined && typeof entry[key] !== "string");
  if (wrong !== undefined) return `'${wrong}' must be a text`;
  const flag = (["recurring", "durable"] as const).find((key) => entry[key] !== undefined && typeof entry[key] !== "boolean");
  if (flag !== undefined) return `'${flag}' must be true or false`;
  const input = entry as ScheduleInput;
  const timing = readTiming(input, now);
  return isScheduleRefusal(timing) ? timing.message : input;
}
