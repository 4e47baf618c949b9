import { createHostPorts, type HostPorts } from "@assent/host";
import type { Context } from "../command-line/spec.ts";

/** The host's ports, with the clock that a test may replace. */
export function hostPortsFor({ overrides }: Context, directory: string): HostPorts {
  const ports = createHostPorts({ stateDirectory: directory });
  return overrides.clock ? { ...ports, clock: overrides.clock } : ports;
}
