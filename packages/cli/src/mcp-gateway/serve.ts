import { messageOf } from "@assent/core";
import { ajvSchemas } from "@assent/host";
import type { GatewayConnection, HttpGateway } from "@assent/mcp/gateway";
import type { Context } from "../command-line/spec.ts";
import { readFlags } from "../compose/flags.ts";
import { followPolicy } from "../compose/follow-policy.ts";
import { keepAlive } from "../compose/keep-alive.ts";
import { openServerSet, reportFailures } from "../compose/mcp/session-servers.ts";
import { readPlace } from "../compose/place.ts";
import { untilAborted } from "../io/cancel-on-signal.ts";
import { listenError } from "../io/listen-error.ts";
import { warn } from "../io/output.ts";
import { isGone } from "../io/process-io.ts";
import { withStore } from "../store/open.ts";
import { VERSION } from "../version.ts";
import { createCallDesk } from "./call-desk.ts";
import type { GatewayParts } from "./call-record.ts";
import { findServedServers } from "./served-servers.ts";

const HOLD_MS = 50_000;
const IDLE_MS = 30 * 60_000;

/** `assent mcp serve`: serves one client on stdin and stdout until it is gone. */
export async function serveGateway(context: Context): Promise<number> {
  const { io, options } = context;
  const flags = readFlags(context);
  const place = readPlace(context, "mcp serve");
  const servers = await findServedServers(context);
  const holdMs = options.duration("hold") ?? HOLD_MS;
  return withStore(context, (store) =>
    keepAlive(context, store, async ({ ports, cancelling }) => {
      let failure: unknown;
      const parts: Omit<ServedParts, "clock"> = {
        version: VERSION,
        digest: ports.digest,
        open: (client, inFront) => openGatewayConnection(context, { store, ports, place, flags, servers, holdMs, client, inFront }),
        failed: (error) => {
          failure = error;
          void warn(io, messageOf(error));
        },
      };
      if (options.flag("http")) return await serveHttp(context, { ...parts, clock: ports.clock }, cancelling.signal);
      const { serveOnPipes } = await import("@assent/mcp/gateway");
      const pipes = { input: io.stdin(), write: io.stdout.write };
      await serveOnPipes({ ...parts, ...pipes, signal: cancelling.signal }).catch((error: unknown) => {
        if (!isGone(error)) throw error;
      });
      return failure === undefined ? 0 : 1;
    }),
  );
}

type ServedParts = Omit<HttpGateway, "port" | "idleMs">;

async function serveHttp({ io, options }: Context, parts: ServedParts, signal: AbortSignal): Promise<number> {
  const { serveOnHttp } = await import("@assent/mcp/gateway");
  const port = options.count("port");
  const server = await serveOnHttp({ ...parts, port: port ?? 0, idleMs: options.duration("idle") ?? IDLE_MS }).catch((error: unknown) => {
    throw listenError(error, port);
  });
  try {
    await io.stdout.write(`${server.url}\nAuthorization: Bearer ${server.token}\n`);
    await io.stderr.write("Clients need both lines; the token is not shown again. Press Ctrl-C to stop.\n");
    await untilAborted(signal);
    return 0;
  } finally {
    await server.close();
  }
}

/** Starts the servers of a client. Its calls are recorded in a session of their own, which the first call opens. */
async function openGatewayConnection(context: Context, parts: GatewayParts): Promise<GatewayConnection> {
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
