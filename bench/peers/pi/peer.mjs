// pi's `Agent` with a stream function of its own interface. It keeps its transcript in memory; a call that waits for a person is a promise.
import { Agent } from "@earendil-works/pi-agent-core";
import { createAssistantMessageEventStream } from "@earendil-works/pi-ai";
import { argumentsOf, DESCRIPTION, echo, JSON_SCHEMA, LAST_WORDS, must, plan, PROMPT, SYSTEM, TOOL } from "../world.mjs";

const tools = [
  {
    ...{ name: TOOL, label: TOOL, description: DESCRIPTION, parameters: JSON_SCHEMA },
    execute: async (_id, input) => ({ content: [{ type: "text", text: echo(input) }], details: undefined }),
  },
];
const cost = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0 };
const usage = { input: 1, output: 1, cacheRead: 0, cacheWrite: 0, totalTokens: 2, cost };
const named = { api: "scripted", provider: "bench", model: "scripted" };
const model = {
  ...{ id: "scripted", name: "scripted", api: "scripted", provider: "bench", baseUrl: "", reasoning: false, input: ["text"] },
  ...{ cost, contextWindow: Number.MAX_SAFE_INTEGER, maxTokens: 1_000 },
};

function streamOf(answer) {
  let turn = 0;
  return () => {
    const calls = answer(turn).map((n) => ({ type: "toolCall", id: `c${n}`, name: TOOL, arguments: JSON.parse(argumentsOf(n)) }));
    turn += 1;
    const stopReason = calls.length > 0 ? "toolUse" : "stop";
    const content = calls.length > 0 ? calls : [{ type: "text", text: LAST_WORDS }];
    const message = { role: "assistant", content, ...named, usage, stopReason, timestamp: Date.now() };
    const stream = createAssistantMessageEventStream();
    stream.push({ type: "start", partial: message });
    stream.push({ type: "done", reason: stopReason, message });
    stream.end(message);
    return stream;
  };
}

async function run(answer, options = {}) {
  const agent = new Agent({ initialState: { systemPrompt: SYSTEM, model, tools }, streamFn: streamOf(answer), ...options });
  await agent.prompt(PROMPT);
  const last = agent.state.messages.at(-1);
  must(last.content[0]?.text === LAST_WORDS, `the run did not end: ${last.errorMessage ?? ""}`);
}

export function open() {
  return {
    turns: (n) => run(plan({ turns: n })),
    batch: (n) => run(plan({ batch: n })),
    approval: (n) => run(plan({ turns: n }), { beforeToolCall: async () => undefined }),
  };
}
