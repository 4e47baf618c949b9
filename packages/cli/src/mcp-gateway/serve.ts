import { messageOf } from "@assent/core";
import type { Context } from "../command-line/spec.ts";
import { readFlags } from "../compose/flags.ts";
import { keepAlive } from "../compose/keep-alive.ts";
import { readPlace } from "../compose/place.ts";
import { warn } from "../io/output.ts";
import { isGone } from "../io/process-io.ts";
import { withStore } from "../store/open.ts";
import { VERSION } from "../version.ts";
import { openGatewayConnection } from "./connection.ts";
import { findServedServers } from "./served-servers.ts";

const HOLD_MS = 50_000;

/** `assent mcp serve`: serves one client on stdin and stdout until it is gone. */
export async function serveGateway(context: Context): Promise<number> {
  const { io, options } = context;
  const flags = readFlags(context);
  const place = readPlace(context, "mcp serve");
  const servers = await findServedServers(context);
  const holdMs = options.duration("hold") ?? HOLD_MS;
  const { serveOnPipes } = await import("@assent/mcp/gateway");
  return withStore(context, (store) =>
    keepAlive(context, store, async ({ ports, cancelling }) => {
      let failure: unknown;
      await serveOnPipes({
        input: io.stdin(),
        write: (text) => io.stdout.write(text),
        version: VERSION,
        digest: ports.digest,
        signal: cancelling.signal,
        open: (client, inFront) => openGatewayConnection(context, { store, ports, place, flags, servers, holdMs, client, inFront }),
        failed: (error) => {
          failure = error;
          void warn(io, messageOf(error));
        },
      }).catch((error: unknown) => {
        if (!isGone(error)) throw error;
      });
      return failure === undefined ? 0 : 1;
    }),
  );
}
