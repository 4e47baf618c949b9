import assert from "node:assert/strict";
import { test } from "node:test";
import { z } from "zod";
import { createRegistry } from "../src/registry.ts";
import { defineTool } from "../src/tool.ts";
import type { JsonSchema, Tool } from "../src/tool-definition.ts";
import { ajvSchemas } from "./ajv-schemas.ts";

function tool(name: string, over: { hidden?: boolean } = {}): Tool {
  return defineTool({ name, description: "Does a thing.", kind: "other", input: z.object({}), run: () => "ok", ...over });
}

function raw(input: JsonSchema): Tool {
  return defineTool({ name: "raw", description: "Does a thing.", kind: "other", input, run: () => "ok" });
}

const refused: readonly (readonly [string, () => unknown, string])[] = [
  ["a taken name", () => tool("read"), "duplicate_name"],
  ["a name that differs only in case", () => tool("READ"), "duplicate_name"],
  ["the name of an alias", () => tool("cat"), "duplicate_name"],
  ["a name that differs from an alias only in case", () => tool("Cat"), "duplicate_name"],
  ["what is no tool", () => ({ name: "x" }), "not_a_tool"],
  ["a name and a build function alone", () => ({ name: "x", build: () => 1 }), "not_a_tool"],
  ["a tool without a name that is a text", () => ({ name: 1, build: () => 1 }), "not_a_tool"],
  ["a raw JSON Schema without schemas", () => raw({ type: "object" }), "schema_does_not_compile"],
  [
    "a Standard Schema that cannot be described to the model",
    () => defineTool({ name: "big", description: "x", kind: "other", input: z.object({ n: z.bigint() }), run: () => "" }),
    "bad_schema",
  ],
];
for (const [name, make, code] of refused) {
  test(`${name} is refused, and the registry stays as it was`, () => {
    const registry = createRegistry();
    registry.add(tool("read"));
    registry.alias("cat", "read");
    assert.throws(() => registry.add(make() as Tool), { code });
    assert.deepEqual(
      registry.list().map((each) => each.name),
      ["read"],
    );
  });
}

test("a raw JSON Schema without schemas is told where there are some", () => {
  assert.throws(() => createRegistry().add(raw({ type: "object" })), /ajvSchemas\(\) \}\) has those of @assent\/host/);
});

test("a raw JSON Schema that does not compile is refused, and its name stays free", () => {
  const registry = createRegistry({ schemas: ajvSchemas });
  assert.throws(() => registry.add(raw({ type: "object", properties: { a: { $ref: "#/nowhere" } } })), { code: "schema_does_not_compile" });
  registry.add(raw({ type: "object" }));
});

test("a raw JSON Schema is validated once it is registered with schemas", async () => {
  const registry = createRegistry({ schemas: ajvSchemas });
  const added = raw({ type: "object", properties: { n: { type: "integer" } }, required: ["n"] });
  registry.add(added);
  assert.deepEqual((await added.build({ n: 1 })).input, { n: 1 });
  assert.throws(() => added.build({}), { message: "params must have required property 'n'" });
});

test("tools are listed in order of registration, hidden ones only to those who look for all", () => {
  const registry = createRegistry();
  for (const each of [tool("b"), tool("resolve", { hidden: true }), tool("a")]) registry.add(each);
  assert.deepEqual(
    registry.list().map(({ name }) => name),
    ["b", "resolve", "a"],
  );
  assert.deepEqual(
    registry.visible().map(({ name }) => name),
    ["b", "a"],
  );
  assert.equal(registry.visible(), registry.visible());
});

test("a hidden tool is never suggested", () => {
  const registry = createRegistry();
  registry.add(tool("resolve", { hidden: true }));
  registry.add(tool("remove"));
  assert.deepEqual(registry.suggest("resolv"), []);
  assert.deepEqual(registry.suggest("remov"), ["remove"]);
});

test("a name that differs in case or has blanks around it is unknown, with the suggestion", () => {
  const registry = createRegistry();
  registry.add(tool("read_file"));
  for (const name of ["READ_FILE", " read_file "]) {
    assert.equal(registry.get(name), undefined);
    assert.deepEqual(registry.suggest(name), ["read_file"]);
  }
});

test("an alias leads to the tool, whose own name is told, and is never listed or suggested", () => {
  const registry = createRegistry();
  registry.add(tool("shell"));
  registry.alias("run_shell_command", "shell");
  assert.equal(registry.get("run_shell_command")?.name, "shell");
  assert.deepEqual([registry.list().length, registry.suggest("run_shell_comand")], [1, []]);
});

test("an alias needs a tool, and a name of its own", () => {
  const registry = createRegistry();
  registry.add(tool("shell"));
  assert.throws(() => registry.alias("bash", "sh"), { code: "not_a_tool" });
  assert.throws(() => registry.alias("Shell", "shell"), { code: "duplicate_name" });
});

test("a name that every object has is not found", () => assert.equal(createRegistry().get("constructor"), undefined));

test("whether a schema comes back to itself is found out when somebody asks, not when the tool is registered", () => {
  let asked = 0;
  const given: Tool = {
    ...tool("read"),
    get schemaIsRecursive() {
      asked += 1;
      return false;
    },
  };
  const registry = createRegistry();
  registry.add(given);
  assert.deepEqual([registry.get("read"), asked], [given, 0]);
});
