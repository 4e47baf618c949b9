import type { By } from "@assent/core";

/** The person at this command by their system user; a given name is recorded as a claim. */
export function personBy(user: string, { name, door }: { readonly name: string | undefined; readonly door: string }): By {
  return { kind: "person", user, name: name?.trim() || user, door, pid: process.pid };
}

export function whoText({ kind, user, name }: By): string {
  if (kind === "grant") return `grant ${name}`;
  return name === user ? user : `${name} (${user})`;
}

/** A time in UTC, to the second. */
export function whenText(at: string): string {
  return at.replace(/\.\d+Z$/, "Z");
}
