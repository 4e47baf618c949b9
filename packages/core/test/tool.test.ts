import assert from "node:assert/strict";
import { test } from "node:test";
import { z } from "zod";
import { ToolDefinitionError } from "../src/errors.ts";
import { defineTool, isTool } from "../src/tool.ts";
import type { CallContext, Invocation, JsonSchema, Tool, ToolDefinition } from "../src/tool-definition.ts";
import { ajvSchemas } from "./ajv-schemas.ts";

const plain = { name: "t", description: "Does a thing.", kind: "other", input: z.object({}), run: () => "ok" } as const;
const ctx: CallContext = { cwd: "/w/app", callId: "c1", sessionId: "s1" };

/** A definition as a program without types would write it. */
function define(over: Readonly<Record<string, unknown>>): Tool {
  return defineTool({ ...plain, ...over } as unknown as ToolDefinition, { schemas: ajvSchemas });
}

function codeOf(act: () => unknown): string {
  try {
    act();
  } catch (error) {
    return error instanceof ToolDefinitionError ? error.code : `not a ToolDefinitionError: ${String(error)}`;
  }
  return "accepted";
}

async function built(tool: Tool, input: unknown): Promise<Invocation> {
  return tool.build(input, ctx);
}

const vendor = { "~standard": { version: 1, vendor: "v", validate: (value: unknown) => ({ value }) } };

