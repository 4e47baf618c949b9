import assert from "node:assert/strict";
import { test } from "node:test";
import { type Content, type Files, LedgerError, resultValue, type SpilledOutput } from "@assent/core";
import { scriptedApprover } from "@assent/core/testing";
import { type BenchOptions, bench, call, only, outcomes, rest, scriptedHooks, textOf, textTool, until } from "../harness.ts";

const yolo = { policy: { mode: "yolo" } } as const;
const WITHHELD = "Tool output withheld: a tool_response_transform hook failed.";

test("a transform replaces the text for everyone, before it is recorded and emitted", async (t) => {
  const hooks = scriptedHooks({ tool_response_transform: () => ({ updatedOutput: "clean" }), post_tool_use: () => undefined });
  const b = await bench(t, { ...yolo, deps: { hooks } });
  const { result } = only(await b.process([call("edit", "x")]));
  assert.equal(result.content, "clean");
  assert.equal((await b.stored("call.ended"))[0]?.body.content, "clean");
  for (const event of b.events) {
    if (event.type === "response") assert.equal(event.result.content, "clean");
    if (event.type === "messageAdded") assert.equal(event.content, "clean");
  }
  assert.equal(hooks.consulted.at(-1)?.input["tool_response"], "clean");
});

const transforms: readonly (readonly [
  name: string,
  said: { readonly updatedOutput?: Content; readonly verdict?: "deny" } | undefined | "throw",
  content: string,
])[] = [
  ["nothing to say leaves it unchanged", undefined, "wrote x"],
  ["no output leaves it unchanged", {}, "wrote x"],
  ["a blank output reads (no output)", { updatedOutput: "" }, "(no output)"],
  ["a failing hook withholds it", { verdict: "deny" }, WITHHELD],
  ["a port that throws withholds it", "throw", WITHHELD],
];
for (const [name, said, content] of transforms) {
  test(`a transform: ${name}; success stays success`, async (t) => {
    const hooks = scriptedHooks({ tool_response_transform: () => (said === "throw" ? Promise.reject(new Error("port")) : said) });
    const b = await bench(t, { ...yolo, deps: { hooks } });
    const report = only(await b.process([call("edit", "x")]));
    assert.deepEqual([report.outcome, report.result.content], ["succeeded", content]);
    assert.doesNotMatch(
      JSON.stringify(report.result),
      said === undefined || Object.keys(said).length === 0 ? /withheld/ : /wrote x/,
      "the display is the transformed text too",
    );
  });
}

test("a failed result stays failed when its text is withheld, and the error does not leak what was withheld", async (t) => {
  const leaking = textTool("leak", "edit", {
    run: () => ({ content: "secret", display: "secret", error: { message: "secret", type: "x_mine" } }),
  });
  const hooks = scriptedHooks({ tool_response_transform: () => ({ verdict: "deny" }) });
  const b = await bench(t, { ...yolo, tools: [leaking], deps: { hooks } });
  const report = only(await b.process([call("leak", "x")]));
  assert.deepEqual([report.outcome, report.type, report.result.content], ["failed", "x_mine", WITHHELD]);
  assert.doesNotMatch(JSON.stringify([report, b.events, await b.stored("call.ended")]), /secret/);
});

test("a transform also sees errors that the runtime makes", async (t) => {
  const hooks = scriptedHooks({ tool_response_transform: ({ tool_response: text }) => ({ updatedOutput: `seen: ${text}` }) });
  const b = await bench(t, { person: "nobody", deps: { hooks } });
  const report = await b.process([call("edit", "x"), call("nope", "y"), { id: "c3", name: "read", arguments: "{" }]);
  assert.deepEqual(outcomes(report), ["denied denied_unattended", "invalid tool_not_registered", "invalid invalid_json"]);
  for (const result of report.results) assert.match(textOf(result), /^seen: /);
});

test("a transform of a cancelled call is not itself cancelled by that call's signal", async (t) => {
  const hooks = scriptedHooks({ tool_response_transform: (_input, signal) => (signal.aborted ? { verdict: "deny" } : undefined) });
  const b = await bench(t, { ...yolo, deps: { hooks } });
  const report = await b.process([call("edit", "x")], { signal: AbortSignal.abort() });
  assert.equal(textOf(only(report)), "The tool call was cancelled by the user before it ran.");
});

