import assert from "node:assert/strict";
import { chmodSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { describe, type TestContext, test } from "node:test";
import { type Decision, MODES } from "@assent/core";
import { decide } from "@assent/core/parts";
import { createDenyAllPolicy, type LoadedPolicy, loadPolicy, loadSettings } from "../../src/settings/load-policy.ts";
import { formatProblem, SettingsError, type SettingsProblem } from "../../src/settings/problem.ts";
import { call, type Files, PARTS, placesWith, projectFileOf } from "./policy-bench.ts";

function load(t: TestContext, files: Files): LoadedPolicy {
  return loadPolicy(placesWith(t, files), PARTS);
}

function refusal(t: TestContext, files: Files): readonly SettingsProblem[] {
  const places = placesWith(t, files);
  try {
    loadPolicy(places, PARTS);
  } catch (error) {
    assert.ok(error instanceof SettingsError);
    return error.problems;
  }
  assert.fail("it was loaded");
}

function decision({ policy }: LoadedPolicy, tool = "deploy", input = {}): Decision {
  const { mode, checkers, safeguards } = policy;
  return decide(call(tool, input), { mode, checkers, safeguards, hint: {} });
}

const permissions = (lists: object): { readonly permissions: object } => ({ permissions: lists });

const LAYERS = ["flags", "project", "user", "team"] as const;
const MOST_MODES = MODES.filter((mode) => mode !== "plan");

type Written = readonly [layer: (typeof LAYERS)[number], list: "deny" | "ask" | "allow", rule: string];

/** Files that hold these rules, written in this order. */
function filesOf(rules: readonly Written[]): Record<string, object> {
  const lists: Record<string, Record<string, string[]>> = {};
  for (const [layer, list, rule] of rules) {
    const own = lists[layer] ?? {};
    own[list] = [...(own[list] ?? []), rule];
    lists[layer] = own;
  }
  return Object.fromEntries(Object.entries(lists).map(([layer, own]) => [layer, layer === "flags" ? own : permissions(own)]));
}

describe("the strictest opinion wins in every order of rules and layers, in every mode but plan", () => {
  const pairs = LAYERS.flatMap((at) => LAYERS.map((other) => [at, other] as const));
  const strict = pairs.flatMap(([at, other]) => (["deny", "ask"] as const).map((list) => ({ at, other, list })));
  const cases = strict.flatMap((one) => MOST_MODES.flatMap((mode) => [true, false].map((isFirst) => ({ ...one, mode, isFirst }))));
  for (const { at, other, list, mode, isFirst } of cases) {
    test(`${mode}: ${list} of ${at} ${isFirst ? "before" : "after"} allow * of ${other}`, (t) => {
      const rules: readonly Written[] = [
        [at, list, "deploy"],
        [other, "allow", "*"],
      ];
      const files = filesOf(isFirst ? rules : rules.toReversed());
      const loaded = load(t, { ...files, trusted: true, flags: { ...files["flags"], mode } });
      const { verdict, reason, rule, explicitAsk } = decision(loaded);
      assert.deepEqual([verdict, reason, rule?.text, explicitAsk], [list, "checker", "deploy", list === "ask"]);
      assert.equal(decision(loaded, "ship").verdict, "allow");
    });
  }
  test("within one file the order of the lists means nothing", (t) => {
    for (const lists of ['"allow":["*"],"deny":["deploy"]', '"deny":["deploy"],"allow":["*"]']) {
      assert.equal(decision(load(t, { user: `{"permissions":{${lists}}}` })).verdict, "deny");
    }
  });
  test("the layer that speaks is named", (t) => {
    const loaded = load(t, { user: permissions({ allow: ["deploy"] }), project: permissions({ ask: ["deploy"] }) });
    const { verdict, source, scope, rule } = decision(loaded);
    assert.deepEqual([verdict, source, scope], ["ask", "project permissions", "project"]);
    assert.deepEqual([rule?.text, rule?.source, rule?.line, rule?.column], ["deploy", "project permissions", 1, 24]);
  });
});

describe("an untrusted project only tightens", () => {
  const files: Files = { user: permissions({ ask: ["deploy"] }), project: permissions({ allow: ["*"], deny: ["ship"] }) };
  test("user asks, project allows everything: ask, with a warning", (t) => {
    const loaded = load(t, files);
    const { verdict, source } = decision(loaded);
    assert.deepEqual([verdict, source], ["ask", "user permissions"]);
    assert.deepEqual(
      loaded.problems.map(({ type }) => type),
      ["rule_project_untrusted"],
    );
    assert.equal(decision(loaded, "note").verdict, "ask");
  });
  test("its deny holds", (t) => assert.equal(decision(load(t, files), "ship").verdict, "deny"));
  test("once trusted its allow holds too, but not against the ask", (t) => {
    const loaded = load(t, { ...files, trusted: true });
    assert.deepEqual([decision(loaded).verdict, decision(loaded, "note").verdict, loaded.problems], ["ask", "allow", []]);
  });
  test("a broken allow of an untrusted project is not even looked at", (t) =>
    assert.deepEqual(
      load(t, { project: permissions({ allow: ["a["] }) }).problems.map(({ type }) => type),
      ["rule_project_untrusted"],
    ));
});

describe("what is broken", () => {
  type Row = readonly [sentence: string, files: Files, type: string, effect: "refuse" | "warning", at?: string];
  const rule = (list: string, entry: unknown): Files => ({ user: permissions({ [list]: [entry] }) });
  const rows: readonly Row[] = [
    ["not JSONC", { user: "{" }, "settings_syntax", "refuse", "1:2"],
    ["not JSONC, in an untrusted project: it may hold a deny", { project: "{\n,}" }, "settings_syntax", "refuse", "2:1"],
    ["a wrong type", { user: '{"mode": 5}' }, "settings_type", "refuse", "1:10"],
    ["a wrong type in an untrusted project", { project: '{"mode": 5}' }, "settings_type", "refuse"],
    ["a wrong type in allow", rule("allow", 5), "settings_type", "warning", "1:26"],
    ["an unknown key", { team: '{"moode": 5}' }, "settings_unknown_key", "refuse"],
    ["a key twice", { user: '{"mode":"plan","mode":"plan"}' }, "settings_duplicate_key", "refuse"],
    ["another version", { user: '{"version":2}' }, "settings_version", "refuse"],
    ["a broken deny", rule("deny", ":x=y"), "rule_syntax", "refuse", "1:25"],
    ["a broken ask", rule("ask", ""), "rule_syntax", "refuse"],
    ["a broken stage rule", { user: { proposals: { stage: ["("] } } }, "rule_syntax", "refuse"],
    ["a broken allow", rule("allow", ":x=y"), "rule_syntax", "warning", "1:26"],
    ["a broken glob of a deny", rule("deny", "a["), "rule_bad_glob", "refuse"],
    ["a dangling backslash of an ask", rule("ask", "a\\"), "rule_bad_glob", "refuse"],
    ["a broken glob of an allow", rule("allow", "a["), "rule_bad_glob", "warning"],
    ["a deny of a tool that is not there", rule("deny", "launch"), "rule_unknown_tool", "warning"],
    ["an allow of a tool that is not there", rule("allow", "launch"), "rule_unknown_tool", "warning"],
    ["a failing match of a deny", rule("deny", { rule: "deploy:to=prod*", match: [{ to: "test" }] }), "rule_example", "refuse", "1:60"],
    ["a failing notMatch of an ask", rule("ask", { rule: "deploy:to=*", notMatch: [{ to: "test" }] }), "rule_example", "refuse"],
    ["a failing match of an allow", rule("allow", { rule: "deploy:to=prod*", match: [{ to: "test" }] }), "rule_example", "warning"],
    ["a broken glob of what is protected", { project: permissions({ protect: ["a["] }) }, "rule_bad_glob", "refuse", "1:28"],
    ["a locked mode", { team: permissions({ lock: ["yolo"] }), flags: { mode: "yolo" } }, "mode_locked", "refuse", "0:0"],
    ["a broken deny of a flag", { flags: { deny: [":x=y"] } }, "rule_syntax", "refuse", "0:0"],
    ["a broken allow of a flag", { flags: { allow: [":x=y"] } }, "rule_syntax", "warning", "0:0"],
    ["a policy file that is not there", { policy: {} }, "settings_unreadable", "refuse", "1:1"],
  ];
  for (const [sentence, files, type, effect, at] of rows) {
    test(`${sentence}: ${type}, ${effect}`, (t) => {
      const places = placesWith(t, files);
      if (places.policyFile !== undefined) rmSync(places.policyFile);
      let problems: readonly SettingsProblem[] = [];
      try {
        problems = loadPolicy(places, PARTS).problems;
        assert.equal(effect, "warning");
      } catch (error) {
        assert.ok(error instanceof SettingsError, String(error));
        assert.deepEqual([effect, error.code], ["refuse", type]);
        problems = error.problems;
      }
      assert.deepEqual(
        problems.map((problem) => [problem.type, problem.effect]),
        [[type, effect]],
      );
      const [problem] = problems;
      assert.ok(problem && problem.message !== "" && problem.hint !== "");
      if (at) assert.equal(`${problem.line}:${problem.column}`, at);
    });
  }

  test("a broken allow is left out, the others hold", (t) => {
    const loaded = load(t, { user: permissions({ allow: ["a[", "deploy", 7, "launch"] }) });
    assert.deepEqual([loaded.rules.map(({ at }) => at.text), loaded.problems.length], [["deploy"], 3]);
    assert.equal(decision(loaded).verdict, "allow");
  });
  test("a deny of a tool that is not there holds as soon as it is", (t) => {
    const loaded = load(t, { user: permissions({ deny: ["launch"] }) });
    assert.equal(decision(loaded, "launch").verdict, "deny");
  });
  test("a deny with a good example holds", (t) =>
    assert.equal(
      decision(load(t, { user: permissions({ deny: [{ rule: "deploy", match: [{ to: "x" }], because: "no" }] }) })).rule?.because,
      "no",
    ));
  test("an unreadable file refuses", (t) => {
    const places = placesWith(t, {});
    mkdirSync(places.userFile, { recursive: true });
    assert.throws(
      () => loadPolicy(places, PARTS),
      (error) => error instanceof SettingsError && error.code === "settings_unreadable",
    );
  });
  for (const file of ["userFile", "teamFile"] as const) {
    test(`settings_insecure: ${file}`, (t) => {
      const places = placesWith(t, { user: {}, team: {} });
      chmodSync(places[file], 0o664);
      assert.throws(
        () => loadPolicy(places, PARTS),
        (error) => {
          assert.ok(error instanceof SettingsError);
          assert.equal(error.problems[0]?.message, `Other users can change ${places[file]}. Run: chmod go-w ${places[file]}`);
          return error.code === "settings_insecure";
        },
      );
    });
  }
  test("a project's file that others can write is read", (t) => {
    const places = placesWith(t, { project: permissions({ deny: ["deploy"] }) });
    chmodSync(projectFileOf(places), 0o666);
    assert.equal(decision(loadPolicy(places, PARTS)).verdict, "deny");
  });
  test("a file of another user is insecure", (t) => {
    const places = placesWith(t, { user: {} });
    assert.throws(
      () => loadPolicy(places, { ...PARTS, uid: 12_345 }),
      (error) => error instanceof SettingsError && error.code === "settings_insecure",
    );
  });

  test("all problems of all files are reported together, by file, line and column", (t) => {
    const problems = refusal(t, {
      project: '{"permissions":{\n"deny":["a["],\n"allow":["*"]}}',
      user: '{\n"moode":1,"permissions":{"ask":["", "b["],\n"allow":["c["]}}',
      team: "{",
      flags: { deny: ["d["], allow: ["e["] },
    });
    const shown = problems.map(
      ({ file, line, column, type, effect }) => `${file.split("/").slice(-4, -2).join("/")} ${line}:${column} ${type} ${effect}`,
    );
    assert.deepEqual(
      shown.map((said) => said.replace(/^\S*test-\S*\/|^assent\S*?\//, "")),
      [
        " 0:0 rule_bad_glob warning",
        " 0:0 rule_bad_glob refuse",
        "etc 1:2 settings_syntax refuse",
        "h/.config 2:1 settings_unknown_key refuse",
        "h/.config 2:33 rule_syntax refuse",
        "h/.config 2:37 rule_bad_glob refuse",
        "h/.config 3:10 rule_bad_glob warning",
        "w 2:9 rule_bad_glob refuse",
        "w 3:10 rule_project_untrusted warning",
      ],
    );
  });
  test("the text of a problem", (t) => {
    const [problem] = refusal(t, { user: '{\n  "mode": 5}' });
    assert.ok(problem);
    assert.equal(formatProblem(problem), `${problem.file}:2:11: mode must be one of default, plan, auto-edit, yolo, not 5.`);
    const [flag] = refusal(t, { flags: { deny: [""] } });
    assert.ok(flag && formatProblem(flag).startsWith("--deny: "));
  });
});

describe("--policy FILE replaces all other settings", () => {
  test("no other file, no rule of a flag and no trust counts", (t) => {
    const deny = permissions({ deny: ["deploy"] });
    const loaded = load(t, {
      policy: permissions({ allow: ["deploy"] }),
      project: deny,
      user: "{ broken",
      team: deny,
      flags: { deny: ["deploy"] },
    });
    const { verdict, source, scope } = decision(loaded);
    assert.deepEqual([verdict, source, scope], ["allow", "policy file", "policy"]);
  });
  test("the mode of the flag counts over its own", (t) => {
    assert.equal(load(t, { policy: { mode: "plan" }, flags: { mode: "yolo" } }).policy.mode, "yolo");
    assert.equal(load(t, { policy: { mode: "plan" } }).policy.mode, "plan");
  });
  test("it may lock modes", (t) =>
    assert.equal(refusal(t, { policy: permissions({ lock: ["yolo"] }), flags: { mode: "yolo" } })[0]?.type, "mode_locked"));
});

describe("the revision", () => {
  const revision = (t: TestContext, files: Files): string => load(t, files).policy.revision;
  const base: Files = { user: permissions({ deny: ["deploy"], allow: ["ship", "note"] }) };
  const same: readonly [sentence: string, files: Files][] = [
    ["remarks and blanks", { user: '{ // x\n "permissions": { "deny": ["deploy"], "allow": [ "ship","note", ] } }' }],
    ["a setting that judges nothing", { user: { ...(base.user as object), editor: "vi" } }],
    ["an untrusted project's allow", { ...base, project: permissions({ allow: ["*"] }) }],
  ];
  for (const [sentence, files] of same) test(`${sentence}: the same`, (t) => assert.equal(revision(t, files), revision(t, base)));
  const other: readonly [sentence: string, files: Files][] = [
    ["one rule more", { ...base, project: permissions({ ask: ["ship"] }) }],
    ["another order", { user: permissions({ deny: ["deploy"], allow: ["note", "ship"] }) }],
    ["another verdict", { user: permissions({ ask: ["deploy"], allow: ["ship", "note"] }) }],
    ["another layer", { team: base.user! }],
    ["another mode", { ...base, flags: { mode: "yolo" } }],
    ["no read-only hint", { ...base, project: permissions({ readOnlyHint: "ask" }) }],
    ["protected files", { ...base, project: permissions({ protect: ["x"] }) }],
    ["sensitive files", { ...base, project: permissions({ sensitive: ["x"] }) }],
    ["more directories", { ...base, flags: { additionalDirectories: ["/x"] } }],
  ];
  for (const [sentence, files] of other) test(`${sentence}: another`, (t) => assert.notEqual(revision(t, files), revision(t, base)));
});

describe("what a policy holds", () => {
  test("nothing at all gives no checker and the default mode", (t) => {
    const { policy, rules, problems, hooks, stage } = load(t, {});
    assert.deepEqual(
      [policy.mode, policy.checkers, policy.honourReadOnlyHint, rules, problems, hooks, stage],
      ["default", [], true, [], [], [], []],
    );
  });
  test("the checkers are named by their layers", (t) => {
    const one = permissions({ ask: ["deploy"] });
    const { policy, rules } = load(t, { project: one, user: one, team: one, flags: { ask: ["deploy"] } });
    assert.deepEqual(
      policy.checkers.map(({ label, scope }) => [scope, label]),
      [
        ["session", "session permissions"],
        ["project", "project permissions"],
        ["user", "user permissions"],
        ["team", "permissions configuration"],
      ],
    );
    assert.deepEqual([rules.length, rules[0]?.at], [4, { text: "deploy", source: "--ask" }]);
  });
  test("the read-only hint is not honoured where settings say so", (t) =>
    assert.equal(load(t, { project: permissions({ readOnlyHint: "ask" }) }).policy.honourReadOnlyHint, false));
  test("safeguards are made of the rules and settings", (t) => {
    const places = placesWith(t, { user: permissions({ deny: ["deploy"] }), project: permissions({ protect: ["x"] }) });
    let seen: unknown;
    loadPolicy(places, {
      ...PARTS,
      safeguards: ({ rules, settings }) => {
        seen = [rules.map(({ at }) => at.text), settings["permissions.protect"]];
        return [];
      },
    });
    assert.deepEqual(seen, [["deploy"], ["x"]]);
  });
  test("rules that stage are kept apart", (t) => {
    const { rules, stage } = load(t, { project: { proposals: { stage: ["note"] } } });
    assert.deepEqual([rules.length, stage.map(({ at }) => at.text)], [0, ["note"]]);
  });
  test("hooks are given in the order they run, a project's only when it is trusted", (t) => {
    const hooks = (name: string): object => ({ hooks: { [name]: [] } });
    const files: Files = { project: hooks("P"), user: hooks("U"), team: hooks("T") };
    const scopes = (loaded: LoadedPolicy): readonly unknown[] => loaded.hooks.map(({ scope, value }) => [scope, Object.keys(value)]);
    assert.deepEqual(scopes(load(t, files)), [
      ["team", ["T"]],
      ["user", ["U"]],
    ]);
    assert.deepEqual(scopes(load(t, { ...files, trusted: true })).at(-1), ["project", ["P"]]);
  });
  test("what is wrong with hooks refuses with the rest", (t) => {
    const places = placesWith(t, { user: '{\n"hooks":{"Stop":[1]}}' });
    const problem = (file: string, place: object): SettingsProblem =>
      ({ type: "settings_type", file, ...place, key: "hooks", message: "m", hint: "h", effect: "refuse" }) as SettingsProblem;
    assert.throws(
      () =>
        loadPolicy(places, { ...PARTS, hooks: ({ file, placeOf }) => ({ entries: [], problems: [problem(file, placeOf(["Stop", 0]))] }) }),
      (error) => error instanceof SettingsError && error.problems[0]?.line === 2 && error.problems[0].column === 18,
    );
  });
});

test("a policy that failed to load denies every call, by name", (t) => {
  const policy = createDenyAllPolicy(refusal(t, { user: "{" }));
  for (const mode of MODES) {
    const { verdict, source, reason } = decide(call("deploy"), { ...policy, mode, hint: { tool: "allow", ownTool: true } });
    assert.deepEqual([verdict, source, reason], ["deny", "policy (failed to load)", "checker"]);
  }
  assert.deepEqual([policy.mode, policy.honourReadOnlyHint], ["default", false]);
});

test("a file in place of the settings directory is not a problem", (t) => {
  const places = placesWith(t, {});
  writeFileSync(dirname(projectFileOf(places)), "");
  assert.deepEqual(loadPolicy(places, PARTS).problems, []);
});

describe("the values alone", () => {
  const rows: readonly [sentence: string, files: Files, seconds: number][] = [
    ["are those of the policy", { user: { tools: { loadTimeout: 3 } }, team: { tools: { loadTimeout: 4 } } }, 3],
    ["need no tool that a rule names", { user: { permissions: { deny: ["imagined(x)"] }, tools: { loadTimeout: 3 } } }, 3],
    ["are the default if a file cannot be read", { user: "{" }, 10],
    ["are not an untrusted project's", { project: { tools: { loadTimeout: 3 } } }, 10],
  ];
  for (const [sentence, files, seconds] of rows)
    test(sentence, (t) => assert.equal(loadSettings(placesWith(t, files), PARTS)["tools.loadTimeout"], seconds));
});
