import assert from "node:assert/strict";
import { describe, test } from "node:test";
import {
  AnsweredElsewhere,
  answerQuestion,
  createRegistry,
  type JsonObject,
  type Ledger,
  type QuestionAnswer,
  type QuestionerReply,
} from "@assent/core";
import { TESTER } from "@assent/core/testing";
import { call, only, outcomes, rest, scriptedHooks, textOf, textTool, turn } from "../harness.ts";
import {
  after,
  answered,
  asking,
  askTool,
  options,
  other,
  person,
  pick,
  type QuestionBench,
  question,
  questionBench,
} from "./question-bench.ts";

/** Asks, lets the person say this, and gives the result. */
async function said(t: Parameters<typeof questionBench>[0], questions: readonly JsonObject[], words: QuestionerReply) {
  const b = await questionBench(t);
  const report = b.process([asking(questions)]);
  (await b.asked.next()).say(words);
  return { ...only(await report), b };
}

describe("what a person says is the result", () => {
  type Row = readonly [name: string, questions: readonly JsonObject[], words: QuestionerReply, text: string, details: JsonObject];
  const two = [question(), question({ id: "m", multi: true })];
  const ROWS: readonly Row[] = [
    ["the option picked", [question()], answered(pick("B")), "User selected: B", { selectedOptions: ["B"], outcome: "answered" }],
    ["the recommended one, by its own label", [question({ recommended: 0 })], answered(pick("A")), "User selected: A", {}],
    ["in the order of choosing", [question({ multi: true })], answered(pick("B", "A")), "User selected: B, A", {}],
    ["an option after a text was left", [question()], answered(pick("A")), "User selected: A", { selectedOptions: ["A"] }],
    [
      "a text where there is no option",
      [question({ options: [] })],
      answered({ ...pick(), custom: "mine" }),
      "User provided custom input: mine",
      { selectedOptions: [], customInput: "mine", options: [] },
    ],
    ["several, in question order", two, answered({ id: "m", selected: ["B"] }, pick("A")), "User answers:\ndb: A\nm: [B]", {}],
    ["moved past", two, answered(pick(), { id: "m", selected: [] }), "User answers:\ndb: (no answer)\nm: []", { outcome: "answered" }],
    [
      "what looks like markup or a command to a terminal comes back verbatim",
      [question({ options: options("<b>", "\u001b[31mred") })],
      answered(pick("\u001b[31mred")),
      "User selected: \u001b[31mred",
      { selectedOptions: ["\u001b[31mred"] },
    ],
  ];
  for (const [name, questions, words, text, details] of ROWS) {
    test(name, async (t) => {
      const { outcome, type, result } = await said(t, questions, words);
      assert.deepEqual([outcome, type, result.content], ["succeeded", "answered", text]);
      for (const [key, value] of Object.entries(details)) assert.deepEqual(Reflect.get(Object(result.details), key), value, key);
    });
  }

  test("the question is on disk before it is shown, the answer before it is the result", async (t) => {
    const wrap = (ledger: Ledger): Ledger => ({
      ...ledger,
      append: (lease, expected, batch) => {
        for (const { type } of batch.events) if (type === "question.asked") full.push(batch.durability);
        return ledger.append(lease, expected, batch);
      },
    });
    const full: string[] = [];
    const b = await questionBench(t, { wrap });
    const report = b.process([asking()]);
    const { open, say } = await b.asked.next();
    assert.deepEqual(full, ["full"]);
    const [row] = await b.ledger.pending("questions");
    assert.deepEqual([row?.id, row?.callId, row?.questions], [open.id, "ask", open.questions]);
    assert.match(open.id, /^q_/);
    say(answered(pick("A")));
    await report;
    const [stored] = await b.stored("question.answered");
    assert.deepEqual([stored?.body.outcome, stored?.body.answers, stored?.body.by], ["answered", [pick("A")], TESTER]);
    const [end] = await b.stored("call.ended");
    assert.ok((stored?.pos ?? 0) < (end?.pos ?? 0));
  });

  test("the body guards itself: nothing is asked, nothing thrown", async (t) => {
    const b = await questionBench(t);
    for (const [questions, fault] of [
      [[], "questions must not be empty"],
      [[{ id: "x" }], "questions/0 is not a question"],
      ["none", "questions must be an array"],
    ] as const) {
      const { outcome, type, result } = only(await b.process([{ name: "ask", arguments: { questions } }]));
      assert.deepEqual([outcome, type, result.content, result.details], ["failed", "invalid_tool_params", `Error: ${fault}`, {}]);
    }
    assert.deepEqual([b.asked.shown.length, await b.stored("question.asked")], [0, []]);
  });

  test("the agent that asks is named", async (t) => {
    const b = await questionBench(t);
    const report = b.process([asking()], { agentName: "explorer" });
    const { open, say } = await b.asked.next();
    assert.equal(open.agentName, "explorer");
    say(answered(pick("A")));
    await report;
  });

  test("the timeout of tools does not limit a person", async (t) => {
    const b = await questionBench(t, { deps: { timeoutMs: 1_000 } });
    const report = b.process([asking()]);
    const { say } = await b.asked.next();
    await b.clock.advance(60_000);
    say(answered(pick("A")));
    assert.equal(only(await report).type, "answered");
  });
});

