import assert from "node:assert/strict";
import { test } from "node:test";
import type { HookOpinion, Hooks, JsonObject, StandardSchema } from "@assent/core";
import { scriptedApprover } from "@assent/core/testing";
import {
  type BenchOptions,
  bench,
  call,
  type HookWords,
  only,
  outcomes,
  rest,
  scriptedHooks,
  textOf,
  textTool,
  until,
} from "../harness.ts";

const yolo = { policy: { mode: "yolo" } } as const;
const pre = (words: HookWords): NonNullable<BenchOptions["deps"]> => ({ hooks: scriptedHooks({ pre_tool_use: () => words }) });

test("a rewritten input is judged: a rule denies what the hook made of it", async (t) => {
  const b = await bench(t, {
    policy: { mode: "yolo", rules: { team: { deny: ["edit:text=rm*"] } } },
    deps: pre({ updatedInput: { text: "rm -r out" } }),
  });
  assert.deepEqual(outcomes(await b.process([call("edit", "ls")])), ["denied denied_by_rule"]);
  assert.deepEqual(b.world.lines, []);
});

test("the approval shows the rewritten input", async (t) => {
  const person = scriptedApprover({ edit: "approve" });
  const b = await bench(t, {
    policy: { mode: "yolo", rules: { team: { ask: ["edit:text=ls"], deny: ["edit:text=rm*"] } } },
    deps: pre({ updatedInput: { text: "ls" } }),
    person,
  });
  assert.deepEqual(outcomes(await b.process([call("edit", "rm -r out", "c1")])), ["succeeded"]);
  assert.deepEqual(
    person.shown.map(({ input }) => input),
    [{ text: "ls" }],
  );
  assert.deepEqual(b.world.lines, ["ls"]);
  assert.equal((await b.stored("call.proposed"))[0]?.body.raw, '{"text":"rm -r out"}', "the ledger keeps the original");
});

test("a rewrite without an opinion is judged on the new input", async (t) => {
  const b = await bench(t, { person: "nobody", deps: pre({ verdict: "none", updatedInput: { text: "other" } }) });
  assert.deepEqual(outcomes(await b.process([call("edit", "x")])), ["denied denied_unattended"]);
});

test("everything later sees only the rewritten input", async (t) => {
  const hooks = scriptedHooks({
    pre_tool_use: () => ({ updatedInput: { a: 1, b: 2, text: "new" } }),
    post_tool_use: () => undefined,
    tool_response_transform: () => undefined,
  });
  const b = await bench(t, { ...yolo, deps: { hooks } });
  await b.process([call("edit", "x")]);
  const input = { a: 1, b: 2, text: "new" };
  assert.deepEqual(
    hooks.consulted.map(({ event, input: seen }) => [event, seen["tool_input"]]),
    [
      ["pre_tool_use", { text: "x" }],
      ["tool_response_transform", input],
      ["post_tool_use", input],
    ],
  );
  assert.deepEqual(b.notices[0]?.input, input);
  assert.deepEqual((await b.stored("call.judged"))[0]?.body.input, input);
});

test("a rewrite that differs only in the order of keys is no change and is not validated again", async (t) => {
  let validated = 0;
  const counting: StandardSchema<Record<string, unknown>> = {
    "~standard": {
      version: 1,
      vendor: "test",
      validate: (value) => {
        validated += 1;
        return { value: value as Record<string, unknown> };
      },
    },
  };
  const tool = textTool("counted", "read", { input: counting as never });
  const b = await bench(t, { tools: [tool], deps: pre({ updatedInput: { b: 2, a: 1 } }) });
  await b.process([{ id: "c1", name: "counted", arguments: '{"a":1,"b":2}' }]);
  assert.equal(validated, 1);
});

const merged: readonly (readonly [sentence: string, said: Partial<HookOpinion>, input: JsonObject | undefined])[] = [
  ["keys that a port's rewrite does not name stay", { updatedInput: { text: "new" } }, { text: "new", also: "kept" }],
  ["a rewrite in mode merge is the same", { updatedInput: { text: "new" }, updatedInputMode: "merge" }, { text: "new", also: "kept" }],
  ["a rewrite in mode replace is the whole input", { updatedInput: { text: "new" }, updatedInputMode: "replace" }, { text: "new" }],
  ["an unknown mode denies", { updatedInput: { text: "new" }, updatedInputMode: "patch" as never }, undefined],
];
for (const [sentence, said, input] of merged) {
  test(sentence, async (t) => {
    const b = await bench(t, { ...yolo, deps: pre(said) });
    const report = await b.process([{ id: "c1", name: "edit", arguments: { text: "old", also: "kept" } }]);
    if (input) assert.deepEqual((await b.stored("call.judged"))[0]?.body.input, input);
    else assert.deepEqual(outcomes(report), ["denied denied_by_hook"]);
  });
}

