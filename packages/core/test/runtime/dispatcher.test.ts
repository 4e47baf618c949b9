import assert from "node:assert/strict";
import { getEventListeners } from "node:events";
import { type TestContext, test } from "node:test";
import { contentText, type DispatchEvent, type EventBodies, type ProposedCall } from "@assent/core";
import { scriptedApprover, TESTER } from "@assent/core/testing";
import { type BenchOptions, bench, call, only, outcomes, rest, scriptedHooks, textOf, textTool, until } from "./harness.ts";

type OrderRow = readonly [name: string, options: BenchOptions, proposed: ProposedCall, outcome: string, events: readonly string[]];

const streaming = textTool("stream", "read", {
  canUpdateOutput: true,
  run: (_input, { update }) => {
    update("half");
    return "whole";
  },
});

const orders: readonly OrderRow[] = [
  ["an allowed call", {}, call("read", "x", "c1"), "succeeded", ["toolCall", "response", "messageAdded"]],
  [
    "an allowed call that streams",
    { tools: [streaming] },
    call("stream", "x", "c1"),
    "succeeded",
    ["toolCall", "output", "response", "messageAdded"],
  ],
  [
    "an asked and approved call",
    { person: scriptedApprover({ edit: "approve" }) },
    call("edit", "x", "c1"),
    "succeeded",
    ["confirmation", "toolCall", "response", "messageAdded"],
  ],
  [
    "an asked and rejected call",
    { person: scriptedApprover({ edit: "reject" }) },
    call("edit", "x", "c1"),
    "rejected rejected_by_user",
    ["confirmation", "response", "messageAdded"],
  ],
  [
    "a denied call",
    { policy: { rules: { team: { deny: ["edit"] } } } },
    call("edit", "x", "c1"),
    "denied denied_by_rule",
    ["response", "messageAdded"],
  ],
  [
    "a call that no one can be asked about",
    { person: "nobody" },
    call("edit", "x", "c1"),
    "denied denied_unattended",
    ["response", "messageAdded"],
  ],
  [
    "a call a hook denied",
    { policy: { mode: "yolo" }, deps: { hooks: scriptedHooks({ pre_tool_use: () => ({ verdict: "deny", reason: "no" }) }) } },
    call("edit", "x", "c1"),
    "denied denied_by_hook",
    ["hookBlocked", "response", "messageAdded"],
  ],
  [
    "a call with invalid input",
    {},
    { id: "c1", name: "edit", arguments: "{}" },
    "invalid invalid_tool_params",
    ["response", "messageAdded"],
  ],
  ["a call of an unknown tool", {}, call("nope", "x", "c1"), "invalid tool_not_registered", ["response", "messageAdded"]],
];

for (const [name, options, proposed, outcome, events] of orders) {
  test(`${name} emits ${events.join(", ")}`, async (t) => {
    const b = await bench(t, options);
    const report = await b.process([proposed]);
    assert.deepEqual(outcomes(report), [outcome]);
    assert.deepEqual(
      b.log(),
      events.map((event) => `${event} c1`),
    );
  });
}

test("a call cancelled before it ran emits response and messageAdded, never toolCall", async (t) => {
  const b = await bench(t, { policy: { mode: "yolo" } });
  const report = await b.process([call("edit", "x", "c1")], { signal: AbortSignal.abort() });
  assert.deepEqual(outcomes(report), ["cancelled cancelled"]);
  assert.deepEqual(b.log(), ["response c1", "messageAdded c1"]);
  assert.deepEqual(b.world.lines, []);
});

test("every event carries its call, its agent and what its row says", async (t) => {
  const b = await bench(t, { person: scriptedApprover({ edit: "approve" }) });
  await b.process([call("edit", "x", "c1")], { agentName: "explorer" });
  const [asked, started, response, added] = b.events;
  const [approval] = await b.stored("approval.opened");
  assert.deepEqual(asked, {
    type: "confirmation",
    callId: "c1",
    agentName: "explorer",
    approvalId: approval?.body.approval,
    revision: 1,
    tool: "edit",
    details: approval?.body.details,
  });
  assert.deepEqual(started, { type: "toolCall", callId: "c1", agentName: "explorer", tool: "edit", input: { text: "x" } });
  assert.ok(response?.type === "response" && response.tool === "edit" && response.outcome === "succeeded" && response.outcomeType === null);
  assert.deepEqual(added, {
    type: "messageAdded",
    callId: "c1",
    agentName: "explorer",
    sessionId: b.session.id,
    content: "wrote x",
    isError: false,
  });
});

