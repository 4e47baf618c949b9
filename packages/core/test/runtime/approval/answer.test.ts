import assert from "node:assert/strict";
import { test } from "node:test";
import { type Answer, answerApproval, createRegistry, createRequestReader, patternRules, type Request, type Rules } from "@assent/core";
import { type Bench, type BenchOptions, bench, call, only, outcomes, says, sha256, textOf, textTool, until } from "../harness.ts";

const modifiable = textTool("note", "edit", {
  modify: {
    current: () => "old",
    proposed: ({ text }) => String(text),
    withContent: (input, content) => ({ ...input, text: content }),
  },
  run: ({ text }, { callId }) => `noted ${text} for ${callId}`,
});

type Asked = { readonly b: Bench; readonly running: ReturnType<Bench["process"]>; readonly id: string };

/** One call that waits for a person. */
async function asked(t: Parameters<typeof bench>[0], options: BenchOptions & { readonly tool?: string } = {}): Promise<Asked> {
  const b = await bench(t, { tools: [modifiable], ...options });
  const running = b.process([call(options.tool ?? "edit", "x", "c1")]);
  await until(() => b.dispatcher.pending().length === 1);
  return { b, running, id: b.dispatcher.pending()[0]!.id };
}

async function judgedInputs(b: Bench): Promise<readonly unknown[]> {
  return (await b.stored("call.judged")).map(({ body }) => body.input);
}

test("an edited input is judged, and that very input runs; body, observers and record see it", async (t) => {
  const { b, running, id } = await asked(t);
  const report = await b.dispatcher.answer(says(id, { updatedInput: { text: "edited" } }));
  assert.equal(report.outcome, "approved");
  assert.deepEqual(outcomes(await running), ["succeeded"]);
  assert.deepEqual(b.world.lines, ["edited"]);
  assert.deepEqual(await judgedInputs(b), [{ text: "x" }, { text: "edited" }]);
  const started = b.events.find((event) => event.type === "toolCall");
  assert.ok(started?.type === "toolCall");
  assert.deepEqual(started.input, { text: "edited" });
  const [answered] = await b.stored("approval.answered");
  const [, judged] = await b.stored("call.judged");
  const [claimed] = await b.stored("call.claimed");
  assert.deepEqual(answered?.body.edited?.input, { text: "edited" });
  assert.equal(judged?.body.editedBy, "Tester");
  assert.notEqual(answered?.body.fingerprint, claimed?.body.fingerprint);
  assert.equal(answered?.body.edited?.fingerprint, claimed?.body.fingerprint);
  assert.equal(report.fingerprint, claimed?.body.fingerprint);
  assert.deepEqual(
    b.notices.map(({ input, source }) => [input, source]),
    [[{ text: "edited" }, "user_approved"]],
  );
});

test("an edited input that a rule denies ends denied_by_rule, and nothing runs", async (t) => {
  const { b, running, id } = await asked(t, { policy: { rules: { team: { deny: ["edit:text=bad"] } } } });
  await b.dispatcher.answer(says(id, { updatedInput: { text: "bad" } }));
  const report = await running;
  assert.deepEqual(outcomes(report), ["denied denied_by_rule"]);
  assert.equal(textOf(report.results[0]), "Tool 'edit' is denied by permissions configuration.");
  assert.deepEqual(b.world.lines, []);
});

test("an edit of an input that only the original's rule allowed still needs no second question", async (t) => {
  const { b, running, id } = await asked(t, { policy: { rules: { team: { ask: ["edit:text=y"] } } } });
  await b.dispatcher.answer(says(id, { updatedInput: { text: "y" } }));
  assert.deepEqual(outcomes(await running), ["succeeded"]);
  assert.deepEqual(b.world.lines, ["y"]);
});

