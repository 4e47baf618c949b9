import { createHostPorts, type HostPorts } from "@assent/host";
import type { Context } from "../command-line/spec.ts";

/** The machine a call runs on, with the clock a test may have put in place of the system's. */
export function hostPortsFor({ overrides }: Context, directory: string): HostPorts {
  const ports = createHostPorts({ stateDirectory: directory });
  return overrides.clock ? { ...ports, clock: overrides.clock } : ports;
}
