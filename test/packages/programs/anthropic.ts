import { createGate } from "@assent/gate";
import { anthropicContent, anthropicTools, askPerson, handlers, sent } from "./application.ts";

const gate = await createGate({
  rules: { allow: ["mail:to=*@example.test"], deny: ["shell:command=rm*"] },
  approve: async (approval) => ((await askPerson(approval)) ? "approve" : { reject: "not now" }),
});
const anthropic = gate.anthropic(anthropicTools, handlers); // tools: anthropic.tools() in the request
const { messages } = await anthropic.dispatch(anthropicContent); // message.content of the answer; then send back `messages`
console.log(messages[0]?.content.length === 3 ? "Done." : "", sent.join());