describe("only a person answers", () => {
  for (const mode of ["default", "plan", "auto-edit", "yolo"]) {
    test(`in mode ${mode} it is asked without asking whether to`, async (t) => {
      const b = await questionBench(t, { policy: { mode }, person: "nobody" });
      const report = b.process([asking()]);
      (await b.asked.next()).say(answered(pick("A")));
      assert.equal(only(await report).type, "answered");
    });
  }

  test("a deny rule denies", async (t) => {
    const b = await questionBench(t, { policy: { rules: { user: { deny: ["ask"] } } } });
    assert.deepEqual(outcomes(await b.process([asking()])), ["denied denied_by_rule"]);
    assert.equal(b.asked.shown.length, 0);
  });

  test("an ask rule is met by the question itself", async (t) => {
    const b = await questionBench(t, { policy: { rules: { user: { ask: ["ask"] } } } });
    const report = b.process([asking()]);
    (await b.asked.next()).say(answered(pick("A")));
    assert.equal(only(await report).type, "answered");
    assert.deepEqual([b.person.shown.length, await b.stored("approval.opened")], [0, []]);
    const [judged] = await b.stored("call.judged");
    assert.deepEqual([judged?.body.verdict, judged?.body.reason], ["allow", "tool"]);
  });

  for (const [verdict, expected] of [
    ["ask", "succeeded answered"],
    ["deny", "denied denied_by_hook"],
  ] as const) {
    test(`a hook's ${verdict} ${verdict === "ask" ? "is met by the question" : "denies"}`, async (t) => {
      const hooks = scriptedHooks({ pre_tool_use: () => ({ verdict }), permission_request: () => ({ verdict: "deny" }) });
      const b = await questionBench(t, { deps: { hooks } });
      const report = b.process([asking()]);
      if (verdict === "ask") (await b.asked.next()).say(answered(pick("A")));
      assert.deepEqual(outcomes(await report), [expected]);
    });
  }

  test("a host that has a body of its own for it is asked instead", async (t) => {
    const b = await questionBench(t, { deps: { handlers: { ask: async () => "mine" } } });
    assert.equal(textOf(only(await b.process([asking()]))), "mine");
  });

  test("hooks learn that a call waits for a person", async (t) => {
    const hooks = scriptedHooks({});
    const b = await questionBench(t, { deps: { hooks } });
    const report = b.process([asking()]);
    (await b.asked.next()).say(answered(pick("A")));
    await report;
    const [told] = hooks.told.filter(({ event }) => event === "on_user_input");
    assert.equal(told?.input["label"], "question");
  });
});

describe("one after the other", () => {
  test("the second is shown after the first has ended", async (t) => {
    const b = await questionBench(t);
    const report = b.process([asking([question()], "one"), asking([question()], "two")]);
    const first = await b.asked.next();
    await rest();
    assert.equal(b.asked.shown.length, 1);
    first.say(answered(pick("A")));
    (await b.asked.next(2)).say(answered(pick("B")));
    assert.deepEqual(outcomes(await report), ["succeeded answered", "succeeded answered"]);
  });

  test("a cancel ends the rest of the batch and the turn", async (t) => {
    const b = await questionBench(t);
    const report = b.process([call("read", "x", "r"), asking([question()], "one"), asking([question()], "two"), call("read", "y", "s")]);
    (await b.asked.next()).say({ outcome: "cancelled", partial: [] });
    const ended = await report;
    assert.deepEqual(outcomes(ended), ["succeeded", "cancelled ask_cancelled", "cancelled cancelled", "cancelled cancelled"]);
    assert.equal(ended.endedBy, "interrupted");
    assert.equal(textOf(ended.results[1]), "Ask tool was cancelled by the user");
    assert.deepEqual((await b.stored("question.answered"))[0]?.body.outcome, "cancelled");
    assert.equal(b.asked.shown.length, 1);
  });
});

