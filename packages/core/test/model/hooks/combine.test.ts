import assert from "node:assert/strict";
import { describe, test } from "node:test";
import fc from "fast-check";
import { combineHooks, type HookOpinion, type HookRan, rewrittenInput } from "../../../src/model/hooks/combine.ts";
import type { HookPoint } from "../../../src/model/hooks/event-table.ts";
import { type HookRun, readHookRun } from "../../../src/model/hooks/output.ts";
import type { JsonObject } from "../../../src/model/json/json.ts";

function exit(code: number, stderr = ""): HookRun {
  return { ended: "exit", code, stdout: "", stderr };
}

function prints(output: unknown): HookRun {
  return { ended: "exit", code: 0, stdout: JSON.stringify(output), stderr: "" };
}

function decides(permissionDecision: string, permissionDecisionReason?: string): HookRun {
  return prints({ hookSpecificOutput: { permissionDecision, permissionDecisionReason } });
}

function behaves(decision: object): HookRun {
  return prints({ hookSpecificOutput: { decision } });
}

const NOTHING = exit(0);

/** The hooks h1, h2, … in order, each with the input that the previous one left. */
function ran(event: HookPoint, runs: readonly HookRun[], input: JsonObject = {}): readonly HookRan[] {
  let current = input;
  return runs.map((run, at) => {
    const outcome = readHookRun({ event, name: `h${at + 1}`, onFailure: "warn" }, run);
    const rewrote = rewrittenInput(current, outcome);
    current = rewrote ?? current;
    return { name: `h${at + 1}`, outcome, ...(rewrote && { rewrote }) };
  });
}

function combined(event: HookPoint, runs: readonly HookRun[], input?: JsonObject): HookOpinion {
  return combineHooks(ran(event, runs, input)).opinion;
}

const APPROVE_AND_DENY = prints({
  decision: "approve",
  hookSpecificOutput: { hookEventName: "PreToolUse", permissionDecision: "deny" },
});