const definitions: readonly (readonly [string, Record<string, unknown>, string])[] = [
  ["a whole definition is accepted", {}, "accepted"],
  ["an empty name", { name: "" }, "bad_name"],
  ["a name of 65 characters", { name: "x".repeat(65) }, "bad_name"],
  ["a name of 64 characters is accepted", { name: "x".repeat(64) }, "accepted"],
  ...[" ", ".", ":", "/", "\n", "\u0000"].map(
    (mark) => [`a name with ${JSON.stringify(mark)}`, { name: `a${mark}b` }, "bad_name"] as const,
  ),
  ["a name that ends with a newline", { name: "ab\n" }, "bad_name"],
  ["no description", { description: undefined }, "bad_description"],
  ["a blank description", { description: " \n" }, "bad_description"],
  ["an unknown kind", { kind: "write" }, "bad_kind"],
  ["a kind in the wrong case", { kind: "Read" }, "bad_kind"],
  ["an input that is a text", { input: "object" }, "bad_schema"],
  ["an input that is a list", { input: [] }, "bad_schema"],
  ["an input that is missing", { input: undefined }, "bad_schema"],
  ["a ~standard without validate", { input: { "~standard": {} } }, "bad_schema"],
  ["some library's own schema object", { input: new Map() }, "bad_schema"],
  ["a schema that holds a function", { input: { type: "object", default: () => 1 } }, "bad_schema"],
  ["the root is a string", { input: { type: "string" } }, "bad_schema"],
  ["the root is false", { input: false }, "bad_schema"],
  ["the root is a list of other types", { input: { type: ["string", "null"] } }, "bad_schema"],
  ["the root refers to a string", { input: { $ref: "#/$defs/s", $defs: { s: { type: "string" } } } }, "bad_schema"],
  ["every alternative is a string", { input: { anyOf: [{ type: "string" }, { const: 1 }] } }, "bad_schema"],
  ["one of all parts is a string", { input: { allOf: [{ type: "object" }, { type: "string" }] } }, "bad_schema"],
  ["none of the listed values is an object", { input: { enum: ["a", null] } }, "bad_schema"],
  [
    "a schema that leads back to itself is accepted",
    { input: { type: "object", allOf: [{ $ref: "#/$defs/d" }], $defs: { d: { anyOf: [{ $ref: "#/$defs/d" }, {}] } } } },
    "accepted",
  ],
  ["a root of object or null is accepted", { input: { type: ["object", "null"] } }, "accepted"],
  ["one alternative that is an object is accepted", { input: { anyOf: [{ type: "string" }, { properties: {} }] } }, "accepted"],
  ["the schema true is accepted", { input: true }, "accepted"],
  ["a reference to nowhere", { input: { type: "object", properties: { a: { $ref: "#/$defs/no" } } } }, "schema_does_not_compile"],
  ["an unknown type", { input: { type: "object", properties: { a: { type: "text" } } } }, "schema_does_not_compile"],
  ["a malformed pattern", { input: { type: "object", properties: { a: { pattern: "(" } } } }, "schema_does_not_compile"],
  ["a Standard Schema that cannot describe itself", { input: vendor }, "bad_schema"],
  ["the same with inputSchema beside it is accepted", { input: vendor, inputSchema: { type: "object" } }, "accepted"],
  ["an inputSchema whose root is a string", { input: vendor, inputSchema: { type: "string" } }, "bad_schema"],
  ["no body", { run: undefined }, "bad_body"],
  ["two bodies", { runtimeHandler: "task" }, "bad_body"],
  ["preview without apply", { run: undefined, preview: () => 1 }, "bad_body"],
  ["run beside preview and apply", { preview: () => 1, apply: () => "x" }, "bad_body"],
  ["a body that is no function", { run: "ls" }, "bad_body"],
  [
    "a body that is a generator",
    {
      *run() {
        yield 1;
      },
    },
    "bad_body",
  ],
  [
    "a body that is an asynchronous generator",
    {
      async *run() {
        yield 1;
      },
    },
    "bad_body",
  ],
  ["preview with apply is a body", { run: undefined, preview: () => 1, apply: () => "x" }, "accepted"],
  ["a runtime handler is a body", { run: undefined, runtimeHandler: "task" }, "accepted"],
  ["read-only and of a mutator kind", { kind: "edit", annotations: { readOnlyHint: true } }, "contradiction"],
  ["read-only and destructive", { annotations: { readOnlyHint: true, destructiveHint: true } }, "contradiction"],
  ["a field with a typo", { descripton: "x" }, "unknown_field"],
  ...[0, -1, 1.5, Number.NaN, 2_147_483_648, Number.POSITIVE_INFINITY, "5"].map(
    (timeoutMs) => [`timeoutMs ${timeoutMs}`, { timeoutMs }, "bad_limit"] as const,
  ),
  ["maxOutputChars 999", { maxOutputChars: 999 }, "bad_limit"],
  ["maxOutputChars NaN", { maxOutputChars: Number.NaN }, "bad_limit"],
  ["maxOutputLines 0", { maxOutputLines: 0 }, "bad_limit"],
  ["an unknown end to keep", { keep: "middle" }, "bad_limit"],
  ["limits at their ends are accepted", { timeoutMs: 2_147_483_647, maxOutputChars: Number.POSITIVE_INFINITY, keep: "tail" }, "accepted"],
];

for (const [name, over, expected] of definitions)
  test(name, () =>
    assert.equal(
      codeOf(() => define(over)),
      expected,
    ),
  );

test("the message says to give inputSchema next to input", () => {
  assert.throws(() => define({ input: vendor }), /give inputSchema next to input/);
});

const OTHER_FIELDS: readonly (readonly [field: string, named: RegExp])[] = [
  ["descripton", /'description'/],
  ["parameters", /unknown field 'parameters'; here it is called 'input'/],
  ["execute", /unknown field 'execute'; here it is called 'run'/],
];
for (const [field, named] of OTHER_FIELDS)
  test(`the known field is named that is meant by ${field}`, () => assert.throws(() => define({ [field]: "x" }), named));

test("the compiler's words are in the message", () => {
  assert.throws(
    () => define({ input: { type: "object", properties: { a: { $ref: "#/$defs/no" } } } }),
    /can't resolve reference #\/\$defs\/no/,
  );
});

test("a schema that fails to describe itself is refused when it is first shown", () => {
  const tool = defineTool({ ...plain, input: z.object({ n: z.bigint() }) });
  assert.equal(
    codeOf(() => tool.inputSchema),
    "bad_schema",
  );
});

