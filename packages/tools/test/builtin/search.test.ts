import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { type TestContext, test } from "node:test";
import type { ToolResult } from "@assent/core";
import { validateBuildAndExecute } from "@assent/core/ungoverned";
import { createHostProcesses } from "@assent/host";
import { createPathLookup } from "@assent/policy";
import { searchTool } from "../../src/builtin/search.ts";
import { RIPGREP, scratch } from "../scratch.ts";
import { session, shown } from "../session.ts";

/** Speaks ripgrep's language and notes how it was called. It is no regular expression engine: patterns are those that mean the same in JavaScript. */
const STAND_IN = `#!${process.execPath}
const fs = require("node:fs");
const args = process.argv.slice(2);
fs.appendFileSync(__dirname + "/calls", JSON.stringify({ args, env: Object.keys(process.env) }) + "\\n");
const files = args.slice(args.indexOf("--") + 1);
const option = (name) => args.find((one) => one.startsWith(name + "="))?.slice(name.length + 1);
const say = (type, data) => process.stdout.write(JSON.stringify({ type, data }) + "\\n");
let pattern;
try {
  pattern = new RegExp(option("--regexp"), (args.includes("--ignore-case") ? "i" : "") + (args.includes("--multiline") ? "gm" : ""));
} catch {
  process.stderr.write("regex parse error:\\n    (\\n    ^\\nerror: unclosed group\\n\\nadvice\\n");
  process.exit(2);
}
const given = (text) => (text.includes("\\ufffd") ? { bytes: Buffer.from(text).toString("base64") } : { text });
let code = 1;
for (const file of files.reverse()) {
  if (file === "/dev/null") continue;
  let text;
  try { text = fs.readFileSync(file, "utf8"); } catch { code = 2; continue; }
  const lines = text.split(/(?<=\\n)/);
  const plain = (line) => line.replace(/\\r?\\n$/, "");
  let hits = lines.flatMap((line, at) => (pattern.test(plain(line)) ? [at] : []));
  let spans = new Map(hits.map((at) => [at, 1]));
  if (args.includes("--multiline")) {
    spans = new Map([...text.matchAll(pattern)].map((found) => [text.slice(0, found.index).split("\\n").length - 1, found[0].split("\\n").length]));
    hits = [...spans.keys()];
  }
  if (hits.length === 0) continue;
  if (args.includes("--max-count=1")) hits = hits.slice(0, 1);
  code = code === 2 ? 2 : 0;
  say("begin", { path: { text: file } });
  const context = Number(option("--context") ?? 0);
  const isHit = (at) => hits.some((hit) => at >= hit && at < hit + spans.get(hit));
  for (let at = 0; at < lines.length; at++) {
    if (hits.includes(at)) say("match", { path: { text: file }, lines: given(lines.slice(at, at + spans.get(at)).join("")), line_number: at + 1 });
    else if (!isHit(at) && hits.some((hit) => Math.abs(hit - at) <= context)) say("context", { path: { text: file }, lines: given(lines[at]), line_number: at + 1 });
  }
  say("end", { path: { text: file }, binary_offset: !args.includes("--max-count=1") && text.includes("\\0") ? 1 : null });
}
say("summary", {});
process.exitCode = code;
`;

function ripgrep(t: TestContext): string {
  const directory = scratch(t);
  writeFileSync(join(directory, "rg"), STAND_IN);
  chmodSync(join(directory, "rg"), 0o755);
  return directory;
}

const ENGINES = { "built in": () => "", "by a stand-in for ripgrep": ripgrep, "by ripgrep": () => RIPGREP };

type Found = { readonly root: string; readonly search: (input: object, signal?: AbortSignal) => Promise<ToolResult> };

function searching(t: TestContext, path: string, timeoutMs?: number): Found {
  const root = scratch(t);
  const deps = {
    workspace: root,
    scope: createPathLookup({ workspace: root }),
    processes: createHostProcesses({ graceMs: 150, lingerMs: 150 }),
  };
  const tool = searchTool({ ...deps, environment: {}, shellPath: () => path.split(":"), ...(timeoutMs !== undefined && { timeoutMs }) });
  const search: Found["search"] = (input, signal = new AbortController().signal) =>
    validateBuildAndExecute(tool, input, signal, undefined, { cwd: root, callId: "c1", sessionId: "s_1" });
  return { root, search };
}

function put(root: string, files: Readonly<Record<string, string | Buffer>>): void {
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), content);
  }
}

