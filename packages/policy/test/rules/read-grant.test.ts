import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { isFault } from "../../src/rules/fault.ts";
import { coversUnit, readGrant } from "../../src/rules/read-grant.ts";
import { OPTIONS, path, pathRequest } from "./rule-bench.ts";

const bound = (value: unknown): string => JSON.stringify(value);
const SCRIPT = `sha256:${"0".repeat(64)}`;

describe("the text of a grant", () => {
  const read: readonly (readonly [sentence: string, text: string])[] = [
    ["a rule", "Edit(src/**)"],
    ["a rule object without a bind", bound({ rule: "Edit(src/**)" })],
    ["a rule object behind blanks", `  ${bound({ rule: "Edit(src/**)" })}`],
    ["a rule that is bound to a script", bound({ rule: "Shell(npm test)", bind: { script: SCRIPT } })],
  ];
  for (const [sentence, text] of read) {
    test(`${sentence} is read, and kept as it is written`, () => {
      const rule = readGrant(text, OPTIONS);
      assert.ok(!isFault(rule));
      assert.deepEqual([rule.verdict, rule.at], ["allow", { text }]);
    });
  }

  const refused: readonly (readonly [sentence: string, text: string, message: RegExp])[] = [
    ["braces that are no JSON", "{rule}", /rule object/u],
    ["an object without a rule", bound({ bind: { script: SCRIPT } }), /rule object/u],
    ["a rule that is no text", bound({ rule: 1 }), /rule object/u],
    ["a bind that is no object", bound({ rule: "Shell(npm test)", bind: SCRIPT }), /by its digest/u],
    ["a bind without a script", bound({ rule: "Shell(npm test)", bind: {} }), /by its digest/u],
    ["a script that is no text", bound({ rule: "Shell(npm test)", bind: { script: 1 } }), /by its digest/u],
    ["a rule that cannot be read", "Edit([)", /class/u],
  ];
  for (const [sentence, text, message] of refused) {
    test(`${sentence} is refused`, () => {
      const rule = readGrant(text, OPTIONS);
      assert.ok(isFault(rule), "it was read");
      assert.match(rule.message, message);
    });
  }
});

describe("what a grant covers", () => {
  const rows: readonly (readonly [sentence: string, text: string, tool: string, sensitive: boolean, covered: boolean])[] = [
    ["what its rule allows", "Edit(src/**)", "write", false, true],
    ["nothing sensitive", "Edit(src/**)", "write", true, false],
    ["no other tool", "Edit(src/**)", "read", false, false],
    ["no other path", "Edit(lib/**)", "write", false, false],
  ];
  for (const [sentence, text, tool, sensitive, covered] of rows) {
    test(`${sentence}: ${text}`, () => {
      const rule = readGrant(text, OPTIONS);
      const about = pathRequest(tool, path("/w/app/src/a", { sensitive }));
      const [unit] = about.units;
      assert.ok(!isFault(rule) && unit);
      assert.equal(coversUnit(rule, about, unit), covered);
    });
  }
});
