import assert from "node:assert/strict";
import { test } from "node:test";
import { type Answer, type FallbackContext, type JsonObject, type ResolveFallback, ToolError, type ToolResult } from "@assent/core";
import { scriptedApprover } from "@assent/core/testing";
import { only, outcomes, says, scriptedHooks, textOf, until } from "../harness.ts";
import { type ProposalBench, type ProposalOptions, proposalBench, resolving } from "./proposal-bench.ts";

const PLAN = "1. look\n2. leap";

/** What happened to a plan, and the handler that a mode would set. */
type Planning = { readonly handler: ResolveFallback; readonly seen: FallbackContext[]; text: string; asked: number };

function planning(over: Partial<ResolveFallback> = {}): Planning {
  const seen: FallbackContext[] = [];
  const plan: Planning = {
    seen,
    text: PLAN,
    asked: 0,
    handler: {
      label: "Plan",
      sourceToolName: "plan_mode",
      gone: "Plan mode is off.",
      ask: ({ extra }) => {
        plan.asked += 1;
        if (plan.text === "") return { answer: { content: "No plan found.", error: { message: "No plan found.", type: "plan_missing" } } };
        const title = String(extra?.["title"] ?? "plan");
        return {
          details: { type: "plan", title, plan: plan.text, prePlanMode: "yolo", digest: digest(plan.text) },
          digest: digest(plan.text),
          label: `Plan: ${title}`,
          unattended: "No person can approve the plan here.",
          rejected: (reason) => ({ type: "plan_rejected", text: `Plan rejected.${reason === undefined ? "" : ` Reason: ${reason}`}` }),
        };
      },
      apply: (_words, ctx) => {
        seen.push(ctx);
        if (ctx.digest !== digest(plan.text))
          throw new ToolError("The plan changed while it was being reviewed. Call resolve again.", "plan_changed");
        return {
          result: { content: `Plan approved. Mode: ${ctx.answer?.mode ?? "default"}.`, details: { mode: ctx.answer?.mode ?? "default" } },
        };
      },
      ...over,
    },
  };
  return plan;
}

function digest(text: string): string {
  return `sha256:${text.length}:${text}`;
}

async function planBench(t: Parameters<typeof proposalBench>[0], plan: Planning, options: ProposalOptions = {}): Promise<ProposalBench> {
  const b = await proposalBench(t, { policy: { mode: "plan" }, ...options });
  b.dispatcher.proposals.setResolveFallback(plan.handler);
  return b;
}

const approve = (over: Partial<Answer> = {}) => scriptedApprover(() => ({ outcome: "approve", ...over }));

test("without a question it acts at once, also in plan mode", async (t) => {
  const { ask: _ask, ...handler } = planning({ apply: ({ reason }) => ({ result: `done: ${reason}`, label: "Thing" }) }).handler;
  const b = await proposalBench(t, { policy: { mode: "plan" } });
  b.dispatcher.proposals.setResolveFallback(handler);
  const report = only(await b.process([resolving("apply", { extra: { a: 1 } })]));
  assert.deepEqual([report.outcome, report.type, textOf(report)], ["succeeded", "applied", "done: because"]);
  assert.deepEqual(report.result.details, {
    action: "apply",
    reason: "because",
    extra: { a: 1 },
    sourceToolName: "plan_mode",
    label: "Thing",
  });
});

test("a proposal comes before it, and a named id never reaches it", async (t) => {
  const plan = planning();
  const b = await planBench(t, plan, { policy: { mode: "yolo" }, person: approve() });
  await b.stage({ a: "uno" });
  assert.equal(only(await b.process([resolving("apply")])).type, "applied");
  assert.equal(plan.seen.length, 0);
  assert.equal(only(await b.process([resolving("apply", { id: "p_no" })])).type, "proposal_not_found");
  assert.equal(plan.asked, 0);
});

