import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "node:test";
import { ended, type Place, place, projectFile, put, type RunOptions, until, userFile } from "../support/assent.ts";
import { sampleInput } from "../support/tool-inputs.ts";

type Settings = Readonly<Record<string, unknown>>;

function policy(at: Place, settings: Settings): string {
  return put(join(at.root, "policy.json"), JSON.stringify(settings));
}

function userSettings(at: Place, settings: Settings): string {
  return put(userFile(at), JSON.stringify(settings));
}

function projectSettings(at: Place, settings: Settings): string {
  return put(projectFile(at), JSON.stringify(settings));
}

function permissions(
  lists: {
    readonly allow?: readonly unknown[];
    readonly ask?: readonly unknown[];
    readonly deny?: readonly unknown[];
    readonly readOnlyHint?: string;
  },
  rest: Settings = {},
): Settings {
  return { version: 1, ...rest, permissions: lists };
}

const BASE = permissions({ readOnlyHint: "ask", allow: ["Shell(git status)", "Shell(git log)", "Shell(ls)", "Shell(cat)"] });
const DENYNET = permissions({ deny: ["Shell(curl)", "Shell(wget)"] });

function shell(command: string): readonly string[] {
  return ["--tool", "shell", "--input", JSON.stringify({ command })];
}

function edit(path: string): readonly string[] {
  return ["--tool", "write", "--input", JSON.stringify({ file_path: path, content: "x" })];
}

type Expected = Readonly<Record<string, unknown>>;

