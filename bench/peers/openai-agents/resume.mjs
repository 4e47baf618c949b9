// OpenAI Agents SDK: needsApproval; the program keeps the serialized state and the answer, and approves in the state.
import { Agent, RunState, run, tool, Usage } from "@openai/agents";
import { z } from "zod";
import { findResult, load, loadAnswer, save, saveAnswer, send, step, TO } from "../resume-world.mjs";

const parameters = z.object({ to: z.string() });
const mail = tool({ name: "mail", description: "Sends.", parameters, needsApproval: true, execute: async (input) => send(input) });
const agent = new Agent({ name: "Mailer", model: oneCall(), tools: [mail] });
if (step === "start") {
  const { state } = await run(agent, "Go.");
  save(state.toString());
} else if (step === "answer") {
  saveAnswer("approve");
} else {
  const state = await RunState.fromString(agent, load());
  for (const interruption of state.getInterruptions()) {
    if (loadAnswer() === "approve") state.approve(interruption);
    else state.reject(interruption);
  }
  const { finalOutput } = await run(agent, state);
  console.log(finalOutput);
}

// The model, which is not part of the comparison.
function oneCall() {
  const getResponse = async ({ input }) => {
    const result = findResult(Array.isArray(input) ? input.filter(({ type }) => type === "function_call_result") : []);
    const message = { type: "message", role: "assistant", status: "completed", content: [{ type: "output_text", text: result }] };
    const call = { type: "function_call", callId: "c1", name: "mail", arguments: JSON.stringify({ to: TO }), status: "completed" };
    return { usage: new Usage(), output: [result ? message : call] };
  };
  return { getResponse };
}
