import assert from "node:assert/strict";
import { test } from "node:test";
import type { Batch, ProposedCall } from "@assent/core";
import { scriptedApprover } from "@assent/core/testing";
import { bench, call, only, outcomes, says, textOf, textTool, until } from "../harness.ts";

const yolo = { policy: { mode: "yolo" } } as const;
const hidden = textTool("hidden_tool", "read", { hidden: true });

const unknown: readonly (readonly [name: string, tool: string, text: string])[] = [
  [
    "a name like nothing there is",
    "frobnicate_everything",
    "Tool 'frobnicate_everything' is not available. Only the provided tools may be used.",
  ],
  ["a name near one", "raed", "Tool 'raed' is not available. Only the provided tools may be used. Did you mean 'read'?"],
  ["a hidden tool", "hidden_tool", "Tool 'hidden_tool' is not available. Only the provided tools may be used."],
  ["a hidden tool is never suggested", "hidden_too", "Tool 'hidden_too' is not available. Only the provided tools may be used."],
  ["another case", "Read", "Tool 'Read' is not available. Only the provided tools may be used. Did you mean 'read'?"],
  ["blanks around it", " read ", "Tool ' read ' is not available. Only the provided tools may be used. Did you mean 'read'?"],
  ["an inherited name", "__proto__", "Tool '__proto__' is not available. Only the provided tools may be used."],
  ["a name every object has", "constructor", "Tool 'constructor' is not available. Only the provided tools may be used."],
];
for (const [name, tool, text] of unknown) {
  test(`${name} is tool_not_registered: no decision, no notification, a record, and the batch goes on`, async (t) => {
    const b = await bench(t, { ...yolo, tools: [hidden] });
    const report = await b.process([call(tool, "x", "c1"), call("edit", "y", "c2")]);
    assert.deepEqual(outcomes(report), ["invalid tool_not_registered", "succeeded"]);
    assert.equal(textOf(report.results[0]), text);
    assert.deepEqual(
      b.notices.map(({ callId }) => callId),
      ["c2"],
    );
    assert.equal((await b.stored("call.judged", "c1")).length, 0);
    assert.equal((await b.stored("call.ended", "c1"))[0]?.body.type, "tool_not_registered");
  });
}

test("a hidden tool that a directive names is reached, and resolve always is", async (t) => {
  const resolve = textTool("resolve", "other", { hidden: true });
  const b = await bench(t, { ...yolo, tools: [hidden, resolve] });
  assert.deepEqual(outcomes(await b.process([call("hidden_tool", "x"), call("resolve", "y")], { directive: "hidden_tool" })), [
    "succeeded",
    "succeeded",
  ]);
  assert.deepEqual(outcomes(await b.process([call("hidden_tool", "x"), call("resolve", "y")])), [
    "invalid tool_not_registered",
    "succeeded",
  ]);
});

test("a tool denied as a whole is denied with its label, not said to be unavailable", async (t) => {
  const b = await bench(t, { policy: { rules: { team: { deny: [{ text: "edit", because: "read-only week" }] } } } });
  const report = await b.process([call("edit", "x")]);
  assert.deepEqual(outcomes(report), ["denied denied_by_rule"]);
  assert.equal(textOf(only(report)), "Tool 'edit' is denied by permissions configuration. Denied by a rule: read-only week");
});

test("an alias becomes the canonical name in rules, record and events, and is kept in calledAs", async (t) => {
  const b = await bench(t, { policy: { rules: { team: { ask: ["write_file"], allow: ["edit"] } } } });
  b.registry.alias("write_file", "edit");
  assert.deepEqual(outcomes(await b.process([call("write_file", "x", "c1")])), ["succeeded"]);
  const [proposed] = await b.stored("call.proposed");
  assert.deepEqual([proposed?.body.tool, proposed?.body.calledAs], ["edit", "write_file"]);
  assert.deepEqual(
    b.notices.map(({ toolName }) => toolName),
    ["edit"],
  );
  const started = b.events.find((event) => event.type === "toolCall");
  assert.ok(started?.type === "toolCall" && started.tool === "edit");
});