describe("assent explain, the cases of the contract", () => {
  const cases: readonly (readonly [string, Settings, readonly string[], Expected])[] = [
    [
      "a deny beats an allow listed before it",
      permissions({ allow: ["*"], deny: ["Shell(git push)"] }),
      shell("git push"),
      { verdict: "deny", reason: "checker", "rule.text": "Shell(git push)" },
    ],
    [
      "a deny beats an allow listed after it",
      permissions({ deny: ["Shell(git push)"], allow: ["*"] }),
      shell("git push"),
      { verdict: "deny", reason: "checker", "rule.text": "Shell(git push)" },
    ],
    [
      "the root is not deleted in any mode, and the deciding command is named",
      { version: 1, mode: "yolo" },
      shell("ls && rm -rf /."),
      { verdict: "deny", reason: "guard", source: "root-delete", unit: 1, units: 2, "rule.text": "safeguard:root-delete" },
    ],
    [
      "a control file asks in yolo, also before it exists",
      { version: 1, mode: "yolo" },
      edit(".git/hooks/pre-push"),
      { verdict: "ask", reason: "guard", source: "control-file", "rule.text": "safeguard:control-file" },
    ],
    [
      "the settings themselves are denied in yolo",
      { version: 1, mode: "yolo" },
      edit(".assent/settings.json"),
      { verdict: "deny", reason: "guard", source: "own-files", "rule.text": "safeguard:own-files" },
    ],
    [
      "an allowed program does not open a sensitive file",
      BASE,
      shell("cat .env"),
      { verdict: "ask", reason: "default", "plan.commands.0.hazards.0.id": "sensitive_file" },
    ],
    [
      "a denied program is found two shells deep",
      DENYNET,
      shell(`sh -c "sh -c 'curl https://example.test'"`),
      { verdict: "deny", reason: "checker", unit: 2, "plan.commands.2.path": ["sh -c", "sh -c"], "plan.commands.2.verdict": "deny" },
    ],
    ["a pattern that looks like a command is data", BASE, shell("grep 'rm -rf /' script.sh"), { verdict: "ask", reason: "default" }],
    ["what only reads passes by the read-only hint", { version: 1 }, shell("git log -5"), { verdict: "allow", reason: "readonly_hint" }],
    [
      "a call that is staged: the rule that stages it, what is decided about the staging, and about what applies it",
      { version: 1, proposals: { stage: ["Edit(src/**)"] } },
      edit("src/a.ts"),
      { verdict: "ask", reason: "tool", "staging.by.text": "Edit(src/**)", "staging.verdict": "allow", "staging.rule": null },
    ],
    [
      "a staged call is judged as the reading it is",
      { version: 1, proposals: { stage: ["Edit(src/**)"] }, permissions: { ask: ["Read(src/**)"], allow: ["Edit(src/**)"] } },
      edit("src/a.ts"),
      { verdict: "allow", "staging.verdict": "ask", "staging.reason": "checker", "staging.rule.text": "Read(src/**)" },
    ],
    [
      "a tool that always stages needs no rule for it",
      { version: 1 },
      ["--tool", "ast_edit", "--input", JSON.stringify({ ops: [{ pat: "a", out: "b" }], paths: ["."] })],
      { verdict: "ask", "staging.by": null, "staging.verdict": "allow" },
    ],
    [
      "what no rule stages is not staged",
      { version: 1, proposals: { stage: ["Edit(src/**)"] } },
      edit("a.ts"),
      { verdict: "ask", staging: undefined },
    ],
    [
      "what is denied is not staged either",
      permissions({ deny: ["Edit(src/**)"] }, { proposals: { stage: ["Edit(src/**)"] } }),
      edit("src/a.ts"),
      { verdict: "deny", staging: undefined },
    ],
    [
      "an allow rule does not open plan mode",
      permissions({ allow: ["Shell(mkdir *)"] }, { mode: "plan" }),
      shell("mkdir out"),
      { verdict: "deny", reason: "mode", source: "plan" },
    ],
    [
      "an ask rule holds in yolo",
      permissions({ ask: ["Shell(npm publish)"] }, { mode: "yolo" }),
      shell("npm publish"),
      { verdict: "ask", reason: "checker", "rule.text": "Shell(npm publish)" },
    ],
    [
      "text too long to be parsed is still searched for a denied command",
      permissions({ deny: ["Shell(curl)"] }, { mode: "yolo" }),
      shell(`${"true;".repeat(14_000)}\ncurl x`),
      { verdict: "deny", reason: "checker", "rule.text": "Shell(curl)", "plan.commands": [] },
    ],
    [
      "text too long to be parsed asks",
      permissions({ deny: ["Shell(curl)"] }, { mode: "yolo" }),
      shell("true;".repeat(14_000)),
      { verdict: "ask", reason: "guard", source: "analysis-limit", "rule.text": "safeguard:analysis-limit" },
    ],
    [
      "an empty command is a verdict",
      { version: 1, mode: "yolo" },
      shell(""),
      { verdict: "deny", reason: "guard", source: "malformed-command", units: 1 },
    ],
    [
      "--mode counts before the settings' mode",
      { version: 1, mode: "yolo" },
      [...shell("make"), "--mode", "plan"],
      { verdict: "deny", reason: "mode", source: "plan" },
    ],
  ];
  for (const [name, settings, argv, expected] of cases)
    test(name, async () => {
      using at = place();
      const { code, value, stderr } = await at.hereJson(["explain", "--policy", policy(at, settings), ...argv]);
      assert.deepEqual([code, stderr], [0, ""]);
      const found = Object.fromEntries(Object.keys(expected).map((key) => [key, reach(value, key)]));
      assert.deepEqual(found, expected, JSON.stringify(value));
    });

  test("an untrusted project's allow does not count, and a warning says so", async () => {
    using at = place();
    userSettings(at, permissions({ ask: ["Shell"] }));
    const file = projectSettings(at, permissions({ allow: ["*"] }));
    const { code, value, stderr } = await at.hereJson(["explain", ...shell("ls")]);
    assert.deepEqual([code, value.verdict, value.reason, value.source], [0, "ask", "checker", "user permissions"]);
    assert.match(
      stderr,
      new RegExp(
        `^assent: warning: Ignored ${file}:1:\\d+: until you trust this workspace, its settings can only make rules stricter\\.\\n$`,
      ),
    );
  });

  test("a trusted project's allow counts, until its bytes change", async () => {
    using at = place();
    projectSettings(at, permissions({ allow: ["Shell(make lint)"] }));
    assert.equal((await at.here(["trust", "--yes"])).code, 0);
    const explained = async (): Promise<unknown> => (await at.hereJson(["explain", ...shell("make lint")])).value.verdict;
    assert.equal(await explained(), "allow");
    assert.deepEqual((await at.hereJson(["policy", "check"])).value, []);
    projectSettings(at, permissions({ allow: ["Shell(make lint)", "Shell(make)"] }));
    assert.equal(await explained(), "ask");
  });

  test("an ask of the project outweighs an allow of the user", async () => {
    using at = place();
    userSettings(at, permissions({ allow: ["Shell(git *)"] }));
    projectSettings(at, permissions({ ask: ["Shell(git fetch)"] }));
    const { value } = await at.hereJson(["explain", ...shell("git fetch")]);
    assert.deepEqual([value.verdict, value.source, value.rule.text], ["ask", "project permissions", "Shell(git fetch)"]);
  });

  test("with --policy no other settings count", async () => {
    using at = place();
    userSettings(at, permissions({ deny: ["*"] }));
    put(projectFile(at), "{ broken");
    const { code, value } = await at.hereJson(["explain", "--policy", policy(at, { version: 1, mode: "yolo" }), ...shell("make")]);
    assert.deepEqual([code, value.verdict, value.reason], [0, "allow", "yolo"]);
  });
});