test("a Standard Schema that describes a string is refused when it is first shown", () => {
  const tool = defineTool({ ...plain, input: z.string() });
  assert.equal(
    codeOf(() => tool.inputSchema),
    "bad_schema",
  );
});

const hasThrowing = Object.defineProperty({ build: () => 1 }, "name", {
  get: () => {
    throw new Error("no");
  },
});
const candidates: readonly (readonly [string, unknown, boolean])[] = [
  ["null", null, false],
  ["a list", Object.assign([], { name: "x", build: () => 1 }), false],
  ["a function", Object.assign(() => 1, { build: () => 1 }), false],
  ["a text", "tool", false],
  ["a name alone", { name: "x" }, false],
  ["a build alone", { build: () => 1 }, false],
  ["a build that is a number", { name: "x", build: 1 }, false],
  ["a getter that throws", hasThrowing, false],
  ["a name and a build function", { name: "x", build: () => 1 }, true],
];
for (const [name, value, expected] of candidates) test(`isTool is ${expected} for ${name}`, () => assert.equal(isTool(value), expected));

test("a tool tells what its definition says, and what the defaults are", () => {
  const tool = define({ kind: "read", input: { type: "object" } });
  assert.deepEqual(
    [tool.title, tool.displayName, tool.hidden, tool.pollSafe, tool.readOnlyHint, tool.inputSchema, tool.schemaIsRecursive],
    ["t", "t", false, false, true, { type: "object" }, false],
  );
  assert.ok(Object.isFrozen(tool) && Object.isFrozen(tool.definition));
});

test("a schema that its author changes later does not change the tool", () => {
  const input = { type: "object", properties: { a: { type: "string" } } };
  const tool = define({ input });
  input.properties.a.type = "number";
  assert.deepEqual(tool.inputSchema, { type: "object", properties: { a: { type: "string" } } });
});

const hints: readonly (readonly [string, Record<string, unknown>, boolean])[] = [
  ["kind search", { kind: "search" }, true],
  ["kind fetch, which sends data out", { kind: "fetch" }, false],
  ["kind read that says it is not", { kind: "read", annotations: { readOnlyHint: false } }, false],
  ["kind read that is destructive", { kind: "read", annotations: { destructiveHint: true } }, false],
  ["kind other that says so", { kind: "other", annotations: { readOnlyHint: true } }, true],
  ["kind edit", { kind: "edit" }, false],
];
for (const [name, over, expected] of hints)
  test(`the read-only hint is ${expected} for ${name}`, () => assert.equal(define(over).readOnlyHint, expected));

test("a recursive schema is legal and told", () => {
  assert.equal(define({ input: { type: "object", properties: { child: { $ref: "#" } } } }).schemaIsRecursive, true);
});

test("the JSON Schema of a Standard Schema is derived once, and never for a valid call", async () => {
  let derived = 0;
  const input = {
    "~standard": {
      version: 1 as const,
      vendor: "v",
      validate: (value: unknown) => ({ value }),
      jsonSchema: {
        input: () => {
          derived++;
          return { type: "object" };
        },
      },
    },
  };
  const tool = defineTool({ ...plain, input });
  await built(tool, {});
  assert.equal(derived, 0);
  assert.equal(tool.inputSchema, tool.inputSchema);
  assert.equal(derived, 1);
});

test("a schema that offers only toJSONSchema is asked by it", () => {
  const { jsonSchema: _, ...standard } = z.object({ a: z.string() })["~standard"];
  const source = z.object({ a: z.string().default("x") });
  const input = { "~standard": standard, toJSONSchema: (options: object) => source.toJSONSchema(options) };
  const shown = defineTool({ ...plain, input }).inputSchema;
  assert.deepEqual(typeof shown === "object" && [shown["type"], shown["properties"], shown["required"]], [
    "object",
    { a: { default: "x", type: "string" } },
    undefined,
  ]);
});

