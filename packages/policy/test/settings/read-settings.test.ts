import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { readSettings } from "../../src/settings/read-settings.ts";
import { SETTINGS } from "../../src/settings/settings.ts";
import { HUGE, SAMPLES } from "./setting-samples.ts";

/** `LINE:COLUMN type key effect`, in the order found. */
function problemsOf(text: string): readonly string[] {
  return readSettings("f", text).problems.map(({ type, line, column, key, effect }) => `${line}:${column} ${type} ${key} ${effect}`);
}

function nested(key: string, value: unknown): string {
  return JSON.stringify(key.split(".").reduceRight((inner: unknown, name) => ({ [name]: inner }), value));
}

function deepList(levels: number): string {
  return `{"hooks":{"a":${"[".repeat(levels - 2)}${"]".repeat(levels - 2)}}}`;
}

describe("reading JSONC", () => {
  const rows: readonly [sentence: string, text: string, expected: readonly string[]][] = [
    ["an empty object", "{}", []],
    ["comments of both kinds and trailing commas", '// a\n{ /* b */ "mode": "plan", "secretEnv": ["A",], } // end', []],
    ["an empty file", "", ["1:1 settings_syntax  refuse"]],
    ["only a comment", "// nothing\n", ["2:1 settings_syntax  refuse"]],
    ["a list at the root", "[]", ["1:1 settings_type  refuse"]],
    ["single quotes", "{'mode': 1}", ["1:2 settings_syntax  refuse"]],
    ["two values", "{}{}", ["1:3 settings_syntax  refuse"]],
    ["a comment without an end", '{"mode":"plan"} /* x', ["1:17 settings_syntax  refuse"]],
    ["two commas", '{"mode":"plan",,}', ["1:16 settings_syntax  refuse"]],
    ["a raw control character", '{"model":"a\tb"}', ["1:10 settings_syntax  refuse"]],
    ["half a character", '{"model":"\\ud83d"}', ["1:10 settings_syntax model refuse"]],
    ["a key twice", '{"mode":"plan","mode":"yolo"}', ["1:16 settings_duplicate_key mode refuse"]],
    ["a key twice, once escaped", '{"mode":"plan","m\\u006fde":"yolo"}', ["1:16 settings_duplicate_key mode refuse"]],
    [
      "a key twice inside a rule",
      '{"permissions":{"deny":[{"rule":"a","rule":"b"}]}}',
      ["1:37 settings_duplicate_key permissions.deny[0].rule refuse"],
    ],
    ["a key twice inside hooks", '{"hooks":{"Stop":[],"Stop":[]}}', ["1:21 settings_duplicate_key hooks.Stop refuse"]],
    ["__proto__", '{"__proto__":{"mode":"yolo"}}', ["1:2 settings_unknown_key __proto__ refuse"]],
    ["__proto__ at depth", '{"hooks":{"__proto__":{"a":1}}}', ["1:11 settings_unknown_key hooks.__proto__ refuse"]],
    ["constructor at depth", '{"hooks":{"a":[{"constructor":1}]}}', ["1:17 settings_unknown_key hooks.a[0].constructor refuse"]],
    ["prototype, escaped", '{"permissions":{"prototyp\\u0065":1}}', ["1:17 settings_unknown_key permissions.prototype refuse"]],
    ["depth 32", deepList(32), []],
    ["depth 33", deepList(33), [`1:${'{"hooks":{"a":'.length + 31} settings_syntax  refuse`]],
    ["a hundred thousand brackets do not end the process", "[".repeat(100_000), ["1:33 settings_syntax  refuse"]],
  ];
  for (const [sentence, text, expected] of rows) test(sentence, () => assert.deepEqual(problemsOf(text), expected));

  test("no key becomes a prototype", () => {
    const { hooks } = readSettings("f", '{"hooks":{"a":1}}');
    assert.equal(Reflect.get(Object(hooks?.value.value), "mode"), undefined);
    readSettings("f", '{"__proto__":{"polluted":1},"hooks":{"__proto__":{"polluted":1}}}');
    assert.equal(Reflect.get({}, "polluted"), undefined);
  });
});