/** `a.0.b` of a value. */
function reach(value: unknown, path: string): unknown {
  return path.split(".").reduce((at: unknown, step) => (at as Record<string, unknown> | undefined)?.[step], value);
}

describe("assent explain, one call", () => {
  test("the JSON form has exactly the fields of the contract, then the offers", async () => {
    using at = place();
    const file = policy(at, permissions({ deny: [{ rule: "Shell(git push)", because: "a person pushes" }] }));
    const { value } = await at.hereJson(["explain", "--policy", file, ...shell("git push")]);
    assert.deepEqual(Object.keys(value), [
      "verdict",
      "reason",
      "source",
      "rule",
      "unit",
      "units",
      "trace",
      "plan",
      "misses",
      "revision",
      "offers",
    ]);
    assert.deepEqual(value.rule, {
      text: "Shell(git push)",
      source: "policy file",
      file,
      line: 1,
      column: JSON.stringify(JSON.parse(readFileSync(file, "utf8"))).indexOf('"Shell(git push)"') + 1,
      because: "a person pushes",
    });
    assert.deepEqual(Object.keys(value.plan).sort(), ["commands", "cwd", "digest", "hazards", "modelled", "shape"]);
    assert.deepEqual(Object.keys(value.plan.commands[0]).sort(), [
      "argv",
      "assignments",
      "class",
      "cwd",
      "hazards",
      "operands",
      "path",
      "redirections",
      "rule",
      "source",
      "verdict",
    ]);
    assert.equal(value.plan.cwd, at.workspace);
    for (const entry of value.trace)
      assert.ok(["allow", "ask", "deny", "none", "error", "not_reached"].includes(entry.opinion), JSON.stringify(entry));
    assert.ok(value.trace.some(({ layer, opinion }: { layer: string; opinion: string }) => layer === "policy file" && opinion === "deny"));
  });

  test("a deny by its exact name holds for every built-in tool, also for those that are offered only at times", async () => {
    using at = place();
    const { value: listed } = await at.hereJson(["tools", "--all"]);
    const names: readonly string[] = listed.tools.map(({ name }: { name: string }) => name);
    assert.ok(names.includes("resolve") && names.includes("ask") && names.includes("schedule_delete"), names.join(" "));
    for (const name of names) {
      const file = policy(at, permissions({ deny: [name] }, { mode: "yolo" }));
      const { value } = await at.hereJson(["explain", "--policy", file, name, JSON.stringify(sampleInput(name))]);
      assert.deepEqual(
        [value.verdict, value.rule?.text],
        ["deny", name],
        `add an input for ${name} to cli/test/support/tool-inputs.ts if its schema is not enough`,
      );
    }
  });

  test("the heading names a tool once if its call has no subject", async () => {
    using at = place();
    const { stdout } = await at.here(["explain", "task_list"]);
    assert.match(stdout, /^ALLOW {2}task_list\n/);
  });

  test("resolve is explained without an input, and ask as the question it is", async () => {
    using at = place();
    const { value } = await at.hereJson(["explain", "resolve"]);
    assert.deepEqual([value.verdict, value.reason], ["allow", "tool"]);
    const asked = await at.hereJson([
      "explain",
      "ask",
      JSON.stringify({ questions: [{ id: "q", question: "Which?", options: [{ label: "a" }, { label: "b" }] }] }),
    ]);
    assert.equal(asked.value.verdict, "allow");
    const { stdout } = await at.here(["explain", "resolve"]);
    assert.match(stdout, /judged as the change or action it applies/);
  });

  test("the apply of a pending action is explained under its own name", async () => {
    using at = place();
    const file = policy(at, permissions({ allow: ["todo.apply"], deny: ["schedule_list"] }));
    const explained = async (name: string): Promise<unknown> =>
      (await at.hereJson(["explain", "--policy", file, name, name === "todo.apply" ? '{"todos":[]}' : "{}"])).value.verdict;
    assert.deepEqual(
      [await explained("todo.apply"), await explained("task_list.apply"), await explained("schedule_list.apply")],
      ["allow", "ask", "deny"],
    );
  });

  test("a path tool has facts and no plan", async () => {
    using at = place();
    symlinkSync("/etc", join(at.workspace, "link"));
    const file = policy(at, { version: 1 });
    const { value } = await at.hereJson(["explain", "--policy", file, "--tool", "read", "--input", '{"file_path":"link/hosts"}']);
    assert.deepEqual(value.facts.paths, [
      { lexical: join(at.workspace, "link/hosts"), real: "/etc/hosts", inside: false, sensitive: false, control: false },
    ]);
    assert.equal("plan" in value, false);
  });

  test("a call without a deny has no rule", async () => {
    using at = place();
    const { value } = await at.hereJson(["explain", "--policy", policy(at, { version: 1 }), ...shell("make lint")]);
    assert.deepEqual([value.verdict, value.rule], ["ask", null]);
  });

  test("--cwd is where the call would be made; outside --workspace it is the workspace", async () => {
    using at = place();
    mkdirSync(join(at.workspace, "sub"));
    const file = policy(at, { version: 1 });
    const cwd = async (argv: readonly string[], options: RunOptions = {}): Promise<string> =>
      (await at.hereJson(["explain", "--policy", file, ...shell("ls"), ...argv], options)).value.plan.cwd;
    assert.equal(await cwd(["--cwd", "sub"]), join(at.workspace, "sub"));
    assert.equal(await cwd([], { cwd: join(at.workspace, "sub") }), join(at.workspace, "sub"));
    assert.equal(await cwd(["--workspace", at.workspace], { cwd: at.root }), at.workspace);
    const { code, value } = await at.hereJson(["explain", "--policy", file, ...shell("ls"), "--cwd", "nowhere"]);
    assert.deepEqual([code, value.error.type], [2, "usage"]);
  });

  const refused: readonly (readonly [string, readonly string[], string, RegExp])[] = [
    ["no call", [], "usage", /name a call with TOOL and INPUT, .* or many with --batch FILE/],
    ["a call and a batch", [...shell("ls"), "--batch", "-"], "usage", /use either --batch/],
    ["an input that is no JSON", ["--tool", "shell", "--input", "{oops"], "invalid_json", /not valid JSON/],
    ["an input against the schema", ["--tool", "shell", "--input", "{}"], "invalid_tool_params", /command/],
    ["a workspace that is none", [...shell("ls"), "--workspace", "nowhere"], "workspace_not_found", /nowhere/],
  ];
  for (const [name, argv, type, message] of refused)
    test(`refused with exit 2: ${name}`, async () => {
      using at = place();
      const { code, value } = await at.hereJson(["explain", ...argv]);
      assert.deepEqual([code, value.error.type], [2, type]);
      assert.match(value.error.message, message);
    });

  test("an unknown tool: exit 4, and the nearest name", async () => {
    using at = place();
    const { code, value } = await at.hereJson(["explain", "--tool", "shel"]);
    assert.deepEqual([code, value.error.type], [4, "tool_not_registered"]);
    assert.match(value.error.message, /There is no tool 'shel'\. Did you mean 'shell'\?/);
  });

  test("an unknown tool with --policy is not sent to a list that has more tools", async () => {
    using at = place();
    const { value } = await at.hereJson(["explain", "--tool", "greet", "--policy", policy(at, permissions({}))]);
    assert.equal(value.error.hint, "With --policy only built-in tools are known here.");
  });

  const broken: readonly (readonly [string, (at: Place) => readonly string[], RegExp?])[] = [
    ["a policy file that is no JSON", (at) => ["--policy", put(join(at.root, "p.json"), "{ oops")]],
    ["a policy file that is not there", () => ["--policy", "nowhere.json"], /\/nowhere\.json does not exist\./],
    ["a deny rule that cannot be read", (at) => ["--policy", policy(at, permissions({ deny: ["Shell(git"] }))]],
    ["a project's file that is no JSON, trusted or not", (at) => [void put(projectFile(at), "{ oops")].flatMap(() => [])],
  ];
  for (const [name, argv, words = /\.json:\d+:\d+: /] of broken)
    test(`settings error, nothing on stdout, exit 2: ${name}`, async () => {
      using at = place();
      for (const json of [[], ["--json"]]) {
        const { code, stdout, stderr } = await at.here(["explain", ...argv(at), ...shell("ls"), ...json]);
        assert.deepEqual([code, stdout], [2, ""]);
        assert.match(stderr, words);
      }
    });

  test("it starts nothing, makes no store and changes no file", async () => {
    using at = place();
    mkdirSync(join(at.workspace, "deep"));
    const before = snapshot(at.root);
    for (const argv of [shell("touch x"), shell("git status"), edit("new.txt")])
      assert.equal((await at.here(["explain", ...argv])).code, 0);
    assert.deepEqual(snapshot(at.root), before);
    assert.equal(existsSync(at.store), false);
  });
});

