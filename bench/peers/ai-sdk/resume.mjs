// AI SDK: needsApproval; the program keeps messages and answer, and adds the response itself.
import { generateText, isStepCount, tool } from "ai";
import { z } from "zod";
import { aiModel, load, loadAnswer, save, saveAnswer, send, step } from "../resume-world.mjs";

const tools = { mail: tool({ inputSchema: z.object({ to: z.string() }), needsApproval: true, execute: async (input) => send(input) }) };
const run = (messages) => generateText({ model: aiModel, messages, tools, stopWhen: isStepCount(5) });
if (step === "start") {
  const messages = [{ role: "user", content: "Go." }];
  const { responseMessages } = await run(messages);
  save(JSON.stringify([...messages, ...responseMessages]));
} else if (step === "answer") {
  saveAnswer("approve");
} else {
  const messages = JSON.parse(load());
  const parts = messages.flatMap(({ content }) => (Array.isArray(content) ? content : []));
  const requests = parts.filter(({ type }) => type === "tool-approval-request");
  const approved = loadAnswer() === "approve";
  const content = requests.map(({ approvalId }) => ({ type: "tool-approval-response", approvalId, approved }));
  const { text } = await run([...messages, { role: "tool", content }]);
  console.log(text);
}
