// The AI SDK's loop, and nobody there to ask: the call is parked, answered later, and the conversation goes on in another run.
import { aiStop, aiTools, playScript, readScript, resumeAiTools, whenStopped } from "@assent/agent";
import { createDispatcher, createRegistry, defineTool, fixedPolicy, memoryLedger, openSession } from "@assent/core";
import { hostPorts, thisHolder } from "@assent/host";
import { isStepCount, type ModelMessage, streamText } from "ai";
import { z } from "zod";

const input = z.object({ city: z.string() });
const tools = createRegistry();
tools.add(defineTool({ name: "book_trip", description: "Books a trip.", kind: "other", input, run: ({ city }) => `Booked ${city}.` }));

// A real model goes here; this one plays a script, so the example needs no key.
const { clock, ids, digest } = hostPorts({ stateDirectory: "/unused" });
const script = "turns: [{ calls: [{ tool: book_trip, input: { city: Rome } }] }, { say: Rome it is. }]";
const player = playScript(readScript(script, "script.yaml"), clock);

// `openLedger` of @assent/store in place of `memoryLedger` lets another process answer and resume.
const session = await openSession({ ledger: memoryLedger(), clock, ids }, { holder: thisHolder("example"), create: { cwd: "/" } });
const dispatcher = createDispatcher({ session, clock, ids, digest, policy: fixedPolicy(), onAsk: "park" });
const embedding = { session, dispatcher, tools };
const stopWhen = [isStepCount(10), whenStopped];

// First run: it ends where a person is needed.
const messages: ModelMessage[] = [{ role: "user", content: "Book me a trip." }];
const first = streamText({ model: player.model(), tools: aiTools(embedding), stopWhen, messages });
await first.consumeStream();
console.log(`first run: ${aiStop(await first.steps)?.reason}`);
const kept = JSON.stringify(await first.responseMessages); // beside your own history, in your own database

// Any day: a person answers. From a terminal on the same store it would be `assent approve ID`.
const by = { kind: "person", user: "ann", name: "Ann", door: "example", pid: process.pid } as const;
for (const { id, title } of await session.ledger.pending("approvals")) {
  const { outcome } = await dispatcher.answer({ approval: id, outcome: "approve", by });
  console.log(`Ann: ${title}: ${outcome}`);
}

// Second run: the answered call runs, once, and the model goes on from its result.
const resumed = await resumeAiTools<ModelMessage>(embedding, JSON.parse(kept), new AbortController().signal);
console.log(`second run: ${resumed.stop?.reason ?? "may go on"}`);
const second = streamText({ model: player.model(), tools: aiTools(embedding), stopWhen, messages: [...messages, ...resumed.messages] });
console.log(await second.text);
