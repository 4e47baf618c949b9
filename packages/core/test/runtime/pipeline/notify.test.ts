import assert from "node:assert/strict";
import { test } from "node:test";
import type { Answer, Facts, Ledger, ProposedCall } from "@assent/core";
import { grantedDraft, type ScriptedAnswer, scriptedApprover } from "@assent/core/testing";
import { type Bench, type BenchOptions, bench, call, outcomes, rest, says, scriptedHooks, textTool, turn, until } from "../harness.ts";

const guard = { id: "control-file", check: () => ({ verdict: "deny", note: "control files" }) as const };
const permitting = textTool("permitting", "edit", { permission: () => "allow" });
const refusing = textTool("refusing", "edit", { permission: () => "deny" });
const inside: Facts = () => ({ units: [{ subject: "edit" }], binds: {}, insideWorkspace: true });
const plan: Facts = () => ({ units: [{ subject: "edit" }], binds: {}, planFile: true });

const always = (over: Partial<Answer> = {}): BenchOptions => ({
  person: scriptedApprover({ edit: { outcome: "approve", ...over } as ScriptedAnswer }),
});
const rule = (scope: string, verdict: string): BenchOptions => ({ policy: { rules: { [scope]: { [verdict]: ["edit"] } } } });
const hook = (event: string, verdict: "allow" | "deny"): BenchOptions => ({
  deps: { hooks: scriptedHooks({ [event]: () => ({ verdict }) }) },
});

type Row = readonly [decision: string, source: string, when: string, options: BenchOptions, proposed?: ProposedCall];

const rows: readonly Row[] = [
  ["allow", "yolo", "mode yolo decided", { policy: { mode: "yolo" } }],
  ["allow", "mode_auto_edit", "mode auto-edit decided", { policy: { mode: "auto-edit" }, deps: { facts: inside } }],
  ["allow", "mode_plan", "mode plan let the plan file pass", { policy: { mode: "plan" }, deps: { facts: plan } }],
  ["deny", "mode_plan", "mode plan denied", { policy: { mode: "plan" } }],
  ["allow", "session_permissions_allow", "a session rule allowed", rule("session", "allow")],
  ["deny", "session_permissions_deny", "a session rule denied", rule("session", "deny")],
  ["allow", "project_permissions_allow", "a project rule allowed", rule("project", "allow")],
  ["deny", "project_permissions_deny", "a project rule denied", rule("project", "deny")],
  ["allow", "user_permissions_allow", "a user rule allowed", rule("user", "allow")],
  ["deny", "user_permissions_deny", "a user rule denied", rule("user", "deny")],
  ["allow", "team_permissions_allow", "a team rule allowed", rule("team", "allow")],
  ["deny", "team_permissions_deny", "a team rule denied", rule("team", "deny")],
  ["deny", "guard_deny", "a guard denied", { policy: { safeguards: [guard] } }],
  ["allow", "pre_tool_use_hook_allow", "a hook's allow decided", hook("pre_tool_use", "allow")],
  ["deny", "pre_tool_use_hook_deny", "a hook's deny decided", hook("pre_tool_use", "deny")],
  [
    "deny",
    "pre_tool_use_hook_deny",
    "a hook failed",
    { policy: { mode: "yolo" }, deps: { hooks: scriptedHooks({ pre_tool_use: () => Promise.reject(new Error("port")) }) } },
  ],
  [
    "deny",
    "pre_tool_use_hook_deny",
    "a hook made the input invalid",
    {
      policy: { mode: "yolo" },
      deps: { hooks: scriptedHooks({ pre_tool_use: () => ({ updatedInput: {}, updatedInputMode: "replace" }) }) },
    },
  ],
  ["allow", "tool_permission_allow", "the tool's own opinion allowed", { tools: [permitting] }, call("permitting", "x")],
  ["deny", "tool_permission_deny", "the tool's own opinion denied", { tools: [refusing] }, call("refusing", "x")],
  ["allow", "readonly_hint", "the read-only hint decided", {}, call("read", "x")],
  ["allow", "permission_request_hook_allow", "a permission hook allowed", hook("permission_request", "allow")],
  ["deny", "permission_request_hook_deny", "a permission hook denied", hook("permission_request", "deny")],
  ["deny", "unattended_deny", "nobody could be asked", { person: "nobody" }],
  ["deny", "unattended_deny", "nobody could be asked and the run fails", { person: "nobody", deps: { onAsk: "fail" } }],
  ["allow", "user_approved", "a person approved", always()],
  ["allow", "user_approved_session", "a person approved the session", always({ remember: { scope: "session", rules: ["*"] } })],
  ["allow", "user_approved_tool", "a person approved always", always({ remember: { scope: "session" } })],
  ["allow", "user_approved_project", "a person approved for the project", always({ remember: { scope: "project" } })],
  ["allow", "user_approved_user", "a person approved for themselves", always({ remember: { scope: "user" } })],
  ["deny", "user_rejected", "a person rejected", always({ outcome: "reject" })],
  ["allow", "user_approved", "an explicit ask was approved", { ...rule("team", "ask"), ...always({ remember: { scope: "user" } }) }],
];

