// `ai`: generateText with a model of its own interface (LanguageModelV4). State between runs is the list of messages, which is the caller's.
import { generateText, isStepCount, tool } from "ai";
import { z } from "zod";
import { argumentsOf, DESCRIPTION, echo, LAST_WORDS, must, plan, PROMPT, SYSTEM, TOOL } from "../world.mjs";

globalThis.AI_SDK_LOG_WARNINGS = false;
const inputSchema = z.object({ path: z.string(), text: z.string(), limit: z.number().int() });
const tools = { [TOOL]: tool({ description: DESCRIPTION, inputSchema, execute: async (input) => echo(input) }) };
const usage = { inputTokens: { total: 1, noCache: 1 }, outputTokens: { total: 1, text: 1 } };

function modelOf(answer, start = 0) {
  let turn = start;
  return {
    ...{ specificationVersion: "v4", provider: "bench", modelId: "scripted", supportedUrls: {} },
    doGenerate: async () => {
      const calls = answer(turn).map((n) => ({ type: "tool-call", toolCallId: `c${n}`, toolName: TOOL, input: argumentsOf(n) }));
      turn += 1;
      const more = calls.length > 0;
      const content = more ? calls : [{ type: "text", text: LAST_WORDS }];
      return { content, finishReason: { unified: more ? "tool-calls" : "stop", raw: undefined }, usage, warnings: [] };
    },
  };
}

const user = { role: "user", content: PROMPT };

async function run(answer, { messages = [user], start = 0, ...options } = {}) {
  return generateText({ model: modelOf(answer, start), instructions: SYSTEM, tools, messages, stopWhen: isStepCount(10_000), ...options });
}

async function finish(answer, options) {
  const { text } = await run(answer, options);
  must(text === LAST_WORDS, "the run did not end");
}

const one = plan({ turns: 1 });

/** The text that is kept while a person thinks: the messages, with the yes in them. */
async function approvedText() {
  const result = await run(one, { toolApproval: { [TOOL]: "user-approval" } });
  const request = result.content.find(({ type }) => type === "tool-approval-request");
  must(request, "nobody was asked");
  const yes = { role: "tool", content: [{ type: "tool-approval-response", approvalId: request.approvalId, approved: true }] };
  return JSON.stringify([user, ...result.responseMessages, yes]);
}

const resume = (text) => finish(one, { messages: JSON.parse(text), start: 1, toolApproval: { [TOOL]: "user-approval" } });

export function open() {
  return {
    turns: (n) => finish(plan({ turns: n })),
    batch: (n) => finish(plan({ batch: n })),
    approval: (n) => finish(plan({ turns: n }), { toolApproval: { [TOOL]: async () => "approved" } }),
    cycle: async () => resume(await approvedText()),
    approved: async () => {
      const text = await approvedText();
      return { resume: () => resume(text) };
    },
  };
}