type Answered = readonly [name: string, over: Partial<Answer>, mode: string];
const ANSWERED: readonly Answered[] = [
  ["proceed_once", {}, "default"],
  ["proceed_always", { mode: "auto-edit" }, "auto-edit"],
  ["restore_previous", { mode: "yolo" }, "yolo"],
];
for (const [name, over, mode] of ANSWERED) {
  test(`${name} reaches the handler as the answer on disk`, async (t) => {
    const plan = planning();
    const b = await planBench(t, plan, { person: approve(over) });
    const report = only(await b.process([resolving("apply", { extra: { title: "Leap" } }, "r1")]));
    assert.deepEqual([report.type, textOf(report)], ["applied", `Plan approved. Mode: ${mode}.`]);
    assert.deepEqual(report.result.details, {
      action: "apply",
      reason: "because",
      extra: { title: "Leap" },
      sourceToolName: "plan_mode",
      label: "Plan: Leap",
      sourceResultDetails: { mode },
    });
    const [open] = b.person.shown;
    assert.deepEqual([open?.details.type, open?.explicitAsk, open?.details.hideAlwaysAllow, open?.suggestions], ["plan", true, true, []]);
    assert.deepEqual((await b.stored("call.judged", "r1"))[0]?.body.binds, { standing: "plan_mode", digest: digest(PLAN) });
    assert.equal((await b.stored("approval.answered"))[0]?.body.mode, over.mode);
    assert.equal(plan.seen[0]?.digest, digest(PLAN));
  });
}

test("a mode is for plans only, and only one that was offered", async (t) => {
  const b = await proposalBench(t, { policy: { mode: "default" } });
  void b.process([resolving("apply")]);
  await b.stage({ a: "uno" });
  const running = b.process([resolving("apply", { reason: "2" })]);
  await until(() => b.dispatcher.pending().length > 0);
  const id = b.dispatcher.pending()[0]?.id ?? "";
  await assert.rejects(b.dispatcher.answer(says(id, { mode: "yolo" })), { type: "bad_answer" });
  await b.dispatcher.answer(says(id, { outcome: "reject" }));
  await running;
  const plan = planning();
  const p = await planBench(t, plan);
  const planned = p.process([resolving("apply")]);
  await until(() => p.dispatcher.pending().length > 0);
  const approval = p.dispatcher.pending()[0]?.id ?? "";
  await assert.rejects(p.dispatcher.answer(says(approval, { mode: "plan" })), { type: "bad_answer" });
  await p.dispatcher.answer(says(approval, { outcome: "reject", reason: "not yet" }));
  const report = only(await planned);
  assert.deepEqual([report.outcome, report.type, textOf(report)], ["rejected", "plan_rejected", "Plan rejected. Reason: not yet"]);
});

for (const mode of ["yolo", "auto-edit", "default", "plan"]) {
  test(`no mode, rule, grant or hook answers it (${mode})`, async (t) => {
    const plan = planning();
    const hooks = scriptedHooks({ permission_request: () => ({ verdict: "allow" }), pre_tool_use: () => ({ verdict: "allow" }) });
    const b = await planBench(t, plan, {
      policy: { mode, rules: { user: { allow: ["resolve", "*"] } } },
      person: "nobody",
      deps: { hooks },
    });
    const report = only(await b.process([resolving("apply")]));
    assert.deepEqual(
      [report.outcome, report.type, textOf(report)],
      ["denied", "denied_unattended", "No person can approve the plan here."],
    );
    assert.equal(plan.seen.length, 0);
  });
}

test("an answer instead of a question is the call's result, and no one is asked", async (t) => {
  const plan = planning();
  plan.text = "";
  const b = await planBench(t, plan);
  const report = only(await b.process([resolving("apply")]));
  assert.deepEqual([report.outcome, report.type, textOf(report)], ["failed", "plan_missing", "No plan found."]);
  assert.equal(b.person.shown.length, 0);
});

test("a question that throws is reported like an apply that throws", async (t) => {
  const b = await planBench(
    t,
    planning({
      ask: () => {
        throw new Error("no file");
      },
    }),
  );
  const report = only(await b.process([resolving("apply")]));
  assert.deepEqual([report.type, textOf(report)], ["proposal_apply_failed", "Apply failed: no file"]);
});

test("what changed after it was shown is not approved", async (t) => {
  const plan = planning();
  const b = await planBench(t, plan);
  const running = b.process([resolving("apply")]);
  await until(() => b.dispatcher.pending().length > 0);
  plan.text = "another";
  await b.dispatcher.answer(says(b.dispatcher.pending()[0]?.id ?? ""));
  const report = only(await running);
  assert.deepEqual([report.outcome, report.type], ["failed", "plan_changed"]);
  assert.equal(plan.asked, 1, "the yes is for what was shown, so it is not asked for anew");
});

