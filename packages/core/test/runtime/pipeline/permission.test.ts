import assert from "node:assert/strict";
import { test } from "node:test";
import { grantedDraft, scriptedApprover } from "@assent/core/testing";
import { bench, call, only, outcomes, scriptedHooks, textOf, textTool, until } from "../harness.ts";

test("a permission hook's allow runs the call, recorded as its yes", async (t) => {
  const hooks = scriptedHooks({ permission_request: () => ({ verdict: "allow", name: "keeper" }) });
  const b = await bench(t, { person: "nobody", deps: { hooks } });
  assert.deepEqual(outcomes(await b.process([call("edit", "x")])), ["succeeded"]);
  assert.deepEqual(
    (await b.stored("call.answered")).map(({ body }) => body.by),
    [{ kind: "hook", id: "keeper" }],
  );
});

test("a permission hook's deny ends the call rejected_by_hook, with its reason", async (t) => {
  const hooks = scriptedHooks({ permission_request: () => ({ verdict: "deny", reason: "not on Fridays" }) });
  const b = await bench(t, { person: scriptedApprover({ edit: "approve" }), deps: { hooks } });
  const report = await b.process([call("edit", "x")]);
  assert.deepEqual(outcomes(report), ["rejected rejected_by_hook"]);
  assert.equal(textOf(only(report)), "The tool call was rejected by a permission_request hook. Reason: not on Fridays");
  assert.deepEqual(b.person.shown, []);
});

test("a permission hook's deny with interrupt cancels what has not started", async (t) => {
  const hooks = scriptedHooks({
    permission_request: ({ tool_use_id: id }) => (id === "c1" ? { verdict: "deny", interrupt: true } : undefined),
  });
  const b = await bench(t, { deps: { hooks } });
  const report = await b.process([call("edit", "x", "c1"), call("edit", "y", "c2"), call("read", "z", "c3")]);
  assert.deepEqual(outcomes(report), ["rejected rejected_by_hook", "cancelled cancelled", "cancelled cancelled"]);
  assert.equal(report.stopRun, false);
});

test("a grant is looked at before permission hooks, and they before a person", async (t) => {
  const hooks = scriptedHooks({ permission_request: () => undefined });
  const b = await bench(t, { deps: { hooks }, person: scriptedApprover({ edit: "approve" }) });
  await b.process([call("edit", "x")]);
  assert.deepEqual([hooks.consulted.length, b.person.shown.length], [1, 1]);
  await b.ledger.answer([grantedDraft("g_1", { rule: "edit", tool: "edit" })]);
  await b.process([call("edit", "y")]);
  assert.deepEqual([hooks.consulted.length, b.person.shown.length], [1, 1]);
});

const insisting = [
  ["a rule", { policy: { rules: { team: { ask: ["edit"] } } } }],
  ["a guard", { policy: { safeguards: [{ id: "g", check: () => ({ verdict: "ask" }) as const }] } }],
] as const;
for (const [who, options] of insisting) {
  test(`a permission hook's allow does not answer an ask made by ${who}; its deny counts`, async (t) => {
    const allow = scriptedHooks({ permission_request: () => ({ verdict: "allow" }) });
    const b = await bench(t, { ...options, deps: { hooks: allow }, person: scriptedApprover({ edit: "reject" }) });
    assert.deepEqual(outcomes(await b.process([call("edit", "x")])), ["rejected rejected_by_user"]);
    const deny = scriptedHooks({ permission_request: () => ({ verdict: "deny" }) });
    const other = await bench(t, { ...options, deps: { hooks: deny }, person: scriptedApprover({ edit: "approve" }) });
    assert.deepEqual(outcomes(await other.process([call("edit", "x")])), ["rejected rejected_by_hook"]);
  });
}

test("a permission hook is told what asked and which rules an always would store", async (t) => {
  const hooks = scriptedHooks({ permission_request: () => ({ verdict: "allow" }) });
  const b = await bench(t, { deps: { hooks } });
  await b.process([call("edit", "x", "c1")]);
  const { input } = hooks.consulted[0]!;
  assert.deepEqual(
    [input["hook_event_name"], input["tool_use_id"], input["permission_suggestions"], input["decision_reason"], input["decision_source"]],
    ["PermissionRequest", "c1", ["edit"], "default", ""],
  );
});

