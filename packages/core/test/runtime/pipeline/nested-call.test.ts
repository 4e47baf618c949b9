import assert from "node:assert/strict";
import { test } from "node:test";
import { GateError, type RunContext, type Tool } from "@assent/core";
import { scriptedApprover } from "@assent/core/testing";
import { type Bench, bench, call, only, outcomes, rest, says, scriptedHooks, textOf, textTool, until } from "../harness.ts";

type Nested = { readonly name: string; readonly arguments: unknown };

/** A tool whose body puts calls through the gate and says what came of each. */
function nesting(calls: readonly Nested[]): Tool {
  return textTool("outer", "other", {
    permission: () => "allow",
    run: async (_input, { gate }) => {
      const said: string[] = [];
      for (const nested of calls) {
        try {
          said.push(String((await gate(nested)).content));
        } catch (error) {
          said.push(error instanceof GateError ? `refused ${error.type}: ${error.message}` : `threw ${error}`);
        }
      }
      return said.join("; ");
    },
  });
}

const inner = (text: string, name = "edit"): Nested => ({ name, arguments: { text } });

test("a nested call has its own id, decision and record, and no message to the model", async (t) => {
  const b = await bench(t, { policy: { mode: "yolo" }, tools: [nesting([inner("x"), inner("y")])] });
  const report = await b.process([call("outer", "o", "c1")]);
  assert.equal(textOf(only(report)), "wrote x; wrote y");
  assert.deepEqual(b.log(), [
    "toolCall c1",
    "toolCall c1/1",
    "response c1/1",
    "toolCall c1/2",
    "response c1/2",
    "response c1",
    "messageAdded c1",
  ]);
  assert.deepEqual(
    (await b.stored("call.ended")).map(({ body }) => [body.call, body.outcome]),
    [
      ["c1/1", "succeeded"],
      ["c1/2", "succeeded"],
      ["c1", "succeeded"],
    ],
  );
  assert.deepEqual(
    b.notices.map(({ callId }) => callId),
    ["c1", "c1/1", "c1/2"],
  );
  assert.deepEqual(b.world.lines, ["x", "y"]);
});

type Refusal = readonly [name: string, nested: Nested, said: RegExp];

const refusals: readonly Refusal[] = [
  ["a rule's deny", inner("bad"), /^refused denied_by_rule: Tool 'edit' is denied by permissions configuration\.$/],
  ["nobody to ask", inner("ask"), /^refused denied_unattended: /],
  ["an unknown tool", inner("x", "nope"), /^refused tool_not_registered: /],
  ["an invalid input", { name: "edit", arguments: {} }, /^refused invalid_tool_params: /],
  ["a failing body", inner("x", "failing"), /^refused execution_failed: broken$/],
];
for (const [name, nested, said] of refusals) {
  test(`${name} of a nested call is an error to the body, with its type, and recorded`, async (t) => {
    const failing = textTool("failing", "edit", { permission: () => "allow", run: () => Promise.reject(new Error("broken")) });
    const b = await bench(t, {
      policy: { rules: { team: { deny: ["edit:text=bad"] } } },
      person: "nobody",
      tools: [nesting([nested]), failing],
    });
    const report = await b.process([call("outer", "o", "c1")]);
    assert.match(textOf(only(report)), said);
    assert.equal(only(report).outcome, "succeeded");
    assert.equal((await b.stored("call.ended", "c1/1")).length, 1);
    assert.deepEqual(b.world.lines, []);
  });
}

test("a nested call is asked about like any other, and its own hooks are consulted", async (t) => {
  const hooks = scriptedHooks({ pre_tool_use: () => undefined, post_tool_use: () => undefined });
  const b = await bench(t, { person: scriptedApprover({ "c1/1": "approve" }), tools: [nesting([inner("x")])], deps: { hooks } });
  assert.equal(textOf(only(await b.process([call("outer", "o", "c1")]))), "wrote x");
  assert.deepEqual(
    b.person.shown.map(({ callId, input }) => [callId, input]),
    [["c1/1", { text: "x" }]],
  );
  assert.deepEqual(
    hooks.consulted.map(({ event, input }) => `${event} ${input["tool_use_id"]}`),
    ["pre_tool_use c1", "pre_tool_use c1/1", "post_tool_use c1/1", "post_tool_use c1"],
  );
});

test("a nested unsafe call does not wait for its parent's lane, and calls after the parent still wait", async (t) => {
  const b = await bench(t, { policy: { mode: "yolo" }, tools: [nesting([inner("nested", "slow_edit")])] });
  const running = b.process([call("outer", "o", "c1"), call("edit", "after", "c2")]);
  await b.gates.reached("nested");
  await rest();
  assert.deepEqual(b.world.lines, []);
  b.gates.open("nested");
  await running;
  assert.deepEqual(b.world.lines, ["after"]);
});

