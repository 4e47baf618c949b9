import assert from "node:assert/strict";
import { test } from "node:test";
import { type Answer, AnswerError, type Approver, answerApproval, createRequestReader, patternRules } from "@assent/core";
import { scriptedApprover } from "@assent/core/testing";
import { type Bench, bench, call, only, outcomes, rest, says, scriptedHooks, sha256, textOf, textTool, until } from "../harness.ts";

/** Answers as another process would: through the ledger alone. */
function elsewhere({ ledger, clock, ids, registry }: Bench, answer: Answer): ReturnType<typeof answerApproval> {
  const requests = createRequestReader({ ledger, tools: registry, digest: sha256 });
  return answerApproval({ ledger, clock, ids, rules: patternRules, requests }, answer);
}

/** Starts a batch and waits until this many approvals are before a person. */
async function asking(b: Bench, calls: Parameters<Bench["process"]>[0], over?: Parameters<Bench["process"]>[1]): Promise<Asking> {
  const running = b.process(calls, over);
  await until(() => b.dispatcher.pending().length === calls.length, "all approvals");
  const ids = new Map(b.dispatcher.pending().map(({ callId, id }) => [callId, id]));
  return { running, approval: (callId) => ids.get(callId) ?? assert.fail(`no approval of ${callId}`) };
}

type Asking = { readonly running: ReturnType<Bench["process"]>; readonly approval: (callId: string) => string };

const doors = [
  ["through the dispatcher", (b: Bench, answer: Answer) => b.dispatcher.answer(answer)],
  ["through the ledger, as another process does", elsewhere],
] as const;

for (const [door, answer] of doors) {
  test(`an approve ${door} runs the call once, and says it is on disk`, async (t) => {
    const b = await bench(t);
    const { running, approval } = await asking(b, [call("edit", "x", "c1")]);
    const report = await answer(b, says(approval("c1")));
    assert.deepEqual([report.outcome, report.alreadyAnswered, report.answeredBy?.name], ["approved", false, "Tester"]);
    assert.equal((await b.stored("approval.answered")).length, 1);
    assert.deepEqual(outcomes(await running), ["succeeded"]);
    assert.deepEqual(b.world.lines, ["x"]);
  });

  test(`a reject ${door} ends the call with the person's reason`, async (t) => {
    const b = await bench(t);
    const { running, approval } = await asking(b, [call("edit", "x", "c1")]);
    await answer(b, says(approval("c1"), { outcome: "reject", reason: "use rg" }));
    const report = await running;
    assert.deepEqual(outcomes(report), ["rejected rejected_by_user"]);
    assert.equal(textOf(report.results[0]), "The user rejected the tool call. Reason: use rg");
    assert.deepEqual(b.world.lines, []);
  });

  test(`an answer to an unknown id ${door} is unknown_approval`, async (t) => {
    const b = await bench(t);
    const { running, approval } = await asking(b, [call("edit", "x", "c1")]);
    await assert.rejects(answer(b, says("a_nope")), { name: "AnswerError", type: "unknown_approval" });
    await assert.rejects(answer(b, says(approval("c1").slice(0, -1))), { type: "unknown_approval" });
    b.dispatcher.cancel("c1");
    await running;
  });

  test(`the same answer twice ${door} gives the first one's result again`, async (t) => {
    const b = await bench(t);
    const { running, approval } = await asking(b, [call("edit", "x", "c1")]);
    const [first, second] = await Promise.all([answer(b, says(approval("c1"))), answer(b, says(approval("c1")))]);
    assert.deepEqual([first.outcome, second.outcome], ["approved", "approved"]);
    assert.deepEqual([first.alreadyAnswered, second.alreadyAnswered], [false, true]);
    assert.equal(second.identical, true);
    await running;
    const late = await answer(b, says(approval("c1")));
    assert.deepEqual([late.outcome, late.alreadyAnswered, late.identical], ["approved", true, true]);
    assert.deepEqual(b.world.lines, ["x"]);
    assert.equal((await b.stored("approval.answered")).length, 1);
  });

  test(`a different answer ${door} reports who answered and how, and changes nothing`, async (t) => {
    const b = await bench(t);
    const { running, approval } = await asking(b, [call("edit", "x", "c1")]);
    const first = await answer(b, says(approval("c1")));
    assert.equal(first.alreadyAnswered, false);
    const opposite = says(approval("c1"), { outcome: "reject" });
    if (answer !== elsewhere)
      await assert.rejects(answer(b, opposite), { type: "already_answered", message: /was approved before by Tester/ });
    const second = await elsewhere(b, opposite);
    assert.deepEqual([second.outcome, second.alreadyAnswered, second.identical], ["approved", true, false]);
    assert.equal(second.answeredBy?.name, "Tester");
    assert.notEqual(second.answeredAt, null);
    assert.deepEqual(outcomes(await running), ["succeeded"]);
  });

  test(`answers ${door} in any order each go to their own approval`, async (t) => {
    const b = await bench(t);
    const { running, approval } = await asking(b, [call("edit", "x", "c1"), call("edit", "y", "c2"), call("edit", "z", "c3")]);
    await answer(b, says(approval("c3")));
    await answer(b, says(approval("c1"), { outcome: "reject", reason: "not x" }));
    await answer(b, says(approval("c2")));
    assert.deepEqual(outcomes(await running), ["rejected rejected_by_user", "succeeded", "succeeded"]);
    assert.deepEqual(b.world.lines, ["y", "z"]);
  });

  test(`an answer without an id ${door} is bad_answer, and the approval stays open`, async (t) => {
    const b = await bench(t);
    const { running } = await asking(b, [call("edit", "x", "c1")]);
    await assert.rejects(answer(b, { outcome: "approve", by: says("").by } as Answer), { name: "AnswerError", type: "bad_answer" });
    assert.equal(b.dispatcher.pending().length, 1);
    b.dispatcher.cancel("c1");
    await running;
  });

  const stale: readonly (readonly [what: string, over: Partial<Answer>])[] = [
    ["another revision", { revision: 2 }],
    ["another fingerprint", { fingerprint: "0".repeat(64) }],
  ];
  for (const [what, over] of stale) {
    test(`an answer ${door} for ${what} is stale_revision, and nothing runs`, async (t) => {
      const b = await bench(t);
      const { running, approval } = await asking(b, [call("edit", "x", "c1")]);
      await assert.rejects(answer(b, says(approval("c1"), over)), { type: "stale_revision" });
      assert.deepEqual(b.world.lines, []);
      assert.equal(b.dispatcher.pending().length, 1);
      b.dispatcher.cancel("c1");
      await running;
    });
  }
}

