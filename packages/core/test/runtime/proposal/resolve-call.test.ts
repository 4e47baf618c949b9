import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import {
  type Answer,
  answerApproval,
  createRequestReader,
  type Draft,
  type Facts,
  type JsonObject,
  type Ledger,
  LedgerError,
  type PendingAction,
  type ProposalReport,
  patternRules,
  ToolError,
} from "@assent/core";
import { scriptedApprover, TESTER } from "@assent/core/testing";
import { call, only, outcomes, says, scriptedHooks, sha256, textOf, until } from "../harness.ts";
import { done, type Patch, type ProposalBench, patching, proposalBench, pusher, resolving, withAction } from "./proposal-bench.ts";

/** The details of the only result. */
function detailsOf(report: ReturnType<typeof only>): JsonObject {
  return report.result.details as JsonObject;
}

type Row = readonly [name: string, action: "apply" | "discard", over: JsonObject, outcome: string, text: string, details: JsonObject];
const words = { action: "apply", reason: "because" };
const NOTHING: readonly Row[] = [
  ["apply, nothing pending", "apply", {}, "failed no_pending_action", "No pending action to resolve. Nothing to apply or discard.", words],
  [
    "discard, nothing pending",
    "discard",
    { extra: { a: 1 } },
    "succeeded nothing_to_discard",
    "No action is pending. Nothing to discard.",
    { action: "discard", reason: "because", extra: { a: 1 } },
  ],
  ["an id that is unknown", "apply", { id: "p_no" }, "failed proposal_not_found", "No proposal p_no in this session.", words],
  [
    "a discard of an unknown id",
    "discard",
    { id: "p_no" },
    "failed proposal_not_found",
    "No proposal p_no in this session.",
    { action: "discard", reason: "because" },
  ],
  [
    "null and an empty id count as absent",
    "discard",
    { id: "", extra: null },
    "succeeded nothing_to_discard",
    "No action is pending. Nothing to discard.",
    { action: "discard", reason: "because" },
  ],
];
for (const [name, action, over, outcome, text, details] of NOTHING) {
  test(name, async (t) => {
    const b = await proposalBench(t);
    const report = await b.process([resolving(action, over)]);
    assert.deepEqual(outcomes(report), [outcome]);
    assert.equal(textOf(report.results[0]), text);
    assert.deepEqual(detailsOf(only(report)), details);
  });
}

test("an unknown action is invalid and discards nothing", async (t) => {
  const b = await proposalBench(t);
  await b.stage({ a: "uno" });
  const report = await b.process([{ name: "resolve", arguments: { action: "drop", reason: "" } }]);
  assert.deepEqual(outcomes(report), ["invalid invalid_tool_params"]);
  assert.equal(b.session.state.proposals.size, 1);
});

test("an apply writes what was shown and reports it in the tool's words", async (t) => {
  const b = await proposalBench(t);
  const row = await b.stage({ a: "uno", c: "new" });
  assert.equal(b.files.texts.get("/workspace/a"), "one");
  const report = only(await b.process([resolving("apply", { extra: { why: [1] } })]));
  assert.equal(report.type, "applied");
  assert.equal(textOf(report), 'Patched {"n":2}.');
  const { sourceResultDetails, ...details } = detailsOf(report);
  assert.deepEqual(details, {
    action: "apply",
    reason: "because",
    extra: { why: [1] },
    sourceToolName: "patch",
    label: "Patch: a, c",
    proposalId: row.id,
    proposalState: "applied",
  });
  assert.deepEqual((sourceResultDetails as JsonObject)["files"], [
    { path: "/workspace/a", digest: "sha256:bf0ec3694e122e067d9964a38ec7d8415781df4b24f442ad767b4621fb98f8c5" },
    { path: "/workspace/c", digest: "sha256:11507a0e2f5e69d5dfa40a62a1bd7b6ee57e6bcd85c67c9b8431b36fff21c437" },
  ]);
  assert.equal(b.files.texts.get("/workspace/a"), "uno");
  assert.equal(b.files.texts.get("/workspace/c"), "new");
});

type Thrown = readonly [name: string, action: Partial<PendingAction>, text: string, type: string];
const FAILING: readonly Thrown[] = [
  [
    "a ToolError keeps its message and type",
    {
      apply: () => {
        throw new ToolError("Quota is used up.", "x_quota");
      },
    },
    "Quota is used up.",
    "x_quota",
  ],
  [
    "a ToolError without a type of its own",
    {
      apply: () => {
        throw new ToolError("Apply failed: really");
      },
    },
    "Apply failed: really",
    "proposal_apply_failed",
  ],
  [
    "any other error is reported as a failed apply",
    { apply: () => Promise.reject(new Error("disk")) },
    "Apply failed: disk",
    "proposal_apply_failed",
  ],
  ["a thrown text", { apply: () => Promise.reject("no") }, "Apply failed: no", "proposal_apply_failed"],
  ["anything else", { apply: () => Promise.reject({ no: 1 }) }, "Apply failed: unknown error", "proposal_apply_failed"],
  [
    "a returned failure keeps its content",
    { apply: () => ({ content: "half of it", error: { message: "half" } }) },
    "half of it",
    "proposal_apply_failed",
  ],
  [
    "isError counts as a failure",
    { apply: () => ({ content: "did not", isError: true }) as unknown as string },
    "did not",
    "proposal_apply_failed",
  ],
];
for (const [name, action, text, type] of FAILING) {
  test(`${name}, and it is pending again`, async (t) => {
    const b = await withAction(t, { ...done, ...action });
    const report = only(await b.process([resolving("apply")]));
    assert.deepEqual([report.outcome, report.type, textOf(report)], ["failed", type, text]);
    const [row] = b.session.state.proposals.values();
    assert.deepEqual([row?.state, row?.failures], ["staged", 1]);
    assert.equal(detailsOf(report)["proposalState"], "staged");
  });
}

test("an apply may return any JSON value", async (t) => {
  const b = await withAction(t, { ...done, apply: () => ({ sent: 2 }) });
  const report = only(await b.process([resolving("apply")]));
  assert.deepEqual([report.outcome, report.type, textOf(report)], ["succeeded", "applied", '{"sent":2}']);
});

