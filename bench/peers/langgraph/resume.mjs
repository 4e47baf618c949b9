// LangGraph: interrupt() in the tool, a checkpointer, Command({ resume }) with the same thread.
import { BaseChatModel } from "@langchain/core/language_models/chat_models";
import { AIMessage } from "@langchain/core/messages";
import { tool } from "@langchain/core/tools";
import { Command, interrupt, MemorySaver } from "@langchain/langgraph";
import { createReactAgent } from "@langchain/langgraph/prebuilt";
import { z } from "zod";
import { findResult, loadAnswer, saveAnswer, send, step, TO, withSavedCheckpoints } from "../resume-world.mjs";

const body = async (input) => (interrupt({ tool: "mail", input }) === "approve" ? send(input) : "rejected");
const mail = tool(body, { name: "mail", description: "Sends.", schema: z.object({ to: z.string() }) });
const checkpointer = new MemorySaver();
const agent = createReactAgent({ llm: oneCall(), tools: [mail], checkpointer });
const run = (input) => withSavedCheckpoints(checkpointer, () => agent.invoke(input, { configurable: { thread_id: "t1" } }));
if (step === "start") {
  await run({ messages: [{ role: "user", content: "Go." }] });
} else if (step === "answer") {
  saveAnswer("approve");
} else {
  const { messages } = await run(new Command({ resume: loadAnswer() }));
  console.log(messages.at(-1).content);
}

// The model, which is not part of the comparison.
function oneCall() {
  return new (class extends BaseChatModel {
    _llmType() {
      return "scripted";
    }
    bindTools() {
      return this;
    }
    async _generate(messages) {
      const result = findResult(messages.filter((message) => message.getType() === "tool").map(({ content }) => content));
      const calls = result ? [] : [{ type: "tool_call", id: "c1", name: "mail", args: { to: TO } }];
      return { generations: [{ text: result ?? "", message: new AIMessage({ content: result ?? "", tool_calls: calls }) }] };
    }
  })({});
}
