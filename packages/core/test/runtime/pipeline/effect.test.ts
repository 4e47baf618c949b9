import assert from "node:assert/strict";
import { test } from "node:test";
import type { Invocation, RequestFacts, RunContext, RuntimeHandler, Tool } from "@assent/core";
import { bench, call, only, outcomes, rest, textOf, textTool, until } from "../harness.ts";

const yolo = { policy: { mode: "yolo" } } as const;
const never = (): Promise<string> => new Promise(() => undefined);

test("a cancelled body that stops in time ends cancelled, and what it returns is dropped", async (t) => {
  for (const settle of ["result", "error"] as const) {
    const b = await bench(t, yolo);
    const running = b.process([call("slow_edit", "one", "c1")]);
    await b.gates.reached("one");
    assert.equal(b.dispatcher.cancel("c1"), true);
    if (settle === "result") b.gates.open("one", "finished after all");
    else b.gates.fail("one", new Error("aborted"));
    const { outcome, type, result } = only(await running);
    assert.deepEqual([outcome, type], ["cancelled", "cancelled"]);
    assert.equal(result.content, "The tool call was cancelled by the user while it was running. It may have had effects.");
    assert.equal(b.clock.pending(), 0, "no timer is left");
  }
});

test("a cancelled body that ignores its signal is abandoned after 5 s, and its late result is dropped and noted", async (t) => {
  const b = await bench(t, yolo);
  const running = b.process([call("slow_edit", "one", "c1"), call("edit", "x", "c2")]);
  await b.gates.reached("one");
  b.dispatcher.cancel("c1");
  await b.clock.advance(4_999);
  assert.deepEqual(b.log(), ["toolCall c1"]);
  await b.clock.advance(1);
  assert.deepEqual(outcomes(await running), ["cancelled cancelled", "succeeded"]);
  const warned = b.warnings.length;
  b.gates.open("one", "late");
  await rest();
  assert.equal((await b.stored("call.ended", "c1")).length, 1);
  assert.equal(b.warnings.length, warned + 1, "the late result is noted");
});

test("a cancelled body that rejects after it was abandoned ends nothing else", async (t) => {
  const b = await bench(t, yolo);
  const running = b.process([call("slow_edit", "one", "c1")]);
  await b.gates.reached("one");
  b.dispatcher.cancel("c1");
  await b.clock.advance(5_000);
  await running;
  b.gates.fail("one", new Error("late failure"));
  await rest();
  assert.deepEqual(outcomes(await b.process([call("edit", "x")])), ["succeeded"]);
});

test("cancelling twice is cancelling once", async (t) => {
  const b = await bench(t, yolo);
  const running = b.process([call("slow_edit", "one", "c1")]);
  await b.gates.reached("one");
  b.dispatcher.cancel("c1");
  await b.clock.advance(4_000);
  b.dispatcher.cancel("c1");
  await b.clock.advance(1_000);
  assert.deepEqual(outcomes(await running), ["cancelled cancelled"]);
});

const limited = textTool("limited", "edit", { timeoutMs: 1_000, run: never });

test("a timeout counts from the start of the body, and a body that ignores it is abandoned 5 s later", async (t) => {
  const b = await bench(t, { ...yolo, tools: [limited] });
  const running = b.process([call("slow_edit", "first", "c1"), call("limited", "x", "c2")]);
  await b.gates.reached("first");
  await b.clock.advance(10_000);
  b.gates.open("first");
  await until(() => b.log().includes("toolCall c2"));
  await b.clock.advance(5_999);
  assert.equal(b.log().includes("response c2"), false);
  await b.clock.advance(1);
  const report = await running;
  assert.deepEqual(outcomes(report), ["succeeded", "timed_out execution_timeout"]);
  assert.equal(textOf(report.results[1]), "Error: Tool 'limited' did not finish within 1 s and was stopped. It may have had effects.");
});

test("a body that is timed out sees the reason on its signal; a result in the grace time is dropped", async (t) => {
  const b = await bench(t, { ...yolo, deps: { timeoutMs: 2_000 } });
  const running = b.process([call("slow_edit", "one", "c1")]);
  await b.gates.reached("one");
  await b.clock.advance(2_000);
  const { signal } = b.gates.contexts.get("one")!;
  assert.deepEqual([signal.aborted, signal.reason.name], [true, "TimeoutError"]);
  b.gates.open("one", "too late");
  assert.deepEqual(outcomes(await running), ["timed_out execution_timeout"]);
});