test("an apply whose result cannot be kept was made: it is applied, not pending again", async (t) => {
  const b = await withAction(t, { ...done, apply: () => ({ sent: 2n }) as never });
  const report = only(await b.process([resolving("apply")]));
  assert.deepEqual([report.outcome, report.type], ["succeeded", "applied"]);
  assert.match(textOf(report), / ran, but its result could not be kept: the value at \/sent is a bigint/);
  assert.equal((await b.stored("proposal.applied")).length, 1);
  assert.equal(b.session.state.proposals.size, 0);
});

test("an apply that calls another tool puts it through the dispatcher, and does not wait for its own batch", async (t) => {
  const apply: PendingAction["apply"] = async (_reason, _extra, { gate }) => `did ${(await gate(call("edit", "x"))).content}`;
  const b = await withAction(t, { ...done, apply });
  const report = await b.process([resolving("apply", {}, "c1"), call("read", "after", "c2")]);
  assert.deepEqual(outcomes(report), ["succeeded applied", "succeeded"]);
  assert.equal(textOf(report.results[0]), "did wrote x");
  const judged = (await b.stored("call.judged")).map(({ body }) => body.call);
  assert.ok(judged.includes("c1/1"), "the nested call has its own decision");
});

test("a nested edit of files is made while its action is being applied", async (t) => {
  const apply: PendingAction["apply"] = async (_reason, _extra, { gate }) => await gate(patching({ a: "uno" }, {}, "put"));
  const b = await withAction(t, { ...done, apply });
  assert.deepEqual(outcomes(await b.process([resolving("apply")])), ["succeeded applied"]);
  assert.equal(b.files.texts.get("/workspace/a"), "uno");
});

test("a deny of what an apply calls makes the apply fail, and the action is pending again", async (t) => {
  const apply: PendingAction["apply"] = async (_reason, _extra, { gate }) => await gate(call("edit", "x"));
  const b = await withAction(t, { ...done, apply }, { policy: { mode: "yolo", rules: { user: { deny: ["edit"] } } } });
  const report = only(await b.process([resolving("apply")]));
  assert.deepEqual([report.outcome, report.type], ["failed", "proposal_apply_failed"]);
  assert.equal(textOf(report), "Apply failed: Tool 'edit' is denied by user permissions.");
  assert.deepEqual(b.world.lines, []);
  assert.equal([...b.session.state.proposals.values()][0]?.state, "staged");
});

test("a nested apply of the action being applied fails as busy", async (t) => {
  const apply: PendingAction["apply"] = async (_reason, _extra, { gate }) => await gate(resolving("apply"));
  const b = await withAction(t, { ...done, apply });
  assert.deepEqual(outcomes(await b.process([resolving("apply")])), ["failed proposal_apply_failed"]);
});

type Rejecting = readonly [name: string, reject: PendingAction["reject"], outcome: string, text: string, left: number];
const REJECTING: readonly Rejecting[] = [
  ["no reject", undefined, "succeeded discarded", "Discarded: Deploy. Reason: because.", 0],
  ["a reject that says nothing", () => undefined, "succeeded discarded", "Discarded: Deploy. Reason: because.", 0],
  ["a reject that gives a result", (reason) => `gone: ${reason}`, "succeeded discarded", "gone: because", 0],
  ["a reject that throws", () => Promise.reject(new Error("locked")), "failed reject_failed", "locked", 1],
];
for (const [name, reject, outcome, text, left] of REJECTING) {
  test(name, async (t) => {
    const b = await withAction(t, reject ? { ...done, reject } : done);
    const report = await b.process([resolving("discard")]);
    assert.deepEqual(outcomes(report), [outcome]);
    assert.equal(textOf(report.results[0]), text);
    assert.equal(b.session.state.proposals.size, left);
  });
}

test("a discard changes no file, and is recorded with its words", async (t) => {
  const b = await proposalBench(t);
  const row = await b.stage({ a: "uno" });
  await b.process([resolving("discard", { reason: "  no  " }, "c9")]);
  const [event] = await b.stored("proposal.discarded");
  assert.deepEqual(event?.body.resolution, {
    action: "discard",
    by: "model",
    reason: "  no  ",
    callId: "c9",
    at: "2026-01-01T00:00:00.000Z",
  });
  assert.equal(event?.body.proposal, row.id);
  assert.equal(b.files.texts.get("/workspace/a"), "one");
  assert.deepEqual(b.files.log, []);
});

test("several pending and no id: the list, oldest first, and nothing happens", async (t) => {
  const b = await proposalBench(t);
  const first = await b.stage({ a: "uno" });
  const second = await b.stage({ b: "due" });
  for (const action of ["apply", "discard"] as const) {
    const report = only(await b.process([resolving(action)]));
    assert.deepEqual([report.outcome, report.type], ["failed", "proposal_ambiguous"]);
    assert.equal(textOf(report), `Several actions are pending. Give the id of one:\n- ${first.id}: Patch: a\n- ${second.id}: Patch: b`);
    assert.deepEqual(detailsOf(report), { action, reason: "because" });
  }
  assert.equal(b.session.state.proposals.size, 2);
});

test("an unknown id names what is pending", async (t) => {
  const b = await proposalBench(t);
  const row = await b.stage({ a: "uno" });
  const report = only(await b.process([resolving("apply", { id: "p_no" })]));
  assert.equal(textOf(report), `No proposal p_no in this session.\n- ${row.id}: Patch: a`);
});

test("an id of another session names its owner", async (t) => {
  const b = await proposalBench(t);
  const row = await b.stage({ a: "uno" });
  const other = await proposalBench(t, { beside: b, files: b.files });
  const report = only(await other.process([resolving("apply", { id: row.id })]));
  assert.deepEqual(
    [report.type, textOf(report)],
    ["proposal_not_found", `No proposal ${row.id} in this session. It belongs to session ${b.session.id}.`],
  );
});