test("a permission hook's rewrite is what runs, judged again, under its own fingerprint", async (t) => {
  const hooks = scriptedHooks({
    pre_tool_use: () => undefined,
    permission_request: () => ({ verdict: "allow", updatedInput: { text: "safer" } }),
  });
  const b = await bench(t, { person: "nobody", deps: { hooks } });
  assert.deepEqual(outcomes(await b.process([call("edit", "x")])), ["succeeded"]);
  assert.deepEqual(b.world.lines, ["safer"]);
  assert.deepEqual(
    (await b.stored("call.judged")).map(({ body }) => body.input),
    [{ text: "x" }, { text: "safer" }],
  );
  assert.equal(hooks.consulted.filter(({ event }) => event === "pre_tool_use").length, 1, "pre_tool_use is not run again");
});

const rewrites = [
  ["a rule denies it", { text: "bad" }, "denied denied_by_rule"],
  ["a rule insists on asking", { text: "insist" }, "rejected rejected_by_user"],
] as const;
for (const [what, updatedInput, outcome] of rewrites) {
  test(`a permission hook's rewrite is judged: ${what}`, async (t) => {
    const hooks = scriptedHooks({ permission_request: () => ({ verdict: "allow", updatedInput }) });
    const b = await bench(t, {
      policy: { rules: { team: { deny: ["edit:text=bad"], ask: ["edit:text=insist"] } } },
      deps: { hooks },
      person: scriptedApprover({ edit: "reject" }),
    });
    assert.deepEqual(outcomes(await b.process([call("edit", "x")])), [outcome]);
    assert.deepEqual(b.world.lines, []);
    assert.equal(hooks.consulted.length, 1, "at most once per call");
  });
}

test("a permission hook's invalid rewrite never runs, neither it nor the original", async (t) => {
  const hooks = scriptedHooks({ permission_request: () => ({ verdict: "allow", updatedInput: {}, updatedInputMode: "replace" }) });
  const b = await bench(t, { person: "nobody", deps: { hooks } });
  assert.notEqual(only(await b.process([call("edit", "x")])).outcome, "succeeded");
  assert.deepEqual(b.world.lines, []);
});

test("a permission hook that fails has no opinion: a person decides", async (t) => {
  const hooks = scriptedHooks({ permission_request: () => Promise.reject(new Error("runner gone")) });
  const b = await bench(t, { deps: { hooks }, person: scriptedApprover({ edit: "approve" }) });
  assert.deepEqual(outcomes(await b.process([call("edit", "x")])), ["succeeded"]);
  assert.equal(b.person.shown.length, 1);
  const alone = await bench(t, { deps: { hooks }, person: "nobody" });
  assert.deepEqual(outcomes(await alone.process([call("edit", "x")])), ["denied denied_unattended"]);
});

test("a batch cancelled while a permission hook runs ends cancelled, never rejected by hook", async (t) => {
  for (const said of [{ verdict: "deny" }, { verdict: "allow" }] as const) {
    const hooks = scriptedHooks({
      permission_request: (_input, signal) => new Promise((resolve) => signal.addEventListener("abort", () => resolve(said))),
    });
    const b = await bench(t, { deps: { hooks } });
    const running = b.process([call("edit", "x", "c1")]);
    await until(() => hooks.consulted.length === 1);
    b.dispatcher.cancel("c1");
    assert.deepEqual(outcomes(await running), ["cancelled cancelled"]);
    assert.deepEqual(
      b.notices.map(({ source }) => source),
      ["context_canceled"],
    );
    assert.deepEqual(b.world.lines, []);
  }
});

test("an allowed or denied call asks no permission hook", async (t) => {
  const hooks = scriptedHooks({ permission_request: () => ({ verdict: "allow" }) });
  const b = await bench(t, { policy: { rules: { user: { allow: ["edit:text=a"], deny: ["edit:text=b"] } } }, deps: { hooks } });
  await b.process([call("edit", "a"), call("edit", "b"), call("read", "c")]);
  assert.deepEqual(hooks.consulted, []);
});

const rowsOnAsk = [
  ["deny", "denied denied_unattended", "succeeded"],
  ["fail", "denied denied_unattended", "cancelled skipped"],
] as const;
for (const [onAsk, outcome, sibling] of rowsOnAsk) {
  test(`where nobody can be asked, onAsk ${onAsk}: nothing that asked runs, and nobody is said to have declined`, async (t) => {
    const b = await bench(t, { person: "nobody", deps: { onAsk }, policy: { rules: { user: { allow: ["slow_edit"] } } } });
    const running = b.process([call("edit", "x", "c1"), call("slow_edit", "y", "c2")]);
    if (onAsk === "deny") {
      await b.gates.reached("y");
      b.gates.open("y");
    }
    const report = await running;
    assert.deepEqual(outcomes(report), [outcome, sibling]);
    assert.equal(textOf(report.results[0]), "Tool 'edit' requires approval, but no one can be asked in this run.");
    assert.deepEqual(b.world.lines, []);
    for (const result of report.results) assert.doesNotMatch(textOf(result), /by the user|post_tool_use/);
  });
}