test("a tool's own timeout is preferred to the runtime's, and a body in time has no timer left", async (t) => {
  const b = await bench(t, { ...yolo, tools: [limited], deps: { timeoutMs: 60_000 } });
  await b.process([call("edit", "x")]);
  assert.equal(b.clock.pending(), 0);
  const running = b.process([call("limited", "x", "c1")]);
  await until(() => b.log().includes("toolCall c1"));
  await b.clock.advance(6_000);
  assert.deepEqual(outcomes(await running), ["timed_out execution_timeout"]);
});

const firsts: readonly (readonly [first: "cancel" | "timeout", outcome: string])[] = [
  ["cancel", "cancelled cancelled"],
  ["timeout", "timed_out execution_timeout"],
];
for (const [first, outcome] of firsts) {
  test(`of a cancel and a timeout the first names the outcome: ${first}`, async (t) => {
    const b = await bench(t, { ...yolo, tools: [limited] });
    const controller = new AbortController();
    const running = b.process([call("limited", "x", "c1")], { signal: controller.signal });
    await until(() => b.log().includes("toolCall c1"));
    if (first === "cancel") controller.abort();
    await b.clock.advance(1_000);
    if (first === "timeout") controller.abort();
    await b.clock.advance(6_000);
    assert.deepEqual(outcomes(await running), [outcome]);
  });
}

type Faulty = readonly [name: string, run: () => unknown, outcome: string, content: RegExp];

const faulty: readonly Faulty[] = [
  [
    "throws",
    () => {
      throw new Error("broken");
    },
    "failed execution_failed",
    /^Error: Tool call execution failed\. Reason: broken$/,
  ],
  ["rejects", () => Promise.reject(new Error("broken")), "failed execution_failed", /Reason: broken$/],
  [
    "throws a text",
    () => {
      throw "words";
    },
    "failed execution_failed",
    /Reason: words$/,
  ],
  [
    "throws undefined",
    () => {
      throw undefined;
    },
    "failed execution_failed",
    /Reason: /,
  ],
  [
    "throws what cannot be printed",
    () => {
      throw {
        toString() {
          throw new Error("no");
        },
      };
    },
    "failed execution_failed",
    /Reason: unknown error$/,
  ],
  [
    "returns nothing",
    () => undefined,
    "failed invalid_tool_result",
    /^.*Tool 'faulty' ran, but its result could not be kept: it returned nothing\.$/,
  ],
  ["returns a function", () => () => 7, "failed invalid_tool_result", /ran, but its result could not be kept: it is a function/],
  ["returns a number", () => 7, "succeeded", /^7$/],
  [
    "fails with a code of the system",
    () => {
      throw Object.assign(new Error("gone"), { code: "ENOENT" });
    },
    "failed file_not_found",
    /Reason: gone$/,
  ],
  ["returns an error of its own", () => ({ content: "no luck", error: { message: "m", type: "x_mine" } }), "failed x_mine", /^no luck$/],
  [
    "returns an error of an unknown type",
    () => ({ content: "", error: { message: "m", type: "made_up" } }),
    "failed unknown",
    /^Error: m$/,
  ],
];
for (const [name, run, outcome, content] of faulty) {
  test(`isolation: a body that ${name} affects only its own call`, async (t) => {
    const tool = textTool("faulty", "edit", { run: run as () => string });
    const b = await bench(t, { ...yolo, tools: [tool] });
    const report = await b.process([call("faulty", "x"), call("edit", "y")]);
    assert.deepEqual(outcomes(report), [outcome, "succeeded"]);
    assert.match(textOf(report.results[0]), content);
    assert.deepEqual(b.world.lines, ["y"]);
  });
}

test("isolation: a body that tampers with its input throws, and the record keeps what was judged", async (t) => {
  const tampering = textTool("tamper", "edit", {
    run: (input) => {
      (input as { text: string }).text = "changed";
      return "done";
    },
  });
  const b = await bench(t, { ...yolo, tools: [tampering] });
  assert.deepEqual(outcomes(await b.process([call("tamper", "x")])), ["failed execution_failed"]);
  assert.deepEqual((await b.stored("call.judged"))[0]?.body.input, { text: "x" });
});

test("a body is given its call, session, cwd, agent, signal and attempt", async (t) => {
  let seen: RunContext | undefined;
  const looking = textTool("look", "read", {
    run: (_input, ctx) => {
      seen = ctx;
      return "seen";
    },
  });
  const b = await bench(t, { tools: [looking] });
  await b.process([call("look", "x", "c1")], { agentName: "explorer" });
  assert.deepEqual(
    [seen?.callId, seen?.sessionId, seen?.cwd, seen?.agentName, seen?.attempt, seen?.idempotencyKey],
    ["c1", b.session.id, "/workspace", "explorer", 1, null],
  );
  assert.equal(seen?.signal.aborted, false);
});

