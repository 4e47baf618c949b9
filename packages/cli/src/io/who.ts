import type { By } from "@assent/core";

/** Identifies the person by system user; `name` is only claimed. */
export function personBy(user: string, { name, door }: { readonly name: string | undefined; readonly door: string }): By {
  return { kind: "person", user, name: name?.trim() || user, door, pid: process.pid };
}

export function whoText({ kind, user, name, host }: By): string {
  if (kind === "grant") return `grant ${name}`;
  return `${name === user ? user : `${name} (${user})`}${host === undefined ? "" : ` on ${host}`}`;
}

export function whenText(at: string): string {
  return at.replace(/\.\d+Z$/, "Z");
}