const ROWS: readonly (readonly [name: string, event: HookPoint, runs: readonly HookRun[], expected: HookOpinion])[] = [
  ["none is none", "pre_tool_use", [NOTHING], { verdict: "none", name: "h1" }],
  ["none, ask is ask", "pre_tool_use", [NOTHING, decides("ask")], { verdict: "ask", name: "h2" }],
  [
    "allow, ask a, deny d is deny with reason d",
    "pre_tool_use",
    [decides("allow"), decides("ask", "a"), decides("deny", "d")],
    { verdict: "deny", reason: "d", name: "h3" },
  ],
  [
    "ask a, ask b is ask with both reasons",
    "pre_tool_use",
    [decides("ask", "a"), decides("ask", "b")],
    { verdict: "ask", reason: "a\nb", name: "h1" },
  ],
  ["deny x, allow is deny", "pre_tool_use", [decides("deny", "x"), decides("allow")], { verdict: "deny", reason: "x", name: "h1" }],
  [
    "exit 2 with no, allow is deny with reason no",
    "pre_tool_use",
    [exit(2, "no"), decides("allow")],
    { verdict: "deny", reason: "no", name: "h1" },
  ],
  [
    "allow, exit 1 is deny by the failure",
    "pre_tool_use",
    [decides("allow"), exit(1)],
    { verdict: "deny", reason: "hook h2 failed to execute: exited with code 1", name: "h2" },
  ],
  [
    "approve and deny in one answer is deny",
    "pre_tool_use",
    [APPROVE_AND_DENY],
    { verdict: "deny", reason: "blocked by hook h1", name: "h1" },
  ],
  ["defer, allow is allow", "pre_tool_use", [decides("defer"), decides("allow")], { verdict: "allow", name: "h2" }],
  [
    "continue false with quota, nothing is a stop",
    "post_tool_use",
    [prints({ continue: false, stopReason: "quota" }), NOTHING],
    { verdict: "none", name: "h1", stop: "quota" },
  ],
  ["exit 1 after a tool is not a stop", "post_tool_use", [exit(1)], { verdict: "none", name: "h1" }],
  [
    "exit 2 after a tool is feedback, no stop",
    "post_tool_use",
    [NOTHING, exit(2, "bad")],
    { verdict: "none", name: "h2", feedback: "bad", spokenBy: "h2" },
  ],
  [
    "a permission allow, then deny m is deny m",
    "permission_request",
    [behaves({ behavior: "allow" }), behaves({ behavior: "deny", message: "m" })],
    { verdict: "deny", reason: "m", name: "h2" },
  ],
  ["exit 1, a permission allow is none", "permission_request", [exit(1), behaves({ behavior: "allow" })], { verdict: "none", name: "h1" }],
  ["a permission allow, exit 1 is none", "permission_request", [behaves({ behavior: "allow" }), exit(1)], { verdict: "none", name: "h1" }],
  [
    "exit 1 does not void a deny",
    "permission_request",
    [exit(1), behaves({ behavior: "deny", message: "m" })],
    { verdict: "deny", reason: "m", name: "h2" },
  ],
  [
    "contexts a, blank, b",
    "session_start",
    ["a", " ", "b"].map((additionalContext) => prints({ hookSpecificOutput: { additionalContext } })),
    { verdict: "none", name: "h1", context: "a\nb", spokenBy: "h1, h3" },
  ],
  [
    "a deny verdict after a tool with reason leak is a stop",
    "post_tool_use",
    [prints({ reason: "leak", hookSpecificOutput: { permissionDecision: "deny" } })],
    { verdict: "none", name: "h1", stop: "leak" },
  ],
  [
    "equal reasons are said once",
    "pre_tool_use",
    [exit(2, "no"), exit(2, "no"), exit(2, "never")],
    { verdict: "deny", reason: "no\nnever", name: "h1" },
  ],
  [
    "equal feedback is said once, in order",
    "post_tool_use",
    [exit(2, "b"), exit(2, "a"), exit(2, "b")],
    { verdict: "none", name: "h1", feedback: "b\na", spokenBy: "h1, h2, h3" },
  ],
  [
    "the first message of several stops wins",
    "post_tool_use",
    [prints({ continue: false }), prints({ continue: false, stopReason: "one" }), prints({ continue: false, stopReason: "two" })],
    { verdict: "none", name: "h1", stop: "one" },
  ],
  [
    "interrupt is or-ed",
    "permission_request",
    [behaves({ behavior: "deny", message: "a" }), behaves({ behavior: "deny", message: "b", interrupt: true })],
    { verdict: "deny", reason: "a\nb", name: "h1", interrupt: true },
  ],
  [
    "the last replaced output counts",
    "tool_response_transform",
    ["one", "two"].map((updatedToolOutput) => prints({ hookSpecificOutput: { updatedToolOutput } })),
    { verdict: "none", name: "h1", updatedOutput: "two" },
  ],
  [
    "a failing transform withholds the output of the others",
    "tool_response_transform",
    [exit(1), prints({ hookSpecificOutput: { updatedToolOutput: "x" } })],
    { verdict: "deny", reason: "hook h1 failed to execute: exited with code 1", name: "h1", updatedOutput: "x" },
  ],
  [
    "an end that one hook holds back and another lets go is let go",
    "stop",
    [prints({ decision: "block", reason: "go on" }), prints({ continue: false, stopReason: "enough" })],
    { verdict: "none", name: "h2", stop: "enough" },
  ],
];

describe("combining", () => {
  for (const [name, event, runs, expected] of ROWS) test(name, () => assert.deepEqual(combined(event, runs), expected));

  test("the failure is a warning", () => {
    assert.deepEqual(combineHooks(ran("post_tool_use", [exit(1)])).warnings, ["hook h1 failed to execute: exited with code 1"]);
  });

  test("messages to the person are joined in order, blanks dropped", () => {
    const runs = ["one", "", "two"].map((systemMessage) => prints({ systemMessage }));
    assert.equal(combineHooks(ran("pre_tool_use", runs)).systemMessage, "one\ntwo");
  });
});

function rewrites(updatedInput: object, more: object = {}): HookRun {
  return prints({ hookSpecificOutput: { updatedInput, ...more } });
}

