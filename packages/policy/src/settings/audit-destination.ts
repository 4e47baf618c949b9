import { isObject } from "@assent/core";
import { secretSource } from "./secret-source.ts";
import { directoryOrHome, hiddenText, readFields, type ValueReader, wrongValue } from "./setting-values.ts";

/** Where the audit stream goes. `env:NAME` or `file:PATH` says where a secret is. */
export type AuditDestination =
  | { readonly file: string }
  /** `secret` signs every message. */
  | { readonly webhook: string; readonly secret: string }
  /** `token` is sent in the header `authorization`. */
  | { readonly otlp: string; readonly token?: string };

/** True for an address to which content may be sent: https, or http on this machine. Credentials in a URL end up in logs. */
export function isSafeAddress(address: string): boolean {
  if (!URL.canParse(address)) return false;
  const { protocol, hostname, username, password } = new URL(address);
  const isLocal = ["localhost", "127.0.0.1", "[::1]"].includes(hostname);
  return (protocol === "https:" || (protocol === "http:" && isLocal)) && username === "" && password === "";
}

const address = hiddenText("an https:// URL, or http:// on this machine, without a user name and password", isSafeAddress);

const KINDS = {
  file: { file: directoryOrHome },
  webhook: { webhook: address, secret: secretSource },
  otlp: { otlp: address, token: secretSource },
} as const;

/** Reads one destination: an object with `file`, `webhook` or `otlp`. */
export const auditDestination: ValueReader<AuditDestination> = (value) => {
  if (!isObject(value)) return wrongValue("an object", value);
  const kinds = (Object.keys(KINDS) as (keyof typeof KINDS)[]).filter((kind) => kind in value);
  const [kind] = kinds;
  if (kind === undefined || kinds.length > 1)
    return { faults: [{ path: [], message: 'needs exactly one of "file", "webhook" and "otlp"' }] };
  const { entry, faults: found } = readFields(value, KINDS[kind]);
  const unsigned = kind === "webhook" && !("secret" in value);
  const faults = unsigned ? [...found, { path: [], message: 'needs "secret", which signs every message' }] : found;
  return faults.length > 0 ? { faults } : { value: entry as unknown as AuditDestination }; // the readers checked every field
};
