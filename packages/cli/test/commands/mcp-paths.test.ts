import assert from "node:assert/strict";
import { existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { after, before, describe, test } from "node:test";
import { published } from "../../../mcp/test/server-bench.ts";
import { type Place, place } from "../support/assent.ts";

function configure(at: Place, permissions: object, more: object = {}): void {
  const file = join(at.root, ".config/assent/settings.json");
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, JSON.stringify({ mcpServers: { fs: { ...published("filesystem", at.root), ...more } }, permissions }));
}

type Row = {
  readonly sentence: string;
  readonly tool: string;
  readonly input: (at: Place) => object;
  readonly permissions?: (at: Place) => object;
  readonly more?: object;
  readonly decides: string;
};

const ALLOWED = (): object => ({ allow: ["mcp__fs"] });

describe("files that a real filesystem server would touch", () => {
  const write = (path: string): Pick<Row, "tool" | "input"> => ({
    tool: "write_file",
    input: (at) => ({ path: path.startsWith("/") ? path : at.path(path), content: "x" }),
  });
  const read = (path: string): Pick<Row, "tool" | "input"> => ({ tool: "read_text_file", input: (at) => ({ path: at.path(path) }) });
  const rows: readonly Row[] = [
    { sentence: "a rule allows the server's tools", ...write("a.txt"), permissions: ALLOWED, decides: "allow" },
    {
      sentence: "a deny of edits holds",
      ...write("secret/a"),
      permissions: () => ({ allow: ["mcp__fs"], deny: ["Edit(secret/**)"] }),
      decides: "deny",
    },
    {
      sentence: "a deny of reads holds",
      ...read("secret/a"),
      permissions: () => ({ allow: ["mcp__fs"], deny: ["Read(secret/**)"] }),
      decides: "deny",
    },
    {
      sentence: "a deny of edits holds behind a link",
      ...write("link/a"),
      permissions: () => ({ allow: ["mcp__fs"], deny: ["Edit(secret/**)"] }),
      decides: "deny",
    },
    { sentence: "a control file asks", ...write(".git/config"), permissions: ALLOWED, decides: "ask" },
    {
      sentence: "a protected file asks",
      ...write("prod/a"),
      permissions: () => ({ allow: ["mcp__fs"], protect: ["prod/**"] }),
      decides: "ask",
    },
    {
      sentence: "Assent's own files are denied",
      tool: "read_text_file",
      input: (at) => ({ path: join(at.store, "ledger.db") }),
      permissions: ALLOWED,
      decides: "deny",
    },
    {
      sentence: "an allow of edits does not cover the server",
      ...write("a.txt"),
      permissions: () => ({ allow: ["Edit(**)"] }),
      decides: "ask",
    },
    {
      sentence: "a relative path is one of the workspace",
      tool: "write_file",
      input: () => ({ path: "secret/a", content: "" }),
      permissions: () => ({ allow: ["mcp__fs"], deny: ["Edit(secret/**)"] }),
      decides: "deny",
    },
    {
      sentence: "a path with .. leads where it leads",
      tool: "write_file",
      input: (at) => ({ path: `${at.path("src")}/../secret/a`, content: "" }),
      permissions: (at) => ({ allow: [`mcp__fs__write_file:path=${at.path("src")}/**`] }),
      decides: "ask",
    },
    {
      sentence: "a list of paths: one denied is enough",
      tool: "read_multiple_files",
      input: (at) => ({ paths: [at.path("a.txt"), at.path("secret/a")] }),
      permissions: () => ({ allow: ["mcp__fs"], deny: ["Read(secret/**)"] }),
      decides: "deny",
    },
    {
      sentence: "both ends of a move count",
      tool: "move_file",
      input: (at) => ({ source: at.path("a.txt"), destination: at.path("secret/a") }),
      permissions: () => ({ allow: ["mcp__fs"], deny: ["Edit(secret/**)"] }),
      decides: "deny",
    },
    { sentence: "a trusted server reads the workspace without asking", ...read("a.txt"), more: { trust: true }, decides: "allow" },
    { sentence: "a trusted server asks before it reads a secret", ...read(".env"), more: { trust: true }, decides: "ask" },
    {
      sentence: "settings can say that a tool touches no files",
      ...write("secret/a"),
      permissions: () => ({ allow: ["mcp__fs"], deny: ["Edit(secret/**)"] }),
      more: { paths: { write_file: {} } },
      decides: "allow",
    },
    {
      sentence: "settings can add a tool",
      tool: "list_allowed_directories",
      input: () => ({ where: "secret/a" }),
      permissions: () => ({ allow: ["mcp__fs"], deny: ["Edit(secret/**)"] }),
      more: { paths: { list_allowed_directories: { where: "write" } } },
      decides: "deny",
    },
  ];
  const at = place();
  after(() => at[Symbol.dispose]());
  before(async () => {
    mkdirSync(at.path("secret"));
    symlinkSync("secret", at.path("link"));
    at.write("a.txt", "hello");
    at.write(".env", "KEY=1");
    configure(at, {});
    assert.equal((await at.here(["mcp", "test", "fs"])).code, 0);
  });
  for (const { sentence, tool, input, permissions = () => ({}), more, decides } of rows)
    test(sentence, async () => {
      configure(at, permissions(at), more);
      const { value, stderr } = await at.hereJson(["explain", `mcp__fs__${tool}`, JSON.stringify(input(at))]);
      assert.equal(value.verdict, decides, `${JSON.stringify(value)}${stderr}`);
    });

  test("a denied call does not reach the server, and an allowed one does", async () => {
    using at = place();
    configure(at, { allow: ["mcp__fs"], deny: ["Edit(secret/**)"] });
    mkdirSync(at.path("secret"));
    at.write(
      "s.yaml",
      `turns:
  - calls:
      - { tool: mcp__fs__write_file, id: c1, input: { path: ${at.path("secret/a")}, content: no } }
      - { tool: mcp__fs__write_file, id: c2, input: { path: ${at.path("b.txt")}, content: yes } }
  - expect: { results: [{ call: c1, outcome: denied }, { call: c2, outcome: succeeded }] }
    say: Done.
`,
    );
    const ran = await at.here(["run", "go", "--model", "script:s.yaml"]);
    assert.equal(existsSync(at.path("secret/a")), false);
    assert.equal(readFileSync(at.path("b.txt"), "utf8"), "yes", ran.stderr);
  });
});