describe("rewriting", () => {
  test("an allow is dropped when a later hook rewrites", () => {
    const opinion = combined("pre_tool_use", [decides("allow"), rewrites({ a: 1 })]);
    assert.deepEqual(opinion, { verdict: "none", name: "h2", updatedInput: { a: 1 }, updatedInputMode: "replace", rewrittenBy: "h2" });
  });

  test("a hook that rewrites and allows at once allows what it made", () => {
    assert.equal(combined("pre_tool_use", [rewrites({ a: 1 }, { permissionDecision: "allow" })]).verdict, "allow");
  });

  test("an allow after the last rewrite counts", () => {
    assert.equal(combined("pre_tool_use", [rewrites({ a: 1 }), decides("allow")]).verdict, "allow");
  });

  test("a deny and an ask on an input that was rewritten since stay", () => {
    assert.equal(combined("pre_tool_use", [decides("deny", "x"), rewrites({ a: 1 })]).verdict, "deny");
    const asked = combined("pre_tool_use", [decides("ask", "x"), rewrites({ a: 1 })]);
    assert.deepEqual([asked.verdict, asked.name, asked.rewrittenBy], ["ask", "h1", "h2"]);
  });

  test("merges add up, keys that are not named stay", () => {
    assert.deepEqual(combined("pre_tool_use", [rewrites({ a: 1 }), rewrites({ b: 2 })], { c: 0 }).updatedInput, { a: 1, b: 2, c: 0 });
  });

  test("a rewrite equal but for the order of keys, or to what is there, is none", () => {
    const opinion = combined("pre_tool_use", [decides("allow"), rewrites({ b: 2, a: 1 }), rewrites({ a: 1 })], { a: 1, b: 2 });
    assert.deepEqual(opinion, { verdict: "allow", name: "h1" });
    const replaced = rewrites({ b: 2, a: 1 }, { updatedInputMode: "replace" });
    assert.equal(combined("pre_tool_use", [replaced], { a: 1, b: 2 }).updatedInput, undefined);
  });

  test("null is a value, and a merge is shallow", () => {
    assert.deepEqual(combined("pre_tool_use", [rewrites({ a: null, o: { y: 2 } })], { a: 1, o: { x: 1 } }).updatedInput, {
      a: null,
      o: { y: 2 },
    });
  });

  test("replace removes keys", () => {
    assert.deepEqual(combined("pre_tool_use", [rewrites({ a: 2 }, { updatedInputMode: "replace" })], { a: 1, b: 1 }).updatedInput, {
      a: 2,
    });
  });

  test("a key named __proto__ becomes a key, not a prototype", () => {
    const run: HookRun = { ended: "exit", code: 0, stdout: '{"hookSpecificOutput":{"updatedInput":{"__proto__":{"x":1}}}}', stderr: "" };
    const { updatedInput = {} } = combined("pre_tool_use", [run], { a: 1 });
    assert.deepEqual(Object.keys(updatedInput), ["a", "__proto__"]);
    assert.equal(Object.getPrototypeOf(updatedInput), Object.prototype);
  });
});

const WORDS = ["allow", "ask", "deny", "none"] as const;

test("law: in any order, a deny among hooks is a deny and an ask without a deny is an ask", () => {
  fc.assert(
    fc.property(fc.array(fc.constantFrom(...WORDS), { minLength: 1 }), (words) => {
      const runs = words.map((word) => (word === "none" ? NOTHING : decides(word)));
      const strictest = ["deny", "ask", "allow", "none"].find((word) => words.some((said) => said === word));
      assert.equal(combined("pre_tool_use", runs).verdict, strictest);
    }),
  );
});

test("law: no set of answers allows beside a hook that failed", () => {
  const answer = fc.oneof(
    fc.constantFrom(...WORDS).map((word) => (word === "none" ? NOTHING : decides(word))),
    fc.record({ a: fc.integer() }).map((input) => rewrites(input)),
  );
  fc.assert(
    fc.property(fc.array(answer), fc.array(answer), (before, after) => {
      assert.equal(combined("pre_tool_use", [...before, exit(1), ...after]).verdict, "deny");
      assert.notEqual(combined("permission_request", [...before, exit(1), ...after]).verdict, "allow");
    }),
  );
});
