import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { HookPoint } from "../../../src/model/hooks/event-table.ts";
import { type HookOutcome, type HookRun, readHookRun } from "../../../src/model/hooks/output.ts";

function read(event: HookPoint, run: HookRun, onFailure: "block" | "warn" = "warn"): HookOutcome {
  return readHookRun({ event, name: "h", onFailure }, run);
}

function exit(code: number, stdout = "", stderr = ""): HookRun {
  return { ended: "exit", code, stdout, stderr };
}

function prints(output: unknown): HookRun {
  return exit(0, JSON.stringify(output));
}

function specific(fields: object, more: object = {}): HookRun {
  return prints({ ...more, hookSpecificOutput: fields });
}

/** Everything except the two lists, which have their own tests. */
function said({ warnings: _warnings, ignored: _ignored, ...rest }: HookOutcome): object {
  return rest;
}

const NONE = { verdict: "none" };

type Row = readonly [name: string, event: HookPoint, run: HookRun, expected: object];

const EXITS: readonly Row[] = [
  ["exit 0 without output is not an opinion", "pre_tool_use", exit(0), NONE],
  ["exit 0 with blanks is not an opinion", "pre_tool_use", exit(0, " \n\t"), NONE],
  ["plain text is context where the event takes context", "session_start", exit(0, "hello\n"), { ...NONE, context: "hello" }],
  ["plain text is ignored where it does not", "permission_request", exit(0, "hello"), NONE],
  ["plain text of a transform does not replace anything", "tool_response_transform", exit(0, "hello"), NONE],
  ["a list is plain text", "pre_tool_use", exit(0, "[1]"), { ...NONE, context: "[1]" }],
  ["JSON may start after white space and a byte order mark", "pre_tool_use", exit(0, '\ufeff\n  {"decision":"ask"}\n'), { verdict: "ask" }],
  ["standard error of a success is ignored", "pre_tool_use", exit(0, "", "noise"), NONE],
  ["exit 2 blocks with standard error as the reason", "pre_tool_use", exit(2, "", " no \n"), { verdict: "deny", reason: "no" }],
  ["exit 2 ignores standard output", "pre_tool_use", exit(2, '{"decision":"approve"}', "no"), { verdict: "deny", reason: "no" }],
  ["exit 2 without a word names the hook", "pre_tool_use", exit(2), { verdict: "deny", reason: "blocked by hook h" }],
  ["exit 2 refuses a prompt", "user_prompt_submit", exit(2, "", "no"), { verdict: "deny", reason: "no" }],
  ["exit 2 holds back an end", "stop", exit(2, "", "run the tests"), { verdict: "deny", reason: "run the tests" }],
  ["exit 2 after a tool is feedback", "post_tool_use", exit(2, "", "bad"), { ...NONE, feedback: "bad" }],
  ["exit 2 of a permission hook rejects", "permission_request", exit(2, "", "m"), { verdict: "deny", reason: "m" }],
  ["exit 2 of a transform withholds", "tool_response_transform", exit(2, "", "no"), { verdict: "deny", reason: "no" }],
  ["exit 2 where nothing can be blocked changes nothing", "session_start", exit(2, "", "no"), NONE],
];