describe("cancelled before the end", () => {
  const two = [question(), question({ id: "x", options: options("C") })];
  const first: QuestionAnswer = { id: "db", selected: ["A"] };

  test("what was answered before is kept, for the model too", async (t) => {
    const { type, result } = await said(t, two, { outcome: "cancelled", reason: "not now", partial: [first] });
    assert.equal(type, "ask_cancelled");
    assert.equal(result.content, "Ask tool was cancelled by the user\nReason: not now\nAnswered before cancelling:\ndb: A");
    const { partial } = Object(result.details);
    assert.deepEqual(partial, [
      { id: "db", question: "Which?", options: ["A", "B"], multi: false, selectedOptions: ["A"], outcome: "answered" },
    ]);
  });

  test("an abort takes the question from the screen and keeps what was chosen", async (t) => {
    const b = await questionBench(t);
    const abort = new AbortController();
    const report = b.process([asking(two), call("read", "x")], { signal: abort.signal });
    const { signal, partial } = await b.asked.next();
    signal.addEventListener("abort", () => partial([first]));
    abort.abort();
    const ended = await report;
    assert.deepEqual(outcomes(ended), ["cancelled ask_aborted", "cancelled cancelled"]);
    assert.equal(textOf(ended.results[0]), "Ask input was cancelled\nAnswered before cancelling:\ndb: A");
    assert.equal(ended.endedBy, undefined);
    assert.equal((await b.ledger.pending("questions", { all: true }))[0]?.state, "cancelled");
  });

  test("one call can be cancelled alone", async (t) => {
    const b = await questionBench(t);
    const report = b.process([asking(), call("read", "x")]);
    await b.asked.next();
    assert.ok(b.dispatcher.cancel("ask"));
    assert.deepEqual(outcomes(await report), ["cancelled ask_aborted", "succeeded"]);
  });

  test("an abort after the person's cancel does not override it", async (t) => {
    const b = await questionBench(t);
    const abort = new AbortController();
    const report = b.process([asking()], { signal: abort.signal });
    const { say } = await b.asked.next();
    say({ outcome: "cancelled", partial: [] });
    await Promise.resolve();
    await Promise.resolve();
    await Promise.resolve();
    abort.abort();
    assert.equal(only(await report).type, "ask_cancelled");
  });

  test("an abort that comes first wins", async (t) => {
    const b = await questionBench(t);
    const abort = new AbortController();
    const report = b.process([asking()], { signal: abort.signal });
    const { say } = await b.asked.next();
    abort.abort();
    say({ outcome: "cancelled", partial: [] });
    assert.equal(only(await report).type, "ask_aborted");
  });
});

describe("answers that do not fit", () => {
  const BAD: readonly (readonly [name: string, answers: unknown])[] = [
    ["an unknown option", [pick("C")]],
    ["another question", [{ id: "x", selected: [] }]],
    ["two options", [pick("A", "B")]],
    ["an index", [{ id: "db", selected: [0] }]],
    ["no list of options", [{ id: "db" }]],
  ];
  for (const [name, answers] of BAD) {
    test(`${name}: refused, with the reason, and asked again`, async (t) => {
      const b = await questionBench(t);
      const report = b.process([asking()]);
      const bad = { outcome: "answered", answers } as QuestionerReply;
      (await b.asked.next(1)).say(bad);
      const again = await b.asked.next(2);
      assert.ok(again.open.fault?.includes(name === "another question" ? "x" : "db"), again.open.fault);
      assert.equal(b.row()?.state, "open");
      again.say(answered(pick("A")));
      assert.equal(only(await report).type, "answered");
    });
  }

  test("after three of them this way counts as unable to ask", async (t) => {
    const b = await questionBench(t);
    const report = b.process([asking()]);
    for (const time of [1, 2, 3]) (await b.asked.next(time)).say(answered(pick("C")));
    assert.equal(only(await report).type, "ask_unavailable");
  });

  test("only the clock marks an answer as timed out", async (t) => {
    const b = await questionBench(t);
    const report = b.process([asking()]);
    (await b.asked.next()).say(answered({ ...pick("A"), timedOut: true, automatic: true }));
    const { type, result } = only(await report);
    assert.deepEqual([type, Object(result.details).automatic], ["answered", undefined]);
  });
});