test("an approval is reported as stored, even if the call asks again before the report", async (t) => {
  let again = false;
  const { b, running, id } = await asked(t, {
    wrap: (ledger) => ({
      ...ledger,
      answer: async (events) => {
        const stored = await ledger.answer(events);
        again = true; // a new writer opens the approval once more, in this very moment
        return stored;
      },
      pending: (async (...asking: Parameters<typeof ledger.pending>) => {
        const rows = await ledger.pending(...asking);
        return again && asking[0] === "approvals" ? rows.map((row) => ({ ...row, state: "open" })) : rows;
      }) as typeof ledger.pending,
    }),
  });
  const { outcome, alreadyAnswered, identical } = await b.dispatcher.answer(says(id));
  assert.deepEqual({ outcome, alreadyAnswered, identical }, { outcome: "approved", alreadyAnswered: false, identical: true });
  await running;
});

type Refused = readonly [name: string, tool: string, answer: Partial<Answer>, type: string];

const refused: readonly Refused[] = [
  ["an invalid edited input", "edit", { updatedInput: { words: "y" } }, "invalid_tool_params"],
  [
    "an edited input with the key __proto__",
    "edit",
    { updatedInput: JSON.parse('{"text":"y","__proto__":{"x":1}}') },
    "invalid_tool_params",
  ],
  ["an edited input that is not an object", "edit", { updatedInput: "text" as never }, "invalid_tool_params"],
  ["new content for a tool that cannot be modified", "edit", { newContent: "y" }, "not_modifiable"],
  ["both new content and an edited input", "note", { newContent: "y", updatedInput: { text: "z" } }, "bad_answer"],
  ["a mode on anything but a plan", "edit", { mode: "default" }, "bad_answer"],
  ["an unknown outcome", "edit", { outcome: "proceed_once" as never }, "bad_answer"],
  ["no outcome", "edit", { outcome: undefined as never }, "bad_answer"],
  ["an answer without a person", "edit", { by: undefined as never }, "bad_answer"],
  ["an answer in the name of a grant", "edit", { by: { ...says("").by, kind: "grant" } }, "bad_answer"],
  ["an answer by an unknown kind of person", "edit", { by: { ...says("").by, kind: "model" as never } }, "bad_answer"],
  ["a reason that is not a string", "edit", { reason: 7 as never }, "bad_answer"],
  ["rules that are no list", "edit", { remember: { scope: "session", rules: "edit" as never } }, "bad_rule"],
  ["a rule that is not a string", "edit", { remember: { scope: "session", rules: [7 as never] } }, "bad_rule"],
  ["a rule that does not parse", "edit", { remember: { scope: "session", rules: ["edit["] } }, "bad_rule"],
  ["a rule that does not cover the call", "edit", { remember: { scope: "session", rules: ["edit:text=other"] } }, "bad_rule"],
  ["of two rules one does not cover", "edit", { remember: { scope: "session", rules: ["edit", "read"] } }, "bad_rule"],
  ["an empty list of rules", "edit", { remember: { scope: "session", rules: [] } }, "bad_rule"],
  ["the rule * for a project", "edit", { remember: { scope: "project", rules: ["*"] } }, "bad_rule"],
  ["the rule * for the user", "edit", { remember: { scope: "user", rules: ["*"] } }, "bad_rule"],
  ["the rule * for the user, with blanks", "edit", { remember: { scope: "user", rules: [" * "] } }, "bad_rule"],
  ["the rule ** for the user, which is * by another spelling", "edit", { remember: { scope: "user", rules: ["**"] } }, "bad_rule"],
  ["an unknown scope", "edit", { remember: { scope: "galaxy" as never } }, "bad_answer"],
  ["an expiry that is not a time", "edit", { remember: { scope: "session", expiresAt: "tomorrow" } }, "bad_answer"],
  ["a use count of zero", "edit", { remember: { scope: "session", uses: 0 } }, "bad_answer"],
  ["a use count that is not an integer", "edit", { remember: { scope: "session", uses: 1.5 } }, "bad_answer"],
];

