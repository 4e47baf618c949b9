// Your own loop on Anthropic's API. A call that needs a person is parked; once they have answered, the turn goes on where it stopped.
import {
  createDispatcher,
  createRegistry,
  defineTool,
  makeChecker,
  memoryLedger,
  openSession,
  staticPolicy,
  type ToolResult,
} from "@assent/core";
import { anthropicMessages } from "@assent/gate";
import { createHostPorts, currentHolder } from "@assent/host";
import { z } from "zod";

const PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
const page = z.object({ page: z.string() });
const tools = createRegistry();
const look = (): ToolResult => ({ content: [{ type: "image", mediaType: "image/png", data: PIXEL }] });
tools.add(defineTool({ name: "screenshot", description: "Looks at a page.", kind: "read", input: page, run: look }));
tools.add(
  defineTool({ name: "publish", description: "Publishes a page.", kind: "other", input: page, run: (to) => `Published ${to.page}.` }),
);

const { checker } = makeChecker({ label: "user permissions", scope: "user", allow: ["screenshot"] });
const { clock, ids, digest } = createHostPorts({ stateDirectory: "/unused" });
const session = await openSession({ ledger: memoryLedger(), clock, ids }, { holder: currentHolder("example"), create: { cwd: "/" } });
const policy = staticPolicy({ checkers: [checker] });
const dispatcher = createDispatcher({ session, clock, ids, digest, policy, onAsk: "park" });
const anthropic = anthropicMessages({ session, dispatcher, tools });

// `client.messages.create({ model, max_tokens, messages, tools: anthropic.tools() })` would answer this.
console.log(`declared: ${anthropic.tools().map((tool) => tool.name)}`);
const content = [
  { type: "text" as const, text: "I look at it and publish it." },
  { type: "tool_use" as const, id: "toolu_1", name: "screenshot", input: { page: "/" } },
  { type: "tool_use" as const, id: "toolu_2", name: "publish", input: { page: "/" } },
];
const { signal } = new AbortController();
const first = await anthropic.dispatch(content, { signal });
console.log(`${first.stop?.reason}: ${first.calls.map((call) => `${call.tool} ${call.outcome}`).join(", ")}`);

// Anywhere, any day: `first.calls` is JSON, and the approval is in the ledger.
const by = { kind: "person", user: "ann", name: "Ann", door: "example", pid: process.pid } as const;
for (const call of first.calls) {
  if (call.outcome === "waiting" && call.approvalId) await dispatcher.answer({ approval: call.approvalId, outcome: "approve", by });
}
const { messages } = await anthropic.resume(first.calls, signal);
for (const result of messages[0]?.content ?? []) console.log(JSON.stringify(result).replace(PIXEL, "…"));
