import { createGate } from "@assent/gate";
import { generateText, isStepCount } from "ai";
import { askPerson, model, sent, tools } from "./application.ts";

const gate = await createGate({
  rules: { allow: ["mail:to=*@example.test"], deny: ["shell:command=rm*"] },
  approve: async (approval) => ((await askPerson(approval)) ? "approve" : { reject: "not now" }),
});
const { text } = await generateText({ model, prompt: "Go.", tools: gate.aiSdk(tools), stopWhen: isStepCount(5) });
console.log(text, sent.join());