test("the approval is durable before the confirmation event", async (t) => {
  let openAtTelling: Promise<readonly unknown[]> | undefined;
  const b = await bench(t, { person: scriptedApprover({ edit: "reject" }) });
  await b.dispatcher.process({ calls: [call("edit", "x")], tools: b.registry, signal: new AbortController().signal }, (event) => {
    if (event.type === "confirmation") openAtTelling = b.ledger.pending("approvals", { prefix: event.approvalId, limit: 1 });
  });
  assert.equal((await openAtTelling)?.length, 1);
});

test("the unknown tool's response names no tool", async (t) => {
  const b = await bench(t);
  await b.process([call("nope", "x")]);
  const response = b.events.find((event) => event.type === "response");
  assert.ok(response?.type === "response" && response.tool === undefined && response.result.error?.type === "tool_not_registered");
});

for (const [what, thrown] of [
  ["an error", new Error("observer")],
  ["what cannot be printed", Object.create(null)],
] as const)
  test(`an observer that throws ${what} changes nothing and is warned about once`, async (t) => {
    const b = await bench(t, { policy: { mode: "yolo" } });
    const seen: string[] = [];
    const observer = ({ type }: DispatchEvent): void => {
      seen.push(type);
      throw thrown;
    };
    const { signal } = new AbortController();
    const report = await b.dispatcher.process({ calls: [call("edit", "x"), call("read", "y")], tools: b.registry, signal }, observer);
    assert.deepEqual(outcomes(report), ["succeeded", "succeeded"]);
    assert.deepEqual(seen.filter((type) => type === "messageAdded").length, 2);
    assert.equal(b.warnings.length, 1);
  });

test("an observer that throws at an update does not throw into the body", async (t) => {
  const b = await bench(t, { tools: [streaming] });
  const observer = (): void => {
    throw new Error("observer");
  };
  const { signal } = new AbortController();
  const report = await b.dispatcher.process({ calls: [call("stream", "x")], tools: b.registry, signal }, observer);
  assert.equal(textOf(report.results[0]), "whole");
});

test("an empty batch has no events, no results and no record", async (t) => {
  const b = await bench(t);
  const before = await b.ledger.head();
  assert.deepEqual(await b.process([]), { stopRun: false, stopMessage: "", results: [] });
  assert.deepEqual(b.events, []);
  assert.equal(await b.ledger.head(), before);
});

test("the second batch of a session waits for the first", async (t) => {
  const b = await bench(t, { policy: { mode: "yolo" } });
  const first = b.process([call("slow_edit", "one", "c1")]);
  const second = b.process([call("edit", "two", "c2")]);
  await b.gates.reached("one");
  await rest();
  assert.deepEqual(b.world.lines, []);
  b.gates.open("one");
  await first;
  await second;
  assert.deepEqual(b.log(), ["toolCall c1", "response c1", "messageAdded c1", "toolCall c2", "response c2", "messageAdded c2"]);
});

test("a second batch aborted while it waits is cancelled at once and never starts", async (t) => {
  const b = await bench(t, { policy: { mode: "yolo" } });
  const controller = new AbortController();
  const first = b.process([call("slow_edit", "one", "c1")]);
  const second = b.process([call("edit", "two", "c2"), call("read", "three", "c3")], { signal: controller.signal });
  await b.gates.reached("one");
  controller.abort();
  assert.deepEqual(outcomes(await second), ["cancelled cancelled", "cancelled cancelled"]);
  b.gates.open("one");
  assert.deepEqual(outcomes(await first), ["succeeded"]);
  assert.deepEqual(b.world.lines, []);
});

test("a batch that was aborted before it came is cancelled, also behind another", async (t) => {
  const b = await bench(t, { policy: { mode: "yolo" } });
  const first = b.process([call("slow_edit", "one")]);
  const second = b.process([call("edit", "two")], { signal: AbortSignal.abort() });
  assert.deepEqual(outcomes(await second), ["cancelled cancelled"]);
  b.gates.open("one");
  await first;
  assert.deepEqual(b.world.lines, []);
});

test("three batches run in the order they came", async (t) => {
  const b = await bench(t, { policy: { mode: "yolo" } });
  await Promise.all([b.process([call("edit", "a")]), b.process([call("edit", "b")]), b.process([call("edit", "c")])]);
  assert.deepEqual(b.world.lines, ["a", "b", "c"]);
});