test("the input of the functions has the type its schema lets through", async () => {
  const tool = defineTool({
    ...plain,
    input: z.object({ n: z.number(), s: z.string().optional() }),
    check: ({ n }) => (n.toFixed() === "2" ? "two" : undefined),
    describe: ({ s }) => s?.toUpperCase() ?? "none",
  });
  assert.equal((await built(tool, { n: 1, s: "x" })).describe(), "X");
  await assert.rejects(built(tool, { n: 2 }), { message: "two" });
});

const text: JsonSchema = { type: "object", properties: { v: { type: "string" } } };
const anything: JsonSchema = { type: "object" };
const proto = JSON.parse('{"a":{"__proto__":{"x":1}}}');

const refused: readonly (readonly [string, Record<string, unknown>, unknown, string])[] = [
  ...[null, [], "x", undefined, 3, () => 1].map(
    (v) => [`${String(JSON.stringify(v))}`, { input: anything }, v, "params must be object"] as const,
  ),
  ["the check's text is the message", { input: anything, check: () => "end before start" }, {}, "end before start"],
  [
    "a check that throws",
    {
      input: anything,
      check: () => {
        throw new Error("no good");
      },
    },
    {},
    "no good",
  ],
  [
    "a check that answers later has not answered",
    { input: anything, check: async () => undefined },
    {},
    "the tool's own check gave no answer",
  ],
  ["__proto__ as JSON.parse makes it", { input: anything }, proto, "params/a must not contain the key '__proto__'"],
  ["__proto__ at the root", { input: anything }, JSON.parse('{"__proto__":1}'), "params must not contain the key '__proto__'"],
  ["constructor in a list", { input: anything }, { l: [{ constructor: 1 }] }, "params/l/0 must not contain the key 'constructor'"],
  ["prototype", { input: anything }, { "a/b": { prototype: 1 } }, "params/a~1b must not contain the key 'prototype'"],
  ["also for a zod schema, which would drop it", {}, proto, "params/a must not contain the key '__proto__'"],
  ["a function", { input: anything }, { f: () => 1 }, "params/f must be JSON"],
  ["a symbol", { input: anything }, { l: [Symbol("x")] }, "params/l/0 must be JSON"],
  [
    "alias and property",
    { input: anything, inputAliases: { cmd: "command" } },
    { cmd: "a", command: "b" },
    "params must not have both 'cmd' and 'command'",
  ],
  [
    "property and alias",
    { input: anything, inputAliases: { cmd: "command" } },
    { command: "b", cmd: "a" },
    "params must not have both 'cmd' and 'command'",
  ],
  ["the check never sees what fails the schema", { input: text, check: () => "checked" }, { v: null }, "params/v must be string"],
  ["a transform whose output is not JSON", { input: z.object({ d: z.coerce.date() }) }, { d: "2020-01-01" }, "params/d must be JSON"],
  ["a transform whose output is no object", { input: z.object({}).transform(() => 3) }, {}, "params must be object"],
];
for (const [name, over, input, message] of refused) {
  test(`${name} is refused`, async () => assert.rejects(built(define(over), input), { message, type: "invalid_tool_params" }));
}

test("build throws at once when the schema answers at once", () =>
  assert.throws(() => define({}).build(null), { message: "params must be object" }));

test("an empty text of the check is no error", async () => {
  assert.deepEqual((await built(define({ input: anything, check: () => "" }), { a: 1 })).input, { a: 1 });
});

test("what the caller does to its object later changes nothing", async () => {
  const given = { a: { b: [1] } };
  const { input } = await built(define({ input: anything }), given);
  given.a.b.push(2);
  assert.deepEqual(input, { a: { b: [1] } });
});

test("the input is frozen at every depth", async () => {
  const { input } = await built(define({ input: anything }), { a: { b: [{}] } });
  const { a } = input as { a: { b: object[] } };
  for (const part of [input, a, a.b, a.b[0]]) assert.ok(Object.isFrozen(part));
});

