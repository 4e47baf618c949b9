import assert from "node:assert/strict";
import { test } from "node:test";
import type { Facts, Invocation, NamedChecker, RequestFacts, Safeguard, Tool, ToolDefinition, TraceEntry } from "@assent/core";
import { scriptedApprover } from "@assent/core/testing";
import { type Bench, bench, call, only, outcomes, rest, sha256, textOf, type textSchema, textTool, until } from "../harness.ts";

type Definition = ToolDefinition<typeof textSchema>;

async function trace(b: Bench, layer: string): Promise<TraceEntry | undefined> {
  return (await b.stored("call.judged"))[0]?.body.trace.find((entry) => entry.layer === layer);
}

type PermissionRow = readonly [name: string, permission: unknown, outcome: string, note: RegExp | undefined];

const permissions: readonly PermissionRow[] = [
  ["allow", () => "allow", "succeeded", undefined],
  ["ask", () => "ask", "denied denied_unattended", undefined],
  ["deny", () => "deny", "denied denied_by_tool", undefined],
  ["allow, later", () => Promise.resolve("allow"), "succeeded", undefined],
  [
    "a throw",
    () => {
      throw new Error("no idea");
    },
    "denied denied_unattended",
    /^tool permission failed: no idea$/,
  ],
  ["a rejection", () => Promise.reject(new Error("no idea")), "denied denied_unattended", /^tool permission failed: no idea$/],
  ["undefined", () => undefined, "denied denied_unattended", /undefined/],
  ["true", () => true, "denied denied_unattended", /boolean/],
  ["another case", () => "Allow", "denied denied_unattended", /'Allow'/],
  ["nonsense, later", () => Promise.resolve(1), "denied denied_unattended", /number/],
  [
    "a change of its input",
    (input: { text: string }) => {
      input.text = "y";
      return "allow";
    },
    "denied denied_unattended",
    /^tool permission failed: /,
  ],
];
for (const [name, permission, outcome, note] of permissions) {
  test(`${name} as the tool's own permission: ${outcome}`, async (t) => {
    const tool = textTool("opinionated", "read", { permission: permission as NonNullable<Definition["permission"]> });
    const b = await bench(t, { person: "nobody", tools: [tool] });
    assert.deepEqual(outcomes(await b.process([call("opinionated", "x")])), [outcome]);
    const entry = await trace(b, "tool");
    if (note) assert.match(entry?.note ?? "", note);
    else assert.equal(entry?.note, undefined);
  });
}

test("a forgotten permission on a mutating tool asks; on a read the hint decides", async (t) => {
  const b = await bench(t, { person: "nobody" });
  assert.deepEqual(outcomes(await b.process([call("edit", "x"), call("read", "y")])), ["denied denied_unattended", "succeeded"]);
  assert.equal((await trace(b, "tool"))?.opinion, "none");
});

test("a read-only hint that is not honoured asks", async (t) => {
  const b = await bench(t, { person: "nobody", policy: { hints: false } });
  assert.deepEqual(outcomes(await b.process([call("read", "x")])), ["denied denied_unattended"]);
});

test("a permission that does not settle in 5 s is an ask, and a late allow changes nothing", async (t) => {
  const late = Promise.withResolvers<"allow">();
  const tool = textTool("silent", "read", { permission: () => late.promise });
  const b = await bench(t, { tools: [tool] });
  const running = b.process([call("silent", "x", "c1"), call("edit", "y", "c2")]);
  await b.clock.advance(4_999);
  assert.equal((await b.stored("call.judged", "c1")).length, 0);
  await b.clock.advance(1);
  await until(() => b.dispatcher.pending().length === 2);
  assert.match((await b.stored("call.judged", "c1"))[0]?.body.trace.find(({ layer }) => layer === "tool")?.note ?? "", /5 s/);
  const notes = b.dispatcher.pending().map(({ details }) => details.note);
  assert.deepEqual(notes.sort(), ["tool permission failed: it did not answer within 5 s", undefined]);
  late.resolve("allow");
  await rest();
  assert.equal(b.dispatcher.pending().length, 2);
  for (const id of ["c1", "c2"]) b.dispatcher.cancel(id);
  await running;
});

test("a call cancelled while its permission hangs ends at once", async (t) => {
  const tool = textTool("silent", "read", { permission: () => new Promise(() => undefined) });
  const b = await bench(t, { tools: [tool] });
  const running = b.process([call("silent", "x", "c1")]);
  await rest();
  b.dispatcher.cancel("c1");
  await b.clock.advance(5_000);
  assert.deepEqual(outcomes(await running), ["cancelled cancelled"]);
});

