import { ajvSchemas } from "@assent/host";
import type { GatewayConnection } from "@assent/mcp/gateway";
import type { Context } from "../command-line/spec.ts";
import { followPolicy } from "../compose/follow-policy.ts";
import { openServerSet, reportFailures } from "../compose/mcp/session-servers.ts";
import { createCallDesk } from "./call-desk.ts";
import type { GatewayParts } from "./gateway-parts.ts";

/** Starts the servers of a client. What it calls is recorded in a session of its own, from the first call on. */
export async function openGatewayConnection(context: Context, parts: GatewayParts): Promise<GatewayConnection> {
  const { store, ports, place, flags, servers, inFront } = parts;
  const { workspace } = place;
  const policy = await followPolicy(context, { workspace, flags, ledger: store.ledger });
  const settings = policy.source.settings;
  const set = await openServerSet(context, { servers, ports, workspace, settings, inFront });
  const { makeReadingTools } = await import("@assent/mcp/gateway");
  const schemas = ajvSchemas();
  const reading = set.servers.flatMap((server) => makeReadingTools(server, { schemas, digest: ports.digest, received: inFront.received }));
  const offerTools = (): void => policy.offerServerTools([...set.tools(), ...reading]);
  reportFailures(context, set);
  set.subscribe(offerTools);
  await set.settle(settings()["mcp.startWait"] * 1_000);
  offerTools();
  const desk = createCallDesk(context, { ...parts, policy });
  return {
    servers: set,
    call: desk.call,
    close: async () => {
      await desk.close();
      await set.close();
      policy.source.close();
    },
  };
}
