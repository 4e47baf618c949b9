import { type AddressInfo, createConnection, createServer, type Socket } from "node:net";
import { join } from "node:path";

/** A TCP address on loopback that leads to the socket of a PostgreSQL server, and can be cut. */
export type LoopbackProxy = {
  readonly port: number;
  /** Ends all connections. New ones work. */
  readonly cut: () => void;
  /** Passes nothing on, without ending anything, as a broken network does; `false` goes on. */
  readonly silence: (isSilent: boolean) => void;
  readonly close: () => void;
};

export async function startLoopbackProxy(directory: string): Promise<LoopbackProxy> {
  const open = new Set<Socket>();
  let isSilent = false;
  const server = createServer((client) => {
    const upstream = createConnection(join(directory, ".s.PGSQL.5432"));
    const drop = (): void => {
      client.destroy();
      upstream.destroy();
    };
    for (const [one, other] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      open.add(one);
      if (isSilent) one.pause();
      one.on("data", (chunk) => void other.write(chunk));
      one.on("error", drop);
      one.on("close", () => {
        open.delete(one);
        drop();
      });
    }
  });
  await new Promise<void>((resolve) => {
    server.listen(0, "127.0.0.1", resolve);
  });
  return {
    port: (server.address() as AddressInfo).port,
    cut: () => {
      for (const one of open) one.destroy();
    },
    silence: (silent) => {
      isSilent = silent;
      for (const one of open) silent ? one.pause() : one.resume();
    },
    close: () => {
      for (const one of open) one.destroy();
      server.close();
    },
  };
}
