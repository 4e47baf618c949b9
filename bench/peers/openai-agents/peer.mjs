// `@openai/agents`: run() with a Model of its own interface. State between runs is RunState, a string.
import { Agent, Runner, RunState, setTracingDisabled, tool, Usage } from "@openai/agents";
import { z } from "zod";
import { argumentsOf, DESCRIPTION, echo, LAST_WORDS, must, plan, PROMPT, SYSTEM, TOOL } from "../world.mjs";

setTracingDisabled(true); // it would send traces away
const parameters = z.object({ path: z.string(), text: z.string(), limit: z.number().int() });
const echoTool = (needsApproval) => tool({ name: TOOL, description: DESCRIPTION, parameters, needsApproval, execute: async (input) => echo(input) });
const plain = [echoTool(false)];
const asking = [echoTool(true)];
const runner = new Runner({ tracingDisabled: true });

function modelOf(answer, start = 0) {
  let turn = start;
  return {
    getResponse: async () => {
      const calls = answer(turn).map((n) => ({ type: "function_call", callId: `c${n}`, name: TOOL, arguments: argumentsOf(n), status: "completed" }));
      turn += 1;
      const said = { type: "message", role: "assistant", status: "completed", content: [{ type: "output_text", text: LAST_WORDS }] };
      return { usage: new Usage(), output: calls.length > 0 ? calls : [said] };
    },
    getStreamedResponse: () => {
      throw new Error("not streamed here");
    },
  };
}

const agentOf = (answer, { tools, start }) => new Agent({ name: "bench", instructions: SYSTEM, model: modelOf(answer, start), tools });
const options = { maxTurns: 10_000 };

/** Runs to the end; what is asked on the way is approved. */
async function finish(agent, input) {
  let result = await runner.run(agent, input, options);
  while (result.interruptions.length > 0) {
    for (const interruption of result.interruptions) result.state.approve(interruption);
    result = await runner.run(agent, result.state, options);
  }
  must(result.finalOutput === LAST_WORDS, "the run did not end");
}

const one = plan({ turns: 1 });

/** The text that is kept: a run that was interrupted, with the yes in it. */
async function approvedText() {
  const { state, interruptions } = await runner.run(agentOf(one, { tools: asking, start: 0 }), PROMPT, options);
  must(interruptions.length === 1, "nobody was asked");
  const waiting = await RunState.fromString(agentOf(one, { tools: asking, start: 1 }), state.toString());
  for (const interruption of waiting.getInterruptions()) waiting.approve(interruption);
  return waiting.toString();
}

async function resume(text) {
  const agent = agentOf(one, { tools: asking, start: 1 });
  await finish(agent, await RunState.fromString(agent, text));
}

export function open() {
  return {
    turns: (n) => finish(agentOf(plan({ turns: n }), { tools: plain, start: 0 }), PROMPT),
    batch: (n) => finish(agentOf(plan({ batch: n }), { tools: plain, start: 0 }), PROMPT),
    approval: (n) => finish(agentOf(plan({ turns: n }), { tools: asking, start: 0 }), PROMPT),
    cycle: async () => resume(await approvedText()),
    approved: async () => {
      const text = await approvedText();
      return { resume: () => resume(text) };
    },
  };
}
