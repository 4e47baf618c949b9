// Ask people in your own way: an approver shows an open approval to a person and returns the answer.
import { type Approver, createDispatcher, createRegistry, defineTool, memoryLedger, openSession, staticPolicy } from "@assent/core";
import { createHostPorts, currentHolder } from "@assent/host";
import { z } from "zod";

const deploy = defineTool({
  name: "deploy",
  description: "Deploys one service.",
  kind: "execute",
  input: z.object({ service: z.string() }),
  confirm: ({ service }) => ({ type: "info", prompt: `Deploy ${service} to production?` }),
  run: ({ service }) => `Deployed ${service}.`,
});

// A real approver would post a chat message here. This one simulates a person who never deploys the database.
const chat: Approver = {
  available: () => true,
  ask: async (approval) => {
    console.log(`${approval.title}: ${approval.details.type === "info" ? approval.details.prompt : ""}`);
    const by = { kind: "person", user: "ann", name: "Ann", door: "chat", pid: process.pid } as const;
    return approval.input["service"] === "database"
      ? { approval: approval.id, outcome: "reject", reason: "not on a Friday", by }
      : { approval: approval.id, outcome: "approve", by };
  },
};

const policy = staticPolicy();
const { clock, ids, digest } = createHostPorts({ stateDirectory: "/unused" });
const session = await openSession({ ledger: memoryLedger(), clock, ids }, { holder: currentHolder("example"), create: { cwd: "/" } });
const dispatcher = createDispatcher({ session, clock, ids, digest, policy, approver: chat });
const tools = createRegistry();
tools.add(deploy);

const { results } = await dispatcher.process({
  calls: [
    { id: "c1", name: "deploy", arguments: { service: "web" } },
    { id: "c2", name: "deploy", arguments: { service: "database" } },
  ],
  tools,
  signal: new AbortController().signal,
});
for (const call of results) {
  if (call.outcome !== "waiting") console.log(`${call.callId} ${call.outcome}: ${call.result.content}`);
}
