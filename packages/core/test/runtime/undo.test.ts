import assert from "node:assert/strict";
import { test } from "node:test";
import type { By } from "@assent/core";
import { only, until } from "./harness.ts";
import { done, patching, proposalBench, resolving, withAction } from "./proposal-bench.ts";

const person: By = { kind: "person", user: "u", name: "n", door: "test", pid: 7 };

test("RS-45: an undo right after the apply brings everything back, and the model is told", async (t) => {
  const b = await proposalBench(t);
  const { id } = await b.stage({ a: "uno", b: null, c: "new", d: "x" });
  await b.process([resolving("apply")]);
  const report = await b.dispatcher.proposals.undo(id, person, "a mistake");
  assert.deepEqual([report.ok, report.state, report.type], [true, "undone", "undone"]);
  assert.deepEqual(Object.fromEntries(b.files.texts), { "/workspace/a": "one", "/workspace/b": "two" });
  assert.deepEqual((await b.stored("proposal.undone"))[0]?.body, { proposal: id, by: person, reason: "a mistake" });
  assert.match(
    [...b.session.state.notices.values()][0]?.modelText ?? "",
    /^A person undid Patch: a, b, c, d \(p_\w+\)\. Reason: a mistake /,
  );
});

test("RS-46: a file that was edited since: nothing is written", async (t) => {
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

test("RS-47: what is staged, discarded or undone cannot be undone", async (t) => {
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

test("RS-49: what code applied keeps no pre-images", async (t) => {
  const b = await withAction(t, done);
  const [row] = b.session.state.proposals.values();
  await b.process([resolving("apply")]);
  const report = await b.dispatcher.proposals.undo(row?.id ?? "", person);
  assert.deepEqual([report.type, report.text], ["undo_unavailable", "Deploy was applied by code that keeps no pre-images."]);
});

test("RS-50: of two applies to one file the newer is undone first", async (t) => {
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

test("RS-51: an unknown id", async (t) => {
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
