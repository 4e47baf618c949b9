import assert from "node:assert/strict";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { runNode } from "./run-node.ts";
import { session } from "./session.ts";

test("the built-in tools by name and kind", (t) => {
  const kinds = {
    read: "read",
    edit: "edit",
    write: "edit",
    search: "search",
    glob: "search",
    list: "search",
    shell: "execute",
    todo: "think",
    ask: "think",
    enter_plan_mode: "think",
  };
  const { tool } = session(t);
  assert.deepEqual(Object.fromEntries(Object.keys(kinds).map((name) => [name, tool(name).kind])), kinds);
});

test("every built-in tool has a test of its own in test/builtin", () => {
  const names = (folder: string, end: string): readonly string[] =>
    readdirSync(join(import.meta.dirname, folder)).flatMap((file) => (file.endsWith(end) ? [file.slice(0, -end.length)] : []));
  const tested = names("builtin", ".test.ts");
  const untested = names("../src/builtin", ".ts").filter((name) => !tested.includes(name));
  // The runtime or the agent package does their work and tests it.
  assert.deepEqual(untested, ["agent", "resolve", "schedules", "tasks"], "Add packages/tools/test/builtin/NAME.test.ts.");
});

test("making and using the built-in tools loads no schema library", async () => {
  const source = `
    import { createRequire } from "node:module";
    import { builtinTools } from "../src/index.ts";
    import { createHostPorts } from "@assent/host";
    const tools = builtinTools({ workspace: "/", ...createHostPorts({ stateDirectory: "/nonexistent" }), environment: {} });
    await tools[0].build({ file_path: "x" });
    const loaded = Object.keys(createRequire(import.meta.url).cache).filter((path) => /node_modules\\/(?!jsonc-parser)/.test(path));
    console.log(JSON.stringify(loaded), [...new Set(tools.map(({ inputSchema }) => inputSchema.type))].join());`;
  assert.equal(await runNode(source), "[] object\n");
});
