import { createGate } from "@assent/gate";
import { askPerson, chatCalls, handlers, openaiTools, sent } from "./application.ts";

const gate = await createGate({
  rules: { allow: ["mail:to=*@example.test"], deny: ["shell:command=rm*"] },
  approve: async (approval) => ((await askPerson(approval)) ? "approve" : { reject: "not now" }),
});
const openai = gate.openai(openaiTools, handlers); // tools: openai.tools() in the request
const { messages } = await openai.dispatch(chatCalls); // message.tool_calls of the answer; then send back `messages`
console.log(messages.length === 3 ? "Done." : "", sent.join());
