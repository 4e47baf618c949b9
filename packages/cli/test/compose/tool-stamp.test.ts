import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, renameSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, test } from "node:test";
import { toolStamp } from "../../src/compose/tool-stamp.ts";

describe("the stamp of tool modules", () => {
  const rows: readonly [sentence: string, act: (root: string) => void, differs: boolean][] = [
    ["nothing happened", () => undefined, false],
    ["a module is new", (root) => writeFileSync(join(root, "b.mjs"), ""), true],
    ["a module is gone", (root) => rmSync(join(root, "a.mjs")), true],
    ["a module has other words", (root) => writeFileSync(join(root, "a.mjs"), "12"), true],
    ["another file took its place", (root) => replaced(root), true],
    ["what modules share changed", (root) => writeFileSync(join(root, "_lib/deep/x.mjs"), "12"), true],
    ["a named file changed", (root) => writeFileSync(join(root, "../named.mjs"), "12"), true],
    ["something was installed", (root) => writeFileSync(join(root, "node_modules/y.mjs"), "12"), false],
    ["a folder leads back to itself", (root) => symlinkSync("..", join(root, "_lib/loop")), true],
  ];
  for (const [sentence, act, differs] of rows) {
    test(`${sentence}: ${differs ? "another" : "the same"}`, (t) => {
      const directory = mkdtempSync(join(tmpdir(), "assent-stamp-"));
      t.after(() => rmSync(directory, { recursive: true, force: true }));
      const root = join(directory, "tools");
      for (const folder of ["_lib/deep", "node_modules"]) mkdirSync(join(root, folder), { recursive: true });
      for (const file of ["a.mjs", "_lib/deep/x.mjs", "node_modules/y.mjs", "../named.mjs"]) writeFileSync(join(root, file), "1");
      const paths = [root, join(directory, "named.mjs"), join(directory, "absent.mjs")];
      const before = toolStamp(paths);
      act(root);
      assert.equal(toolStamp(paths) !== before, differs);
    });
  }

  function replaced(root: string): void {
    writeFileSync(join(root, "../other"), "2");
    renameSync(join(root, "../other"), join(root, "a.mjs"));
  }
});
