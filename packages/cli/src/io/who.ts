import type { By } from "@assent/core";
import { currentUser } from "@assent/host";
import type { Io } from "./io.ts";

type Answerer = { readonly name?: string | undefined; readonly door: string; readonly from?: "terminal" | "command" | "inbox" };

/** Identifies the person by system user; `name` is only claimed. */
export function personBy({ name, door, from }: Answerer): By {
  const { user } = currentUser();
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

const UNITS: readonly (readonly [seconds: number, name: string])[] = [
  [86_400, "d"],
  [3_600, "h"],
  [60, "min"],
];

/** How long ago, in its largest unit; `now` for less than a minute. */
export function ageText(since: string, now: number): string {
  const seconds = (now - Date.parse(since)) / 1_000;
  const [size, name] = UNITS.find(([unit]) => seconds >= unit) ?? [1, ""];
  return name === "" ? "now" : `${Math.floor(seconds / size)} ${name}`;
}
