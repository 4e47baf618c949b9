import assert from "node:assert/strict";
import { test } from "node:test";
import type { Answer, Facts, JsonObject } from "@assent/core";
import { scriptedApprover } from "@assent/core/testing";
import { call, only, outcomes, says, sha256, textOf, textTool, until } from "../harness.ts";
import { pusher, resolving } from "../proposal/proposal-bench.ts";
import { type PlanBench, type PlanOptions, planBench } from "./plan-bench.ts";

const PLAN = "# Fix cache\n\n1. look\n2. leap\n";
const approve = (over: Partial<Answer> = {}) => scriptedApprover(() => ({ outcome: "approve", ...over }));

/** A session in plan, with a plan written. */
async function planned(t: Parameters<typeof planBench>[0], options: PlanOptions & { readonly from?: string } = {}): Promise<PlanBench> {
  const { from = "default", ...rest } = options;
  const b = await planBench(t, { ...rest, policy: { ...rest.policy, mode: from } });
  if (from !== "plan") await b.modes.change("plan", "Tester");
  b.plans.set(b.planFile, PLAN);
  return b;
}

test("the person sees the whole plan, its title, the mode before it and a digest", async (t) => {
  const b = await planned(t, { from: "yolo", person: approve() });
  await b.process([resolving("apply", {}, "r1")]);
  const [open] = b.person.shown;
  const digest = `sha256:${sha256.sha256(PLAN)}`;
  const note = "Plan needs a person's approval";
  assert.deepEqual(open?.details, {
    type: "plan",
    plan: PLAN,
    title: "Fix-cache",
    prePlanMode: "yolo",
    digest,
    hideAlwaysAllow: true,
    note,
  });
  assert.deepEqual([open?.explicitAsk, open?.suggestions], [true, []]);
  assert.equal((await b.stored("call.judged", "r1"))[0]?.body.binds["digest"], digest);
});

const ANSWERS: readonly [name: string, from: string, over: Partial<Answer>, mode: string, outcome: string][] = [
  ["approve", "yolo", {}, "default", "proceed_once"],
  ["proceed_always", "default", { mode: "auto-edit" }, "auto-edit", "proceed_always"],
  ["restore_previous", "yolo", { mode: "yolo" }, "yolo", "restore_previous"],
  ["in auto-edit a person is asked all the same", "auto-edit", {}, "default", "proceed_once"],
];
for (const [name, from, over, mode, outcome] of ANSWERS) {
  test(`${name}`, async (t) => {
    const b = await planned(t, { from, person: approve(over) });
    const report = only(await b.process([resolving("apply", { extra: { title: "Add OAuth login" } })]));
    assert.equal(b.person.shown.length, 1);
    assert.equal(textOf(report), `Plan approved: Add-OAuth-login. Mode: ${mode}.\n.assent/plans/Add-OAuth-login.md`);
    assert.deepEqual(report.result.details, {
      action: "apply",
      reason: "because",
      extra: { title: "Add OAuth login" },
      sourceToolName: "plan_mode",
      label: "Plan: Add-OAuth-login",
      sourceResultDetails: { title: "Add-OAuth-login", planFile: ".assent/plans/Add-OAuth-login.md", mode, outcome },
    });
    assert.deepEqual(report.result.display, {
      type: "plan_summary",
      message: `Plan approved: Add-OAuth-login. Mode: ${mode}.`,
      plan: PLAN,
    });
    assert.deepEqual([b.modes.mode(), b.session.state.planning], [mode, null]);
    assert.deepEqual([...b.plans], [["/workspace/.assent/plans/Add-OAuth-login.md", PLAN]]);
    assert.deepEqual(await b.stored("grant.created"), [], "creates no grant");
    assert.equal(only(await b.process([resolving("apply")])).type, "no_pending_action", "the handler goes with the mode");
  });
}

const REFUSED: readonly [sentence: string, act: (b: PlanBench) => void, extra: JsonObject, type: string, text: (b: PlanBench) => string][] =
  [
    [
      "no plan",
      (b) => b.plans.delete(b.planFile),
      {},
      "plan_missing",
      (b) => `No plan found. Write the plan to .assent/plans/${b.session.id}.md first, then call resolve.`,
    ],
    [
      "a blank plan",
      (b) => b.plans.set(b.planFile, " \n"),
      {},
      "plan_missing",
      (b) => `No plan found. Write the plan to .assent/plans/${b.session.id}.md first, then call resolve.`,
    ],
    ["a title with a separator", () => undefined, { title: "../x" }, "invalid_tool_params", () => "title must not contain path separators"],
    [
      "a title that is taken",
      (b) => b.plans.set("/workspace/.assent/plans/Fix-cache.md", "mine"),
      {},
      "plan_exists",
      () => "A plan named Fix-cache exists. Give another title in extra.title.",
    ],
  ];
