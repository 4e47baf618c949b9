import assert from "node:assert/strict";
import { chmodSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import type { CallReport } from "@assent/core";
import { TESTER } from "@assent/core/testing";
import { type Governed, governed } from "../governed.ts";
import { runNode } from "../run-node.ts";
import { scratch } from "../scratch.ts";
import { shown } from "../session.ts";

function said(report: CallReport): string {
  assert.ok(report.outcome !== "waiting");
  return shown(report.result.content);
}

function proposalOf(report: CallReport): string {
  assert.ok(report.outcome !== "waiting");
  const { details } = report.result;
  assert.ok(typeof details === "object" && details !== null && "proposalId" in details);
  return String(details.proposalId);
}

const text = ({ root }: Governed, name = "f"): string => readFileSync(join(root, name), "utf8");

test("an edit that is allowed is made at once, keeps the mode, shows its diff, and can be undone", async (t) => {
  const made = await governed(t);
  writeFileSync(join(made.root, "f"), "a\nb\n");
  chmodSync(join(made.root, "f"), 0o750);
  await made.call("read", { file_path: "f" });
  const report = await made.call("edit", { file_path: "f", old_string: "b", new_string: "x" });
  assert.ok(report.outcome === "succeeded", said(report));
  assert.equal(said(report), "Edited f, line 2: 1 line added, 1 removed.");
  const { display } = report.result;
  assert.ok(typeof display === "object" && display.type === "file_diff");
  assert.match(display.fileDiff, /-b\n\+x\n$/);
  assert.deepEqual([text(made), statSync(join(made.root, "f")).mode & 0o777], ["a\nx\n", 0o750]);
  assert.equal((await made.dispatcher.proposals.undo(proposalOf(report), TESTER)).state, "undone");
  assert.equal(text(made), "a\nb\n");
});

test("after each change the next one needs no further read", async (t) => {
  const made = await governed(t);
  const steps: readonly (readonly [name: string, input: object])[] = [
    ["write", { file_path: "new/f", content: "1" }],
    ["edit", { file_path: "new/f", old_string: "1", new_string: "2\n" }],
    ["write", { file_path: "new/f", content: "2\n3\n" }],
    ["edit", { file_path: "new/f", old_string: "2\n", new_string: "" }],
  ];
  for (const [name, input] of steps) assert.equal((await made.call(name, input)).outcome, "succeeded");
  assert.equal(text(made, "new/f"), "3\n");
});

test("what was not read, or changed since, is not changed, and nothing is staged", async (t) => {
  const made = await governed(t);
  writeFileSync(join(made.root, "f"), "a");
  const edit = () => made.call("edit", { file_path: "f", old_string: "a", new_string: "x" });
  const types = [(await edit()).type];
  await made.call("read", { file_path: "f" });
  writeFileSync(join(made.root, "f"), "ab");
  types.push((await edit()).type);
  assert.deepEqual([types, text(made)], [["edit_requires_prior_read", "file_changed_since_read"], "ab"]);
});

test("9: a call that is to be staged changes nothing before it is resolved, and then the session knows the file", async (t) => {
  const made = await governed(t, ["edit", "write"]);
  writeFileSync(join(made.root, "f"), "a\nb\n");
  await made.call("read", { file_path: "f" });
  const staged = await made.call("edit", { file_path: "f", old_string: "b", new_string: "x" });
  const id = proposalOf(staged);
  assert.equal(said(staged), `Preview staged as ${id}: Edit: f. No file was modified.\nf\n  2:1\n  - b\n  + x`);
  assert.equal(text(made), "a\nb\n");
  const resolved = await made.call("resolve", { action: "apply", reason: "right" });
  assert.deepEqual([resolved.type, said(resolved), text(made)], ["applied", "Edited f, line 2: 1 line added, 1 removed.", "a\nx\n"]);
  const next = await made.call("write", { file_path: "f", content: "new\n" });
  assert.match(said(next), /^Preview staged as p_\w+: Write: f\. No file was modified\.\nf\n {2}1:1\n {2}- a\n {2}- x\n {2}\+ new$/);
  assert.equal((await made.call("resolve", { action: "discard", reason: "no" })).type, "discarded");
  assert.equal(text(made), "a\nx\n");
});

test("a file that changed between preview and apply is stale, and stays", async (t) => {
  const made = await governed(t, ["write"]);
  writeFileSync(join(made.root, "f"), "a");
  await made.call("read", { file_path: "f" });
  await made.call("write", { file_path: "f", content: "x" });
  writeFileSync(join(made.root, "f"), "other");
  assert.equal((await made.call("resolve", { action: "apply", reason: "" })).type, "proposal_stale");
  assert.equal(text(made), "other");
});

test("an edit of 8 MB with a change in each of 200,000 lines is made and undone", async (t) => {
  const made = await governed(t);
  const lines = Array.from({ length: 200_000 }, (_, i) => `line ${i} of a text that is long enough`);
  writeFileSync(join(made.root, "f"), lines.join("\n"));
  await made.call("read", { file_path: "f" });
  const report = await made.call("edit", { file_path: "f", old_string: "line ", new_string: "LINE ", replace_all: true });
  assert.equal(report.outcome, "succeeded", said(report).slice(0, 300));
  assert.ok(text(made).endsWith("LINE 199999 of a text that is long enough"));
  assert.equal((await made.dispatcher.proposals.undo(proposalOf(report), TESTER)).ok, true);
  assert.equal(text(made), lines.join("\n"));
});

const SOURCE = (root: string, body: string) => `
  import { createDispatcher, createRegistry, staticPolicy, memoryLedger, openSession } from "@assent/core";
  import { createHostFileChanges, createHostPorts, currentHolder } from "@assent/host";
  import { builtinTools } from "@assent/tools";
  const root = ${JSON.stringify(root)};
  const { clock, ids, digest, files, processes } = createHostPorts({ stateDirectory: root + "/.state" });
  const session = await openSession({ ledger: memoryLedger({ clock, ids }), clock, ids }, { holder: currentHolder("test"), create: { cwd: root } });
  const tools = createRegistry();
  for (const tool of builtinTools({ workspace: root, files, processes, environment: {} })) tools.add(tool);
  const policy = staticPolicy({ mode: "yolo" });
  const dispatcher = createDispatcher({ session, clock, ids, digest, files, processes, policy, changes: createHostFileChanges() });
  let calls = 0;
  const call = async (name, input) =>
    (await dispatcher.process({ calls: [{ id: "c" + ++calls, name, arguments: input }], tools, signal: new AbortController().signal })).results[0];
  ${body}`;

test("a disk that is full leaves the old bytes and no temporary file", async (t) => {
  const root = scratch(t);
  writeFileSync(join(root, "f"), "old");
  const body = `
    await call("read", { file_path: "f" });
    console.log((await call("write", { file_path: "f", content: "x".repeat(100_000) })).type);
    console.log((await call("edit", { file_path: "f", old_string: "old", new_string: "y".repeat(100_000) })).type);
    console.log((await call("write", { file_path: "f", content: "small" })).result.content);`;
  const told = (await runNode(SOURCE(root, body), "ulimit -f 8")).split("\n");
  assert.deepEqual(told.slice(0, 3), ["file_write_failure", "file_write_failure", "Replaced f: 1 line added, 1 removed."]);
  assert.deepEqual([readFileSync(join(root, "f"), "utf8"), readdirSync(root)], ["small", ["f"]]);
});

test("a directory one may not write to is permission_denied", async (t) => {
  const root = scratch(t);
  mkdirSync(join(root, "closed"), { mode: 0o555 });
  chmodSync(root, 0o755);
  const body = `
    if (process.getuid() === 0) process.setuid(54321);
    console.log((await call("write", { file_path: "closed/f", content: "x" })).type);`;
  assert.equal(await runNode(SOURCE(root, body)), "permission_denied\n");
});