for (const [decision, source, when, options, proposed = call("edit", "x")] of rows) {
  test(`${decision} ${source} is told once: ${when}`, async (t) => {
    const b = await bench(t, options);
    const order: string[] = [];
    const { signal } = new AbortController();
    await b.dispatcher.process({ calls: [proposed], tools: b.registry, signal }, ({ type }) => {
      if (type === "toolCall" || type === "response") order.push(`${type} after ${b.notices.length}`);
    });
    assert.deepEqual(
      b.notices.map((notice) => [notice.decision, notice.source]),
      [[decision, source]],
    );
    assert.ok(
      order.every((line) => line.endsWith("after 1")),
      `told before the effect or the error result: ${order.join(", ")}`,
    );
    assert.equal(
      order.some((line) => line.startsWith("toolCall")),
      decision === "allow",
    );
  });
}

for (const scope of ["session", "project", "user"] as const) {
  test(`allow grant_${scope} is told once: a grant answered`, async (t) => {
    const b = await bench(t, { person: "nobody" });
    const reach = scope === "session" ? { session: b.session.id } : scope === "project" ? { workspace: "/workspace" } : {};
    await b.ledger.answer([grantedDraft("g_1", { scope, rule: "edit", tool: "edit", ...reach })]);
    await b.process([call("edit", "x")]);
    assert.deepEqual(
      b.notices.map(({ decision, source }) => [decision, source]),
      [["allow", `grant_${scope}`]],
    );
  });
}

/** Each starts with one call that waits for a person. */
const endings: readonly (readonly [decision: string, source: string, when: string, act: (b: Bench) => unknown])[] = [
  ["deny", "approval_expired", "the approval expired", (b) => b.clock.advance(60_000)],
  ["deny", "user_permissions_deny", "settings changed while it waited", (b) => b.policy.set({ rules: { user: { deny: ["edit"] } } })],
  ["deny", "mode_plan", "the mode changed while it waited", (b) => b.policy.set({ mode: "plan" })],
  ["canceled", "context_canceled", "it was cancelled while it waited", (b) => b.dispatcher.cancel("c1")],
];
for (const [decision, source, when, act] of endings) {
  test(`${decision} ${source} is told once: ${when}`, async (t) => {
    const b = await bench(t, { deps: { approvalTimeoutMs: 60_000 } });
    const running = b.process([call("edit", "x", "c1")]);
    await until(() => b.dispatcher.pending().length === 1);
    await act(b);
    await running;
    assert.deepEqual(
      b.notices.map((notice) => [notice.decision, notice.source]),
      [[decision, source]],
    );
  });
}

test("canceled context_canceled is told once for a call cancelled before a verdict", async (t) => {
  const b = await bench(t, { policy: { mode: "yolo" } });
  await b.process([call("edit", "x", "c1"), call("read", "y", "c2")], { signal: AbortSignal.abort() });
  assert.deepEqual(
    b.notices.map(({ callId, decision, source }) => [callId, decision, source]),
    [
      ["c1", "canceled", "context_canceled"],
      ["c2", "canceled", "context_canceled"],
    ],
  );
});

test("canceled context_canceled is told once for a call cancelled while its hook ran", async (t) => {
  const hooks = scriptedHooks({
    pre_tool_use: (_input, signal) => new Promise((resolve) => signal.addEventListener("abort", () => resolve({ verdict: "deny" }))),
  });
  const b = await bench(t, { deps: { hooks } });
  const running = b.process([call("edit", "x", "c1")]);
  await until(() => hooks.consulted.length === 1);
  b.dispatcher.cancel("c1");
  assert.deepEqual(outcomes(await running), ["cancelled cancelled"]);
  assert.deepEqual(
    b.notices.map(({ decision, source }) => [decision, source]),
    [["canceled", "context_canceled"]],
  );
});

