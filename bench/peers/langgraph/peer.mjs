// `@langchain/langgraph`: the prebuilt tool-calling agent with a chat model of its own interface. State between runs is a checkpointer's.
import { BaseChatModel } from "@langchain/core/language_models/chat_models";
import { AIMessage } from "@langchain/core/messages";
import { tool } from "@langchain/core/tools";
import { Command, interrupt, MemorySaver } from "@langchain/langgraph";
import { createReactAgent } from "@langchain/langgraph/prebuilt";
import { z } from "zod";
import { argumentsOf, DESCRIPTION, echo, LAST_WORDS, must, plan, PROMPT, SYSTEM, TOOL } from "../world.mjs";

const schema = z.object({ path: z.string(), text: z.string(), limit: z.number().int() });
const described = { name: TOOL, description: DESCRIPTION, schema };
const plain = [tool(async (input) => echo(input), described)];
const asking = [tool(async (input) => (interrupt({ tool: TOOL, input }) === "approve" ? echo(input) : "rejected"), described)];

class ScriptedChat extends BaseChatModel {
  constructor() {
    super({});
  }
  begin(answer, start) {
    this.answer = answer;
    this.turn = start;
  }
  _llmType() {
    return "scripted";
  }
  bindTools() {
    return this;
  }
  async _generate() {
    const calls = this.answer(this.turn).map((n) => ({ type: "tool_call", id: `c${n}`, name: TOOL, args: JSON.parse(argumentsOf(n)) }));
    this.turn += 1;
    const text = calls.length > 0 ? "" : LAST_WORDS;
    return { generations: [{ text, message: new AIMessage({ content: text, tool_calls: calls }) }] };
  }
}

let threads = 0;

/** An agent is made once and used for many runs, as its makers mean it. */
function makeAgent(tools, checkpointer) {
  const llm = new ScriptedChat();
  return { llm, checkpointer, graph: createReactAgent({ llm, tools, prompt: SYSTEM, ...(checkpointer && { checkpointer }) }) };
}

const config = (thread, turns) => ({ configurable: { thread_id: thread }, recursionLimit: 2 * turns + 10 });
const user = { messages: [{ role: "user", content: PROMPT }] };

function mustEnd(state) {
  must(state.messages.at(-1).content === LAST_WORDS, "the run did not end");
}

/** Runs to the end in a thread of its own; what is asked on the way is approved. */
async function finish({ llm, graph, checkpointer }, answer, turns) {
  const thread = `t${++threads}`;
  const settings = config(thread, turns);
  llm.begin(answer, 0);
  let state = await graph.invoke(user, settings);
  while (state.__interrupt__?.length > 0) state = await graph.invoke(new Command({ resume: "approve" }), settings);
  mustEnd(state);
  await checkpointer?.deleteThread(thread);
}

const one = plan({ turns: 1 });

/** `plain` keeps nothing; `memory` has the MemorySaver. */
export function open(variant) {
  const running = makeAgent(plain, variant === "memory" ? new MemorySaver() : undefined);
  const approving = makeAgent(asking, new MemorySaver());
  const waiting = async () => {
    const checkpointer = new MemorySaver();
    const { llm, graph } = makeAgent(asking, checkpointer);
    const settings = config(`t${++threads}`, 1);
    llm.begin(one, 0);
    const state = await graph.invoke(user, settings);
    must(state.__interrupt__?.length === 1, "nobody was asked");
    return { checkpointer, settings };
  };
  const resume = async ({ checkpointer, settings }) => {
    const { llm, graph } = makeAgent(asking, checkpointer);
    llm.begin(one, 1);
    mustEnd(await graph.invoke(new Command({ resume: "approve" }), settings));
  };
  return {
    turns: (n) => finish(running, plan({ turns: n }), n),
    batch: (n) => finish(running, plan({ batch: n }), 1),
    approval: (n) => finish(approving, plan({ turns: n }), n),
    cycle: async () => resume(await waiting()),
    approved: async () => {
      const state = await waiting();
      return { resume: () => resume(state) };
    },
  };
}
