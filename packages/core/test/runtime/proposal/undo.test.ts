import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import type { By, Ledger } from "@assent/core";
import { only, rest, until } from "../harness.ts";
import { memoryFiles } from "./memory-files.ts";
import { done, type Patch, type ProposalBench, patching, proposalBench, resolving, withAction } from "./proposal-bench.ts";

const person: By = { kind: "person", user: "u", name: "n", door: "test", pid: 7 };

test("an undo right after the apply restores everything, and the model is notified", async (t) => {
  const b = await proposalBench(t);
  const { id } = await b.stage({ a: "uno", b: null, c: "new", d: "x" });
  await b.process([resolving("apply")]);
  const report = await b.dispatcher.proposals.undo(id, person, "a mistake");
  assert.deepEqual([report.ok, report.state, report.type], [true, "undone", "undone"]);
  assert.deepEqual(Object.fromEntries(b.files.texts), { "/workspace/a": "one", "/workspace/b": "two" });
  assert.deepEqual((await b.stored("proposal.undone"))[0]?.body, { proposal: id, by: person, reason: "a mistake" });
  assert.match(
    [...b.session.state.notices.values()][0]?.modelText ?? "",
    /^A person undid Patch: a, b, c, d \(p_\w+\)\. Reason: a mistake The files are as they were before it\.$/,
  );
});

test("a file that was edited since: nothing is written", async (t) => {
  const b = await proposalBench(t);
  const { id } = await b.stage({ a: "uno", b: "due" });
  await b.process([resolving("apply")]);
  b.files.texts.set("/workspace/b", "mine");
  const report = await b.dispatcher.proposals.undo(id, person);
  assert.deepEqual(
    [report.ok, report.type, report.text],
    [false, "undo_conflict", `Cannot undo ${id}: changed since: b. Nothing was written.`],
  );
  assert.deepEqual([b.files.texts.get("/workspace/a"), report.state], ["uno", "applied"]);
  assert.equal(b.session.state.notices.size, 0);
});

test("a staged, discarded or undone proposal cannot be undone", async (t) => {
  const b = await proposalBench(t);
  const staged = await b.stage({ a: "uno" });
  const undo = async (id: string): Promise<readonly string[]> => {
    const { type, text } = await b.dispatcher.proposals.undo(id, person);
    return [type, text];
  };
  assert.deepEqual(await undo(staged.id), ["not_undoable", `Proposal ${staged.id} is staged.`]);
  await b.process([resolving("discard")]);
  assert.deepEqual(await undo(staged.id), ["not_undoable", `Proposal ${staged.id} is discarded.`]);
  const applied = await b.stage({ b: "due" });
  await b.process([resolving("apply")]);
  await undo(applied.id);
  assert.deepEqual(await undo(applied.id), ["not_undoable", `Proposal ${applied.id} is undone.`]);
});

test("what code applied keeps no pre-images", async (t) => {
  const b = await withAction(t, done);
  const [row] = b.session.state.proposals.values();
  await b.process([resolving("apply")]);
  const report = await b.dispatcher.proposals.undo(row?.id ?? "", person);
  assert.deepEqual([report.type, report.text], ["undo_unavailable", "Deploy was applied by code that keeps no pre-images."]);
});

test("of two applies to one file the newer is undone first", async (t) => {
  const b = await proposalBench(t);
  const put = async (text: string): Promise<string> => {
    const report = only(await b.process([patching({ a: text }, {}, "put")]));
    return (report.result.details as { proposalId: string }).proposalId;
  };
  const first = await put("uno");
  const second = await put("due");
  assert.equal((await b.dispatcher.proposals.undo(first, person)).type, "undo_conflict");
  assert.equal((await b.dispatcher.proposals.undo(second, person)).ok, true);
  assert.equal((await b.dispatcher.proposals.undo(first, person)).ok, true);
  assert.equal(b.files.texts.get("/workspace/a"), "one");
});

test("an unknown id", async (t) => {
  const b = await proposalBench(t);
  assert.deepEqual(await b.dispatcher.proposals.undo("p_no", person), {
    id: "p_no",
    state: null,
    ok: false,
    type: "proposal_not_found",
    text: "No proposal p_no in this session.",
  });
});

for (const [fault, ended] of [
  ["crash-before", "before the first file"],
  ["crash", "between two files"],
  ["crash-after", "after the last"],
] as const) {
  test(`an undo whose process was killed ${ended} is finished by the next`, async (t) => {
    const b = await proposalBench(t);
    const { id } = await b.stage({ a: "uno", b: "due" });
    await b.process([resolving("apply")]);
    b.files.faults.push(fault);
    void b.dispatcher.proposals.undo(id, person);
    await until(() => b.files.reached.crashed === 1);
    const next = await proposalBench(t, { beside: b, files: b.files, reopen: { id: b.session.id, takeOver: true } });
    await next.resume();
    assert.deepEqual(Object.fromEntries(next.files.texts), { "/workspace/a": "one", "/workspace/b": "two" });
    assert.equal((await next.ledger.pending("proposals", { all: true, prefix: id }))[0]?.state, "undone");
  });
}