describe("tools of servers that ran before", () => {
  test("explain does not know a tool before its server ran, and says how to change that", async () => {
    using at = place();
    configure(at, {});
    const unknown = await at.here(["explain", "mcp__fs__write_file", "{}"]);
    assert.equal(unknown.code, 4);
    assert.match(unknown.stderr, /no tool 'mcp__fs__write_file'[\s\S]*run: assent mcp test/);
    await at.here(["mcp", "test"]);
    const invalid = await at.here(["explain", "mcp__fs__write_file", "{}"]);
    assert.match(invalid.stderr, /The input does not fit/);
  });

  test("policy check names a rule about a tool that the server does not have", async () => {
    using at = place();
    configure(at, {
      deny: ["mcp__fs__wirte_file", "mcp__fs__write_*", "mcp__other__x", "mcp__fs__none:path=/x/**"],
      allow: ["mcp__fs__write_file:pth=/x/**", "mcp__fss__x", "mcp__fs__write_file:path=/x/**"],
    });
    const before = await at.here(["policy", "check"]);
    assert.match(
      before.stdout,
      /mcp__fss__x: it never matches here: no MCP server is called fss\n.*Did you mean fs\?\n1 problem/,
      "nothing else is known yet",
    );
    await at.here(["mcp", "test"]);
    const checked = await at.here(["policy", "check"]);
    assert.equal(checked.code, 1);
    assert.match(checked.stdout, /mcp__fs__wirte_file: it never matches: the MCP server fs had no such tool/);
    assert.match(checked.stdout, /Did you mean mcp__fs__write_file\?/);
    assert.match(checked.stdout, /mcp__fs__none:path=/);
    assert.match(
      checked.stdout,
      /:pth=.*: it never matches: the tool had no argument pth when its server last ran\n.*Its arguments: path, content/,
    );
    assert.doesNotMatch(checked.stdout, /mcp__fs__write_\*|mcp__other|write_file:path/);
  });
});
