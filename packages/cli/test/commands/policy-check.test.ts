import assert from "node:assert/strict";
import { chmodSync, existsSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "node:test";
import { place, projectFile, put, userFile } from "../support/assent.ts";

type Shown = { readonly type: string; readonly line: number; readonly column: number; readonly key: string };

describe("assent policy check FILE", () => {
  const files: readonly (readonly [string, string, readonly (readonly [string, number, number, string])[]])[] = [
    ["a sound file has none", '{ "version": 1, "permissions": { "allow": ["Shell(git status)"] } }', []],
    ["not JSON", "{\n  oops\n}", [["settings_syntax", 2, 3, ""]]],
    ["an unknown key", '{\n  "permisions": {}\n}', [["settings_unknown_key", 2, 3, "permisions"]]],
    ["a duplicate key", '{ "mode": "plan",\n "mode": "yolo" }', [["settings_duplicate_key", 2, 2, "mode"]]],
    ["another version", '{ "version": 2 }', [["settings_version", 1, 14, "version"]]],
    ["a value of the wrong type", '{ "onAsk": 3 }', [["settings_type", 1, 12, "onAsk"]]],
    ["a deny that cannot be read", '{ "permissions": { "deny": [\n    "Shell(git"\n] } }', [["rule_syntax", 2, 5, "permissions.deny[0]"]]],
    [
      "an allow that cannot be read is a problem too",
      '{ "permissions": { "allow": [\n    "Shell(git"\n] } }',
      [["rule_syntax", 2, 5, "permissions.allow[0]"]],
    ],
    ["an allow with a star for a program that runs any code is sound", '{ "permissions": { "allow": ["Shell(python3 *)"] } }', []],
    [
      "an allow that can never allow",
      '{ "permissions": { "allow": ["Shell(eval *)"] } }',
      [["rule_never_applies", 1, 30, "permissions.allow"]],
    ],
    [
      "an example that does not hold, at its own place",
      '{ "permissions": { "deny": [{ "rule": "Shell(git push)",\n  "match": ["git push",\n    "git pull"] }] } }',
      [["rule_example", 3, 5, "permissions.deny[0]"]],
    ],
    [
      "all of them, in order",
      '{ "version": 1,\n  "moed": "plan",\n  "permissions": { "deny": ["Shell(git"], "allow": ["Shell(node"] } }',
      [
        ["settings_unknown_key", 2, 3, "moed"],
        ["rule_syntax", 3, 29, "permissions.deny[0]"],
        ["rule_syntax", 3, 53, "permissions.allow[0]"],
      ],
    ],
  ];
  for (const [name, text, expected] of files)
    test(name, async () => {
      using at = place();
      const file = put(join(at.root, "p.json"), text);
      const { code, value } = await at.hereJson(["policy", "check", file]);
      assert.deepEqual(
        value.map(({ type, line, column, key }: Shown) => [type, line, column, key]),
        expected,
        JSON.stringify(value),
      );
      assert.equal(code, expected.length === 0 ? 0 : 1);
      for (const problem of value) {
        assert.deepEqual(Object.keys(problem), ["type", "file", "line", "column", "key", "message", "hint"]);
        assert.equal(problem.file, file);
      }
    });

  const idle: readonly (readonly [sentence: string, allow: string, message: RegExp, hint: RegExp])[] = [
    ["denied by another rule", "Shell(git push *)", /Shell\(git push\) \(.+\) denies all of it/, /narrow that one/],
    ["asked about by another rule", "Shell(terraform plan *)", /Shell\(terraform\) \(.+\) asks about all of it/, /narrow that one/],
    ["a directory that is denied", "Edit(/gen/a/**)", /Edit\(\/gen\/\*\*\) \(.+\) denies all of it/, /narrow that one/],
    ["a shell builtin", "Shell(eval *)", /eval is a shell builtin/, /no rule can allow/],
    ["a relative program", "Shell(./build *)", /absolute path/, /Write the absolute path/],
    ["an option before git's subcommand", "Shell(git -C x status)", /-C comes before the subcommand/, /Shell\(git status\)/],
    ["an option that is never compared", "Shell(git --no-pager log)", /without --no-pager/, /own words/],
    ["a variable before the command", "Shell(CI=1 npm test)", /without variables/, /own words/],
    ["a wrapper alone", "Shell(timeout *)", /runs other commands/, /Name the command/],
    ["a package runner alone", "Shell(npx *)", /name the program/, /Name the command/],
    ["code on the command line", "Shell(python3 -c *)", /python3 gets its code on the command line/, /no rule can allow/],
    ["a file with secrets", "Shell(cat .env)", /may contain secrets/, /no rule can allow/],
    ["a file outside", "Shell(cat /etc/hosts)", /outside the workspace/, /no rule can allow/],
    ["a control file", "Edit(AGENTS.md)", /control file/, /no rule can allow/],
    ["a glob without a tool", "zzz*", /no tool has such a name/, /assent tools/],
    ["conditions that exclude each other", "shell:command=a:cmd=b", /cannot be both a and b/, /Keep one/],
  ];
  for (const [sentence, allow, message, hint] of idle)
    test(`a rule that never applies is named with its reason: ${sentence}`, async () => {
      using at = place();
      const others = { deny: ["Shell(git push)", "Edit(/gen/**)"], ask: ["Shell(terraform)"] };
      const file = put(join(at.root, "p.json"), JSON.stringify({ permissions: { ...others, allow: [allow] } }));
      const { code, value } = await at.hereJson(["policy", "check", file]);
      assert.deepEqual([code, value.map(({ type }: Shown) => type)], [1, ["rule_never_applies"]], JSON.stringify(value));
      assert.match(value[0].message, message);
      assert.match(value[0].hint, hint);
    });

  test("a rule in confined.network that never applies is named with its reason", async () => {
    using at = place();
    const network = ["Shell(npm ci)", "Shell(curl https://x.test/*)", "Shell(npm install *)", "Shell(npx *)", "WebFetch(x.test)"];
    const file = put(join(at.root, "p.json"), JSON.stringify({ confined: { network } }));
    const { code, value } = await at.hereJson(["policy", "check", file]);
    assert.equal(code, 1);
    assert.deepEqual(
      value.map(({ key, message }: { readonly key: string; readonly message: string }) => [key, message]),
      [
        ["confined.network", "Shell(npx *): it never allows: name the program that it runs"],
        ["confined.network", "WebFetch(x.test): it never matches, because only commands run confined"],
      ],
    );
  });

  test("rules that may apply are not named, and each with a star says what it permits", async () => {
    using at = place();
    const allow = [
      "Shell(git *)",
      "Shell(sed -n)",
      "Shell",
      "Read",
      "Shell(npm test)",
      "WebFetch(example.com)",
      "Edit(/src/**)",
      "Shell(git commit *)",
    ];
    const file = put(join(at.root, "p.json"), JSON.stringify({ permissions: { deny: ["Shell(git commit --amend)"], allow } }));
    const { code, stdout } = await at.here(["policy", "check", file]);
    assert.equal(code, 0, stdout);
    assert.match(stdout, /^What a rule with a star permits:\n {2}Shell\(git commit \*\) \(.+\): It commits, and runs hooks .+\n$/m);
  });

  test("the text form is FILE:LINE:COLUMN: MESSAGE, then the type and what to do, then the count", async () => {
    using at = place();
    const file = put(join(at.root, "p.json"), '{ "permissions": { "deny": ["Shell(git"], "allow": ["Shell(node"] } }');
    const { code, stdout } = await at.here(["policy", "check", file]);
    assert.equal(code, 1);
    const [first, hint, second, , count, end] = stdout.split("\n");
    assert.match(first ?? "", new RegExp(`^${file}:1:29: .+`));
    assert.match(hint ?? "", /^ {2}\[rule_syntax\] .+/);
    assert.match(second ?? "", new RegExp(`^${file}:1:53: .+`));
    assert.deepEqual([count, end], ["2 problems: 1 keeps Assent from starting, 1 entry is left out.", ""]);
  });

  for (const [deny, count] of [
    ['"Shell(git"', "1 problem; Assent does not start with it."],
    ['"Shell(git", "Shell(npm"', "2 problems; Assent does not start with them."],
  ])
    test(`rules that cannot be read keep Assent from starting: ${deny}`, async () => {
      using at = place();
      const file = put(join(at.root, "p.json"), `{ "permissions": { "deny": [${deny}] } }`);
      assert.equal((await at.here(["policy", "check", file])).stdout.split("\n").at(-2), count);
    });

  test("a file that does not exist is named once, without a position", async () => {
    using at = place();
    const { code, stdout } = await at.here(["policy", "check", "nope.json"]);
    assert.deepEqual([code, stdout.split("\n")[0]], [1, `${at.path("nope.json")} does not exist.`]);
  });

  test("a deny or ask about a tool that is not there is kept, an allow is left out, and each is said so", async () => {
    using at = place();
    const file = put(join(at.root, "p.json"), '{ "permissions": { "deny": ["Frob"], "ask": ["Frob(x)"], "allow": ["Frob"] } }');
    const { code, stdout } = await at.here(["policy", "check", file]);
    assert.equal(code, 1);
    const told = stdout.split("\n");
    const kept = told.filter((line) =>
      line.endsWith("there is no tool named 'Frob'; the rule is kept and applies once such a tool exists"),
    );
    assert.equal(kept.length, 2, stdout);
    assert.equal(told.at(-2), "3 problems: 1 entry is left out, 2 entries stay as written.");
  });

  for (const [matcher, nearest] of [
    ["bash", "Bash"],
    ["Shel|Wirte", "shell"],
    ["Bash(git *)", "Bash"],
    ["write ", "Write"],
  ]) {
    test(`a hook whose matcher ${matcher} matches no tool is reported, with the nearest one`, async () => {
      using at = place();
      const hooks = { PreToolUse: [{ hooks: [] }, { matcher, hooks: [{ type: "command", command: "true" }] }] };
      const file = put(join(at.root, "p.json"), JSON.stringify({ hooks }, null, 1));
      const { code, value } = await at.hereJson(["policy", "check", file]);
      assert.deepEqual([code, value.length, value[0]?.key], [1, 1, "hooks.PreToolUse[1].matcher"]);
      assert.match(value[0].message, /matches no tool, so its hooks never run/);
      assert.ok(value[0].hint.startsWith(`Did you mean ${nearest}?`), value[0].hint);
      assert.match((await at.here(["policy", "check", file])).stdout, /^1 problem: 1 entry stays as written\.$/m);
    });
  }

  for (const matcher of ["Bash", "shell", "Bash|NotThere", ".*", "*", "", "mcp__github__.*", "Read|Write"]) {
    test(`a hook's matcher ${JSON.stringify(matcher)} is sound`, async () => {
      using at = place();
      const hooks = {
        PreToolUse: [{ matcher, hooks: [{ type: "command", command: "true" }] }],
        SessionStart: [{ matcher: "startup", hooks: [] }],
      };
      const { value } = await at.hereJson(["policy", "check", put(join(at.root, "p.json"), JSON.stringify({ hooks }))]);
      assert.deepEqual(value, []);
    });
  }

  test("a file that is not there is a problem, and several files are all checked", async () => {
    using at = place();
    const good = put(join(at.root, "good.json"), '{ "permissions": { "deny": ["Shell(rm)", "Edit(.env)"] } }');
    const { code, value } = await at.hereJson(["policy", "check", good, "nowhere.json"]);
    assert.deepEqual([code, value.length, value[0].type, value[0].file], [1, 1, "settings_unreadable", join(at.workspace, "nowhere.json")]);
    const sound = await at.here(["policy", "check", good, put(join(at.root, "empty.json"), "{}")]);
    assert.deepEqual(sound, {
      code: 0,
      signal: null,
      stderr: "",
      stdout: `No problems: 2 rules in 2 files.\n  ${good}: 2 rules\n  ${join(at.root, "empty.json")}: 0 rules\n`,
    });
  });

  test("hostile text in a file reaches no terminal raw", async () => {
    using at = place();
    const file = put(join(at.root, "p.json"), JSON.stringify({ "\u001b[2J\u202e": 1, permissions: { deny: ["\u001b[2J("] } }));
    const { stdout } = await at.here(["policy", "check", file]);
    assert.ok(!/[^\P{Cc}\n]|\u202e/u.test(stdout), JSON.stringify(stdout));
  });
});

describe("assent policy check", () => {
  test("without FILE all layers are checked, and the files are named", async () => {
    using at = place();
    put(userFile(at), '{ "permissions": { "allow": ["Shell(git status)"] } }');
    const sound = await at.here(["policy", "check"]);
    assert.equal(sound.code, 0);
    const [first, ...files] = sound.stdout.split("\n");
    assert.match(first ?? "", /^No problems: 1 rule in [12] files?\.$/);
    assert.deepEqual(files.slice(0, 2), [`  ${projectFile(at)}: not there`, `  ${userFile(at)}: 1 rule`]);
    assert.equal(existsSync(at.store), false);
    put(projectFile(at), '{ "mode": "plna" }');
    put(userFile(at), '{ "moed": "plan" }');
    const { code, value } = await at.hereJson(["policy", "check"]);
    assert.deepEqual(
      [code, value.map(({ type, file }: { type: string; file: string }) => [type, file])],
      [
        1,
        [
          ["settings_unknown_key", userFile(at)],
          ["settings_type", projectFile(at)],
        ],
      ],
    );
  });

  test("a warning alone is a problem too: an untrusted project that loosens", async () => {
    using at = place();
    put(projectFile(at), '{ "permissions": { "allow": ["*"] } }');
    const { code, value } = await at.hereJson(["policy", "check"]);
    assert.deepEqual([code, value.length, value[0].type], [1, 1, "rule_project_untrusted"]);
  });

  test("a user's file that others may write is insecure", async () => {
    using at = place();
    chmodSync(put(userFile(at), "{}"), 0o666);
    const { code, value } = await at.hereJson(["policy", "check"]);
    assert.deepEqual([code, value[0].type], [1, "settings_insecure"]);
    assert.match(value[0].message, /Run: chmod go-w /);
  });

  test("an unreadable store is reported, and the files are checked", async () => {
    using at = place();
    put(join(at.store, "ledger.db"), "no database");
    put(projectFile(at), '{ "moed": "plan" }');
    const { code, value, stderr } = await at.hereJson(["policy", "check"]);
    assert.deepEqual([code, value[0].type], [1, "settings_unknown_key"]);
    assert.match(stderr, /^assent: warning: the record cannot be read, so the workspace is treated as not trusted: /);
  });

  test("--workspace names the project", async () => {
    using at = place();
    put(projectFile(at), '{ "moed": "plan" }');
    const { code, value } = await at.hereJson(["policy", "check", "--workspace", at.workspace], { cwd: at.root });
    assert.deepEqual([code, value[0].file], [1, projectFile(at)]);
  });

  for (const [rule, told] of [
    ["Edit(/src/**)", true],
    ["Read( /src )", true],
    ["Edit(/there/**)", false],
    ["Edit(src/**)", false],
    ["Edit(//src/**)", false],
    ["Edit(/**/src)", false],
    ["Edit(/sr*/x)", false],
    ["Shell(/src/tool)", false],
  ] as const) {
    test(`${rule} in the user's file ${told ? "is reported to mean the home directory" : "is left alone"}`, async () => {
      using at = place();
      mkdirSync(join(at.root, "there"));
      put(userFile(at), JSON.stringify({ permissions: { deny: [rule] } }));
      const { code, stderr } = await at.here(["policy", "check"]);
      assert.equal(code, 0);
      const hint = `in this file / means your home directory, which has no src; write src/… for the project's, **/src/… for any depth, //src/… for the disk's`;
      assert.equal(stderr, told ? `assent: warning: ${userFile(at)}:1:25: ${rule}: ${hint}\n` : "");
    });
  }

  test("in the project's file / is the project, so nothing is said", async () => {
    using at = place();
    put(projectFile(at), JSON.stringify({ permissions: { deny: ["Edit(/src/**)"] } }));
    assert.equal((await at.here(["policy", "check"])).stderr, "");
  });
});