describe("places", () => {
  const rows: readonly [sentence: string, text: string, expected: readonly string[]][] = [
    ["after line feeds", '{\n  "x": 1\n}', ["2:3 settings_unknown_key x refuse"]],
    ["after carriage returns with line feeds", '{\r\n\r\n  "x": 1\r\n}', ["3:3 settings_unknown_key x refuse"]],
    ["after lone carriage returns", '{\r "x": 1}', ["2:2 settings_unknown_key x refuse"]],
    ["a character beyond the first plane counts as two units", '{"model":"😀😀", "x": 1}', ["1:18 settings_unknown_key x refuse"]],
    ["a composed letter counts as it is written", '{"model":"é", "x": 1}', ["1:15 settings_unknown_key x refuse"]],
    ["a line separator inside a string does not end the line", '{"model":"a\u2028", "x": 1}', ["1:16 settings_unknown_key x refuse"]],
    ["an item of a list", '{"secretEnv": ["A", 5]}', ["1:21 settings_type secretEnv[1] refuse"]],
    ["a comment before it", '{/* 😀 */ "x": 1}', ["1:11 settings_unknown_key x refuse"]],
  ];
  for (const [sentence, text, expected] of rows) test(sentence, () => assert.deepEqual(problemsOf(text), expected));

  test("a rule has the place of its text, in both forms", () => {
    const { rules } = readSettings("f", '{"permissions":{\n "deny": ["a",\n  {"because": "x", "rule": "b"}]}}');
    assert.deepEqual(
      rules.map(({ rule, at, key }) => [rule, at, key]),
      [
        ["a", { line: 2, column: 11 }, "permissions.deny[0]"],
        ["b", { line: 3, column: 28 }, "permissions.deny[1]"],
      ],
    );
    const example = readSettings("f", '{"permissions":{"ask":[{"rule":"a","match":["x",\n"y"]}]}}').rules[0];
    assert.deepEqual(example?.placeOf("match", 1), { line: 2, column: 1 });
  });
});

describe("unknown keys name the nearest known one", () => {
  const rows: readonly [key: string, nearest: string][] = [
    ["permissons.deny", "permissions"],
    ["permissions.dney", "permissions.deny"],
    ["Mode", "mode"],
    ["deny", "permissions.deny"],
    ["allow", "permissions.allow"],
    ["tools.maxConcurency", "tools.maxConcurrency"],
    ["onask", "onAsk"],
    ["trust", "mcp.trusted"],
    ["hook", "hooks"],
  ];
  for (const [key, nearest] of rows) {
    test(`${key} → ${nearest}`, () => {
      const { problems } = readSettings("f", nested(key, []));
      assert.equal(problems[0]?.type, "settings_unknown_key");
      assert.ok(problems[0].message.endsWith(`Did you mean ${nearest}?`), problems[0].message);
    });
  }
  for (const key of ["colour", "a", "tools.c", "permissions.everything"]) {
    test(`${key} is not near any key, so none is suggested`, () => {
      const { problems } = readSettings("f", nested(key, []));
      assert.equal(problems[0]?.message, `Unknown key ${key}.`);
      assert.match(
        problems[0].hint ?? "",
        key.includes(".") ? /^Remove it\. Keys here: .+\.$/ : /^Remove it\. docs\/settings\.md lists all keys\.$/,
      );
    });
  }
  test("a renamed key names the new one", () => {
    const { problems } = readSettings("f", '{"ask":{"notify":"off"}}');
    assert.deepEqual(
      [problems[0]?.type, problems[0]?.effect, problems[0]?.message, problems[0]?.hint],
      ["settings_unknown_key", "refuse", "The key ask.notify is now called notify.terminal.", 'Write: { "notify": { "terminal": … } }'],
    );
  });
  test("a key with dots does not stand for a nested one", () => {
    const { problems, rules } = readSettings("f", '{"permissions.deny":["a"]}');
    assert.deepEqual([problems[0]?.type, rules.length], ["settings_unknown_key", 0]);
    assert.equal(problems[0]?.message, "The key permissions.deny is written with a dot, but keys are nested.");
    assert.equal(problems[0]?.hint, 'Write it nested: { "permissions": { "deny": [...] } }');
    assert.equal(readSettings("f", '{"mcp.trusted":["a"]}').problems[0]?.hint, 'Write it nested: { "mcp": { "trusted": … } }');
    assert.equal(readSettings("f", '{"permissions.dney":[]}').problems[0]?.hint, 'Keys are nested: { "permissions": { "deny": [...] } }');
  });
  test("a file of unknown keys costs no more than it must", () => {
    const many = Array.from({ length: 60_000 }, (_, index) => `"k${index}":0`).join(",");
    assert.ok(problemsOf(`{${many}}`).length <= 1_000);
  });
  test("a refusal after ten thousand warnings is not lost", () => {
    const numbers = Array.from({ length: 9_999 }, () => "1").join(",");
    assert.ok(problemsOf(`{"permissions":{"allow":[${numbers}],"dney":[]}}`).some((said) => said.endsWith("refuse")));
  });
});