describe("without a person at the door", () => {
  test("with deny it fails, and the rest continues", async (t) => {
    const b = await questionBench(t, { asked: "nobody" });
    const ended = await b.process([asking(), call("read", "x")]);
    assert.deepEqual(outcomes(ended), ["failed ask_unavailable", "succeeded"]);
    assert.equal(textOf(ended.results[0]), "Ask tool requires interactive mode");
    assert.deepEqual([ended.endedBy, await b.stored("question.asked")], [undefined, []]);
  });

  test("fail: the rest of the batch and the turn end with it", async (t) => {
    const b = await questionBench(t, { asked: "nobody", deps: { onAsk: "fail" } });
    const ended = await b.process([call("read", "x"), asking(), call("read", "y")]);
    assert.deepEqual(outcomes(ended), ["succeeded", "failed ask_unavailable", "cancelled skipped"]);
    assert.equal(ended.endedBy, "unanswered");
  });

  test("park: earlier calls run, the question waits, and so does what comes after it", async (t) => {
    const b = await questionBench(t, { asked: "nobody", deps: { onAsk: "park" } });
    const { results } = await b.process([call("read", "x"), asking(), call("read", "y")]);
    assert.deepEqual([results[0]?.outcome, results[2]], ["succeeded", { callId: results[2]?.callId, outcome: "waiting", type: "waiting" }]);
    assert.deepEqual(results[1], { callId: "ask", outcome: "waiting", type: "waiting", approvalId: b.row()?.id });
    assert.equal(b.session.state.calls.get("ask")?.state, "claimed");
  });

  for (const [name, leave] of [
    ["gives no answer", (b: QuestionBench) => b.asked.shown[0]?.say(undefined)],
    ["fails", (b: QuestionBench) => b.asked.shown[0]?.fail(new Error("gone"))],
  ] as const) {
    for (const [onAsk, expected] of [
      ["deny", "failed ask_unavailable"],
      ["park", "waiting"],
    ] as const) {
      test(`a way that ${name}: ${onAsk} decides`, async (t) => {
        const b = await questionBench(t, { deps: { onAsk } });
        const report = b.process([asking()]);
        await b.asked.next();
        leave(b);
        assert.deepEqual(outcomes(await report), [expected]);
      });
    }
  }

  test("a person who left cannot be asked", async (t) => {
    const b = await questionBench(t);
    b.asked.leave();
    assert.equal(only(await b.process([asking()])).type, "ask_unavailable");
  });

  test("a call that a body makes cannot wait beyond its process", async (t) => {
    const nested = textTool("outer", "other", {
      permission: () => "allow",
      run: (_input, ctx) => ctx.gate({ name: "ask", arguments: { questions: [question()] } }).then(String, (error: Error) => error.message),
    });
    const b = await questionBench(t, { asked: "nobody", tools: [nested], deps: { onAsk: "park" } });
    assert.equal(textOf(only(await b.process([call("outer", "x")]))), "Ask tool requires interactive mode");
  });

  test("an invalid time limit is refused at the start", async (t) => {
    for (const seconds of [-1, Number.NaN, "5" as unknown as number])
      await assert.rejects(questionBench(t, { deps: { askTimeout: () => seconds } }), RangeError);
  });
});

