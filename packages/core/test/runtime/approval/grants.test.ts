import assert from "node:assert/strict";
import { test } from "node:test";
import type { Answer, EventBodies, Facts } from "@assent/core";
import { grantedDraft, scriptedApprover } from "@assent/core/testing";
import { type Bench, bench, call, outcomes, rest, says, scriptedHooks, textTool, until } from "../harness.ts";

/** A grant in the shared chain. */
async function grant(b: Bench, id: string, over: Partial<EventBodies["grant.created"]> = {}): Promise<void> {
  const at = new Date(b.clock.now()).toISOString();
  await b.ledger.answer([{ ...grantedDraft(id, { rule: "edit", tool: "edit", ...over }), at }]);
}

async function revoke(b: Bench, id: string): Promise<void> {
  await b.ledger.answer([{ type: "grant.revoked", v: 1, at: new Date(b.clock.now()).toISOString(), body: { grant: id, by: "Tester" } }]);
}

const sources = ({ notices }: Bench): readonly string[] => notices.map(({ source }) => source);

test("a session's always answers the next such call of this session, and of no other", async (t) => {
  const person = scriptedApprover({ edit: { outcome: "approve", remember: { scope: "session" } } });
  const b = await bench(t, { person });
  await b.process([call("edit", "x")]);
  await b.process([call("edit", "y")]);
  assert.equal(person.shown.length, 1);
  assert.deepEqual(sources(b), ["user_approved_tool", "grant_session"]);
  const other = await bench(t, { beside: b, person: "nobody" });
  assert.deepEqual(outcomes(await other.process([call("edit", "z")])), ["denied denied_unattended"]);
});

type Reach = readonly [name: string, grant: Partial<EventBodies["grant.created"]>, answers: string | undefined];

const reach: readonly Reach[] = [
  ["a user's grant answers everywhere", { scope: "user" }, "grant_user"],
  ["a project's grant answers in its workspace", { scope: "project", workspace: "/workspace" }, "grant_project"],
  ["a project's grant answers in no other workspace", { scope: "project", workspace: "/elsewhere" }, undefined],
  ["a project's grant without a workspace answers nowhere", { scope: "project" }, undefined],
  ["a session's grant of another session does not answer", { scope: "session", session: "s_other" }, undefined],
  ["a grant for another tool does not answer", { rule: "read" }, undefined],
  ["a grant for another input does not answer", { rule: "edit:text=y" }, undefined],
  ["a grant for this input answers", { rule: "edit:text=x" }, "grant_user"],
  ["an expired grant does not answer", { expiresAt: "2025-12-31T23:59:59.999Z" }, undefined],
  ["a grant that expires this very moment does not answer", { expiresAt: "2026-01-01T00:00:00.000Z" }, undefined],
  ["a grant that expires later answers", { expiresAt: "2026-01-01T00:00:00.001Z" }, "grant_user"],
  ["a grant with an invalid expiry does not answer", { expiresAt: "tomorrow" }, undefined],
  ["a used-up grant does not answer", { uses: 0 }, undefined],
  ["the rule * of a user answers nothing", { rule: "*" }, undefined],
  ["the rule * of a project answers nothing", { scope: "project", workspace: "/workspace", rule: "*" }, undefined],
  ["a rule of another notation answers nothing", { rule: "Edit(" }, undefined],
];
for (const [name, over, source] of reach) {
  test(`${name}`, async (t) => {
    const b = await bench(t, { person: "nobody" });
    await grant(b, "g_1", over);
    const report = await b.process([call("edit", "x")]);
    assert.deepEqual(outcomes(report), [source === undefined ? "denied denied_unattended" : "succeeded"]);
    assert.deepEqual(sources(b), [source ?? "unattended_deny"]);
  });
}

test("the session rule * answers every ask that is not explicit", async (t) => {
  const shell = textTool("shell", "execute");
  const b = await bench(t, { person: "nobody", tools: [shell] });
  await grant(b, "g_1", { scope: "session", session: b.session.id, rule: "*" });
  assert.deepEqual(outcomes(await b.process([call("edit", "x"), call("shell", "y")])), ["succeeded", "succeeded"]);
  b.policy.set({ rules: { team: { ask: ["edit"] } } });
  assert.deepEqual(outcomes(await b.process([call("edit", "x")])), ["denied denied_unattended"]);
});