/** An undo of this patch by a process that was killed, and what the next one finds. */
async function cutShort(t: TestContext, patch: Patch, meddle: (texts: Map<string, string>) => void): Promise<ProposalBench> {
  const b = await proposalBench(t);
  const { id } = await b.stage(patch);
  await b.process([resolving("apply")]);
  b.files.faults.push("crash-after");
  void b.dispatcher.proposals.undo(id, person);
  await until(() => b.files.reached.crashed === 1);
  meddle(b.files.texts);
  const next = await proposalBench(t, { beside: b, files: b.files, reopen: { id: b.session.id, takeOver: true } });
  await next.resume();
  return next;
}

test("an unrecorded undo with a file edited since ends unknown and names each file", async (t) => {
  const next = await cutShort(t, { a: "uno", b: "due" }, (texts) => texts.set("/workspace/a", "mine"));
  const [refused] = await next.stored("proposal.refused");
  assert.equal(refused?.body.type, "apply_unknown");
  assert.match(refused?.body.message ?? "", /the undo of Patch: a, b .*\n- \/workspace\/a: other\n- \/workspace\/b: after$/);
  assert.deepEqual(Object.fromEntries(next.files.texts), { "/workspace/a": "mine", "/workspace/b": "two" });
});

test("an interrupted undo of one file edited since ends unknown", async (t) => {
  const next = await cutShort(t, { a: "uno" }, (texts) => texts.set("/workspace/a", "mine"));
  assert.equal((await next.stored("proposal.refused"))[0]?.body.type, "apply_unknown");
});

test("an interrupted undo is finished, even if something else was requested since", async (t) => {
  const b = await proposalBench(t);
  const { id, digest } = await b.stage({ a: "uno", b: "due" });
  await b.process([resolving("apply")]);
  b.files.faults.push("crash");
  void b.dispatcher.proposals.undo(id, person);
  await until(() => b.files.reached.crashed === 1);
  const body = { proposal: id, session: b.session.id, action: "discard", digest, reason: null, by: person } as const;
  await b.ledger.answer([b.session.draft("proposal.requested", body)]);
  const next = await proposalBench(t, { beside: b, files: b.files, reopen: { id: b.session.id, takeOver: true } });
  await next.resume();
  assert.deepEqual(Object.fromEntries(next.files.texts), { "/workspace/a": "one", "/workspace/b": "two" });
  const [row] = await next.ledger.pending("proposals", { all: true, prefix: id });
  assert.deepEqual([row?.state, row?.requested], ["undone", null]);
});

test("an undo request with a file edited before it started reports a conflict and writes nothing", async (t) => {
  const b = await proposalBench(t);
  const { id, digest } = await b.stage({ a: "uno", b: "due" });
  await b.process([resolving("apply")]);
  await b.dispatcher.close();
  const body = { proposal: id, session: b.session.id, action: "undo", digest, reason: null, by: person } as const;
  await b.ledger.answer([b.session.draft("proposal.requested", body)]);
  b.files.texts.set("/workspace/a", "mine");
  const next = await proposalBench(t, { beside: b, files: b.files, reopen: { id: b.session.id, takeOver: true } });
  await next.resume();
  assert.equal((await next.stored("proposal.refused"))[0]?.body.type, "undo_conflict");
  assert.equal(next.files.texts.get("/workspace/b"), "due");
});

test("a process that lost its session restores no file and stops listening", async (t) => {
  const b = await proposalBench(t);
  const { id, digest } = await b.stage({ a: "uno", b: "due" });
  await b.process([resolving("apply")]);
  const next = await proposalBench(t, { beside: b, files: memoryFiles(), reopen: { id: b.session.id, takeOver: true } });
  await next.dispatcher.close(); // the new holder does not act
  const requestUndo = async (): Promise<void> => {
    const body = { proposal: id, session: b.session.id, action: "undo", digest, reason: null, by: person } as const;
    await b.ledger.answer([b.session.draft("proposal.requested", body)]);
  };
  const texts = Object.fromEntries(b.files.texts);
  await requestUndo();
  await until(() => b.warnings.length === 1);
  assert.match(b.warnings[0] ?? "", /^the request for p_\w+ failed: Nothing was done: /);
  assert.deepEqual(Object.fromEntries(b.files.texts), texts);
  await requestUndo();
  await rest();
  assert.equal(b.warnings.length, 1);
  assert.equal((await b.dispatcher.proposals.undo(id, person)).type, "not_allowed");
  assert.deepEqual([await next.stored("proposal.undoing"), b.files.log.length], [[], 1]);
});

test("that files are to go back is on disk before the first of them does", async (t) => {
  const files = memoryFiles({ "/workspace/a": "one" });
  const told: string[] = [];
  const wrap = (ledger: Ledger): Ledger => ({
    ...ledger,
    append: async (lease, expected, batch) => {
      const stored = await ledger.append(lease, expected, batch);
      for (const { type } of batch.events)
        if (type.startsWith("proposal.und")) told.push(`${type} ${batch.durability} ${files.log.length}`);
      return stored;
    },
  });
  const b = await proposalBench(t, { files, wrap });
  const { id } = await b.stage({ a: "uno" });
  await b.process([resolving("apply")]);
  await b.dispatcher.proposals.undo(id, person);
  assert.deepEqual(told, ["proposal.undoing full 1", "proposal.undone full 2"]);
  assert.deepEqual((await b.stored("proposal.undoing"))[0]?.body, { proposal: id, by: person });
});