test("live updates of a tool whose output is transformed never show what the transform removes", async (t) => {
  const live = textTool("live", "read", {
    canUpdateOutput: true,
    run: (_input, { update }) => {
      update("secret so far");
      return "secret";
    },
  });
  const hooks = scriptedHooks({ tool_response_transform: () => ({ updatedOutput: "clean" }) });
  const b = await bench(t, { tools: [live], deps: { hooks } });
  await b.process([call("live", "x")]);
  assert.doesNotMatch(JSON.stringify(b.events), /secret/);
});

test("post_tool_use after a success, post_tool_use_failure after an error of a body that ran, neither for a call that did not", async (t) => {
  const hooks = scriptedHooks({ post_tool_use: () => undefined, post_tool_use_failure: () => undefined });
  const failing = textTool("failing", "edit", { run: () => Promise.reject(new Error("broken")) });
  const b = await bench(t, { policy: { mode: "yolo", rules: { team: { deny: ["edit:text=no"] } } }, tools: [failing], deps: { hooks } });
  await b.process([call("edit", "x", "c1"), call("failing", "y", "c2"), call("edit", "no", "c3"), call("nope", "z", "c4")]);
  assert.deepEqual(
    hooks.consulted.map(({ event, input }) => `${event} ${input["tool_use_id"]}`),
    ["post_tool_use c1", "post_tool_use_failure c2"],
  );
  const failed = hooks.consulted[1]?.input;
  assert.deepEqual([failed?.["error"], failed?.["error_type"], failed?.["is_interrupt"]], ["broken", "execution_failed", false]);
});

test("post_tool_use is consulted after the result is recorded and emitted", async (t) => {
  let endedThen = -1;
  const hooks = scriptedHooks({
    post_tool_use: async () => {
      endedThen = (await b.stored("call.ended")).length;
      return undefined;
    },
  });
  const b = await bench(t, { ...yolo, deps: { hooks } });
  await b.process([call("edit", "x")]);
  assert.equal(endedThen, 1);
});

test("a post_tool_use hook that fails is a warning, no stop", async (t) => {
  const hooks = scriptedHooks({ post_tool_use: () => Promise.reject(new Error("hook")) });
  const b = await bench(t, { ...yolo, deps: { hooks } });
  const report = await b.process([call("edit", "x"), call("edit", "y")]);
  assert.deepEqual([outcomes(report), report.stopRun], [["succeeded", "succeeded"], false]);
  assert.equal(b.warnings.length, 2);
});

for (const event of ["post_tool_use", "post_tool_batch"] as const) {
  test(`a deny of a ${event} port stops the run with its reason`, async (t) => {
    const hooks = scriptedHooks({ [event]: () => ({ verdict: "deny", reason: "enough" }) });
    const b = await bench(t, { ...yolo, deps: { hooks } });
    const report = await b.process([call("edit", "x"), call("edit", "y")]);
    assert.deepEqual([report.stopRun, report.stopMessage], [true, "enough"]);
    if (event === "post_tool_use") assert.deepEqual(b.world.lines, ["x"]);
  });
}

test("a port without applies does not silence live output", async (t) => {
  const live = textTool("live", "read", {
    canUpdateOutput: true,
    run: (_input, { update }) => {
      update("so far");
      return "done";
    },
  });
  const { applies: _applies, ...hooks } = scriptedHooks({});
  const b = await bench(t, { tools: [live], deps: { hooks } });
  await b.process([call("live", "x")]);
  assert.ok(b.events.some((event) => event.type === "output" && event.display === "so far"));
});

test("a post_tool_use_failure hook stops the run too", async (t) => {
  const failing = textTool("failing", "edit", { run: () => Promise.reject(new Error("broken")) });
  const hooks = scriptedHooks({ post_tool_use_failure: () => ({ stop: "quota" }) });
  const b = await bench(t, { ...yolo, tools: [failing], deps: { hooks } });
  const report = await b.process([call("failing", "x"), call("edit", "y")]);
  assert.deepEqual(
    [report.stopRun, report.stopMessage, outcomes(report)],
    [true, "quota", ["failed execution_failed", "cancelled skipped"]],
  );
});