test("an answer that names the fingerprint it was shown is taken", async (t) => {
  const b = await bench(t);
  const { running, approval } = await asking(b, [call("edit", "x", "c1")]);
  const { fingerprint, revision } = b.dispatcher.pending()[0]!;
  await b.dispatcher.answer(says(approval("c1"), { fingerprint, revision }));
  assert.deepEqual(outcomes(await running), ["succeeded"]);
});

test("an answer before any batch is unknown_approval", async (t) => {
  const b = await bench(t);
  await assert.rejects(b.dispatcher.answer(says("a_nope")), (error) => error instanceof AnswerError && error.type === "unknown_approval");
});

test("an answer that arrives as the approval is announced is kept and used", async (t) => {
  const b = await bench(t);
  const { signal } = new AbortController();
  let answered: Promise<unknown> | undefined;
  const report = await b.dispatcher.process({ calls: [call("edit", "x")], tools: b.registry, signal }, (event) => {
    if (event.type === "confirmation") answered = elsewhere(b, says(event.approvalId));
  });
  await answered;
  assert.deepEqual(outcomes(report), ["succeeded"]);
});

test("an answer given inside the commit of the approval, while another call already waits, is kept and used", async (t) => {
  const b = await bench(t);
  const answers: Promise<unknown>[] = [];
  const watcher = b.ledger.subscribe({ pos: 0 }, { session: b.session.id, types: ["approval.opened"] }, ({ body, at }) => {
    if (body["call"] !== "c2") return;
    const { approval, call: of, revision, fingerprint } = body as Record<string, string> & { revision: number };
    const answer = {
      approval: approval!,
      session: b.session.id,
      call: of!,
      revision,
      outcome: "approved",
      fingerprint: fingerprint!,
    } as const;
    answers.push(b.ledger.answer([{ type: "approval.answered", v: 1, at, body: { ...answer, by: says("").by, reason: null } }]));
  });
  t.after(() => watcher.close());
  const slow = textTool("late", "edit", { permission: () => rest().then(() => "ask"), run: () => "late ran" });
  b.registry.add(slow);
  const running = b.process([call("edit", "x", "c1"), call("late", "y", "c2")]);
  await until(() => answers.length === 1, "the answer");
  await Promise.all(answers);
  await until(() => b.dispatcher.pending().length === 1, "one approval left");
  await b.dispatcher.answer(says(b.dispatcher.pending()[0]!.id));
  assert.deepEqual(outcomes(await running), ["succeeded", "succeeded"]);
});

