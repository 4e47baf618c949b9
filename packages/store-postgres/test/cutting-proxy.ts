import { mkdtempSync, rmSync } from "node:fs";
import { createConnection, createServer, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** When the connection is cut: before a commit reaches the server, once it is sent, or after the server has answered it. */
export type CutMoment = "before" | "during" | "after";

/** Stands between a client and the socket of a server, and cuts the connection around a commit. */
export type CuttingProxy = {
  readonly socket: string;
  /** Cuts the next connection that commits. Resolves when it was cut. */
  readonly cut: (moment: CutMoment) => Promise<void>;
  readonly close: () => Promise<void>;
};

const FILE = ".s.PGSQL.5432";

/** True for COMMIT, and for the one statement that stores and commits at once. It is named when it is parsed, and only its name is sent later. */
function makeCommitReader(): (chunk: Buffer) => boolean {
  const names = new Set<string>();
  return (chunk) => {
    const text = chunk.toString("latin1");
    for (const [, name = ""] of text.matchAll(/P[\s\S]{4}(s\d+)\0with moved as \([^)]*\)[^)]* where pos = /g)) names.add(name);
    if (text.includes("commit\0")) return true;
    return [...text.matchAll(/B[\s\S]{4}\0(s\d+)\0/g)].some(([, name = ""]) => names.has(name));
  };
}

export async function startProxy(target: string): Promise<CuttingProxy> {
  const socket = mkdtempSync(join(tmpdir(), "assent-cut-"));
  const open = new Set<Socket>();
  let due: { readonly moment: CutMoment; readonly done: () => void } | undefined;
  const server = createServer((client) => {
    const upstream = createConnection(join(target, FILE));
    let isCommitting = false;
    const isCommit = makeCommitReader();
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
      if (!isCommit(chunk) || !due) return void upstream.write(chunk);
      if (due.moment === "before") return cutNow();
      isCommitting = true;
      upstream.write(chunk, () => {
        if (due?.moment === "during") cutNow();
      });
    });
    upstream.on("data", (chunk) => {
      if (isCommitting && due?.moment === "after" && /COMMIT\0|SELECT \d+\0/.test(chunk.toString("latin1"))) return cutNow();
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