for (const [name, tool, answer, type] of refused) {
  test(`${name} is refused ${type}; the approval stays open and nothing is stored`, async (t) => {
    const { b, running, id } = await asked(t, { tool });
    await assert.rejects(b.dispatcher.answer(says(id, answer)), { name: "AnswerError", type });
    assert.equal(b.dispatcher.pending().length, 1);
    assert.equal((await b.stored("approval.answered")).length + (await b.ledger.pending("grants", { all: true })).length, 0);
    await b.dispatcher.answer(says(id, { outcome: "reject" }));
    assert.deepEqual(outcomes(await running), ["rejected rejected_by_user"]);
  });
}

test("new content for a tool with modify runs with that content", async (t) => {
  const { b, running, id } = await asked(t, { tool: "note" });
  await b.dispatcher.answer(says(id, { newContent: "better" }));
  assert.equal(textOf(only(await running)), 'The input was edited before it ran: {"text":"better"}\nnoted better for c1');
});

const unchanged: readonly (readonly [name: string, answer: Partial<Answer>])[] = [
  ["new content equal to the proposal", { newContent: "x" }],
  ["an edited input equal to the original", { updatedInput: { text: "x" } }],
];
for (const [name, answer] of unchanged) {
  test(`${name} keeps the original input and fingerprint`, async (t) => {
    const { b, running, id } = await asked(t, { tool: "note" });
    await b.dispatcher.answer(says(id, answer));
    await running;
    const [answered] = await b.stored("approval.answered");
    assert.equal(answered?.body.edited, undefined);
    assert.equal((await b.stored("call.claimed"))[0]?.body.fingerprint, answered?.body.fingerprint);
  });
}

test("a reason is trimmed, and a blank one is dropped", async (t) => {
  for (const [reason, text] of [
    ["  use rg  ", "The user rejected the tool call. Reason: use rg"],
    ["   ", "The user rejected the tool call."],
  ] as const) {
    const { b, running, id } = await asked(t);
    await b.dispatcher.answer(says(id, { outcome: "reject", reason }));
    assert.equal(textOf(only(await running)), text);
    assert.equal((await b.stored("approval.answered"))[0]?.body.reason, reason.trim() || null);
  }
});

test("a reason is cut at 2,000 characters, never inside one", async (t) => {
  const { b, running, id } = await asked(t);
  await b.dispatcher.answer(says(id, { outcome: "reject", reason: `${"r".repeat(1_999)}😀${"r".repeat(500)}` }));
  await running;
  const reason = (await b.stored("approval.answered"))[0]?.body.reason ?? "";
  assert.ok(reason.length <= 2_000 && reason.length >= 1_999, `${reason.length} characters`);
  assert.ok(reason.isWellFormed());
});

test("an ill-formed reason is recorded as text that every store can keep", async (t) => {
  const { b, running, id } = await asked(t);
  await b.dispatcher.answer(says(id, { outcome: "reject", reason: "bad \ud800 text" }));
  await running;
  assert.ok((await b.stored("approval.answered"))[0]?.body.reason?.isWellFormed());
});

const remembered: readonly (readonly [name: string, remember: NonNullable<Answer["remember"]>, grants: readonly (readonly unknown[])[]])[] =
  [
    ["no rules given: the offered ones", { scope: "session" }, [["session", "edit"]]],
    ["rules of a session", { scope: "session", rules: ["edit:text=x"] }, [["session", "edit:text=x"]]],
    [
      "two rules",
      { scope: "user", rules: ["edit", "edit:text=x"] },
      [
        ["user", "edit"],
        ["user", "edit:text=x"],
      ],
    ],
    ["everything, for the session", { scope: "session", rules: ["*"] }, [["session", "*"]]],
    ["a project", { scope: "project" }, [["project", "edit"]]],
  ];
