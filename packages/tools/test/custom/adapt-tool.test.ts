import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { makeChecker } from "@assent/core";
import type { LoadedTools } from "../../src/custom/load-custom-tools.ts";
import { failureText } from "../../src/custom/tool-failure.ts";
import { governed, type Over, place, summary, toolModule } from "./bench.ts";

const GOOD = 'description: "D.", parameters: { type: "object" }, async execute() { return { content: [] }; }';

/** A module that returns these tools, written as they would be in it. */
function tools(...written: readonly string[]): string {
  return `export default ({ zod }) => [${written.join(",\n")}];`;
}

const REFUSED: readonly (readonly [sentence: string, tool: string, failure: string])[] = [
  ["no execute", '{ name: "x", description: "D.", parameters: { type: "object" } }', 'Tool #2 ("x"): execute is missing'],
  ["no description", '{ name: "x", parameters: { type: "object" }, execute() {} }', 'Tool #2 ("x"): description is missing'],
  ["a blank description", `{ name: "x", ${GOOD}, description: " " }`, 'Tool #2 ("x"): description is missing'],
  ["no parameters", '{ name: "x", description: "D.", execute() {} }', 'Tool #2 ("x"): parameters are missing'],
  [
    "input for parameters",
    '{ name: "x", description: "D.", input: {}, execute() {} }',
    'Tool #2 ("x"): parameters are missing; "input" is its name in defineTool',
  ],
  [
    "run for execute",
    '{ name: "x", description: "D.", parameters: { type: "object" }, run() {} }',
    'Tool #2 ("x"): execute is missing; "run" is its name in defineTool',
  ],
  ["not a tool at all", "42", "Tool #2: not a tool"],
  ["a tool that cannot be read", '{ get name() { throw new Error("no"); } }', "Tool #2: cannot be read: no"],
  ["execute is no function", `{ name: "x", ${GOOD}, execute: 1 }`, 'Tool "x": execute must be a function'],
  [
    "a description of 10,001 characters",
    `{ name: "x", ${GOOD}, description: "d".repeat(10001) }`,
    'Tool "x": description is longer than 10000 characters',
  ],
  ["a bad name", `{ name: "a b", ${GOOD} }`, 'Tool #2: invalid name "a b"'],
  ["a name with a control character", `{ name: "a\\u001b[2J", ${GOOD} }`, 'Tool #2: invalid name "a\\u001b[2J"'],
  ["a long name is cut", `{ name: "a".repeat(200), ${GOOD} }`, `Tool #2: invalid name "${"a".repeat(80)}"`],
  ["no name", `{ ${GOOD} }`, "Tool #2: name is missing"],
  [
    "a zod type that JSON Schema does not have",
    `{ name: "x", ${GOOD}, parameters: zod.object({ a: zod.date() }) }`,
    'Tool "x": parameters cannot be described: Date cannot be represented in JSON Schema',
  ],
  [
    "a schema that is no object",
    `{ name: "x", ${GOOD}, parameters: zod.string() }`,
    'Tool "x": parameters cannot be described: input must accept objects at its root.',
  ],
  [
    "a schema that contains itself",
    `{ name: "x", ${GOOD}, parameters: (() => { const s = { type: "object", properties: {} }; s.properties.s = s; return s; })() }`,
    'Tool "x": parameters cannot be described: input is not JSON: Converting circular structure to JSON',
  ],
  [
    "a schema that does not compile",
    `{ name: "x", ${GOOD}, parameters: { type: "object", properties: { a: { type: "txet" } } } }`,
    'Tool "x": parameters cannot be described: ',
  ],
  [
    "an unknown dialect",
    `{ name: "x", ${GOOD}, parameters: { $schema: "urn:x", type: "object" } }`,
    'Tool "x": parameters cannot be described: unknown dialect "urn:x"',
  ],
  [
    "a plain schema without a type",
    `{ name: "x", ${GOOD}, parameters: { properties: {} } }`,
    'Tool "x": parameters must be a zod schema, or a JSON Schema with type "object"',
  ],
  [
    "a schema that cannot be looked at",
    `{ name: "x", ${GOOD}, parameters: new Proxy({}, { has() { throw new Error("no look"); } }) }`,
    'Tool "x": cannot be created: no look',
  ],
  ["preview without apply", `{ name: "x", ${GOOD}, preview() {} }`, 'Tool "x": preview needs apply'],
  ["apply without preview", `{ name: "x", ${GOOD}, apply() {} }`, 'Tool "x": apply needs preview'],
  [
    "an unknown kind",
    `{ name: "x", ${GOOD}, kind: "Edit" }`,
    'Tool "x": kind must be one of read, search, fetch, edit, delete, move, execute, think, other',
  ],
  [
    "a kind that contradicts the hint",
    `{ name: "x", ${GOOD}, kind: "edit", readOnly: true }`,
    'Tool "x": a tool of kind edit cannot be read-only',
  ],
  ["a hint that is no yes or no", `{ name: "x", ${GOOD}, readOnly: "yes" }`, 'Tool "x": readOnly must be true or false'],
  ["a limit out of range", `{ name: "x", ${GOOD}, timeoutMs: 0 }`, 'Tool "x": timeoutMs must be an integer from 1 to 2147483647'],
  [
    "a misspelt field that would go unnoticed",
    `{ name: "x", ${GOOD}, permision() { return "deny"; } }`,
    'Tool "x": unknown field "permision"; did you mean "permission"?',
  ],
];

