import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, test } from "node:test";
import { normalizeServerName } from "../../src/rules/mcp-name.ts";
import { readMcpFile, readMcpText } from "../../src/settings/mcp-servers.ts";
import { formatProblem } from "../../src/settings/problem.ts";

const good = { good: { command: "x" } };

describe("a file of MCP servers names the file, the server and the key of every problem, and keeps the other servers", () => {
  const rows: readonly [sentence: string, servers: Record<string, unknown>, problem: RegExp][] = [
    ["a misspelled key", { bad: { command: "x", agrs: [] } }, /^f:1:\d+: mcpServers\.bad\.agrs is unknown; known keys are type, timeout/],
    [
      "a key of the other kind of server",
      { bad: { command: "x", headers: {} } },
      /mcpServers\.bad\.headers does not apply to a server with "command"/,
    ],
    ["the wrong type in a list", { bad: { command: "x", args: ["a", 1] } }, /mcpServers\.bad\.args\[1\] must be a string, not 1/],
    [
      "an unknown use of a path",
      { bad: { command: "x", paths: { save: { file: "append" } } } },
      /mcpServers\.bad\.paths\.save\.file must be one of read, write, remove/,
    ],
    ["neither command nor url", { bad: { args: [] } }, /mcpServers\.bad needs either "command".* or "url"/],
    ["a type that contradicts", { bad: { url: "http://x", type: "stdio" } }, /mcpServers\.bad\.type must be http or sse/],
    ["a name without letters", { "…": { command: "x" } }, /is not a name for a server/],
    [
      "two names that become the same",
      { "a b": { command: "x" }, "A.b": { command: "y" } },
      /mcpServers\.A\.b and "a b" would both be called A_b/,
    ],
  ];
  for (const [sentence, servers, problem] of rows)
    test(sentence, () => {
      const { servers: read, problems } = readMcpText("f", JSON.stringify({ mcpServers: { ...good, ...servers } }));
      assert.match(problems.map(formatProblem).join("\n"), problem);
      assert.ok(read["good"], "the other server is still there");
    });
});

test("streamable-http is another name for http", () => {
  const { servers, problems } = readMcpText("f", '{"mcpServers": {"a": {"type": "streamable-http", "url": "http://x"}}}');
  assert.deepEqual([servers["a"], problems], [{ type: "http", url: "http://x", headers: {} }, []]);
});

test("other keys of the file are left to the programs that use them", () => {
  assert.deepEqual(readMcpText("f", '{"inputs": [], "mcpServers": {}}'), { servers: {}, problems: [] });
});

test("a file without servers, a broken and a missing file are problems of the file", (t) => {
  const directory = mkdtempSync(join(tmpdir(), "assent-mcp-"));
  t.after(() => rmSync(directory, { recursive: true }));
  const file = join(directory, "m.json");
  writeFileSync(file, "{");
  assert.match(readMcpText("f", "{}").problems[0]?.message ?? "", /needs an object "mcpServers"/);
  assert.match(readMcpFile(file).problems[0]?.message ?? "", /Invalid JSON/);
  assert.deepEqual(readMcpFile(join(directory, "none")), { servers: {}, problems: [] });
  assert.match(readMcpFile(join(directory, "none"), { required: true }).problems[0]?.message ?? "", /does not exist/);
});

test("characters that tool names cannot have become one underscore", () => {
  assert.deepEqual(["a", "a b", "a.b/c", "__a__b__", "my-Server", "é"].map(normalizeServerName), [
    "a",
    "a_b",
    "a_b_c",
    "a_b",
    "my-Server",
    "",
  ]);
});
