import { createServer, type IncomingHttpHeaders, type ServerResponse } from "node:http";

export type Received = { readonly path: string; readonly headers: IncomingHttpHeaders; readonly body: string };

export type TestReceiver = {
  readonly url: string;
  readonly received: Received[];
  /** What it does with requests from now on. */
  answer: (response: ServerResponse) => void;
  readonly [Symbol.asyncDispose]: () => Promise<void>;
};

export const ACCEPT = (response: ServerResponse): void => void response.end("ok");
/** Never answers. */
export const HANG = (): void => undefined;

/** A receiver on loopback that keeps what it gets. */
export async function testReceiver(answer: TestReceiver["answer"] = ACCEPT): Promise<TestReceiver> {
  const received: Received[] = [];
  const server = createServer((request, response) => {
    let body = "";
    request.on("data", (chunk) => {
      body += chunk;
    });
    request.on("end", () => {
      received.push({ path: request.url ?? "", headers: request.headers, body });
      receiver.answer(response);
    });
  }).listen(0, "127.0.0.1");
  await new Promise((resolve) => server.once("listening", resolve));
  const address = server.address();
  const receiver: TestReceiver = {
    url: `http://127.0.0.1:${typeof address === "object" && address ? address.port : 0}`,
    received,
    answer,
    [Symbol.asyncDispose]: () => {
      server.closeAllConnections();
      return new Promise((resolve) => server.close(() => resolve()));
    },
  };
  return receiver;
}
