import { createHostPorts, type HostPorts } from "@assent/host";
import type { Context } from "../command-line/spec.ts";

/** Tests may replace the clock. */
export function hostPortsFor({ overrides }: Context, directory: string): HostPorts {
  const ports = createHostPorts({ stateDirectory: directory });
  return overrides.clock ? { ...ports, clock: overrides.clock } : ports;
}
