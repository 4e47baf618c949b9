import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

/** A body of a foreign format, to look into. */
export interface Tree {
  readonly [key: string]: Tree;
}

/** A request as it came over the wire. */
export type Received = {
  readonly url: string;
  readonly headers: IncomingMessage["headers"];
  readonly text: string;
  readonly body: Tree;
};

/** One answer: a stream of frames, and how it ends; or a refusal. */
export type Reply =
  | { readonly frames: readonly string[]; readonly end?: "whole" | "cut" | "hang" }
  | { readonly status: number; readonly body: unknown; readonly headers?: Readonly<Record<string, string>> };

/** A server of a model's provider that gives its replies in turn. */
export type ModelServer = {
  readonly origin: string;
  readonly received: Received[];
  readonly replies: Reply[];
  readonly close: () => Promise<void>;
};

/** Listens on loopback. */
export async function modelServer(): Promise<ModelServer> {
  const received: Received[] = [];
  const replies: Reply[] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      const text = Buffer.concat(chunks).toString("utf8");
      received.push({ url: request.url ?? "", headers: request.headers, text, body: JSON.parse(text === "" ? "{}" : text) as Tree });
      answer(response, replies.shift() ?? { status: 500, body: { error: { message: "no reply was prepared" } } });
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    received,
    replies,
    close: () => {
      server.closeAllConnections();
      return new Promise((resolve) => server.close(() => resolve()));
    },
  };
}

function answer(response: ServerResponse, reply: Reply): void {
  if ("status" in reply) {
    response.writeHead(reply.status, { "content-type": "application/json", ...reply.headers });
    response.end(JSON.stringify(reply.body));
    return;
  }
  response.writeHead(200, { "content-type": "text/event-stream", "request-id": "req_1" });
  const [last, ...before] = reply.frames.toReversed();
  for (const frame of before.toReversed()) response.write(frame);
  const end = reply.end ?? "whole";
  if (end === "whole") response.end(last);
  else response.write(last ?? "", () => end === "cut" && setImmediate(() => response.destroy()));
}

/** A frame of a stream of server-sent events. */
export function frame(data: unknown, event?: string): string {
  const text = typeof data === "string" ? data : JSON.stringify(data);
  return `${event === undefined ? "" : `event: ${event}\n`}data: ${text}\n\n`;
}