test("a post-tool hook's feedback reaches the model with the result, after cutting, and stops nothing", async (t) => {
  const hooks = scriptedHooks({ post_tool_use: () => ({ feedback: "run the <tests>", name: "reviewer" }) });
  const b = await bench(t, { ...yolo, deps: { hooks } });
  const report = await b.process([call("edit", "x")]);
  assert.equal(report.stopRun, false);
  const text = textOf(only(report));
  assert.match(text, /^wrote x/);
  assert.match(text, /reviewer/);
  assert.match(text, /run the &lt;tests&gt;/);
});

test("a hook's context reaches the model with the result", async (t) => {
  const hooks = scriptedHooks({ pre_tool_use: () => ({ context: "branch is frozen", name: "keeper" }) });
  const b = await bench(t, { ...yolo, deps: { hooks } });
  assert.match(textOf(only(await b.process([call("edit", "x")]))), /^wrote x[\s\S]*branch is frozen/);
});

test("post_tool_batch is consulted once, when all calls of the batch have ended", async (t) => {
  const hooks = scriptedHooks({ post_tool_batch: () => undefined });
  const b = await bench(t, { ...yolo, deps: { hooks } });
  await b.process([call("edit", "x", "c1"), call("nope", "y", "c2")]);
  assert.equal(hooks.consulted.length, 1);
  const calls = hooks.consulted[0]?.input["tool_calls"] as { tool_use_id: string; type: string | null }[];
  assert.deepEqual(
    calls.map(({ tool_use_id: id, type }) => [id, type]),
    [
      ["c1", null],
      ["c2", "tool_not_registered"],
    ],
  );
});

/** Files in memory; `refuse` makes them fail at one step. */
function memoryFiles(refuse?: "spill" | "write" | "end"): Files & { readonly written: Map<string, string> } {
  const written = new Map<string, string>();
  const fail = (step: string): void => {
    if (refuse === step) throw new Error("ENOSPC");
  };
  return {
    written,
    spill: async (session, callId) => {
      fail("spill");
      const path = `/output/${session}/${callId}`;
      return {
        path,
        write: async (chunk) => {
          fail("write");
          written.set(path, `${written.get(path) ?? ""}${chunk}`);
        },
        end: async (): Promise<SpilledOutput> => {
          fail("end");
          return { path, bytes: written.get(path)?.length ?? 0, sha256: "" } as unknown as SpilledOutput;
        },
      };
    },
    replace: () => Promise.reject(new Error("not here")),
  };
}

const long = textTool("long", "read", { run: ({ text }) => "x".repeat(Number(text)) });

test("output over the limit is cut around one line that names the file with all of it", async (t) => {
  const files = memoryFiles();
  const b = await bench(t, { tools: [long], deps: { files } });
  const { result } = only(await b.process([call("long", "100000", "c1")]));
  const path = `/output/${b.session.id}/c1`;
  assert.equal(
    result.content,
    `${"x".repeat(5_000)}\n[output truncated: 100000 characters, 1 lines; full output in ${path}]\n${"x".repeat(20_000)}`,
  );
  assert.equal(files.written.get(path), "x".repeat(100_000));
  assert.deepEqual(
    result.spilled?.map((file) => file.path),
    [path],
  );
  const [ended] = await b.stored("call.ended");
  assert.equal(ended?.body.content, result.content, "the record holds the text the model gets");
  assert.deepEqual(
    ended?.body.spilled?.map((file) => file.path),
    [path],
  );
});

const limits: readonly (readonly [name: string, length: number, tail: RegExp])[] = [
  ["at the limit it is whole", 25_000, /^x+$/],
  ["a little over it is cut without a file", 28_000, /\[output truncated: 28000 characters, 1 lines\]/],
  ["more than that over it has a file", 28_001, /; full output in /],
];
for (const [name, length, expected] of limits) {
  test(`${name}`, async (t) => {
    const files = memoryFiles();
    const b = await bench(t, { tools: [long], deps: { files } });
    assert.match(textOf(only(await b.process([call("long", String(length))]))), expected);
    assert.equal(files.written.size, length > 28_000 ? 1 : 0);
  });
}