describe("questions that outlive a process", () => {
  async function parked(t: Parameters<typeof questionBench>[0], questions = [question()]): Promise<{ b: QuestionBench; id: string }> {
    const b = await questionBench(t, { asked: "nobody", deps: { onAsk: "park" } });
    await b.process([asking(questions), call("read", "y", "later")]);
    return { b, id: b.row()?.id ?? assert.fail("nothing is asked") };
  }

  test("resumed while open without a person it waits again, under the same id", async (t) => {
    const { b, id } = await parked(t);
    const again = await after(t, b, { asked: "nobody", deps: { onAsk: "park" } });
    const { results } = await again.resume();
    assert.deepEqual(
      results.map((report) => report.outcome === "waiting" && report.approvalId),
      [id, undefined],
    );
    assert.equal((await b.stored("question.asked")).length, 1);
  });

  test("resumed with a person it is shown again, under the same id", async (t) => {
    const { b, id } = await parked(t);
    const again = await after(t, b);
    const report = again.resume();
    const { open, say } = await again.asked.next();
    assert.equal(open.id, id);
    say(answered(pick("A")));
    assert.deepEqual(outcomes(await report), ["succeeded answered", "succeeded"]);
  });

  test("after a crash while it was shown it is asked again, never unknown", async (t) => {
    const b = await questionBench(t);
    void b.process([asking()]);
    const { open } = await b.asked.next();
    const again = await after(t, b);
    const report = again.resume();
    const shown = await again.asked.next();
    assert.equal(shown.open.id, open.id);
    shown.say(answered(pick("B")));
    assert.deepEqual(outcomes(await report), ["succeeded answered"]);
  });

  test("after a crash between the claim and the question it is asked", async (t) => {
    const wrap = (ledger: Ledger): Ledger => ({
      ...ledger,
      append: (lease, expected, batch) =>
        batch.events.some(({ type }) => type === "question.asked") ? new Promise(() => undefined) : ledger.append(lease, expected, batch),
    });
    const b = await questionBench(t, { wrap });
    void b.process([asking()]);
    await rest();
    assert.equal(b.session.state.calls.get("ask")?.state, "claimed");
    const again = await after(t, b);
    const report = again.resume();
    (await again.asked.next()).say(answered(pick("B")));
    assert.deepEqual(outcomes(await report), ["succeeded answered"]);
  });

  test("an answer that arrived before the resume is the result, and no one is asked", async (t) => {
    const { b, id } = await parked(t);
    await answerQuestion(b, { question: id, outcome: "answered", answers: [pick("B")], by: other });
    const again = await after(t, b);
    const { results } = await again.resume();
    assert.equal(textOf(results[0]), "User selected: B");
    assert.deepEqual([again.asked.shown.length, results[1]?.outcome], [0, "succeeded"]);
    assert.deepEqual(outcomes(await (await after(t, again)).resume()), []);
  });

  test("a declined question ends cancelled with the reason, and the turn continues", async (t) => {
    const { b, id } = await parked(t);
    await answerQuestion(b, { question: id, outcome: "declined", reason: " no time ", by: other });
    const ended = await (await after(t, b)).resume();
    assert.deepEqual(outcomes(ended), ["cancelled ask_cancelled", "succeeded"]);
    assert.equal(textOf(ended.results[0]), "Ask tool was cancelled by the user\nReason: no time");
    assert.equal(ended.endedBy, undefined);
  });

  test("whether the tool is still there is of no matter to an answer", async (t) => {
    const { b, id } = await parked(t);
    await answerQuestion(b, { question: id, outcome: "answered", answers: [pick("B")], by: other });
    const again = await after(t, b);
    const { results } = await again.resume({ tools: createRegistry() });
    assert.equal(textOf(results[0]), "User selected: B");
  });

  test("a call that meant to ask and whose tool is gone did not happen", async (t) => {
    const wrap = (ledger: Ledger): Ledger => ({
      ...ledger,
      append: (lease, expected, batch) =>
        batch.events.some(({ type }) => type === "question.asked") ? new Promise(() => undefined) : ledger.append(lease, expected, batch),
    });
    const b = await questionBench(t, { wrap });
    void b.process([asking()]);
    await rest();
    const other = createRegistry();
    other.add({ ...askTool, definition: { ...askTool.definition, description: "Asks otherwise." }, description: "Asks otherwise." });
    assert.deepEqual(outcomes(await (await after(t, b)).resume({ tools: other })), ["failed not_applied"]);
  });

  test("resumed where nothing may wait it is unavailable, and the question closed", async (t) => {
    const { b } = await parked(t);
    const again = await after(t, b, { asked: "nobody" });
    assert.deepEqual(outcomes(await again.resume()), ["failed ask_unavailable", "succeeded"]);
    assert.equal((await b.ledger.pending("questions", { all: true }))[0]?.state, "cancelled");
  });

  test("parked questions never time out", async (t) => {
    const b = await questionBench(t, { asked: "nobody", deps: { onAsk: "park", askTimeout: () => 1 } });
    await b.process([asking()]);
    await b.clock.advance(10_000);
    assert.equal(b.row()?.state, "open");
    assert.equal(b.clock.pending(), 0);
  });

  test("a question answered elsewhere is removed from the screen with the answer", async (t) => {
    const b = await questionBench(t);
    const report = b.process([asking()]);
    const { open, signal } = await b.asked.next();
    await answerQuestion(b, { question: open.id, outcome: "answered", answers: [pick("B")], by: other });
    assert.equal(textOf(only(await report)), "User selected: B");
    assert.ok(signal.aborted && signal.reason instanceof AnsweredElsewhere);
    assert.deepEqual([signal.reason.by, signal.reason.outcome], [other, "answered"]);
  });

  test("a question declined elsewhere ends cancelled with the reason, and the turn continues", async (t) => {
    const b = await questionBench(t);
    const report = b.process([asking(), call("read", "x")]);
    const { open } = await b.asked.next();
    await answerQuestion(b, { question: open.id, outcome: "declined", by: other });
    const ended = await report;
    assert.deepEqual([outcomes(ended), ended.endedBy], [["cancelled ask_cancelled", "succeeded"], undefined]);
  });

  test("a store that cannot keep the question fails the call, which is then in no doubt", async (t) => {
    const { LedgerError } = await import("@assent/core");
    const wrap = (ledger: Ledger): Ledger => ({
      ...ledger,
      append: (lease, expected, batch) =>
        batch.events.some(({ type }) => type === "question.asked")
          ? Promise.reject(new LedgerError("event_too_large", "too large"))
          : ledger.append(lease, expected, batch),
    });
    const b = await questionBench(t, { wrap });
    assert.deepEqual(outcomes(await b.process([asking()])), ["failed execution_failed"]);
  });
});