test("a getter is read once, and an instance becomes plain", async () => {
  let reads = 0;
  class Given {
    kept = "k";
    get derived(): string {
      return "not own";
    }
  }
  const given = Object.defineProperty(new Given(), "counted", { enumerable: true, get: () => ++reads });
  const { input } = await built(define({ input: anything }), given);
  assert.deepEqual(input, { kept: "k", counted: 1 });
  assert.equal(reads, 1);
  assert.equal(Object.getPrototypeOf(input), Object.prototype);
});

test("an alias is read as its property, and recorded", async () => {
  const command: JsonSchema = {
    type: "object",
    properties: { command: { type: "string" } },
    required: ["command"],
    additionalProperties: false,
  };
  const invocation = await built(define({ input: command, inputAliases: { cmd: "command" } }), { cmd: "ls" });
  assert.deepEqual(invocation.input, { command: "ls" });
  assert.deepEqual(invocation.coercions, [{ path: "/command", from: "cmd", to: "command", rule: "alias" }]);
});

test("a transform's output is the input, and counts as one coercion", async () => {
  const input = z.object({ n: z.string().transform(Number), same: z.string(), d: z.string().default("x") });
  const invocation = await built(define({ input }), { n: "3", same: "s" });
  assert.deepEqual(invocation.input, { n: 3, same: "s", d: "x" });
  assert.deepEqual(invocation.coercions, [{ path: "", from: { n: "3" }, to: { n: 3, d: "x" }, rule: "schema" }]);
});

test("a property that the schema drops is a deviation too", async () => {
  const invocation = await built(define({ input: z.object({ a: z.string() }) }), { a: "x", more: 1 });
  assert.deepEqual(invocation.input, { a: "x" });
  assert.deepEqual(invocation.coercions, [{ path: "", from: { more: 1 }, to: {}, rule: "schema" }]);
});

test("a schema that changes nothing is no coercion", async () => {
  const invocation = await built(define({ input: z.object({ a: z.array(z.object({ b: z.string() })), o: z.string().optional() }) }), {
    a: [{ b: "c" }],
  });
  assert.deepEqual(invocation.coercions, []);
});

test("a Standard Schema may answer later", async () => {
  const input = z.object({ v: z.string().refine(async (v) => v !== "no", "is refused"), n: z.number().optional() });
  const tool = define({ input });
  const pending = tool.build({ v: "yes", n: "3" });
  assert.ok(pending instanceof Promise);
  const invocation = await pending;
  assert.deepEqual([invocation.input, invocation.coercions], [{ v: "yes", n: 3 }, [{ path: "/n", from: "3", to: 3, rule: "number" }]]);
  await assert.rejects(built(tool, { v: "no" }), { message: "params/v is refused" });
});

test("ten violations are told, then how many more", async () => {
  const properties = Object.fromEntries(Array.from({ length: 12 }, (_, i) => [`p${i}`, { type: "string" }]));
  const given = Object.fromEntries(Object.keys(properties).map((key) => [key, null]));
  await assert.rejects(built(define({ input: { type: "object", properties } }), given), ({ message }: Error) => {
    assert.equal(message.split(", ").length, 11);
    assert.match(message, /^params\/p0 .*, params\/p9 [^,]*, and 2 more$/);
    return true;
  });
});

test("a long value is not echoed", async () => {
  const long = "v".repeat(500);
  const input = z.object({
    v: z.string().refine(() => false, { error: ({ input: seen }) => `got ${String(seen)} and "${String(seen)}"` }),
  });
  await assert.rejects(built(define({ input }), { v: long }), ({ message }: Error) => {
    assert.ok(!message.includes("v".repeat(80)));
    return message.includes("v".repeat(79));
  });
});