type FactsRow = readonly [name: string, facts: Facts];

const failing: readonly FactsRow[] = [
  [
    "throws",
    () => {
      throw new Error("no parser");
    },
  ],
  ["rejects", () => Promise.reject(new Error("no parser"))],
  ["finds no units", () => ({ units: [], binds: {} })],
  ["finds nothing", () => undefined as unknown as RequestFacts],
  ["finds units that are none", () => ({ units: "all", binds: {} }) as unknown as RequestFacts],
  ["finds no binds", () => ({ units: [{ subject: "x" }] }) as unknown as RequestFacts],
];
for (const [name, facts] of failing) {
  test(`law 4: a facts port that ${name} leads to an explicit ask of the guard analysis-failed, also in yolo`, async (t) => {
    const person = scriptedApprover({ edit: "approve", read: "reject" });
    const b = await bench(t, { policy: { mode: "yolo", rules: { user: { allow: ["*"] } } }, deps: { facts }, person });
    assert.deepEqual(outcomes(await b.process([call("edit", "x"), call("read", "y")])), ["succeeded", "rejected rejected_by_user"]);
    assert.deepEqual(
      person.shown.map(({ source, explicitAsk }) => [source, explicitAsk]),
      [
        ["analysis-failed", true],
        ["analysis-failed", true],
      ],
    );
    const alone = await bench(t, { policy: { mode: "yolo" }, deps: { facts }, person: "nobody" });
    assert.deepEqual(outcomes(await alone.process([call("edit", "x")])), ["denied denied_unattended"]);
  });
}

test("law 4: a deny still denies what could not be analysed", async (t) => {
  const facts: Facts = () => Promise.reject(new Error("no parser"));
  const b = await bench(t, { policy: { rules: { team: { deny: ["edit"] } } }, deps: { facts } });
  assert.deepEqual(outcomes(await b.process([call("edit", "x")])), ["denied denied_by_rule"]);
});

test("a policy source that throws denies every call with the label of a policy that failed to load", async (t) => {
  const policy = {
    current: () => {
      throw new Error("no settings");
    },
    subscribe: () => () => undefined,
  };
  const b = await bench(t, { deps: { policy } });
  const report = await b.process([call("read", "x"), call("edit", "y")]);
  assert.deepEqual(outcomes(report), ["denied denied_by_rule", "denied denied_by_rule"]);
  assert.equal(textOf(report.results[0]), "Tool 'read' is denied by policy (failed to load).");
});

test("a policy that fails while a call waits denies it", async (t) => {
  let fail = false;
  const changed = new Set<() => void>();
  const b = await bench(t, {
    deps: {
      policy: {
        current: () => {
          if (fail) throw new Error("no settings");
          return { revision: "1", mode: "default", checkers: [], safeguards: [], honourReadOnlyHint: true };
        },
        subscribe: (tell) => {
          changed.add(tell);
          return () => void changed.delete(tell);
        },
      },
    },
  });
  const running = b.process([call("edit", "x")]);
  await until(() => b.dispatcher.pending().length === 1);
  fail = true;
  for (const tell of changed) tell();
  assert.deepEqual(outcomes(await running), ["denied denied_policy_changed"]);
});

const throwing = () => {
  throw new Error("boom");
};
test("a checker or guard that throws denies", async (t) => {
  for (const words of [
    { checkers: [{ label: "team", scope: "team" as const, check: throwing }], safeguards: [] },
    { checkers: [], safeguards: [{ id: "g", check: throwing }] },
  ]) {
    const policy = {
      current: () => ({ revision: "1", mode: "yolo", honourReadOnlyHint: true, ...words }),
      subscribe: () => () => undefined,
    };
    const b = await bench(t, { deps: { policy } });
    assert.equal(only(await b.process([call("edit", "x")])).outcome, "denied");
    assert.deepEqual(b.world.lines, []);
  }
});

test("the strictest unit decides", async (t) => {
  const facts: Facts = () => ({ units: [{ subject: "a" }, { subject: "b" }], binds: {} });
  const guard = {
    id: "b",
    check: (_: unknown, { subject }: { readonly subject: string }) => ({ verdict: subject === "b" ? "deny" : "none" }) as const,
  };
  const b = await bench(t, { policy: { mode: "yolo", safeguards: [guard] }, deps: { facts } });
  assert.deepEqual(outcomes(await b.process([call("edit", "x")])), ["denied denied_by_guard"]);
  assert.equal((await b.stored("call.judged"))[0]?.body.units, 2);
});

