import type { HostPorts } from "@assent/host";
import type { ClientInFront, ConfiguredServer } from "@assent/mcp";
import type { ConnectedClient } from "@assent/mcp/gateway";
import type { CallFlags } from "../compose/flags.ts";
import type { WorkPlace } from "../compose/place.ts";
import type { Store } from "../store/store.ts";

/** What the connection of one client needs. */
export type GatewayParts = {
  readonly store: Store;
  readonly ports: HostPorts;
  readonly place: WorkPlace;
  readonly flags: CallFlags;
  readonly servers: readonly ConfiguredServer[];
  /** How long a call that waits for approval is held. */
  readonly holdMs: number;
  readonly client: ConnectedClient;
  readonly inFront: ClientInFront;
};
