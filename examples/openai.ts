// Your own loop on OpenAI's API: your tool list and handlers as they are. The same works with the Responses API.
import { createGate } from "@assent/gate";

const notes = new Map([["notes.txt", "milk, eggs"]]);
const parameters = { type: "object", properties: { name: { type: "string" } }, required: ["name"] };
const tools = [
  { type: "function" as const, function: { name: "read_note", description: "Reads a note.", parameters } },
  { type: "function" as const, function: { name: "delete_note", description: "Deletes a note.", parameters } },
];
const handlers = {
  read_note: ({ name }: { name: string }) => ({ text: notes.get(name) ?? null }),
  delete_note: ({ name }: { name: string }) => notes.delete(name),
};

const gate = await createGate({ rules: { allow: ["read_note"], deny: ["delete_note"] } });
const openai = gate.openai(tools, handlers);

// `client.chat.completions.create({ model, messages, tools: openai.tools() })` would answer this.
console.log(`declared: ${openai.tools().map((tool) => tool.function.name)}`);
const answer = {
  role: "assistant" as const,
  tool_calls: [
    { id: "call_1", type: "function" as const, function: { name: "read_note", arguments: '{"name":"notes.txt"}' } },
    { id: "call_2", type: "function" as const, function: { name: "delete_note", arguments: '{"name":"notes.txt"}' } },
    { id: "call_3", type: "function" as const, function: { name: "read_note", arguments: '{"name":' } },
  ],
};
const { messages, stop } = await openai.dispatch(answer.tool_calls);
for (const message of messages) console.log(JSON.stringify(message));
console.log(`can continue: ${stop === undefined}, notes left: ${notes.size}`);
await gate.close();
