import assert from "node:assert/strict";
import { chmodSync, existsSync, linkSync, mkdirSync, readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { createHostPlanFiles, findPlanFile } from "../../src/files/plan-files.ts";
import { scratch } from "../scratch.ts";

const files = createHostPlanFiles();

test("a plan is read as it is; a missing plan is undefined", async (t) => {
  const root = scratch(t);
  writeFileSync(join(root, "p.md"), "\ufeff# Zöe\r\n");
  assert.equal(await files.read(join(root, "p.md")), "\ufeff# Zöe\r\n");
  assert.equal(await files.read(join(root, "q.md")), undefined);
  assert.equal(await files.read(join(root, "p.md/x.md")), undefined);
});

const NO_PLANS: readonly [sentence: string, make: (root: string, path: string) => void, type: string][] = [
  ["a link", (root, path) => symlinkSync(join(root, "other"), path), "target_not_regular_file"],
  ["a link that leads nowhere", (root, path) => symlinkSync(join(root, "nowhere"), path), "target_not_regular_file"],
  ["a file with another name", (root, path) => linkSync(join(root, "other"), path), "target_not_regular_file"],
  ["a directory", (_root, path) => mkdirSync(path), "target_not_regular_file"],
  ["more than 256 KiB", (_root, path) => writeFileSync(path, "x".repeat(256 * 1024 + 1)), "file_too_large"],
  ["not UTF-8", (_root, path) => writeFileSync(path, Buffer.from([0x23, 0xff])), "read_content_failure"],
];
for (const [sentence, make, type] of NO_PLANS) {
  test(`${sentence} is not accepted as a plan`, async (t) => {
    const root = scratch(t);
    writeFileSync(join(root, "other"), "secret");
    make(root, join(root, "p.md"));
    await assert.rejects(files.read(join(root, "p.md")), { name: "ToolError", type });
  });
}

test("exactly 256 KiB is one", async (t) => {
  const root = scratch(t);
  writeFileSync(join(root, "p.md"), "x".repeat(256 * 1024));
  assert.equal((await files.read(join(root, "p.md")))?.length, 256 * 1024);
});

test("a plan behind a linked directory is not accepted", async (t) => {
  const root = scratch(t);
  mkdirSync(join(root, "real"));
  writeFileSync(join(root, "real/p.md"), "x");
  symlinkSync("real", join(root, "plans"));
  await assert.rejects(files.read(join(root, "plans/p.md")), { type: "target_not_regular_file" });
});

test("a plan gets its lasting name whole, and keeps its mode", async (t) => {
  const root = scratch(t);
  const [from, to] = [join(root, "s_1.md"), join(root, "Fix.md")];
  writeFileSync(from, "# Fix", { mode: 0o640 });
  chmodSync(from, 0o640);
  assert.equal(await files.isTaken(to), false);
  assert.equal(await files.keepAs(from, to), true);
  assert.deepEqual([readdirSync(root), readFileSync(to, "utf8"), statSync(to).mode & 0o777], [["Fix.md"], "# Fix", 0o640]);
  assert.equal(await files.isTaken(to), true);
});

for (const kind of ["file", "link"] as const) {
  test(`no ${kind} of that name is replaced`, async (t) => {
    const root = scratch(t);
    const [from, to] = [join(root, "s_1.md"), join(root, "Fix.md")];
    writeFileSync(from, "# Fix");
    if (kind === "file") writeFileSync(to, "mine");
    else symlinkSync("nowhere", to);
    assert.equal(await files.isTaken(to), true);
    assert.equal(await files.keepAs(from, to), false);
    assert.deepEqual([existsSync(from), readdirSync(root).sort()], [true, ["Fix.md", "s_1.md"]]);
    if (kind === "file") assert.equal(readFileSync(to, "utf8"), "mine");
  });
}

test("a rename that fails leaves no name behind", async (t) => {
  const root = scratch(t);
  await assert.rejects(files.keepAs(join(root, "gone.md"), join(root, "Fix.md")), { code: "ENOENT" });
  assert.deepEqual(readdirSync(root), []);
});

test("the plan goes into the workspace; where nothing can be put there, into the state directory", async (t) => {
  const root = scratch(t);
  const [workspace, stateDirectory] = [join(root, "ws"), join(root, "state")];
  mkdirSync(workspace);
  mkdirSync(stateDirectory);
  symlinkSync("state", join(root, "alias"));
  assert.equal(await findPlanFile({ workspace, stateDirectory }, "s_1"), join(workspace, ".assent/plans/s_1.md"));
  writeFileSync(join(workspace, ".assent"), "a file where the directory would be");
  assert.equal(await findPlanFile({ workspace, stateDirectory: join(root, "alias") }, "s_1"), join(stateDirectory, "plans/s_1.md"));
});
