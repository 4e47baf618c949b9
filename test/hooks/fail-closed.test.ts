import assert from "node:assert/strict";
import { chmodSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "node:test";
import { setTimeout as pause } from "node:timers/promises";
import { readProcessTable } from "../../packages/host/src/processes/table.ts";
import { calledOf, hookScene, linesOf, type SceneOptions } from "./hook-scene.ts";

const YOLO = { mode: "yolo" } as const;

function pre(...commands: readonly (string | object)[]): SceneOptions["hooks"] {
  return { PreToolUse: [{ hooks: commands.map((command) => (typeof command === "string" ? { type: "command", command } : command)) }] };
}

function prints(output: object): string {
  return `cat > /dev/null; echo '${JSON.stringify(output)}'`;
}

function specific(fields: object): string {
  return prints({ hookSpecificOutput: fields });
}

/** Every way in which a program can fail. Under yolo everything else would run. */
const FAILING: readonly (readonly [name: string, hook: string | object, cause: string])[] = [
  ["crashes", "exit 1", "exited with code 1"],
  ["exits with a shell's own error code", "exit 126", "exited with code 126"],
  ["is killed by a signal", "kill -KILL $$", "killed by SIGKILL"],
  ["hangs", { type: "command", command: "sleep 60", timeout: 0.2 }, "timed out after 0.2s"],
  ["hangs and ignores SIGTERM", { type: "command", command: "trap '' TERM; sleep 60; sleep 60", timeout: 0.2 }, "timed out after 0.2s"],
  ["prints garbage that starts as JSON", "echo '{not json'", "invalid output"],
  ["prints two objects", "echo '{}'; echo '{}'", "invalid output"],
  ["prints a verdict that is none", specific({ permissionDecision: "yes" }), "invalid output"],
  ["prints a decision that is none", prints({ decision: "accept" }), "invalid output"],
  ["prints a rewrite that is no object", specific({ permissionDecision: "allow", updatedInput: [] }), "invalid output"],
  ["prints an allow for another event", specific({ hookEventName: "PostToolUse", permissionDecision: "allow" }), "invalid output"],
  [
    "prints two spellings that contradict each other",
    specific({ permissionDecision: "allow", permission_decision: "deny" }),
    "invalid output",
  ],
  ["prints too much", "yes", "output over 1 MiB"],
  ["prints too much to standard error", "yes >&2", "output over 1 MiB"],
  ["is not there", { type: "command", command: "./missing.sh" }, "exited with code 127"],
  ["is not there, without a shell", { type: "command", command: "./missing.sh", args: [] }, "not found"],
  ["is not executable", { type: "command", command: "./plain.sh" }, "exited with code 126"],
  ["is not executable, without a shell", { type: "command", command: "./plain.sh", args: [] }, "not executable"],
  ["is no program", { type: "command", command: ".", args: [] }, "not executable"],
];

describe("law 4: a hook that fails never leads to an effect, under yolo and beside hooks that allow", () => {
  for (const [name, hook, cause] of FAILING) {
    test(`a pre_tool_use hook that ${name}`, async (t) => {
      const allow = specific({ permissionDecision: "allow" });
      const scene = await hookScene(t, { ...YOLO, rules: { allow: ["shell"] }, hooks: pre(allow, hook, allow) });
      writeFileSync(join(scene.directory, "plain.sh"), "exit 0\n");
      chmodSync(join(scene.directory, "plain.sh"), 0o644);
      const { outcome, text } = await scene.call("ls");
      assert.equal(outcome, "denied denied_by_hook");
      assert.ok(text.includes(`failed to execute: ${cause}`), text);
      assert.deepEqual(scene.world(), []);
    });

    test(`a permission_request hook that ${name} leaves the decision to a person`, async (t) => {
      const hooks = {
        PermissionRequest: [
          {
            hooks: [
              { type: "command", command: prints({ decision: "approve" }) },
              typeof hook === "string" ? { type: "command", command: hook } : hook,
            ],
          },
        ],
      };
      const alone = await hookScene(t, { hooks });
      writeFileSync(join(alone.directory, "plain.sh"), "exit 0\n");
      assert.equal((await alone.call("ls")).outcome, "denied denied_unattended");
      assert.deepEqual(alone.world(), []);
    });
  }

  const FUNCTIONS: readonly (readonly [name: string, call: () => unknown])[] = [
    ["throws", () => assert.fail("broken")],
    ["rejects", () => Promise.reject(new Error("broken"))],
    ["returns a text", () => "allow"],
    ["returns null", () => null],
    ["returns a wrong word", () => ({ decision: "yes" })],
    ["never answers", () => new Promise(() => undefined)],
  ];
  for (const [name, call] of FUNCTIONS) {
    test(`a function that ${name}`, async (t) => {
      const scene = await hookScene(t, { ...YOLO, hooks: pre({ type: "function", function: "f", timeout: 0.2 }), functions: { f: call } });
      assert.equal((await scene.call("ls")).outcome, "denied denied_by_hook");
      assert.deepEqual(scene.world(), []);
    });
  }

  test("a transform that fails withholds the output; the call's success stays", async (t) => {
    const hooks = { tool_response_transform: [{ hooks: [{ type: "command", command: "exit 1" }] }] };
    const scene = await hookScene(t, { ...YOLO, hooks });
    const { outcome, text } = await scene.call("secret");
    assert.deepEqual([outcome, text], ["succeeded", "Tool output withheld: a tool_response_transform hook failed."]);
    assert.doesNotMatch(JSON.stringify(scene.events.filter(({ type }) => type !== "toolCall")), /ran secret/);
  });
});

describe("hooks fail closed with real programs and the real dispatcher", () => {
  test("a rewrite is judged: what a rule denies does not run", async (t) => {
    const hooks = pre(specific({ updatedInput: { command: "rm -r out" } }));
    const scene = await hookScene(t, { ...YOLO, hooks, rules: { deny: ["shell:command=rm*"] } });
    assert.equal((await scene.call("ls")).outcome, "denied denied_by_rule");
    assert.deepEqual(scene.world(), []);
  });

  test("the approval shows the rewritten input, and that is what runs", async (t) => {
    const hooks = pre(specific({ updatedInput: { command: "ls" } }));
    const scene = await hookScene(t, { ...YOLO, hooks, rules: { ask: ["shell:command=ls"] }, person: "approve" });
    assert.equal((await scene.call("rm -r out")).outcome, "succeeded");
    assert.deepEqual(
      scene.asked.map(({ input }) => input),
      [{ command: "ls" }],
    );
    assert.deepEqual(scene.world(), ["ls"]);
  });

  test("an allow on an input that a later hook rewrote does not count", async (t) => {
    const hooks = pre(specific({ permissionDecision: "allow" }), specific({ updatedInput: { command: "other" } }));
    const scene = await hookScene(t, { hooks });
    assert.equal((await scene.call("ls")).outcome, "denied denied_unattended");
    const allowed = await hookScene(t, { hooks: pre(specific({ permissionDecision: "allow" })) });
    assert.equal((await allowed.call("ls")).outcome, "succeeded", "alone it lifts the default ask");
  });

  test("rewrites add up, later hooks see earlier ones, and the ledger says who changed what", async (t) => {
    const hooks = pre(
      { type: "command", name: "A", command: specific({ updatedInput: { a: 1 } }) },
      { type: "command", name: "B", command: `cat > saw.json; echo '{"hookSpecificOutput":{"updatedInput":{"command":"new"}}}'` },
    );
    const scene = await hookScene(t, { ...YOLO, hooks });
    assert.equal((await scene.call("old")).outcome, "succeeded");
    assert.deepEqual(scene.world(), ["new"]);
    const [saw] = linesOf(join(scene.directory, "saw.json"));
    assert.deepEqual(JSON.parse(saw ?? "").tool_input, { command: "old", a: 1 });
    assert.deepEqual(
      (await scene.ran()).map((ran) => ({ ...ran, durationMs: 0, digest: "" })),
      [
        { event: "pre_tool_use", hook: "A", outcome: "none", callId: "c1", exit: 0, changed: ["a"], durationMs: 0, digest: "" },
        { event: "pre_tool_use", hook: "B", outcome: "none", callId: "c1", exit: 0, changed: ["command"], durationMs: 0, digest: "" },
      ],
    );
  });

  for (const updatedInput of ["[]", '"ls"']) {
    test(`updatedInput ${updatedInput} is a failure: the call is denied`, async (t) => {
      const scene = await hookScene(t, { ...YOLO, hooks: pre(`echo '{"hookSpecificOutput":{"updatedInput":${updatedInput}}}'`) });
      assert.equal((await scene.call("ls")).outcome, "denied denied_by_hook");
      assert.deepEqual(scene.world(), []);
    });
  }

  test("an invalid rewrite is denied and names the hook that made it; never the original instead", async (t) => {
    const hooks = pre(
      { type: "command", name: "asker", command: specific({ permissionDecision: "ask" }) },
      { type: "command", name: "breaker", command: specific({ updatedInput: {}, updatedInputMode: "replace" }) },
    );
    const scene = await hookScene(t, { ...YOLO, hooks, person: "approve" });
    const { outcome, text } = await scene.call("ls");
    assert.equal(outcome, "denied denied_by_hook");
    assert.match(text, /hook breaker produced an invalid input: /);
    assert.deepEqual(scene.world(), []);
  });

  test("a hook's deny holds under yolo, with hookBlocked and one notification", async (t) => {
    const scene = await hookScene(t, { ...YOLO, hooks: pre("echo 'not today' >&2; exit 2") });
    const { outcome, text } = await scene.call("ls");
    assert.deepEqual([outcome, text], ["denied denied_by_hook", "Tool call blocked by hook: not today"]);
    assert.deepEqual(
      scene.events.map(({ type }) => type),
      ["hookBlocked", "response", "messageAdded"],
    );
    assert.deepEqual(
      scene.notices.map(({ decision, source }) => [decision, source]),
      [["deny", "pre_tool_use_hook_deny"]],
    );
  });

  test("a batch cancelled while a hook runs ends cancelled, the hook ended, without hookBlocked", async (t) => {
    const scene = await hookScene(t, { ...YOLO, hooks: pre("echo $$ > pid; sleep 60") });
    const controller = new AbortController();
    const calls = [{ id: "c1", name: "shell", arguments: '{"command":"ls"}' }];
    const running = scene.process({ calls, tools: scene.tools, signal: controller.signal });
    const file = join(scene.directory, "pid");
    for (let tries = 0; linesOf(file).length === 0 && tries < 2_000; tries += 1) await pause(5);
    controller.abort();
    assert.equal(calledOf(await running).outcome, "cancelled cancelled");
    assert.deepEqual(
      scene.events.map(({ type }) => type),
      ["response", "messageAdded"],
    );
    const hook = readProcessTable().find(Number(linesOf(file)[0]));
    assert.ok(hook === undefined || hook.zombie, "the hook is still there");
    assert.deepEqual(scene.world(), []);
  });

  test("what a pre_tool_use hook asks, a person answers: no mode, rule or permission hook does", async (t) => {
    const hooks = {
      ...pre(specific({ permissionDecision: "ask", permissionDecisionReason: "look" })),
      PermissionRequest: [{ hooks: [{ type: "command", command: prints({ decision: "approve" }) }] }],
    };
    const scene = await hookScene(t, { ...YOLO, hooks, rules: { allow: ["shell"] }, person: "reject" });
    assert.equal((await scene.call("ls")).outcome, "rejected rejected_by_user");
    assert.equal(scene.asked.length, 1);
    const alone = await hookScene(t, { ...YOLO, hooks, rules: { allow: ["shell"] } });
    assert.equal((await alone.call("ls")).outcome, "denied denied_unattended");
    assert.deepEqual([...scene.world(), ...alone.world()], []);
  });

  test("a permission hook's allow does not answer an ask made by a rule; its deny counts", async (t) => {
    const permission = (decision: object): object => ({
      PermissionRequest: [
        { matcher: "Bash", hooks: [{ type: "command", command: specific({ hookEventName: "PermissionRequest", decision }) }] },
      ],
    });
    const allow = await hookScene(t, { hooks: permission({ behavior: "allow" }), rules: { ask: ["shell"] }, person: "reject" });
    assert.equal((await allow.call("ls")).outcome, "rejected rejected_by_user");
    const deny = await hookScene(t, {
      hooks: permission({ behavior: "deny", message: "m" }),
      rules: { ask: ["shell"] },
      person: "approve",
    });
    assert.equal((await deny.call("ls")).outcome, "rejected rejected_by_hook");
    assert.deepEqual([...allow.world(), ...deny.world()], []);
    const plain = await hookScene(t, { hooks: permission({ behavior: "allow" }) });
    assert.equal((await plain.call("ls")).outcome, "succeeded", "it answers the default ask");
  });

  test("after a tool, continue: false stops the run, exit 2 is only told to the model", async (t) => {
    const post = (command: string): object => ({
      PostToolUse: [{ matcher: "Bash", hooks: [{ type: "command", name: "after", command }] }],
    });
    const stopped = await hookScene(t, { ...YOLO, hooks: post(prints({ continue: false, stopReason: "quota" })) });
    const { report } = await stopped.call("ls");
    assert.deepEqual([report.stopRun, report.stopMessage], [true, "quota"]);
    const told = await hookScene(t, { ...YOLO, hooks: post("echo 'run <the> tests' >&2; exit 2") });
    const { report: went, text } = await told.call("ls");
    assert.equal(went.stopRun, false);
    assert.equal(text, 'ran ls\n<hook name="after">\nrun &lt;the&gt; tests\n</hook>');
  });

  test("onFailure block on a post-tool event stops the run; by default it is a warning", async (t) => {
    const post = (more: object): object => ({ PostToolUse: [{ hooks: [{ type: "command", command: "exit 1", ...more }] }] });
    const blocking = await hookScene(t, { ...YOLO, hooks: post({ onFailure: "block" }) });
    assert.equal((await blocking.call("ls")).report.stopRun, true);
    const warning = await hookScene(t, { ...YOLO, hooks: post({}) });
    assert.equal((await warning.call("ls")).report.stopRun, false);
    assert.deepEqual(warning.warnings, ["hook exit 1 failed to execute: exited with code 1"]);
  });

  test("the matcher keeps a hook off other tools", async (t) => {
    const hooks = { PreToolUse: [{ matcher: "Bash", hooks: [{ type: "command", command: "exit 2" }] }] };
    const scene = await hookScene(t, { ...YOLO, hooks });
    assert.equal((await scene.call("a.txt", "read")).outcome, "succeeded");
    assert.equal((await scene.call("ls")).outcome, "denied denied_by_hook");
  });
});
