import assert from "node:assert/strict";
import { test } from "node:test";
import { hookSource } from "../../src/hooks/hook-source.ts";
import type { LayerHooks } from "../../src/settings/load-policy.ts";
import { SettingsError } from "../../src/settings/problem.ts";

const parts = { functions: [], compileRule: () => assert.fail("no rule here") };

function layer(scope: LayerHooks["scope"], value: LayerHooks["value"]): LayerHooks {
  return { scope, file: `/${scope}.json`, value, placeOf: () => ({ line: 1, column: 1 }) };
}

function running(command: string): LayerHooks["value"] {
  return { PreToolUse: [{ hooks: [{ type: "command", command }] }] };
}

const BROKEN: LayerHooks["value"] = { PreToolUse: [{ matcher: "(", hooks: [{ type: "command", command: "x" }] }] };

test("section 1: layers run in the order given, each hook with its source", () => {
  const { entries } = hookSource([layer("team", running("t")), layer("user", running("u")), layer("project", running("p"))], parts);
  assert.deepEqual(
    entries().map(({ name, source }) => `${source} ${name}`),
    ["team t", "user u", "project p"],
  );
});

test("section 1: any configuration error stops the start, with all problems of all files", () => {
  assert.throws(
    () => hookSource([layer("user", BROKEN), layer("project", { Nope: [] }), layer("team", running("t"))], parts),
    (error) => {
      assert.ok(error instanceof SettingsError);
      assert.deepEqual(
        error.problems.map(({ file, key }) => [file, key]),
        [
          ["/project.json", "hooks.Nope"],
          ["/user.json", "hooks.PreToolUse[0].matcher"],
        ],
      );
      return true;
    },
  );
});

test("section 1: at a reload with an error the last good configuration stays, and the error is told", () => {
  const source = hookSource([layer("user", running("old"))], parts);
  const problems = source.reload([layer("user", BROKEN), layer("project", running("new"))]);
  assert.deepEqual(
    problems.map(({ key }) => key),
    ["hooks.PreToolUse[0].matcher"],
  );
  assert.deepEqual(
    source.entries().map(({ name }) => name),
    ["old"],
  );
  assert.deepEqual(source.reload([layer("user", running("new"))]), []);
  assert.deepEqual(
    source.entries().map(({ name }) => name),
    ["new"],
  );
});

test("a warning does not keep hooks out", () => {
  const value = { Stop: [{ matcher: "x", hooks: [{ type: "command", command: "s" }] }] };
  const source = hookSource([layer("user", value)], parts);
  assert.equal(source.entries().length, 1);
  assert.deepEqual(
    source.reload([layer("user", value)]).map(({ effect }) => effect),
    ["warning"],
  );
});
