import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { defineTool, type Tool } from "@assent/core";
import { askTool, resolveTool } from "@assent/tools";
import { z } from "zod";
import { systemPrompt } from "../../../src/index.ts";
import { planPrompt } from "../../../src/prompts/prompts.ts";
import { type Rehearsal, rehearse } from "../../rehearsal.ts";

type Planned = Rehearsal & { readonly leave: () => Promise<void> };

/** A session in plan mode, whose plan is what the tool `plan` wrote last. */
async function planning(script: string, onAsk?: "deny" | "fail"): Promise<Planned> {
  let text: string | undefined;
  const plan: Tool = defineTool({
    name: "plan",
    description: "Writes the plan.",
    kind: "think",
    input: z.object({ text: z.string() }),
    run: (input) => {
      text = input.text;
      return "written";
    },
  });
  const leave: Tool = defineTool({
    name: "leave",
    description: "A person turns plan mode off.",
    kind: "think",
    input: z.object({}),
    run: async () => {
      await off();
      return "left";
    },
  });
  const made = await rehearse(script, {
    tools: [plan, leave, resolveTool(), askTool()],
    ...(onAsk && { deps: { onAsk } }),
    talk: { plan: async () => text, ...(onAsk && { onAsk }) },
  });
  const { session } = made;
  const off = async (): Promise<void> => {
    await session.record([session.draft("mode.changed", { from: "plan", to: "default", by: "Tester" })], "normal");
  };
  const file = "/w/.assent/plans/<s>.md";
  const body = { from: "default", to: "plan", by: "Tester", planning: { remembered: "default", file } };
  await session.record([session.draft("mode.changed", body)], "normal");
  return { ...made, leave: off };
}

const WRITE = "{ calls: [{ tool: plan, input: { text: '# P' } }] }";
const AGAIN = "{ calls: [{ tool: plan, input: { text: '# Q' } }] }";
const RESOLVE = "{ calls: [{ tool: resolve, input: { action: apply, reason: ready } }] }";
const ASK = "{ calls: [{ tool: ask, input: { questions: [{ id: q, question: 'Which?', options: [{ label: a }, { label: b }] }] } }] }";
const NUDGED = "toolChoice: null, reminders: [{ contains: The plan is not proposed yet. Call the resolve tool to propose it }]";
const FORCED = "toolChoice: required, reminders: [{ contains: The plan is not proposed yet. }]";
const LEFT = "toolChoice: null, reminders: [{ contains: Plan mode is off. The mode is now default. }]";
const QUIET = "toolChoice: null, reminders: []";

const CASES: readonly [sentence: string, script: string, text: string][] = [
  [
    "a plan that nobody was asked about is asked for twice, the second time with force, then the person has it",
    `turns: [${WRITE}, { say: a }, { expect: { ${NUDGED} }, say: b }, { expect: { ${FORCED} }, say: c }]`,
    "c",
  ],
  [
    "a model that cannot be forced is reminded twice",
    `capability: auto\nturns: [${WRITE}, { say: a }, { expect: { ${NUDGED} }, say: b }, { expect: { ${NUDGED} }, say: c }]`,
    "c",
  ],
  [
    "one that proposes it after the reminder is left alone",
    `turns: [${WRITE}, { say: a }, { expect: { ${NUDGED} }, calls: [{ tool: resolve, input: { action: apply, reason: x } }] }, { expect: { ${QUIET} }, say: done }]`,
    "done",
  ],
  ["a plan that was proposed may end in words", `turns: [${WRITE}, ${RESOLVE}, { expect: { ${QUIET} }, say: done }]`, "done"],
  ["so may one about which the person was asked", `turns: [${WRITE}, ${ASK}, { expect: { ${QUIET} }, say: done }]`, "done"],
  [
    "a plan that changed since it was proposed is asked for again",
    `turns: [${WRITE}, ${RESOLVE}, ${AGAIN}, { say: a }, { expect: { ${NUDGED} }, say: b }, { expect: { ${FORCED} }, say: c }]`,
    "c",
  ],
  ["without a plan a text ends the run", "turns: [{ say: hello }]", "hello"],
  ["a blank plan is none", "turns: [{ calls: [{ tool: plan, input: { text: ' ' } }] }, { say: hello }]", "hello"],
  [
    "once a person has turned the mode off the model is told so, and nothing is asked for",
    `turns: [${WRITE}, { calls: [{ tool: leave, input: {} }] }, { expect: { ${LEFT} }, say: done }]`,
    "done",
  ],
];