const opinions: readonly (readonly [string, unknown, { verdict: string; declared: boolean; note?: string }])[] = [
  ["none declared", undefined, { verdict: "allow", declared: false }],
  ["allow", () => "allow", { verdict: "allow", declared: true }],
  ["ask", async () => "ask", { verdict: "ask", declared: true }],
  ["deny", () => "deny", { verdict: "deny", declared: true }],
  [
    "a throw",
    () => {
      throw new Error("boom");
    },
    { verdict: "ask", declared: true, note: "tool permission failed: boom" },
  ],
  ["a rejection", () => Promise.reject(new Error("boom")), { verdict: "ask", declared: true, note: "tool permission failed: boom" }],
  [
    "undefined",
    () => undefined,
    { verdict: "ask", declared: true, note: "tool permission answered undefined instead of allow, ask or deny" },
  ],
  ["true", () => true, { verdict: "ask", declared: true, note: "tool permission answered boolean instead of allow, ask or deny" }],
  [
    "Allow",
    async () => "Allow",
    { verdict: "ask", declared: true, note: "tool permission answered 'Allow' instead of allow, ask or deny" },
  ],
];
for (const [name, permission, expected] of opinions) {
  test(`${name} gives ${expected.verdict}`, async () => {
    const invocation = await built(define({ input: anything, permission }), {});
    assert.deepEqual(await invocation.opinion(), expected);
    assert.equal(await invocation.permission(), expected.verdict);
  });
}

test("an opinion that is given at once is no promise", async () => {
  const invocation = await built(define({ input: anything, permission: () => "deny" }), {});
  assert.ok(!(invocation.opinion() instanceof Promise));
});

test("a permission that changes its input has failed", async () => {
  const permission = (input: Record<string, unknown>): string => {
    input["a"] = 2;
    return "allow";
  };
  const invocation = await built(define({ input: anything, permission }), { a: 1 });
  const { verdict, note } = await invocation.opinion();
  assert.equal(verdict, "ask");
  assert.match(String(note), /^tool permission failed: /);
  assert.deepEqual(invocation.input, { a: 1 });
});

const descriptions: readonly (readonly [string, Record<string, unknown>, string, number])[] = [
  ["its own", { describe: ({ a }: { a: number }, { cwd }: CallContext) => `a ${a} in ${cwd}` }, "a 1 in /w/app", 0],
  ["by default title and input", { title: "Tool" }, 'Tool {"a":1}', 0],
  [
    "the default, with a warning, when describe throws",
    {
      describe: () => {
        throw new Error("boom");
      },
    },
    't {"a":1}',
    1,
  ],
  ["the default, with a warning, when describe gives nothing", { describe: () => undefined }, 't {"a":1}', 1],
];
for (const [name, over, expected, warnings] of descriptions) {
  test(`the description is ${name}`, async () => {
    const invocation = await built(define({ ...over, input: anything }), { a: 1 });
    assert.equal(invocation.describe(), expected);
    assert.equal(invocation.warnings.length, warnings);
  });
}