type IdRow = readonly [name: string, given: readonly (string | undefined)[], ids: readonly string[], outcomes: readonly string[]];

const duplicate = "invalid duplicate_call_id";
const idRows: readonly IdRow[] = [
  ["the same id twice", ["a", "a"], ["a", "a#2"], ["succeeded", duplicate]],
  ["the same id three times", ["a", "a", "a"], ["a", "a#2", "a#3"], ["succeeded", duplicate, duplicate]],
  ["an id that looks like ours is taken", ["a#2", "a", "a"], ["a#2", "a", "a#3"], ["succeeded", "succeeded", duplicate]],
  ["an id that looks like ours comes later", ["a", "a", "a#2"], ["a", "a#2", "a#2#2"], ["succeeded", duplicate, "succeeded"]],
];
for (const [name, given, ids, expected] of idRows) {
  test(`${name}: ids ${ids.join(", ")}, each with exactly one result`, async (t) => {
    const b = await bench(t, yolo);
    const report = await b.process(given.map((id, at) => ({ id: id!, name: "edit", arguments: { text: `t${at}` } })));
    assert.deepEqual(
      report.results.map(({ callId }) => callId),
      ids,
    );
    assert.deepEqual(outcomes(report), expected);
    assert.equal(b.world.lines.length, expected.filter((outcome) => outcome === "succeeded").length);
    const [, second] = report.results;
    if (expected[1] === duplicate) assert.equal(textOf(second), "Duplicate tool call id 'a': only the first call was handled.");
    assert.deepEqual(
      b.log().filter((line) => line.startsWith("messageAdded")),
      ids.map((id) => `messageAdded ${id}`),
    );
  });
}

test("missing and empty ids get ids of ours and are never deduplicated", async (t) => {
  const b = await bench(t, yolo);
  const calls = [
    { name: "edit", arguments: { text: "x" } },
    { id: "", name: "edit", arguments: { text: "x" } },
  ];
  const report = await b.process(calls);
  assert.deepEqual(outcomes(report), ["succeeded", "succeeded"]);
  assert.equal(new Set(report.results.map(({ callId }) => callId)).size, 2);
  assert.deepEqual(
    (await b.stored("call.proposed")).map(({ body }) => body.givenId),
    [null, null],
  );
});

test("an id of an earlier turn is a new call under its own id, also after a restart", async (t) => {
  const b = await bench(t, yolo);
  for (const id of ["0", "0#2", "0#3"]) assert.equal(only(await b.process([call("edit", id, "0")])).callId, id);
  await b.session.close("done", 0);
  const again = await bench(t, { beside: b, reopen: { id: b.session.id } });
  assert.equal(only(await again.process([call("edit", "again", "0")])).callId, "0#4");
  assert.deepEqual(b.world.lines, ["0", "0#2", "0#3", "again"]);
});

test("an id of an earlier turn that is not there twice in this batch runs, twice does not", async (t) => {
  const b = await bench(t, yolo);
  await b.process([call("edit", "x", "a")]);
  const report = await b.process([call("edit", "y", "a"), call("edit", "z", "a")]);
  assert.deepEqual(outcomes(report), ["succeeded", duplicate]);
  assert.equal(new Set(report.results.map(({ callId }) => callId)).size, 2);
});

test("an id that is very long or no proper text is cut and made proper, and two that begin alike stay apart", async (t) => {
  const b = await bench(t, yolo);
  const long = "i".repeat(100_000);
  const report = await b.process([`${long}1`, `${long}2`, "\ud800", "a\0", "b\0"].map((id) => call("edit", "x", id)));
  const ids = report.results.map(({ callId }) => callId);
  assert.equal(new Set(ids).size, 5);
  for (const id of ids) assert.ok(id.length <= 300 && id.isWellFormed() && !id.includes("\0"));
});