test("each of several is resolvable by its id", async (t) => {
  const b = await proposalBench(t);
  const first = await b.stage({ a: "uno" });
  const second = await b.stage({ b: "due" });
  await b.process([resolving("apply", { id: first.id })]);
  assert.deepEqual([b.files.texts.get("/workspace/a"), b.files.texts.get("/workspace/b")], ["uno", "two"]);
  await b.process([resolving("discard", { id: second.id })]);
  assert.equal(b.session.state.proposals.size, 0);
});

type Settled = readonly [
  name: string,
  first: "apply" | "discard",
  then: "apply" | "discard",
  outcome: string,
  text: (id: string) => string,
];
const SETTLED: readonly Settled[] = [
  ["apply of an applied id", "apply", "apply", "failed proposal_not_pending", (id) => `Proposal ${id} is applied. Nothing was applied.`],
  [
    "apply of a discarded id",
    "discard",
    "apply",
    "failed proposal_not_pending",
    (id) => `Proposal ${id} is discarded. Nothing was applied.`,
  ],
  ["discard of a discarded id", "discard", "discard", "succeeded nothing_to_discard", (id) => `Proposal ${id} is already discarded.`],
  [
    "discard of an applied id",
    "apply",
    "discard",
    "failed proposal_not_pending",
    (id) => `Proposal ${id} is applied. Nothing was discarded.`,
  ],
];
for (const [name, first, then, outcome, text] of SETTLED) {
  test(name, async (t) => {
    const b = await proposalBench(t);
    const { id } = await b.stage({ a: "uno" });
    await b.process([resolving(first)]);
    const report = await b.process([resolving(then, { id })]);
    assert.deepEqual(outcomes(report), [outcome]);
    assert.equal(textOf(report.results[0]), text(id));
    assert.equal(detailsOf(only(report))["label"], "Patch: a");
  });
}

test("a person applies it at this moment: bytes are written once", async (t) => {
  const b = await proposalBench(t);
  const { id } = await b.stage({ a: "uno" });
  const release = b.files.hold("committed");
  const person = b.dispatcher.proposals.apply(id, { kind: "person", user: "u", name: "n", door: "d", pid: 1 });
  await until(() => b.files.log.length > 0);
  const report = only(await b.process([resolving("apply", { id })]));
  assert.deepEqual([report.type, textOf(report)], ["proposal_busy", `Proposal ${id} is being applied elsewhere.`]);
  release();
  assert.equal((await person).ok, true);
  assert.deepEqual(b.files.log, [`apply ${id}`]);
});

test("a file that changed since the preview: it alone is named, nothing is written", async (t) => {
  const b = await proposalBench(t, { texts: { "/workspace/a": "1", "/workspace/b": "2", "/workspace/c": "3" } });
  const { id } = await b.stage({ a: "x", b: "y", c: "z" });
  b.files.texts.set("/workspace/b", "other");
  const report = only(await b.process([resolving("apply")]));
  assert.deepEqual(
    [report.outcome, report.type, textOf(report)],
    ["failed", "proposal_stale", "Stale: 1 file changed since the preview: b. Nothing was written. Preview again."],
  );
  assert.deepEqual([...b.files.texts.values()], ["1", "other", "3"]);
  const [event] = await b.stored("proposal.stale");
  assert.deepEqual(event?.body, { proposal: id, cause: "changed", files: ["b"] });
  assert.equal(b.session.state.proposals.size, 0);
});

test("a temporary file that cannot be written leaves it staged", async (t) => {
  const b = await proposalBench(t);
  await b.stage({ a: "uno" });
  b.files.faults.push("write");
  const report = only(await b.process([resolving("apply")]));
  assert.deepEqual([report.type, textOf(report)], ["proposal_apply_failed", "Apply failed: no space left"]);
  assert.equal([...b.session.state.proposals.values()][0]?.state, "staged");
});

test("a rename that fails says what was restored", async (t) => {
  const b = await proposalBench(t);
  await b.stage({ a: "uno", b: "due" });
  b.files.faults.push("rename");
  const report = only(await b.process([resolving("apply")]));
  assert.equal(textOf(report), "Apply failed: cannot replace. Restored 1 file.");
  assert.equal(b.files.texts.get("/workspace/a"), "one");
});

test("a restore that fails too leaves call and proposal unknown, with every file named", async (t) => {
  const b = await proposalBench(t);
  const { id } = await b.stage({ a: "uno", b: "due" });
  b.files.faults.push("restore");
  const report = only(await b.process([resolving("apply")]));
  assert.deepEqual([report.outcome, report.type], ["unknown", "apply_unknown"]);
  assert.match(textOf(report), /\n- \/workspace\/a: after\n- \/workspace\/b: before$/);
  assert.equal((await b.ledger.pending("proposals", { all: true, prefix: id }))[0]?.state, "unknown");
});

test("after three failed applies it is parked once, and the model is notified", async (t) => {
  const b = await withAction(t, { ...done, apply: () => Promise.reject(new Error("no")) });
  for (const parked of [false, false, true, true]) {
    await b.process([resolving("apply")]);
    assert.equal([...b.session.state.proposals.values()][0]?.parked, parked);
  }
  const [row] = b.session.state.proposals.values();
  assert.equal(row?.failures, 4);
  assert.equal((await b.stored("proposal.parked")).length, 1);
  assert.deepEqual(
    [...b.session.state.notices.values()].map(({ modelText }) => modelText),
    [`Deploy is parked for the person as ${row?.id}. Continue without it.`],
  );
});

test("the same request staged again supersedes the older one", async (t) => {
  const b = await proposalBench(t);
  const older = await b.stage({ a: "uno" });
  const newer = await b.stage({ a: "uno" });
  assert.deepEqual([...b.session.state.proposals.keys()], [newer.id]);
  const [row] = await b.ledger.pending("proposals", { all: true, prefix: older.id });
  assert.deepEqual([row?.state, row?.supersededBy], ["superseded", newer.id]);
  const staged = await b.stored("proposal.staged");
  assert.deepEqual(staged.at(-1)?.body.supersedes, [older.id]);
});