test("a body that tells its process has it recorded before it goes on", async (t) => {
  const spawning = textTool("spawn", "execute", {
    run: async (_input, { started }) => {
      await started({ pid: 7, pgid: 7, processStart: "then" });
      return "ran";
    },
  });
  const b = await bench(t, { ...yolo, tools: [spawning] });
  await b.process([call("spawn", "x", "c1")]);
  assert.deepEqual((await b.stored("call.started"))[0]?.body, { call: "c1", pid: 7, pgid: 7, processStart: "then" });
});

const handler: RuntimeHandler = async (session, { callId, tool }, { invocation }) =>
  `${session.id} ${callId} ${tool.name} ${invocation.input["text"]}`;

test("a runtime handler is chosen by its id, judged, recorded and emitted like any body", async (t) => {
  const b = await bench(t, {
    ...yolo,
    tools: [textTool("start_task", "other", { runtimeHandler: "task" })],
    deps: { handlers: { task: handler } },
  });
  const report = await b.process([call("start_task", "x", "c1")]);
  assert.equal(textOf(report.results[0]), `${b.session.id} c1 start_task x`);
  assert.deepEqual(b.log(), ["toolCall c1", "response c1", "messageAdded c1"]);
  assert.equal((await b.stored("call.claimed")).length, 1);
  assert.deepEqual(
    b.notices.map(({ source }) => source),
    ["yolo"],
  );
});

test("a handler's tool is denied, asked about and validated like all others", async (t) => {
  let ran = 0;
  const handlers = {
    task: async () => {
      ran += 1;
      return "ran";
    },
  };
  const b = await bench(t, { person: "nobody", tools: [textTool("start_task", "other", { runtimeHandler: "task" })], deps: { handlers } });
  const report = await b.process([call("start_task", "x"), { id: "bad", name: "start_task", arguments: {} }]);
  assert.deepEqual(outcomes(report), ["denied denied_unattended", "invalid invalid_tool_params"]);
  assert.equal(ran, 0);
});

const missing: readonly (readonly [name: string, id: string, handlers: Record<string, RuntimeHandler> | undefined])[] = [
  ["no handlers at all", "task", undefined],
  ["another id", "task", { tasks: handler }],
  ["an id that every object inherits", "toString", { task: handler }],
  ["the id constructor", "constructor", {}],
];
for (const [name, id, handlers] of missing) {
  test(`a tool whose handler is missing ends handler_missing: ${name}`, async (t) => {
    const b = await bench(t, {
      ...yolo,
      tools: [textTool("start_task", "other", { runtimeHandler: id })],
      deps: handlers ? { handlers } : {},
    });
    const report = await b.process([call("start_task", "x")]);
    assert.deepEqual(outcomes(report), ["invalid handler_missing"]);
    assert.equal(textOf(report.results[0]), "Tool 'start_task' has no handler in this runtime.");
    assert.deepEqual(b.notices, []);
  });
}

test("a tool named like a handler gets its own body", async (t) => {
  const b = await bench(t, {
    ...yolo,
    tools: [textTool("task", "other", { run: () => "my own body" })],
    deps: { handlers: { task: handler } },
  });
  assert.equal(textOf(only(await b.process([call("task", "x")]))), "my own body");
});

test("a tool that is not in the batch's tools is unreachable, handler or not", async (t) => {
  const b = await bench(t, { ...yolo, deps: { handlers: { task: handler } } });
  assert.deepEqual(outcomes(await b.process([call("task", "x")])), ["invalid tool_not_registered"]);
});

const badHandlers: readonly (readonly [name: string, handler: RuntimeHandler, outcome: string])[] = [
  [
    "throws",
    async () => {
      throw new Error("broken");
    },
    "failed execution_failed",
  ],
  [
    "throws at once",
    () => {
      throw new Error("broken");
    },
    "failed execution_failed",
  ],
  ["returns nothing", (async () => undefined) as never, "failed invalid_tool_result"],
];
for (const [name, task, outcome] of badHandlers) {
  test(`a handler that ${name} ends ${outcome}`, async (t) => {
    const b = await bench(t, {
      ...yolo,
      tools: [textTool("start_task", "other", { runtimeHandler: "task" })],
      deps: { handlers: { task } },
    });
    assert.deepEqual(outcomes(await b.process([call("start_task", "x")])), [outcome]);
  });
}

