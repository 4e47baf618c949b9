import assert from "node:assert/strict";
import { test } from "node:test";
import type { EventBodies, Facts, HookOpinion } from "@assent/core";
import { grantedDraft, scriptedApprover } from "@assent/core/testing";
import { type BenchOptions, bench, call, outcomes, scriptedHooks, textTool } from "../harness.ts";

const PLAN = Object.freeze({ judged: "this very object" });
const planned: Facts = ({ tool }) => ({ units: [{ subject: `${tool} 0` }, { subject: `${tool} 1` }], binds: {}, plan: PLAN });
const allows = { user: { allow: ["line"] } };

type Row = readonly [
  sentence: string,
  from: "plan" | "text",
  options: BenchOptions & { readonly grant?: Partial<EventBodies["grant.created"]> },
];

const rows: readonly Row[] = [
  ["a rule alone lets it pass: the body gets the plan that was judged", "plan", { policy: { rules: allows } }],
  ["a rule speaks also where yolo would let everything pass", "plan", { policy: { mode: "yolo", rules: allows } }],
  ["yolo lets the text itself pass", "text", { policy: { mode: "yolo" } }],
  ["a person saw the text", "text", { person: scriptedApprover({ line: "approve" }) }],
  ["a pre_tool_use hook's allow passes the text", "text", { deps: { hooks: hooks("pre_tool_use") } }],
  ["a permission_request hook's allow passes the text", "text", { deps: { hooks: hooks("permission_request") } }],
  ["a grant with a pattern answers: the plan", "plan", { grant: { rule: "line" } }],
  ["the whole-session grant: the text", "text", { grant: { rule: "*", scope: "session" } }],
];

function hooks(event: "pre_tool_use" | "permission_request"): ReturnType<typeof scriptedHooks> {
  const said: Partial<HookOpinion> = { verdict: "allow" };
  return scriptedHooks({ [event]: () => said });
}

for (const [sentence, from, { grant, ...options }] of rows) {
  test(`policy 6.1: ${sentence}`, async (t) => {
    const seen: unknown[] = [];
    const line = textTool("line", "execute", {
      run: (_input, { plan }) => {
        seen.push(plan === PLAN ? "plan" : plan === undefined ? "text" : plan);
        return "ran";
      },
    });
    const b = await bench(t, { ...options, tools: [line], deps: { facts: planned, ...options.deps } });
    if (grant) {
      const draft = grantedDraft("g_1", {
        scope: "user",
        tool: "line",
        ...grant,
        ...(grant.scope === "session" && { session: b.session.id }),
      });
      await b.ledger.answer([{ ...draft, at: new Date(b.clock.now()).toISOString() }]);
    }
    assert.deepEqual(outcomes(await b.process([call("line", "x")])), ["succeeded"]);
    assert.deepEqual(seen, [from]);
  });
}

test("policy 6.1: units of which a rule allows one and yolo the other run as the text", async (t) => {
  let plan: unknown = "not run";
  const line = textTool("line", "execute", {
    run: (_input, ctx) => {
      plan = ctx.plan;
      return "ran";
    },
  });
  const only = { label: "user permissions", scope: "user" as const };
  const first = {
    ...only,
    check: (_r: unknown, { subject }: { subject: string }) => ({ verdict: subject === "line 0" ? ("allow" as const) : ("none" as const) }),
  };
  const policy = { revision: "1", mode: "yolo", checkers: [first], safeguards: [], honourReadOnlyHint: true };
  const source = { current: () => policy, subscribe: () => () => undefined };
  const b = await bench(t, { tools: [line], deps: { facts: planned, policy: source } });
  assert.deepEqual(outcomes(await b.process([call("line", "x")])), ["succeeded"]);
  assert.equal(plan, undefined);
});

/** Facts bound to a script whose text the test changes. */
function script(): { text: string; readonly facts: Facts } {
  const it: { text: string; facts: Facts } = {
    text: "one",
    facts: ({ tool }) => ({ units: [{ subject: tool }], binds: { "build.sh": it.text } }),
  };
  return it;
}

test("the script changes while a person thinks, who then approves: operand_changed, and nothing runs", async (t) => {
  const it = script();
  const person = scriptedApprover(() => {
    it.text = "two";
    return "approve";
  });
  const b = await bench(t, { person, deps: { facts: it.facts } });
  const report = await b.process([call("edit", "sh build.sh")]);
  assert.deepEqual(outcomes(report), ["denied operand_changed"]);
  assert.match(JSON.stringify(report.results), /build\.sh changed after it was judged/);
  assert.deepEqual(b.world.lines, []);
  assert.deepEqual(
    b.notices.map(({ decision, source }) => [decision, source]),
    [["deny", "guard_deny"]],
  );
});

test("a plain file becomes a link while a person thinks, who then approves: operand_changed, and nothing runs", async (t) => {
  let binds: Readonly<Record<string, string>> = {};
  const person = scriptedApprover(() => {
    binds = { "notes.txt": "leads to .env" };
    return "approve";
  });
  const b = await bench(t, { person, deps: { facts: ({ tool }) => ({ units: [{ subject: tool }], binds }) } });
  assert.deepEqual(outcomes(await b.process([call("edit", "cat notes.txt")])), ["denied operand_changed"]);
  assert.deepEqual(b.world.lines, []);
});

test("the next proposal of the same call is asked about anew", async (t) => {
  const it = script();
  let asked = 0;
  const person = scriptedApprover(() => {
    asked += 1;
    if (asked === 1) it.text = "two";
    return "approve";
  });
  const b = await bench(t, { person, deps: { facts: it.facts } });
  await b.process([call("edit", "sh build.sh")]);
  assert.deepEqual(outcomes(await b.process([call("edit", "sh build.sh")])), ["succeeded"]);
  assert.equal(asked, 2);
  assert.notEqual(person.shown[0]?.fingerprint, person.shown[1]?.fingerprint);
});

test("a call that a rule allows is judged again when its script changes before the claim", async (t) => {
  let looks = 0;
  const facts: Facts = ({ tool }) => {
    looks += 1;
    return { units: [{ subject: tool }], binds: { "build.sh": String(looks > 1) } };
  };
  const b = await bench(t, { policy: { rules: { user: { allow: ["edit"] } } }, deps: { facts } });
  assert.deepEqual(outcomes(await b.process([call("edit", "sh build.sh")])), ["succeeded"]);
  const judged = await b.stored("call.judged");
  assert.deepEqual(
    judged.map(({ body }) => body.binds["build.sh"]),
    ["false", "true"],
  );
});