for (const [sentence, supersede] of [
  ["staged again", async (b: ProposalBench) => void (await b.stage({ a: "uno" }))],
  [
    "overtaken by an apply",
    async (b: ProposalBench) => void (await b.process([resolving("apply", { id: (await b.stage({ a: "eins" })).id })])),
  ],
] as const)
  test(`discarding a proposal that is being superseded (${sentence}) reports that; nothing fails`, async (t) => {
    let discarding: Promise<ProposalReport> | undefined;
    const wrap = (ledger: Ledger): Ledger => ({
      ...ledger,
      append: async (lease, at, batch) => {
        const [superseded] = batch.events.filter(isSuperseded);
        if (superseded) discarding ??= b.dispatcher.proposals.discard(superseded.body.proposal, TESTER);
        await new Promise(setImmediate); // lets the person act before the commit
        return ledger.append(lease, at, batch);
      },
    });
    const b = await proposalBench(t, { wrap });
    const older = await b.stage({ a: "uno" });
    await supersede(b);
    assert.deepEqual([(await discarding)?.ok, (await discarding)?.type], [false, "proposal_busy"]);
    assert.equal((await b.ledger.pending("proposals", { all: true, prefix: older.id }))[0]?.state, "superseded");
  });

function isSuperseded(draft: Draft): draft is Draft<"proposal.superseded"> {
  return draft.type === "proposal.superseded";
}

test("an apply supersedes what touches the same file, in one commit, and says so", async (t) => {
  const b = await proposalBench(t);
  const first = await b.stage({ a: "uno", c: "x" });
  const third = await b.stage({ b: "due" });
  const second = await b.stage({ a: "eins" });
  const report = only(await b.process([resolving("apply", { id: second.id })]));
  assert.equal(textOf(report), `Patched {"n":1}.\nSuperseded: ${first.id} (Patch: a, c).`);
  assert.deepEqual([...b.session.state.proposals.keys()], [third.id]);
});

test("had it been discarded, the other would apply", async (t) => {
  const b = await proposalBench(t);
  const first = await b.stage({ a: "uno" });
  const second = await b.stage({ a: "eins" });
  await b.process([resolving("discard", { id: second.id })]);
  assert.equal(only(await b.process([resolving("apply", { id: first.id })])).type, "applied");
  assert.equal(b.files.texts.get("/workspace/a"), "uno");
});

test("two of them without an id in one batch mean the same one: the second finds it applied", async (t) => {
  const b = await proposalBench(t);
  const { id } = await b.stage({ a: "uno" });
  const report = await b.process([resolving("apply", { reason: "1" }), resolving("apply", { reason: "2" })]);
  assert.deepEqual(outcomes(report), ["succeeded applied", "failed proposal_not_pending"]);
  assert.equal(textOf(report.results[1]), `Proposal ${id} is applied. Nothing was applied.`);
  assert.deepEqual(b.files.log, [`apply ${id}`]);
});

test("what an earlier call of the batch stages is never applied unseen", async (t) => {
  const b = await proposalBench(t);
  const report = await b.process([patching({ a: "uno" }), resolving("apply")]);
  assert.deepEqual(outcomes(report), ["succeeded", "failed no_pending_action"]);
  assert.equal(b.session.state.proposals.size, 1);
  assert.equal(b.files.texts.get("/workspace/a"), "one");
});

test("with one older proposal and an earlier call that stages it is ambiguous, even if the tool does not declare it", async (t) => {
  const b = await proposalBench(t, { tools: [pusher([() => done])] });
  await b.stage({ a: "uno" });
  for (const earlier of [patching({ b: "due" }), call("deploy", "x")]) {
    const report = await b.process([earlier, resolving("apply")]);
    assert.deepEqual(outcomes(report), ["succeeded", "failed proposal_ambiguous"]);
    for (const id of [...b.session.state.proposals.keys()].slice(1)) await b.process([resolving("discard", { id })]);
  }
  assert.equal(b.files.texts.get("/workspace/a"), "one");
});

test("no one is asked about a target that an earlier call makes ambiguous", async (t) => {
  const b = await proposalBench(t, { policy: ask, person: scriptedApprover(() => "approve") });
  await b.stage({ a: "uno" });
  assert.deepEqual(outcomes(await b.process([patching({ b: "due" }), resolving("apply")])), ["succeeded", "failed proposal_ambiguous"]);
  assert.equal(b.person.shown.length, 0);
});

test("the proposal of the directive in flight comes before the only one", async (t) => {
  const b = await proposalBench(t);
  await b.stage({ a: "uno" });
  const second = await b.stage({ b: "due" });
  const report = await b.process([resolving("apply")], { directive: "resolve", proposal: second.id });
  assert.equal(detailsOf(only(report))["proposalId"], second.id);
  assert.equal(b.files.texts.get("/workspace/b"), "due");
});

test("a target and its digest are bound into the request", async (t) => {
  const b = await proposalBench(t);
  const { id, digest } = await b.stage({ a: "uno" });
  await b.process([resolving("apply", {}, "r1")]);
  const [judged] = await b.stored("call.judged", "r1");
  assert.deepEqual(judged?.body.binds, { proposal: id, digest });
});

test("the details of the action stand in, and never replace the callback's own", async (t) => {
  const b = await withAction(t, { ...done, details: { m: 2 } });
  const first = detailsOf(only(await b.process([resolving("apply")])));
  assert.deepEqual([first["sourceToolName"], first["sourceResultDetails"]], ["custom_tool", { m: 2 }]);
  const other = await withAction(t, { ...done, details: { m: 2 }, apply: () => ({ content: "x", details: { n: 1, action: "mine" } }) });
  const second = detailsOf(only(await other.process([resolving("apply")])));
  assert.deepEqual([second["sourceResultDetails"], second["action"]], [{ n: 1, action: "mine" }, "apply"]);
});

const ask = { mode: "default" } as const;

