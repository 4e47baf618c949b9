import { hash } from "node:crypto";

/** A digest as rules, plans and what a request is bound to name it. */
export function sha256(value: string | Uint8Array): string {
  return `sha256:${hash("sha256", value)}`;
}
