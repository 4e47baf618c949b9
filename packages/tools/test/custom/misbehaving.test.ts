import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { parseEvent } from "@assent/core";
import { type Ended, type Governed, governed, type Place, place, summary, toolModule } from "./bench.ts";

/** Says that it begins, and blocks its thread for good. Waiting costs no processor time; one row spins instead. */
const LOOP = 'console.log("begun"); Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);';
const SPIN = 'console.log("begun"); while (true) {}';
const FINE = `{ name: "fine", description: "F.", parameters: { type: "object" }, execute: async () => ({ content: [{ type: "text", text: "fine" }] }) }`;
const DONE = '{ content: [{ type: "text", text: "done" }] }';

/** A module with a faulty tool, written as its fields, and one that works. */
function beside(fields: string, before = ""): string {
  return `export default (api) => { const { zod, logger } = api; ${before} return [{
    name: "faulty", description: "F.", parameters: { type: "object" }, execute: async () => (${DONE}), ${fields}
  }, ${FINE}]; };`;
}

/** Lets time pass until this has settled. */
async function afterLimits<T>(at: Place, promise: Promise<T>): Promise<T> {
  let isSettled = false;
  const settling = promise.finally(() => {
    isSettled = true;
  });
  settling.catch(() => undefined); // awaited below
  await at.logged("begun");
  while (!isSettled) {
    await at.clock.advance(5_000);
    await new Promise((resolve) => setImmediate(resolve));
  }
  return await settling;
}

async function open(at: Place, module: string, mode = "yolo"): Promise<Governed> {
  at.write("config/tools/a.mjs", module);
  at.write("config/tools/b.mjs", toolModule("other"));
  const loaded = await at.load();
  assert.deepEqual(summary(loaded), { tools: ["faulty", "fine", "other"], failed: [] });
  return await governed(at, loaded, { policy: { mode } });
}

/** How calls ended, by the record. */
async function recordedEnds({ ledger, session }: Governed): Promise<readonly string[]> {
  const ends: string[] = [];
  for await (const stored of ledger.read({ pos: 0 }, { session: session.id, types: ["call.ended"] })) {
    const event = parseEvent(stored);
    if (event?.type === "call.ended") ends.push(`${event.body.outcome} ${event.body.type}`);
  }
  return ends;
}

/** The run goes on: tools of another module work, and so do those of this one, in a new thread. */
async function assertGoesOn({ call }: Governed): Promise<void> {
  assert.deepEqual([(await call("other")).text, (await call("fine")).text], ["done", "fine"]);
}

describe("a module that loops while it loads", () => {
  const LOADING: readonly (readonly [sentence: string, text: string, failure: string])[] = [
    ["at its top", SPIN, "Module did not finish loading in 10 s"],
    ["in its factory", `export default () => { ${LOOP} };`, "Factory did not finish in 10 s"],
    ["in a field", `export default () => ({ get name() { ${LOOP} } });`, "Factory did not finish in 10 s"],
    [
      "in the description of its schema",
      beside(`parameters: { "~standard": { version: 1, vendor: "x", validate() {}, jsonSchema: { input() { ${LOOP} } } } }`),
      "Factory did not finish in 10 s",
    ],
    [
      "in a timer",
      `export default () => { setTimeout(() => { ${LOOP} }, 0); return new Promise(() => {}); };`,
      "Factory did not finish in 10 s",
    ],
  ];
  for (const [sentence, text, failure] of LOADING) {
    test(`${sentence}: it is left out, and the others load`, async (t) => {
      const at = place(t);
      at.write("config/tools/a.mjs", text);
      at.write("config/tools/b.mjs", toolModule("other"));
      const loading = at.load();
      await at.logged("begun");
      await at.clock.advance(10_000);
      const loaded = await loading;
      assert.deepEqual(summary(loaded), { tools: ["other"], failed: [`factory_timeout: ${failure}`] });
      assert.equal((await (await governed(at, loaded)).call("other")).text, "done");
    });
  }
});