/** Every file below a directory with its size and digest. */
function snapshot(root: string): readonly string[] {
  return readdirSync(root, { recursive: true, encoding: "utf8" })
    .filter((name) => !name.includes("node_modules"))
    .map(
      (name) =>
        `${name} ${
          statSync(join(root, name)).isFile()
            ? createHash("sha256")
                .update(readFileSync(join(root, name)))
                .digest("hex")
            : ""
        }`,
    )
    .sort();
}

describe("assent explain and remembered answers", () => {
  async function remember(at: Place, command: string, scope: string): Promise<{ readonly id: string; readonly rule: string }> {
    const parked = await at.hereJson(["call", "shell", "--input", JSON.stringify({ command }), "--on-ask", "park"]);
    const approved = await at.here(["approve", parked.value.approvalId, "--remember", scope]);
    assert.equal(approved.code, 0, approved.stderr);
    return (await at.hereJson(["grants"])).value.at(-1);
  }

  async function entry(at: Place, argv: readonly string[], options: RunOptions = {}): Promise<unknown> {
    const { value } = await at.hereJson(["explain", ...argv], options);
    return value.trace.filter(({ layer }: { layer: string }) => layer === "grants");
  }

  test("they do not count; the trace says what they would answer", async () => {
    using at = place();
    assert.deepEqual(await entry(at, shell("make lint")), [{ layer: "grants", opinion: "none", note: "no remembered answer covers it" }]);
    const { id, rule } = await remember(at, "make lint", "project");
    const { value } = await at.hereJson(["explain", ...shell("make lint")]);
    assert.equal(value.verdict, "ask");
    assert.deepEqual(value.trace.at(-1), { layer: "grants", opinion: "allow", note: `would be answered by ${id} (project: ${rule})` });
    assert.deepEqual(await entry(at, shell("make other")), [{ layer: "grants", opinion: "none", note: "no remembered answer covers it" }]);
    assert.deepEqual(await entry(at, ["--mode", "yolo", ...shell("make lint")]), [{ layer: "grants", opinion: "not_reached" }]);
    assert.deepEqual(await entry(at, shell("make lint && make other")), [
      { layer: "grants", opinion: "none", note: "no remembered answer covers it" },
    ]);
  });

  test("none applies where approval is required, and none of another project is named", async () => {
    using at = place();
    await remember(at, "make lint", "project");
    const other = join(at.root, "other");
    mkdirSync(join(other, ".git"), { recursive: true });
    assert.deepEqual(await entry(at, shell("make lint"), { cwd: other }), [
      { layer: "grants", opinion: "none", note: "no remembered answer covers it" },
    ]);
    userSettings(at, permissions({ ask: ["Shell(make)"] }));
    assert.deepEqual(await entry(at, shell("make lint")), [
      { layer: "grants", opinion: "not_reached", note: "none applies where approval is required" },
    ]);
  });

  test("looking at them changes no byte of the store", async () => {
    using at = place();
    await remember(at, "make lint", "project");
    const before = snapshot(at.root);
    assert.ok(before.some((name) => name.startsWith("store/ledger.db")));
    assert.equal((await at.here(["explain", ...shell("make lint")])).code, 0);
    assert.deepEqual(snapshot(at.root), before);
  });

  test("an unreadable store is reported; nothing is trusted, and the call is judged", async () => {
    using at = place();
    put(join(at.store, "ledger.db"), "no database");
    const { code, value, stderr } = await at.hereJson(["explain", ...shell("make lint")]);
    assert.deepEqual([code, value.verdict, value.trace.at(-1).opinion], [0, "ask", "error"]);
    assert.match(stderr, /^assent: warning: the record cannot be read, so the workspace is treated as not trusted: /);
  });

  test("with --policy they are not looked at", async () => {
    using at = place();
    await remember(at, "make lint", "user");
    assert.deepEqual(await entry(at, ["--policy", policy(at, { version: 1 }), ...shell("make lint")]), []);
  });
});

