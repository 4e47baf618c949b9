import type { Unit } from "@assent/core";
import type { PathFact } from "../paths/lookup.ts";
import type { ShellUnit } from "../shell/plan/shell-unit.ts";

/** The URL as written, and its host as the WHATWG parser reads it. */
export type HostFact = { readonly url: string; readonly host: string | null };

type UnitFact = { readonly path?: PathFact; readonly shell?: ShellUnit; readonly host?: HostFact };

/** The private field marks units made by this package; foreign facts cannot imitate them. */
class UnitData {
  readonly #known: UnitFact;
  constructor(known: UnitFact) {
    this.#known = known;
  }
  static knownOf(data: unknown): UnitFact | undefined {
    return typeof data === "object" && data !== null && #known in data ? data.#known : undefined;
  }
}

export function createPathUnit(path: PathFact): Unit {
  return { subject: path.lexical, data: new UnitData({ path }) };
}

export function createShellUnit(subject: string, shell: ShellUnit): Unit {
  return { subject, readOnly: isReadOnly(shell), data: new UnitData({ shell }) };
}

export function createHostUnit(host: HostFact): Unit {
  return { subject: host.host ?? host.url, data: new UnitData({ host }) };
}

export function getPathFact({ data }: Unit): PathFact | undefined {
  return UnitData.knownOf(data)?.path;
}

export function getShellUnit({ data }: Unit): ShellUnit | undefined {
  return UnitData.knownOf(data)?.shell;
}

export function getHostFact({ data }: Unit): HostFact | undefined {
  return UnitData.knownOf(data)?.host;
}

function isReadOnly({ line, command }: ShellUnit): boolean {
  const { modelled, hazards } = line.plan;
  return modelled && hazards.length === 0 && command?.class === "read" && command.hazards.length === 0;
}