test("an answer that arrives while on_user_input hooks run is kept and used", async (t) => {
  const answers: Promise<unknown>[] = [];
  const hooks = { ...scriptedHooks({}), tell: (event: string) => void (event === "on_user_input" && answers.push(approve())) };
  const b = await bench(t, { deps: { hooks } });
  const approve = async (): Promise<unknown> => {
    const [row] = await b.ledger.pending("approvals");
    return elsewhere(b, says(row!.id));
  };
  assert.deepEqual(outcomes(await b.process([call("edit", "x")])), ["succeeded"]);
  await Promise.all(answers);
});

test("a throwing on_user_input hook changes nothing", async (t) => {
  const hooks = {
    ...scriptedHooks({}),
    tell: () => {
      throw new Error("hook");
    },
  };
  const b = await bench(t, { deps: { hooks }, person: scriptedApprover({ edit: "approve" }) });
  assert.deepEqual(outcomes(await b.process([call("edit", "x")])), ["succeeded"]);
});

test("on_user_input hooks get a label while a call waits for a person", async (t) => {
  const hooks = scriptedHooks({});
  const b = await bench(t, { deps: { hooks }, person: scriptedApprover({ edit: "approve" }) });
  await b.process([call("edit", "x", "c1"), call("read", "y")]);
  const told = hooks.told.filter(({ event }) => event === "on_user_input");
  assert.deepEqual(
    told.map(({ input }) => [input["tool_use_id"], input["label"]]),
    [["c1", "tool confirmation"]],
  );
});

test("a cancel that comes with an answer leaves one outcome, and the effect agrees with it", async (t) => {
  for (const cancelFirst of [true, false]) {
    const b = await bench(t);
    const controller = new AbortController();
    const { running, approval } = await asking(b, [call("edit", "x", "c1")], { signal: controller.signal });
    if (cancelFirst) controller.abort();
    const answering = elsewhere(b, says(approval("c1")));
    if (!cancelFirst) controller.abort();
    const [told] = await Promise.all([answering, running]);
    const { outcome } = only(await running);
    const row = (await b.ledger.pending("approvals", { all: true }))[0];
    assert.deepEqual(b.world.lines, outcome === "succeeded" ? ["x"] : []);
    assert.equal(row?.state, outcome === "succeeded" ? "approved" : "cancelled");
    if (told.alreadyAnswered) assert.equal(told.outcome, "cancelled");
  }
});

test("an approve after a cancel is reported as too late", async (t) => {
  const b = await bench(t);
  const { running, approval } = await asking(b, [call("edit", "x", "c1")]);
  b.dispatcher.cancel("c1");
  await running;
  const told = await elsewhere(b, says(approval("c1")));
  assert.deepEqual([told.outcome, told.alreadyAnswered, told.identical], ["cancelled", true, false]);
  assert.deepEqual(b.world.lines, []);
});

test("an approval without an answer in time expires, and the call does not run", async (t) => {
  const b = await bench(t, { deps: { approvalTimeoutMs: 60_000 } });
  const { running } = await asking(b, [call("edit", "x", "c1")]);
  await b.clock.advance(59_999);
  assert.equal(b.dispatcher.pending().length, 1);
  await b.clock.advance(1);
  const report = await running;
  assert.deepEqual(outcomes(report), ["expired approval_expired"]);
  assert.equal(textOf(report.results[0]), "Nobody answered the approval for 'edit' in time. It was not run.");
  assert.equal((await b.ledger.pending("approvals", { all: true }))[0]?.state, "expired");
});

