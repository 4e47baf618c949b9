import assert from "node:assert/strict";
import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "node:test";
import { createPathLookup } from "../../../src/paths/lookup.ts";
import { lookAtPath } from "../../../src/shell/effects/look-at.ts";
import { scratch } from "../../scratch.ts";

const ROWS: readonly (readonly [sentence: string, path: string, hazards: readonly string[], follows?: boolean])[] = [
  ["a file of the workspace", "a", []],
  ["a file that is not there", "b/c", []],
  ["a file outside", "../out/a", ["outside_workspace"]],
  ["a link that leads outside", "link/a", ["outside_workspace"]],
  ["an output of the session", "../out/kept/1", []],
  ["a file that may hold secrets", ".env", ["sensitive_file"]],
  ["nothing", "", ["path_unresolved"]],
  ["up and down again", "sub/../a", []],
  ["up from where a link leads", "inner/../a", ["path_unresolved"]],
  ["up from what is not there", "none/../a", ["path_unresolved"]],
  ["dots in a name", "a..b", []],
  ["a sign of the home, for another shell", "~x", ["other_shell"]],
  ["a variable, for another shell", "%PATH%", ["other_shell"]],
  ["two letters between the signs", "%ab%", []],
  ["a pattern, for another shell", "@(a)", ["other_shell"]],
  ["a hat at the end", "a^", ["other_shell"]],
  ["a hat inside", "a^b", []],
  ["a backslash", "a\\b", ["other_system_path", "other_shell", "outside_workspace"]],
  ["a directory with a link outside, which is not followed", ".", []],
  ["a directory with a link outside, which is followed", ".", ["outside_workspace"], true],
  ["a directory without one, which is followed", "sub", [], true],
];

describe("a path of a command", () => {
  for (const [sentence, path, expected, follows = false] of ROWS) {
    test(`${sentence}: '${path}'`, (t) => {
      const root = scratch(t);
      const workspace = join(root, "ws");
      for (const directory of ["ws/sub/deep", "out/kept"]) mkdirSync(join(root, directory), { recursive: true });
      writeFileSync(join(workspace, "a"), "");
      symlinkSync("../out", join(workspace, "link"));
      symlinkSync("sub/deep", join(workspace, "inner"));
      const look = createPathLookup({ workspace, home: join(root, "home"), readable: [join(root, "out/kept")] });
      const { operand, hazards } = lookAtPath({ path, use: "read", follows }, { cwd: workspace, workspace, look });
      assert.deepEqual(
        hazards.map(({ id }) => id),
        expected,
      );
      assert.equal(operand.use, "read");
    });
  }
});
