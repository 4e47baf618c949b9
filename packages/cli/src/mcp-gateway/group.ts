import type { SessionGroup } from "@assent/core";

const PREFIX = "mcp:";

/** The name of a client of the gateway in sessions. */
export function gatewayClient(name: string): string {
  return `${PREFIX}${name}`;
}

/** True if the calls of a session come from a client of the gateway, so Assent runs them itself. */
export function isGatewayGroup(group: SessionGroup | null | undefined): boolean {
  return group?.client.startsWith(PREFIX) === true;
}