const TREE = {
  "a.ts": "one\nfoo bar\ntwo\nthree\nFoo\n",
  "b.md": "foo\r\nfoo end\r\n",
  "src/c.ts": "no\nfoo(1)\nno\nno\nno\nfoo(2)",
  "src/deep/d.tsx": "x\nbegin\n  foo\nend\n",
  ".hidden/e.ts": "foo",
  ".gitignore": "ignored\n*.log\n",
  "ignored/f.ts": "foo",
  "g.log": "foo",
  "node_modules/h/index.js": "foo",
  "binary.dat": Buffer.from("foo\0foo\n"),
  "server.key": "foo",
  "src/secrets.yml": "foo",
  "latin.txt": Buffer.from([0x66, 0x6f, 0x6f, 0x20, 0xe9, 0x0a]),
};

const ROWS: readonly (readonly [name: string, input: object, content: string])[] = [
  ["files by default, in order", { pattern: "foo" }, "a.ts\nb.md\nlatin.txt\nsrc/c.ts\nsrc/deep/d.tsx"],
  ["matching lines per file", { pattern: "foo", output_mode: "count" }, "a.ts:1\nb.md:2\nlatin.txt:1\nsrc/c.ts:2\nsrc/deep/d.tsx:1"],
  [
    "content with path, line and text",
    { pattern: "foo", output_mode: "content", glob: "*.{ts,md}" },
    "a.ts:2:foo bar\nb.md:1:foo\nb.md:2:foo end\nsrc/c.ts:2:foo(1)\nsrc/c.ts:6:foo(2)",
  ],
  [
    "content with lines around",
    { pattern: "foo", output_mode: "content", context: 1, glob: "*.ts" },
    "a.ts-1-one\na.ts:2:foo bar\na.ts-3-two\n--\nsrc/c.ts-1-no\nsrc/c.ts:2:foo(1)\nsrc/c.ts-3-no\n--\nsrc/c.ts-5-no\nsrc/c.ts:6:foo(2)",
  ],
  [
    "lines around that are matches themselves",
    { pattern: "foo", output_mode: "content", context: 2, path: "b.md" },
    "b.md:1:foo\nb.md:2:foo end",
  ],
  ["lines around matter to content alone", { pattern: "bar", context: 3 }, "a.ts"],
  ["upper and lower case", { pattern: "FOO", ignore_case: true, output_mode: "count", path: "a.ts" }, "a.ts:2"],
  ["borders of lines are those without their breaks", { pattern: "^foo$", output_mode: "content", path: "b.md" }, "b.md:1:foo"],
  ["a glob with a slash means a path from the top", { pattern: "foo", glob: "src/*.ts" }, "src/c.ts"],
  ["a glob with two stars crosses directories", { pattern: "foo", glob: "**/d.*" }, "src/deep/d.tsx"],
  ["a glob that leaves out", { pattern: "foo", glob: "!*.ts" }, "b.md\nlatin.txt\nsrc/deep/d.tsx"],
  ["a directory", { pattern: "foo", path: "src" }, "src/c.ts\nsrc/deep/d.tsx"],
  ["an ignored file that is named", { pattern: "foo", path: "g.log" }, "g.log"],
  ["a hidden directory that is named", { pattern: "foo", path: ".hidden" }, ".hidden/e.ts"],
  [
    "a match over several lines",
    { pattern: "begin\\s+foo", multiline: true, output_mode: "content" },
    "src/deep/d.tsx:2:begin\nsrc/deep/d.tsx:3:  foo",
  ],
  ["a match over several lines counts them", { pattern: "begin\\s+foo", multiline: true, output_mode: "count" }, "src/deep/d.tsx:2"],
  ["bytes that are no text", { pattern: "^foo ", output_mode: "content", path: "latin.txt" }, "latin.txt:1:foo \ufffd"],
  ["no match", { pattern: "nowhere" }, "No matches found."],
  ["a limit", { pattern: "foo", head_limit: 2 }, "a.ts\nb.md\n[3 more files; narrow the search, or raise head_limit]"],
  [
    "a limit of lines within a file",
    { pattern: "foo", output_mode: "content", head_limit: 2 },
    "a.ts:2:foo bar\nb.md:1:foo\n[5 more matching lines; narrow the search, or raise head_limit]",
  ],
  [
    "a limit that is reached exactly",
    { pattern: "foo", path: "b.md", output_mode: "content", head_limit: 2 },
    "b.md:1:foo\nb.md:2:foo end",
  ],
];
for (const [engine, path] of Object.entries(ENGINES)) {
  for (const [name, input, content] of ROWS) {
    test(`${engine}: ${name}`, async (t) => {
      const { root, search } = searching(t, path(t));
      put(root, TREE);
      const result = await search(input);
      assert.deepEqual([result.error, result.content], [undefined, content]);
    });
  }

  test(`${engine}: a bad pattern is invalid, also where there is no file`, async (t) => {
    const { search } = searching(t, path(t));
    const result = await search({ pattern: "foo(" });
    assert.equal(result.error?.type, "invalid_tool_params");
    assert.match(
      shown(result.content),
      /^Error: Invalid parameters provided\. Reason: params\/pattern must be a regular expression: [\s\S]*group/,
    );
    assert.doesNotMatch(shown(result.content), /advice/);
  });

  test(`${engine}: a very long line is cut`, async (t) => {
    const { root, search } = searching(t, path(t));
    put(root, { f: `foo${"x".repeat(5000)}\n` });
    const { content } = await search({ pattern: "foo", output_mode: "content" });
    assert.equal(content, `f:1:foo${"x".repeat(497)}… [line cut: 5003 characters]`);
  });

  test(`${engine}: many files, more than one command line holds`, async (t) => {
    const { root, search } = searching(t, path(t));
    for (let i = 0; i < 2500; i++) writeFileSync(join(root, `file-${String(i).padStart(5, "0")}`), i % 500 === 0 ? "foo" : "bar");
    assert.equal(
      (await search({ pattern: "foo" })).content,
      [0, 500, 1000, 1500, 2000].map((i) => `file-${String(i).padStart(5, "0")}`).join("\n"),
    );
  });

  test(`${engine}: a search that is cancelled throws`, async (t) => {
    const { root, search } = searching(t, path(t));
    put(root, TREE);
    assert.equal((await search({ pattern: "foo" }, AbortSignal.abort())).error?.type, "cancelled");
  });
}

