import { isObject } from "@assent/core";
import { isSafeAddress } from "./audit-destination.ts";
import { isSecretSource, secretSource } from "./secret-source.ts";
import { describeValue, listOf, oneOf, text, type ValueFault, type ValueReader } from "./setting-values.ts";

/** What a receiver can be told about. */
const NOTIFY_EVENTS = ["approval", "expiring", "failed", "task"] as const;

type NotifyEvent = (typeof NOTIFY_EVENTS)[number];

/** Who is told that something waits. Addresses and secrets may be `env:NAME` or `file:PATH`; secrets must be. */
export type NotifyReceiver = { readonly events: readonly NotifyEvent[] } & (
  | { readonly type: "webhook"; readonly url: string; readonly secret: string }
  | { readonly type: "slack"; readonly url: string }
  | { readonly type: "ntfy"; readonly url: string; readonly token?: string }
  | { readonly type: "command"; readonly command: readonly string[] }
);

/** Receivers by name. */
export type NotifyReceivers = Readonly<Record<string, NotifyReceiver>>;

/** A wrong value may be a secret, so it is not shown. */
function hidden(expected: string, passes: (value: string) => boolean): ValueReader<string> {
  return (value) => (typeof value === "string" && passes(value) ? { value } : { faults: [{ path: [], message: `must be ${expected}` }] });
}

const address = hidden(
  "an https:// URL, or http:// on this machine, without a user name and password, or env:NAME or file:PATH",
  (value) => isSecretSource(value) || isSafeAddress(value),
);

/** An address without credentials, query or fragment. */
export const publicUrl: ValueReader<string | undefined> = hidden(
  "an https:// URL, or http:// on this machine, without a user name, query or fragment",
  (value) => isSafeAddress(value) && !/[?#]/.test(value),
);

const FIELDS: Readonly<Record<NotifyReceiver["type"], Readonly<Record<string, ValueReader<unknown>>>>> = {
  webhook: { url: address, secret: secretSource },
  slack: { url: address },
  ntfy: { url: address, token: secretSource },
  command: { command: program },
};

const OPTIONAL: readonly string[] = ["token", "events"];
const receiverType = oneOf("webhook", "slack", "ntfy", "command");
const events = listOf(oneOf(...NOTIFY_EVENTS));

/** Ends of background work are many, so a receiver must ask for them. */
const DEFAULT_EVENTS: readonly NotifyEvent[] = ["approval", "expiring", "failed"];

function receiver(value: unknown): ReturnType<ValueReader<NotifyReceiver>> {
  if (!isObject(value)) return { faults: [{ path: [], message: `must be an object, not ${describeValue(value)}` }] };
  const type = receiverType(value["type"]);
  if ("faults" in type) return { faults: [{ path: ["type"], message: type.faults[0]?.message ?? "is missing" }] };
  const readers = { type: receiverType, events, ...FIELDS[type.value] };
  const entry: Record<string, unknown> = { events: DEFAULT_EVENTS };
  const faults: ValueFault[] = Object.keys(readers)
    .filter((key) => !OPTIONAL.includes(key) && !Object.hasOwn(value, key))
    .map((key) => ({ path: [], message: `needs "${key}"` }));
  for (const [key, one] of Object.entries(value)) {
    const reading = Object.entries(readers).find(([known]) => known === key)?.[1](one);
    if (!reading) faults.push({ path: [key], message: `is unknown; known keys are ${Object.keys(readers).join(", ")}`, unknownKey: true });
    else if ("faults" in reading) faults.push(...reading.faults.map((fault) => ({ ...fault, path: [key, ...fault.path] })));
    else entry[key] = reading.value;
  }
  return faults.length > 0 ? { faults } : { value: entry as unknown as NotifyReceiver }; // the readers checked every field
}

export const notifyReceivers: ValueReader<NotifyReceivers> = (value) => {
  if (!isObject(value)) return { faults: [{ path: [], message: `must be an object, not ${describeValue(value)}` }] };
  const faults: ValueFault[] = [];
  const receivers: Record<string, NotifyReceiver> = {};
  for (const [name, one] of Object.entries(value)) {
    const reading = /^[\w-]{1,32}$/.test(name) ? receiver(one) : BAD_NAME;
    if ("value" in reading) receivers[name] = reading.value;
    else faults.push(...reading.faults.map((fault) => ({ ...fault, path: [name, ...fault.path] })));
  }
  return faults.length > 0 ? { faults } : { value: receivers };
};

const BAD_NAME = { faults: [{ path: [], message: "is not a name for a receiver: use 1 to 32 letters, digits, hyphens and underscores" }] };

/** Where the addresses and secrets of receivers are. */
export function receiverSecrets(receivers: NotifyReceivers): readonly string[] {
  return Object.values(receivers).flatMap((one) =>
    ["url", "secret", "token"].map((key) => String(Reflect.get(one, key) ?? "")).filter(isSecretSource),
  );
}

function program(value: unknown): ReturnType<ValueReader<readonly string[]>> {
  const reading = listOf(text("a text", (one) => !one.includes("\0")))(value);
  if ("faults" in reading || reading.value.length > 0) return reading;
  return { faults: [{ path: [], message: "must be a list of a program and its arguments, not an empty list" }] };
}