for (const [name, remember, grants] of remembered) {
  test(`an "always" stores its grants with the answer: ${name}`, async (t) => {
    const { b, running, id } = await asked(t);
    await b.dispatcher.answer(says(id, { remember }));
    const rows = await b.ledger.pending("grants");
    assert.deepEqual(
      rows.map(({ scope, rule }) => [scope, rule]),
      grants,
    );
    for (const row of rows) {
      assert.deepEqual([row.tool, row.madeBy, row.fromApproval, row.state], ["edit", "Tester", id, "active"]);
      assert.equal(row.session, row.scope === "session" ? b.session.id : undefined);
      assert.equal(row.workspace, row.scope === "project" ? "/workspace" : undefined);
    }
    assert.deepEqual(outcomes(await running), ["succeeded"]);
  });
}

const exact: Rules = {
  parse: (text) => ({ text, covers: (request: Request) => text === `${request.tool}:text=${request.input["text"]}` }),
  offer: ({ tool, input }) => [`${tool}:text=${input["text"]}`],
};

test("an always with an edited input makes its grants from the edited request", async (t) => {
  const { b, running, id } = await asked(t, { deps: { rules: exact } });
  await b.dispatcher.answer(says(id, { updatedInput: { text: "edited" }, remember: { scope: "session" } }));
  await running;
  assert.deepEqual(
    (await b.ledger.pending("grants")).map(({ rule }) => rule),
    ["edit:text=edited"],
  );
});

test("a rule for the original does not cover the edit", async (t) => {
  const { b, running, id } = await asked(t);
  const answer = says(id, { updatedInput: { text: "edited" }, remember: { scope: "session", rules: ["edit:text=x"] } });
  await assert.rejects(b.dispatcher.answer(answer), { type: "bad_rule" });
  b.dispatcher.cancel("c1");
  await running;
});

test("an always for an explicit ask counts once, and the record says narrowed", async (t) => {
  const { b, running, id } = await asked(t, { policy: { rules: { team: { ask: ["edit"] } } } });
  await b.dispatcher.answer(says(id, { remember: { scope: "session" } }));
  assert.deepEqual(outcomes(await running), ["succeeded"]);
  const [answered] = await b.stored("approval.answered");
  assert.deepEqual([answered?.body.narrowed, answered?.body.remember], [true, undefined]);
  assert.deepEqual(await b.ledger.pending("grants", { all: true }), []);
  assert.deepEqual(
    b.notices.map(({ source }) => source),
    ["user_approved"],
  );
});

test("an always for a call whose facts could not be gathered counts once", async (t) => {
  const { b, running, id } = await asked(t, {
    deps: {
      facts: () => {
        throw new Error("no parser");
      },
    },
  });
  const report = await b.dispatcher.answer(says(id, { remember: { scope: "session" } }));
  assert.equal(report.outcome, "approved");
  assert.deepEqual(outcomes(await running), ["succeeded"]);
  assert.equal((await b.stored("approval.answered"))[0]?.body.narrowed, true);
});

test("an edit whose facts cannot be gathered is refused as an answer, never run unseen", async (t) => {
  let fail = false;
  const facts = (): { units: { subject: string }[]; binds: Record<string, string> } => {
    if (fail) throw new Error("no parser");
    return { units: [{ subject: "edit" }], binds: {} };
  };
  const { b, running, id } = await asked(t, { deps: { facts } });
  fail = true;
  await assert.rejects(b.dispatcher.answer(says(id, { updatedInput: { text: "y" } })), { name: "AnswerError" });
  assert.equal(b.dispatcher.pending().length, 1);
  b.dispatcher.cancel("c1");
  await running;
});