test("isolation: a body that tells of a process after its call has ended gets an error, and harms no other call", async (t) => {
  let started: RunContext["started"] | undefined;
  const keeping = textTool("keeping", "edit", {
    run: (_input, ctx) => {
      started = ctx.started;
      return "kept";
    },
  });
  const b = await bench(t, { ...yolo, tools: [keeping] });
  await b.process([call("keeping", "x", "c1")]);
  const late = assert.rejects(started!({ pid: 7, pgid: 7, processStart: "then" }));
  assert.deepEqual(outcomes(await b.process([call("edit", "y", "c2")])), ["succeeded"]);
  await late;
});

test("isolation: what a body does to its result after it returned changes neither record nor report", async (t) => {
  const parts = [{ type: "text" as const, text: "as returned" }];
  const details = { n: 1 };
  const sharing = textTool("sharing", "read", { run: () => ({ content: parts, details }) });
  const b = await bench(t, { tools: [sharing] });
  const { result } = only(await b.process([call("sharing", "x")]));
  parts[0]!.text = "tampered";
  details.n = 2;
  assert.deepEqual([textOf({ callId: "", outcome: "succeeded", type: null, result }), result.details], ["as returned", { n: 1 }]);
  assert.doesNotMatch(JSON.stringify(await b.stored("call.ended")), /tampered/);
});

for (const [name, execute, outcome, text] of [
  ["throws before it gives a promise", (): never => thrown("at once"), "failed execution_failed", /at once/],
  ["gives its result without a promise", () => ({ content: "at once" }) as never, "succeeded", /^at once$/],
] as const) {
  test(`isolation: a tool made by hand whose body ${name} affects only its own call`, async (t) => {
    const whole = textTool("by_hand", "read");
    const build: Tool["build"] = async (input, ctx) => ({ ...(await whole.build(input, ctx)), execute });
    const b = await bench(t, { tools: [{ ...whole, build }] });
    const report = await b.process([call("by_hand", "x"), call("read", "y")]);
    assert.deepEqual(outcomes(report), [outcome, "succeeded"]);
    assert.match(textOf(report.results[0]), text);
  });
}

function thrown(message: string): never {
  throw new Error(message);
}

const taking: readonly (readonly [sentence: string, take: (invocation: Invocation) => unknown])[] = [
  ["each function of an invocation can be taken by itself", ({ describe }) => describe()],
  ["a copy of an invocation has its functions", (invocation) => ({ ...invocation }).describe()],
  [
    "nothing of an invocation can be changed",
    (invocation) => `start_task {"text":"x"}${Object.isFrozen(invocation) ? "" : " (not frozen)"}`,
  ],
];

for (const [sentence, take] of taking) {
  test(`what a handler is given: ${sentence}`, async (t) => {
    const handler: RuntimeHandler = async (_session, _call, { invocation }) => String(take(invocation));
    const tools = [textTool("start_task", "other", { runtimeHandler: "task" })];
    const b = await bench(t, { ...yolo, tools, deps: { handlers: { task: handler } } });
    assert.equal(textOf(only(await b.process([call("start_task", "x")]))), 'start_task {"text":"x"}');
  });
}

test("a call whose claim was lost and that was judged again began when it was claimed at last", async (t) => {
  const { promise: judged, resolve: judgeOn } = Promise.withResolvers<void>();
  let asked = 0;
  const facts = async ({ tool }: { readonly tool: string }): Promise<RequestFacts> => {
    asked += tool === "keyed" ? 1 : 0;
    if (tool === "keyed" && asked > 1) await judged;
    return { units: [{ subject: tool }], binds: {} };
  };
  let changed = false;
  const keyed = textTool("keyed", "read", {
    idempotencyKey: async () => {
      if (changed) return "key";
      changed = true; // between the judgement and the claim
      await b.session.record([b.session.draft("policy.changed", { revision: b.policy.current().revision, digest: "x" })], "normal");
      return "key";
    },
  });
  const b = await bench(t, { tools: [keyed], deps: { facts } });
  const aborting = new AbortController();
  const running = b.process([call("keyed", "one", "c1"), call("edit", "two", "c2")], { signal: aborting.signal });
  await until(() => asked > 1);
  await b.clock.advance(5_000);
  judgeOn();
  await until(() => b.events.some(({ type, callId }) => type === "response" && callId === "c1"));
  const [ended] = await b.stored("call.ended", "c1");
  assert.deepEqual([ended?.body.outcome, ended?.body.durationMs], ["succeeded", 0]);
  aborting.abort();
  await running;
});