test("canceled run_stopped is told once when a hook stopped the run while a call waited", async (t) => {
  const hooks = scriptedHooks({ post_tool_use: () => ({ stop: "enough" }) });
  const b = await bench(t, { deps: { hooks }, policy: { rules: { user: { allow: ["slow_edit"] } } } });
  const running = b.process([call("slow_edit", "first", "c1"), call("edit", "x", "c2")]);
  await until(() => b.dispatcher.pending().length === 1);
  b.gates.open("first");
  await running;
  assert.deepEqual(
    b.notices.map(({ callId, decision, source }) => [callId, decision, source]),
    [
      ["c1", "allow", "user_permissions_allow"],
      ["c2", "canceled", "run_stopped"],
    ],
  );
});

test("an allowed call that was told and then cancelled while running is not told again", async (t) => {
  const b = await bench(t, { policy: { mode: "yolo" } });
  const running = b.process([call("slow_edit", "one", "c1")]);
  await b.gates.reached("one");
  b.dispatcher.cancel("c1");
  b.gates.fail("one", new Error("aborted"));
  await running;
  assert.deepEqual(
    b.notices.map(({ source }) => source),
    ["yolo"],
  );
});

test("an unknown tool and an invalid input are never judged, so nothing is told", async (t) => {
  const hooks = scriptedHooks({});
  const b = await bench(t, { deps: { hooks } });
  await b.process([call("nope", "x"), { id: "c2", name: "edit", arguments: "{" }, { id: "c3", name: "edit", arguments: {} }]);
  assert.deepEqual([b.notices, hooks.told], [[], []]);
});

test("a parked call is told when it is answered, not when it is parked", async (t) => {
  const b = await bench(t, { person: "nobody", deps: { onAsk: "park" } });
  await b.process([call("edit", "x", "c1")]);
  assert.deepEqual(b.notices, []);
  await b.session.close("parked", 75);
  const again = await bench(t, { beside: b, reopen: { id: b.session.id }, person: scriptedApprover({ edit: "approve" }) });
  await again.resume();
  assert.deepEqual(
    again.notices.map(({ source }) => source),
    ["user_approved"],
  );
});

test("a call blocked in its lane is told once, when its verdict is final", async (t) => {
  const b = await bench(t, { policy: { rules: { user: { allow: ["slow_edit", "edit"] } } } });
  const running = b.process([call("slow_edit", "first", "c1"), call("edit", "x", "c2")]);
  await b.gates.reached("first");
  b.policy.set({ rules: { user: { allow: ["slow_edit"], deny: ["edit"] } } });
  b.gates.open("first");
  assert.deepEqual(outcomes(await running), ["succeeded", "denied denied_by_rule"]);
  assert.deepEqual(
    b.notices.map(({ callId, source }) => [callId, source]),
    [
      ["c1", "user_permissions_allow"],
      ["c2", "user_permissions_deny"],
    ],
  );
});

test("a claim that is lost to a policy change on disk is judged again and told once", async (t) => {
  let raced = false;
  const b = await bench(t, {
    policy: { mode: "yolo" },
    wrap: (ledger) => ({
      ...ledger,
      claim: async (lease, expected, claimed) => {
        if (raced) return await ledger.claim(lease, expected, claimed);
        raced = true;
        return { lost: "policy_changed" };
      },
    }),
  });
  assert.deepEqual(outcomes(await b.process([call("edit", "x", "c1")])), ["succeeded"]);
  assert.equal((await b.stored("call.judged")).length, 2);
  assert.deepEqual(
    b.notices.map(({ source }) => source),
    ["yolo"],
  );
});

test("the notification carries the call, its input, the label, rule, reason and fingerprint", async (t) => {
  const because = { text: "edit:text=x", because: "x is taken" };
  const hooks = scriptedHooks({});
  const b = await bench(t, { policy: { rules: { team: { deny: [because] } } }, deps: { hooks } });
  await b.process([call("edit", "x", "c1")], { agentName: "explorer" });
  const [notice] = b.notices;
  assert.deepEqual(
    [notice?.callId, notice?.toolName, notice?.input, notice?.label, notice?.rule],
    ["c1", "edit", { text: "x" }, "permissions configuration", "edit:text=x"],
  );
  const told = hooks.told.filter(({ event }) => event === "on_tool_approval_decision");
  assert.equal(told.length, 1);
  const { input } = told[0]!;
  assert.deepEqual(
    [input["hook_event_name"], input["tool"], input["tool_use_id"], input["tool_input"], input["agent_name"]],
    ["on_tool_approval_decision", "edit", "c1", { text: "x" }, "explorer"],
  );
  assert.deepEqual([input["approval_decision"], input["approval_source"]], ["deny", "team_permissions_deny"]);
});

test("the notification of an answered ask carries the fingerprint that was approved", async (t) => {
  const b = await bench(t, { person: scriptedApprover({ edit: "approve" }) });
  await b.process([call("edit", "x")]);
  assert.equal(b.notices[0]?.fingerprint, (await b.stored("call.claimed"))[0]?.body.fingerprint);
  assert.equal(b.notices[0]?.fingerprint?.length, 64);
});