const FAILED = "hook h failed to execute: ";
const FAILURES: readonly (readonly [name: string, run: HookRun, cause: string, more?: string])[] = [
  ["another exit code", exit(1), "exited with code 1"],
  ["an exit code of 127", exit(127, "", "sh: nope: not found\n"), "exited with code 127", "\nsh: nope: not found"],
  ["a timeout", { ended: "failed", cause: "timed out after 20s" }, "timed out after 20s"],
  ["death by a signal", { ended: "failed", cause: "killed by SIGSEGV", stderr: "core" }, "killed by SIGSEGV", "\ncore"],
  ["too much output", { ended: "failed", cause: "output over 1 MiB" }, "output over 1 MiB"],
  ["output that only starts as JSON", exit(0, "{ nonsense"), "invalid output"],
  ["JSON with something behind it", exit(0, '{"decision":"approve"} done'), "invalid output"],
  ["two objects", exit(0, "{}{}"), "invalid output"],
  ["a decision that is not a known value", prints({ decision: "yes" }), "invalid output"],
  ["a decision that is a name of an object's own", prints({ decision: "constructor" }), "invalid output"],
  ["a decision of null", prints({ decision: null }), "invalid output"],
  ["a permissionDecision that is not a known value", specific({ permissionDecision: "yes" }), "invalid output"],
  ["a permissionDecision of the wrong case", specific({ permissionDecision: "Deny" }), "invalid output"],
  ["continue that is a text", prints({ continue: "false" }), "invalid output"],
  ["a reason that is a number", prints({ reason: 1 }), "invalid output"],
  ["a systemMessage that is an object", prints({ systemMessage: {} }), "invalid output"],
  ["suppressOutput that is a text", prints({ suppressOutput: "yes" }), "invalid output"],
  ["hookSpecificOutput that is a list", prints({ hookSpecificOutput: [] }), "invalid output"],
  ["updatedInput that is a list", specific({ updatedInput: [] }), "invalid output"],
  ["updatedInput that is a text", specific({ updatedInput: "ls" }), "invalid output"],
  [
    "two updatedInput that differ",
    specific({ updatedInput: { a: 1 }, decision: { behavior: "allow", updatedInput: { a: 2 } } }),
    "invalid output",
  ],
  ["updatedInput of null", specific({ updatedInput: null }), "invalid output"],
  ["an unknown updatedInputMode", specific({ updatedInput: {}, updatedInputMode: "deep" }), "invalid output"],
  ["additionalContext that is a list", specific({ additionalContext: ["a"] }), "invalid output"],
  ["the name of another event", specific({ hookEventName: "PostToolUse" }), "invalid output"],
  ["the name of no event", specific({ hookEventName: "pretooluse" }), "invalid output"],
  ["a decision object without behavior", specific({ decision: {} }), "invalid output"],
  ["a behavior that is not a known value", specific({ decision: { behavior: "ask" } }), "invalid output"],
  ["two spellings that differ", prints({ stopReason: "a", stop_reason: "b" }), "invalid output"],
  ["two spellings of a verdict that differ", specific({ permissionDecision: "allow", permission_decision: "deny" }), "invalid output"],
  ["two spellings of an object that differ", prints({ hookSpecificOutput: {}, hook_specific_output: { a: 1 } }), "invalid output"],
  ["a function that returns null", { ended: "value", value: null }, "invalid output"],
  ["a function that returns a text", { ended: "value", value: "deny" }, "invalid output"],
  ["a function that returns true", { ended: "value", value: true }, "invalid output"],
  ["a function that returns a list", { ended: "value", value: [] }, "invalid output"],
  ["a function that returns a date", { ended: "value", value: new Date(0) }, "invalid output"],
  ["a function whose object holds a function", { ended: "value", value: { reason: () => "x" } }, "invalid output"],
  [
    "a function whose object throws",
    {
      ended: "value",
      value: {
        get decision() {
          throw new Error("x");
        },
      },
    },
    "invalid output",
  ],
];

describe("exit codes", () => {
  for (const [name, event, run, expected] of EXITS) test(name, () => assert.deepEqual(said(read(event, run)), expected));
});