const hostile: readonly (readonly [name: string, options: (t: TestContext) => BenchOptions])[] = [
  ["a policy source that throws", () => ({ deps: { policy: { current: throwing, subscribe: () => () => undefined } } })],
  ["a policy of nonsense", () => ({ deps: { policy: { current: () => ({}) as never, subscribe: () => () => undefined } } })],
  ["an approver whose availability throws", () => ({ deps: { approver: { available: throwing, ask: throwing } } })],
  ["rules whose offer throws", () => ({ deps: { rules: { offer: throwing, parse: throwing } } })],
  ["a decision observer that throws", () => ({ deps: { decided: throwing } })],
  ["a hooks port that throws at everything", () => ({ deps: { hooks: { consult: throwing, tell: throwing } } })],
  ["a handler table of nonsense", () => ({ deps: { handlers: null as never } })],
];

function throwing(): never {
  throw new Error("boom");
}

for (const [name, options] of hostile) {
  test(`process never rejects: ${name}`, async (t) => {
    const b = await bench(t, options(t));
    const running = b.process([call("edit", "x", "c1"), call("nope", "y", "c2")]);
    await rest();
    b.dispatcher.cancel("c1");
    const { results } = await running;
    assert.equal(results.length, 2);
    assert.deepEqual(b.world.lines, []);
  });
}

const strangeCalls: readonly (readonly [name: string, proposed: unknown])[] = [
  ["a name that is not a string", { id: "c1", name: 42, arguments: "{}" }],
  ["no name at all", { id: "c1", arguments: "{}" }],
  ["a name whose text throws", { id: "c1", name: { toString: throwing }, arguments: "{}" }],
  ["an id that is not a string", { id: 7, name: "read", arguments: '{"text":"x"}' }],
  [
    "arguments with a getter that throws",
    { id: "c1", name: "read", arguments: Object.defineProperty({}, "text", { get: throwing, enumerable: true }) },
  ],
  ["arguments that hold themselves", { id: "c1", name: "read", arguments: cyclic() }],
  ["null in place of a call", null],
];

function cyclic(): unknown {
  const value: Record<string, unknown> = {};
  value["self"] = value;
  return value;
}

for (const [name, proposed] of strangeCalls) {
  test(`process never rejects: ${name} harms no sibling`, async (t) => {
    const b = await bench(t, { policy: { mode: "yolo" } });
    const { results } = await b.process([proposed as ProposedCall, call("edit", "sibling", "c2")]);
    assert.equal(results.length, 2);
    assert.equal(results[1]?.outcome, "succeeded");
    assert.deepEqual(b.world.lines, ["sibling"]);
  });
}

test("cancel returns false for an unknown id and for an ended call, even while its batch runs", async (t) => {
  const b = await bench(t, { policy: { mode: "yolo" } });
  assert.equal(b.dispatcher.cancel("nope"), false);
  const running = b.process([call("read", "x", "c1"), call("slow_edit", "one", "c2")]);
  await b.gates.reached("one");
  assert.equal(b.dispatcher.cancel("c1"), false);
  b.gates.open("one");
  assert.deepEqual(outcomes(await running), ["succeeded", "succeeded"]);
  assert.equal(b.dispatcher.cancel("c2"), false);
});

test("a recorded request of another process cancels a running call, a waiting call, or all calls; the model learns who asked", async (t) => {
  const rows: readonly (readonly [EventBodies["cancel.requested"]["target"], readonly string[]])[] = [
    [{ call: "c1" }, ["cancelled cancelled", "succeeded"]],
    [{ call: "c2" }, ["succeeded", "cancelled cancelled"]],
    [{ call: "unknown" }, ["succeeded", "succeeded"]],
    [{ task: "c1" }, ["succeeded", "succeeded"]],
    [null, ["cancelled cancelled", "cancelled cancelled"]],
  ];
  for (const [target, ends] of rows) {
    const b = await bench(t, { policy: { mode: "yolo" } });
    const running = b.process([call("slow_edit", "one", "c1"), call("slow_edit", "two", "c2")]);
    await b.gates.reached("one");
    const request = { session: b.session.id, target, reason: "late", by: TESTER };
    await b.session.ledger.answer([b.session.draft("cancel.requested", request)]);
    await rest();
    b.gates.open("one");
    b.gates.open("two");
    const report = await running;
    assert.deepEqual(outcomes(report), ends, JSON.stringify(target));
    for (const result of report.results)
      if (result.outcome === "cancelled") assert.match(contentText(result.result.content), /: Tester cancelled it \(late\)\./);
  }
});