for (const step of ["spill", "write", "end"] as const) {
  test(`a file that cannot be written (${step}) leaves a success a success, and the line says so`, async (t) => {
    const b = await bench(t, { tools: [long], deps: { files: memoryFiles(step) } });
    const report = only(await b.process([call("long", "100000")]));
    assert.equal(report.outcome, "succeeded");
    assert.match(textOf(report), /\n\[output truncated: 100000 characters, 1 lines; full output could not be saved\]\n/);
    assert.equal(b.warnings.length, 1);
  });
}

test("a file that reached its own limit is not said to hold the full output", async (t) => {
  const whole = memoryFiles();
  const spill: Files["spill"] = async (session, callId) => {
    const file = await whole.spill(session, callId);
    return { path: file.path, write: file.write, end: async () => ({ ...(await file.end()), cut: true }) };
  };
  const b = await bench(t, { tools: [long], deps: { files: { ...whole, spill } } });
  const text = textOf(only(await b.process([call("long", "100000", "c1")])));
  assert.match(text, /; output in \/output\/[^ ]+\/c1, cut there at the file limit\]/);
  assert.doesNotMatch(text, /full output/);
});

test("without files the output is cut and said to be unsaved", async (t) => {
  const b = await bench(t, { tools: [long] });
  assert.match(textOf(only(await b.process([call("long", "100000")]))), /full output could not be saved\]/);
});

test("a tool's own limits win, and Infinity is not cut", async (t) => {
  const tight = textTool("tight", "read", { maxOutputChars: 1_000, keep: "tail", run: () => `${"a".repeat(5_000)}z` });
  const free = textTool("free", "read", { maxOutputChars: Number.POSITIVE_INFINITY, run: () => "y".repeat(150_000) });
  const b = await bench(t, { tools: [tight, free] });
  const { results } = await b.process([call("tight", "x"), call("free", "x")]);
  assert.match(textOf(results[0]), /^\[output truncated: 5001 characters, 1 lines[^\]]*\]\na{999}z$/);
  assert.equal(textOf(results[1]).length, 150_000);
});

test("a failed result is cut like any other", async (t) => {
  const failing = textTool("failing", "read", { run: () => Promise.reject(new Error("e".repeat(100_000))) });
  const b = await bench(t, { tools: [failing] });
  const report = only(await b.process([call("failing", "x")]));
  assert.equal(report.outcome, "failed");
  assert.ok(textOf(report).length < 26_000);
});

test("text parts are cut together and an image stays an image", async (t) => {
  const parts = textTool("parts", "read", {
    run: () => ({
      content: [
        { type: "text", text: "t".repeat(60_000) },
        { type: "image", mediaType: "image/png", data: "AAAA" },
      ],
    }),
  });
  const b = await bench(t, { tools: [parts] });
  const { content } = only(await b.process([call("parts", "x")])).result;
  assert.ok(Array.isArray(content));
  assert.ok(content.some(({ type }) => type === "image"));
  assert.ok(textOf(only(await b.process([call("parts", "x")]))).length < 26_000);
});

/** A ledger whose appends of ends fail as long as `failing` says. */
function failingEnds(state: { failing: LedgerError | undefined }): NonNullable<BenchOptions["wrap"]> {
  return (ledger) => ({
    ...ledger,
    append: (lease, expected, batch) => {
      const fails = state.failing && batch.events.some(({ type }) => type === "call.ended");
      return fails ? Promise.reject(state.failing) : ledger.append(lease, expected, batch);
    },
  });
}

test("store_full: the end of an effect is kept and tried every second until it is recorded; nothing is told before", async (t) => {
  const state = { failing: new LedgerError("store_full", "Disk full") as LedgerError | undefined };
  const b = await bench(t, { ...yolo, wrap: failingEnds(state) });
  const running = b.process([call("edit", "x", "c1")]);
  await until(() => b.world.lines.length === 1);
  for (let second = 0; second < 3; second += 1) await b.clock.advance(1_000);
  assert.deepEqual(b.log(), ["toolCall c1"]);
  assert.match(b.warnings.join("\n"), /Disk full/);
  state.failing = undefined;
  await b.clock.advance(1_000);
  assert.deepEqual(outcomes(await running), ["succeeded"]);
  assert.equal(b.dispatcher.failure(), undefined);
  assert.equal((await b.stored("call.ended")).length, 1);
});