test("an edit of the plan is shown again under a higher revision, and the new digest is approved", async (t) => {
  const plan = planning();
  const b = await planBench(t, plan);
  const running = b.process([resolving("apply")]);
  await until(() => b.dispatcher.pending().length > 0);
  plan.text = "edited";
  b.dispatcher.proposals.askAgain();
  await until(() => b.dispatcher.pending().some(({ revision }) => revision === 2));
  const [open] = b.dispatcher.pending();
  assert.equal(open?.details.type === "plan" && open.details.plan, "edited");
  await assert.rejects(b.dispatcher.answer(says(open?.id ?? "", { revision: 1 })), { type: "stale_revision" });
  await b.dispatcher.answer(says(open?.id ?? "", { revision: 2 }));
  assert.equal(only(await running).type, "applied");
  assert.equal(plan.seen[0]?.digest, digest("edited"));
});

test("removing a handler while a person is asked ends the call with its note", async (t) => {
  const b = await planBench(t, planning());
  const running = b.process([resolving("apply")]);
  await until(() => b.dispatcher.pending().length > 0);
  b.dispatcher.proposals.setResolveFallback(null);
  const report = only(await running);
  assert.deepEqual(
    [report.outcome, report.type, textOf(report)],
    ["denied", "no_pending_action", "No pending action to resolve. Nothing to apply or discard.\nPlan mode is off."],
  );
});

test("a call that was frozen on a handler that is gone at its turn ends as nothing pending", async (t) => {
  const { ask: _ask, ...handler } = planning().handler;
  for (const action of ["apply", "discard"] as const) {
    const b = await proposalBench(t);
    b.dispatcher.proposals.setResolveFallback(handler);
    const running = b.process([{ name: "slow_edit", arguments: { text: "x" } }, resolving(action)]);
    await b.gates.reached("x");
    b.dispatcher.proposals.setResolveFallback(null);
    b.gates.open("x");
    const [, outcome] = outcomes(await running);
    assert.equal(outcome, action === "apply" ? "failed no_pending_action" : "succeeded nothing_to_discard");
  }
});

test("a discard withdraws in the plain words, or in the handler's", async (t) => {
  const b = await planBench(t, planning());
  const report = only(await b.process([resolving("discard", { reason: "later" })]));
  assert.deepEqual([report.type, textOf(report)], ["discarded", "Discarded: Plan. Reason: later."]);
  assert.deepEqual(report.result.details, { action: "discard", reason: "later", sourceToolName: "plan_mode", label: "Plan" });
  b.dispatcher.proposals.setResolveFallback(planning({ reject: ({ reason }) => ({ result: `gone: ${reason}` }) }).handler);
  assert.equal(textOf(only(await b.process([resolving("discard", { reason: "x" })]))), "gone: x");
});

test("an answer given while no process ran is used once, by the process that resumes", async (t) => {
  const plan = planning();
  const b = await planBench(t, plan, { person: "nobody", deps: { onAsk: "park" } });
  const parked = await b.process([resolving("apply")]);
  assert.deepEqual(outcomes(parked), ["waiting"]);
  const [row] = await b.ledger.pending("approvals");
  await b.dispatcher.answer(says(row?.id ?? "", { mode: "auto-edit" }));
  const next = await proposalBench(t, { beside: b, files: b.files, reopen: { id: b.session.id, takeOver: true } });
  const resumed = planning();
  next.dispatcher.proposals.setResolveFallback(resumed.handler);
  const report = only(await next.resume());
  assert.deepEqual([report.type, textOf(report)], ["applied", "Plan approved. Mode: auto-edit."]);
  assert.equal(resumed.asked, 0);
  assert.deepEqual(outcomes(await next.resume()), []);
});

test("a plan that waits is shown again by the process that resumes", async (t) => {
  const b = await planBench(t, planning(), { person: "nobody", deps: { onAsk: "park" } });
  await b.process([resolving("apply")]);
  const next = await proposalBench(t, { beside: b, files: b.files, reopen: { id: b.session.id, takeOver: true }, person: approve() });
  next.dispatcher.proposals.setResolveFallback(planning().handler);
  assert.equal(only(await next.resume()).type, "applied");
  assert.equal(next.person.shown[0]?.revision, 1);
});

test("the details of a failed apply of a handler name it", async (t) => {
  const plan = planning({ apply: () => ({ result: { content: "no", error: { message: "no", type: "plan_exists" } } as ToolResult }) });
  const b = await planBench(t, plan, { person: approve() });
  const report = only(await b.process([resolving("apply")]));
  assert.deepEqual([report.outcome, report.type, (report.result.details as JsonObject)["label"]], ["failed", "plan_exists", "Plan: plan"]);
});