test("the default description is cut at 200 characters and splits no pair", async () => {
  const description = (await built(define({ input: anything }), { a: "😀".repeat(200) })).describe();
  assert.match(description, /^t \{"a":"(?:😀)+…$/u);
  assert.ok(description.length === 200 || description.length === 199);
});

const places: readonly (readonly [string, unknown, unknown])[] = [
  ["none when none are declared", undefined, []],
  ["relative ones from the cwd", () => [{ path: "src/../a.ts", line: 3 }], [{ path: "/w/app/a.ts", line: 3 }]],
  ["absolute ones as they are", () => [{ path: "/etc//x/." }], [{ path: "/etc/x" }]],
  ["without a line that is none", () => [{ path: "/a", line: 0 }], [{ path: "/a" }]],
  [
    "unknown when it throws",
    () => {
      throw new Error("boom");
    },
    undefined,
  ],
  ["unknown when it gives no list", () => "src", undefined],
  ["unknown when one has no path", () => [{ path: "/a" }, { file: "/b" }], undefined],
  ["unknown when one is empty", () => [{ path: "" }], undefined],
];
for (const [name, locations, expected] of places) {
  test(`locations are ${name}`, async () =>
    assert.deepEqual((await built(define({ input: anything, locations }), {})).locations(), expected));
}

const safes: readonly (readonly [string, unknown, boolean])[] = [
  ["not declared", undefined, false],
  ["true", () => true, true],
  ["a promise of true", async () => true, false],
  ["1", () => 1, false],
  [
    "thrown",
    () => {
      throw new Error("boom");
    },
    false,
  ],
];
for (const [name, safe, expected] of safes) {
  test(`an input is ${expected ? "" : "not "}proven safe when safe is ${name}`, async () =>
    assert.equal((await built(define({ input: anything, safe }), {})).safe(), expected));
}

test("confirmation details are the author's, or none", async () => {
  const { signal } = new AbortController();
  const details = { type: "info", prompt: "sure?" };
  assert.equal(await (await built(define({ input: anything }), {})).confirmation(signal), undefined);
  assert.deepEqual(await (await built(define({ input: anything, confirm: async () => details }), {})).confirmation(signal), details);
  await assert.rejects(
    (await built(define({ input: anything, confirm: () => Promise.reject(new Error("boom")) }), {})).confirmation(signal),
    /boom/,
  );
  await assert.rejects(
    (await built(define({ input: anything, confirm: () => ({ type: "popup" }) }), {})).confirmation(signal),
    /no details/,
  );
});

test("the body gets its context, and a live display only if it may stream", async () => {
  const { signal } = new AbortController();
  for (const canUpdateOutput of [true, false]) {
    const seen: unknown[] = [];
    let late: (display: string) => void = () => undefined;
    const run = (input: unknown, given: Record<string, unknown> & { update: (display: string) => void }): string => {
      given.update("half");
      late = given.update;
      seen.push(input, given["signal"] === signal, given["cwd"], given["callId"], given["agentName"]);
      return "done";
    };
    const invocation = await built(define({ input: anything, run, canUpdateOutput }), { a: 1 });
    const shown: unknown[] = [];
    assert.deepEqual(await invocation.execute(signal, (display) => shown.push(display), { agentName: "x" }), {
      content: "done",
      display: "done",
    });
    late("too late");
    assert.deepEqual(seen, [{ a: 1 }, true, "/w/app", "c1", "x"]);
    assert.deepEqual(shown, canUpdateOutput ? ["half"] : []);
  }
});

test("an observer that throws does not reach the body", async () => {
  const run = (_: unknown, { update }: { update: (display: string) => void }): string => {
    update("x");
    return "done";
  };
  const invocation = await built(define({ input: anything, run, canUpdateOutput: true }), {});
  const result = await invocation.execute(new AbortController().signal, () => {
    throw new Error("observer");
  });
  assert.deepEqual(result, { content: "done", display: "done" });
  assert.deepEqual(invocation.warnings, ["an observer of the live display failed: observer"]);
});

test("a tool whose body is the host's cannot be run without it", async () => {
  const { signal } = new AbortController();
  const handled = await built(define({ input: anything, run: undefined, runtimeHandler: "task" }), {});
  await assert.rejects(handled.execute(signal), /the handler 'task' runs it/);
  const staged = await built(define({ input: anything, run: undefined, preview: () => 1, apply: () => "x" }), {});
  await assert.rejects(staged.execute(signal), /staging its preview runs it/);
});

test("a nested call without a dispatcher is refused", async () => {
  const run = (_: unknown, { gate }: { gate: (call: object) => Promise<string> }): Promise<string> => gate({ name: "x", arguments: {} });
  await assert.rejects((await built(define({ input: anything, run }), {})).execute(new AbortController().signal), /need a dispatcher/);
});

test("a raw JSON Schema that nothing compiled validates nothing, so nothing is built", () => {
  assert.throws(() => defineTool({ ...plain, input: { type: "object" } }).build({}), { code: "schema_does_not_compile" });
});