describe("every key", () => {
  test("the table of this test has every key of the settings", () => assert.deepEqual(Object.keys(SAMPLES), Object.keys(SETTINGS)));
  for (const [key, { good, wrong }] of Object.entries(SAMPLES)) {
    for (const [value, read = value] of good) {
      test(`${key} may be ${JSON.stringify(value)}`, () => {
        const { values, problems } = readSettings("f", nested(key, value));
        assert.deepEqual(problems, []);
        const found = [...values].find(([name]) => name === key);
        if (found) assert.deepEqual(found[1].value, read);
        else assert.ok(SETTINGS[key as keyof typeof SETTINGS].merge === "rules" || key === "hooks");
      });
    }
    for (const value of wrong) {
      test(`${key} may not be ${JSON.stringify(value) ?? "undefined"}`, () => {
        const problems = problemsOf(value === HUGE ? nested(key, "HUGE").replace('"HUGE"', "1e999") : nested(key, value));
        assert.deepEqual(
          problems.map((said) => said.split(" ")[1]),
          ["settings_type"],
        );
        assert.ok(problems[0]?.endsWith("refuse"));
      });
    }
  }
  test("an unknown field of a redaction pattern is an unknown key", () =>
    assert.deepEqual(problemsOf('{"redaction":{"patterns":[{"name":"x","regex":".*"}]}}'), [
      "1:39 settings_unknown_key redaction.patterns[0].regex refuse",
    ]));
  test("version 1 is known, any other value is not", () => {
    assert.deepEqual(problemsOf('{"version":1}'), []);
    for (const other of ["2", "0", '"1"', "true", "null", "1.5", "[1]"]) {
      assert.deepEqual(problemsOf(`{"version":${other}}`), ["1:12 settings_version version refuse"]);
    }
  });
  test("a group that is not an object", () =>
    assert.deepEqual(problemsOf('{"permissions":[]}'), ["1:16 settings_type permissions refuse"]));
});

describe("rule objects", () => {
  const digest = `sha256:${"a".repeat(64)}`;
  const rows: readonly [sentence: string, rule: unknown, expected: readonly string[]][] = [
    ["a text", "a", []],
    ["all fields", { rule: "a", match: ["x", { file_path: "y" }], notMatch: ["z"], because: "b", bind: { script: digest } }, []],
    ["no rule", { match: [] }, ["settings_type permissions.deny[0]"]],
    ["a rule that is not a string", { rule: 1 }, ["settings_type permissions.deny[0].rule"]],
    ["an unknown field", { rule: "a", expires: 1 }, ["settings_unknown_key permissions.deny[0].expires"]],
    ["examples that are no list", { rule: "a", match: "x" }, ["settings_type permissions.deny[0].match"]],
    ["an example that is a number", { rule: "a", notMatch: ["x", 1] }, ["settings_type permissions.deny[0].notMatch[1]"]],
    ["a reason of 500 characters", { rule: "a", because: "x".repeat(500) }, []],
    ["a reason of 501 characters", { rule: "a", because: "x".repeat(501) }, ["settings_type permissions.deny[0].because"]],
    ["a reason of two lines", { rule: "a", because: "x\ny" }, ["settings_type permissions.deny[0].because"]],
    ["a bind of something else", { rule: "a", bind: { file: digest } }, ["settings_type permissions.deny[0].bind"]],
    ["a bind that is not a digest", { rule: "a", bind: { script: "abc" } }, ["settings_type permissions.deny[0].bind"]],
    ["a number", 1, ["settings_type permissions.deny[0]"]],
    ["null", null, ["settings_type permissions.deny[0]"]],
    ["a list", ["a"], ["settings_type permissions.deny[0]"]],
  ];
  for (const [sentence, rule, expected] of rows) {
    test(sentence, () => {
      const said = (list: string): readonly string[] =>
        problemsOf(nested(`permissions.${list}`, [rule])).map((text) => text.replace(/^\S+ /, ""));
      assert.deepEqual(
        said("deny"),
        expected.map((text) => `${text} refuse`),
      );
      const inAllow = expected.map((text) => `${text.replace("deny", "allow")} ${text.startsWith("settings_type") ? "warning" : "refuse"}`);
      assert.deepEqual(said("allow"), inAllow);
    });
  }
  test("permissions.allow that is not a list is left out with a warning", () =>
    assert.deepEqual(problemsOf('{"permissions":{"allow":"*"}}'), ["1:25 settings_type permissions.allow warning"]));
});

describe("limits", () => {
  const list = (count: number, rule = "x"): string => JSON.stringify(Array.from({ length: count }, () => rule));
  test("10,000 rules are read", () => assert.deepEqual(problemsOf(`{"permissions":{"deny":${list(10_000)}}}`), []));
  test("10,001 rules are too many, over all lists of a file", () => {
    const said = problemsOf(
      `{"permissions":{"deny":${list(5_000)},"ask":${list(4_000)}, "allow":${list(1_000)}},"proposals":{"stage":["a"]}}`,
    );
    assert.deepEqual(
      said.map((text) => text.replace(/^\S+ /, "")),
      ["settings_type proposals.stage[0] refuse"],
    );
  });
  test("4,096 characters are read", () => assert.deepEqual(problemsOf(`{"permissions":{"deny":["${"x".repeat(4_096)}"]}}`), []));
  test("4,097 characters are too many for a deny", () =>
    assert.deepEqual(problemsOf(`{"permissions":{"deny":["${"x".repeat(4_097)}"]}}`), ["1:25 rule_syntax permissions.deny[0] refuse"]));
  test("4,097 characters are too many for an allow, which is left out", () =>
    assert.deepEqual(problemsOf(`{"permissions":{"allow":["${"x".repeat(4_097)}"]}}`), ["1:26 rule_syntax permissions.allow[0] warning"]));
});
