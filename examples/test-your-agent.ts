// Test your agent without a model: a script plays the model, a scripted person answers, and you check the record.
import assert from "node:assert/strict";
import { test } from "node:test";
import { createConversation, playScript, readScript } from "@assent/agent";
import { createDispatcher, createRegistry, defineTool, makeChecker, memoryLedger, openSession, staticPolicy } from "@assent/core";
import { type ApprovalScript, countingIds, manualClock, scriptedApprover } from "@assent/core/testing";
import { createHostPorts, currentHolder } from "@assent/host";
import { z } from "zod";

/** Your agent, with everything around the model as in production: its tools, its rules, its prompt. */
async function agent(script: string, answers: ApprovalScript) {
  const refunds: number[] = [];
  const tools = createRegistry();
  const input = z.object({ amount: z.number() });
  const run = ({ amount }: { amount: number }): string => `Refunded ${refunds.push(amount) && amount}.`;
  tools.add(defineTool({ name: "refund", description: "Refunds an amount.", kind: "other", input, run }));
  const { checker } = makeChecker({ label: "shop", scope: "user", deny: ["refund:amount=????*"] });

  const clock = manualClock();
  const ids = countingIds();
  const { digest } = createHostPorts({ stateDirectory: "/unused" });
  const session = await openSession({ ledger: memoryLedger(), clock, ids }, { holder: currentHolder("test"), create: { cwd: "/" } });
  const approver = scriptedApprover(answers);
  const policy = staticPolicy({ checkers: [checker] });
  const dispatcher = createDispatcher({ session, clock, ids, digest, policy, approver });
  const player = playScript(readScript(script, "script.yaml"), clock);
  const conversation = createConversation({
    ...{ session, dispatcher, clock, ids, tools: () => tools, model: () => player.model() },
    ...{ system: () => "You help customers.", steering: () => "force" },
  });
  const end = await conversation.send("I want my money back.", new AbortController().signal);
  assert.equal(end.reason, "done", end.error?.message); // a failed expectation of the script is reported here
  player.assertUsed(); // fails if turns were never played
  return { refunds, asked: approver.shown.map((approval) => approval.callId) };
}

const askFor = (amount: number, outcome: string): string => `
turns:
  - calls: [{ tool: refund, id: c1, input: { amount: ${amount} } }]
  - expect: { result: { call: c1, outcome: ${outcome} } }
    say: That is all I can do.
`;

test("a refund asks, and an approval pays it", async () => {
  const { refunds, asked } = await agent(askFor(20, "succeeded"), { refund: "approve" });
  assert.deepEqual([refunds, asked], [[20], ["c1"]]);
});

test("a rejection reaches the model, and nothing is paid", async () => {
  const { refunds } = await agent(askFor(20, "rejected"), { refund: { outcome: "reject", reason: "out of stock" } });
  assert.deepEqual(refunds, []);
});

test("a large refund is denied without asking", async () => {
  const { refunds, asked } = await agent(askFor(5000, "denied"), { refund: "approve" });
  assert.deepEqual([refunds, asked], [[], []]);
});
