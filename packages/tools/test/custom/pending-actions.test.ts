import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "node:test";
import { createRegistry, makeChecker, staticPolicy } from "@assent/core";
import { reloadCustomTools } from "../../src/custom/load-custom-tools.ts";
import { type Governed, governed, type Place, place, toolModule } from "./bench.ts";

/** A tool that pushes the action that is written here, and gives its id. */
function pushing(action: string, after = ""): string {
  const execute = `const done = { content: [{ type: "text", text: "applied" }] };
    const { id } = ctx.pushPendingAction(${action});
    ${after}
    return { content: [{ type: "text", text: id }] };`;
  return toolModule("push", "", execute);
}

async function pushed(at: Place, action: string, after = ""): Promise<Governed & { readonly id: string }> {
  at.write("config/tools/a.ts", pushing(action, after));
  const opened = await governed(at, await at.load());
  const { text } = await opened.call("push");
  return { ...opened, id: text };
}

const APPLY = "apply: () => done";

describe("pushPendingAction", () => {
  test("an action is staged under its id, and applied by resolve with reason, extra and context", async (t) => {
    const at = place(t);
    const apply = `apply(reason, extra, { signal, proposalId, commit }) { commit(); return { content: [{ type: "text", text: [reason, extra.n, signal.aborted, proposalId, this.label].join() }] }; }`;
    const { call, id, session } = await pushed(at, `{ label: "Send 3 mails", ${apply} }`);
    const row = session.state.proposals.get(id);
    assert.deepEqual([row?.label, row?.carrier, row?.state], ["Send 3 mails", "closure", "staged"]);
    const { outcome, type, text, details } = await call("resolve", { action: "apply", reason: "fine", extra: { n: 7 } });
    assert.deepEqual([outcome, type, text], ["succeeded", "applied", `fine,7,false,${id},Send 3 mails`]);
    assert.deepEqual(Object(details).sourceToolName, "custom_tool");
  });

  test("functions that declare only the reason keep working, and discard tells the code", async (t) => {
    const at = place(t);
    const { call } = await pushed(
      at,
      `{ label: "x", sourceToolName: "mailer", ${APPLY}, reject: (reason) => { console.log("rejected", reason); } }`,
    );
    const { type, text, details } = await call("resolve", { action: "discard", reason: "no" });
    assert.deepEqual([type, text, Object(details).sourceToolName], ["discarded", "Discarded: x. Reason: no.", "mailer"]);
    assert.deepEqual(
      at.lines.map(({ message }) => message),
      ["rejected no"],
    );
  });

  test("the effect of an action may run programs", async (t) => {
    const at = place(t);
    const { call } = await pushed(
      at,
      `{ label: "x", apply: async () => ({ content: [{ type: "text", text: (await api.exec("printf", ["ran"])).stdout }] }) }`,
    );
    assert.equal((await call("resolve", { action: "apply", reason: "" })).text, "ran");
  });

  test("the effect of an action may call another tool through the gate, and a refusal makes it fail", async (t) => {
    const at = place(t);
    at.write("config/tools/b.ts", toolModule("inner", "", `return { content: [{ type: "text", text: "inner ran" }] };`));
    const { call, id, session } = await pushed(
      at,
      `{ label: "x", apply: (reason, extra, { gate }) => gate({ name: reason, arguments: {} }) }`,
    );
    const denied = await call("resolve", { action: "apply", reason: "nothing_of_that_name" });
    assert.deepEqual([denied.outcome, denied.type, session.state.proposals.get(id)?.state], ["failed", "proposal_apply_failed", "staged"]);
    const { outcome, text } = await call("resolve", { action: "apply", reason: "inner" });
    assert.deepEqual([outcome, text], ["succeeded", "inner ran"]);
  });

  test("the API's own finds the running call", async (t) => {
    const at = place(t);
    at.write(
      "config/tools/a.ts",
      toolModule(
        "a",
        "",
        `await null; const pushed = api.pushPendingAction({ label: "x", apply: () => ({ content: [] }) }); return { content: [], details: Object.keys(pushed) };`,
      ),
    );
    const { call, session } = await governed(at, await at.load());
    assert.deepEqual((await call("a")).details, ["id"]);
    assert.equal(session.state.proposals.size, 1);
  });

  test("without a store it is unavailable, by both ways, also at load time", async (t) => {
    const at = place(t);
    const push = "pushPendingAction({ label: 'x', apply: () => ({ content: [] }) }); return { content: [] };";
    at.write("config/tools/a.ts", toolModule("a", "", `ctx.${push}`));
    at.write("config/tools/b.ts", toolModule("b", "", `api.${push}`));
    at.write("config/tools/c.ts", `export default (api) => { api.${push} };`);
    const loaded = await at.load({ ports: { staging: false } });
    const { call } = await governed(at, loaded, { staging: false });
    const message = "Pending action store unavailable for custom tools in this runtime.";
    assert.deepEqual(
      loaded.failed.map(({ reason }) => reason),
      [`Factory failed: ${message}`],
    );
    for (const name of ["a", "b"]) {
      const { type, text } = await call(name);
      assert.deepEqual([type, text], ["staging_unavailable", message]);
    }
  });

  test("at load time and outside any call there is nothing to bind it to", async (t) => {
    const at = place(t);
    at.write("config/tools/a.ts", "export default (api) => { api.pushPendingAction({}); };");
    at.write(
      "config/tools/b.ts",
      `let late = [];
      ${toolModule(
        "b",
        "",
        `const details = late.map((one) => { try { one.pushPendingAction({ label: "x", apply() {} }); } catch ({ type, message }) { return { type, message }; } });
        late = [ctx];
        return { content: [], details };`,
      )}`,
    );
    const loaded = await at.load();
    assert.deepEqual(
      loaded.failed.map(({ reason }) => reason),
      ["Factory failed: pushPendingAction needs a running tool call."],
    );
    const { call } = await governed(at, loaded);
    await call("b");
    assert.deepEqual((await call("b")).details, [{ message: "pushPendingAction needs a running tool call.", type: "no_running_call" }]);
  });

  const REFUSED: readonly (readonly [sentence: string, action: string, message: string])[] = [
    ["no label", `{ ${APPLY} }`, "Pending action needs a label."],
    ["no apply", '{ label: "x" }', "Pending action needs an apply function."],
    ["apply is no function", '{ label: "x", apply: 1 }', "Pending action needs an apply function."],
    ["nothing at all", "undefined", "Pending action needs a label."],
    [
      "details that contain themselves",
      `(() => { const a = { label: "x", ${APPLY} }; a.details = { a: {} }; a.details.a.b = a.details; return a; })()`,
      "Pending action details must be JSON.",
    ],
    ["details with a function", `{ label: "x", ${APPLY}, details: { f() {} } }`, "Pending action details must be JSON."],
  ];
  for (const [sentence, action, message] of REFUSED) {
    test(sentence, async (t) => {
      const at = place(t);
      at.write("config/tools/a.ts", pushing(action));
      const { call, session } = await governed(at, await at.load());
      const { outcome, text } = await call("push");
      assert.deepEqual([outcome, text, session.state.proposals.size], ["failed", message, 0]);
    });
  }

  test("pushed twice in one call, there are two", async (t) => {
    const at = place(t);
    const { call, session } = await pushed(at, `{ label: "one", ${APPLY} }`, `ctx.pushPendingAction({ label: "two", ${APPLY} });`);
    assert.deepEqual(
      [...session.state.proposals.values()].map(({ label }) => label),
      ["one", "two"],
    );
    assert.equal((await call("resolve", { action: "apply", reason: "" })).type, "proposal_ambiguous");
  });

  test("actions pushed by a failing call are discarded, and their code is notified", async (t) => {
    const at = place(t);
    const { session } = await pushed(at, `{ label: "x", ${APPLY}, reject(reason) { console.log(reason); } }`, 'throw new Error("after");');
    assert.equal(session.state.proposals.size, 0);
    assert.deepEqual(
      at.lines.map(({ message }) => message),
      ["staging call failed"],
    );
  });

  test("after a restart it is lost", async (t) => {
    const at = place(t);
    const first = await pushed(at, `{ label: "x", ${APPLY} }`);
    const second = await governed(at, await at.load(), { beside: first });
    await second.dispatcher.resume({ tools: createRegistry(), signal: new AbortController().signal });
    const { type } = await second.call("resolve", { action: "apply", reason: "", id: first.id });
    assert.equal(type, "proposal_lost");
  });

  test("a reload leaves the old code to what it staged", async (t) => {
    const at = place(t);
    at.write("config/tools/a.ts", pushing('{ label: "x", apply: () => ({ content: [{ type: "text", text: "old" }] }) }'));
    const before = await at.load();
    const { call } = await governed(at, before);
    await call("push");
    writeFileSync(join(at.user, "a.ts"), toolModule("other"));
    assert.deepEqual((await reloadCustomTools(before, at.options())).removed, ["push"]);
    assert.equal((await call("resolve", { action: "apply", reason: "" })).text, "old");
  });

  test("an apply that throws leaves it pending", async (t) => {
    const at = place(t);
    const { call, id, session } = await pushed(at, '{ label: "x", apply() { throw new Error("disk"); } }');
    const { type, text } = await call("resolve", { action: "apply", reason: "" });
    assert.deepEqual([type, text, session.state.proposals.get(id)?.state], ["proposal_apply_failed", "Apply failed: disk", "staged"]);
  });

  test("so does one that returns an error", async (t) => {
    const at = place(t);
    const { call, id, session } = await pushed(
      at,
      '{ label: "x", apply: () => ({ content: [{ type: "text", text: "no" }], isError: true }) }',
    );
    const { type, text } = await call("resolve", { action: "apply", reason: "" });
    assert.deepEqual([type, text, session.state.proposals.get(id)?.state], ["proposal_apply_failed", "no", "staged"]);
  });

  for (const [sentence, returned, expected] of [
    ["the callback's own details count", "{ content: [], details: { n: 1 } }", { n: 1 }],
    ["the action's stand in for them", "{ content: [] }", { m: 2 }],
  ] as const) {
    test(`${sentence}`, async (t) => {
      const at = place(t);
      const { call } = await pushed(at, `{ label: "x", apply: () => (${returned}), details: { m: 2 } }`);
      assert.deepEqual(Object((await call("resolve", { action: "apply", reason: "" })).details).sourceResultDetails, expected);
    });
  }

  test("factories run again for another session, and its actions are its own", async (t) => {
    const at = place(t);
    at.write("config/tools/a.ts", pushing(`{ label: ctx.sessionId, ${APPLY} }`));
    const parent = await governed(at, await at.load());
    const child = await governed(at, await at.load({ ports: { cwd: at.user } }));
    await child.call("push");
    assert.equal(parent.session.state.proposals.size, 0);
    assert.deepEqual(
      [...child.session.state.proposals.values()].map(({ label }) => label),
      [child.session.id],
    );
  });

  test("its apply is judged as the call that staged it, even if it names another source", async (t) => {
    const at = place(t);
    at.write("config/tools/a.ts", pushing(`{ label: "x", sourceToolName: "harmless", ${APPLY} }`));
    const plain = staticPolicy({ mode: "yolo" });
    let current = plain.current();
    const { call, session } = await governed(at, await at.load(), { source: { ...plain, current: () => current } });
    const { text: id } = await call("push");
    const { checker } = makeChecker({ label: "team", scope: "team", deny: ["push"] });
    current = { ...current, revision: "2", checkers: [checker] };
    assert.equal((await call("resolve", { action: "apply", reason: "" })).type, "denied_by_rule");
    assert.equal(session.state.proposals.get(id)?.state, "staged");
  });
});