test("a late approve is refused and a late reject changes nothing", async (t) => {
  const b = await bench(t, { deps: { approvalTimeoutMs: 60_000 } });
  const { running, approval } = await asking(b, [call("edit", "x", "c1")]);
  await b.clock.advance(60_000);
  await running;
  for (const outcome of ["approve", "reject"] as const) {
    const told = await elsewhere(b, says(approval("c1"), { outcome }));
    assert.deepEqual([told.outcome, told.alreadyAnswered, told.identical], ["expired", true, false]);
  }
  assert.deepEqual(b.world.lines, []);
});

test("an approve that comes after the deadline but before the timer is refused as expired", async (t) => {
  const b = await bench(t, { deps: { approvalTimeoutMs: 60_000 } });
  const { running, approval } = await asking(b, [call("edit", "x", "c1")]);
  b.clock.jump(60_000);
  const told = await elsewhere(b, says(approval("c1")));
  assert.equal(told.outcome, "expired");
  assert.deepEqual(outcomes(await running), ["expired approval_expired"]);
});

test("a clock set back never lengthens an expiry", async (t) => {
  const b = await bench(t, { deps: { approvalTimeoutMs: 60_000 } });
  const { running } = await asking(b, [call("edit", "x", "c1")]);
  b.clock.jump(-3_600_000);
  await b.clock.advance(60_000);
  await rest();
  assert.deepEqual(b.dispatcher.pending(), []);
  assert.deepEqual(outcomes(await running), ["expired approval_expired"]);
});

test("a clock set back after the deadline does not make a late approve count", async (t) => {
  const b = await bench(t, { deps: { approvalTimeoutMs: 60_000, onAsk: "park" }, person: "nobody" });
  const parked = await b.process([call("edit", "x", "c1")]);
  assert.deepEqual(outcomes(parked), ["waiting"]);
  const [row] = await b.ledger.pending("approvals");
  await b.clock.advance(61_000);
  await b.process([call("read", "y")]); // the ledger has seen the later time
  b.clock.jump(-3_600_000);
  const told = await elsewhere(b, says(row!.id));
  assert.equal(told.outcome, "expired");
  await b.resume();
});

test("a parked approval with a deadline is not answered under a clock that is earlier than the question", async (t) => {
  const b = await bench(t, { deps: { approvalTimeoutMs: 60_000, onAsk: "park" }, person: "nobody" });
  await b.process([call("edit", "x", "c1")]);
  const [row] = await b.ledger.pending("approvals");
  b.clock.jump(-3_600_000);
  assert.equal((await elsewhere(b, says(row!.id))).outcome, "expired");
  assert.deepEqual(outcomes(await b.resume()), ["expired approval_expired"]);
});

test("a question that is taken up under a clock that was set back gets no more than its whole time", async (t) => {
  const b = await bench(t, { deps: { approvalTimeoutMs: 60_000, onAsk: "park" }, person: "nobody" });
  await b.process([call("edit", "x", "c1")]);
  b.clock.jump(-3_600_000);
  const again = await bench(t, { beside: b, reopen: { id: b.session.id, takeOver: true }, deps: { approvalTimeoutMs: 60_000 } });
  const running = again.resume();
  await until(() => again.dispatcher.pending().length === 1, "the question");
  await b.clock.advance(60_000);
  assert.deepEqual(outcomes(await running), ["expired approval_expired"]);
});

const failing: readonly (readonly [what: string, ask: Approver["ask"]])[] = [
  [
    "throws",
    () => {
      throw new Error("terminal gone");
    },
  ],
  ["rejects", () => Promise.reject(new Error("terminal gone"))],
];
for (const [what, ask] of failing) {
  test(`an approver that ${what} approves nothing, and onAsk decides`, async (t) => {
    const approver: Approver = { available: () => true, ask };
    const denying = await bench(t, { deps: { approver, onAsk: "deny" } });
    assert.deepEqual(outcomes(await denying.process([call("edit", "x")])), ["denied denied_unattended"]);
    assert.match(denying.warnings.join("\n"), /the approver failed: terminal gone/);
    const parking = await bench(t, { deps: { approver, onAsk: "park" } });
    assert.deepEqual(outcomes(await parking.process([call("edit", "x", "c1")])), ["waiting"]);
    assert.deepEqual([denying.world.lines, parking.world.lines], [[], []]);
    assert.equal((await parking.ledger.pending("approvals")).length, 1);
  });
}

