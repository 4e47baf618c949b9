import assert from "node:assert/strict";
import { test } from "node:test";
import { scriptedApprover } from "@assent/core/testing";
import { call, only, outcomes, says, textOf, until } from "../harness.ts";
import { planBench } from "./plan-bench.ts";

test("a session that begins in plan remembers default, and where its plan goes", async (t) => {
  const b = await planBench(t, { policy: { mode: "plan" } });
  assert.deepEqual(b.session.state.planning, { remembered: "default", file: b.planFile });
  assert.equal(b.modes.mode(), "plan");
});

test("entering plan mode remembers the mode before it, and entering again changes nothing", async (t) => {
  const b = await planBench(t, { policy: { mode: "yolo" } });
  await b.modes.change("plan", "Tester");
  await b.modes.change("plan", "Tester");
  assert.deepEqual(b.session.state.planning, { remembered: "yolo", file: b.planFile });
  assert.equal((await b.stored("mode.changed")).length, 1);
  await b.modes.change("auto-edit", "Tester");
  assert.deepEqual([b.modes.current().mode, b.session.state.planning], ["auto-edit", null]);
});

test("a stricter mode counts before it is on record, a looser one only after", async (t) => {
  const b = await planBench(t, { policy: { mode: "default" } });
  const stricter = b.modes.change("plan", "Tester");
  assert.equal(b.modes.current().mode, "plan");
  await stricter;
  const looser = b.modes.change("yolo", "Tester");
  assert.equal(b.modes.current().mode, "plan");
  await looser;
  assert.equal(b.modes.current().mode, "yolo");
});

test("mode changes are applied in order, and the last one counts", async (t) => {
  const b = await planBench(t, { policy: { mode: "default" } });
  await Promise.all([b.modes.change("plan", "a"), b.modes.change("yolo", "b"), b.modes.change("auto-edit", "c")]);
  assert.equal(b.modes.mode(), "auto-edit");
  const changes = (await b.stored("mode.changed")).map(({ body }) => [body.from, body.to, body.by]);
  assert.deepEqual(changes, [
    ["default", "plan", "a"],
    ["plan", "yolo", "b"],
    ["yolo", "auto-edit", "c"],
  ]);
});

test("every mode is a policy of its own, and the same one twice is the same policy", async (t) => {
  const b = await planBench(t, { policy: { mode: "default" } });
  const before = b.modes.current();
  await b.modes.change("plan", "Tester");
  const after = b.modes.current();
  assert.notEqual(after.revision, before.revision);
  assert.equal(b.modes.current(), after);
  assert.equal((await b.stored("policy.changed")).at(-1)?.body.revision, after.revision);
});

test("a mode change in settings switches the mode; other changes only notify", async (t) => {
  const b = await planBench(t, { policy: { mode: "default" } });
  await b.modes.change("auto-edit", "Tester");
  b.settings.set({ mode: "default", rules: { user: { deny: ["edit"] } } });
  assert.equal(b.modes.mode(), "auto-edit");
  b.settings.set({ mode: "plan" });
  assert.equal(b.modes.mode(), "plan");
  await until(() => b.session.state.mode === "plan");
  assert.equal((await b.stored("mode.changed")).at(-1)?.body.by, "settings");
});

test("entering plan mode judges waiting calls again and keeps reads", async (t) => {
  const b = await planBench(t, { policy: { mode: "default", rules: { user: { ask: ["*"] } } } });
  const running = b.process([call("read", "r"), call("edit", "e")]);
  await until(() => b.dispatcher.pending().length === 2);
  await b.modes.change("plan", "Tester");
  await until(() => b.dispatcher.pending().length === 1);
  await b.dispatcher.answer(says(b.dispatcher.pending()[0]?.id ?? ""));
  assert.deepEqual(outcomes(await running), ["succeeded", "denied denied_policy_changed"]);
  assert.deepEqual(b.world.lines, []);
});