test("ripgrep gets fixed words, the pattern and the files, and nothing of the environment but its own mark", async (t) => {
  const directory = ripgrep(t);
  const { root, search } = searching(t, `relative:${directory}`);
  put(root, { "a.ts": "--pre=x", "-v": "--pre=x", "server.key": "--pre=x" });
  assert.equal((await search({ pattern: "--pre=x" })).content, "-v\na.ts");
  const calls = readFileSync(join(directory, "calls"), "utf8")
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line));
  const { args, env } = calls.at(-1);
  const files = args.splice(args.indexOf("--") + 1);
  if (process.platform === "linux")
    assert.ok(files.length === 2 && files.every((file: string) => /^\/proc\/\d+\/fd\/\d+$/.test(file)), files.join());
  else assert.deepEqual(files, [join(root, "-v"), join(root, "a.ts")]);
  assert.deepEqual(
    { args, env },
    {
      args: [
        ...["--no-config", "--json", "--crlf", "--no-messages", "--no-ignore", "--hidden", "--max-filesize=64M", "--case-sensitive"],
        ...["--max-count=1", "--regexp=--pre=x", "--"],
      ],
      env: ["ASSENT_MARK"],
    },
  );
});

test("a ripgrep in the workspace is never started, even if the search path has it", async (t) => {
  const { root, search } = searching(t, "");
  put(root, { "bin/rg": STAND_IN, "a.ts": "foo" });
  chmodSync(join(root, "bin/rg"), 0o755);
  const outside = scratch(t);
  symlinkSync(join(root, "bin"), join(outside, "bin"));
  symlinkSync(join(root, "bin/rg"), join(outside, "rg"));
  for (const path of [join(root, "bin"), "bin", join(outside, "bin"), outside]) {
    const deps = { workspace: root, scope: createPathLookup({ workspace: root }), processes: createHostProcesses() };
    const tool = searchTool({ ...deps, environment: {}, shellPath: () => [path] });
    const ctx = { cwd: root, callId: "c1", sessionId: "s_1" };
    assert.equal((await validateBuildAndExecute(tool, { pattern: "^foo" }, new AbortController().signal, undefined, ctx)).content, "a.ts");
  }
  assert.equal((await search({ pattern: "^foo" })).content, "a.ts");
  assert.ok(!existsSync(join(root, "bin/calls")));
});

test("a pattern that takes for ever ends with its time", async (t) => {
  const { root, search } = searching(t, "", 200);
  put(root, { f: `${"a".repeat(50)}b\n` });
  const result = await search({ pattern: "^(a+)+$" });
  assert.equal(result.error?.type, "grep_execution_error");
  assert.match(result.error.message, /did not finish within 0.2 s/);
});

test("a pattern that takes for ever can be cancelled", async (t) => {
  const { root, search } = searching(t, "");
  put(root, { f: `${"a".repeat(50)}b\n` });
  const stop = new AbortController();
  const ended = search({ pattern: "^(a+)+$" }, stop.signal);
  setImmediate(() => stop.abort());
  assert.notEqual((await ended).error, undefined);
});

