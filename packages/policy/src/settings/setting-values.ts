import { isAbsolute } from "node:path";
import { isObject } from "@assent/core";

export type ValueFault = { readonly path: readonly (string | number)[]; readonly message: string; readonly unknownKey?: true };

export type ValueReading<T> = { readonly value: T } | { readonly faults: readonly ValueFault[] };

export type ValueReader<T> = (value: unknown) => ValueReading<T>;

export function oneOf<const T extends string | number>(...choices: readonly T[]): ValueReader<T> {
  const expected = choices.length === 1 ? String(choices[0]) : `one of ${choices.join(", ")}`;
  return (value) => {
    const choice = choices.find((known) => known === value);
    return choice === undefined ? wrongValue(expected, value) : { value: choice };
  };
}

export function text(expected = "a string", passes: (value: string) => boolean = () => true): ValueReader<string> {
  return (value) => (typeof value === "string" && value.trim() !== "" && passes(value) ? { value } : wrongValue(expected, value));
}

/** A text that may be a secret or contain one, so a wrong one is not shown. */
export function hiddenText(expected: string, passes: (value: string) => boolean): ValueReader<string> {
  return (value) => (typeof value === "string" && passes(value) ? { value } : { faults: [{ path: [], message: `must be ${expected}` }] });
}

export function wholeNumber(least: number, most: number = Number.MAX_SAFE_INTEGER): ValueReader<number> {
  const range = most === Number.MAX_SAFE_INTEGER ? `of at least ${least}` : `from ${least} to ${most}`;
  return (value) =>
    typeof value === "number" && Number.isSafeInteger(value) && value >= least && value <= most
      ? { value }
      : wrongValue(`a whole number ${range}`, value);
}

export function amount(unit: string, most: number = Number.MAX_VALUE): ValueReader<number> {
  return (value) =>
    typeof value === "number" && Number.isFinite(value) && value >= 0
      ? { value: Math.min(value, most) }
      : wrongValue(`a number of ${unit}, 0 or more`, value);
}

export const trueOrFalse: ValueReader<boolean> = (value) => (typeof value === "boolean" ? { value } : wrongValue("true or false", value));

/** A list; every invalid item is reported. */
export function listOf<T>(item: ValueReader<T>): ValueReader<readonly T[]> {
  return (value) => {
    if (!Array.isArray(value)) return wrongValue("a list", value);
    const { values, faults } = collectValues(value.map((one, index) => [index, item(one)]));
    return faults.length > 0 ? { faults } : { value: values.map(([, entry]) => entry) };
  };
}

/** An object with any keys; every invalid value is reported. */
export function recordOf<T>(item: (value: unknown, key: string) => ValueReading<T>): ValueReader<Readonly<Record<string, T>>> {
  return (value) => {
    if (!isObject(value)) return wrongValue("an object", value);
    const { values, faults } = collectValues(Object.entries(value).map(([key, one]) => [key, item(one, key)]));
    return faults.length > 0 ? { faults } : { value: Object.fromEntries(values) };
  };
}

export type FieldReaders = Readonly<Record<string, ValueReader<unknown>>>;

/** Reads each field of an object with its own reader. `unknown` says what is wrong with a field that has none. */
export function readFields(
  value: Readonly<Record<string, unknown>>,
  readers: FieldReaders,
  unknown: (key: string) => string = () => `is unknown; known keys are ${Object.keys(readers).join(", ")}`,
): { readonly entry: Readonly<Record<string, unknown>>; readonly faults: readonly ValueFault[] } {
  const readings = Object.entries(value).map(([key, one]): KeyedValue<ValueReading<unknown>> => {
    const read = Object.hasOwn(readers, key) ? readers[key] : undefined;
    return [key, read?.(one) ?? { faults: [{ path: [], message: unknown(key), unknownKey: true }] }];
  });
  const { values, faults } = collectValues(readings);
  return { entry: Object.fromEntries(values), faults };
}

export const textRecord: ValueReader<Readonly<Record<string, string>>> = recordOf(text());

/** An object with these fields: the first and at least one other. */
export function objectWith(required: string, others: readonly string[]): ValueReader<Readonly<Record<string, string>>> {
  const known = [required, ...others];
  return (value) => {
    if (!isObject(value)) return wrongValue("an object", value);
    const unknown = Object.keys(value).filter((key) => !known.includes(key));
    if (unknown.length > 0)
      return {
        faults: unknown.map((key) => ({ path: [key], message: `is unknown; known keys are ${known.join(", ")}`, unknownKey: true })),
      };
    if (!Object.hasOwn(value, required) || Object.keys(value).length < 2)
      return wrongValue(`an object with ${required} and one of ${others.join(", ")}`, value);
    return textRecord(value);
  };
}

export const directory: ValueReader<string> = text("an absolute path", (value) => isAbsolute(value) && !value.includes("\0"));

export const directoryOrHome: ValueReader<string> = text(
  "an absolute path or one that starts with ~/",
  (value) => (isAbsolute(value) || value.startsWith("~/")) && !value.includes("\0"),
);

/** A URL may contain a password. */
export const storePlace: ValueReader<string> = hiddenText(
  "an absolute path, one that starts with ~/, or a postgres:// URL",
  (value) => (/^postgres(?:ql)?:\/\//i.test(value) && !value.includes("\0")) || "value" in directoryOrHome(value),
);

export function describeValue(value: unknown): string {
  if (Array.isArray(value)) return "a list";
  if (typeof value === "object" && value !== null) return "an object";
  const shown = JSON.stringify(value) ?? "nothing";
  return shown.length > 60 ? `${shown.slice(0, 57)}…` : shown;
}

export function wrongValue(expected: string, value: unknown): { readonly faults: readonly ValueFault[] } {
  return { faults: [{ path: [], message: `must be ${expected}, not ${describeValue(value)}` }] };
}

type KeyedValue<T> = readonly [key: string | number, value: T];

function collectValues<T>(readings: readonly KeyedValue<ValueReading<T>>[]): {
  readonly values: readonly KeyedValue<T>[];
  readonly faults: readonly ValueFault[];
} {
  const values: KeyedValue<T>[] = [];
  const faults: ValueFault[] = [];
  for (const [key, reading] of readings) {
    if ("value" in reading) values.push([key, reading.value]);
    else for (const fault of reading.faults) faults.push({ ...fault, path: [key, ...fault.path] });
  }
  return { values, faults };
}