test("pending: lists what waits for a person here, and nothing that was answered", async (t) => {
  const b = await bench(t);
  const running = b.process([call("edit", "x", "c1"), call("edit", "y", "c2")]);
  await until(() => b.dispatcher.pending().length === 2);
  const [first, second] = b.dispatcher.pending();
  assert.deepEqual([first?.callId, second?.callId], ["c1", "c2"]);
  await b.dispatcher.answer({ approval: first!.id, outcome: "reject", by: { kind: "person", user: "u", name: "U", door: "test", pid: 1 } });
  await until(() => b.dispatcher.pending().length === 1);
  b.dispatcher.cancel("c2");
  assert.deepEqual(outcomes(await running), ["rejected rejected_by_user", "cancelled cancelled"]);
  assert.deepEqual(b.dispatcher.pending(), []);
});

test("nothing is left behind by a batch: no timer, no subscription, nothing pending", async (t) => {
  let following = 0;
  const b = await bench(t, {
    deps: { approvalTimeoutMs: 60_000, timeoutMs: 60_000, onAsk: "park" },
    person: scriptedApprover({ edit: "approve", slow_edit: "reject", flaky: "leave" }),
    tools: [textTool("flaky", "edit")],
    wrap: (ledger) => ({
      ...ledger,
      subscribe: (...args) => {
        following += 1;
        const { close } = ledger.subscribe(...args);
        return {
          close: () => {
            following -= 1;
            close();
          },
        };
      },
    }),
  });
  const left = (): readonly number[] => [b.clock.pending(), b.policy.subscribers(), b.dispatcher.pending().length, following];
  await b.process([call("edit", "x"), call("slow_edit", "y"), call("read", "z"), call("flaky", "w")]);
  assert.deepEqual(left(), [0, 0, 0, 0]);
  await b.resume();
  assert.deepEqual(left(), [0, 0, 0, 0]);
  assert.equal(b.dispatcher.failure(), undefined);
});

test("one signal for many batches is listened to once, another in its place, and none after the session closed", async (t) => {
  const b = await bench(t);
  const [one, other] = [new AbortController().signal, new AbortController().signal];
  const listening = (): readonly number[] => [one, other].map((signal) => getEventListeners(signal, "abort").length);
  for (const text of ["x", "y", "z"]) await b.process([call("read", text)], { signal: one });
  assert.deepEqual(listening(), [1, 0]);
  await b.process([call("read", "w")], { signal: other });
  assert.deepEqual(listening(), [0, 1]);
  await b.session.close("done", 0);
  assert.deepEqual(listening(), [0, 0]);
});

test("a result carries the body's own content, display and details to report, response and record alike", async (t) => {
  const rich = textTool("rich", "read", {
    run: () => ({ content: "for the model", display: "for people", details: { n: 1 }, modelOverride: "m2" }),
  });
  const b = await bench(t, { tools: [rich] });
  const { result } = only(await b.process([call("rich", "x")]));
  assert.deepEqual(result, { content: "for the model", display: "for people", details: { n: 1 }, modelOverride: "m2" });
  const [ended] = await b.stored("call.ended");
  assert.deepEqual(
    [ended?.body.content, ended?.body.display, ended?.body.details, ended?.body.modelOverride],
    ["for the model", "for people", { n: 1 }, "m2"],
  );
});

test("an observer that mutates its events changes nothing", async (t) => {
  const b = await bench(t, { policy: { mode: "yolo" } });
  const { signal } = new AbortController();
  const report = await b.dispatcher.process({ calls: [call("edit", "x", "c1")], tools: b.registry, signal }, (event) => {
    if (event.type === "response") (event.result as { content: string }).content = "tampered";
    if (event.type === "toolCall") (event.input as { text: string }).text = "tampered";
  });
  assert.equal(textOf(report.results[0]), "wrote x");
  assert.deepEqual(b.world.lines, ["x"]);
});

test("an allowed call that nothing comes between is judged once", async (t) => {
  const b = await bench(t, { policy: { mode: "yolo" } });
  await b.process([call("edit", "x", "c1"), call("read", "y", "c2")]);
  assert.equal((await b.stored("call.judged", "c1")).length, 1);
});

test("a batch that is cancelled while it waits does not let the one behind it start early", async (t) => {
  const b = await bench(t, { policy: { mode: "yolo" } });
  const controller = new AbortController();
  const first = b.process([call("slow_edit", "one", "c1")]);
  const second = b.process([call("edit", "two", "c2")], { signal: controller.signal });
  const third = b.process([call("edit", "three", "c3")]);
  await b.gates.reached("one");
  controller.abort();
  await second;
  await rest();
  assert.deepEqual(b.world.lines, []);
  b.gates.open("one");
  await Promise.all([first, third]);
  assert.deepEqual(b.world.lines, ["three"]);
});