const invalid: readonly (readonly [name: string, updatedInput: unknown])[] = [
  ["a list", []],
  ["a text", "text"],
  ["a number", 7],
  ["an input the schema refuses", { text: null }],
  ["an input with the key __proto__", JSON.parse('{"text":"x","__proto__":{"y":1}}')],
  ["an input that is no JSON", { text: "x", f: () => undefined }],
];
for (const [name, updatedInput] of invalid) {
  test(`${name} as a rewrite denies; the original never runs instead`, async (t) => {
    const b = await bench(t, { ...yolo, deps: pre({ verdict: "allow", updatedInput: updatedInput as never }) });
    const report = await b.process([call("edit", "original", "c1")]);
    assert.deepEqual(outcomes(report), ["denied denied_by_hook"]);
    assert.match(textOf(report.results[0]), /^Tool call blocked by hook: hook /);
    assert.deepEqual(b.world.lines, []);
    assert.deepEqual(b.log(), ["hookBlocked c1", "response c1", "messageAdded c1"]);
  });
}

test("a rewrite is validated with coercion, and the coercion is recorded", async (t) => {
  const b = await bench(t, { ...yolo, deps: pre({ updatedInput: { text: 42 } }) });
  assert.deepEqual(outcomes(await b.process([call("edit", "x")])), ["succeeded"]);
  assert.deepEqual(b.world.lines, ["42"]);
  assert.deepEqual(
    (await b.stored("call.judged"))[0]?.body.coerced?.map((coercion) => coercion["path"]),
    ["/text"],
  );
});

test("a hook's deny holds under yolo, with hookBlocked and its reason", async (t) => {
  const b = await bench(t, { ...yolo, deps: pre({ verdict: "deny", reason: "not today", name: "guardian" }) });
  const report = await b.process([call("edit", "x", "c1")]);
  assert.equal(textOf(only(report)), "Tool call blocked by hook: not today");
  const blocked = b.events[0];
  assert.ok(blocked?.type === "hookBlocked" && blocked.tool === "edit" && blocked.message === "Tool call blocked by hook: not today");
  assert.deepEqual(
    b.notices.map(({ source }) => source),
    ["pre_tool_use_hook_deny"],
  );
});

test("a hook's deny without a reason names the hook", async (t) => {
  const b = await bench(t, { ...yolo, deps: pre({ verdict: "deny", name: "guardian" }) });
  assert.equal(textOf(only(await b.process([call("edit", "x")]))), "Tool call blocked by hook: blocked by hook guardian");
});

test("a hook that denies and rewrites at once denies, and the rewritten input never runs", async (t) => {
  const b = await bench(t, { ...yolo, deps: pre({ verdict: "deny", updatedInput: { text: "other" } }) });
  assert.deepEqual(outcomes(await b.process([call("edit", "x")])), ["denied denied_by_hook"]);
  assert.deepEqual(b.world.lines, []);
});

test("a batch cancelled while a hook runs ends cancelled, without hookBlocked, whatever the hook said", async (t) => {
  for (const said of [{ verdict: "deny" }, { verdict: "allow" }, { updatedInput: {}, updatedInputMode: "replace" }] as const) {
    const hooks = scriptedHooks({
      pre_tool_use: (_input, signal) => new Promise((resolve) => signal.addEventListener("abort", () => resolve(said))),
    });
    const b = await bench(t, { ...yolo, deps: { hooks } });
    const controller = new AbortController();
    const running = b.process([call("edit", "x", "c1")], { signal: controller.signal });
    await until(() => hooks.consulted.length === 1);
    controller.abort();
    assert.deepEqual(outcomes(await running), ["cancelled cancelled"]);
    assert.deepEqual(b.log(), ["response c1", "messageAdded c1"]);
    assert.deepEqual(b.world.lines, []);
  }
});

test("a hooks port that rejects because it was aborted ends the call cancelled, not denied", async (t) => {
  const hooks = scriptedHooks({
    pre_tool_use: (_input, signal) => new Promise((_resolve, reject) => signal.addEventListener("abort", () => reject(signal.reason))),
  });
  const b = await bench(t, { ...yolo, deps: { hooks } });
  const running = b.process([call("edit", "x", "c1")]);
  await until(() => hooks.consulted.length === 1);
  b.dispatcher.cancel("c1");
  assert.deepEqual(outcomes(await running), ["cancelled cancelled"]);
});