describe("answering from any process", () => {
  async function open(t: Parameters<typeof questionBench>[0]): Promise<{ b: QuestionBench; id: string }> {
    t.after(() => b.session.refresh()); // it hears of answers only while it waits for one
    const b = await questionBench(t, { asked: "nobody", deps: { onAsk: "park" } });
    await b.process([asking([question(), question({ id: "m", multi: true })])]);
    return { b, id: b.row()?.id ?? assert.fail("nothing is asked") };
  }
  const right = [pick("A"), { id: "m", selected: ["B"], custom: "x", note: "n" }];

  test("a valid answer is stored with the person who gave it", async (t) => {
    const { b, id } = await open(t);
    const report = await answerQuestion(b, { question: id, outcome: "answered", answers: right.toReversed(), by: other });
    assert.deepEqual(report, {
      id,
      session: b.session.id,
      outcome: "answered",
      alreadyAnswered: false,
      identical: true,
      refusal: null,
      answeredBy: other,
      answeredAt: "2026-01-01T00:00:00.000Z",
    });
    assert.deepEqual((await b.ledger.pending("questions", { all: true }))[0]?.answers, right);
  });

  test("a different second answer changes nothing and reports the first; the same one is not refused", async (t) => {
    const { b, id } = await open(t);
    const by = { ...other, name: "second" };
    await answerQuestion(b, { question: id, outcome: "answered", answers: right, by: other });
    const same = await answerQuestion(b, { question: id, outcome: "answered", answers: right.toReversed(), by });
    assert.deepEqual([same.alreadyAnswered, same.identical, same.refusal, same.answeredBy], [true, true, null, other]);
    for (const reply of [{ outcome: "answered", answers: [pick("B"), right[1] ?? pick()] }, { outcome: "declined" }] as const) {
      const late = await answerQuestion(b, { question: id, ...reply, by });
      assert.deepEqual([late.outcome, late.identical, late.refusal, late.answeredBy], ["answered", false, "already_answered", other]);
    }
    assert.equal((await b.stored("question.answered")).length, 1);
  });

  test("of two concurrent answers one wins, and the other is reported as late", async (t) => {
    const { b, id } = await open(t);
    const reports = await Promise.all([
      answerQuestion(b, { question: id, outcome: "answered", answers: right, by: other }),
      answerQuestion(b, { question: id, outcome: "declined", by: { ...other, name: "second" } }),
    ]);
    assert.deepEqual(
      reports.map(({ outcome, alreadyAnswered, refusal }) => [outcome, alreadyAnswered, refusal]),
      [
        ["answered", false, null],
        ["answered", true, "already_answered"],
      ],
    );
  });

  const BAD: readonly (readonly [name: string, answers: unknown, message: RegExp])[] = [
    ["a question left out", [pick("A")], /Question m has no answer/],
    ["a question too many", [...right, { id: "z", selected: [] }], /no question z/],
    ["an option that was not offered", [pick("C"), right[1]], /Question db: there is no option "C"/],
    ["a value that is not a list", { db: "A" }, /Answers are a list/],
    ["a value that is not an answer", ["A"], /Answer 1 is not an object/],
    ["an answer to nothing", [{ selected: [] }], /Answer 1 names no question/],
    ["a word that an answer does not have", [{ ...pick("A"), timedOut: true }, right[1]], /Question db: an answer has no 'timedOut'/],
    ["a note that is not a string", [{ ...pick("A"), note: 1 }, right[1]], /Question db: note must be a text/],
    ["a custom text that is not a string", [{ ...pick("A"), custom: null }, right[1]], /Question db: custom must be a text/],
    ["no answers", undefined, /Answers are a list/],
  ];
  for (const [name, answers, message] of BAD) {
    test(`${name}: bad_answer, and it stays open`, async (t) => {
      const { b, id } = await open(t);
      const reply = answerQuestion(b, { question: id, outcome: "answered", answers: answers as QuestionAnswer[], by: other });
      await assert.rejects(
        reply,
        (error) => error instanceof Error && Reflect.get(error, "type") === "bad_answer" && message.test(error.message),
      );
      assert.equal((await b.ledger.pending("questions"))[0]?.state, "open");
    });
  }

  test("after its call was cancelled an answer comes too late", async (t) => {
    const { b, id } = await open(t);
    const abort = new AbortController();
    abort.abort();
    assert.deepEqual(outcomes(await (await after(t, b)).resume({ signal: abort.signal })), ["cancelled ask_aborted"]);
    const late = await answerQuestion(b, { question: id, outcome: "answered", answers: right, by: other });
    assert.deepEqual([late.outcome, late.alreadyAnswered, late.refusal], ["cancelled", true, "already_closed"]);
    const cancelled = await answerQuestion(b, { question: id, outcome: "cancelled", by: other });
    assert.deepEqual([cancelled.identical, cancelled.refusal], [false, "already_closed"]);
  });

  test("a batch cancelled while no one can be asked leaves no question behind", async (t) => {
    const { b } = await open(t);
    const abort = new AbortController();
    abort.abort();
    const again = await after(t, b, { asked: "nobody", deps: { onAsk: "park" } });
    assert.deepEqual(outcomes(await again.resume({ signal: abort.signal })), ["cancelled ask_aborted"]);
  });

  test("an unknown id and a different fingerprint are refused", async (t) => {
    const { b, id } = await open(t);
    const typed = (type: string) => (error: unknown) => error instanceof Error && Reflect.get(error, "type") === type;
    await assert.rejects(answerQuestion(b, { question: "q_none", outcome: "declined", by: other }), typed("unknown_approval"));
    await assert.rejects(answerQuestion(b, { question: id, outcome: "declined", by: other, fingerprint: "f" }), typed("stale_revision"));
    const { fingerprint } = b.row() ?? assert.fail();
    assert.equal((await answerQuestion(b, { question: id, outcome: "declined", by: other, fingerprint })).outcome, "declined");
  });
});