for (const [sentence, act, extra, type, text] of REFUSED) {
  test(`${sentence} is reported without asking a person`, async (t) => {
    const b = await planned(t, { person: approve() });
    act(b);
    const report = only(await b.process([resolving("apply", { extra })]));
    assert.deepEqual([report.outcome, report.type, textOf(report)], ["failed", type, text(b)]);
    assert.equal(b.person.shown.length, 0);
    assert.equal(b.modes.mode(), "plan");
  });
}

const TITLES: readonly [sentence: string, extra: JsonObject, plan: string, title: string][] = [
  ["a title that is not a string", { title: {} }, PLAN, "Fix-cache"],
  ["a blank title", { title: "  " }, "text only", "plan"],
];
for (const [sentence, extra, plan, title] of TITLES) {
  test(`${sentence}: the session's own id is not used as a title`, async (t) => {
    const b = await planned(t, { person: approve() });
    b.plans.set(b.planFile, plan);
    assert.match(textOf(only(await b.process([resolving("apply", { extra })]))), new RegExp(`^Plan approved: ${title}\\.`));
  });
}

test("a rejection keeps the mode, gives the reason, and the run continues", async (t) => {
  const b = await planned(t, { person: scriptedApprover(() => ({ outcome: "reject", reason: "too much" })) });
  const report = only(await b.process([resolving("apply")]));
  assert.deepEqual([report.outcome, report.type, textOf(report)], ["rejected", "plan_rejected", "Plan rejected. Reason: too much"]);
  assert.deepEqual([b.modes.mode(), b.plans.has(b.planFile)], ["plan", true]);
});

test("a discard withdraws the plan; mode and file stay", async (t) => {
  const b = await planned(t);
  const report = only(await b.process([resolving("discard", { reason: "later" })]));
  assert.deepEqual([report.type, textOf(report)], ["discarded", "Discarded: Plan. Reason: later."]);
  assert.deepEqual([b.modes.mode(), b.plans.has(b.planFile)], ["plan", true]);
});

test("turning plan mode off while a person is asked ends the call for good", async (t) => {
  const b = await planned(t);
  const running = b.process([resolving("apply")]);
  await until(() => b.dispatcher.pending().length > 0);
  await b.modes.change("default", "Tester");
  const report = only(await running);
  assert.deepEqual(
    [report.type, textOf(report)],
    ["no_pending_action", "No pending action to resolve. Nothing to apply or discard.\nPlan mode is off."],
  );
  assert.equal(b.plans.has(b.planFile), true);
});

test("a plan that changed while it was reviewed is not approved", async (t) => {
  const b = await planned(t);
  const running = b.process([resolving("apply")]);
  await until(() => b.dispatcher.pending().length > 0);
  b.plans.set(b.planFile, "# Another");
  await b.dispatcher.answer(says(b.dispatcher.pending()[0]?.id ?? ""));
  const report = only(await running);
  assert.deepEqual(
    [report.outcome, report.type, textOf(report)],
    ["failed", "plan_changed", "The plan changed while it was being reviewed. Call resolve again."],
  );
  assert.deepEqual([b.modes.mode(), b.plans.has(b.planFile)], ["plan", true]);
});

test("a name that was taken while the person thought costs the approval, not the other plan", async (t) => {
  const b = await planned(t);
  const running = b.process([resolving("apply")]);
  await until(() => b.dispatcher.pending().length > 0);
  b.plans.set("/workspace/.assent/plans/Fix-cache.md", "mine");
  await b.dispatcher.answer(says(b.dispatcher.pending()[0]?.id ?? ""));
  assert.equal(only(await running).type, "plan_exists");
  assert.deepEqual([b.modes.mode(), b.plans.get("/workspace/.assent/plans/Fix-cache.md")], ["plan", "mine"]);
});

test("a mode that is locked is not entered by approving a plan", async (t) => {
  const b = await planned(t, { from: "yolo", person: approve({ mode: "yolo" }), isLocked: (mode) => mode === "yolo" });
  assert.equal(only(await b.process([resolving("apply")])).type, "execution_denied");
  assert.deepEqual([b.modes.mode(), b.plans.has(b.planFile)], ["plan", true]);
});

test("after a crash the resumed session uses the approval once and enters its mode", async (t) => {
  const b = await planned(t, { from: "yolo", person: "nobody", deps: { onAsk: "park" } });
  assert.deepEqual(outcomes(await b.process([resolving("apply")])), ["waiting"]);
  const [row] = await b.ledger.pending("approvals");
  await b.dispatcher.answer(says(row?.id ?? "", { mode: "yolo" }));
  assert.equal(b.modes.mode(), "plan", "nothing happens before the session resumes");
  const { plans } = b;
  const next = await planBench(t, {
    beside: b,
    files: b.files,
    plans,
    policy: { mode: "yolo" },
    reopen: { id: b.session.id, takeOver: true },
  });
  assert.equal(next.modes.mode(), "plan", "a resumed session is in plan again");
  const report = only(await next.resume());
  assert.match(textOf(report), /^Plan approved: Fix-cache\. Mode: yolo\./);
  assert.equal(next.modes.mode(), "yolo");
  assert.deepEqual(outcomes(await next.resume()), []);
});