test("hooks are not run; the trace names those that a real call would consult", async () => {
  using at = place();
  const mark = at.path("ran");
  const hook = (matcher: string): object => ({ matcher, hooks: [{ type: "command", command: `touch ${mark}`, name: `${matcher} check` }] });
  userSettings(at, { hooks: { pre_tool_use: [hook("shell"), hook("read")], post_tool_use: [hook(".*")] } });
  const { value, stderr } = await at.hereJson(["explain", ...shell("ls")]);
  const found = value.trace.find(({ layer }: { layer: string }) => layer === "hook");
  assert.deepEqual(found, { layer: "hook", opinion: "not_reached", note: "not run here, and may still deny or ask: shell check" }, stderr);
  assert.equal(existsSync(mark), false);
});

test("a hook whose if rules the call out is not named; one whose if fits is", async () => {
  using at = place();
  const hook = (rule: string): object => ({ type: "command", command: "true", name: `if ${rule}`, if: rule });
  userSettings(at, { hooks: { PreToolUse: [{ matcher: "Bash", hooks: [hook("Shell(git push)"), hook("Shell(ls)")] }] } });
  const noteOf = async (command: string): Promise<unknown> => {
    const { value } = await at.hereJson(["explain", ...shell(command)]);
    return value.trace.find(({ layer }: { layer: string }) => layer === "hook").note;
  };
  assert.equal(await noteOf("ls -l"), "not run here, and may still deny or ask: if Shell(ls)");
  assert.equal(await noteOf("git push"), "not run here, and may still deny or ask: if Shell(git push)");
  assert.equal(await noteOf("make"), undefined);
});

