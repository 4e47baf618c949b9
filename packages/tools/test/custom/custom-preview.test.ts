import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "node:test";
import { TESTER } from "@assent/core/testing";
import { governed, place, toolModule } from "./bench.ts";

/** A tool whose preview returns what is written here. */
function previewing(
  preview: string,
  apply = 'return { content: [{ type: "text", text: applied.label + " " + JSON.stringify(applied.data) }] };',
): string {
  return toolModule(
    "change",
    `kind: "edit", preview(params, ctx) { ${preview} }, apply(applied, ctx) { ${apply} }`,
    'throw new Error("never called");',
  );
}

const CHANGES = `return { label: "Change", data: { n: 1 }, changes: [
  { path: "a.txt", content: "one\\nTWO\\n" }, { path: "new/b.txt", content: new Uint8Array([104, 105]) }, { path: "c.txt", content: null }, { path: "d.txt", to: "e.txt" },
] };`;

function files(at: ReturnType<typeof place>): Record<string, string | null> {
  const names = ["a.txt", "new/b.txt", "c.txt", "d.txt", "e.txt"];
  return Object.fromEntries(
    names.map((name) => [name, existsSync(join(at.root, name)) ? readFileSync(join(at.root, name), "utf8") : null]),
  );
}

const BEFORE = { "a.txt": "one\ntwo\n", "new/b.txt": null, "c.txt": "gone\n", "d.txt": "moved\n", "e.txt": null };
const AFTER = { "a.txt": "one\nTWO\n", "new/b.txt": "hi", "c.txt": null, "d.txt": null, "e.txt": "moved\n" };

function prepared(t: Parameters<typeof place>[0], module: string): ReturnType<typeof place> {
  const at = place(t);
  for (const [name, text] of Object.entries(BEFORE)) if (text !== null) at.write(name, text);
  at.write("config/tools/a.ts", module);
  return at;
}

describe("a tool with preview and apply", () => {
  test("runs directly by default: the runtime makes its changes, apply says so, and undo takes them back", async (t) => {
    const at = prepared(t, previewing(CHANGES));
    const { call, dispatcher } = await governed(at, await at.load());
    const { outcome, text, details } = await call("change");
    assert.deepEqual([outcome, text], ["succeeded", 'Change {"n":1}']);
    assert.deepEqual(files(at), AFTER);
    const undone = await dispatcher.proposals.undo(Object(details).proposalId, TESTER);
    assert.equal(undone.ok, true, undone.text);
    assert.deepEqual(files(at), BEFORE);
  });

  test("is staged where settings say so, with every change in full, and applied by resolve", async (t) => {
    const at = prepared(t, previewing(CHANGES));
    const { call } = await governed(at, await at.load(), { policy: { mode: "yolo", proposals: { resolver: "both", stages: () => true } } });
    const { text } = await call("change");
    assert.match(
      text,
      /^Preview staged as p_\w+: Change\. No file was modified\.\na\.txt\n {2}2:1\n {2}- two\n {2}\+ TWO\nnew\/b\.txt\n[\s\S]*\+ hi[\s\S]*- gone\nd\.txt → e\.txt$/,
    );
    assert.deepEqual(files(at), BEFORE);
    assert.equal((await call("resolve", { action: "apply", reason: "" })).text, 'Change {"n":1}');
    assert.deepEqual(files(at), AFTER);
  });

  test("a file that changes after the preview makes it stale: nothing is written", async (t) => {
    const at = prepared(t, previewing(CHANGES));
    const { call } = await governed(at, await at.load(), { policy: { mode: "yolo", proposals: { resolver: "both", stages: () => true } } });
    await call("change");
    at.write("d.txt", "other\n");
    assert.equal((await call("resolve", { action: "apply", reason: "" })).type, "proposal_stale");
    assert.deepEqual(files(at), { ...BEFORE, "d.txt": "other\n" });
  });

  test("without changes apply is the effect itself, and may run programs", async (t) => {
    const apply =
      'return api.exec("sh", ["-c", "echo run > ran"]).then(({ code }) => ({ content: [{ type: "text", text: "code " + code }] }));';
    const at = prepared(t, previewing('return { label: "Run", blocks: ["runs a program"], changes: [] };', apply));
    const { call } = await governed(at, await at.load());
    assert.equal((await call("change")).text, "code 0");
    assert.equal(readFileSync(join(at.root, "ran"), "utf8"), "run\n");
  });

  const ENDS: readonly (readonly [sentence: string, preview: string, outcome: string, type: string | null, text: RegExp])[] = [
    ["a result ends the call", 'return { content: [{ type: "text", text: "Nothing to do." }] };', "succeeded", null, /^Nothing to do\.$/],
    ["nothing at all is no result", "return;", "failed", "invalid_tool_result", /returned no valid result/],
    [
      "a change without a path is none",
      'return { label: "x", changes: [{ content: "a" }] };',
      "failed",
      "invalid_tool_result",
      /returned no valid result/,
    ],
    [
      "a change that says nothing is none",
      'return { label: "x", changes: [{ path: "a.txt" }] };',
      "failed",
      "invalid_tool_result",
      /returned no valid result/,
    ],
    [
      "files that are so already",
      'return { label: "x", changes: [{ path: "c.txt", content: "gone\\n" }] };',
      "failed",
      "edit_no_change",
      /already have this content/,
    ],
    [
      "a file to remove that is not there",
      'return { label: "x", changes: [{ path: "none", content: null }] };',
      "failed",
      "file_not_found",
      /none does not exist/,
    ],
    [
      "a file to rename that is not there",
      'return { label: "x", changes: [{ path: "none", to: "b" }] };',
      "failed",
      "file_not_found",
      /none does not exist/,
    ],
    ["a directory", 'return { label: "x", changes: [{ path: "config", content: "" }] };', "failed", "target_is_directory", /./],
    ["a throw", 'throw new Error("boom");', "failed", "execution_failed", /boom/],
  ];
  for (const [sentence, preview, outcome, type, text] of ENDS) {
    test(`preview: ${sentence}; nothing is written`, async (t) => {
      const at = prepared(t, previewing(preview));
      const { call, session } = await governed(at, await at.load());
      const ended = await call("change");
      assert.deepEqual([ended.outcome, ended.type], [outcome, type], ended.text);
      assert.match(ended.text, text);
      assert.deepEqual(files(at), BEFORE);
      assert.equal(session.state.proposals.size, 0);
    });
  }

  test("bytes that are no text are named by their size", async (t) => {
    const at = prepared(t, previewing('return { label: "x", changes: [{ path: "a.txt", content: new Uint8Array([0, 1]) }] };'));
    const { call } = await governed(at, await at.load(), { policy: { mode: "yolo", proposals: { resolver: "both", stages: () => true } } });
    assert.match((await call("change")).text, /a\.txt\n {2}8 bytes become 2 bytes/);
  });

  test("it needs no execute", async (t) => {
    const at = place(t);
    at.write(
      "config/tools/a.ts",
      'export default () => ({ name: "x", description: "D.", parameters: { type: "object" }, preview() {}, apply() {} });',
    );
    assert.deepEqual((await at.load()).failed, []);
  });
});
