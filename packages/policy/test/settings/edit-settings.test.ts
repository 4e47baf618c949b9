import assert from "node:assert/strict";
import { describe, test } from "node:test";
import fc from "fast-check";
import { addRule } from "../../src/settings/edit-settings.ts";
import { readSettings } from "../../src/settings/read-settings.ts";
import type { RuleObject } from "../../src/settings/rule-entry.ts";

type Row = readonly [sentence: string, before: string, after: string, line: number];

/** Every row adds `NEW` to `permissions.allow`. */
const ROWS: readonly Row[] = [
  ["a missing file gets a skeleton", "", '{\n  "permissions": {\n    "allow": [\n      "NEW"\n    ]\n  }\n}\n', 4],
  [
    "a file of comments keeps them",
    "// mine\r\n",
    '// mine\r\n{\r\n  "permissions": {\r\n    "allow": [\r\n      "NEW"\r\n    ]\r\n  }\r\n}\r\n',
    5,
  ],
  ["an empty object", "{}", '{\n  "permissions": {\n    "allow": [\n      "NEW"\n    ]\n  }\n}', 4],
  ["an empty object with a byte order mark", "\uFEFF{}\n", '\uFEFF{\n  "permissions": {\n    "allow": [\n      "NEW"\n    ]\n  }\n}\n', 4],
  [
    "an object without permissions",
    '{\n\t"mode": "plan" // why\n}\n',
    '{\n\t"mode": "plan", // why\n\t"permissions": {\n\t\t"allow": [\n\t\t\t"NEW"\n\t\t]\n\t}\n}\n',
    5,
  ],
  [
    "permissions without the list",
    '{\n    "permissions": {\n        "deny": ["x"]\n    }\n}',
    '{\n    "permissions": {\n        "deny": ["x"],\n        "allow": [\n            "NEW"\n        ]\n    }\n}',
    5,
  ],
  [
    "an empty list",
    '{\n  "permissions": {\n    "allow": []\n  }\n}',
    '{\n  "permissions": {\n    "allow": [\n      "NEW"\n    ]\n  }\n}',
    4,
  ],
  [
    "an empty list with a remark",
    '{\n  "permissions": {\n    "allow": [\n      // none yet\n    ]\n  }\n}',
    '{\n  "permissions": {\n    "allow": [\n      // none yet\n      "NEW"\n    ]\n  }\n}',
    5,
  ],
  ["a list on one line", '{"permissions":{"allow":["a", "b"]}}', '{"permissions":{"allow":["a", "b", "NEW"]}}', 1],
  ["a list on one line with blanks", '{ "permissions": { "allow": [ "a" ] } }', '{ "permissions": { "allow": [ "a", "NEW" ] } }', 1],
  ["a list on one line with a trailing comma", '{"permissions":{"allow":["a", ]}}', '{"permissions":{"allow":["a", "NEW", ]}}', 1],
  ["a list on one line with a remark", '{"permissions":{"allow":["a" /* , */]}}', '{"permissions":{"allow":["a", /* , */ "NEW"]}}', 1],
  [
    "a list on one line in a file of many",
    '{\n  "permissions": { "allow": ["a"] } // x\n}\n',
    '{\n  "permissions": { "allow": ["a", "NEW"] } // x\n}\n',
    2,
  ],
  [
    "a list on many lines; remarks stay with their rules",
    '{\n  "permissions": {\n    "allow": [\n      "a", // first\n      "b" // second, the last\n      // end of list\n    ],\n    "deny": []\n  }\n}\n',
    '{\n  "permissions": {\n    "allow": [\n      "a", // first\n      "b", // second, the last\n      // end of list\n      "NEW"\n    ],\n    "deny": []\n  }\n}\n',
    7,
  ],
  [
    "a trailing comma is kept as a habit",
    '{\n  "permissions": {\n    "allow": [\n      "a",\n    ],\n  },\n}\n',
    '{\n  "permissions": {\n    "allow": [\n      "a",\n      "NEW",\n    ],\n  },\n}\n',
    5,
  ],
  [
    "a comma in a remark is none",
    '{"permissions":{"allow":[\n"a" // one, two\n]}}',
    '{"permissions":{"allow":[\n"a", // one, two\n"NEW"\n]}}',
    3,
  ],
  [
    "several rules on one line of many, further in than usual",
    '{\n  "permissions": {\n    "allow": [\n          "a", "b"\n    ]\n  }\n}\n',
    '{\n  "permissions": {\n    "allow": [\n          "a", "b",\n      "NEW"\n    ]\n  }\n}\n',
    5,
  ],
  [
    "a list that begins behind its bracket",
    '{\n   "permissions": { "allow": ["a",\n "b"]\n}}\n',
    '{\n   "permissions": { "allow": ["a",\n "b",\n "NEW"\n]\n}}\n',
    4,
  ],
  [
    "line ends of another system",
    '{\r\n  "permissions": {\r\n    "allow": [\r\n      "a"\r\n    ]\r\n  }\r\n}\r\n',
    '{\r\n  "permissions": {\r\n    "allow": [\r\n      "a",\r\n      "NEW"\r\n    ]\r\n  }\r\n}\r\n',
    5,
  ],
  [
    "an equal text elsewhere is not taken for the rule",
    '{\n  "model": "NEW",\n  "permissions": {\n    "allow": [\n      "a"\n    ],\n    "deny": ["NEW"]\n  }\n}',
    '{\n  "model": "NEW",\n  "permissions": {\n    "allow": [\n      "a",\n      "NEW"\n    ],\n    "deny": ["NEW"]\n  }\n}',
    6,
  ],
  [
    "a rule that is there stays where it is",
    '{"permissions":{"allow":[\n"NEW" , // why\n"b"]}}',
    '{"permissions":{"allow":[\n"NEW" , // why\n"b"]}}',
    2,
  ],
  [
    "a rule that is there in the long form",
    '{"permissions":{"allow":[{\n"rule": "NEW"}]}}',
    '{"permissions":{"allow":[{\n"rule": "NEW"}]}}',
    2,
  ],
  [
    "a rule that is there with a reason says something else",
    '{"permissions":{"allow":[{"rule":"NEW","because":"x"}]}}',
    '{"permissions":{"allow":[{"rule":"NEW","because":"x"}, "NEW"]}}',
    1,
  ],
];

