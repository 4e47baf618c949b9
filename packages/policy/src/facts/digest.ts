import { hash } from "node:crypto";

export function sha256Hex(value: string | Uint8Array): string {
  return hash("sha256", value);
}

/** SHA-256 as `sha256:HEX`, the form in rules, plans and request bindings. */
export function contentDigest(value: string | Uint8Array): string {
  return `sha256:${sha256Hex(value)}`;
}