type TruncatedRow = readonly [name: string, proposed: ProposedCall, outcome: string, text: RegExp];

const truncated: readonly TruncatedRow[] = [
  [
    "a mutator, even with a valid input",
    call("edit", "x"),
    "invalid output_truncated",
    /^The response was cut off at the output limit before this call was complete, so it was not run\. Send it again in smaller parts\.$/,
  ],
  [
    "a mutator with an invalid input",
    { id: "c1", name: "edit", arguments: '{"te' },
    "invalid output_truncated",
    /^The response was cut off/,
  ],
  ["another kind with a valid input", call("read", "x"), "succeeded", /^world/],
  [
    "another kind with an invalid input",
    { id: "c1", name: "read", arguments: "{}" },
    "invalid invalid_tool_params",
    / The response was cut off at the output limit\.$/,
  ],
];
for (const [name, proposed, outcome, text] of truncated) {
  test(`${name} in a response that was cut off: ${outcome}`, async (t) => {
    const b = await bench(t, yolo);
    const report = await b.process([proposed], { truncated: true });
    assert.deepEqual(outcomes(report), [outcome]);
    assert.match(textOf(only(report)), text);
    assert.deepEqual(b.world.lines, []);
  });
}

const anything = textTool("anything", "read", {
  input: { "~standard": { version: 1, vendor: "t", validate: (value: unknown) => ({ value }) } } as never,
  run: (input) => JSON.stringify(input),
});
const deep = (levels: number): string => `{"text":${"[".repeat(levels)}${"]".repeat(levels)}}`;

type ArgumentRow = readonly [name: string, given: unknown, outcome: string, text: RegExp];