describe("plan-mode 6: convergence", () => {
  for (const [sentence, script, text] of CASES) {
    test(sentence, async () => {
      const { send, player } = await planning(script);
      const end = await send("plan it");
      assert.equal(end.error, undefined, end.error?.message);
      assert.deepEqual([end.reason, end.text], ["done", text]);
      player.assertUsed();
    });
  }

  test("the count is one prompt's, and the force does not outlive it", async () => {
    const { send, player } = await planning(
      `turns: [${WRITE}, { say: a }, { say: b }, { say: c }, { expect: { toolChoice: null }, say: d }, { expect: { ${NUDGED} }, say: e }, { expect: { ${FORCED} }, say: f }]`,
    );
    await send("plan it");
    const end = await send("go on");
    assert.deepEqual([end.error, end.text], [undefined, "f"]);
    player.assertUsed();
  });

  test("a force that is not served goes with the prompt: leaving the mode takes it back", async () => {
    const { send, leave, player } = await planning(
      `turns: [${WRITE}, { say: a }, { say: b }, { error: { status: 500, message: down } }, { expect: { toolChoice: null }, say: done }]`,
    );
    assert.equal((await send("plan it")).error?.type, "provider_error");
    await leave();
    assert.equal((await send("go on")).text, "done");
    player.assertUsed();
  });

  test("a provider that refuses to be forced is asked again without", async () => {
    const { send, player } = await planning(
      `turns: [${WRITE}, { say: a }, { say: b }, { expect: { toolChoice: required }, error: { status: 400, message: tool_choice } }, { expect: { toolChoice: required }, error: { status: 400, message: tool_choice } }, { expect: { toolChoice: null }, say: c }]`,
    );
    const end = await send("plan it");
    assert.deepEqual([end.error, end.text], [undefined, "c"]);
    player.assertUsed();
  });

  test("the reminders are on record as the runtime's own words", async () => {
    const { send, events } = await planning(`turns: [${WRITE}, { say: a }, { say: b }, { say: c }]`);
    await send("plan it");
    const said = (await events("message.user")).filter(({ body }) => body.origin === "steering").map(({ body }) => String(body.content));
    assert.equal(said.filter((text) => text.includes("The plan is not proposed yet.")).length, 2);
  });
});

describe("reminders about plan mode", () => {
  test("where the mode was entered in the middle, the next turn says so once and names the file", async () => {
    const { send, player } = await planning(
      "turns: [{ expect: { reminders: [{ contains: [Plan mode is on., '/w/.assent/plans/&lt;s&gt;.md'] }] }, say: a }, { expect: { reminders: [] }, say: b }]",
    );
    assert.equal((await send("plan it")).error, undefined);
    assert.equal((await send("go on")).error, undefined);
    player.assertUsed();
  });

  test("a conversation that begins in it has it in its system prompt, every slot filled", () => {
    const prompt = systemPrompt({ cwd: "/w/$&", planFile: "/w/.assent/plans/$&.md" });
    assert.ok(prompt.includes("/w/.assent/plans/$&.md") && prompt.includes("/w/$&"), prompt);
    assert.doesNotMatch(prompt, /\{\{/);
    assert.ok(!systemPrompt({ cwd: "/w" }).includes("Plan mode"));
    assert.match(planPrompt("FILE"), /the plan: FILE\./);
  });
});

describe("a plan that no person can approve", () => {
  const asksForYes: Tool = defineTool({ name: "edit", description: "Edits.", kind: "edit", input: z.object({}), run: () => "edited" });
  for (const [onAsk, reason, error] of [
    ["deny", "done", undefined],
    ["fail", "failed", "denied_unattended"],
  ] as const) {
    test(`an ask of a tool, with ${onAsk}`, async () => {
      const script =
        onAsk === "deny"
          ? "turns: [{ calls: [{ tool: edit, input: {} }] }, { say: done }]"
          : "turns: [{ calls: [{ tool: edit, input: {} }] }]";
      const { send, player } = await rehearse(script, {
        tools: [asksForYes],
        policy: { mode: "default" },
        deps: { onAsk },
        talk: { onAsk },
      });
      const end = await send("go");
      assert.deepEqual([end.reason, end.error?.type], [reason, error]);
      player.assertUsed();
    });
  }
});