test("an approver that never returns approves nothing, and the approval can be answered elsewhere", async (t) => {
  const ask: Approver["ask"] = () => new Promise(() => undefined);
  const b = await bench(t, { deps: { approver: { available: () => true, ask } } });
  const running = b.process([call("edit", "x", "c1"), call("edit", "y", "c2")]);
  await until(() => b.dispatcher.pending().length === 2);
  await rest();
  assert.deepEqual(b.world.lines, []);
  const [first, second] = b.dispatcher.pending();
  await elsewhere(b, says(first!.id, { outcome: "reject" }));
  await elsewhere(b, says(second!.id));
  assert.deepEqual(outcomes(await running), ["rejected rejected_by_user", "succeeded"]);
});

test("hooks hear that a person is waited for before the approver is asked", async (t) => {
  const order: string[] = [];
  const hooks = { ...scriptedHooks({}), tell: (event: string) => void order.push(event) };
  const ask: Approver["ask"] = async () => {
    order.push("asked");
    return undefined;
  };
  const b = await bench(t, { deps: { hooks, approver: { available: () => true, ask }, onAsk: "deny" } });
  await b.process([call("edit", "x")]);
  assert.deepEqual(order.slice(0, order.indexOf("asked") + 1).slice(-2), ["on_user_input", "asked"]);
});

const nonsense: readonly (readonly [what: string, answer: unknown])[] = [
  ["a word", "yes"],
  ["true", true],
  ["an unknown outcome", { outcome: "Approve", by: says("").by }],
  ["no outcome", { by: says("").by }],
  ["an approve without a person", { outcome: "approve" }],
  ["an approve for another fingerprint", { outcome: "approve", fingerprint: "f", by: says("").by }],
];
for (const [what, answer] of nonsense) {
  test(`an approver that answers ${what} is asked three times, then onAsk decides, and nothing runs`, async (t) => {
    let asked = 0;
    const ask = async (): Promise<Answer> => {
      asked += 1;
      return answer as Answer;
    };
    const b = await bench(t, { deps: { approver: { available: () => true, ask } } });
    assert.deepEqual(outcomes(await b.process([call("edit", "x", "c1")])), ["denied denied_unattended"]);
    assert.equal(asked, 3);
    assert.deepEqual(b.world.lines, []);
  });
}

test("an approver is stopped when another process answers, on a cancel and on expiry", async (t) => {
  const signals = new Map<string, AbortSignal>();
  const ask: Approver["ask"] = ({ callId }, signal) => {
    signals.set(callId, signal);
    return new Promise(() => undefined);
  };
  const b = await bench(t, { deps: { approver: { available: () => true, ask }, approvalTimeoutMs: 1_000 } });
  const { running, approval } = await asking(b, [call("edit", "x", "c1"), call("edit", "y", "c2"), call("edit", "z", "c3")]);
  await elsewhere(b, says(approval("c1")));
  b.dispatcher.cancel("c2");
  await until(() => signals.get("c1")!.aborted && signals.get("c2")!.aborted);
  assert.equal(signals.get("c3")!.aborted, false);
  await b.clock.advance(1_000);
  await running;
  assert.equal(signals.get("c3")!.aborted, true);
});

test("an answer that an approver gives after it was withdrawn is never used", async (t) => {
  const late = Promise.withResolvers<Answer>();
  const b = await bench(t, { deps: { approver: { available: () => true, ask: () => late.promise } } });
  const { running, approval } = await asking(b, [call("edit", "x", "c1")]);
  await elsewhere(b, says(approval("c1"), { outcome: "reject" }));
  await running;
  late.resolve(says(approval("c1")));
  await rest();
  assert.equal((await b.stored("approval.answered")).length, 1);
  assert.deepEqual(b.world.lines, []);
});

