// A web front end: the run is streamed as Server-Sent Events, and a POST answers what waits.
import { createServer, type ServerResponse } from "node:http";
import { createInterface } from "node:readline";
import { Readable } from "node:stream";
import { createConversation, playScript, readScript } from "@assent/agent";
import { createDispatcher, createRegistry, defineTool, memoryLedger, openSession, staticPolicy } from "@assent/core";
import { createEventFeed, encodeEvents, type WebEvent } from "@assent/gate";
import { createHostPorts, currentHolder } from "@assent/host";
import { z } from "zod";

const input = z.object({ service: z.string() });
const tools = createRegistry();
tools.add(defineTool({ name: "deploy", description: "Deploys.", kind: "execute", input, run: ({ service }) => `Deployed ${service}.` }));
const { clock, ids, digest } = createHostPorts({ stateDirectory: "/unused" });
const turns = "turns: [{ say: On it., calls: [{ tool: deploy, id: c1, input: { service: web } }] }, { say: It is live. }]";
const player = playScript(readScript(turns, "script.yaml"), clock);

const session = await openSession({ ledger: memoryLedger(), clock, ids }, { holder: currentHolder("web"), create: { cwd: "/" } });
const feed = createEventFeed(session);
const dispatcher = createDispatcher({ session, clock, ids, digest, policy: staticPolicy(), approver: feed.approver });
const conversation = createConversation({
  ...{ session, dispatcher, clock, ids, tools: () => tools, model: () => player.model(), observe: feed.observe },
  ...{ system: () => "You deploy.", steering: () => "force" },
});

const by = { kind: "person", user: "ann", name: "Ann", door: "web", pid: process.pid } as const;
async function answer(body: Readable, response: ServerResponse): Promise<void> {
  const { approval, revision, fingerprint, outcome } = JSON.parse((await body.toArray()).join(""));
  const report = await dispatcher.answer({ approval, revision, fingerprint, outcome, by });
  response.end(JSON.stringify({ outcome: report.outcome })); // said after the commit, never before
}
const server = createServer((request, response) => {
  if (request.method === "POST") {
    answer(request, response).catch((error: Error) => response.writeHead(409).end(error.message));
    return;
  }
  response.writeHead(200, { "content-type": "text/event-stream" });
  const events = Readable.fromWeb(encodeEvents(feed.follow({ run: (signal) => conversation.send("Deploy web.", signal) })));
  response.on("close", () => events.destroy()); // the browser went away: the run is cancelled
  events.pipe(response);
});
await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));

// What a browser would do.
const address = server.address();
const url = `http://127.0.0.1:${typeof address === "object" ? address?.port : ""}`;
const { body } = await fetch(url);
for await (const line of createInterface({ input: Readable.fromWeb(body ?? new ReadableStream()) })) {
  if (!line.startsWith("data: ")) continue;
  const event: WebEvent = JSON.parse(line.slice("data: ".length));
  if (event.pos === null && event.type !== "end") continue; // text as it comes; `message` has all of it
  console.log(event.type, "text" in event ? event.text : "");
  if (event.type !== "waiting") continue;
  const { approvalId: approval, revision, fingerprint } = event;
  await fetch(url, { method: "POST", body: JSON.stringify({ approval, revision, fingerprint, outcome: "approve" }) });
}
server.close();
