// `@mastra/core`: an Agent with a model of the AI SDK's interface. State between runs is the storage of the Mastra instance, here its InMemoryStore.
import { Agent } from "@mastra/core/agent";
import { Mastra } from "@mastra/core/mastra";
import { InMemoryStore } from "@mastra/core/storage";
import { createTool } from "@mastra/core/tools";
import { z } from "zod";
import { argumentsOf, DESCRIPTION, echo, LAST_WORDS, must, plan, PROMPT, SYSTEM, TOOL } from "../world.mjs";

const inputSchema = z.object({ path: z.string(), text: z.string(), limit: z.number().int() });
const echoTool = (requireApproval) => ({
  [TOOL]: createTool({ id: TOOL, description: DESCRIPTION, inputSchema, requireApproval, execute: async (input) => echo(input) }),
});
const usage = { inputTokens: 1, outputTokens: 1, totalTokens: 2 };

function makeModel() {
  const state = { answer: undefined, turn: 0 };
  const next = () => {
    const calls = state.answer(state.turn).map((n) => ({ type: "tool-call", toolCallId: `c${n}`, toolName: TOOL, input: argumentsOf(n) }));
    state.turn += 1;
    return calls;
  };
  const model = {
    ...{ specificationVersion: "v2", provider: "bench", modelId: "scripted", supportedUrls: {} },
    doGenerate: async () => {
      const calls = next();
      const content = calls.length > 0 ? calls : [{ type: "text", text: LAST_WORDS }];
      return { content, finishReason: calls.length > 0 ? "tool-calls" : "stop", usage, warnings: [] };
    },
    doStream: async () => {
      const calls = next();
      const said = [
        { type: "text-start", id: "1" },
        { type: "text-delta", id: "1", delta: LAST_WORDS },
        { type: "text-end", id: "1" },
      ];
      const finish = { type: "finish", finishReason: calls.length > 0 ? "tool-calls" : "stop", usage };
      return { stream: ReadableStream.from([{ type: "stream-start", warnings: [] }, ...(calls.length > 0 ? calls : said), finish]) };
    },
  };
  const begin = (answer, turn) => Object.assign(state, { answer, turn });
  return { model, begin };
}

/** An agent is made once and used for many runs; `storage` makes it part of an instance that keeps what waits. */
function makeAgent({ asks, storage }) {
  const { model, begin } = makeModel();
  const bench = new Agent({ id: "bench", name: "bench", instructions: SYSTEM, model, tools: echoTool(asks) });
  if (!storage) return { agent: bench, begin };
  return { agent: new Mastra({ agents: { bench }, storage, logger: false }).getAgent("bench"), begin };
}

/** Runs to the end; what is asked on the way is approved. */
async function finish({ agent, begin }, answer) {
  begin(answer, 0);
  let result = await agent.generate(PROMPT, { maxSteps: 10_000 });
  while (result.finishReason === "suspended")
    result = await agent.approveToolCallGenerate({ runId: result.runId, toolCallId: result.suspendPayload.toolCallId, maxSteps: 10_000 });
  must(result.text.endsWith(LAST_WORDS), `the run ended as ${result.finishReason}`);
}

const one = plan({ turns: 1 });

async function waiting() {
  const storage = new InMemoryStore();
  const { agent, begin } = makeAgent({ asks: true, storage });
  begin(one, 0);
  const { finishReason, runId, suspendPayload } = await agent.generate(PROMPT, { maxSteps: 10 });
  must(finishReason === "suspended", "nobody was asked");
  return { storage, runId, toolCallId: suspendPayload.toolCallId };
}

async function resume({ storage, runId, toolCallId }) {
  const { agent, begin } = makeAgent({ asks: true, storage });
  begin(one, 1);
  const { text } = await agent.approveToolCallGenerate({ runId, toolCallId, maxSteps: 10 });
  must(text.endsWith(LAST_WORDS), "the run did not end");
}

export function open() {
  const running = makeAgent({ asks: false });
  const approving = makeAgent({ asks: true, storage: new InMemoryStore() });
  return {
    turns: (n) => finish(running, plan({ turns: n })),
    batch: (n) => finish(running, plan({ batch: n })),
    approval: (n) => finish(approving, plan({ turns: n })),
    cycle: async () => resume(await waiting()),
    approved: async () => {
      const state = await waiting();
      return { resume: () => resume(state) };
    },
  };
}