test("cancelling the parent cancels its nested call, waiting or running", async (t) => {
  for (const mode of ["default", "yolo"]) {
    const b = await bench(t, { policy: { mode }, tools: [nesting([inner("nested", "slow_edit")])] });
    const running = b.process([call("outer", "o", "c1")]);
    await (mode === "yolo" ? b.gates.reached("nested") : until(() => b.dispatcher.pending().length === 1));
    b.dispatcher.cancel("c1");
    if (mode === "yolo") b.gates.fail("nested", new Error("aborted"));
    assert.deepEqual(outcomes(await running), ["cancelled cancelled"]);
    assert.deepEqual((await b.stored("call.ended")).map(({ body }) => `${body.call} ${body.outcome}`).sort(), [
      "c1 cancelled",
      "c1/1 cancelled",
    ]);
    assert.deepEqual(b.dispatcher.pending(), []);
  }
});

test("a nested call can be cancelled alone by its own id", async (t) => {
  const b = await bench(t, { policy: { mode: "yolo" }, tools: [nesting([inner("nested", "slow_edit"), inner("y")])] });
  const running = b.process([call("outer", "o", "c1")]);
  await b.gates.reached("nested");
  assert.equal(b.dispatcher.cancel("c1/1"), true);
  b.gates.fail("nested", new Error("aborted"));
  assert.match(textOf(only(await running)), /^refused cancelled: .*; wrote y$/);
});

test("a nested call cannot take an id that a model gave, before or in the same batch", async (t) => {
  const b = await bench(t, { policy: { mode: "yolo" }, tools: [nesting([inner("nested")])] });
  await b.process([call("edit", "first", "c1/1")]);
  assert.equal(textOf(only(await b.process([call("outer", "o", "c1")]))), "wrote nested");
  assert.deepEqual(outcomes(await b.process([call("outer", "o", "c9"), call("edit", "last", "c9/1")])), ["succeeded", "succeeded"]);
  assert.deepEqual(b.world.lines, ["first", "nested", "nested", "last"]);
  await b.session.close("done", 0);
  const again = await bench(t, { beside: b, reopen: { id: b.session.id } });
  assert.deepEqual(outcomes(await again.resume()), []);
});

test("a nested call of a nested call has its own id, too", async (t) => {
  const middle = textTool("middle", "other", {
    permission: () => "allow",
    run: async (_input, { gate }) => `middle: ${(await gate(inner("x"))).content}`,
  });
  const b = await bench(t, { policy: { mode: "yolo" }, tools: [nesting([inner("m", "middle")]), middle] });
  assert.equal(textOf(only(await b.process([call("outer", "o", "c1")]))), "middle: wrote x");
  assert.deepEqual(
    (await b.stored("call.proposed")).map(({ body }) => body.call),
    ["c1", "c1/1", "c1/1/1"],
  );
});

test("a body that uses the gate after its call has ended gets an error, and nothing runs", async (t) => {
  let gate: RunContext["gate"] | undefined;
  const keeping = textTool("keeping", "other", {
    permission: () => "allow",
    run: (_input, ctx) => {
      gate = ctx.gate;
      return "kept";
    },
  });
  const b = await bench(t, { policy: { mode: "yolo" }, tools: [keeping] });
  await b.process([call("keeping", "o", "c1")]);
  await assert.rejects(gate!(inner("late")));
  assert.deepEqual(b.world.lines, []);
});

test("nested calls made at once each have their own id and result", async (t) => {
  const wide = textTool("wide", "other", {
    permission: () => "allow",
    run: async (_input, { gate }) =>
      (await Promise.all(["a", "b", "c"].map((text) => gate(inner(text))))).map(({ content }) => content).join(),
  });
  const b = await bench(t, { policy: { mode: "yolo" }, tools: [wide] });
  assert.equal(textOf(only(await b.process([call("wide", "o", "c1")]))), "wrote a,wrote b,wrote c");
});

/** A bench whose nested call waits for a person beyond this process. */
async function parkedNested(t: Parameters<typeof bench>[0]): Promise<Bench> {
  const b = await bench(t, { person: "nobody", deps: { onAsk: "park" }, tools: [nesting([inner("x")])] });
  const report = await b.process([call("outer", "o", "c1")]);
  assert.match(textOf(only(report)), /^refused /);
  return b;
}

test("a nested call that nobody can be asked about never becomes a message to the model, not even after a restart", async (t) => {
  const b = await parkedNested(t);
  await b.session.close("parked", 75);
  for (const { id } of await b.ledger.pending("approvals")) {
    const other = await bench(t, { beside: b });
    await other.process([call("read", "r")]);
    await other.dispatcher.answer(says(id));
  }
  const again = await bench(t, { beside: b, reopen: { id: b.session.id }, person: "nobody" });
  await again.resume();
  assert.deepEqual(
    again.log().filter((line) => line.startsWith("messageAdded")),
    [],
  );
  assert.deepEqual(b.world.lines, [], "the body that asked for it is long gone");
  assert.equal(again.session.state.calls.size, 0);
});