test("an apply is judged as its source, and asks with the whole preview", async (t) => {
  const b = await proposalBench(t, { policy: ask });
  const row = await b.stage({ a: "uno" });
  const running = b.process([resolving("apply", {}, "r1")]);
  await until(() => b.dispatcher.pending().length > 0);
  const [open] = b.dispatcher.pending();
  assert.deepEqual([open?.tool, open?.explicitAsk, open?.suggestions], ["resolve", false, ["patch"]]);
  assert.deepEqual(open?.details, {
    type: "info",
    title: "Confirm Patch: a",
    prompt: 'Patch: a\na\n  + "uno"',
    permissionRules: ["patch"],
  });
  await b.dispatcher.answer(says(open?.id ?? ""));
  assert.equal(only(await running).type, "applied");
  assert.equal((await b.stored("proposal.applying"))[0]?.body.resolution.callId, "r1");
  assert.equal(row.state, "staged");
});

test("an always is remembered for the source tool, and answers the next apply of it", async (t) => {
  const b = await proposalBench(t, {
    policy: ask,
    person: scriptedApprover({ resolve: { outcome: "approve", remember: { scope: "session" } } }),
  });
  await b.stage({ a: "uno" });
  assert.equal(only(await b.process([resolving("apply")])).type, "applied");
  const [grant] = await b.ledger.pending("grants");
  assert.deepEqual([grant?.rule, grant?.tool], ["patch", "patch"]);
  await b.stage({ b: "due" });
  assert.equal(only(await b.process([resolving("apply")])).type, "applied");
  assert.equal(b.person.shown.length, 1);
});

test("staging asks no one, and a deny of the source tool denies it", async (t) => {
  const b = await proposalBench(t, { policy: ask });
  assert.equal(only(await b.process([patching({ a: "uno" })])).outcome, "succeeded");
  b.policy.set({ rules: { user: { deny: ["patch"] } } });
  assert.equal(only(await b.process([patching({ b: "due" })])).type, "denied_by_rule");
  b.policy.set({ mode: "plan" });
  assert.equal(only(await b.process([patching({ b: "due" })])).type, "denied_by_mode");
});

test("a rule about reading applies to staging", async (t) => {
  const b = await proposalBench(t, { policy: { rules: { user: { ask: ["read"] } } }, person: scriptedApprover(() => "reject") });
  assert.equal(only(await b.process([patching({ a: "uno" })])).type, "rejected_by_user");
  b.policy.set({ rules: { user: { deny: ["read"] } } });
  assert.equal(only(await b.process([patching({ b: "uno" })])).type, "denied_by_rule");
});

test("a person who rejects the apply leaves it staged", async (t) => {
  const b = await proposalBench(t, { policy: ask, person: scriptedApprover({ resolve: { outcome: "reject", reason: "later" } }) });
  await b.stage({ a: "uno" });
  const report = only(await b.process([resolving("apply")]));
  assert.deepEqual([report.type, textOf(report)], ["rejected_by_user", "The user rejected the tool call. Reason: later"]);
  const [row] = b.session.state.proposals.values();
  assert.deepEqual(detailsOf(report), {
    action: "apply",
    reason: "because",
    sourceToolName: "patch",
    label: "Patch: a",
    proposalId: row?.id,
    proposalState: "staged",
  });
  assert.equal([...b.session.state.proposals.values()][0]?.state, "staged");
});

test("a discard is allowed, even if rules deny the tool that made the preview", async (t) => {
  const b = await proposalBench(t, { policy: ask });
  await b.stage({ a: "uno" });
  b.policy.set({ mode: "plan", rules: { user: { deny: ["patch"], ask: ["resolve"] } } });
  assert.equal(only(await b.process([resolving("discard")])).type, "discarded");
});

test("a deny of resolve holds in every mode, for a proposal, a discard, and where nothing is pending", async (t) => {
  const b = await proposalBench(t);
  b.policy.set({ mode: "yolo", rules: { user: { deny: ["resolve"] } } });
  assert.equal(only(await b.process([resolving("apply")])).type, "denied_by_rule");
  const { id } = await b.stage({ a: "uno" });
  for (const action of ["apply", "discard"] as const) {
    const report = only(await b.process([resolving(action, { reason: action })]));
    assert.deepEqual([report.type, detailsOf(report)["proposalId"]], ["denied_by_rule", id]);
  }
  b.policy.set({ mode: "yolo", rules: { user: { deny: ["resolve:action=apply"] } } });
  assert.equal(only(await b.process([resolving("apply", { reason: "again" })])).type, "denied_by_rule");
  assert.deepEqual(b.files.log, []);
  assert.equal(only(await b.process([resolving("discard")])).type, "discarded");
});

test("a deny of resolve leaves a proposal to the person from the start", async (t) => {
  const b = await proposalBench(t, { policy: { mode: "yolo", rules: { user: { deny: ["resolve"] } } } });
  const { id } = await b.stage({ a: "uno" });
  assert.equal(b.session.state.proposals.get(id)?.parked, true);
  assert.equal((await b.dispatcher.proposals.apply(id, TESTER)).ok, true);
});

test("an apply is denied in plan mode as its source is", async (t) => {
  const b = await proposalBench(t);
  await b.stage({ a: "uno" });
  b.policy.set({ mode: "plan" });
  assert.equal(only(await b.process([resolving("apply")])).type, "denied_by_mode");
  assert.equal(b.session.state.proposals.size, 1);
});

test("a policy that denies while the approval is open ends the call, and no byte is written", async (t) => {
  const b = await proposalBench(t, { policy: ask });
  await b.stage({ a: "uno" });
  const running = b.process([resolving("apply")]);
  await until(() => b.dispatcher.pending().length > 0);
  b.policy.set({ rules: { user: { deny: ["patch"] } } });
  assert.equal(only(await running).type, "denied_policy_changed");
  assert.deepEqual(b.files.log, []);
  assert.equal([...b.session.state.proposals.values()][0]?.state, "staged");
});

const stages = (): boolean => false;

test("resolver model: the default ask counts as allow, an explicit one still asks", async (t) => {
  const proposals = { resolver: "model", stages } as const;
  const b = await proposalBench(t, { policy: { proposals }, person: scriptedApprover(() => "reject") });
  await b.stage({ a: "uno" });
  assert.equal(only(await b.process([resolving("apply")])).type, "applied");
  await b.stage({ b: "due" });
  b.policy.set({ proposals, rules: { user: { ask: ["patch"] } } });
  assert.equal(only(await b.process([resolving("apply")])).type, "rejected_by_user");
  b.policy.set({ proposals, rules: { user: { deny: ["patch"] } } });
  assert.equal(only(await b.process([resolving("apply", { reason: "again" })])).type, "denied_by_rule");
});

