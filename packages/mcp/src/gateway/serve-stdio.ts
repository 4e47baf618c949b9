import type { JSONRPCMessage } from "@modelcontextprotocol/server";
import { serveStdio } from "@modelcontextprotocol/server/stdio";
import type { ConnectedClient } from "./desk.ts";
import { type Front, type FrontParts, openFront } from "./front.ts";
import { LineTransport, type Pipes } from "./line-transport.ts";
import { readClient } from "./read-client.ts";

/** What serving one client on pipes needs. */
export type StdioGateway = Pipes &
  FrontParts & {
    /** Aborts to end the connection. */
    readonly signal: AbortSignal;
    readonly failed: (error: unknown) => void;
  };

/** Serves one client until its input ends. Its servers have ended when this resolves. */
export async function serveOnPipes({ open, version, digest, signal, failed, ...pipes }: StdioGateway): Promise<void> {
  const ended = Promise.withResolvers<void>();
  let client: ConnectedClient | undefined;
  let front: Promise<Front> | undefined;
  const transport = new LineTransport(pipes, (message: JSONRPCMessage) => {
    client ??= readClient(message);
  });
  const handle = serveStdio(
    async ({ era }) => {
      if (!client) throw new Error("The client did not say who it is.");
      front ??= openFront({ ...client, era }, { open, version, digest, taken: () => transport.written });
      front.catch(failed);
      const { makeServer, announceTo } = await front;
      const server = makeServer();
      announceTo(server);
      return server;
    },
    { transport, onerror: () => undefined }, // reported to the client
  );
  const { onclose } = transport;
  transport.onclose = () => {
    onclose?.();
    ended.resolve();
  };
  if (signal.aborted) ended.resolve();
  signal.addEventListener("abort", () => ended.resolve(), { once: true });
  await ended.promise;
  await handle.close().catch(() => undefined);
  const opened = await front?.catch(() => undefined);
  await opened?.close();
}
