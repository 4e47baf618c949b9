// The bare loop that everybody is compared with: ask the model, parse, validate, run, append. Nothing is recorded, nobody is asked.
import { z } from "zod";
import { argumentsOf, DESCRIPTION, echo, LAST_WORDS, must, plan, PROMPT, SYSTEM, TOOL } from "../world.mjs";

const schema = z.object({ path: z.string(), text: z.string(), limit: z.number().int() });
const tools = new Map([[TOOL, { description: DESCRIPTION, schema, run: async (input) => echo(input) }]]);

async function loop(answer) {
  let turn = 0;
  const model = async () => {
    const calls = answer(turn).map((n) => ({ id: `c${n}`, name: TOOL, arguments: argumentsOf(n) }));
    turn += 1;
    return { text: calls.length > 0 ? "" : LAST_WORDS, calls };
  };
  const messages = [
    { role: "system", content: SYSTEM },
    { role: "user", content: PROMPT },
  ];
  for (;;) {
    const { text, calls } = await model(messages);
    messages.push({ role: "assistant", content: text, calls });
    if (calls.length === 0) {
      must(text === LAST_WORDS, "the run did not end");
      return;
    }
    for (const call of calls) {
      const tool = tools.get(call.name);
      messages.push({ role: "tool", id: call.id, content: await tool.run(tool.schema.parse(JSON.parse(call.arguments))) });
    }
  }
}

export function open() {
  return { turns: (n) => loop(plan({ turns: n })), batch: (n) => loop(plan({ batch: n })) };
}
