import type { Unit } from "@assent/core";
import type { PathFact } from "./path-scope.ts";
import type { ShellUnit } from "./shell/shell-unit.ts";

/** What a fetch is known to ask for: the URL as written, and its host as the WHATWG parser gives it. */
export type HostFact = { readonly url: string; readonly host: string | null };

type UnitData = { readonly path: PathFact } | { readonly shell: ShellUnit } | { readonly host: HostFact };

/** Only what this package made counts: a unit of somebody else's facts must not pass for one of ours. */
const MADE = new WeakSet<object>();

/** A unit about one path. */
export function pathUnit(path: PathFact): Unit {
  return unitOf(path.lexical, { path });
}

/** A unit about one simple command of a shell line. */
export function shellUnit(subject: string, shell: ShellUnit): Unit {
  return { ...unitOf(subject, { shell }), readOnly: isReadOnly(shell) };
}

/** A unit about one URL. */
export function hostUnit(host: HostFact): Unit {
  return unitOf(host.host ?? host.url, { host });
}

/** The path a unit is about. */
export function pathOf({ data }: Unit): PathFact | undefined {
  return isMade(data) && "path" in data ? data.path : undefined;
}

/** The simple command a unit is about. */
export function shellOf({ data }: Unit): ShellUnit | undefined {
  return isMade(data) && "shell" in data ? data.shell : undefined;
}

/** The URL a unit is about. */
export function hostOf({ data }: Unit): HostFact | undefined {
  return isMade(data) && "host" in data ? data.host : undefined;
}

/** A command that only reads, in a line of which everything was understood. */
function isReadOnly({ line, command }: ShellUnit): boolean {
  const { modelled, hazards } = line.plan;
  return modelled && hazards.length === 0 && command?.class === "read" && command.hazards.length === 0;
}

function unitOf(subject: string, data: UnitData): Unit {
  MADE.add(data);
  return { subject, data };
}

function isMade(data: unknown): data is UnitData {
  return typeof data === "object" && data !== null && MADE.has(data);
}