test("a proposal that was staged before comes first, and is denied; no plan approval is opened", async (t) => {
  const b = await planBench(t, { policy: { mode: "yolo" }, tools: [pusher([() => ({ label: "Deploy", apply: () => "deployed" })])] });
  await b.process([call("deploy", "x")]);
  await b.modes.change("plan", "Tester");
  b.plans.set(b.planFile, PLAN);
  const report = only(await b.process([resolving("apply")]));
  assert.deepEqual([report.outcome, report.type], ["denied", "denied_by_mode"]);
  assert.equal(b.person.shown.length, 0);
  const [row] = b.dispatcher.proposals.list();
  assert.equal(row?.state, "staged");
  assert.equal(only(await b.process([resolving("discard")])).type, "discarded", "then the plan can be proposed");
  const running = b.process([resolving("apply")]);
  await until(() => b.dispatcher.pending().length > 0);
  assert.equal(b.dispatcher.pending()[0]?.details.type, "plan");
  await b.dispatcher.answer(says(b.dispatcher.pending()[0]?.id ?? "", { outcome: "reject" }));
  await running;
});

test("an agent in plan has no handler", async (t) => {
  const b = await planned(t, { from: "plan", created: { parent: { session: "s_main", call: "c", task: "t" } }, person: approve() });
  assert.equal(only(await b.process([resolving("apply")])).type, "no_pending_action");
});

test("if no one can approve, the model learns where the plan is kept", async (t) => {
  const b = await planned(t, { person: "nobody", deps: { onAsk: "deny" } });
  const report = only(await b.process([resolving("apply")]));
  const text = `No person can approve the plan here. It is kept at .assent/plans/${b.session.id}.md.`;
  assert.deepEqual([report.outcome, report.type, textOf(report)], ["denied", "denied_unattended", text]);
  assert.equal(b.modes.mode(), "plan");
});

const KINDS = ["read", "search", "fetch", "think", "execute", "edit", "delete", "move", "other"] as const;
const PASS: readonly string[] = ["read", "search", "fetch", "think"];
for (const kind of KINDS) {
  test(`kind ${kind} ${PASS.includes(kind) ? "is judged as usual" : "is denied, even if a rule allows it"}`, async (t) => {
    const b = await planBench(t, {
      policy: { mode: "plan", rules: { user: { allow: ["*"] } } },
      tools: [textTool("thing", kind, { permission: () => "allow" })],
    });
    const report = only(await b.process([call("thing", "x")]));
    assert.equal(report.type, PASS.includes(kind) ? null : "denied_by_mode");
    if (!PASS.includes(kind))
      assert.equal(textOf(report), "Tool 'thing' is not available in plan mode. Do not retry it; finish the plan first.");
  });
}

const OTHERS: readonly [sentence: string, tool: ReturnType<typeof textTool>, type: string | null][] = [
  ["kind other with an allow rule", textTool("thing", "other"), "denied_by_mode"],
  ["kind other that says it only reads", textTool("thing", "other", { annotations: { readOnlyHint: true } }), null],
  ["a command that is proven to change nothing", textTool("thing", "execute", { safe: () => true }), null],
  ["the runtime's own tools", textTool("thing", "other", { run: undefined, runtimeHandler: "agent" } as never), null],
  [
    "the schedule tools do not pass",
    textTool("thing", "other", { run: undefined, runtimeHandler: "schedule_create" } as never),
    "denied_by_mode",
  ],
];
for (const [sentence, tool, type] of OTHERS) {
  test(`${sentence}`, async (t) => {
    const handlers = { agent: async () => "ran", schedule_create: async () => "ran" };
    const b = await planBench(t, { policy: { mode: "plan", rules: { user: { allow: ["thing"] } } }, tools: [tool], deps: { handlers } });
    assert.equal(only(await b.process([call("thing", "x")])).type, type);
  });
}

const planFacts: Facts = ({ tool }) => ({ units: [{ subject: tool }], binds: {}, planFile: true });
const WRITES: readonly [sentence: string, options: PlanOptions, type: string | null][] = [
  [
    "is written at once, though settings stage edits",
    { policy: { mode: "plan", proposals: { resolver: "both", stages: () => true } } },
    null,
  ],
  ["but not against a rule", { policy: { mode: "plan", rules: { project: { deny: ["put"] } } } }, "denied_by_rule"],
  [
    "and an ask rule asks",
    { policy: { mode: "plan", rules: { project: { ask: ["put"] } } }, person: scriptedApprover(() => "reject") },
    "rejected_by_user",
  ],
];
for (const [sentence, options, type] of WRITES) {
  test(`the plan ${sentence}`, async (t) => {
    const b = await planBench(t, { ...options, deps: { facts: planFacts } });
    const report = only(await b.process([{ name: "put", arguments: { patch: { a: "uno" } } }]));
    assert.equal(report.type, type);
    assert.equal(b.files.texts.get("/workspace/a"), type === null ? "uno" : "one");
  });
}
