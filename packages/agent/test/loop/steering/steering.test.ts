import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { defineTool, type Tool } from "@assent/core";
import { createHostFileChanges } from "@assent/host";
import { resolveTool } from "@assent/tools";
import { z } from "zod";
import type { SteeringMode } from "../../../src/index.ts";
import { type Rehearsal, rehearse } from "../../rehearsal.ts";

/** Stages an action of this label; applying it says so. */
const stage: Tool = defineTool({
  name: "stage",
  description: "Stages something.",
  kind: "other",
  input: z.object({ label: z.string() }),
  run: ({ label }, ctx) => {
    ctx.pushPendingAction({ label, sourceToolName: "stage", apply: () => `Did ${label}.` });
    return `Staged ${label}.`;
  },
});

function steered(script: string, mode: SteeringMode = "force"): Promise<Rehearsal> {
  return rehearse(script, { tools: [stage, resolveTool()], deps: { changes: createHostFileChanges() }, talk: { steering: () => mode } });
}

const STAGE = "{ calls: [{ tool: stage, input: { label: L } }] }";
const APPLY = "calls: [{ tool: resolve, id: r, input: { action: apply, reason: fine } }]";
const FORCED = "expect: { toolChoice: resolve, reminders: [{ contains: Call the `resolve` tool }] }";
const FREE = "expect: { toolChoice: null, reminders: [] }";
const REMINDED = "expect: { toolChoice: null, reminders: [{ contains: Call the `resolve` tool }] }";
const APPLIED = "{ expect: { toolChoice: null, result: { call: r, outcome: succeeded, type: applied, contains: Did L. } }, say: done }";

