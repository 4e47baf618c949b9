// Keep your own loop: declare a tool, get a dispatcher, hand it what the model proposed.
import { createDispatcher, createRegistry, defineTool, makeChecker, memoryLedger, openSession, staticPolicy } from "@assent/core";
import { createHostPorts, currentHolder } from "@assent/host";
import { z } from "zod";

const outbox: string[] = [];
const send = defineTool({
  name: "send_mail",
  description: "Sends one mail.",
  kind: "other",
  input: z.object({ to: z.string(), text: z.string() }),
  run: ({ to, text }) => {
    outbox.push(`${to}: ${text}`);
    return `Sent to ${to}.`;
  },
});

// Rules are data. A deny holds in every mode; what nobody allows, asks.
const { checker } = makeChecker({
  label: "user permissions",
  scope: "user",
  allow: ["send_mail:to=*@example.test"],
  deny: ["send_mail:to=ceo@*"],
});
const policy = staticPolicy({ checkers: [checker] });

const { clock, ids, digest } = createHostPorts({ stateDirectory: "/unused" });
const session = await openSession({ ledger: memoryLedger(), clock, ids }, { holder: currentHolder("example"), create: { cwd: "/" } });
const dispatcher = createDispatcher({ session, clock, ids, digest, policy });
const tools = createRegistry();
tools.add(send);

// One turn of a model: three calls, judged at once, answered in call order.
const { results } = await dispatcher.process({
  calls: [
    { id: "c1", name: "send_mail", arguments: '{"to":"ann@example.test","text":"Hi"}' },
    { id: "c2", name: "send_mail", arguments: '{"to":"ceo@example.test","text":"Hi"}' },
    { id: "c3", name: "send_mial", arguments: "{}" },
  ],
  tools,
  signal: new AbortController().signal,
});

for (const call of results) {
  if (call.outcome !== "waiting") console.log(`${call.callId} ${call.outcome} ${call.type ?? "-"}: ${call.result.content}`);
}
console.log(`sent: ${outbox.length}`);
