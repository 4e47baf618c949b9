import type { Unit } from "@assent/core";
import type { PathFact } from "../paths/lookup.ts";
import type { ShellUnit } from "../shell/plan/shell-unit.ts";

/** What a fetch is known to ask for: the URL as written, and its host as the WHATWG parser gives it. */
export type HostFact = { readonly url: string; readonly host: string | null };

type UnitFact = { readonly path?: PathFact; readonly shell?: ShellUnit; readonly host?: HostFact };

/**
 * Only what this package made counts: a unit of somebody else's facts must not pass for one of ours. The private field is a mark that nobody else can set and that a
 * copy does not carry; unlike a list of all that was made it costs nothing.
 */
class UnitData {
  readonly #known: UnitFact;
  constructor(known: UnitFact) {
    this.#known = known;
  }
  static knownOf(data: unknown): UnitFact | undefined {
    return typeof data === "object" && data !== null && #known in data ? data.#known : undefined;
  }
}

/** A unit about one path. */
export function createPathUnit(path: PathFact): Unit {
  return { subject: path.lexical, data: new UnitData({ path }) };
}

/** A unit about one simple command of a shell line. */
export function createShellUnit(subject: string, shell: ShellUnit): Unit {
  return { subject, readOnly: isReadOnly(shell), data: new UnitData({ shell }) };
}

/** A unit about one URL. */
export function createHostUnit(host: HostFact): Unit {
  return { subject: host.host ?? host.url, data: new UnitData({ host }) };
}

/** The path a unit is about. */
export function getPathFact({ data }: Unit): PathFact | undefined {
  return UnitData.knownOf(data)?.path;
}

/** The simple command a unit is about. */
export function getShellUnit({ data }: Unit): ShellUnit | undefined {
  return UnitData.knownOf(data)?.shell;
}

/** The URL a unit is about. */
export function getHostFact({ data }: Unit): HostFact | undefined {
  return UnitData.knownOf(data)?.host;
}

/** A command that only reads, in a line of which everything was understood. */
function isReadOnly({ line, command }: ShellUnit): boolean {
  const { modelled, hazards } = line.plan;
  return modelled && hazards.length === 0 && command?.class === "read" && command.hazards.length === 0;
}