test("with onAsk deny no approval is left behind; with fail one is written and closed cancelled", async (t) => {
  const deny = await bench(t, { person: "nobody" });
  await deny.process([call("edit", "x")]);
  assert.deepEqual(await deny.ledger.pending("approvals", { all: true }), []);
  const fail = await bench(t, { person: "nobody", deps: { onAsk: "fail" } });
  await fail.process([call("edit", "x")]);
  assert.deepEqual(
    (await fail.ledger.pending("approvals", { all: true })).map(({ state }) => state),
    ["cancelled"],
  );
});

test("an approver that is there but not available is nobody", async (t) => {
  const person = scriptedApprover({ edit: "approve" });
  person.setAvailable(false);
  const b = await bench(t, { person });
  assert.deepEqual(outcomes(await b.process([call("edit", "x")])), ["denied denied_unattended"]);
  assert.deepEqual(person.shown, []);
});

test("an approver that gives no answer leaves the call to onAsk", async (t) => {
  for (const [onAsk, outcome] of [
    ["deny", "denied denied_unattended"],
    ["park", "waiting"],
  ] as const) {
    const b = await bench(t, { person: scriptedApprover({ edit: "leave" }), deps: { onAsk } });
    assert.deepEqual(outcomes(await b.process([call("edit", "x")])), [outcome]);
    assert.deepEqual(
      (await b.ledger.pending("approvals", { all: true })).map(({ state }) => state),
      [onAsk === "park" ? "open" : "cancelled"],
    );
  }
});

test("law 4: an ask in yolo by a guard is denied where nobody can be asked", async (t) => {
  const b = await bench(t, {
    person: "nobody",
    policy: { mode: "yolo", safeguards: [{ id: "g", check: () => ({ verdict: "ask" }) as const }] },
  });
  assert.deepEqual(outcomes(await b.process([call("edit", "x")])), ["denied denied_unattended"]);
});

test("a tool's own ask is only the default ask: a grant answers it", async (t) => {
  const asking = textTool("asking", "read", { permission: () => "ask" });
  const b = await bench(t, { person: "nobody", tools: [asking] });
  assert.deepEqual(outcomes(await b.process([call("asking", "x")])), ["denied denied_unattended"]);
  await b.ledger.answer([grantedDraft("g_1", { rule: "asking", tool: "asking" })]);
  assert.deepEqual(outcomes(await b.process([call("asking", "x")])), ["succeeded"]);
});

test("a permission hook that rewrites does not answer an ask that a pre_tool_use hook insisted on", async (t) => {
  const hooks = scriptedHooks({
    pre_tool_use: () => ({ verdict: "ask", reason: "look" }),
    permission_request: () => ({ verdict: "allow", updatedInput: { text: "rewritten" } }),
  });
  const b = await bench(t, { deps: { hooks }, person: scriptedApprover({ edit: "reject" }) });
  assert.deepEqual(outcomes(await b.process([call("edit", "x")])), ["rejected rejected_by_user"]);
  assert.equal(b.person.shown.length, 1);
  assert.deepEqual(b.world.lines, []);
});

test("a policy that loosens after a permission hook's yes changes nothing: it runs", async (t) => {
  const hooks = scriptedHooks({ permission_request: () => ({ verdict: "allow" }) });
  const b = await bench(t, { policy: { rules: { user: { allow: ["slow_edit"] } } }, person: "nobody", deps: { hooks } });
  const running = b.process([call("slow_edit", "first"), call("edit", "x", "c2")]);
  await until(() => b.session.state.calls.get("c2")?.state === "approved", "the hook's yes");
  b.policy.set({ mode: "yolo" });
  b.gates.open("first");
  assert.deepEqual(outcomes(await running), ["succeeded", "succeeded"]);
});

test("a policy that cannot be followed denies what would wait, and leaves nothing that looks open", async (t) => {
  const policy = {
    current: () => ({ revision: "1", mode: "default", checkers: [], safeguards: [], honourReadOnlyHint: true }),
    subscribe: () => {
      throw new Error("no watcher");
    },
  };
  const b = await bench(t, { deps: { policy }, person: scriptedApprover({ edit: "wait" }) });
  assert.equal(only(await b.process([call("edit", "x")])).outcome, "denied");
  assert.deepEqual(b.dispatcher.pending(), []);
  assert.deepEqual(await b.ledger.pending("approvals"), []);
});
