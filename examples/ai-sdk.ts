// The AI SDK with its own loop and its own tools: Assent decides about, runs and records every call.
import { playScript, readScript } from "@assent/agent";
import { createGate } from "@assent/gate";
import { createSystemClock } from "@assent/host";
import { generateText, isStepCount, tool } from "ai";
import { z } from "zod";

// Your tools, unchanged.
const city = z.object({ city: z.string() });
const tools = {
  weather: tool({ description: "Tells the weather.", inputSchema: city, execute: async () => ({ sky: "sun", degrees: 22 }) }),
  book: tool({ description: "Books a trip.", inputSchema: city, execute: async ({ city }) => ({ booked: city }) }),
};

// Use a real model here. This one plays a script, so the example needs no API key.
const script = `
turns:
  - calls: [{ tool: weather, input: { city: Rome } }, { tool: book, input: { city: Atlantis } }]
  - calls: [{ tool: book, input: { city: Rome } }]
  - say: Rome it is.
`;
const model = playScript(readScript(script, "script.yaml"), createSystemClock()).model();

const gate = await createGate({
  rules: { deny: ["book:city=Atlantis"] },
  approve: async ({ title, input }) => {
    console.log(`Ann is asked: ${title} ${JSON.stringify(input)}`); // a real program would show a dialog
    return "approve";
  },
});
const { text, steps } = await generateText({
  model,
  prompt: "Book me a trip to somewhere sunny.",
  tools: gate.aiSdk(tools, { weather: { kind: "read" } }),
  stopWhen: isStepCount(10),
});
for (const part of steps.flatMap(({ content }) => content)) {
  if (part.type === "tool-result" && !part.dynamic && part.toolName === "weather") console.log(`weather: ${part.output.degrees} degrees`);
  if (part.type === "tool-error") console.log(`${part.toolName}: ${String(part.error)}`);
}
console.log(text);
await gate.close();