test("where a person resolves, the model's apply is refused without asking, and its discard works", async (t) => {
  const b = await proposalBench(t, {
    policy: { mode: "default", proposals: { resolver: "person", stages } },
    person: scriptedApprover(() => "approve"),
  });
  const row = await b.stage({ a: "uno" });
  assert.equal(row.parked, true);
  assert.deepEqual((await b.stored("proposal.parked"))[0]?.body, { proposal: row.id, why: "person" });
  const report = only(await b.process([resolving("apply")]));
  assert.deepEqual(
    [report.outcome, report.type, textOf(report)],
    ["failed", "resolver_is_person", `Only a person can apply Patch: a. It is waiting for them as ${row.id}.`],
  );
  assert.equal(b.person.shown.length, 0);
  assert.equal(only(await b.process([resolving("discard")])).type, "discarded");
});

test("settings stage what would run at once; the plan file is written at once", async (t) => {
  const policy = { mode: "yolo", proposals: { resolver: "both", stages: ({ tool }: { tool: string }) => tool === "put" } } as const;
  const b = await proposalBench(t, { policy });
  assert.match(
    textOf(only(await b.process([patching({ a: "uno" }, {}, "put")]))),
    /^Preview staged as p_\w+: Patch: a\. No file was modified\.\n/,
  );
  assert.equal(b.files.texts.get("/workspace/a"), "one");
  assert.equal(only(await b.process([resolving("apply")])).type, "applied");
});

test("consent to a preview is not consent to the change", async (t) => {
  const proposals = (on: boolean) => ({ resolver: "both", stages: () => on }) as const;
  const b = await proposalBench(t, { policy: { rules: { user: { ask: ["read"] } }, proposals: proposals(true) } });
  const running = b.process([patching({ a: "uno" }, {}, "put")]);
  await until(() => b.dispatcher.pending().length > 0);
  const [first] = b.dispatcher.pending();
  assert.match(first?.details.type === "info" ? first.details.prompt : "", /nothing is changed by it/);
  b.policy.set({ proposals: proposals(false) });
  await until(() => b.dispatcher.pending().some(({ revision }) => revision === 2), "the question about the change");
  const [second] = b.dispatcher.pending();
  assert.notEqual(first?.fingerprint, second?.fingerprint);
  await b.dispatcher.answer(says(second?.id ?? "", { outcome: "reject" }));
  assert.equal(only(await running).type, "rejected_by_user");
  assert.equal(b.files.texts.get("/workspace/a"), "one");
});

type Large = readonly [name: string, patch: Patch, expected: RegExp];
const big = "x".repeat(9_000);
const CUT: readonly Large[] = [
  [
    "all blocks that fit are shown",
    { a: "1", b: "2" },
    /^Preview staged as p_\w+: Patch: a, b\. No file was modified\.\na\n {2}\+ "1"\nb\n {2}\+ "2"$/,
  ],
  [
    "what does not fit is counted, at a block's end",
    { a: big, b: big, c: big, d: big },
    /x"\n… 2 more changes in the stored preview p_\w+$/,
  ],
  ["a first block that does not fit is not cut", { a: `${big}${big}${big}` }, /modified\.\n… 1 more changes in the stored preview p_\w+$/],
];
for (const [name, patch, expected] of CUT) {
  test(name, async (t) => {
    const b = await proposalBench(t);
    const text = textOf(only(await b.process([patching(patch)])));
    assert.match(text, expected);
    assert.ok(text.length <= 25_000);
  });
}

test("the details of a staged preview are the tool's and its id", async (t) => {
  const b = await proposalBench(t);
  const report = only(await b.process([patching({ a: "uno" }, { details: { n: 1, applied: true } })]));
  const [row] = b.session.state.proposals.values();
  assert.deepEqual(detailsOf(report), { n: 1, applied: false, proposalId: row?.id });
});

/** Facts that bind nothing. */
const plainFacts: Facts = ({ tool }) => ({ units: [{ subject: tool }], binds: {} });

/** Answers the only open approval as another process would. */
async function answerElsewhere(b: ProposalBench, over: Partial<Answer>): Promise<void> {
  const [row] = await b.ledger.pending("approvals");
  const requests = createRequestReader({ ledger: b.ledger, tools: b.registry, digest: sha256, facts: plainFacts });
  await answerApproval({ ledger: b.ledger, clock: b.clock, ids: b.ids, rules: patternRules, requests }, says(row?.id ?? "", over));
}

test("an always from another process is remembered for the source tool", async (t) => {
  const b = await proposalBench(t, { policy: ask });
  await b.stage({ a: "uno" });
  const running = b.process([resolving("apply")]);
  await until(() => b.dispatcher.pending().length > 0);
  await answerElsewhere(b, { remember: { scope: "session" } });
  assert.equal(only(await running).type, "applied");
  const [grant] = await b.ledger.pending("grants");
  assert.deepEqual([grant?.rule, grant?.tool], ["patch", "patch"]);
});

test("a rule that does not cover the source is refused", async (t) => {
  const b = await proposalBench(t, { policy: ask });
  await b.stage({ a: "uno" });
  const running = b.process([resolving("apply")]);
  await until(() => b.dispatcher.pending().length > 0);
  await assert.rejects(answerElsewhere(b, { remember: { scope: "session", rules: ["resolve"] } }), { type: "bad_rule" });
  await answerElsewhere(b, { outcome: "reject" });
  await running;
});

test("an always for a pending action is remembered for actions of its tool, for any source name, and not for the tool", async (t) => {
  const b = await withAction(t, { ...done, sourceToolName: "nice" }, { policy: { rules: { user: { allow: ["deploy:text=x"] } } } });
  b.policy.set({});
  const running = b.process([resolving("apply")]);
  await until(() => b.dispatcher.pending().length > 0);
  await answerElsewhere(b, { remember: { scope: "session" } });
  assert.equal(only(await running).type, "applied");
  assert.equal((await b.ledger.pending("grants"))[0]?.rule, "deploy.apply");
});