test("store_full: it is said once, and a cancelled batch does not wait for ever", async (t) => {
  const state = { failing: new LedgerError("store_full", "Disk full") as LedgerError | undefined };
  const b = await bench(t, { ...yolo, wrap: failingEnds(state) });
  const stop = new AbortController();
  const running = b.process([call("edit", "x", "c1")], { signal: stop.signal });
  await until(() => b.world.lines.length === 1);
  for (let second = 0; second < 20; second += 1) await b.clock.advance(1_000);
  assert.deepEqual(b.warnings, ["Disk full"]);
  stop.abort();
  for (let second = 0; second < 10; second += 1) await b.clock.advance(1_000);
  assert.equal((await running).results.length, 1);
  assert.equal((b.dispatcher.failure() as LedgerError).type, "store_full");
});

for (const type of ["store_io", "stale_writer", "store_readonly"] as const) {
  test(`${type}: an end that cannot be recorded is reported by failure(), no result is told, and nothing more runs`, async (t) => {
    const error = new LedgerError(type, "gone");
    const state = { failing: error as LedgerError | undefined };
    const b = await bench(t, { ...yolo, wrap: failingEnds(state) });
    const report = await b.process([call("edit", "x", "c1"), call("edit", "y", "c2")]);
    assert.equal(report.results.length, 2);
    assert.equal(b.dispatcher.failure(), error);
    assert.equal(b.log().includes("response c1"), false);
    assert.deepEqual(b.world.lines, ["x"], "the sibling does not start");
    state.failing = undefined;
    const next = await b.process([call("edit", "z", "c3")]);
    assert.notEqual(next.results[0]?.outcome, "succeeded");
    assert.deepEqual(b.world.lines, ["x"]);
  });
}

test("an end that could not be stored for a moment keeps its true result", async (t) => {
  const state = { failing: new LedgerError("store_locked", "busy") as LedgerError | undefined };
  const b = await bench(t, {
    ...yolo,
    wrap: (ledger) => ({
      ...ledger,
      append: (lease, expected, batch) => {
        const { failing } = state;
        if (!failing || !batch.events.some(({ type }) => type === "call.ended")) return ledger.append(lease, expected, batch);
        state.failing = undefined;
        return Promise.reject(failing);
      },
    }),
  });
  const running = b.process([call("edit", "x", "c1")]);
  await rest();
  await b.clock.advance(1_000);
  assert.deepEqual(outcomes(await running), ["succeeded"]);
  assert.equal((await b.stored("call.ended"))[0]?.body.content, "wrote x");
});

test("a rejected call's approval is answered in the record before its end", async (t) => {
  const b = await bench(t, { person: scriptedApprover({ edit: "reject" }) });
  await b.process([call("edit", "x")]);
  const [answered] = await b.stored("approval.answered");
  const [ended] = await b.stored("call.ended");
  assert.ok(answered!.pos < ended!.pos);
});

test("an end that no store can keep is recorded as unknown, and the session goes on", async (t) => {
  let refused = false;
  const b = await bench(t, {
    ...yolo,
    wrap: (ledger) => ({
      ...ledger,
      append: (lease, expected, batch) => {
        if (refused || !batch.events.some(({ type }) => type === "call.ended")) return ledger.append(lease, expected, batch);
        refused = true;
        return Promise.reject(new LedgerError("event_too_large", "too large"));
      },
    }),
  });
  assert.deepEqual(outcomes(await b.process([call("edit", "x", "c1")])), ["unknown execution_unknown"]);
  assert.deepEqual(
    (await b.stored("call.ended")).map(({ body }) => body.outcome),
    ["unknown"],
  );
  assert.equal(b.dispatcher.failure(), undefined);
  assert.deepEqual(outcomes(await b.process([call("edit", "other", "c2")])), ["succeeded"]);
});

const ROW = { id: 7, name: "Ada" };
const table = textTool("table", "edit", { run: () => ROW });