test("a policy that begins to deny while a call waits ends it at once and closes the approval", async (t) => {
  const b = await bench(t);
  const { running, approval } = await asking(b, [call("edit", "x", "c1"), call("edit", "y", "c2")]);
  b.policy.set({ rules: { user: { deny: ["edit:text=x"] } } });
  await until(() => b.dispatcher.pending().length === 1);
  assert.equal((await b.ledger.pending("approvals", { prefix: approval("c1"), all: true }))[0]?.state, "denied");
  const told = await elsewhere(b, says(approval("c1")));
  assert.deepEqual([told.outcome, told.alreadyAnswered], ["denied", true]);
  await elsewhere(b, says(approval("c2")));
  const report = await running;
  assert.deepEqual(outcomes(report), ["denied denied_policy_changed", "succeeded"]);
  assert.equal(textOf(report.results[0]), "Tool 'edit' is denied by user permissions: the policy changed while the call was waiting.");
});

test("a policy that loosens changes nothing for what already waits", async (t) => {
  const b = await bench(t);
  const { running, approval } = await asking(b, [call("edit", "x", "c1")]);
  b.policy.set({ mode: "yolo", rules: { user: { allow: ["*"] } } });
  await rest();
  assert.equal(b.dispatcher.pending().length, 1);
  assert.deepEqual(b.world.lines, []);
  await elsewhere(b, says(approval("c1"), { outcome: "reject" }));
  assert.deepEqual(outcomes(await running), ["rejected rejected_by_user"]);
});

test("a policy that denies after the approval, before the lane is free, withdraws the consent", async (t) => {
  const b = await bench(t, { policy: { rules: { user: { allow: ["slow_edit"] } } } });
  const running = b.process([call("slow_edit", "first", "c1"), call("edit", "x", "c2")]);
  await until(() => b.dispatcher.pending().length === 1);
  const id = b.dispatcher.pending()[0]!.id;
  await elsewhere(b, says(id));
  b.policy.set({ rules: { user: { allow: ["slow_edit"], deny: ["edit"] } } });
  b.gates.open("first");
  assert.deepEqual(outcomes(await running), ["succeeded", "denied denied_policy_changed"]);
  assert.deepEqual(b.world.lines, []);
  assert.equal((await b.ledger.pending("approvals", { prefix: id, all: true }))[0]?.state, "denied");
});

test("a person's approval holds against a rule that starts to ask", async (t) => {
  const b = await bench(t, { policy: { rules: { user: { allow: ["slow_edit"] } } } });
  const running = b.process([call("slow_edit", "first", "c1"), call("edit", "x", "c2")]);
  await until(() => b.dispatcher.pending().length === 1);
  await elsewhere(b, says(b.dispatcher.pending()[0]!.id));
  b.policy.set({ rules: { user: { allow: ["slow_edit"], ask: ["edit"] } } });
  b.gates.open("first");
  assert.deepEqual(outcomes(await running), ["succeeded", "succeeded"]);
});

test("repeating a rejected call is rejected without asking, until a new prompt", async (t) => {
  const person = scriptedApprover({ edit: "reject" });
  const b = await bench(t, { person });
  await b.process([call("edit", "x")]);
  const again = await b.process([call("edit", "x")]);
  assert.deepEqual(outcomes(again), ["rejected rejected_by_user"]);
  assert.equal(textOf(again.results[0]), "The user rejected the tool call. You were already told no to exactly this call.");
  assert.equal(person.shown.length, 1);
  assert.deepEqual(outcomes(await b.process([call("edit", "other")])), ["rejected rejected_by_user"]);
  assert.equal(person.shown.length, 2);
  await b.process([call("edit", "x")], { newPrompt: true });
  assert.equal(person.shown.length, 3);
});

test("a denied call proposed again is judged again", async (t) => {
  const b = await bench(t, { policy: { rules: { team: { deny: ["edit"] } } } });
  assert.deepEqual(outcomes(await b.process([call("edit", "x")])), ["denied denied_by_rule"]);
  b.policy.set({ mode: "yolo" });
  assert.deepEqual(outcomes(await b.process([call("edit", "x")])), ["succeeded"]);
});

