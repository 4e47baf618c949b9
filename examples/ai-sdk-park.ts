// The AI SDK without a person to ask: the call is parked, answered later from another process, and a later run continues the conversation.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { playScript, readScript } from "@assent/agent";
import { createGate } from "@assent/gate";
import { createSystemClock } from "@assent/host";
import { generateText, isStepCount, type ModelMessage, tool } from "ai";
import { z } from "zod";

const book = tool({ inputSchema: z.object({ city: z.string() }), execute: async ({ city }) => `Booked ${city}.` });
const store = mkdtempSync(join(tmpdir(), "assent-example-")); // in your program: one permanent directory
const script = "turns: [{ calls: [{ tool: book, id: c1, input: { city: Rome } }] }, { say: Rome it is. }]";
const player = playScript(readScript(script, "script.yaml"), createSystemClock()); // use a real model here

// Today: the run ends with the SDK's own approval request.
const today = await createGate({ store, approve: "park" });
const messages: ModelMessage[] = [{ role: "user", content: "Book me a trip." }];
const first = await generateText({ model: player.model(), messages, tools: today.aiSdk({ book }), stopWhen: isStepCount(10) });
console.log(`today: ${first.content.map(({ type }) => type).join(", ")}`);
const kept = JSON.stringify([...messages, ...first.responseMessages]); // keep this and the session's id, for example in your database
await today.close();

// A person answers, in any process. In a terminal: assent approve ID --store DIRECTORY
const desk = await createGate({ store });
for (const { id, title, input } of await desk.approvals()) {
  const { outcome } = await desk.answer(id, { outcome: "approve", by: "Ann" });
  console.log(`Ann: ${title} ${JSON.stringify(input)}: ${outcome}`);
}
await desk.close();

// Tomorrow: the approved call runs once, and the model continues from its result.
const tomorrow = await createGate({ store, session: today.session, approve: "park" });
const tools = tomorrow.aiSdk({ book });
const resumed = await tomorrow.resumeMessages<ModelMessage>(JSON.parse(kept));
console.log(`tomorrow: ${tomorrow.stopped()?.reason ?? "can continue"}`);
const second = await generateText({ model: player.model(), messages: resumed, tools, stopWhen: isStepCount(10) });
console.log(second.text);
await tomorrow.close();
rmSync(store, { recursive: true });