describe("failures", () => {
  for (const [name, run, cause, more = ""] of FAILURES) {
    test(`${name} is a failure: it denies where hooks fail closed`, () => {
      const reason = `${FAILED}${cause}${more}`;
      for (const event of ["pre_tool_use", "user_prompt_submit", "subagent_start", "pre_compact"] as const)
        assert.deepEqual(said(read(event, run)), { verdict: "deny", reason, failure: cause });
    });
  }

  const EFFECTS: readonly (readonly [event: HookPoint, onFailure: "block" | "warn", expected: object])[] = [
    ["permission_request", "block", { ...NONE, voidsAllow: true }],
    ["tool_response_transform", "block", { verdict: "deny", reason: `${FAILED}exited with code 1` }],
    ["post_tool_use", "warn", NONE],
    ["post_tool_use", "block", { ...NONE, stop: `${FAILED}exited with code 1` }],
    ["post_tool_use_failure", "block", { ...NONE, stop: `${FAILED}exited with code 1` }],
    ["post_tool_batch", "block", { ...NONE, stop: `${FAILED}exited with code 1` }],
    ["stop", "warn", NONE],
    ["stop", "block", { verdict: "deny", reason: `${FAILED}exited with code 1` }],
    ["session_start", "warn", NONE],
    ["turn_start", "warn", NONE],
    ["permission_denied", "warn", NONE],
    ["config_change", "warn", NONE],
  ];
  for (const [event, onFailure, expected] of EFFECTS) {
    test(`a failure on ${event} with onFailure ${onFailure}`, () => {
      const outcome = read(event, exit(1), onFailure);
      assert.deepEqual(said(outcome), { ...expected, failure: "exited with code 1" });
      assert.deepEqual(outcome.warnings, [`${FAILED}exited with code 1`], "it is said in any case");
    });
  }

  test("the first 500 characters of standard error are part of the reason", () => {
    const { reason } = read("pre_tool_use", exit(1, "", "e".repeat(600)));
    assert.equal(reason, `${FAILED}exited with code 1\n${"e".repeat(499)}…`);
  });

  test("what is wrong with invalid output is said to the person", () => {
    assert.match(read("pre_tool_use", prints({ decision: "yes" })).warnings.join(), /invalid output \(decision is not one of block, deny/);
  });

  test("a run that was cancelled denies where hooks fail closed, stops nothing, and does not warn", () => {
    const run = { ended: "cancelled" } as const;
    assert.equal(read("pre_tool_use", run).verdict, "deny");
    assert.equal(read("permission_request", run).voidsAllow, true);
    assert.deepEqual(said(read("post_tool_use", run, "block")), { ...NONE, failure: "cancelled" });
    for (const event of ["pre_tool_use", "post_tool_use"] as const) assert.deepEqual(read(event, run).warnings, []);
  });
});

const ANSWERS: readonly Row[] = [
  ["an empty object is not an opinion", "pre_tool_use", prints({}), NONE],
  ["unknown fields are ignored", "pre_tool_use", prints({ colour: "red", hookSpecificOutput: { size: 1 } }), NONE],
  ["suppressOutput is not an opinion", "pre_tool_use", prints({ suppressOutput: true }), NONE],
  ["continue: true is not an opinion", "pre_tool_use", prints({ continue: true, reason: "fine" }), NONE],
  ["block denies", "pre_tool_use", prints({ decision: "block", reason: "no" }), { verdict: "deny", reason: "no" }],
  ["deny denies", "pre_tool_use", prints({ decision: "deny", reason: "no" }), { verdict: "deny", reason: "no" }],
  ["approve allows", "pre_tool_use", prints({ decision: "approve" }), { verdict: "allow" }],
  ["allow allows", "pre_tool_use", prints({ decision: "allow", reason: "ok" }), { verdict: "allow", reason: "ok" }],
  ["ask asks", "pre_tool_use", prints({ decision: "ask" }), { verdict: "ask" }],
  [
    "a block without a reason names the hook",
    "pre_tool_use",
    prints({ decision: "block" }),
    { verdict: "deny", reason: "blocked by hook h" },
  ],
  ["defer is not an opinion", "pre_tool_use", specific({ permissionDecision: "defer" }), NONE],
  [
    "permissionDecision with its own reason",
    "pre_tool_use",
    specific({ hookEventName: "PreToolUse", permissionDecision: "deny", permissionDecisionReason: "a" }, { reason: "b" }),
    { verdict: "deny", reason: "a" },
  ],
  [
    "permissionDecision with the outer reason",
    "pre_tool_use",
    specific({ permissionDecision: "ask" }, { reason: "b" }),
    { verdict: "ask", reason: "b" },
  ],
  [
    "approve outside, deny inside: the stricter counts",
    "pre_tool_use",
    specific({ hookEventName: "PreToolUse", permissionDecision: "deny" }, { decision: "approve" }),
    { verdict: "deny", reason: "blocked by hook h" },
  ],
  [
    "block outside, allow inside: the stricter counts",
    "pre_tool_use",
    specific({ permissionDecision: "allow", permissionDecisionReason: "ok" }, { decision: "block", reason: "no" }),
    { verdict: "deny", reason: "no" },
  ],
  [
    "ask outside, allow inside: the stricter counts",
    "pre_tool_use",
    specific({ permissionDecision: "allow" }, { decision: "ask" }),
    { verdict: "ask" },
  ],
  [
    "continue: false blocks, with stopReason",
    "pre_tool_use",
    prints({ continue: false, stopReason: "quota" }),
    { verdict: "deny", reason: "quota" },
  ],
  [
    "continue: false beside approve blocks",
    "pre_tool_use",
    prints({ continue: false, decision: "approve", stopReason: "q" }),
    { verdict: "deny", reason: "q" },
  ],
  ["our own name of the event counts too", "pre_tool_use", specific({ hookEventName: "pre_tool_use" }), NONE],
  [
    "snake_case is read",
    "pre_tool_use",
    prints({ hook_specific_output: { hook_event_name: "PreToolUse", permission_decision: "deny", permission_decision_reason: "no" } }),
    { verdict: "deny", reason: "no" },
  ],
  [
    "both spellings with the same value are one",
    "pre_tool_use",
    specific({ updatedInput: { a: 1, b: 2 }, updated_input: { b: 2, a: 1 } }),
    { ...NONE, updatedInput: { input: { a: 1, b: 2 }, mode: "merge" } },
  ],
  [
    "updatedInput is merged unless it says replace",
    "pre_tool_use",
    specific({ updatedInput: { a: null }, updatedInputMode: "replace" }),
    { ...NONE, updatedInput: { input: { a: null }, mode: "replace" } },
  ],
  [
    "context and a message to the person",
    "pre_tool_use",
    specific({ additionalContext: "c" }, { systemMessage: "s" }),
    { ...NONE, context: "c", systemMessage: "s" },
  ],
  ["blank words are none", "pre_tool_use", specific({ additionalContext: " " }, { systemMessage: "\n" }), NONE],
  ["continue: false after a tool stops", "post_tool_use", prints({ continue: false, stopReason: "quota" }), { ...NONE, stop: "quota" }],
  ["continue: false without a message stops", "post_tool_use", prints({ continue: false }), { ...NONE, stop: "" }],
  [
    "permissionDecision deny after a tool stops",
    "post_tool_use",
    specific({ permissionDecision: "deny" }, { reason: "leak" }),
    { ...NONE, stop: "leak" },
  ],
  ["block after a tool is feedback", "post_tool_use", prints({ decision: "block", reason: "bad" }), { ...NONE, feedback: "bad" }],
  ["deny after a tool is feedback", "post_tool_use_failure", prints({ decision: "deny", reason: "bad" }), { ...NONE, feedback: "bad" }],
  [
    "a block without a reason after a tool still says who",
    "post_tool_batch",
    prints({ decision: "block" }),
    { ...NONE, feedback: "blocked by hook h" },
  ],
  [
    "a stop and feedback at once",
    "post_tool_use",
    prints({ continue: false, stopReason: "q", decision: "block", reason: "bad" }),
    { ...NONE, stop: "q", feedback: "bad" },
  ],
  ["block on an end holds it back", "stop", prints({ decision: "block", reason: "go on" }), { verdict: "deny", reason: "go on" }],
  ["continue: false on an end lets it end", "stop", prints({ continue: false, stopReason: "enough" }), { ...NONE, stop: "enough" }],
  [
    "continue: false refuses a prompt",
    "user_prompt_submit",
    prints({ continue: false, stopReason: "no" }),
    { verdict: "deny", reason: "no" },
  ],
  [
    "a deny in any field refuses a prompt",
    "user_prompt_submit",
    specific({ permissionDecision: "deny" }, { reason: "no" }),
    { verdict: "deny", reason: "no" },
  ],
  ["a permission hook allows", "permission_request", specific({ decision: { behavior: "allow" } }), { verdict: "allow" }],
  [
    "a permission hook allows another input",
    "permission_request",
    specific({ decision: { behavior: "allow", updatedInput: { a: 1 } } }),
    { verdict: "allow", updatedInput: { input: { a: 1 }, mode: "merge" } },
  ],
  [
    "two updatedInput that say the same are one",
    "permission_request",
    specific({ updatedInput: { a: 1 }, decision: { behavior: "allow", updatedInput: { a: 1 } } }),
    { verdict: "allow", updatedInput: { input: { a: 1 }, mode: "merge" } },
  ],
  [
    "a permission hook denies with a message and interrupts",
    "permission_request",
    specific({ decision: { behavior: "deny", message: "m", interrupt: true } }),
    { verdict: "deny", reason: "m", interrupt: true },
  ],
  [
    "interrupt beside an allow is nothing",
    "permission_request",
    specific({ decision: { behavior: "allow", interrupt: true } }),
    { verdict: "allow" },
  ],
  ["a permission hook may use the outer decision", "permission_request", prints({ decision: "approve" }), { verdict: "allow" }],
  ["a permission hook that asks leaves it to a person", "permission_request", prints({ decision: "ask" }), { ...NONE, voidsAllow: true }],
  [
    "a transform replaces the text",
    "tool_response_transform",
    specific({ updatedToolOutput: "clean" }),
    { ...NONE, updatedOutput: "clean" },
  ],
  ["a transform blanks the text", "tool_response_transform", specific({ updatedToolOutput: "" }), { ...NONE, updatedOutput: "" }],
  ["a transform that says nothing leaves it", "tool_response_transform", specific({}), NONE],
  [
    "a block of a transform withholds",
    "tool_response_transform",
    prints({ decision: "block", reason: "no" }),
    { verdict: "deny", reason: "no" },
  ],
  ["undefined of a function is not an opinion", "pre_tool_use", { ended: "value", value: undefined }, NONE],
  [
    "an object of a function is read like JSON",
    "pre_tool_use",
    { ended: "value", value: { decision: "deny", reason: "no" } },
    { verdict: "deny", reason: "no" },
  ],
];

describe("what an answer says", () => {
  for (const [name, event, run, expected] of ANSWERS) {
    test(name, () => {
      const outcome = read(event, run);
      assert.deepEqual(said(outcome), expected);
      assert.deepEqual(outcome.ignored, []);
    });
  }
});

const IGNORED: readonly (readonly [field: string, event: HookPoint, run: HookRun])[] = [
  ["updatedInput", "stop", specific({ updatedInput: { a: 1 } })],
  ["updatedInput", "post_tool_use", specific({ updatedInput: { a: 1 } })],
  ["updatedToolOutput", "pre_tool_use", specific({ updatedToolOutput: "x" })],
  ["updatedToolOutput", "post_tool_use", specific({ updatedToolOutput: "x" })],
  ["additionalContext", "permission_request", specific({ additionalContext: "x" })],
  ["additionalContext", "notification", specific({ additionalContext: "x" })],
  ["permissionDecision", "post_tool_use", specific({ permissionDecision: "allow" })],
  ["permissionDecision", "user_prompt_submit", specific({ permissionDecision: "ask" })],
  ["permissionDecision", "session_start", specific({ permissionDecision: "deny" })],
  ["decision", "stop", prints({ decision: "approve" })],
  ["decision", "session_end", prints({ decision: "block" })],
  ["continue", "session_start", prints({ continue: false })],
  ["behavior", "pre_tool_use", specific({ decision: { behavior: "allow" } })],
];

describe("a field an event does not consume is ignored with one warning", () => {
  for (const [field, event, run] of IGNORED) {
    test(`${field} on ${event}`, () => {
      const outcome = read(event, run);
      assert.deepEqual(said(outcome), NONE);
      assert.deepEqual(outcome.ignored, [`hook h (${event}): ${field} is not applied on this event`]);
    });
  }

  test("updatedPermissions is not applied, and the allow beside it counts", () => {
    const outcome = read("permission_request", specific({ decision: { behavior: "allow", updatedPermissions: [{ rule: "*" }] } }));
    assert.deepEqual(said(outcome), { verdict: "allow" });
    assert.deepEqual(outcome.ignored, ["hook h (permission_request): updatedPermissions is not applied on this event"]);
  });

  test("a deny in the field of another event still denies", () => {
    assert.equal(read("pre_tool_use", specific({ decision: { behavior: "deny" } })).verdict, "deny");
  });

  test("exit 2 where nothing can be blocked is a warning with its text", () => {
    assert.deepEqual(read("session_start", exit(2, "", "look")).warnings, ["hook h (session_start): look"]);
  });

  test("output that a transform withholds is a warning with its text", () => {
    assert.deepEqual(read("tool_response_transform", exit(2, "", "look")).warnings, ["hook h (tool_response_transform): look"]);
  });
});

test("control characters do not reach a person's terminal", () => {
  assert.equal(read("pre_tool_use", exit(2, "", "\u001b[31mno\u001b[0m\r\n\tnever")).reason, "[31mno[0m\n\tnever");
  assert.equal(read("pre_tool_use", exit(1, "", "\u001b[31mno")).reason, `${FAILED}exited with code 1\n[31mno`);
  assert.equal(read("pre_tool_use", prints({ systemMessage: "a\u0007b" })).systemMessage, "ab");
});

test("context is cut at 10,000 characters, reasons and messages at 2,000, with an ellipsis", () => {
  const long = "x".repeat(20_000);
  const outcome = read(
    "pre_tool_use",
    specific({ additionalContext: long, permissionDecision: "ask" }, { reason: long, systemMessage: long }),
  );
  const cut = (length: number): string => `${"x".repeat(length - 1)}…`;
  assert.deepEqual([outcome.context, outcome.reason, outcome.systemMessage], [cut(10_000), cut(2_000), cut(2_000)]);
  assert.equal(read("pre_tool_use", exit(2, "", long)).reason, cut(2_000));
  assert.equal(read("session_start", exit(0, long)).context, cut(10_000));
  assert.equal(read("post_tool_use", prints({ decision: "block", reason: long })).feedback, cut(2_000));
});
