import assert from "node:assert/strict";
import { readdirSync } from "node:fs";
import { type TestContext, test } from "node:test";
import { createDispatcher, createRegistry, type Dispatcher, memoryLedger, openSession, staticPolicy } from "@assent/core";
import { createHostFileChanges, createHostPorts } from "@assent/host";
import { type Files, type Workbench, workbench } from "./workbench.ts";

const BY = { kind: "person", user: "u", name: "u", door: "test", pid: 1 } as const;

type Staged = Workbench & {
  readonly dispatcher: Dispatcher;
  readonly call: (out: string) => Promise<{ readonly content: unknown; readonly details: unknown }>;
};

async function staging(t: TestContext, files: Files): Promise<Staged> {
  const bench = workbench(t, files);
  const { clock, ids, digest } = createHostPorts({ stateDirectory: "/nonexistent" });
  const holder = { pid: process.pid, host: "test", processStart: "0", door: "test" };
  const session = await openSession({ ledger: memoryLedger(), clock, ids }, { holder, create: { cwd: bench.root } });
  const dispatcher = createDispatcher({ session, clock, ids, digest, policy: staticPolicy(), changes: createHostFileChanges() });
  t.after(() => dispatcher.close());
  const tools = createRegistry();
  tools.add(bench.edit);
  const call = async (out: string) => {
    const input = JSON.stringify({ ops: [{ pat: "f($$$A)", out }], paths: ["."] });
    const { signal } = new AbortController();
    const { results } = await dispatcher.process({ calls: [{ id: `c_${out}`, name: "ast_edit", arguments: input }], tools, signal });
    const [report] = results;
    assert.equal(report?.outcome, "succeeded");
    return { content: report?.result.content, details: report?.result.details };
  };
  return { ...bench, dispatcher, call };
}

test("an edit is staged, applied and undone, byte for byte", async (t) => {
  const before = "\ufefff(1);\r\nf(\r\n  2)";
  const { root, read, dispatcher, call } = await staging(t, { "a.ts": before });
  const { content, details } = await call("g($$$A)");
  const [row] = dispatcher.proposals.list();
  const header = `Preview staged as ${row?.id}: AST edit: 2 replacements in 1 file. No file was modified.`;
  assert.equal(content, `${header}\na.ts\n  1:1\n  - f(1)\n  + g(1)\n  2:1\n  - f(\n  -   2)\n  + g(2)`);
  const { applied, proposalId } = details as { applied: boolean; proposalId: string };
  assert.deepEqual([applied, proposalId, read("a.ts")], [false, row?.id, before]);
  const report = await dispatcher.proposals.apply(proposalId, BY);
  assert.deepEqual([report.state, report.text], ["applied", "Applied 2 replacements in 1 file."]);
  assert.equal(read("a.ts"), "\ufeffg(1);\r\ng(2)");
  assert.deepEqual(readdirSync(root), ["a.ts"]);
  assert.equal((await dispatcher.proposals.undo(proposalId, BY)).state, "undone");
  assert.equal(read("a.ts"), before);
});

test("no match stages nothing", async (t) => {
  const { dispatcher, call } = await staging(t, { "a.ts": "h(1)" });
  assert.equal((await call("g($$$A)")).content, "No matches. Nothing was staged.");
  assert.deepEqual(dispatcher.proposals.list(), []);
});