test("a reject leaves the other calls alone; with interrupt every call that has not started is cancelled", async (t) => {
  for (const interrupt of [false, true]) {
    const b = await bench(t, { policy: { rules: { team: { allow: ["slow_read"] } } } });
    const running = b.process([call("slow_read", "r", "c0"), call("edit", "x", "c1"), call("edit", "y", "c2"), call("read", "z", "c3")]);
    await until(() => b.dispatcher.pending().length === 2);
    const [first, second] = b.dispatcher.pending();
    await b.dispatcher.answer(says(first!.id, { outcome: "reject", interrupt }));
    await until(() => b.log().includes("response c1"));
    if (!interrupt) await b.dispatcher.answer(says(second!.id));
    b.gates.open("r");
    const expected = interrupt ? ["cancelled cancelled", "cancelled cancelled"] : ["succeeded", "succeeded"];
    const report = await running;
    assert.deepEqual(outcomes(report), ["succeeded", "rejected rejected_by_user", ...expected]);
    assert.equal(report.stopRun, false);
    assert.deepEqual(b.world.lines, interrupt ? [] : ["y"]);
  }
});

test("a door without the tool cannot edit, but can approve and reject", async (t) => {
  const { b, running, id } = await asked(t);
  const other = await bench(t, { beside: b, tools: [] });
  const requests = createRequestReader({ ledger: b.ledger, tools: createRegistry(), digest: sha256 });
  const ports = { ledger: b.ledger, clock: b.clock, ids: b.ids, rules: patternRules, requests };
  await assert.rejects(answerApproval(ports, says(id, { updatedInput: { text: "y" } })), { name: "AnswerError", type: "stale_revision" });
  await answerApproval(ports, says(id));
  assert.deepEqual(outcomes(await running), ["succeeded"]);
  assert.deepEqual(other.world.lines, []);
});

test("the same edited answer twice is the same answer; another edit is not", async (t) => {
  const { b, running, id } = await asked(t);
  await b.dispatcher.answer(says(id, { updatedInput: { text: "e" } }));
  await running;
  const same = await b.dispatcher.answer(says(id, { updatedInput: { text: "e" } }));
  assert.deepEqual([same.alreadyAnswered, same.identical], [true, true]);
  const others: readonly (readonly [over: Partial<Answer>, message: RegExp])[] = [
    [{ updatedInput: { text: "f" } }, /was approved before by Tester\. Your edit was not saved\.$/],
    [{ updatedInput: { text: "e" }, remember: { scope: "user" } }, /before by Tester\. Your rule was not saved\.$/],
    [{ updatedInput: { text: "f" }, remember: { scope: "user" } }, /Your edit was not saved\. Your rule was not saved\.$/],
    [{}, /before by Tester\. It runs as that answer says\.$/],
  ];
  for (const [over, message] of others)
    await assert.rejects(b.dispatcher.answer(says(id, over)), { name: "AnswerError", type: "already_answered", message });
  await assert.rejects(b.dispatcher.answer(says(id, { outcome: "reject" })), { name: "AnswerError", type: "already_answered" });
  assert.deepEqual(b.world.lines, ["e"]);
});

test("an always without rules, for a call no rule can be offered for, is bad_rule; the approval stays open", async (t) => {
  const { b, running, id } = await asked(t, { deps: { rules: { ...exact, offer: () => [] } } });
  await assert.rejects(b.dispatcher.answer(says(id, { remember: { scope: "session" } })), { name: "AnswerError", type: "bad_rule" });
  await b.dispatcher.answer(says(id));
  assert.deepEqual(outcomes(await running), ["succeeded"]);
});

test("an edit that was valid when it was given and no longer is when it should run ends the call, and nothing runs", async (t) => {
  let builds = 0;
  const fickle = textTool("fickle", "edit", {
    check: ({ text }) => {
      if (text !== "edited") return undefined;
      builds += 1;
      return builds > 1 ? "not any more" : undefined;
    },
    run: () => assert.fail("it must not run"),
  });
  const { b, running, id } = await asked(t, { tools: [fickle], tool: "fickle" });
  await b.dispatcher.answer(says(id, { updatedInput: { text: "edited" } }));
  assert.deepEqual(outcomes(await running), ["denied tool_changed"]);
  assert.deepEqual(await b.ledger.pending("approvals"), []);
});