describe("a tool that loops", () => {
  const BLOCKED = /The tool's code blocked its thread for 10 s and was stopped\.$/;
  const ROWS: readonly (readonly [sentence: string, fields: string, mode: string, type: string, text: RegExp])[] = [
    ["in execute, at once", `execute: async () => { ${SPIN} }`, "yolo", "execution_failed", BLOCKED],
    ["in execute, after an await", `execute: async () => { await null; ${LOOP} }`, "yolo", "execution_failed", BLOCKED],
    [
      "in a timer that its call began",
      `execute: () => { setTimeout(() => { ${LOOP} }, 0); return new Promise(() => {}); }`,
      "yolo",
      "execution_failed",
      BLOCKED,
    ],
    ["in a preview", `preview() { ${LOOP} }, apply() {}`, "yolo", "execution_failed", BLOCKED],
    [
      "in an apply",
      `preview: () => ({ label: "x", changes: [] }), apply() { ${LOOP} }`,
      "yolo",
      "proposal_apply_failed",
      /blocked its thread for 10 s and was stopped\.$/,
    ],
    [
      "in a refinement of its schema",
      `parameters: zod.object({}).refine(() => { ${LOOP} })`,
      "yolo",
      "invalid_tool_params",
      /(?:blocked its thread for|did not answer within) 10 s and was stopped\.$/,
    ],
    ["in permission", `permission() { ${LOOP} }`, "default", "denied_unattended", /requires approval/],
    ["in idempotencyKey", `idempotencyKey() { ${LOOP} }`, "yolo", "unhandled_exception", /10 s and was stopped\.$/],
    [
      "in permission, without blocking",
      'permission() { console.log("begun"); return new Promise(() => {}); }',
      "default",
      "denied_unattended",
      /requires approval/,
    ],
  ];
  for (const [sentence, fields, mode, type, text] of ROWS) {
    test(`${sentence}: its call ends and the run goes on`, async (t) => {
      const at = place(t);
      const opened = await open(at, beside(fields), mode);
      const ended: Ended = await afterLimits(at, opened.call("faulty"));
      assert.equal(ended.type, type, ended.text);
      assert.match(ended.text, text);
      assert.deepEqual(await recordedEnds(opened), [`${ended.outcome} ${ended.type}`]);
      if (mode === "yolo") await assertGoesOn(opened);
    });
  }

  test("in a renderer: there is nothing to show", async (t) => {
    const at = place(t);
    at.write("config/tools/a.mjs", beside(`renderCall() { ${LOOP} }`));
    const [made] = (await at.load()).tools;
    assert.ok(made);
    assert.equal(await afterLimits(at, made.renderers.call({})), undefined);
    assert.equal(await made.renderers.result({}), undefined);
  });

  test("in a probe: it cannot tell", async (t) => {
    const at = place(t);
    at.write("config/tools/a.mjs", beside(`probe() { ${LOOP} }`));
    const [made] = (await at.load()).tools;
    const probing = Promise.resolve(made?.tool.definition.probe?.({}, { cwd: "/", callId: "c", sessionId: "s", callKey: "k" }));
    await assert.rejects(afterLimits(at, probing), /10 s and was stopped\.$/);
  });

  test("in a timer that outlives its call: the next call ends, and the one after it works", async (t) => {
    const at = place(t);
    const opened = await open(at, beside(`execute: async () => { setTimeout(() => { ${LOOP} }, 0); return ${DONE}; }`));
    assert.equal((await opened.call("faulty")).text, "done");
    await at.logged("begun");
    assert.match((await afterLimits(at, opened.call("fine"))).text, /blocked its thread/);
    await assertGoesOn(opened);
  });

  test("in the apply of a pending action: it fails, and its code is lost with its thread", async (t) => {
    const at = place(t);
    const push = `ctx.pushPendingAction({ label: "x", apply() { ${LOOP} } })`;
    const opened = await open(at, beside(`execute: async (id, params, update, ctx) => { ${push}; return ${DONE}; }`));
    await opened.call("faulty");
    const resolve = { action: "apply", reason: "go" };
    const first = await afterLimits(at, opened.call("resolve", resolve));
    assert.deepEqual([first.outcome, first.type], ["failed", "proposal_apply_failed"], first.text);
    assert.equal((await opened.call("resolve", resolve)).type, "proposal_lost");
    await assertGoesOn(opened);
  });

  test("and is cancelled: its call ends as cancelled, and its thread with it", async (t) => {
    const at = place(t);
    const opened = await open(at, beside(`execute: async () => { ${LOOP} }`));
    const controller = new AbortController();
    const calling = opened.call("faulty", {}, controller.signal);
    await at.logged("begun");
    controller.abort();
    assert.equal((await afterLimits(at, calling)).outcome, "cancelled");
    await at.clock.advance(10_000);
    await assertGoesOn(opened);
  });

  test("without blocking, after it was cancelled: its thread ends", async (t) => {
    const at = place(t);
    const opened = await open(
      at,
      beside('execute: () => { console.log("begun"); setInterval(() => logger.info("still here"), 1); return new Promise(() => {}); }'),
    );
    const controller = new AbortController();
    const calling = opened.call("faulty", {}, controller.signal);
    await at.logged("still here");
    controller.abort();
    await at.clock.advance(5_000);
    assert.equal((await calling).outcome, "cancelled");
    await at.clock.advance(1_000);
    await assertGoesOn(opened);
  });
});