test("an approved call proposed again asks again, and so does one with another argument", async (t) => {
  const person = scriptedApprover({ edit: "approve" });
  const b = await bench(t, { person });
  for (const text of ["x", "x", "y"]) await b.process([call("edit", text)]);
  assert.equal(person.shown.length, 3);
  assert.equal(new Set(person.shown.map(({ fingerprint }) => fingerprint)).size, 2);
  assert.equal(new Set(person.shown.map(({ id }) => id)).size, 3);
});

for (const how of ["a cancel", "a policy that denies"] as const) {
  test(`${how} just after an approval withdraws it: nothing runs, and the approval is closed`, async (t) => {
    let raced = false;
    const b = await bench(t, {
      wrap: (ledger) => ({
        ...ledger,
        answer: async (events) => {
          const [first] = events;
          if (first?.type === "approval.closed" && !raced) {
            raced = true;
            const { approval, session, call: of, revision } = first.body;
            const body = {
              approval,
              session,
              call: of,
              revision,
              outcome: "approved",
              fingerprint: shown,
              by: says("").by,
              reason: null,
            } as const;
            await ledger.answer([{ type: "approval.answered", v: 1, at: first.at, body }]);
          }
          return await ledger.answer(events);
        },
      }),
    });
    const { running, approval } = await asking(b, [call("edit", "x", "c1")]);
    const shown = b.dispatcher.pending()[0]!.fingerprint;
    if (how === "a cancel") b.dispatcher.cancel("c1");
    else b.policy.set({ rules: { user: { deny: ["edit"] } } });
    const { outcome } = only(await running);
    assert.equal(outcome, how === "a cancel" ? "cancelled" : "denied");
    assert.equal((await b.ledger.pending("approvals", { prefix: approval("c1"), all: true }))[0]?.state, outcome);
    assert.deepEqual(b.world.lines, []);
  });
}

test("a deadline just after an approval does not withdraw it", async (t) => {
  let raced = false;
  const b = await bench(t, {
    deps: { approvalTimeoutMs: 60_000 },
    wrap: (ledger) => ({
      ...ledger,
      answer: async (events) => {
        const [first] = events;
        if (first?.type === "approval.closed" && !raced) {
          raced = true;
          b.clock.jump(-1);
          const { approval, session, call: of, revision } = first.body;
          const body = {
            approval,
            session,
            call: of,
            revision,
            outcome: "approved",
            fingerprint: shown,
            by: says("").by,
            reason: null,
          } as const;
          await ledger.answer([{ type: "approval.answered", v: 1, at: "2026-01-01T00:00:59.999Z", body }]);
        }
        return await ledger.answer(events);
      },
    }),
  });
  const { running } = await asking(b, [call("edit", "x", "c1")]);
  const shown = b.dispatcher.pending()[0]!.fingerprint;
  await b.clock.advance(60_000);
  assert.deepEqual(outcomes(await running), ["succeeded"]);
});

test("an approver's answer that names another approval approves nothing, and is asked for again", async (t) => {
  let asked = 0;
  const approver: Approver = {
    available: () => true,
    ask: async ({ id }) => {
      asked += 1;
      return says(asked === 1 ? "a_another" : id);
    },
  };
  const b = await bench(t, { deps: { approver } });
  assert.deepEqual(outcomes(await b.process([call("edit", "x", "c1")])), ["succeeded"]);
  assert.match(b.warnings.join("\n"), /is for a_another, but a_\S+ was asked/);
  assert.equal(asked, 2);
});

test("two answers that came to the wrong question run nothing", async (t) => {
  const shown: string[] = [];
  const approver: Approver = {
    available: () => true,
    ask: async ({ id }) => {
      shown.push(id);
      await until(() => shown.length > 1);
      return says(shown.find((other) => other !== id) ?? "");
    },
  };
  const b = await bench(t, { deps: { approver } });
  const report = await b.process([call("edit", "x", "c1"), call("edit", "y", "c2")]);
  assert.deepEqual(outcomes(report), ["denied denied_unattended", "denied denied_unattended"]);
  assert.deepEqual(b.world.lines, []);
});