test("an always for a preview is one for reading", async (t) => {
  const b = await proposalBench(t, { policy: { hints: false } });
  const running = b.process([patching({ a: "uno" })]);
  await until(() => b.dispatcher.pending().length > 0);
  assert.deepEqual(b.dispatcher.pending()[0]?.suggestions, ["read"]);
  await answerElsewhere(b, { remember: { scope: "session" } });
  assert.equal(only(await running).outcome, "succeeded");
  assert.equal((await b.ledger.pending("grants"))[0]?.rule, "read");
  assert.equal(only(await b.process([patching({ b: "due" })])).outcome, "succeeded");
});

test("an edited input of resolve is judged and used; its target stays, unless it names another", async (t) => {
  const b = await proposalBench(t, { policy: ask, deps: { facts: plainFacts } });
  const first = await b.stage({ a: "uno" });
  const second = await b.stage({ b: "due" });
  for (const [id, edited] of [
    [first.id, { action: "apply", reason: "in my words", id: first.id }],
    [second.id, { action: "discard", reason: "rather not", id: second.id }],
  ] as const) {
    const running = b.process([resolving("apply", { id })]);
    await until(() => b.dispatcher.pending().length > 0);
    await answerElsewhere(b, { updatedInput: edited });
    const report = only(await running);
    assert.deepEqual([report.outcome, detailsOf(report)["reason"], detailsOf(report)["proposalId"]], ["succeeded", edited.reason, id]);
  }
  assert.deepEqual([b.files.texts.get("/workspace/a"), b.files.texts.get("/workspace/b")], ["uno", "two"]);
});

const ONLY_A = { files: [{ path: "a" }] };

for (const [when, deps] of [
  ["while the call waits", {}],
  ["after a restart", { onAsk: "park" }],
] as const)
  test(`an answer with a part, ${when}, applies that part, and the result says what was applied and what was not`, async (t) => {
    const b = await proposalBench(t, { policy: ask, deps, ...("onAsk" in deps && { person: "nobody" }) });
    const row = await b.stage({ a: "uno", b: "due" });
    const running = b.process([resolving("apply", {}, "r1")]);
    if ("onAsk" in deps) assert.deepEqual(outcomes(await running), ["waiting"]);
    else await until(() => b.dispatcher.pending().length > 0);
    await answerElsewhere(b, { part: ONLY_A });
    const next = { beside: b, files: b.files, reopen: { id: b.session.id, takeOver: true } } as const;
    const report = only(await ("onAsk" in deps ? (await proposalBench(t, next)).resume() : running));
    assert.deepEqual([report.outcome, report.type], ["succeeded", "applied"]);
    assert.match(
      textOf(report),
      /^The person approved only a part of this change\.\nApplied a part of Patch: a, b as p_.*\nApplied: a\.\nNot applied: b\.$/,
    );
    assert.deepEqual([b.files.texts.get("/workspace/a"), b.files.texts.get("/workspace/b")], ["uno", "two"]);
    const [applying] = await b.stored("proposal.applying");
    assert.deepEqual([applying?.body.resolution.by, applying?.body.resolution.callId], ["person", "r1"]);
    assert.equal((await b.stored("proposal.superseded"))[0]?.body.proposal, row.id);
  });

test("a part that does not exist applies nothing, and the change stays staged", async (t) => {
  const b = await proposalBench(t, { policy: ask });
  await b.stage({ a: "uno", b: "due" });
  const running = b.process([resolving("apply")]);
  await until(() => b.dispatcher.pending().length > 0);
  await answerElsewhere(b, { part: { files: [{ path: "z" }] } });
  assert.deepEqual(outcomes(await running), ["failed invalid_part"]);
  assert.equal([...b.session.state.proposals.values()][0]?.state, "staged");
  assert.equal(b.files.texts.get("/workspace/a"), "one");
});

const REFUSED_PARTS: readonly (readonly [sentence: string, answer: Partial<Answer>])[] = [
  ["with a rule", { part: ONLY_A, remember: { scope: "session" } }],
  ["with an edited input", { part: ONLY_A, updatedInput: { action: "apply", reason: "" } }],
  ["in a rejection", { part: ONLY_A, outcome: "reject" }],
  ["without files", { part: { files: [] } }],
  ["with an unknown field", { part: { files: [{ path: "a", lines: 3 }] } as never }],
];
for (const [sentence, answer] of REFUSED_PARTS)
  test(`a part ${sentence} is refused, and the approval stays open`, async (t) => {
    const b = await proposalBench(t, { policy: ask });
    await b.stage({ a: "uno" });
    const running = b.process([resolving("apply")]);
    await until(() => b.dispatcher.pending().length > 0);
    await assert.rejects(answerElsewhere(b, answer), { type: "bad_answer" });
    await answerElsewhere(b, { outcome: "reject" });
    assert.equal(only(await running).type, "rejected_by_user");
  });

test("a part of a call that applies no proposal is refused", async (t) => {
  const b = await proposalBench(t, { policy: { hints: false } });
  const running = b.process([patching({ a: "uno" })]);
  await until(() => b.dispatcher.pending().length > 0);
  await assert.rejects(answerElsewhere(b, { part: ONLY_A }), { type: "bad_answer" });
  await answerElsewhere(b, { outcome: "reject" });
  await running;
});

test("a part of an action that code applies is refused, and the action stays pending", async (t) => {
  const b = await withAction(t, done, { policy: { rules: { user: { allow: ["deploy:text=x"] } } } });
  b.policy.set({});
  const running = b.process([resolving("apply")]);
  await until(() => b.dispatcher.pending().length > 0);
  await answerElsewhere(b, { part: ONLY_A });
  assert.deepEqual(outcomes(await running), ["failed invalid_part"]);
  assert.equal([...b.session.state.proposals.values()][0]?.state, "staged");
});

test("an edited preview is staged as edited", async (t) => {
  const b = await proposalBench(t, { policy: { hints: false }, deps: { facts: plainFacts } });
  const running = b.process([patching({ a: "uno" })]);
  await until(() => b.dispatcher.pending().length > 0);
  await answerElsewhere(b, { updatedInput: { patch: { b: "due" } } });
  assert.match(textOf(only(await running)), /: Patch: b\./);
});