describe("a module that would end the program", () => {
  const EXIT = "process.exit(3);";
  const ROWS: readonly (readonly [sentence: string, fields: string, outcome: string, text: RegExp, logged: string | undefined])[] = [
    [
      "throws in a timer",
      `execute: async () => { setTimeout(() => { throw new Error("late"); }, 0); await new Promise((resolve) => setTimeout(resolve, 20)); return ${DONE}; }`,
      "succeeded",
      /^done$/,
      "Uncaught error: late",
    ],
    [
      "forgets a promise that rejects",
      `execute: async () => { Promise.reject(new Error("late")); await new Promise((resolve) => setTimeout(resolve, 20)); return ${DONE}; }`,
      "succeeded",
      /^done$/,
      "Uncaught error: late",
    ],
    [
      "throws in a microtask",
      `execute: async () => { queueMicrotask(() => { throw new Error("late"); }); await new Promise((resolve) => setTimeout(resolve, 20)); return ${DONE}; }`,
      "succeeded",
      /^done$/,
      "Uncaught error: late",
    ],
    [
      "exits in a timer",
      `execute: async () => { setTimeout(() => { ${EXIT} }, 0); await new Promise((resolve) => setTimeout(resolve, 20)); return ${DONE}; }`,
      "succeeded",
      /^done$/,
      "Uncaught error: Module tried to exit the process",
    ],
    ["exits in execute", `execute: async () => { ${EXIT} }`, "failed", /Module tried to exit the process$/, undefined],
    ["exits in a preview", `preview() { ${EXIT} }, apply() {}`, "failed", /Module tried to exit the process$/, undefined],
    [
      "exits in an apply",
      `preview: () => ({ label: "x", changes: [] }), apply() { ${EXIT} }`,
      "failed",
      /Module tried to exit the process$/,
      undefined,
    ],
    [
      "exits in a refinement of its schema",
      `parameters: zod.object({}).refine(() => { ${EXIT} })`,
      "invalid",
      /Module tried to exit the process$/,
      undefined,
    ],
    ["ends its own thread", "execute: async () => { process.reallyExit(0); }", "failed", /The module's thread ended\.$/, undefined],
  ];
  for (const [sentence, fields, outcome, text, logged] of ROWS) {
    test(`${sentence}: the run goes on`, async (t) => {
      const at = place(t);
      const opened = await open(at, beside(fields));
      const ended = await opened.call("faulty");
      assert.equal(ended.outcome, outcome, ended.text);
      assert.match(ended.text, text);
      if (logged !== undefined) assert.deepEqual(at.lines, [{ level: "error", module: `${at.user}/a.mjs`, message: logged }]);
      await assertGoesOn(opened);
    });
  }
});

describe("a module that answers with what cannot leave its thread", () => {
  const NO_RESULT = /^Error: Tool 'faulty' ran, but its result could not be kept: it returned nothing\.$/;
  const ROWS: readonly (readonly [sentence: string, fields: string, mode: string, type: string | null, text: RegExp])[] = [
    ["a function for a result", "execute: async () => () => 1", "yolo", "invalid_tool_result", NO_RESULT],
    ["a symbol for a result", 'execute: async () => Symbol("x")', "yolo", "invalid_tool_result", NO_RESULT],
    ["a result that is nothing in JSON", "execute: async () => ({ f() {}, toJSON() {} })", "yolo", "invalid_tool_result", NO_RESULT],
    [
      "a result that cannot be JSON",
      "execute: async () => ({ f() {}, toJSON() { throw new Error('no JSON'); } })",
      "yolo",
      "execution_failed",
      /no JSON$/,
    ],
    ["a function for a preview", "preview: () => () => 1, apply() {}", "yolo", "invalid_tool_result", /./],
    ["a function for a verdict", "permission: () => () => 1", "default", "denied_unattended", /requires approval/],
    ["a function for a key", "idempotencyKey: () => () => 1", "yolo", null, /^done$/],
    ["a thrown function", "execute: async () => { throw () => 1; }", "yolo", "execution_failed", /./],
    [
      "an error whose message is none",
      "execute: async () => { throw Object.defineProperty(new Error(), 'message', { value: { f() {} } }); }",
      "yolo",
      "execution_failed",
      /./,
    ],
  ];
  for (const [sentence, fields, mode, type, text] of ROWS) {
    test(`${sentence}: its call ends and the run goes on`, async (t) => {
      const at = place(t);
      const opened = await open(at, beside(fields), mode);
      const ended = await opened.call("faulty");
      assert.equal(ended.type, type, ended.text);
      assert.match(ended.text, text);
      if (mode === "yolo") await assertGoesOn(opened);
    });
  }

  test("a function for a rendering: there is nothing to show", async (t) => {
    const at = place(t);
    at.write("config/tools/a.mjs", beside("renderCall: () => () => 1"));
    const [made] = (await at.load()).tools;
    assert.equal(await made?.renderers.call({}), undefined);
  });
});

describe("a thread that ended", () => {
  const ENDS = "execute: async () => { process.reallyExit(0); }";

  const CHANGED: readonly (readonly [sentence: string, file: string])[] = [
    ["the module's own file", "config/tools/a.mjs"],
    ["a file that it imports", "config/tools/_part.mjs"],
  ];
  for (const [sentence, file] of CHANGED) {
    test(`is not started again with other code: ${sentence} changed`, async (t) => {
      const at = place(t);
      at.write("config/tools/_part.mjs", "export {};");
      const { call } = await open(at, `import "./_part.mjs"; ${beside(ENDS)}`);
      await call("faulty");
      const path = at.write(file, "console.log('changed');");
      const { outcome, text } = await call("fine");
      assert.equal(outcome, "failed");
      assert.ok(text.endsWith(`${path} changed since the module was loaded. Load the custom tools again.`), text);
      assert.deepEqual(at.lines, []);
    });
  }

  test("is not started again with other tools", async (t) => {
    const at = place(t);
    const { call } = await open(at, beside(`${ENDS}, description: String(Math.random())`));
    await call("faulty");
    assert.match((await call("fine")).text, /The module's tools have changed/);
  });

  test("starts once for calls that need it at the same time", async (t) => {
    const at = place(t);
    const { call, process } = await open(
      at,
      `console.log("loaded"); ${beside(`${ENDS}, readOnly: true`).replaceAll('name: "fine"', 'readOnly: true, name: "fine"')}`,
    );
    await call("faulty");
    const reports = await process({ name: "fine", arguments: {} }, { name: "fine", arguments: {} });
    assert.deepEqual(
      reports.map(({ outcome }) => outcome),
      ["succeeded", "succeeded"],
    );
    assert.equal(at.lines.filter(({ message }) => message === "loaded").length, 2);
  });

  test("closed tools fail their calls and start nothing", async (t) => {
    const at = place(t);
    at.write("config/tools/a.mjs", beside(""));
    const loaded = await at.load();
    const { call } = await governed(at, loaded);
    loaded.close();
    assert.match((await call("fine")).text, /The custom tools were closed\.$/);
  });
});