const FAILURES: readonly (readonly [name: string, path: string, type: string])[] = [
  ["a path that does not exist", "nope", "search_path_not_found"],
  ["a path behind a file", "a.ts/x", "search_path_not_found"],
  ["a path that is neither file nor directory", "fifo", "search_path_not_a_directory"],
  ["a file that holds secrets by its name", "server.key", "permission_denied"],
];
for (const [name, path, type] of FAILURES) {
  test(`${name}: ${type}`, async (t) => {
    const { root, search } = searching(t, "");
    put(root, TREE);
    execFileSync("mkfifo", [join(root, "fifo")]);
    const result = await search({ pattern: "foo", path });
    assert.equal(result.error?.type, type);
    assert.doesNotMatch(shown(result.content), /foo/);
  });
}

test("what settings call sensitive is never shown either", async (t) => {
  const root = scratch(t);
  put(root, { "a.ts": "foo", "vault/b.ts": "foo" });
  const scope = createPathLookup({ workspace: root, sensitive: [(path) => path.includes("/vault/")] });
  const tool = searchTool({ workspace: root, scope, processes: createHostProcesses(), environment: {} });
  const ctx = { cwd: root, callId: "c1", sessionId: "s_1" };
  const result = await validateBuildAndExecute(tool, { pattern: "foo" }, new AbortController().signal, undefined, ctx);
  assert.equal(result.content, "a.ts");
});

test("links are not followed, but a link that is named is", async (t) => {
  const { root, search } = searching(t, "");
  put(root, { "a/x": "foo" });
  symlinkSync("a", join(root, "link"));
  assert.equal((await search({ pattern: "foo" })).content, "a/x");
  assert.equal((await search({ pattern: "foo", path: "link" })).content, "a/x");
});

test("UTF-16 with its mark is text", async (t) => {
  const { root, search } = searching(t, "");
  put(root, { f: Buffer.from("\ufefffoo é\n", "utf16le") });
  assert.equal((await search({ pattern: "^foo", output_mode: "content" })).content, "f:1:foo é");
});

test("a name with a line break cannot pass for two", async (t) => {
  const { root, search } = searching(t, "");
  put(root, { "a\nb": "foo" });
  assert.equal((await search({ pattern: "foo" })).content, "a\\u000ab");
});

const INVALID: readonly (readonly [name: string, input: object, message: RegExp])[] = [
  ["an empty pattern", { pattern: "" }, /params\/pattern must NOT have fewer than 1/],
  ["a pattern that is too long", { pattern: "a".repeat(4097) }, /params\/pattern must NOT have more than 4096/],
  ["a NUL in the pattern", { pattern: "a\0" }, /params\/pattern must not contain a NUL/],
  ["a NUL in the path", { pattern: "a", path: "\0" }, /params\/path must not contain a NUL/],
  ["a mode that is none", { pattern: "a", output_mode: "lines" }, /params\/output_mode must be equal to one of/],
  ["too much context", { pattern: "a", context: 51 }, /params\/context must be <= 50/],
  ["a limit of 0", { pattern: "a", head_limit: 0 }, /params\/head_limit must be >= 1/],
];
for (const [name, input, message] of INVALID) {
  test(`${name} is invalid`, async (t) => {
    const { error } = await searching(t, "").search(input);
    assert.equal(error?.type, "invalid_tool_params");
    assert.match(error.message, message);
  });
}

const OPINIONS: readonly (readonly [path: string | undefined, verdict: string])[] = [
  [undefined, "allow"],
  ["src", "allow"],
  ["/etc", "ask"],
  [".ssh", "ask"],
  [".env", "ask"],
  ["out", "ask"],
];
for (const name of ["search", "glob", "list"]) {
  for (const [path = ".", verdict] of OPINIONS) {
    test(`${name} of ${path}: ${verdict}`, async (t) => {
      const { tool, root } = session(t);
      symlinkSync("/etc", join(root, "out"));
      const input = name === "list" ? { path } : { pattern: "x", path };
      assert.equal(await (await tool(name).build(input, { cwd: root, callId: "c", sessionId: "s" })).permission(), verdict);
    });
  }

  test(`${name} of a path that leads elsewhere than when it was judged is refused`, async (t) => {
    const { tool, root } = session(t);
    mkdirSync(join(root, "dir"));
    mkdirSync(join(root, "other"));
    const input = name === "list" ? { path: "dir/sub" } : { pattern: "x", path: "dir/sub" };
    const invocation = await tool(name).build(input, { cwd: root, callId: "c", sessionId: "s" });
    await invocation.permission();
    symlinkSync("/etc", join(root, "dir/sub"));
    assert.equal((await invocation.execute(new AbortController().signal)).error?.type, "execution_denied");
  });
}
