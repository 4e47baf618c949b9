import { isObject } from "@assent/core";
import { isSafeAddress } from "./audit-destination.ts";
import { isSecretSource, secretSource } from "./secret-source.ts";
import {
  type FieldReaders,
  hiddenText,
  listOf,
  oneOf,
  readFields,
  recordOf,
  text,
  type ValueReader,
  wrongValue,
} from "./setting-values.ts";

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

const address = hiddenText(
  "an https:// URL, or http:// on this machine, without a user name and password, or env:NAME or file:PATH",
  (value) => isSecretSource(value) || isSafeAddress(value),
);

/** An address without credentials, query or fragment. */
export const publicUrl: ValueReader<string | undefined> = hiddenText(
  "an https:// URL, or http:// on this machine, without a user name, query or fragment",
  (value) => isSafeAddress(value) && !/[?#]/.test(value),
);

const FIELDS: Readonly<Record<NotifyReceiver["type"], FieldReaders>> = {
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
  if (!isObject(value)) return wrongValue("an object", value);
  const type = receiverType(value["type"]);
  if ("faults" in type) return { faults: [{ path: ["type"], message: type.faults[0]?.message ?? "is missing" }] };
  const readers = { type: receiverType, events, ...FIELDS[type.value] };
  const missing = Object.keys(readers).filter((key) => !OPTIONAL.includes(key) && !Object.hasOwn(value, key));
  const { entry, faults: found } = readFields(value, readers);
  const faults = [...missing.map((key) => ({ path: [], message: `needs "${key}"` })), ...found];
  return faults.length > 0 ? { faults } : { value: { events: DEFAULT_EVENTS, ...entry } as unknown as NotifyReceiver }; // the readers checked every field
}

export const notifyReceivers: ValueReader<NotifyReceivers> = recordOf((one, name) =>
  /^[\w-]{1,32}$/.test(name) ? receiver(one) : BAD_NAME,
);

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