describe("steering a model to what is pending", () => {
  const CASES: readonly [sentence: string, script: string, mode?: SteeringMode][] = [
    ["the request after staging names resolve and reminds once", `turns: [${STAGE}, { ${FORCED}, ${APPLY} }, ${APPLIED}]`],
    [
      "text three times is asked three times, then the person has it and the run ends",
      `turns: [${STAGE}, { ${FORCED}, say: a }, { ${FORCED}, say: b }, { ${FORCED}, say: c }, { expect: { toolChoice: null, notices: [{ contains: [parked for the person as p_, Continue without it.] }] }, say: d }]`,
    ],
    [
      "remind-then-force only reminds a model that heeds it",
      `turns: [${STAGE}, { ${REMINDED}, ${APPLY} }, ${APPLIED}]`,
      "remind-then-force",
    ],
    [
      "remind-then-force forces one that does not, and does not repeat itself",
      `turns: [${STAGE}, { ${REMINDED}, say: a }, { expect: { toolChoice: resolve, reminders: [] }, ${APPLY} }, ${APPLIED}]`,
      "remind-then-force",
    ],
    ["remind never forces", `turns: [${STAGE}, { ${REMINDED}, say: a }, { ${REMINDED}, ${APPLY} }, ${APPLIED}]`, "remind"],
    [
      "a reminder that is not heeded three times leaves it to the person, too",
      `turns: [${STAGE}, { ${REMINDED}, say: a }, { ${REMINDED}, say: b }, { ${REMINDED}, say: c }, { expect: { toolChoice: null, notices: [{ contains: parked for the person as p_ }] }, say: d }]`,
      "remind",
    ],
    ["none says nothing, and a text ends the run", `turns: [${STAGE}, { ${FREE}, say: a }]`, "none"],
    [
      "a provider that refuses a forced choice is asked the same again without it",
      `turns: [${STAGE}, { ${FORCED}, error: { status: 400, message: tool_choice is not supported } }, { expect: { toolChoice: resolve, tools: { has: [resolve], hasNot: [stage] } }, error: { status: 400, message: tool_choice is not supported } }, { expect: { toolChoice: null, tools: { has: [resolve, stage] } }, ${APPLY} }, ${APPLIED}]`,
    ],
    [
      "what was learnt holds for the next staging",
      `turns: [${STAGE}, { error: { status: 400, message: forced } }, { error: { status: 422, message: toolChoice } }, { expect: { toolChoice: null }, ${APPLY} }, ${STAGE}, { ${REMINDED}, ${APPLY} }, ${APPLIED}]`,
    ],
    ["a model that cannot be forced is reminded", `capability: auto\nturns: [${STAGE}, { ${REMINDED}, ${APPLY} }, ${APPLIED}]`],
    [
      "a model that takes only one tool is offered only that",
      `capability: required\nturns: [${STAGE}, { expect: { toolChoice: resolve, tools: { hasNot: [stage] } }, ${APPLY} }, ${APPLIED}]`,
    ],
    ["another failure is a failure of the run", `turns: [${STAGE}, { error: { status: 500, message: tool_choice } }]`],
    [
      "other calls of a steered turn run normally, and do not settle it",
      `turns: [${STAGE}, { ${FORCED}, calls: [{ tool: echo, id: e, input: { text: hi } }] }, { expect: { toolChoice: resolve, result: { call: e, contains: hi } }, ${APPLY} }, ${APPLIED}]`,
    ],
  ];
  for (const [sentence, script, mode] of CASES) {
    test(sentence, async () => {
      const { send, player } = await steered(script, mode);
      const end = await send("go");
      if (sentence.startsWith("another failure")) assert.equal(end.error?.type, "provider_error");
      else assert.equal(end.error, undefined, end.error?.message);
      player.assertUsed();
    });
  }

  test("the count and the parking are on record, once", async () => {
    const { send, events, session } = await steered(`turns: [${STAGE}, { say: a }, { say: b }, { say: c }, { say: d }]`);
    await send("go");
    assert.equal((await events("proposal.unheeded")).length, 3);
    assert.deepEqual(
      (await events("proposal.parked")).map(({ body }) => body.why),
      ["unheeded"],
    );
    assert.equal([...session.state.proposals.values()][0]?.parked, true);
  });

  test("an aborted forced turn is not counted, and the force comes back", async () => {
    const stop = new AbortController();
    const { conversation, events, player } = await steered(
      `turns: [${STAGE}, { delayMs: 1000, say: late }, { ${FORCED}, ${APPLY} }, ${APPLIED}]`,
    );
    const cut = conversation.send("go", stop.signal);
    while ((await events("turn.started")).length < 2) await new Promise((resolve) => setImmediate(resolve));
    stop.abort();
    assert.equal((await cut).reason, "cancelled");
    assert.equal((await events("proposal.unheeded")).length, 0);
    const end = await conversation.send("go on", new AbortController().signal);
    assert.equal(end.error, undefined, end.error?.message);
    player.assertUsed();
  });

  test("several are settled newest first, and the reminder names them", async () => {
    const two = "{ calls: [{ tool: stage, input: { label: one } }, { tool: stage, input: { label: two <b> } }] }";
    const named = "expect: { toolChoice: resolve, reminders: [{ contains: ['Pending, newest first:', 'two &lt;b&gt;'] }] }";
    const { send, player } = await steered(
      `turns: [${two}, { ${named}, ${APPLY} }, { expect: { toolChoice: resolve, result: { call: r, contains: Did two <b>. } }, calls: [{ tool: resolve, id: s, input: { action: discard, reason: no } }] }, { expect: { toolChoice: null, result: { call: s, contains: 'Discarded: one. Reason: no.' } }, say: done }]`,
    );
    const end = await send("go");
    assert.equal(end.error, undefined, end.error?.message);
    player.assertUsed();
  });

  test("a person's own directive goes first and is not held against the model", async () => {
    const { send, conversation, events } = await steered(
      `turns: [${STAGE}, { expect: { toolChoice: null }, say: a }, { expect: { toolChoice: echo, reminders: [] }, calls: [{ tool: echo, input: { text: x } }] }, { expect: { toolChoice: none }, say: b }, { ${FORCED}, ${APPLY} }, { say: done }]`,
      "none",
    );
    await send("go");
    conversation.steering.force("echo");
    await send("again");
    assert.equal((await events("proposal.unheeded")).length, 0);
  });
});
