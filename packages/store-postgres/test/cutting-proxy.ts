import { mkdtempSync, rmSync } from "node:fs";
import { createConnection, createServer, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** When the connection is cut: before COMMIT reaches the server, once it is sent, or after the server has answered it. */
export type CutMoment = "before" | "during" | "after";

/** Stands between a client and the socket of a server, and cuts the connection around a COMMIT. */
export type CuttingProxy = {
  readonly socket: string;
  /** Cuts the next connection that commits. Resolves when it was cut. */
  readonly cut: (moment: CutMoment) => Promise<void>;
  readonly close: () => Promise<void>;
};

const FILE = ".s.PGSQL.5432";

export async function startProxy(target: string): Promise<CuttingProxy> {
  const socket = mkdtempSync(join(tmpdir(), "assent-cut-"));
  const open = new Set<Socket>();
  let due: { readonly moment: CutMoment; readonly done: () => void } | undefined;
  const server = createServer((client) => {
    const upstream = createConnection(join(target, FILE));
    let isCommitting = false;
    const drop = (): void => {
      client.destroy();
      upstream.destroy();
    };
    for (const one of [client, upstream]) {
      open.add(one);
      one.on("error", drop);
      one.on("close", drop);
    }
    const cutNow = (): void => {
      due?.done();
      due = undefined;
      drop();
    };
    client.on("data", (chunk) => {
      if (!due || !chunk.includes("commit\0")) return void upstream.write(chunk);
      if (due.moment === "before") return cutNow();
      isCommitting = true;
      upstream.write(chunk, () => {
        if (due?.moment === "during") cutNow();
      });
    });
    upstream.on("data", (chunk) => {
      if (isCommitting && due?.moment === "after" && chunk.includes("COMMIT\0")) return cutNow();
      client.write(chunk);
    });
  });
  await new Promise<void>((resolve) => {
    server.listen(join(socket, FILE), resolve);
  });
  return {
    socket,
    cut: (moment) =>
      new Promise((done) => {
        due = { moment, done };
      }),
    close: async () => {
      for (const one of open) one.destroy();
      await new Promise((resolve) => server.close(resolve));
      rmSync(socket, { recursive: true, force: true });
    },
  };
}