describe("time", () => {
  const three = [question(), question({ id: "m", multi: true }), question({ id: "z", recommended: 1 })];
  const five = { deps: { askTimeout: () => 5 } };

  async function timed(t: Parameters<typeof questionBench>[0], questions: readonly JsonObject[], options = five) {
    const b = await questionBench(t, options);
    const report = b.process([asking(questions)]);
    return { b, report, ...(await b.asked.next()) };
  }

  test("without an answer the recommended option is chosen and marked", async (t) => {
    const { b, report, open, signal } = await timed(t, [question({ recommended: 1 })]);
    assert.equal(open.timeout(), 5);
    open.timer.restart("db");
    await b.clock.advance(4_999);
    assert.equal(b.row()?.state, "open");
    await b.clock.advance(1);
    const { outcome, type, result } = only(await report);
    assert.deepEqual([outcome, type], ["succeeded", "timed_out"]);
    assert.equal(result.content, "User selected: B\n(selected automatically after 5 s without an answer)");
    assert.deepEqual([Object(result.details).outcome, Object(result.details).automatic], ["timed_out", true]);
    assert.ok(signal.aborted);
    const [stored] = await b.stored("question.answered");
    assert.deepEqual([stored?.body.outcome, stored?.body.by.kind, stored?.body.by.name], ["expired", "host", "clock"]);
  });

  test("checked options are kept and not marked as automatic", async (t) => {
    const { b, report, open, partial } = await timed(t, [question({ multi: true })]);
    open.timer.restart("db");
    partial([pick("A")]);
    await b.clock.advance(5_000);
    const { type, result } = only(await report);
    assert.deepEqual([type, Object(result.details).selectedOptions, Object(result.details).automatic], ["timed_out", ["A"], undefined]);
  });

  test("while an editor is open no time passes; back on the list it begins anew", async (t) => {
    const { b, report, open, say } = await timed(t, [question()]);
    open.timer.restart("db");
    await b.clock.advance(4_000);
    open.timer.stop();
    await b.clock.advance(60_000);
    open.timer.restart("db");
    await b.clock.advance(4_000);
    say(answered({ ...pick(), custom: "text" }));
    assert.equal(only(await report).type, "answered");
  });

  test("any key begins it anew", async (t) => {
    const { b, report, open } = await timed(t, [question()]);
    for (let key = 0; key < 5; key += 1) {
      open.timer.restart("db");
      await b.clock.advance(4_000);
    }
    assert.equal(b.row()?.state, "open");
    await b.clock.advance(1_000);
    assert.equal(only(await report).type, "timed_out");
  });

  test("it begins when the question is drawn", async (t) => {
    const { b, report, say } = await timed(t, [question()]);
    await b.clock.advance(60_000);
    say(answered(pick("A")));
    assert.equal(only(await report).type, "answered");
  });

  test("plan mode stops the time limit, even if entered while the list is open; leaving it restarts the limit", async (t) => {
    const { b, report, open } = await timed(t, [question()]);
    open.timer.restart("db");
    await b.clock.advance(4_000);
    b.policy.set({ mode: "plan" });
    assert.equal(open.timeout(), 0);
    await b.clock.advance(60_000);
    open.timer.restart("db");
    await b.clock.advance(60_000);
    assert.equal(b.row()?.state, "open");
    b.policy.set({ mode: "default" });
    await b.clock.advance(5_000);
    assert.equal(only(await report).type, "timed_out");
  });

  test("a changed policy alone neither shortens nor lengthens it", async (t) => {
    const { b, report, open } = await timed(t, [question()]);
    open.timer.restart("db");
    await b.clock.advance(3_000);
    b.policy.set({ rules: {} });
    await b.clock.advance(1_999);
    assert.equal(b.row()?.state, "open");
    await b.clock.advance(1);
    assert.equal(only(await report).type, "timed_out");
  });

  test("a question without options has no time limit", async (t) => {
    const { b, report, open, say } = await timed(t, [question({ options: [] })]);
    open.timer.restart("db");
    await b.clock.advance(60_000);
    say(answered({ ...pick(), custom: "x" }));
    assert.equal(only(await report).type, "answered");
  });

  test("without a limit nothing is timed", async (t) => {
    const { b, report, open, say } = await timed(t, [question()], { deps: { askTimeout: () => 0 } });
    open.timer.restart("db");
    assert.equal(b.clock.pending(), 0);
    say(answered(pick("A")));
    await report;
  });

  test("an explicit cancel is a cancel", async (t) => {
    const { b, report, open, say } = await timed(t, [question()]);
    open.timer.restart("db");
    await b.clock.advance(4_999);
    say({ outcome: "cancelled", partial: [] });
    assert.equal(only(await report).type, "ask_cancelled");
    assert.equal(b.clock.pending(), 0);
  });

  test("a screen that closed without a result never times out", async (t) => {
    const { b, report, open, say } = await timed(t, [question()], { deps: { askTimeout: () => 5, onAsk: "park" } } as typeof five);
    open.timer.restart("db");
    say(undefined);
    assert.deepEqual(outcomes(await report), ["waiting"]);
    await b.clock.advance(60_000);
    assert.equal(b.row()?.state, "open");
  });

  test("a screen that never settles times out, one question after the other, each with its own time", async (t) => {
    const { b, report, open } = await timed(t, three);
    open.timer.restart("db");
    await b.clock.advance(14_999);
    assert.equal(b.row()?.state, "open");
    await b.clock.advance(1);
    const { type, result } = only(await report);
    assert.deepEqual([type, result.content], ["timed_out", "User answers:\ndb: A (automatic)\nm: [A] (automatic)\nz: B (automatic)"]);
  });

  test("after a timeout a screen shows the next question and returns the current answers", async (t) => {
    const { b, report, open, say, partial } = await timed(t, three);
    const told: QuestionAnswer[] = [];
    open.timer.onExpired((answer) => {
      told.push(answer);
      partial([...told]);
      open.timer.restart("m");
    });
    open.timer.restart("db");
    await b.clock.advance(5_000);
    assert.deepEqual(told, [{ id: "db", selected: ["A"], timedOut: true, automatic: true }]);
    await b.clock.advance(4_999);
    say(answered(...told, { id: "m", selected: ["B"] }, { id: "z", selected: [] }));
    const { type, result } = only(await report);
    assert.deepEqual([type, result.content], ["timed_out", "User answers:\ndb: A (automatic)\nm: [B]\nz: (no answer)"]);
  });

  test("a question whose time was over can be looked at again and answered", async (t) => {
    const { b, report, open, say, partial } = await timed(t, three);
    open.timer.restart("db");
    await b.clock.advance(5_000);
    open.timer.restart("db");
    partial([pick("A")]);
    say(answered(pick("A"), { id: "m", selected: [] }, { id: "z", selected: ["A"] }));
    assert.equal(only(await report).type, "answered");
  });

  test("one that was answered after its time was over stays so when the others run out of theirs", async (t) => {
    const { b, report, open, partial } = await timed(t, three);
    open.timer.restart("db");
    await b.clock.advance(5_000);
    open.timer.restart("db");
    partial([pick("B")]);
    open.timer.restart("m");
    await b.clock.advance(10_000);
    assert.equal(only(await report).result.content, "User answers:\ndb: B\nm: [A] (automatic)\nz: B (automatic)");
  });

  test("the time of questions that have an answer is not waited for", async (t) => {
    const { b, report, open, partial } = await timed(t, three);
    partial([pick("B"), { id: "m", selected: ["A"] }, { id: "z", selected: ["A"] }]);
    open.timer.restart("m");
    await b.clock.advance(5_000);
    assert.equal(only(await report).result.content, "User answers:\ndb: B\nm: [A] (automatic)\nz: A");
  });

  test("the limit is capped, so that no timer overflows", async (t) => {
    const { open, report, say } = await timed(t, [question()], { deps: { askTimeout: () => 1e12 } });
    assert.equal(open.timeout(), 2_147_483);
    open.timer.restart("db");
    await turn();
    say(answered(pick("A")));
    assert.equal(only(await report).type, "answered");
  });

  test("no timer and no listener is left after the end", async (t) => {
    const b = await questionBench(t, { ...five, asked: person() });
    const report = b.process([asking()]);
    const { open, say, partial } = await b.asked.next();
    open.timer.restart("db");
    say(answered(pick("A")));
    await report;
    open.timer.restart("db");
    partial([pick("B")]);
    assert.equal(b.clock.pending(), 0);
    await b.clock.advance(60_000);
    assert.deepEqual([b.policy.subscribers(), b.clock.pending(), (await b.stored("question.answered")).length], [0, 0, 1]);
  });
});
