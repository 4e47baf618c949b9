import type { By } from "@assent/core";
import type { Io } from "./io.ts";

type Answerer = { readonly name: string | undefined; readonly door: string; readonly from?: "terminal" | "command" | "inbox" };

/** Identifies the person by system user; `name` is only claimed. */
export function personBy(user: string, { name, door, from }: Answerer): By {
  return { kind: "person", user, name: name?.trim() || user, door, pid: process.pid, ...(from && { from }) };
}

/** Where a command answers: at a terminal, or as part of a script. Processes that a session started have no terminal. */
export function commandPlace({ stdinIsTTY, stderr }: Pick<Io, "stdinIsTTY" | "stderr">): "terminal" | "command" {
  return stdinIsTTY && stderr.isTTY ? "terminal" : "command";
}

export function whoText({ kind, user, name, host }: By): string {
  if (kind === "grant") return `grant ${name}`;
  return `${name === user ? user : `${name} (${user})`}${host === undefined ? "" : ` on ${host}`}`;
}

export function whenText(at: string): string {
  return at.replace(/\.\d+Z$/, "Z");
}
