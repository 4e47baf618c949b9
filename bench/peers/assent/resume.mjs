// Assent with the AI SDK: the tool has no flag; the store keeps request, answer and effect.
import { createGate } from "@assent/gate";
import { generateText, isStepCount, tool } from "ai";
import { z } from "zod";
import { aiModel, folder, load, save, send, step } from "../resume-world.mjs";

const tools = { mail: tool({ inputSchema: z.object({ to: z.string() }), execute: async (input) => send(input) }) };
const store = `${folder}/store`;
const run = (gate, messages) => generateText({ model: aiModel, messages, tools: gate.aiSdk(tools), stopWhen: isStepCount(5) });
if (step === "start") {
  const gate = await createGate({ store, approve: "park" });
  const messages = [{ role: "user", content: "Go." }];
  const { responseMessages } = await run(gate, messages);
  save(JSON.stringify({ session: gate.session, messages: [...messages, ...responseMessages] }));
} else if (step === "answer") {
  const gate = await createGate({ store });
  for (const { id } of await gate.approvals()) await gate.answer(id, "approve");
} else {
  const { session, messages } = JSON.parse(load());
  const gate = await createGate({ store, session, approve: "park" });
  const { text } = await run(gate, await gate.resumeMessages(messages));
  console.log(text);
}
