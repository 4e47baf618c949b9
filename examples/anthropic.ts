// Your own loop on Anthropic's API. A call that needs a person is parked; after the answer the turn continues where it stopped.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createGate } from "@assent/gate";

const input_schema = { type: "object" as const, properties: { page: { type: "string" } }, required: ["page"] };
const tools = [
  { name: "count_words", description: "Counts the words of a page.", input_schema },
  { name: "publish", description: "Publishes a page.", input_schema },
];
const handlers = {
  count_words: ({ page }: { page: string }) => ({ page, words: 120 }),
  publish: ({ page }: { page: string }) => `Published ${page}.`,
};

const store = mkdtempSync(join(tmpdir(), "assent-example-")); // in your program: one permanent directory
const gate = await createGate({ store, approve: "park" });
const anthropic = gate.anthropic(tools, handlers, { count_words: { kind: "read" } });

// `client.messages.create({ model, max_tokens, messages, tools: anthropic.tools() })` would answer this.
const content = [
  { type: "text" as const, text: "I count the words and publish it." },
  { type: "tool_use" as const, id: "toolu_1", name: "count_words", input: { page: "/" } },
  { type: "tool_use" as const, id: "toolu_2", name: "publish", input: { page: "/" } },
];
const first = await anthropic.dispatch(content);
console.log(`${first.stop?.reason}: ${first.calls.map((call) => `${call.tool} ${call.outcome}`).join(", ")}`);

// Anywhere, any day: `first.calls` is JSON, and the approval is in the store.
for (const { id } of await gate.approvals()) await gate.answer(id, { outcome: "approve", by: "Ann" });
const { messages } = await anthropic.resume(first.calls);
for (const result of messages[0]?.content ?? []) console.log(JSON.stringify(result));
await gate.close();
rmSync(store, { recursive: true });