test("a hook that asks is answered by no mode, rule, grant or permission hook: a person is asked", async (t) => {
  const person = scriptedApprover({ edit: "approve" });
  const hooks = scriptedHooks({
    pre_tool_use: () => ({ verdict: "ask", reason: "look" }),
    permission_request: () => ({ verdict: "allow" }),
  });
  const b = await bench(t, { policy: { mode: "yolo", rules: { user: { allow: ["edit"] } } }, deps: { hooks }, person });
  await b.process([call("edit", "x")]);
  assert.deepEqual(
    person.shown.map(({ explicitAsk, reason, source }) => [explicitAsk, reason, source]),
    [[true, "hook", "hook-1"]],
  );
  assert.equal(person.shown[0]?.details.hideAlwaysAllow, true);
});

test("a hook's allow lifts the default ask, and no deny, explicit ask or plan mode", async (t) => {
  const allow = pre({ verdict: "allow" });
  for (const [options, outcome] of [
    [{}, "succeeded"],
    [{ policy: { rules: { team: { deny: ["edit"] } } } }, "denied denied_by_rule"],
    [{ policy: { rules: { team: { ask: ["edit"] } } } }, "denied denied_unattended"],
    [{ policy: { mode: "plan" } }, "denied denied_by_mode"],
  ] as const) {
    const b = await bench(t, { person: "nobody", deps: allow, ...options });
    assert.deepEqual(outcomes(await b.process([call("edit", "x")])), [outcome]);
  }
});

test("law 4: a hooks port that throws denies by hook, also under yolo", async (t) => {
  const hooks = scriptedHooks({ pre_tool_use: () => Promise.reject(new Error("runner gone")) });
  const b = await bench(t, { ...yolo, deps: { hooks } });
  const report = await b.process([call("edit", "x", "c1")]);
  assert.deepEqual(outcomes(report), ["denied denied_by_hook"]);
  assert.match(textOf(report.results[0]), /runner gone/);
  assert.deepEqual(b.log(), ["hookBlocked c1", "response c1", "messageAdded c1"]);
  assert.deepEqual(b.world.lines, []);
});

test("law 4: a hook's verdict that is no verdict denies", async (t) => {
  const b = await bench(t, { ...yolo, deps: pre({ verdict: "yes" as never }) });
  const report = await b.process([call("edit", "x")]);
  assert.equal(only(report).outcome, "denied");
  assert.deepEqual(b.world.lines, []);
});

test("hooks are not consulted for an unknown tool or an invalid input", async (t) => {
  const hooks = scriptedHooks({ pre_tool_use: () => ({ verdict: "allow" }) });
  const b = await bench(t, { deps: { hooks } });
  await b.process([call("nope", "x"), { id: "c2", name: "edit", arguments: "{" }]);
  await rest();
  assert.deepEqual(hooks.consulted, []);
});

test("what a hook is given about a call", async (t) => {
  const hooks = scriptedHooks({ pre_tool_use: () => undefined });
  const b = await bench(t, { policy: { mode: "auto-edit", rules: { user: { allow: ["edit"] } } }, deps: { hooks } });
  await b.process([call("edit", "x", "c1")], { agentName: "explorer" });
  const { transcript_path: _path, ...input } = hooks.consulted[0]!.input;
  assert.deepEqual(input, {
    session_id: b.session.id,
    cwd: "/workspace",
    hook_event_name: "PreToolUse",
    permission_mode: "acceptEdits",
    mode: "auto-edit",
    agent_name: "explorer",
    tool_name: "Edit",
    tool: "edit",
    tool_use_id: "c1",
    tool_kind: "edit",
    tool_input: { text: "x" },
  });
});

test("hooks that do not look at a tool are neither consulted nor notified of its calls", async (t) => {
  const seen: string[] = [];
  const hooks: Hooks = {
    consult: async (event) => void seen.push(event),
    applies: (event, tool) => (event === "post_tool_use" || event === "on_tool_approval_decision") && tool === "read",
    tell: (event, { tool }) => void seen.push(`${event} of ${tool}`),
  };
  const b = await bench(t, { ...yolo, deps: { hooks } });
  await b.process([call("edit", "x"), call("read", "y")]);
  assert.deepEqual(seen, ["on_tool_approval_decision of read", "post_tool_use"]);
});