describe("adding a rule", () => {
  for (const [sentence, before, after, line] of ROWS) {
    test(sentence, () => {
      assert.deepEqual(addRule(before, "allow", "NEW"), { text: after, line });
      assert.deepEqual(addRule(after, "allow", "NEW"), { text: after, line });
      const { rules, problems } = readSettings("f", after.replace("\uFEFF", ""));
      assert.deepEqual(problems, []);
      assert.ok(rules.some(({ list, rule, at }) => list === "permissions.allow" && rule === "NEW" && at.line === line));
    });
  }

  test("a rule object is written whole", () => {
    const rule: RuleObject = { rule: "Shell(npm test)", bind: { script: `sha256:${"0".repeat(64)}` } };
    const { text, line } = addRule('{\n "permissions": {\n  "ask": []\n }\n}\n', "ask", rule);
    const expected = `{\n "permissions": {\n  "ask": [\n   {\n    "rule": "Shell(npm test)",\n    "bind": {\n     "script": "sha256:${"0".repeat(64)}"\n    }\n   }\n  ]\n }\n}\n`;
    assert.deepEqual({ text, line }, { text: expected, line: 5 });
    assert.deepEqual(addRule(text, "ask", rule), { text, line });
  });

  test("an object that says nothing beside its rule is written as a text", () =>
    assert.equal(addRule('{"permissions":{"deny":["a"]}}', "deny", { rule: "b" }).text, '{"permissions":{"deny":["a", "b"]}}'));

  const broken: readonly (readonly [text: string, message: string])[] = [
    ["{", "The settings file is not valid JSON with comments. Fix it first."],
    ["{} {}", "The settings file is not valid JSON with comments. Fix it first."],
    ["[]", "The settings file must contain an object. Fix it first."],
    ['"x"', "The settings file must contain an object. Fix it first."],
    ['{"permissions":[]}', "permissions must be an object. Fix the settings file first."],
    ['{"permissions":{"allow":{}}}', "permissions.allow must be a list. Fix the settings file first."],
  ];
  for (const [text, message] of broken) {
    test(`${text} is mended by a person first`, () => assert.throws(() => addRule(text, "allow", "NEW"), { message }));
  }
});

/** Settings in many spellings: comments everywhere, any indentation and line end, trailing commas, one line or many. */
const spelled = fc
  .record({
    end: fc.constantFrom("\n", "\r\n", " "),
    unit: fc.constantFrom("", " ", "  ", "\t", "    "),
    note: fc.constantFrom("", " /* a, [b] */"),
    rules: fc.array(fc.constantFrom('"a"', '"b\\u0063"', '{"rule": "d"}'), { maxLength: 4 }),
    comma: fc.constantFrom("", ","),
    mark: fc.constantFrom("", "\uFEFF"),
  })
  .map(({ end, unit, note, rules, comma, mark }) => {
    const item = (depth: number, text: string): string => `${end}${unit.repeat(depth)}${text}`;
    const list = rules
      .map((rule, index) => item(3, `${rule}${note}${index + 1 < rules.length ? "," : rules.length > 0 ? comma : ""}`))
      .join("");
    const allow = item(2, `"allow":${note} [${note}${list}${item(2, "]")}`);
    return `${mark}{${item(1, `"permissions": {${allow}${comma}${item(1, "}")}`)}${comma}${note}${end}}${end}`;
  });

test("law: what was there stays in order, and the new rule is the last", () => {
  fc.assert(
    fc.property(spelled, (before) => {
      const { text } = addRule(before, "allow", "NEW");
      const rulesOf = (file: string): readonly string[] => readSettings("f", file.replace("\uFEFF", "")).rules.map(({ rule }) => rule);
      assert.deepEqual(readSettings("f", text.replace("\uFEFF", "")).problems, []);
      assert.deepEqual(rulesOf(text), [...rulesOf(before), "NEW"]);
      assert.ok(isSubsequence(before.replaceAll(/\s/g, ""), text.replaceAll(/\s/g, "")));
    }),
  );
});

function isSubsequence(inner: string, outer: string): boolean {
  let at = 0;
  for (const unit of outer) if (unit === inner[at]) at += 1;
  return at === inner.length;
}