test("facts prove safety, place inside the workspace and the plan file for the modes", async (t) => {
  for (const [mode, found, outcome] of [
    ["auto-edit", { insideWorkspace: true }, "succeeded"],
    ["auto-edit", {}, "denied denied_unattended"],
    ["plan", { planFile: true }, "succeeded"],
    ["plan", { safe: true }, "succeeded"],
    ["plan", {}, "denied denied_by_mode"],
    ["default", { safe: true }, "succeeded"],
    ["bogus", {}, "denied denied_unattended"],
  ] as const) {
    const b = await bench(t, {
      policy: { mode },
      person: "nobody",
      deps: { facts: () => ({ units: [{ subject: "x" }], binds: {}, ...found }) },
    });
    assert.deepEqual(outcomes(await b.process([call("edit", "x")])), [outcome], `${mode} ${JSON.stringify(found)}`);
  }
});

test("the fingerprint is the digest of tool, toolDigest, input, cwd and binds, and is recorded when a person is asked", async (t) => {
  const facts: Facts = () => ({ units: [{ subject: "x" }], binds: { "a.sh": "d1" }, view: { paths: ["/workspace/a"] }, planDigest: "p1" });
  const b = await bench(t, { deps: { facts }, person: scriptedApprover({ edit: "approve" }) });
  await b.process([call("edit", "x")]);
  const [judged] = await b.stored("call.judged");
  const { toolDigest, fingerprint } = judged!.body;
  assert.equal(
    fingerprint,
    sha256.sha256(`{"binds":{"a.sh":"d1"},"cwd":"/workspace","input":{"text":"x"},"tool":"edit","toolDigest":"${toolDigest}"}`),
  );
  assert.deepEqual([judged?.body.binds, judged?.body.planDigest], [{ "a.sh": "d1" }, "p1"]);
  assert.deepEqual((await b.stored("approval.opened"))[0]?.body.facts, { paths: ["/workspace/a"] });
});

test("whoever runs or asks has a fingerprint; a deny that is only kept in memory needs none", async (t) => {
  for (const [policy, durable, has] of [
    [{ mode: "yolo" }, false, true],
    [{ mode: "default" }, false, true],
    [{ mode: "plan" }, false, false],
    [{ mode: "plan" }, true, true],
  ] as const) {
    const b = await bench(t, { policy, person: "nobody", wrap: (ledger) => ({ ...ledger, durable }) });
    await b.process([call("edit", "x")]);
    const [judged] = await b.stored("call.judged");
    assert.equal(judged?.body.fingerprint !== undefined, has, `${policy.mode} ${durable}`);
  }
});

test("a durable ledger never has a claim without its fingerprint", async (t) => {
  const b = await bench(t, { policy: { mode: "yolo" }, wrap: (ledger) => ({ ...ledger, durable: true }) });
  await b.process([call("edit", "x"), call("read", "y")]);
  for (const { body } of await b.stored("call.claimed")) assert.match(body.fingerprint ?? "", /^[0-9a-f]{64}$/);
  assert.deepEqual(
    (await b.stored("call.claimed")).map(({ body }) => body.durability),
    ["full", "normal"],
  );
});

type ConfirmRow = readonly [name: string, confirm: unknown, warning: RegExp | undefined, type: string];

const confirms: readonly ConfirmRow[] = [
  ["gives details", () => ({ type: "exec", command: "ls", rootCommand: "ls" }), undefined, "exec"],
  [
    "throws",
    () => {
      throw new Error("no diff");
    },
    /^preview unavailable: no diff$/,
    "info",
  ],
  ["rejects", () => Promise.reject(new Error("no diff")), /^preview unavailable: no diff$/, "info"],
  ["gives nonsense", () => ({ type: "dance" }), /^preview unavailable: /, "info"],
  ["gives nothing", () => undefined, /^preview unavailable: /, "info"],
];
for (const [name, confirm, warning, type] of confirms) {
  test(`a confirm that ${name}: the call asks with ${type} details`, async (t) => {
    const tool = textTool("shown", "edit", { confirm: confirm as NonNullable<Definition["confirm"]> });
    const person = scriptedApprover({ shown: "reject" });
    const b = await bench(t, { tools: [tool], person });
    assert.deepEqual(outcomes(await b.process([call("shown", "x")])), ["rejected rejected_by_user"]);
    const [{ details }] = person.shown as never as [{ details: { type: string; warnings?: string[]; title?: string } }];
    assert.equal(details.type, type);
    if (warning) assert.match(details.warnings?.[0] ?? "", warning);
    else assert.deepEqual([details.warnings, details.title], [undefined, "Confirm command"]);
  });
}