test("an apply that waits is applied after a restart, with the same answer", async (t) => {
  const b = await proposalBench(t, { policy: ask, person: "nobody", deps: { onAsk: "park" } });
  await b.stage({ a: "uno" });
  assert.deepEqual(outcomes(await b.process([resolving("apply")])), ["waiting"]);
  await answerElsewhere(b, {});
  const next = await proposalBench(t, { beside: b, files: b.files, reopen: { id: b.session.id, takeOver: true } });
  assert.equal(only(await next.resume()).type, "applied");
  assert.equal(b.files.texts.get("/workspace/a"), "uno");
});

test("an approved apply does not apply a proposal that a person has discarded", async (t) => {
  const b = await proposalBench(t, { policy: ask });
  const { id } = await b.stage({ a: "uno" });
  const running = b.process([resolving("apply")]);
  await until(() => b.dispatcher.pending().length > 0);
  await b.dispatcher.proposals.discard(id, TESTER);
  await answerElsewhere(b, {});
  assert.equal(textOf(only(await running)), `Proposal ${id} is discarded. Nothing was applied.`);
});

test("a content that is damaged in the store is not applied", async (t) => {
  const b = await proposalBench(t, {
    wrap: (ledger) => ({ ...ledger, blob: () => Promise.reject(new LedgerError("blob_corrupt", "The value is damaged.")) }),
  });
  await b.stage({ a: "uno" });
  const report = only(await b.process([resolving("apply")]));
  assert.deepEqual([report.type, textOf(report)], ["proposal_apply_failed", "Apply failed: The value is damaged."]);
});

test("a disk that is full when the apply is to be recorded: it is recorded when there is space", async (t) => {
  let full = 2;
  const b = await proposalBench(t, {
    wrap: (ledger) => ({
      ...ledger,
      append: (lease, at, batch) => {
        if (!batch.events.some(({ type }) => type === "proposal.applied") || full === 0) return ledger.append(lease, at, batch);
        full -= 1;
        return Promise.reject(new LedgerError("store_full", "Disk full."));
      },
    }),
  });
  await b.stage({ a: "uno" });
  const running = b.process([resolving("apply")]);
  await until(() => full === 1);
  await until(() => b.clock.pending() > 0);
  await b.clock.advance(1_000);
  await until(() => full === 0);
  await until(() => b.clock.pending() > 0);
  await b.clock.advance(1_000);
  assert.equal(only(await running).type, "applied");
  assert.deepEqual(b.warnings, ["Disk full."], "said once");
});

test("an apply that cannot be recorded does not begin", async (t) => {
  const b = await proposalBench(t, {
    wrap: (ledger) => ({
      ...ledger,
      append: (lease, at, batch) =>
        batch.events.some(({ type }) => type === "proposal.applying")
          ? Promise.reject(new LedgerError("store_full", "Disk full."))
          : ledger.append(lease, at, batch),
    }),
  });
  await b.stage({ a: "uno" });
  for (const calls of [[resolving("apply")], [patching({ b: "due" }, {}, "put")]]) {
    const report = only(await b.process(calls));
    assert.deepEqual([report.outcome, textOf(report)], ["failed", "Nothing was done: it could not be recorded (Disk full.)"]);
    assert.deepEqual(b.files.log, []);
  }
});

test("an apply that is done and cannot be recorded ends unknown, and the next process finds out", async (t) => {
  let broken = true;
  const b = await proposalBench(t, {
    wrap: (ledger) => ({
      ...ledger,
      append: (lease, at, batch) => {
        if (!batch.events.some(({ type }) => type === "proposal.applied") || !broken) return ledger.append(lease, at, batch);
        broken = false;
        return Promise.reject(new LedgerError("store_locked", "Locked.", {}));
      },
    }),
  });
  const io = await proposalBench(t, {
    wrap: (ledger) => ({
      ...ledger,
      append: (lease, at, batch) =>
        batch.events.some(({ type }) => type === "proposal.applied")
          ? Promise.reject(new LedgerError("event_invalid", "No."))
          : ledger.append(lease, at, batch),
    }),
  });
  await io.stage({ a: "uno" });
  assert.equal(only(await io.process([resolving("apply")])).outcome, "unknown");
  const next = await proposalBench(t, { beside: io, files: io.files, reopen: { id: io.session.id, takeOver: true } });
  await next.resume();
  assert.equal((await next.ledger.pending("proposals", { all: true }))[0]?.state, "applied");
  await b.stage({ a: "uno" });
  const running = b.process([resolving("apply")]);
  await until(() => b.clock.pending() > 0);
  await b.clock.advance(1_000);
  assert.equal(only(await running).type, "applied");
});

/** Leaves a `resolve` behind a call that staged: judged and not claimed, or not even judged. */
async function leftBehind(t: TestContext, judged: boolean): Promise<ProposalBench> {
  const gate = Promise.withResolvers<never>();
  const hooks = scriptedHooks({ pre_tool_use: ({ tool }) => (tool === "resolve" ? gate.promise : undefined) });
  const b = await proposalBench(t, {
    wrap: (ledger) => ({
      ...ledger,
      claim: (lease, at, claim) => (claim.body.call === "r1" ? gate.promise : ledger.claim(lease, at, claim)),
    }),
    ...(!judged && { deps: { hooks } }),
  });
  void b.process([patching({ a: "uno" }), resolving("apply", {}, "r1")]);
  await until(() => b.session.state.proposals.size === 1);
  return await proposalBench(t, { beside: b, files: b.files, reopen: { id: b.session.id, takeOver: true } });
}

for (const judged of [true, false]) {
  test(`nor after a restart between the two (${judged ? "judged" : "proposed"})`, async (t) => {
    const next = await leftBehind(t, judged);
    assert.equal((await next.resume()).results.at(-1)?.type, "no_pending_action");
    assert.equal(next.session.state.proposals.size, 1);
    assert.deepEqual(next.files.log, []);
  });
}
