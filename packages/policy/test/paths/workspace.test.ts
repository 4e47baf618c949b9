import assert from "node:assert/strict";
import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { findWorkspace } from "../../src/paths/workspace.ts";
import { scratch } from "../scratch.ts";

const ROWS: readonly (readonly [name: string, marks: readonly string[], cwd: string, workspace: string])[] = [
  ["the nearest directory upward that holds .git", ["a/.git", "a/b/c"], "a/b/c", "a"],
  ["the nearest directory upward that holds .assent", ["a/.assent", "a/b"], "a/b", "a"],
  ["the nearer of the two", ["a/.git", "a/b/.assent", "a/b/c"], "a/b/c", "a/b"],
  ["the working directory itself, when it holds one", ["a/.git"], "a", "a"],
];
for (const [name, marks, cwd, workspace] of ROWS) {
  test(`the workspace is ${name}`, (t) => {
    const root = scratch(t);
    for (const mark of marks) mkdirSync(join(root, mark), { recursive: true });
    assert.equal(findWorkspace(join(root, cwd)), join(root, workspace));
  });
}

test("without a mark upward, the workspace is the working directory", (t) => {
  const root = scratch(t);
  mkdirSync(join(root, "x"));
  assert.equal(findWorkspace(join(root, "x")), join(root, "x"));
});

test("a worktree's .git, which is a file, counts", (t) => {
  const root = scratch(t);
  mkdirSync(join(root, "x"));
  writeFileSync(join(root, ".git"), "gitdir: elsewhere");
  assert.equal(findWorkspace(join(root, "x")), root);
});

test("the workspace is always a real path, and one that is asked for is taken as it is", (t) => {
  const root = scratch(t);
  mkdirSync(join(root, "real", "deep"), { recursive: true });
  mkdirSync(join(root, "real", ".git"));
  symlinkSync("real", join(root, "link"));
  assert.equal(findWorkspace(join(root, "link", "deep")), join(root, "real"));
  assert.equal(findWorkspace(root, "link/deep"), join(root, "real", "deep"));
});

test("a path that is not a directory is workspace_not_found", (t) => {
  const root = scratch(t);
  writeFileSync(join(root, "file"), "");
  for (const place of ["file", "absent", "file/x"]) assert.throws(() => findWorkspace(root, place), { code: "workspace_not_found" });
  assert.throws(() => findWorkspace(join(root, "absent")), { code: "workspace_not_found" });
});
