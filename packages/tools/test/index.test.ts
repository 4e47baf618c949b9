import assert from "node:assert/strict";
import { test } from "node:test";
import * as tools from "../src/index.ts";
import { runNode } from "./run-node.ts";
import { session } from "./session.ts";

test("the package exports exactly these names", () => {
  assert.deepEqual(Object.keys(tools).sort(), [
    "ajvSchemas",
    "boolean",
    "builtinTools",
    "diffStat",
    "integer",
    "memoryReads",
    "object",
    "optional",
    "readTool",
    "shellTool",
    "string",
    "unifiedDiff",
    "writeTool",
  ]);
});

test("the built-in tools by name and kind", (t) => {
  const { tool } = session(t);
  assert.deepEqual(
    ["read", "write", "shell"].map((name) => tool(name).kind),
    ["read", "edit", "execute"],
  );
});

test("making and using the built-in tools loads no schema library", async () => {
  const source = `
    import { createRequire } from "node:module";
    import { builtinTools } from "../src/index.ts";
    import { hostPorts } from "@assent/host";
    const tools = builtinTools({ workspace: "/", ...hostPorts({ stateDirectory: "/nonexistent" }), environment: {} });
    await tools[0].build({ file_path: "x" });
    const loaded = Object.keys(createRequire(import.meta.url).cache).filter((path) => /node_modules\\/(?!jsonc-parser)/.test(path));
    console.log(JSON.stringify(loaded), tools.map(({ inputSchema }) => inputSchema.type).join());`;
  assert.equal(await runNode(source), "[] object,object,object\n");
});
