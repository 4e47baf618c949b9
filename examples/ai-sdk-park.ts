// The AI SDK's loop without a person to ask: the call is parked, answered later, and a second run continues the conversation.
import { playScript, readScript } from "@assent/agent";
import { createDispatcher, createRegistry, defineTool, memoryLedger, openSession, staticPolicy } from "@assent/core";
import { aiTools, findRunStop, isRunStopped, resumeAiTools } from "@assent/gate";
import { createHostPorts, currentHolder } from "@assent/host";
import { isStepCount, type ModelMessage, streamText } from "ai";
import { z } from "zod";

const input = z.object({ city: z.string() });
const tools = createRegistry();
tools.add(defineTool({ name: "book_trip", description: "Books a trip.", kind: "other", input, run: ({ city }) => `Booked ${city}.` }));

// Use a real model here. This one plays a script, so the example needs no API key.
const { clock, ids, digest } = createHostPorts({ stateDirectory: "/unused" });
const script = "turns: [{ calls: [{ tool: book_trip, input: { city: Rome } }] }, { say: Rome it is. }]";
const player = playScript(readScript(script, "script.yaml"), clock);

// Use `openLedger` from @assent/store instead of `memoryLedger` to answer and resume from another process.
const session = await openSession({ ledger: memoryLedger(), clock, ids }, { holder: currentHolder("example"), create: { cwd: "/" } });
const dispatcher = createDispatcher({ session, clock, ids, digest, policy: staticPolicy(), onAsk: "park" });
const embedding = { session, dispatcher, tools };
const stopWhen = [isStepCount(10), isRunStopped];

// First run: it ends when a call needs a person.
const messages: ModelMessage[] = [{ role: "user", content: "Book me a trip." }];
const first = streamText({ model: player.model(), tools: aiTools(embedding), stopWhen, messages });
await first.consumeStream();
console.log(`first run: ${findRunStop(await first.steps)?.reason}`);
const kept = JSON.stringify(await first.responseMessages); // store this with your history, for example in your database

// Later: a person answers. From a terminal with the same store, use `assent approve ID`.
const by = { kind: "person", user: "ann", name: "Ann", door: "example", pid: process.pid } as const;
for (const { id, title } of await session.ledger.pending("approvals")) {
  const { outcome } = await dispatcher.answer({ approval: id, outcome: "approve", by });
  console.log(`Ann: ${title}: ${outcome}`);
}

// Second run: the approved call runs once, and the model continues from its result.
const resumed = await resumeAiTools<ModelMessage>(embedding, JSON.parse(kept), new AbortController().signal);
console.log(`second run: ${resumed.stop?.reason ?? "can continue"}`);
const second = streamText({ model: player.model(), tools: aiTools(embedding), stopWhen, messages: [...messages, ...resumed.messages] });
console.log(await second.text);