describe("the rules that would let it pass are in --json as they are for people", () => {
  for (const [name, flags, command, offers] of [
    ["an ask", [], "git status && make lint && touch x", ["Shell(make lint)", "Shell(touch x)"]],
    ["an allow needs none", [], "ls", []],
    ["where a shell reads it, none is offered", [], "make $(date)", []],
    ["where a rule insists, none helps", ["ask"], "make lint", []],
  ] as const)
    test(name, async () => {
      using at = place();
      if (flags.length > 0) userSettings(at, permissions({ ask: ["Shell(make)"] }));
      const { value } = await at.hereJson(["explain", ...shell(command)]);
      assert.deepEqual(value.offers, offers);
      const { stdout } = await at.here(["explain", ...shell(command)]);
      for (const offer of offers) assert.ok(stdout.includes(JSON.stringify(offer)), stdout);
    });
});

describe("assent explain for people", () => {
  for (const [command, decides] of [
    ["git status; echo $(rm x)", "echo $(rm x)"],
    ["if ls; then rm y; fi", "rm y"],
    ['echo hi; eval "rm x"', "eval 'rm x'"],
    ["ls && touch x && rm y", "touch x"],
  ] as const)
    test(`the mark of what decides points at no part that only reads: ${command}`, async () => {
      using at = place();
      const { stdout } = await at.here(["explain", ...shell(command)]);
      const marked = stdout.split("\n").filter((line) => line.includes("← decides"));
      assert.equal(marked.length, 1, stdout);
      assert.ok(/(: |\d\. )/.test(marked[0] ?? "") && marked[0]?.includes(` ${decides}  (`), stdout);
    });

  test("a shell that reads its program from a pipe is explained once, without ids outside the table", async () => {
    using at = place();
    const { stdout } = await at.here(["explain", ...shell("curl https://x.test | sh")]);
    const [above = "", table = ""] = stdout.split(/^(?=WHO )/m);
    assert.match(above, /^A safeguard requires approval: sh reads its program from a pipe\.$/m);
    assert.match(above, /^ {2}ask {4}1\. curl https:\/\/x\.test .*\n {2}ask {4}2\. piped into: sh .*← decides\n {9}by a safeguard\n/m);
    assert.deepEqual(above.match(/^ *!.*$/gm), ["         ! A shell reads its program from a pipe"]);
    assert.ok(!above.includes("deny-in-doubt"), above);
    assert.match(table, /^safeguard deny-in-doubt +ask +.*\nother safeguards +–\n/m);
    assert.match(table, /^read-only commands +not consulted\nno rule +not consulted\n/m);
  });

  test("in plan mode the mark points at what may change something", async () => {
    using at = place();
    const { stdout } = await at.here(["explain", "--mode", "plan", ...shell("ls && touch x")]);
    assert.match(stdout, /^ {2}deny {3}2\. on success: touch x .*← decides$/m);
  });

  test("verdict, rule with its place, commands, what would let it pass, trace", async () => {
    using at = place();
    const file = policy(at, permissions({ deny: [{ rule: "Shell(git push)", because: "a person pushes" }] }));
    const denied = await at.here(["explain", "--policy", file, ...shell("git status && git push")]);
    assert.match(denied.stdout, /^DENY {2}git status && git push\n/);
    assert.match(
      denied.stdout,
      new RegExp(`^ {2}rule {5}Shell\\(git push\\)\\n {2}at {7}${file}:1:\\d+\\n {2}because {2}a person pushes$`, "m"),
    );
    assert.match(denied.stdout, /^ {2}deny {3}2\. on success: git push .*← decides$/m);
    assert.match(denied.stdout, /^WHO +SAYS +WHY$/m);
    const asked = await at.here(["explain", "--policy", file, ...shell("make lint")]);
    assert.match(asked.stdout, /^ASK {2}make lint$/m);
    assert.match(asked.stdout, /^ {2}--allow 'Shell\(make lint\)'$/m);
    assert.equal(asked.stdout.includes("\u001b"), false);
  });

  test("hostile text reaches no terminal raw", async () => {
    using at = place();
    const { code, stdout, stderr } = await at.here(["explain", ...shell("echo \u001b[2J\u202e\r\u0007 \u200b x")]);
    assert.equal(code, 0);
    assert.ok(!/[^\P{Cc}\n]|[\u202e\u200b]/u.test(stdout + stderr), JSON.stringify(stdout));
    assert.match(stdout, /\\x1b\[2J\\u\{202e\}\\r\\x07 \\u\{200b\} x/);
  });
});

describe("assent explain TOOL INPUT", () => {
  const words: readonly (readonly [sentence: string, short: readonly string[], long: readonly string[]])[] = [
    ["a command as it is typed", ["shell", "git push"], ["--tool", "shell", "--input", '{"command":"git push"}']],
    ["a file", ["read", "a.txt"], ["--tool", "read", "--input", '{"file_path":"a.txt"}']],
    ["JSON", ["shell", '{"command":"git push"}'], ["--tool", "shell", "--input", '{"command":"git push"}']],
    ["a tool without its input", ["list"], ["--tool", "list"]],
  ];
  for (const [sentence, short, long] of words) {
    test(`${sentence} is the same as with options`, async () => {
      using at = place();
      const [one, other] = [await at.hereJson(["explain", ...short]), await at.hereJson(["explain", ...long])];
      assert.deepEqual([one.code, one.value], [other.code, other.value]);
    });
  }

  for (const argv of [["shell", "--tool", "shell"], ["shell", "ls", "--input", "{}"], ["shell", "--batch", "x"], []]) {
    test(`refused: explain ${argv.join(" ")}`, async () => {
      using at = place();
      assert.equal((await at.here(["explain", ...argv])).code, 2);
    });
  }
});

describe("assent explain --batch", () => {
  function lines(...values: readonly unknown[]): string {
    return values.map((value) => `${typeof value === "string" ? value : JSON.stringify(value)}\n`).join("");
  }

  function parse(stdout: string): Record<string, unknown>[] {
    return stdout
      .split("\n")
      .filter((line) => line !== "")
      .map((line) => JSON.parse(line));
  }

  test("one line per input line, in order, with its id first; exit 0", async () => {
    using at = place();
    const file = policy(at, permissions({ deny: ["Shell(curl)"] }));
    const batch = put(
      join(at.root, "b.jsonl"),
      lines(
        { id: "b", tool: "shell", input: { command: "curl x" } },
        { id: "a", tool: "shell", input: { command: "ls" } },
        { id: "a", tool: "shell", input: { command: "" } },
      ),
    );
    const { code, stdout, stderr } = await at.here(["explain", "--policy", file, "--batch", batch]);
    assert.deepEqual([code, stderr], [0, ""]);
    const found = parse(stdout);
    assert.deepEqual(
      found.map(({ id, verdict }) => [id, verdict]),
      [
        ["b", "deny"],
        ["a", "allow"],
        ["a", "deny"],
      ],
    );
    assert.deepEqual(Object.keys(found[0] ?? {}), [
      "id",
      "verdict",
      "reason",
      "source",
      "rule",
      "unit",
      "units",
      "trace",
      "plan",
      "misses",
      "revision",
    ]);
  });

  test("a batch line says the same as the single form, but for the offers", async () => {
    using at = place();
    const file = policy(at, BASE);
    const [batched] = parse(
      (
        await at.here(["explain", "--policy", file, "--batch", "-"], {
          input: lines({ id: "x", tool: "shell", input: { cmd: "git log -5 | head" } }),
        })
      ).stdout,
    );
    const { value } = await at.hereJson(["explain", "--policy", file, "--tool", "shell", "--input", '{"cmd":"git log -5 | head"}']);
    const { offers: _offers, ...same } = value;
    assert.deepEqual(batched, { id: "x", ...same });
  });

  test("the cwd of a line counts for that line", async () => {
    using at = place();
    mkdirSync(join(at.workspace, "sub"));
    const call = { id: "x", tool: "shell", input: { command: "ls" } };
    const { stdout } = await at.here(["explain", "--batch", "-"], {
      input: lines({ ...call, cwd: "sub" }, { ...call, cwd: join(at.workspace, "sub") }, call),
    });
    assert.deepEqual(
      parse(stdout).map(({ plan }) => (plan as { cwd: string }).cwd),
      [join(at.workspace, "sub"), join(at.workspace, "sub"), at.workspace],
    );
  });

  const bad: readonly (readonly [string, unknown, string | null, string])[] = [
    ["not JSON", "{oops", null, "bad_line"],
    ["an empty line", "", null, "bad_line"],
    ["not an object", "[1]", null, "bad_line"],
    ["no id", { tool: "shell", input: { command: "ls" } }, null, "bad_line"],
    ["an id that is not a string", { id: 7, tool: "shell", input: { command: "ls" } }, null, "bad_line"],
    ["no tool", { id: "x", input: {} }, "x", "bad_line"],
    ["a cwd that is not a string", { id: "x", tool: "shell", input: { command: "ls" }, cwd: 1 }, "x", "bad_line"],
    ["an unknown tool", { id: "x", tool: "shel", input: {} }, "x", "tool_not_registered"],
    ["no input", { id: "x", tool: "shell" }, "x", "invalid_tool_params"],
    ["an input against the schema", { id: "x", tool: "shell", input: { command: 1, more: {} } }, "x", "invalid_tool_params"],
    ["an input that is not an object", { id: "x", tool: "shell", input: "ls" }, "x", "invalid_tool_params"],
  ];
  for (const [name, line, id, type] of bad)
    test(`a bad line (${name}) is reported with its number, the others are judged, exit 1`, async () => {
      using at = place();
      const good = { id: "ok", tool: "shell", input: { command: "ls" } };
      const { code, stdout, stderr } = await at.here(["explain", "--policy", policy(at, { version: 1 }), "--batch", "-"], {
        input: lines(good, line, good),
      });
      assert.deepEqual([code, stderr], [1, ""]);
      const [first, middle, last] = parse(stdout);
      assert.deepEqual([first?.["verdict"], last?.["verdict"]], ["allow", "allow"]);
      const { error, ...rest } = middle as { error: { type: string; message: string } };
      assert.deepEqual([rest, error.type], [{ id, line: 2 }, type]);
      assert.equal(typeof error.message, "string");
    });

  test("an empty batch says nothing, exit 0", async () => {
    using at = place();
    const { code, stdout, stderr } = await at.here(["explain", "--batch", "-"], { input: "" });
    assert.deepEqual([code, stdout, stderr], [0, "", ""]);
  });

  test("a batch that cannot be read is a usage error", async () => {
    using at = place();
    const { code, stderr } = await at.here(["explain", "--batch", "nowhere.jsonl"]);
    assert.equal(code, 2);
    assert.match(stderr, /^assent explain: cannot read the file 'nowhere\.jsonl': /);
  });

  test("each line is answered before the next has come", async () => {
    using at = place();
    const child = at.start(["explain", "--batch", "-"]);
    const done = ended(child);
    let seen = "";
    child.stdout?.on("data", (text: string) => (seen += text));
    child.stdin?.write(lines({ id: "one", tool: "shell", input: { command: "ls" } }));
    await until("the first answer", () => seen.includes('"id":"one"'));
    child.stdin?.end('{"id":"two","tool":"shell","input":{"command":"ls"}}');
    const { code, stdout } = await done;
    assert.deepEqual([code, parse(stdout).map(({ id }) => id)], [0, ["one", "two"]]);
  });

  test("a reader that has gone ends the batch without a trace of it", async () => {
    using at = place();
    const call = lines({ id: "x", tool: "shell", input: { command: "ls" } });
    put(join(at.root, "many.jsonl"), call.repeat(20_000));
    const bin = join(import.meta.dirname, "..", "..", "bin", "assent.js");
    const text = execFileSync(
      "bash",
      ["-c", `"$0" "$1" explain --batch "$2" | head -n 1; echo "\${PIPESTATUS[0]}"`, process.execPath, bin, join(at.root, "many.jsonl")],
      { cwd: at.workspace, env: at.env, encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] },
    );
    assert.match(text, /^\{"id":"x".*\}\n130\n$/);
  });
});