test("an edit that a person approved is denied when plan is entered before it is claimed", async (t) => {
  const b = await planBench(t, { policy: { mode: "default" } });
  const running = b.process([call("slow_edit", "first"), call("edit", "second", "c2")]);
  await until(() => b.dispatcher.pending().length === 2);
  for (const { id } of b.dispatcher.pending()) await b.dispatcher.answer(says(id));
  await b.gates.reached("first");
  await b.modes.change("plan", "Tester");
  b.gates.open("first");
  assert.deepEqual(outcomes(await running), ["succeeded", "denied denied_policy_changed"], "claimed ones finish");
  assert.deepEqual(b.world.lines, []);
});

test("leaving plan mode revives no denied call and applies nothing", async (t) => {
  const b = await planBench(t, { policy: { mode: "yolo" } });
  await b.stage({ a: "uno" });
  await b.modes.change("plan", "Tester");
  assert.equal(only(await b.process([call("edit", "x")])).type, "denied_by_mode");
  await b.modes.change("yolo", "Tester");
  assert.deepEqual([b.files.texts.get("/workspace/a"), b.world.lines], ["one", []]);
});

test("enter_plan_mode in a batch: calls after it are judged in plan, earlier ones are not touched", async (t) => {
  const b = await planBench(t, { policy: { mode: "yolo" } });
  const report = await b.process([
    call("edit", "before"),
    { name: "enter_plan_mode", arguments: {} },
    call("edit", "after"),
    call("read", "r"),
  ]);
  assert.deepEqual(outcomes(report), ["succeeded", "succeeded", "denied denied_by_mode", "succeeded"]);
  assert.deepEqual(b.world.lines, ["before"]);
  assert.deepEqual(b.session.state.planning?.remembered, "yolo");
});

const ENTERING = { name: "enter_plan_mode", arguments: {} };
const AGENT = { created: { parent: { session: "s_main", call: "c", task: "t" } } };
const REFUSED: readonly [sentence: string, options: Parameters<typeof planBench>[1], type: string | null, text: RegExp][] = [
  ["already on", { policy: { mode: "plan" } }, null, /^Plan mode is already on\.$/],
  ["already on, although no one can approve", { policy: { mode: "plan" }, canApprove: false }, null, /^Plan mode is already on\.$/],
  ["no one can approve a plan", { canApprove: false }, "execution_denied", /no one can approve/],
  ["an agent", AGENT, "execution_denied", /Only the main session/],
  [
    "no one is asked",
    { person: scriptedApprover(() => "reject") },
    null,
    /^Plan mode is on\. Write the plan to \.assent\/plans\/s_\w+\.md, then call resolve\.$/,
  ],
];
for (const [sentence, options, type, text] of REFUSED) {
  test(`enter_plan_mode: ${sentence}`, async (t) => {
    const b = await planBench(t, options);
    const before = b.modes.mode();
    const report = only(await b.process([ENTERING]));
    assert.deepEqual([report.type, report.outcome], [type, type === null ? "succeeded" : "failed"]);
    assert.match(textOf(report), text);
    if (type !== null) assert.equal(b.modes.mode(), before);
  });
}

const RESUMED: readonly [sentence: string, began: string, chosen: string | undefined, settings: string, mode: string][] = [
  ["settings that were tightened since count", "yolo", undefined, "default", "default"],
  ["looser settings apply if no one changed the mode in the session", "default", undefined, "auto-edit", "auto-edit"],
  ["a mode chosen in the session wins over its first mode", "plan", "default", "plan", "default"],
  ["and against settings that became looser", "default", "auto-edit", "yolo", "auto-edit"],
  ["but not against settings that became stricter", "auto-edit", "yolo", "default", "default"],
  ["plan mode is left by a person alone", "default", "plan", "yolo", "plan"],
];
for (const [sentence, began, chosen, settings, mode] of RESUMED) {
  test(`a resumed session: ${sentence}`, async (t) => {
    const b = await planBench(t, { policy: { mode: began } });
    if (chosen !== undefined) await b.modes.change(chosen, "Tester");
    const next = await planBench(t, {
      beside: b,
      files: b.files,
      policy: { mode: settings },
      reopen: { id: b.session.id, takeOver: true },
    });
    assert.deepEqual([next.modes.mode(), next.session.state.mode, next.modes.current().mode], [mode, mode, mode]);
    assert.equal(next.session.state.planning !== null, mode === "plan");
  });
}