const denials: readonly (readonly [type: string, options: BenchOptions])[] = [
  ["denied_by_rule", rule("team", "deny")],
  ["denied_by_mode", { policy: { mode: "plan" } }],
  ["denied_unattended", { person: "nobody" }],
  ["rejected_by_user", always({ outcome: "reject" })],
  ["rejected_by_hook", { deps: {} }],
];
for (const [type, options] of denials) {
  test(`permission_denied is told once with its error type ${type}`, async (t) => {
    const hooks = scriptedHooks(type === "rejected_by_hook" ? { permission_request: () => ({ verdict: "deny", reason: "no" }) } : {});
    const b = await bench(t, { ...options, deps: { ...options.deps, hooks } });
    await b.process([call("edit", "x", "c1"), call("read", "y", "c2")]);
    const told = hooks.told.filter(({ event }) => event === "permission_denied");
    assert.deepEqual(
      told.map(({ input }) => [input["hook_event_name"], input["tool_use_id"], input["error_type"]]),
      [["PermissionDenied", "c1", type]],
    );
    assert.equal(typeof told[0]?.input["reason"], "string");
  });
}

test("an observer of decisions that throws changes nothing and is a warning, and hooks are told all the same", async (t) => {
  const hooks = scriptedHooks({});
  const b = await bench(t, {
    policy: { mode: "yolo" },
    deps: {
      hooks,
      decided: () => {
        throw new Error("observer");
      },
    },
  });
  assert.deepEqual(outcomes(await b.process([call("edit", "x")])), ["succeeded"]);
  assert.match(b.warnings.join("\n"), /observer/);
  assert.equal(hooks.told.filter(({ event }) => event === "on_tool_approval_decision").length, 1);
});

test("of two answers that race one wins, and the other is refused", async (t) => {
  const b = await bench(t);
  const running = b.process([call("edit", "x", "c1")]);
  await until(() => b.dispatcher.pending().length === 1);
  const { id } = b.dispatcher.pending()[0]!;
  const both = Promise.all([b.dispatcher.answer(says(id, { outcome: "reject" })), b.dispatcher.answer(says(id))]);
  await assert.rejects(both, { type: "already_answered" });
  await running;
  await rest();
  assert.deepEqual(
    b.notices.map(({ source }) => source),
    ["user_rejected"],
  );
});

test("a call that is told no without asking is told once as user_rejected", async (t) => {
  const b = await bench(t, { person: scriptedApprover({ edit: "reject" }) });
  await b.process([call("edit", "x", "c1")]);
  await b.process([call("edit", "x", "c2")]);
  assert.deepEqual(
    b.notices.map(({ callId, decision, source }) => [callId, decision, source]),
    [
      ["c1", "deny", "user_rejected"],
      ["c2", "deny", "user_rejected"],
    ],
  );
});

test("the reason of whoever spoke is carried, and none where nobody gave one", async (t) => {
  const hooks = scriptedHooks({
    pre_tool_use: ({ tool_use_id: id }) => (id === "c1" ? { verdict: "deny", reason: "not today" } : undefined),
  });
  const b = await bench(t, { policy: { mode: "yolo" }, deps: { hooks } });
  await b.process([call("edit", "x", "c1"), call("edit", "y", "c2")]);
  assert.deepEqual(
    b.notices.map((notice) => ["reason" in notice, notice.reason]),
    [
      [true, "not today"],
      [false, undefined],
    ],
  );
});

/** A ledger that commits a little later, as a disk does. */
const slow = (ledger: Ledger): Ledger => ({
  ...ledger,
  append: async (...given) => {
    await turn();
    return await ledger.append(...given);
  },
});

const told: readonly (readonly [name: string, state: string, signal: AbortSignal])[] = [
  ["a denial is told once it is on record", "judged", new AbortController().signal],
  ["a cancel before there is a verdict is told once its call is on record", "proposed", AbortSignal.abort()],
];
for (const [name, state, signal] of told) {
  test(`${name}`, async (t) => {
    const states: unknown[] = [];
    const look = (): void => void states.push(b.session.state.calls.get("c1")?.state);
    const hooks = { ...scriptedHooks({}), tell: look };
    const b: Bench = await bench(t, { wrap: slow, ...rule("team", "deny"), deps: { decided: look, hooks } });
    await b.process([call("edit", "x", "c1")], { signal });
    assert.deepEqual(states.slice(0, 2), [state, state], "to observers, and to hooks");
  });
}