test("a grant never overrides a deny, nor an explicit ask of a rule, a safeguard or a hook", async (t) => {
  const asks = scriptedHooks({ pre_tool_use: () => ({ verdict: "ask" }) });
  const guard = { id: "g", check: () => ({ verdict: "ask" }) as const };
  for (const [options, outcome] of [
    [{ policy: { rules: { team: { deny: ["edit"] } } } }, "denied denied_by_rule"],
    [{ policy: { rules: { team: { ask: ["edit"] } } } }, "denied denied_unattended"],
    [{ policy: { safeguards: [guard] } }, "denied denied_unattended"],
    [{ deps: { hooks: asks } }, "denied denied_unattended"],
  ] as const) {
    const b = await bench(t, { person: "nobody", ...options });
    await grant(b, "g_1", { scope: "session", session: b.session.id, rule: "*" });
    await grant(b, "g_2");
    assert.deepEqual(outcomes(await b.process([call("edit", "x")])), [outcome]);
  }
});

test("a counted grant is used up one call at a time, on disk before the answer", async (t) => {
  const b = await bench(t, { person: "nobody" });
  await grant(b, "g_1", { uses: 2 });
  for (const outcome of ["succeeded", "succeeded", "denied denied_unattended"]) {
    assert.deepEqual(outcomes(await b.process([call("edit", "x")])), [outcome]);
  }
  const [row] = await b.ledger.pending("grants", { all: true });
  assert.deepEqual([row?.state, row?.usesLeft], ["used_up", 0]);
  const used = await b.stored("grant.used");
  const answered = await b.stored("call.answered");
  assert.equal(used.length, 2);
  for (const [at, { pos }] of used.entries()) assert.ok(pos < answered[at]!.pos);
});

test("the last use of a grant, wanted by two calls at once, lets one run", async (t) => {
  const b = await bench(t, { person: "nobody" });
  await grant(b, "g_1", { uses: 1 });
  const report = await b.process([call("edit", "x"), call("edit", "y")]);
  assert.equal(outcomes(report).filter((outcome) => outcome === "succeeded").length, 1);
  assert.equal(b.world.lines.length, 1);
});

test("of several grants the session's answers first, then the project's, then the user's; one without a count before a counted one", async (t) => {
  const b = await bench(t, { person: "nobody" });
  const made: readonly [string, Partial<EventBodies["grant.created"]>][] = [
    ["g_user", { scope: "user" }],
    ["g_project", { scope: "project", workspace: "/workspace" }],
    ["g_counted", { scope: "session", session: b.session.id, uses: 5 }],
    ["g_session", { scope: "session", session: b.session.id }],
  ];
  for (const [id, over] of made) await grant(b, id, over);
  for (const id of ["g_session", "g_counted", "g_project", "g_user"]) {
    await b.process([call("edit", "x")]);
    await revoke(b, id);
  }
  assert.deepEqual(
    (await b.stored("call.answered")).map(({ body }) => body.by.id),
    ["g_session", "g_counted", "g_project", "g_user"],
  );
  assert.deepEqual(outcomes(await b.process([call("edit", "x")])), ["denied denied_unattended"]);
});

test("a grant that expires during the session stops answering", async (t) => {
  const person = scriptedApprover({ edit: { outcome: "approve", remember: { scope: "session", expiresAt: "2026-01-01T01:00:00.000Z" } } });
  const b = await bench(t, { person });
  await b.process([call("edit", "x")]);
  await b.clock.advance(3_599_999);
  await b.process([call("edit", "y")]);
  assert.equal(person.shown.length, 1);
  await b.clock.advance(1);
  await b.process([call("edit", "z")]);
  assert.equal(person.shown.length, 2);
});

test("an expired grant does not come back when the clock is set back", async (t) => {
  const b = await bench(t, { person: "nobody" });
  await grant(b, "g_1", { expiresAt: "2026-01-01T01:00:00.000Z" });
  await b.clock.advance(3_600_000);
  await b.process([call("read", "r")]);
  b.clock.jump(-3_600_000);
  assert.deepEqual(outcomes(await b.process([call("edit", "x")])), ["denied denied_unattended"]);
});

test("a grant with an end does not count under a clock that is earlier than the grant", async (t) => {
  const b = await bench(t, { person: "nobody" });
  await grant(b, "g_1", { expiresAt: "2026-01-01T01:00:00.000Z" });
  b.clock.jump(-3_600_000);
  assert.deepEqual(outcomes(await b.process([call("edit", "x")])), ["denied denied_unattended"]);
});

