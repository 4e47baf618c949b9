// A complete agent loop: call the model, pass its tool calls to the gate, append the results, repeat until it makes no more calls.
import { contentText } from "@assent/core";
import { createGate } from "@assent/gate";
import { z } from "zod";

// Your functions, with a schema of their input.
const stock = new Map([["apples", 3]]);
const item = z.object({ item: z.string() });
const items = z.object({ item: z.string(), amount: z.number() });
const functions = {
  count: { description: "Counts an item.", input: item, run: ({ item }: { item: string }) => ({ item, left: stock.get(item) ?? 0 }) },
  order: {
    description: "Orders an item.",
    input: items,
    run: ({ item, amount }: { item: string; amount: number }) => `Ordered ${amount} ${item}.`,
  },
};

// Your model. This one returns fixed answers, so the example needs no API key.
type Call = { readonly id: string; readonly name: string; readonly arguments: string };
type Message = { readonly role: "user" | "assistant" | "tool"; readonly text: string; readonly calls?: readonly Call[] };
const answers: readonly Message[] = [
  { role: "assistant", text: "Let me check the stock.", calls: [{ id: "c1", name: "count", arguments: '{"item":"apples"}' }] },
  { role: "assistant", text: "Too few.", calls: [{ id: "c2", name: "order", arguments: '{"item":"apples","amount":5}' }] },
  { role: "assistant", text: "Now for the winter.", calls: [{ id: "c3", name: "order", arguments: '{"item":"apples","amount":500}' }] },
  { role: "assistant", text: "I ordered five. Ordering five hundred was rejected." },
];
const askModel = (history: readonly Message[]): Message | undefined => answers[history.filter(({ role }) => role === "assistant").length];

const gate = await createGate({
  rules: { allow: ["order:amount=?"] },
  approve: async ({ title, input }) => {
    console.log(`Ann is asked: ${title} ${JSON.stringify(input)}`); // a real program would show a dialog
    return { reject: "not in November" };
  },
});
gate.functions(functions, { count: { kind: "read" } });

const history: Message[] = [{ role: "user", text: "Are there enough apples?" }];
for (let turn = 0; turn < 20; turn += 1) {
  const answer = askModel(history);
  if (answer === undefined) break;
  history.push(answer);
  if (!answer.calls) break;
  const { calls, stop } = await gate.run(answer.calls);
  for (const call of calls) history.push({ role: "tool", text: `${call.id} ${call.outcome}: ${contentText(call.content)}` });
  if (stop) break;
}
for (const { role, text } of history) console.log(`${role}: ${text}`);
await gate.close();
