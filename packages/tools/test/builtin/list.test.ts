import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { type Session, session, shown } from "../session.ts";

function fill({ root }: Session): void {
  for (const name of ["zoo", "Alpha", ".git", "node_modules"]) mkdirSync(join(root, name));
  for (const [name, content] of Object.entries({ "b.txt": "12345", a: "", ".env": "x", "c.log": "1" }))
    writeFileSync(join(root, name), content);
  symlinkSync("zoo", join(root, "link"));
  symlinkSync("/nowhere", join(root, "dangling"));
  execFileSync("mkfifo", [join(root, "pipe")]);
  writeFileSync(join(root, "zoo/inner"), "");
}

const ALL = [
  ".git/",
  "Alpha/",
  "node_modules/",
  "zoo/",
  ".env (1 byte)",
  "a (0 bytes)",
  "b.txt (5 bytes)",
  "c.log (1 byte)",
  "dangling -> /nowhere",
  "link -> zoo",
  "pipe (not a regular file)",
];

const ROWS: readonly (readonly [name: string, input: object, lines: readonly string[]])[] = [
  ["one level, directories first, with sizes", { path: "." }, ALL],
  ["a directory below", { path: "zoo" }, ["inner (0 bytes)"]],
  ["a link that leads to a directory", { path: "link" }, ["inner (0 bytes)"]],
  [
    "without what is to be ignored",
    { path: ".", ignore: ["*.{log,txt}", "zoo/", ".*", "[dlp]*"] },
    ["Alpha/", "node_modules/", "a (0 bytes)"],
  ],
];
for (const [name, input, lines] of ROWS) {
  test(name, async (t) => {
    const made = session(t);
    fill(made);
    const result = await made.call("list", input);
    assert.deepEqual([result.error, shown(result.content).split("\n")], [undefined, lines]);
  });
}

test("an empty directory", async (t) => {
  const { call, root } = session(t);
  mkdirSync(join(root, "empty"));
  assert.equal((await call("list", { path: "empty" })).content, "The directory is empty.");
});

test("at most 1,000 entries are given, and the rest is counted", async (t) => {
  const { call, root } = session(t);
  mkdirSync(join(root, "many"));
  for (let i = 0; i < 1002; i++) writeFileSync(join(root, "many", String(i).padStart(4, "0")), "");
  const lines = shown((await call("list", { path: "many" })).content).split("\n");
  assert.deepEqual([lines.length, lines[999], lines[1000]], [1001, "0999 (0 bytes)", "[2 more entries]"]);
});

test("a name with a line break cannot pass for two", async (t) => {
  const { call, root } = session(t);
  writeFileSync(join(root, "a\nb"), "");
  assert.equal((await call("list", { path: "." })).content, "a\\u000ab (0 bytes)");
});

const FAILURES: readonly (readonly [path: string, type: string])[] = [
  ["a", "path_is_not_a_directory"],
  ["a/b", "path_is_not_a_directory"],
  ["nope", "file_not_found"],
];
for (const [path, type] of FAILURES) {
  test(`${path}: ${type}`, async (t) => {
    const made = session(t);
    fill(made);
    assert.equal((await made.call("list", { path })).error?.type, type);
  });
}

test("a missing path is invalid", async (t) => {
  assert.equal((await session(t).call("list", {})).error?.type, "invalid_tool_params");
});