for (const [what, options, outcome] of [
  ["a person is asked", { person: scriptedApprover({ edit: "reject" }) }, "rejected rejected_by_user"],
  ["no one can be asked and it is denied", { person: "nobody" }, "denied denied_unattended"],
] as const) {
  test(`revoking a grant between its answer and the claim takes effect: ${what}`, async (t) => {
    const b = await bench(t, { policy: { rules: { user: { allow: ["slow_edit"] } } }, ...options });
    await grant(b, "g_1");
    const running = b.process([call("slow_edit", "first"), call("edit", "x", "c2")]);
    await b.gates.reached("first");
    await until(() => b.session.state.calls.get("c2")?.state === "approved", "the grant's yes");
    await revoke(b, "g_1");
    b.gates.open("first");
    assert.deepEqual(outcomes(await running), ["succeeded", outcome]);
    assert.deepEqual(b.world.lines, []);
    assert.equal(b.notices.filter(({ callId }) => callId === "c2").length, 1);
  });
}

test("an ask rule added after a grant answered asks a person", async (t) => {
  const person = scriptedApprover({ edit: "approve" });
  const b = await bench(t, { policy: { rules: { user: { allow: ["slow_edit"] } } }, person });
  await grant(b, "g_1");
  const running = b.process([call("slow_edit", "first"), call("edit", "x", "c2")]);
  await until(() => b.session.state.calls.get("c2")?.state === "approved", "the grant's yes");
  b.policy.set({ rules: { user: { allow: ["slow_edit"], ask: ["edit"] } } });
  b.gates.open("first");
  assert.deepEqual(outcomes(await running), ["succeeded", "succeeded"]);
  assert.deepEqual(
    person.shown.map(({ callId, explicitAsk }) => [callId, explicitAsk]),
    [["c2", true]],
  );
  assert.deepEqual(
    b.notices.filter(({ callId }) => callId === "c2").map(({ source }) => source),
    ["user_approved"],
  );
});

test("an always answers the other open approvals it covers, each with its own record, but not explicit ones", async (t) => {
  const b = await bench(t, { policy: { rules: { team: { ask: ["edit:text=insist"] } } } });
  const running = b.process([call("edit", "x", "c1"), call("edit", "y", "c2"), call("edit", "insist", "c3"), call("slow_edit", "z", "c4")]);
  await until(() => b.dispatcher.pending().length === 4);
  const approvals = new Map(b.dispatcher.pending().map(({ callId, id }) => [callId, id]));
  const answer: Partial<Answer> = { remember: { scope: "session", rules: ["edit"] } };
  await b.dispatcher.answer(says(approvals.get("c1")!, answer));
  await until(() => b.dispatcher.pending().length === 2, "the other one answered");
  await rest();
  assert.deepEqual(
    b.dispatcher.pending().map(({ callId }) => callId),
    ["c3", "c4"],
  );
  const answered = await b.stored("approval.answered");
  assert.deepEqual(
    answered.map(({ body }) => [body.call, body.by.kind, body.outcome]),
    [
      ["c1", "person", "approved"],
      ["c2", "grant", "approved"],
    ],
  );
  b.dispatcher.cancel("c3");
  b.dispatcher.cancel("c4");
  assert.deepEqual(outcomes(await running), ["succeeded", "succeeded", "cancelled cancelled", "cancelled cancelled"]);
  assert.deepEqual(b.notices.map(({ callId, source }) => `${callId} ${source}`).sort(), [
    "c1 user_approved_tool",
    "c2 grant_session",
    "c3 context_canceled",
    "c4 context_canceled",
  ]);
});

test("a grant made by another session's answer answers what waits here, where it reaches", async (t) => {
  const b = await bench(t);
  const running = b.process([call("edit", "x", "c1"), call("slow_edit", "y", "c2")]);
  await until(() => b.dispatcher.pending().length === 2);
  await grant(b, "g_far", { scope: "project", workspace: "/elsewhere" });
  await rest();
  assert.equal(b.dispatcher.pending().length, 2);
  await grant(b, "g_near", { scope: "project", workspace: "/workspace" });
  await until(() => b.dispatcher.pending().length === 1);
  b.dispatcher.cancel("c2");
  assert.deepEqual(outcomes(await running), ["succeeded", "cancelled cancelled"]);
});

const units: Facts = ({ input }) => ({
  units: String(input["text"])
    .split("+")
    .map((subject) => ({ subject })),
  binds: {},
});

test("every unit that asks must be covered, by one grant or several", async (t) => {
  const rules = {
    parse: (text: string) => ({ text, covers: (_request: unknown, unit: { readonly subject: string }) => unit.subject === text }),
    offer: () => [],
  };
  const b = await bench(t, { person: "nobody", deps: { facts: units, rules } });
  await grant(b, "g_a", { rule: "a" });
  assert.deepEqual(outcomes(await b.process([call("edit", "a")])), ["succeeded"]);
  assert.deepEqual(outcomes(await b.process([call("edit", "a+b")])), ["denied denied_unattended"]);
  await grant(b, "g_b", { rule: "b", uses: 1 });
  assert.deepEqual(outcomes(await b.process([call("edit", "a+b")])), ["succeeded"]);
  assert.deepEqual(
    (await b.stored("grant.used")).map(({ body }) => body.grant),
    ["g_b"],
  );
});

