import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { Agent, type Model, type ModelRequest, type ModelResponse, RunState, run, tool, Usage } from "@openai/agents";
import { z } from "zod";
import { GateUsageError } from "../../src/index.ts";
import { newStore, withGate } from "../gate-scene.ts";

/** A model of `@openai/agents` that makes one call and then reports what it got. */
function oneCall(input: object): Model {
  return {
    getResponse: async ({ input: items }: ModelRequest): Promise<ModelResponse> => {
      const result = Array.isArray(items) ? items.findLast((item) => item.type === "function_call_result") : undefined;
      const text = result?.type === "function_call_result" ? JSON.stringify(result.output) : "";
      const output: ModelResponse["output"] = result
        ? [{ type: "message", role: "assistant", status: "completed", content: [{ type: "output_text", text }] }]
        : [{ type: "function_call", callId: "call_1", name: "mail", arguments: JSON.stringify(input), status: "completed" }];
      return { usage: new Usage(), output };
    },
    getStreamedResponse: () => {
      throw new Error("not used");
    },
  };
}

function mailTool(needsApproval = false) {
  const sent: string[] = [];
  const mail = tool({
    name: "mail",
    description: "Sends a mail.",
    parameters: z.object({ to: z.string() }),
    needsApproval,
    execute: async ({ to }) => {
      sent.push(to);
      return `sent to ${to}`;
    },
  });
  return { mail, sent };
}

describe("gate.agents", () => {
  for (const [sentence, to, said, effects] of [
    ["an allowed call runs", "a@example.test", /sent to a@example\.test/, 1],
    ["a call that no one can approve is refused, and the model is told", "b", /requires approval/, 0],
  ] as const)
    test(sentence, async () => {
      const { mail, sent } = mailTool();
      await withGate({ rules: { allow: ["mail:to=*@example.test"] } }, async (gate) => {
        const agent = new Agent({ name: "Mailer", model: oneCall({ to }), tools: gate.agents([mail]) });
        const { finalOutput } = await run(agent, "Go.");
        assert.match(String(finalOutput), said);
      });
      assert.equal(sent.length, effects);
    });

  test("needsApproval of a tool makes the gate ask", async () => {
    const { mail, sent } = mailTool(true);
    const asked: string[] = [];
    const approve = async ({ tool: name }: { tool: string }) => {
      asked.push(name);
      return "approve" as const;
    };
    await withGate({ approve }, async (gate) => {
      const agent = new Agent({ name: "Mailer", model: oneCall({ to: "b" }), tools: gate.agents([mail], { mail: { kind: "read" } }) });
      assert.match(String((await run(agent, "Go.")).finalOutput), /sent to b/);
    });
    assert.deepEqual([asked, sent], [["mail"], ["b"]]);
  });

  test("a parked call interrupts the run; its state, restored twice after an answer, has one effect", async () => {
    const store = newStore();
    const { mail, sent } = mailTool();
    const agentIn = (tools: (typeof mail)[]) => new Agent({ name: "Mailer", model: oneCall({ to: "b" }), tools });
    const { session, state } = await withGate({ store, approve: "park" }, async (gate) => {
      const result = await run(agentIn(gate.agents([mail])), "Go.");
      assert.equal(result.interruptions.length, 1);
      return { session: gate.session, state: result.state.toString() };
    });
    await withGate({ store }, async (gate) => {
      for (const { id } of await gate.approvals()) await gate.answer(id, "approve");
    });
    for (let time = 0; time < 2; time += 1)
      await withGate({ store, session, approve: "park" }, async (gate) => {
        const agent = agentIn(gate.agents([mail]));
        const restored = await RunState.fromString(agent, state);
        for (const interruption of restored.getInterruptions()) restored.approve(interruption);
        assert.match(String((await run(agent, restored)).finalOutput), /sent to b/);
      });
    assert.deepEqual(sent, ["b"]);
  });

  test("an id that a model uses again in a later run is another call", async () => {
    const store = newStore();
    const { mail, sent } = mailTool();
    await withGate({ store, approve: "park", rules: { allow: ["mail:to=*@example.test"], deny: ["mail:to=eve"] } }, async (gate) => {
      const tools = gate.agents([mail]);
      for (const [to, said] of [
        ["a@example.test", /sent to a@example/],
        ["b@example.test", /sent to b@example/],
        ["eve", /denied/],
      ] as const)
        assert.match(String((await run(new Agent({ name: "Mailer", model: oneCall({ to }), tools }), "Go.")).finalOutput), said);
    });
    assert.deepEqual(sent, ["a@example.test", "b@example.test"]);
  });

  test("an approval in the SDK's state alone runs nothing", async () => {
    const store = newStore();
    const { mail, sent } = mailTool();
    await withGate({ store, approve: "park" }, async (gate) => {
      const agent = new Agent({ name: "Mailer", model: oneCall({ to: "b" }), tools: gate.agents([mail]) });
      const result = await run(agent, "Go.");
      for (const interruption of result.interruptions) result.state.approve(interruption);
      assert.match(String((await run(agent, result.state)).finalOutput), /waits for a person/);
    });
    assert.deepEqual(sent, []);
  });

  test("a hosted tool is a clear error", async () => {
    await withGate({}, async (gate) => {
      assert.throws(() => gate.agents([{ type: "hosted_tool", name: "web_search" }]), GateUsageError);
    });
  });
});