test("a tool made by hand is asked about with the details that its calls give", async (t) => {
  const whole = textTool("by_hand", "edit");
  const confirmation: Invocation["confirmation"] = async () => ({ type: "exec", command: "ls", rootCommand: "ls" });
  const build: Tool["build"] = async (input, ctx) => ({ ...(await whole.build(input, ctx)), confirmation });
  const person = scriptedApprover({ by_hand: "reject" });
  const b = await bench(t, { tools: [{ ...whole, build }], person });
  await b.process([call("by_hand", "x")]);
  assert.deepEqual(
    person.shown.map(({ details }) => details.type),
    ["exec"],
  );
});

test("a confirm that exceeds 30 s leaves the plain description with a warning; the call still asks", async (t) => {
  const tool = textTool("shown", "edit", { confirm: () => new Promise(() => undefined) });
  const b = await bench(t, { tools: [tool] });
  const running = b.process([call("shown", "x", "c1")]);
  await b.clock.advance(29_999);
  assert.deepEqual(b.dispatcher.pending(), []);
  await b.clock.advance(1);
  await until(() => b.dispatcher.pending().length === 1);
  const { details, title } = b.dispatcher.pending()[0]!;
  assert.deepEqual([details.type, title], ["info", "Confirm shown"]);
  assert.match(details.warnings?.[0] ?? "", /^preview unavailable: /);
  b.dispatcher.cancel("c1");
  await running;
});

test("a call cancelled while its confirm hangs ends without waiting for it", async (t) => {
  const tool = textTool("shown", "edit", {
    confirm: (_input, _ctx, signal) => new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason))),
  });
  const b = await bench(t, { tools: [tool] });
  const running = b.process([call("shown", "x", "c1")]);
  await rest();
  b.dispatcher.cancel("c1");
  assert.deepEqual(outcomes(await running), ["cancelled cancelled"]);
});

test("what is offered for always is shown, and hidden for an explicit ask", async (t) => {
  const person = scriptedApprover({ edit: "reject" });
  const b = await bench(t, { person });
  await b.process([call("edit", "x")]);
  b.policy.set({ rules: { team: { ask: [{ text: "edit", because: "look first" }] } } });
  await b.process([call("edit", "y")]);
  const [plain, explicit] = person.shown;
  assert.deepEqual([plain?.suggestions, plain?.details.permissionRules, plain?.details.hideAlwaysAllow], [["edit"], ["edit"], undefined]);
  assert.deepEqual([explicit?.suggestions, explicit?.details.permissionRules, explicit?.details.hideAlwaysAllow], [[], undefined, true]);
  assert.deepEqual([explicit?.reason, explicit?.source, explicit?.rule?.because], ["checker", "permissions configuration", "look first"]);
});

type Words = { revision: string; mode: string; honourReadOnlyHint: boolean; checkers: NamedChecker[]; safeguards: Safeguard[] };

const denies: NamedChecker = { label: "no", scope: "user", check: () => ({ verdict: "deny" }) };
const asks: Safeguard = { id: "ask", check: () => ({ verdict: "ask" }) };

const turning: readonly (readonly [sentence: string, tool: string, change: (words: Words) => void, outcomes: readonly string[]])[] = [
  ["the mode", "edit", (words) => void Object.assign(words, { mode: "default" }), ["succeeded", "denied denied_unattended"]],
  ["the mode, to plan", "edit", (words) => void Object.assign(words, { mode: "plan" }), ["succeeded", "denied denied_by_mode"]],
  ["a checker", "edit", (words) => void words.checkers.push(denies), ["succeeded", "denied denied_by_rule"]],
  ["a guard", "edit", (words) => void words.safeguards.push(asks), ["succeeded", "denied denied_unattended"]],
  [
    "whether hints are honoured",
    "read",
    (words) => void Object.assign(words, { mode: "default", honourReadOnlyHint: false }),
    ["succeeded", "denied denied_unattended"],
  ],
];

for (const [sentence, tool, change, expected] of turning) {
  test(`a policy that is changed where it is, in ${sentence}, counts for the next call of the same tool`, async (t) => {
    const words: Words = { revision: "1", mode: "yolo", honourReadOnlyHint: true, checkers: [], safeguards: [] };
    const policy = { current: () => words, subscribe: () => () => undefined };
    const b = await bench(t, { person: "nobody", deps: { policy } });
    const first = outcomes(await b.process([call(tool, "one")]));
    change(words);
    assert.deepEqual([...first, ...outcomes(await b.process([call(tool, "two")]))], expected);
    const [one, two] = await b.stored("call.judged");
    assert.notDeepEqual(one?.body.trace, two?.body.trace);
  });
}
