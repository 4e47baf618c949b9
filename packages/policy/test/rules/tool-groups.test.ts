import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { createRegistry, defineTool } from "@assent/core";
import { z } from "zod";
import type { RuleTool } from "../../src/rules/rule.ts";
import { createRuleTools } from "../../src/rules/tool-groups.ts";
import { TOOLS } from "../workspace-bench.ts";

const registry = createRegistry();
for (const tool of TOOLS) registry.add(tool);
const run = (): string => "";
const strange = z.strictObject({ command: z.string(), url: z.string(), paths: z.array(z.string()), directory: z.string() });
registry.add(defineTool({ name: "Find", description: "x", kind: "search", input: strange, locations: () => [], run }));
registry.add(defineTool({ name: "ping", description: "x", kind: "fetch", input: z.strictObject({ host: z.string() }), run }));
registry.add(defineTool({ name: "any", description: "x", kind: "execute", input: z.looseObject({}), run }));
registry.add(defineTool({ name: "start", description: "x", kind: "execute", input: z.strictObject({ line: z.string() }), run }));

const rows: readonly (readonly [sentence: string, name: string, seen: RuleTool | undefined])[] = [
  ["a tool that executes a command", "shell", { kind: "execute", args: ["command"], commandArg: "command" }],
  ["a tool that tells its locations", "read", { kind: "read", args: ["file_path"], pathArgs: ["file_path"] }],
  ["another string argument is not a path", "write", { kind: "edit", args: ["file_path", "content"], pathArgs: ["file_path"] }],
  ["a tool that fetches a URL", "fetch", { kind: "fetch", args: ["url"], urlArg: "url" }],
  ["a tool with an open schema has no list of arguments", "deploy", { kind: "other", aliases: { to: "target" } }],
  [
    "neither a command nor a URL counts where the kind is another",
    "Find",
    { kind: "search", args: ["command", "url", "paths", "directory"], pathArgs: ["paths", "directory"] },
  ],
  ["a tool that fetches by something else", "ping", { kind: "fetch", args: ["host"] }],
  ["a tool that executes anything it gets", "any", { kind: "execute", commandArg: "command" }],
  ["a tool that executes something else", "start", { kind: "execute", args: ["line"] }],
  ["a name in another case", "fIND", { kind: "search", args: ["command", "url", "paths", "directory"], pathArgs: ["paths", "directory"] }],
  ["no tool", "shel", undefined],
];

describe("tools of a registry, as rules see them", () => {
  for (const [sentence, name, seen] of rows)
    test(`${sentence}: ${name}`, () => assert.deepEqual(createRuleTools(registry).get(name), seen));

  test("a tool that is registered later is seen, too", () => {
    const late = createRegistry();
    const tools = createRuleTools(late);
    assert.deepEqual([tools.names(), tools.get("read")], [[], undefined]);
    for (const tool of TOOLS.slice(0, 2)) late.add(tool);
    assert.deepEqual([tools.names(), tools.get("read")?.kind], [["shell", "read"], "read"]);
  });
});
