import { createServer, type IncomingHttpHeaders, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

export type Received = { readonly path: string; readonly headers: IncomingHttpHeaders; readonly body: string };

/** A server on loopback that keeps what it gets. */
export type Receiver = {
  readonly url: string;
  readonly got: Received[];
  /** How the next requests are answered. */
  answer: (response: ServerResponse, received: Received) => void;
  readonly [Symbol.asyncDispose]: () => Promise<void>;
};

export async function startReceiver(answer: Receiver["answer"] = (response) => response.end(), port = 0): Promise<Receiver> {
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      const received = { path: request.url ?? "", headers: request.headers, body: Buffer.concat(chunks).toString() };
      receiver.got.push(received);
      receiver.answer(response, received);
    });
  });
  await new Promise<void>((resolve) => server.listen(port, "127.0.0.1", resolve));
  const receiver: Receiver = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    got: [],
    answer,
    [Symbol.asyncDispose]: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
  return receiver;
}