test("revoking any of the grants that answered together withdraws the consent", async (t) => {
  const rules = {
    parse: (text: string) => ({ text, covers: (_request: unknown, unit: { readonly subject: string }) => unit.subject === text }),
    offer: () => [],
  };
  for (const id of ["g_a", "g_b"]) {
    const b = await bench(t, { policy: { rules: { user: { allow: ["slow_edit"] } } }, person: "nobody", deps: { facts: units, rules } });
    await grant(b, "g_a", { rule: "a" });
    await grant(b, "g_b", { rule: "b" });
    const running = b.process([call("slow_edit", "first"), call("edit", "a+b", "c2")]);
    await until(() => b.session.state.calls.get("c2")?.state === "approved", "the grants' yes");
    await revoke(b, id);
    b.gates.open("first");
    assert.deepEqual(outcomes(await running), ["succeeded", "denied denied_unattended"], `revoking ${id}`);
  }
});

test("a call answered by a grant still runs if the policy loosens before its lane is free", async (t) => {
  for (const words of [{ mode: "yolo" }, { rules: { user: { allow: ["edit", "slow_edit"] } } }]) {
    const b = await bench(t, { policy: { rules: { user: { allow: ["slow_edit"] } } }, person: "nobody" });
    await grant(b, "g_1");
    const running = b.process([call("slow_edit", "first"), call("edit", "x", "c2")]);
    await until(() => b.session.state.calls.get("c2")?.state === "approved", "the grant's yes");
    b.policy.set(words);
    b.gates.open("first");
    assert.deepEqual(outcomes(await running), ["succeeded", "succeeded"]);
    assert.deepEqual(b.world.lines, ["x"]);
  }
});

test("revoking any of the grants that answered together withdraws the consent, also after a restart", async (t) => {
  const rules = {
    parse: (text: string) => ({ text, covers: (_request: unknown, unit: { readonly subject: string }) => unit.subject === text }),
    offer: () => [],
  };
  for (const id of ["g_a", "g_b"]) {
    const b = await bench(t, { policy: { rules: { user: { allow: ["slow_edit"] } } }, person: "nobody", deps: { facts: units, rules } });
    await grant(b, "g_a", { rule: "a" });
    await grant(b, "g_b", { rule: "b" });
    void b.process([call("slow_edit", "first", "c1"), call("edit", "a+b", "c2")]);
    await until(() => b.session.state.calls.get("c2")?.state === "approved", "the grants' yes");
    await revoke(b, id);
    const again = await bench(t, {
      beside: b,
      reopen: { id: b.session.id, takeOver: true },
      person: "nobody",
      deps: { facts: units, rules },
    });
    assert.deepEqual(outcomes(await again.resume()), ["unknown execution_unknown", "denied denied_unattended"], `revoking ${id}`);
    assert.deepEqual(b.world.lines, []);
  }
});

test("a reject that asks to be remembered makes no grant", async (t) => {
  const person = scriptedApprover({ edit: { outcome: "reject", remember: { scope: "session", rules: ["*"] } } });
  const b = await bench(t, { person });
  assert.deepEqual(outcomes(await b.process([call("edit", "x")])), ["rejected rejected_by_user"]);
  assert.deepEqual(await b.ledger.pending("grants", { all: true }), []);
});

test("a grant on a tool that executes covers a line of plain words, never one with a shell's own signs; only the session's * does", async (t) => {
  const shell = textTool("shell", "execute");
  const line = (command: string): { name: string; arguments: { text: string; command: string } } => ({
    name: "shell",
    arguments: { text: "", command },
  });
  const b = await bench(t, { person: "nobody", tools: [shell] });
  await grant(b, "g_1", { rule: "shell", tool: "shell" });
  assert.deepEqual(outcomes(await b.process([line("ls -la"), line("ls; id"), line("ls $(id)"), line("ls > out")])), [
    "succeeded",
    "denied denied_unattended",
    "denied denied_unattended",
    "denied denied_unattended",
  ]);
  await grant(b, "g_2", { scope: "session", session: b.session.id, rule: "*" });
  assert.deepEqual(outcomes(await b.process([line("ls; id")])), ["succeeded"]);
});
