import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { isObject, type Json, type JsonObject } from "@assent/core";
import { chooseTurn, type PlannedSubagent, type PlannedTurn } from "./plan.ts";
import { MODEL_WIRES } from "./wires.ts";

/** A request as the server received it. */
export type ReceivedRequest = { readonly method: string; readonly url: string; readonly body: JsonObject };

/** A model server on loopback that proposes the planned calls and then says "finished". It drives real agents offline. */
export type FakeModel = {
  readonly url: string;
  readonly requests: readonly ReceivedRequest[];
  readonly close: () => Promise<void>;
};

const MOST_BYTES = 64 * 1024 * 1024;

/** Speaks the Anthropic, OpenAI (responses and chat) and Gemini APIs, with and without streaming. */
export async function startFakeModel(turns: readonly PlannedTurn[], subagents: readonly PlannedSubagent[] = []): Promise<FakeModel> {
  const requests: ReceivedRequest[] = [];
  const turnsFor = (body: JsonObject): readonly PlannedTurn[] =>
    subagents.find(({ prompt }) => firstMessage(body).includes(prompt))?.turns ?? turns;
  const server = createServer((request, response) => {
    answer(request, response, turnsFor, requests).catch(() => response.destroy());
  });
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(0, "127.0.0.1", resolve);
  });
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    requests,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

async function answer(
  request: IncomingMessage,
  response: ServerResponse,
  turnsFor: (body: JsonObject) => readonly PlannedTurn[],
  requests: ReceivedRequest[],
): Promise<void> {
  const { method = "", url = "" } = request;
  const body = await readBody(request);
  requests.push({ method, url, body });
  if (url.includes("count_tokens")) return sendJson(response, 200, { input_tokens: 10 });
  const wire = method === "POST" ? MODEL_WIRES.find(({ serves }) => serves(url)) : undefined;
  if (!wire) return sendJson(response, 404, { error: { type: "not_found_error", message: "not found" } });
  const turn = wire.offersTools(body) ? chooseTurn(turnsFor(body), wire.countResults(body)) : { text: "finished" };
  if ("status" in turn) return sendJson(response, turn.status, { error: { type: "api_error", message: "planned error" } });
  const reply = wire.write(turn, { body, url });
  if ("json" in reply) return sendJson(response, 200, reply.json);
  response.writeHead(200, { "content-type": "text/event-stream" });
  for (const [name, data] of reply.events)
    response.write(`${name === null ? "" : `event: ${name}\n`}data: ${typeof data === "string" ? data : JSON.stringify(data)}\n\n`);
  response.end();
}

/** The first message of a conversation that isn't the system's, as JSON. */
function firstMessage({ messages, input, contents }: JsonObject): string {
  const all = [messages, input, contents].find((one) => Array.isArray(one)) ?? [];
  return JSON.stringify((all as readonly Json[]).find((one) => isObject(one) && one["role"] === "user") ?? "");
}

async function readBody(request: IncomingMessage): Promise<JsonObject> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > MOST_BYTES) throw new Error("the request is too large");
    chunks.push(chunk);
  }
  try {
    const body: unknown = JSON.parse(Buffer.concat(chunks).toString("utf8"));
    return isObject(body) ? (body as JsonObject) : {};
  } catch {
    return {};
  }
}

function sendJson(response: ServerResponse, status: number, body: Json): void {
  response.writeHead(status, { "content-type": "application/json" });
  response.end(JSON.stringify(body));
}
