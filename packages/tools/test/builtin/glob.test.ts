import assert from "node:assert/strict";
import { mkdirSync, symlinkSync, utimesSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { test } from "node:test";
import { session, shown } from "../session.ts";

/** Each is newer than the one before. */
const FILES = [
  "a.ts",
  "src/b.ts",
  "src/deep/c.tsx",
  "src/deep/d.test.ts",
  ".github/e.yml",
  "ignored/f.ts",
  "g.log",
  "node_modules/h.ts",
  ".git/i.ts",
  "lib/j.js",
  "lib/[k].js",
];

function put(root: string, files: readonly string[]): void {
  for (const [index, path] of files.entries()) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), "");
    utimesSync(join(root, path), index + 1, index + 1);
  }
}

const ROWS: readonly (readonly [name: string, input: object, found: readonly string[]])[] = [
  ["a name at any depth, newest first", { pattern: "*.ts" }, ["src/deep/d.test.ts", "src/b.ts", "a.ts"]],
  ["a path from the top", { pattern: "src/*.ts" }, ["src/b.ts"]],
  ["a path from the top, written with a dot", { pattern: "./*.ts" }, ["a.ts"]],
  ["any number of directories", { pattern: "src/**/*.ts" }, ["src/deep/d.test.ts", "src/b.ts"]],
  ["everything in a directory", { pattern: "src/**" }, ["src/deep/d.test.ts", "src/deep/c.tsx", "src/b.ts"]],
  ["either of two", { pattern: "**/*.{tsx,js}" }, ["lib/[k].js", "lib/j.js", "src/deep/c.tsx"]],
  ["one character", { pattern: "lib/?.js" }, ["lib/j.js"]],
  ["one of some characters", { pattern: "[ab].ts" }, ["src/b.ts", "a.ts"]],
  ["characters with a meaning, escaped", { pattern: "lib/\\[k\\].js" }, ["lib/[k].js"]],
  ["hidden files", { pattern: "*.yml" }, [".github/e.yml"]],
  ["what is below a directory that is given", { pattern: "**/*.tsx", path: "src" }, ["src/deep/c.tsx"]],
  ["a path from the top of the directory that is given", { pattern: "deep/*", path: "src" }, ["src/deep/d.test.ts", "src/deep/c.tsx"]],
];
for (const [name, input, found] of ROWS) {
  test(name, async (t) => {
    const { call, root } = session(t);
    put(root, FILES);
    writeFileSync(join(root, ".gitignore"), "ignored\n*.log\n");
    const result = await call("glob", input);
    assert.deepEqual([result.error, shown(result.content).split("\n")], [undefined, found]);
  });
}

test("a pattern may begin with the directory itself", async (t) => {
  const { call, root } = session(t);
  put(root, FILES);
  assert.equal((await call("glob", { pattern: `${root}/src/*.ts` })).content, "src/b.ts");
});

test("links are neither followed nor found", async (t) => {
  const { call, root } = session(t);
  put(root, ["a/x.ts"]);
  symlinkSync("a", join(root, "link"));
  symlinkSync("a/x.ts", join(root, "y.ts"));
  assert.equal((await call("glob", { pattern: "*.ts" })).content, "a/x.ts");
});

test("nothing found is a success", async (t) => {
  const result = await session(t).call("glob", { pattern: "*.nothing" });
  assert.deepEqual([result.error, result.content], [undefined, "No files found."]);
});

test("of more than 1,000 the newest are given, and the rest is counted", async (t) => {
  const { call, root } = session(t);
  put(
    root,
    Array.from({ length: 1003 }, (_, i) => `${i}.txt`),
  );
  const lines = shown((await call("glob", { pattern: "*.txt" })).content).split("\n");
  assert.deepEqual([lines.length, lines[0], lines[999], lines[1000]], [1001, "1002.txt", "3.txt", "[3 more files]"]);
});

const FAILURES: readonly (readonly [path: string, type: string])[] = [
  ["nope", "search_path_not_found"],
  ["f", "search_path_not_a_directory"],
];
for (const [path, type] of FAILURES) {
  test(`${path}: ${type}`, async (t) => {
    const { call, root } = session(t);
    writeFileSync(join(root, "f"), "");
    assert.equal((await call("glob", { pattern: "*", path })).error?.type, type);
  });
}