test("an object is sent to the model as JSON text, and the report and the record keep its value once", async (t) => {
  const b = await bench(t, { ...yolo, tools: [table] });
  const report = only(await b.process([call("table", "x")]));
  assert.equal(textOf(report), '{"id":7,"name":"Ada"}');
  assert.deepEqual(report.result.value, ROW);
  const [ended] = await b.stored("call.ended");
  assert.deepEqual(ended?.body.content, [{ type: "json", value: ROW }]);
  assert.equal(ended?.body.value, undefined);
  assert.deepEqual(ended && resultValue(ended.body), ROW);
});

test("words of a hook are added to the text, and the value stays as the tool returned it", async (t) => {
  const hooks = scriptedHooks({ pre_tool_use: () => ({ context: "branch is frozen", name: "keeper" }) });
  const b = await bench(t, { ...yolo, tools: [table], deps: { hooks } });
  const report = only(await b.process([call("table", "x")]));
  assert.match(textOf(report), /^\{"id":7,"name":"Ada"\}\n<hook name="keeper">\nbranch is frozen/);
  assert.deepEqual(report.result.value, ROW);
  assert.deepEqual((await b.stored("call.ended"))[0]?.body.value, ROW);
});

test("a transform also removes the value", async (t) => {
  const hooks = scriptedHooks({ tool_response_transform: () => ({ updatedOutput: "clean" }) });
  const b = await bench(t, { ...yolo, tools: [table], deps: { hooks } });
  const report = only(await b.process([call("table", "x")]));
  assert.doesNotMatch(JSON.stringify([report, b.events, await b.stored("call.ended")]), /Ada/);
});

test("a value over the tool's limit is cut as text is, kept in a file, and still given to the program", async (t) => {
  const rows = Array.from({ length: 10_000 }, (_, id) => ({ id }));
  const files = memoryFiles();
  const b = await bench(t, { ...yolo, tools: [textTool("table", "edit", { run: () => rows })], deps: { files } });
  const report = only(await b.process([call("table", "x", "c1")]));
  assert.match(textOf(report), /\n\[output truncated: 118891 characters, 1 lines; full output in \/output\/[^ ]+\/c1\]\n/);
  assert.deepEqual(report.result.value, rows);
  assert.deepEqual(JSON.parse(files.written.get(`/output/${b.session.id}/c1`) ?? ""), rows);
  const [ended] = await b.stored("call.ended");
  assert.equal(ended && resultValue(ended.body), undefined);
  assert.ok(JSON.stringify(ended?.body).length < 30_000);
});

test("a value beside other text is recorded, and kept in a file if it is over the limit", async (t) => {
  const files = memoryFiles();
  const counted = textTool("counted", "edit", { run: ({ text }) => ({ content: "counted", value: "x".repeat(Number(text)) }) });
  const b = await bench(t, { ...yolo, tools: [counted], deps: { files } });
  const report = await b.process([call("counted", "10", "c1"), call("counted", "30000", "c2")]);
  for (const result of report.results) assert.equal(textOf(result), "counted");
  const ended = await b.stored("call.ended");
  assert.deepEqual(
    ended.map(({ body }) => [body.value, body.spilled?.length]),
    [
      ["x".repeat(10), undefined],
      [undefined, 1],
    ],
  );
  assert.equal(files.written.get(`/output/${b.session.id}/c2`), JSON.stringify("x".repeat(30_000)));
});

test("a result that cannot be JSON fails a call that ran, says so, and is recorded", async (t) => {
  let ran = 0;
  const counting = textTool("counting", "edit", {
    run: () => {
      ran += 1;
      return { total: 10n } as unknown as string;
    },
  });
  const b = await bench(t, { ...yolo, tools: [counting] });
  const report = only(await b.process([call("counting", "x")]));
  assert.equal(ran, 1);
  assert.deepEqual([report.outcome, report.type], ["failed", "invalid_tool_result"]);
  const text = "Error: Tool 'counting' ran, but its result could not be kept: the value at /total is a bigint, which JSON cannot carry.";
  assert.equal(textOf(report), text);
  assert.equal((await b.stored("call.ended"))[0]?.body.content, text);
});
