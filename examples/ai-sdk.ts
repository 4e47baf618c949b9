// Keep the loop of the AI SDK: Assent decides about, runs and records every tool call of `streamText`.
import { playScript, readScript } from "@assent/agent";
import {
  type Approver,
  createDispatcher,
  createRegistry,
  defineTool,
  makeChecker,
  memoryLedger,
  openSession,
  staticPolicy,
} from "@assent/core";
import { aiTools, findRunStop, isRunStopped } from "@assent/gate";
import { createHostPorts, currentHolder } from "@assent/host";
import { isStepCount, streamText } from "ai";
import { z } from "zod";

const input = z.object({ city: z.string() });
const tools = createRegistry();
tools.add(defineTool({ name: "weather", description: "Tells the weather.", kind: "read", input, run: ({ city }) => `Sun in ${city}.` }));
tools.add(defineTool({ name: "book_trip", description: "Books a trip.", kind: "other", input, run: ({ city }) => `Booked ${city}.` }));

// Use a real model here. This one plays a script, so the example needs no API key.
const script = `
turns:
  - calls:
      - { tool: weather, input: { city: Oslo } }
      - { tool: weather, input: { city: Rome } }
      - { tool: book_trip, input: { city: Atlantis } }
  - calls:
      - { tool: book_trip, input: { city: Rome } }
  - say: Rome it is.
`;
const { clock, ids, digest } = createHostPorts({ stateDirectory: "/unused" });
const model = playScript(readScript(script, "script.yaml"), clock).model();

const { checker } = makeChecker({ label: "user permissions", scope: "user", deny: ["book_trip:city=Atlantis"] });
const ann = { kind: "person", user: "ann", name: "Ann", door: "example", pid: process.pid } as const;
const approver: Approver = {
  available: () => true,
  ask: async ({ id, title, input: asked }) => {
    console.log(`Ann is asked: ${title} ${JSON.stringify(asked)}`);
    return { approval: id, outcome: "approve", by: ann };
  },
};
const session = await openSession({ ledger: memoryLedger(), clock, ids }, { holder: currentHolder("example"), create: { cwd: "/" } });
const dispatcher = createDispatcher({ session, clock, ids, digest, policy: staticPolicy({ checkers: [checker] }), approver });

const result = streamText({
  model,
  tools: aiTools({ session, dispatcher, tools }),
  stopWhen: [isStepCount(10), isRunStopped],
  prompt: "Book me a trip to somewhere sunny.",
});
for await (const part of result.stream) {
  if (part.type === "tool-result" && !part.dynamic) console.log(`${part.toolName} ${part.output.outcome}: ${part.output.content}`);
  if (part.type === "text-delta") process.stdout.write(part.text);
}
console.log(`\ncan continue: ${findRunStop(await result.steps) === undefined}`);