describe("bad tools between two good ones", () => {
  const at = place({ after });
  let loaded: LoadedTools;
  before(async () => {
    const bad = REFUSED.map(([, tool]) => tool);
    at.write("config/tools/a.ts", tools(`{ name: "one", ${GOOD} }`, ...bad, `{ name: "three", ${GOOD} }`));
    loaded = await at.load();
  });

  test("the good ones load", () => {
    assert.deepEqual(
      loaded.tools.map((made) => made.tool.name),
      ["one", "three"],
    );
    assert.equal(loaded.failed.length, REFUSED.length);
  });

  for (const [index, [sentence, , reason]] of REFUSED.entries()) {
    test(`${sentence}: it is refused, and the reason says so`, () => {
      const failure = loaded.failed[index];
      assert.ok(failure);
      assert.ok(failure.reason.startsWith(reason.replace("#2", `#${index + 2}`)), failure.reason);
      const tool = /Tool (?:#2 \()?"x"/.test(reason) ? "x" : undefined;
      assert.deepEqual([failure.file, failure.type, failure.tool], [at.root + "/config/tools/a.ts", "bad_tool", tool]);
    });
  }

  test("a schema without end names the file", async (t) => {
    const at = place(t);
    const endless = "(() => { const deep = () => zod.object({ a: zod.lazy(() => deep()) }); return deep(); })()";
    const nested =
      "(() => { let s = { type: 'object' }; for (let i = 0; i < 100000; i++) s = { type: 'object', properties: { s } }; return s; })()";
    const file = at.write(
      "config/tools/a.ts",
      tools(`{ name: "x", ${GOOD}, parameters: ${endless} }`, `{ name: "y", ${GOOD}, parameters: ${nested} }`),
    );
    const { failed } = await at.load();
    assert.equal(failed.length, 2);
    for (const { reason } of failed)
      assert.match(reason, new RegExp(`^Tool "[xy]": parameters cannot be described: the schema in ${file} is infinite \\(`));
    assert.match(failureText(failed[0]!), /^Custom tool failed: .*a\.ts: Tool "x": /);
  });
});

describe("names", () => {
  const CLASHES: readonly (readonly [sentence: string, user: string, project: string, explicit: string, failed: readonly string[]])[] = [
    ["a built-in stays", "read", "b", "c", ['Tool "read" conflicts with a built-in tool']],
    [
      "a hidden one too",
      "resolve",
      "ask",
      "c",
      ['Tool "resolve" conflicts with a built-in tool', 'Tool "ask" conflicts with a built-in tool'],
    ],
    ["and what a provider would take for it", "SHELL", "b", "c", ['Tool "SHELL" conflicts with a built-in tool']],
    ["the user's wins over the project's", "same", "same", "c", ['Tool "same" is already provided by USER']],
    ["the project's wins over an explicit one", "a", "same", "same", ['Tool "same" is already provided by PROJECT']],
    ["equal but for case", "my_tool", "My_Tool", "c", ['Tool "My_Tool" is already provided by USER']],
    ["equal but for hyphens", "my-tool", "my_tool", "c", ['Tool "my_tool" is already provided by USER']],
  ];
  for (const [sentence, user, project, explicit, reasons] of CLASHES) {
    test(sentence, async (t) => {
      const at = place(t);
      const file = at.write("config/tools/u.ts", toolModule(user));
      const projects = at.write(".assent/tools/p.ts", toolModule(project));
      at.write("x.ts", toolModule(explicit));
      const { failed, tools: loaded } = await at.load({ explicit: ["x.ts"] });
      assert.deepEqual(
        failed.map(({ reason }) => reason),
        reasons.map((reason) => reason.replace("USER", file).replace("PROJECT", projects)),
      );
      assert.ok(failed.every(({ type, tool }) => type === "duplicate_name" && tool !== undefined));
      assert.equal(loaded.length, 3 - reasons.length);
    });
  }

  test("two tools of one module cannot share a name", async (t) => {
    const at = place(t);
    const file = at.write("config/tools/a.ts", tools(`{ name: "x", ${GOOD} }`, `{ name: "x", ${GOOD} }`));
    assert.deepEqual(summary(await at.load()), { tools: ["x"], failed: [`duplicate_name: Tool "x" is already provided by ${file}`] });
  });
});

describe("what a tool says of itself", () => {
  test("defaults: its name, kind other, no hint, visible", async (t) => {
    const at = place(t);
    at.write("config/tools/a.ts", toolModule("a"));
    at.write("config/tools/b.ts", toolModule("b", 'label: "Bee", kind: "search", hidden: true, pollSafe: true, timeoutMs: 5'));
    const [a, b] = (await at.load()).tools.map(({ tool }) => tool);
    assert.deepEqual(
      [a?.title, a?.kind, a?.readOnlyHint, a?.hidden, a?.pollSafe, a?.definition.timeoutMs],
      ["a", "other", false, false, false, undefined],
    );
    assert.deepEqual(
      [b?.title, b?.kind, b?.readOnlyHint, b?.hidden, b?.pollSafe, b?.definition.timeoutMs],
      ["Bee", "search", true, true, true, 5],
    );
  });

  const HINTS: readonly (readonly [sentence: string, fields: string, user: boolean, project: boolean])[] = [
    ["readOnly counts from the user, never from a project", "readOnly: true", true, false],
    ["a kind that only looks is no way around", 'kind: "read"', true, false],
    ["it can be taken back", 'kind: "read", readOnly: false', false, false],
  ];
  for (const [sentence, fields, user, project] of HINTS) {
    test(sentence, async (t) => {
      const at = place(t);
      at.write("config/tools/a.ts", toolModule("a", fields));
      at.write(".assent/tools/b.ts", toolModule("b", fields));
      at.write("c.ts", toolModule("c", fields));
      const loaded = await at.load({ explicit: ["c.ts"] });
      assert.deepEqual(
        loaded.tools.map(({ tool, source }) => [source.level, tool.readOnlyHint]),
        [
          ["user", user],
          ["project", project],
          ["explicit", user],
        ],
      );
      const { call } = await governed(at, loaded, { policy: { mode: "default" } });
      assert.equal((await call("a")).type, user ? null : "denied_unattended");
      assert.equal((await call("b")).type, "denied_unattended");
    });
  }

  const PERMISSIONS: readonly (readonly [sentence: string, body: string, mode: string, type: string | null])[] = [
    ["an allow passes", 'return params.a === 1 ? "allow" : "deny";', "default", null],
    ["an ask insists on nothing: yolo answers it", 'return "ask";', "yolo", null],
    ["a throw is an ask", 'throw new Error("x");', "default", "denied_unattended"],
    ["a deny holds in yolo", 'return "deny";', "yolo", "denied_by_tool"],
    ["exec is no part of judging", 'api.exec("ls"); return "allow";', "default", "denied_unattended"],
  ];
  for (const [sentence, body, mode, type] of PERMISSIONS) {
    test(`permission: ${sentence}`, async (t) => {
      const at = place(t);
      at.write("config/tools/a.ts", toolModule("a", `permission(params) { ${body} }`));
      const { call } = await governed(at, await at.load(), { policy: { mode } });
      assert.equal((await call("a", { a: 1 })).type, type);
    });
  }

  test("permission: what it writes goes to the log, and it cannot end the process", async (t) => {
    const at = place(t);
    at.write("config/tools/a.ts", toolModule("a", 'permission() { console.log("judging"); process.exit(3); }'));
    const { call } = await governed(at, await at.load(), { policy: { mode: "default" } });
    assert.equal((await call("a")).type, "denied_unattended");
    assert.deepEqual(
      at.lines.map(({ message }) => message),
      ["judging"],
    );
  });

  test("permission: its ask can be answered by a rule", async (t) => {
    const at = place(t);
    at.write("config/tools/a.ts", toolModule("a", 'permission() { return "ask"; }'));
    const { checker } = makeChecker({ label: "user", scope: "user", allow: ["a"] });
    const { call } = await governed(at, await at.load(), { policy: { mode: "default", checkers: [checker] } });
    assert.equal((await call("a")).outcome, "succeeded");
  });

  test("plan mode denies it, unless its hint counts", async (t) => {
    const at = place(t);
    at.write("config/tools/a.ts", toolModule("a"));
    at.write("config/tools/b.ts", toolModule("b", "readOnly: true"));
    at.write(".assent/tools/c.ts", toolModule("c", "readOnly: true"));
    const { call } = await governed(at, await at.load(), { policy: { mode: "plan" } });
    assert.deepEqual([(await call("a")).type, (await call("b")).type, (await call("c")).type], ["denied_by_mode", null, "denied_by_mode"]);
  });

  test("a renderer that throws, or is not there, shows nothing", async (t) => {
    const at = place(t);
    at.write("config/tools/a.ts", toolModule("a", "renderCall({ a }) { return 'a is ' + a; }, renderResult() { throw new Error('x'); }"));
    const [made] = (await at.load()).tools;
    assert.deepEqual([await made?.renderers.call({ a: 1 }), await made?.renderers.result({})], ["a is 1", undefined]);
  });
});

describe("a call", () => {
  test("execute gets id, frozen parameters, updates, context and signal, and keeps its object", async (t) => {
    const at = place(t);
    at.write(
      "config/tools/a.ts",
      `class Counter {
        name = "count"; description = "Counts."; #n = 0;
        constructor(zod) { this.parameters = zod.object({ by: zod.number().default(1) }); }
        async execute(id, params, onUpdate, ctx, signal) {
          onUpdate("half"); onUpdate({ content: [{ type: "text", text: "nearly" }] }); onUpdate(7);
          this.#n += params.by;
          const { cwd, sessionId, callId, mode, hasUI } = ctx;
          const details = { id, n: this.#n, frozen: Object.isFrozen(params), cwd, sessionId, callId, mode, hasUI, same: signal === ctx.signal };
          return { content: [{ type: "text", text: "now " + this.#n }], details };
        }
      }
      export default (api) => new Counter(api.zod);`,
    );
    const loaded = await at.load();
    assert.deepEqual(summary(loaded).failed, []);
    const { process, events, session } = await governed(at, loaded);
    const [report] = await process({ id: "c1", name: "count", arguments: "{}" });
    assert.ok(report?.outcome === "succeeded");
    assert.deepEqual(report.result.content, [{ type: "text", text: "now 1" }]);
    assert.deepEqual(report.result.details, {
      ...{ id: "c1", n: 1, frozen: true, cwd: at.root, sessionId: session.id, callId: "c1", mode: "yolo", hasUI: false, same: true },
    });
    assert.deepEqual(events.flatMap((event) => (event.type === "output" ? [event.display] : [])).at(-1), "nearly");
  });

  const RESULTS: readonly (readonly [sentence: string, execute: string, outcome: string, type: string | null, text: string])[] = [
    ["content", 'return { content: [{ type: "text", text: "a" }, { type: "text", text: "b" }] };', "succeeded", null, "a\nb"],
    [
      "an error that it returns",
      'return { content: [{ type: "text", text: "no such host" }], isError: true };',
      "failed",
      "execution_failed",
      "no such host",
    ],
    [
      "an error without words",
      "return { content: [], isError: true };",
      "failed",
      "execution_failed",
      "Error: The tool reported an error.",
    ],
    [
      "an error that it throws",
      'throw new Error("boom");',
      "failed",
      "execution_failed",
      "Error: Tool call execution failed. Reason: boom",
    ],
    [
      "a type of its own",
      'throw Object.assign(new Error("boom"), { type: "x_mine" });',
      "failed",
      "x_mine",
      "Error: Tool call execution failed. Reason: boom",
    ],
    [
      "a type it may not claim",
      'throw Object.assign(new Error("boom"), { type: "denied_by_rule" });',
      "failed",
      "execution_failed",
      "Error: Tool call execution failed. Reason: boom",
    ],
    ["a text is a result", 'return "done";', "succeeded", null, "done"],
    ["an object is a value", "return { rows: [1, 2] };", "succeeded", null, '{"rows":[1,2]}'],
    ["a date in a value is its text", "return { at: new Date(0) };", "succeeded", null, '{"at":"1970-01-01T00:00:00.000Z"}'],
    ["an error with fields of its own", "return { isError: true, code: 7 };", "failed", "execution_failed", '{"code":7}'],
    [
      "nothing is none",
      "return;",
      "failed",
      "invalid_tool_result",
      "Error: Tool 'a' ran, but its result could not be kept: it returned nothing.",
    ],
    [
      "a value that is not JSON",
      "return { id: 1n };",
      "failed",
      "invalid_tool_result",
      "Error: Tool 'a' ran, but its result could not be kept: the value at /id is a bigint, which JSON cannot carry.",
    ],
    [
      "content that is a text is none",
      'return { content: "done" };',
      "failed",
      "invalid_tool_result",
      "Error: Tool 'a' ran, but its result could not be kept: its content is not a list of parts.",
    ],
    [
      "a part of an unknown kind is none",
      'return { content: [{ type: "video" }] };',
      "failed",
      "invalid_tool_result",
      "Error: Tool 'a' ran, but its result could not be kept: part 1 of its content is not a text, image, file or json part.",
    ],
    [
      "it cannot end the process",
      "process.exit(3);",
      "failed",
      "execution_failed",
      "Error: Tool call execution failed. Reason: Module tried to exit the process",
    ],
    [
      "it cannot change its parameters",
      "params.a = 2;",
      "failed",
      "execution_failed",
      "Error: Tool call execution failed. Reason: Cannot assign to read only property 'a' of object '#<Object>'",
    ],
  ];
  for (const [sentence, execute, outcome, type, text] of RESULTS) {
    test(`result: ${sentence}`, async (t) => {
      const at = place(t);
      at.write("config/tools/a.ts", toolModule("a", "", execute));
      const { call } = await governed(at, await at.load());
      assert.deepEqual({ ...(await call("a", { a: 1 })), details: undefined }, { outcome, type, text, details: undefined });
    });
  }

  test("parameters are validated before it is called, by zod and by JSON Schema", async (t) => {
    const at = place(t);
    const execute = "async execute() { throw new Error('called'); }";
    at.write(
      "config/tools/a.ts",
      tools(
        `{ name: "z", description: "D.", parameters: zod.object({ n: zod.number() }), ${execute} }`,
        `{ name: "j", description: "D.", parameters: { $schema: "https://json-schema.org/draft/2020-12/schema", type: "object", properties: { n: { type: "number" } }, required: ["n"] }, ${execute} }`,
      ),
    );
    const loaded = await at.load();
    const { call } = await governed(at, loaded);
    assert.deepEqual([(await call("z", { n: "x" })).type, (await call("j", {})).type], ["invalid_tool_params", "invalid_tool_params"]);
    assert.deepEqual(
      loaded.tools.map(({ tool }) => Object(tool.inputSchema).required),
      [["n"], ["n"]],
    );
  });

  test("what it writes to standard output goes to the log; what its observers write does not", async (t) => {
    const at = place(t);
    at.write(
      "config/tools/a.ts",
      toolModule("a", "", 'console.log("mine"); onUpdate("half"); await null; console.log("still mine"); return { content: [] };'),
    );
    const { call, events } = await governed(at, await at.load());
    const written: string[] = [];
    events.push = (...told) => {
      written.push(`${told[0]?.type} ${process.stdout.write("")}`);
      return 0;
    };
    await call("a");
    assert.ok(written.some((line) => line.startsWith("output")));
    assert.deepEqual(
      at.lines.map(({ message }) => message),
      ["mine", "still mine"],
    );
  });
});

describe("the interface", () => {
  const asked: string[] = [];
  const ui = {
    select: async (_title: string, options: readonly string[]) => options[0],
    confirm: async () => true,
    input: async () => "typed",
    editor: async (_title: string, text?: string) => `${text}!`,
    notify: (message: string) => void asked.push(message),
  };
  const execute = `
    const said = []; const shows = api.hasUI === ctx.hasUI && api.hasUI;
    for (const ask of [() => ctx.ui.select("t", ["a", "b"]), () => api.ui.confirm("t"), () => ctx.ui.input("t"), () => ctx.ui.editor("t", "text")]) {
      try { said.push(await ask()); } catch (error) { said.push(error.type); }
    }
    ctx.ui.notify("hello");
    return { content: [], details: { shows, said } };`;

  test("questions reach it while there is one, and are refused while there is none", async (t) => {
    const at = place(t);
    at.write("config/tools/a.ts", toolModule("a", "", execute));
    let present: typeof ui | undefined;
    const over: Over = { ports: { ui: () => present } };
    const { call } = await governed(at, await at.load(over));
    assert.deepEqual((await call("a")).details, { shows: false, said: Array(4).fill("ui_unavailable") });
    present = ui;
    assert.deepEqual((await call("a")).details, { shows: true, said: ["a", true, "typed", "text!"] });
    assert.deepEqual(asked, ["hello"]);
  });

  test("a question without a user interface fails the call with its type", async (t) => {
    const at = place(t);
    at.write("config/tools/a.ts", toolModule("a", "", 'await ctx.ui.confirm("sure?"); return { content: [] };'));
    const { call } = await governed(at, await at.load());
    assert.deepEqual(await call("a"), {
      outcome: "failed",
      type: "ui_unavailable",
      text: "There is no user interface here.",
      details: undefined,
    });
  });
});