const argumentRows: readonly ArgumentRow[] = [
  ["nothing", "", "succeeded", /^\{\}$/],
  ["blanks", " \n\t", "succeeded", /^\{\}$/],
  ["null", "null", "invalid invalid_tool_params", /Reason: params must be object$/],
  ["a list", "[]", "invalid invalid_tool_params", /Reason: params must be object$/],
  ["a text", '"x"', "invalid invalid_tool_params", /Reason: params must be object$/],
  ["a number", "3", "invalid invalid_tool_params", /Reason: params must be object$/],
  ["null already parsed", null, "invalid invalid_tool_params", /Reason: params must be object$/],
  ["undefined", undefined, "invalid invalid_tool_params", /Reason: params must be object$/],
  ["a function", () => undefined, "invalid invalid_tool_params", /Reason: params must be object$/],
  ["no JSON", "{text: 1}", "invalid invalid_json", /^Error: Invalid parameters provided\. Reason: arguments are not valid JSON \(/],
  ["a text that holds an object", '"{\\"a\\":1}"', "succeeded", /^\{"a":1\}$/],
  ["a key twice", '{"a":1,"a":2}', "succeeded", /^\{"a":2\}$/],
  ["the key __proto__", '{"__proto__":{"x":1}}', "invalid invalid_tool_params", /must not contain the key '__proto__'/],
  [
    "the key constructor, deep inside",
    '{"a":[{"constructor":1}]}',
    "invalid invalid_tool_params",
    /must not contain the key 'constructor'/,
  ],
  ["a number beyond every number", '{"n":1e400}', "invalid", /Invalid parameters/],
  ["a whole number that cannot be kept", '{"n":12345678901234567890}', "invalid", /Invalid parameters/],
  ["too many levels", deep(600), "invalid input_too_large", /Reason: arguments exceed 512 levels$/],
  ["100,000 levels", deep(100_000), "invalid input_too_large", /Reason: arguments exceed 512 levels$/],
  ["more than 16 MiB", `{"text":"${"x".repeat(16 * 1024 * 1024)}"}`, "invalid input_too_large", /Reason: arguments exceed 16 MiB/],
];
for (const [name, given, outcome, text] of argumentRows) {
  test(`${name} as arguments: ${outcome}`, async (t) => {
    const b = await bench(t, { tools: [anything] });
    const report = await b.process([{ id: "c1", name: "anything", arguments: given }]);
    assert.ok(outcomes(report)[0]?.startsWith(outcome), outcomes(report)[0]);
    assert.match(textOf(only(report)), text);
    assert.equal("x" in {}, false);
    if (outcome.startsWith("invalid")) assert.equal((await b.stored("call.judged")).length, 0, "an invalid input is never judged");
  });
}

test("what was read differently from what was sent is recorded as a coercion", async (t) => {
  const aliased = textTool("aliased", "read", { inputAliases: { words: "text" } });
  const b = await bench(t, { tools: [anything, aliased] });
  await b.process([
    { id: "c1", name: "anything", arguments: '"{\\"a\\":1}"' },
    { id: "c2", name: "aliased", arguments: { words: "x" } },
  ]);
  const coerced = (await b.stored("call.judged")).map(({ body }) => body.coerced?.map(({ path, rule }) => [path, rule]));
  assert.deepEqual(coerced, [[["", "json"]], [["/text", "alias"]]]);
});

test("the fingerprint is the same for any order of keys", async (t) => {
  const person = scriptedApprover({ edit: "reject" });
  const b = await bench(t, { person });
  await b.process([{ id: "c1", name: "edit", arguments: '{"text":"x","b":1,"a":2}' }], {});
  await b.process([{ id: "c2", name: "edit", arguments: '{"a":2,"b":1,"text":"x"}' }], { newPrompt: true });
  assert.equal(new Set(person.shown.map(({ fingerprint }) => fingerprint)).size, 1);
});

const bad: ProposedCall = { id: "bad", name: "edit", arguments: "{}" };
const THIRD =
  " This is the same error for the third time. Do not send this call again unchanged; read the tool's schema or choose another way.";

type GuardRow = readonly [
  name: string,
  batches: readonly (readonly [calls: readonly ProposedCall[], over?: Partial<Batch>])[],
  third: boolean,
];

const other: ProposedCall = { id: "other", name: "edit", arguments: "[]" };
const guardRows: readonly GuardRow[] = [
  ["the third batch in a row with the same failure says so", [[[bad]], [[bad]], [[bad]]], true],
  ["the second does not", [[[bad]], [[bad]]], false],
  ["three in one batch count once", [[[bad, bad, bad]]], false],
  ["a different message starts anew", [[[bad]], [[other]], [[bad]]], false],
  ["a valid call of that tool starts anew", [[[bad]], [[bad]], [[call("edit", "ok")]], [[bad]]], false],
  ["a batch without that tool starts anew", [[[bad]], [[bad]], [[call("read", "x")]], [[bad]]], false],
  ["a new prompt starts anew", [[[bad]], [[bad]], [[bad], { newPrompt: true }]], false],
  ["a fourth says so again", [[[bad]], [[bad]], [[bad]], [[bad]]], true],
];
for (const [name, batches, third] of guardRows) {
  test(`validation-retry guard: ${name}`, async (t) => {
    const b = await bench(t, yolo);
    let last = "";
    for (const [calls, over] of batches) last = textOf((await b.process(calls, over)).results[0]);
    assert.equal(last.endsWith(THIRD), third);
  });
}

test("what the caller does to its arguments after the call was proposed changes neither record nor effect", async (t) => {
  const b = await bench(t, { person: scriptedApprover({ edit: "wait" }) });
  const given = { text: "x", more: { deep: 1 } };
  const running = b.process([{ id: "c1", name: "edit", arguments: given }]);
  given.text = "tampered";
  given.more.deep = 2;
  await until(() => b.dispatcher.pending().length === 1);
  assert.deepEqual((await b.stored("call.proposed"))[0]?.body.raw, { text: "x", more: { deep: 1 } });
  await b.dispatcher.answer(says(b.dispatcher.pending()[0]!.id));
  await running;
  assert.deepEqual(b.world.lines, ["x"]);
});
