// Hooks in your process: a function sees every call before it is decided. It can deny, ask, or change the input.
import { createGate } from "@assent/gate";
import { z } from "zod";

const gate = await createGate({
  rules: { allow: ["transfer"] },
  hooks: {
    pre_tool_use: ({ tool_input: input }) => {
      const { amount } = z.object({ amount: z.number() }).parse(input);
      if (amount > 1000) return { decision: "deny", reason: "Transfers are limited to 1000." };
      return { hookSpecificOutput: { hookEventName: "PreToolUse", updatedInput: { amount: Math.round(amount) } } };
    },
  },
});
const input = z.object({ amount: z.number() });
gate.functions({
  transfer: { description: "Transfers money.", input, run: ({ amount }: { amount: number }) => ({ transferred: amount }) },
});

const { calls } = await gate.run([9.6, 5000].map((amount) => ({ id: String(amount), name: "transfer", arguments: { amount } })));
for (const { id, outcome, value, content } of calls) console.log(`${id}: ${outcome}, ${JSON.stringify(value ?? content)}`);
await gate.close();
