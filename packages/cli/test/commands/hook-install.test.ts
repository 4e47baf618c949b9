import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { chmodSync, existsSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, test } from "node:test";
import { type Place, place } from "../support/assent.ts";

const SETTINGS = ".claude/settings.json";

function home(at: Place, name: string): string {
  return join(at.root, name);
}

function writeHome(at: Place, name: string, text: string, mode = 0o644): void {
  mkdirSync(dirname(home(at, name)), { recursive: true });
  writeFileSync(home(at, name), text, { mode });
}

function readHome(at: Place, name: string): string {
  return readFileSync(home(at, name), "utf8");
}

describe("assent hook install", () => {
  test("writes the hooks beside others, keeps a backup, and is undone by uninstall", async () => {
    using at = place();
    const before = '{ "theme": "dark" }\n';
    writeHome(at, SETTINGS, before);
    const installed = await at.here(["hook", "install", "claude", "--yes"]);
    assert.equal(installed.code, 0);
    assert.match(installed.stdout, /\+ .*"onFailure": "block"/);
    assert.match(installed.stdout, /The hooks of Claude Code are installed\. Prove it: assent hook doctor claude/);
    assert.deepEqual([JSON.parse(readHome(at, SETTINGS)).theme, readHome(at, `${SETTINGS}.before-assent`)], ["dark", before]);
    assert.match((await at.here(["hook", "install", "claude", "--yes"])).stdout, /^Nothing to change/);
    assert.equal((await at.here(["hook", "uninstall", "claude", "--yes"])).code, 0);
    assert.deepEqual(JSON.parse(readHome(at, SETTINGS)), { theme: "dark" });
    assert.match((await at.here(["hook", "uninstall", "claude", "--yes"])).stdout, /^Nothing to change/);
  });

  test("keeps no backup of a file that it created, and uninstall removes the file", async () => {
    using at = place();
    for (const command of ["install", "uninstall"]) assert.equal((await at.here(["hook", command, "claude", "--yes"])).code, 0);
    assert.ok(!existsSync(home(at, `${SETTINGS}.before-assent`)));
    assert.ok(!existsSync(home(at, SETTINGS)));
  });

  test("keeps a file that was empty before, and one with other settings since", async () => {
    using at = place();
    writeHome(at, SETTINGS, "{}\n");
    for (const command of ["install", "uninstall"]) assert.equal((await at.here(["hook", command, "claude", "--yes"])).code, 0);
    assert.deepEqual(JSON.parse(readHome(at, SETTINGS)), {});
    assert.equal((await at.here(["hook", "install", "qwen", "--yes"])).code, 0);
    const added = JSON.parse(readHome(at, ".qwen/settings.json"));
    writeHome(at, ".qwen/settings.json", JSON.stringify({ ...added, theme: "dark" }));
    assert.equal((await at.here(["hook", "uninstall", "qwen", "--yes"])).code, 0);
    assert.deepEqual(JSON.parse(readHome(at, ".qwen/settings.json")), { theme: "dark" });
  });

  test("shows the change with --dry-run and writes nothing", async () => {
    using at = place();
    const { code, stdout } = await at.here(["hook", "install", "codex", "--dry-run"]);
    assert.equal(code, 0);
    assert.match(stdout, /\+hooks = true/);
    assert.match(stdout, /\nNothing was written\.\n$/);
    assert.ok(!existsSync(home(at, ".codex")) && !existsSync(join(at.store, "hooks")));
  });

  test("needs a terminal or --yes", async () => {
    using at = place();
    const { code, value } = await at.hereJson(["hook", "install", "claude"]);
    assert.deepEqual([code, value.error.type], [2, "confirmation_required"]);
    assert.ok(!existsSync(home(at, SETTINGS)));
  });

  test("refuses a configuration that it cannot read, and leaves it as it is", async () => {
    using at = place();
    writeHome(at, SETTINGS, "{ broken");
    const { code, value } = await at.hereJson(["hook", "install", "claude", "--yes"]);
    assert.deepEqual([code, value.error.type], [1, "agent_config_invalid"]);
    assert.equal(readHome(at, SETTINGS), "{ broken");
  });

  test("writes for one project with --project, and not with --user as well", async () => {
    using at = place();
    assert.equal((await at.here(["hook", "install", "gemini", "--project", "--yes"])).code, 0);
    assert.ok(existsSync(at.path(".gemini/settings.json")));
    assert.equal((await at.here(["hook", "install", "gemini", "--project", "--user"])).code, 2);
  });

  test("the wrapper denies when Assent cannot start or ends abnormally, and never fails a report", async () => {
    using at = place();
    await at.here(["hook", "install", "claude", "--yes"]);
    const wrapper = join(at.store, "hooks/assent-hook");
    assert.equal(statSync(wrapper).mode & 0o777, 0o700);
    const ends: readonly [program: string, decide: number, report: number][] = [
      ["exit 0", 0, 0],
      ["exit 2", 2, 0],
      ["exit 1", 2, 0],
      ["exit 75", 2, 0],
      ["kill -9 $$", 2, 0],
      ["echo '{\"half\":'; kill -11 $$", 2, 0],
      ["while :; do :; done", 2, 0], // computes for longer than it may
    ];
    for (const [program, decide, report] of ends) {
      const fake = at.write("fake", `#!/bin/sh\n${program}\n`);
      chmodSync(fake, 0o755);
      const script = readFileSync(wrapper, "utf8").replace(/-t 60; exec .* hook/, `-t 1; exec ${fake} hook`);
      assert.ok(script.includes(fake));
      const copy = at.write("wrapper", script);
      const codes = [];
      for (const use of ["decide", "report"]) {
        const { code, stdout } = await at.run([copy, "claude", use], { entry: ["-e", RUN_SHELL] });
        codes.push(code);
        if (code !== 0) assert.equal(stdout, "", program);
      }
      assert.deepEqual(codes, [decide, report], program);
    }
  });

  test("the agent's command denies if the wrapper is missing, and its reports do not", async () => {
    using at = place();
    await at.here(["hook", "install", "qwen", "--yes"]);
    rmSync(join(at.store, "hooks/assent-hook"));
    const { hooks } = JSON.parse(readHome(at, ".qwen/settings.json"));
    const run = async (event: string): Promise<number | null> =>
      (await at.run(["-c", hooks[event][0].hooks[0].command], { entry: ["-e", RUN_SHELL, "--"] })).code;
    assert.deepEqual([await run("PreToolUse"), await run("PostToolUse")], [2, 127]);
  });
});

/** Runs a shell script with its arguments and passes its output and status on. */
const RUN_SHELL = `
const { status, stdout, stderr } = require("node:child_process").spawnSync("/bin/sh", process.argv.slice(1), { input: "" });
process.stdout.write(stdout); process.stderr.write(stderr); process.exitCode = status ?? 99;
`;

describe("assent hook status", () => {
  test("says which agents are guarded, and exits with 1 if a project switches hooks off", async () => {
    using at = place();
    await at.here(["hook", "install", "claude", "--yes"]);
    const fine = await at.hereJson(["hook", "status"]);
    const states = fine.value.agents.map(({ agent, state }: { agent: string; state: string }) => `${agent} ${state}`);
    assert.deepEqual(
      [fine.code, states],
      [0, ["claude guarded", "codex not guarded", "gemini not guarded", "qwen not guarded", "opencode not guarded"]],
    );
    mkdirSync(at.path(".claude"));
    at.write(".claude/settings.json", '{ "disableAllHooks": true }');
    const off = await at.here(["hook", "status"]);
    assert.equal(off.code, 1);
    assert.match(off.stdout, /Claude Code: .*settings\.json: it switches all hooks off/);
  });
});

describe("the policy of guarded agents, in assent hook status", () => {
  test("is named by the version and digest of each file, and by the revision that the record has with each call", async () => {
    using at = place();
    await at.here(["hook", "install", "claude", "--yes"]);
    const text = '{ "policyVersion": "2026-11-03", "permissions": { "deny": [{ "rule": "Shell(touch *)", "client": "claude" }] } }';
    writeHome(at, ".config/assent/settings.json", text, 0o600);
    const { code, value } = await at.hereJson(["hook", "status"]);
    assert.equal(code, 0);
    const digest = createHash("sha256").update(text).digest("hex");
    const path = home(at, ".config/assent/settings.json");
    const { files, revision, problem } = value.policy;
    assert.deepEqual([files, problem], [[{ layer: "user", path, version: "2026-11-03", digest }], null]);
    const event = {
      hook_event_name: "PreToolUse",
      session_id: "S",
      cwd: at.workspace,
      tool_name: "Bash",
      tool_input: { command: "touch x" },
    };
    assert.equal((await at.run(["hook", "claude"], { input: JSON.stringify(event) })).code, 2);
    const created = JSON.parse((await at.here(["log", "--type", "session.created", "--json"])).stdout);
    assert.equal(revision, created.body.policy);
    assert.match((await at.here(["hook", "status"])).stdout, /^user policy 2026-11-03: .*settings\.json \([\da-f]{12}\)$/m);
  });

  test("that is invalid makes the state of a guarded agent broken", async () => {
    using at = place();
    await at.here(["hook", "install", "claude", "--yes"]);
    writeHome(at, ".config/assent/settings.json", "{ nonsense", 0o600);
    const { code, value } = await at.hereJson(["hook", "status"]);
    assert.deepEqual([code, value.agents[0].state, value.agents[1].state], [1, "broken", "not guarded"]);
    assert.match(value.agents[0].problems[0], /^every call is denied, because the settings are invalid: /);
  });
});

describe("assent hook doctor", () => {
  /** Stands for an agent: asks the model as Claude Code does, consults its hook or not, and runs the command or not. */
  function fakeClaude(at: Place, behavior: { readonly asksHook: boolean; readonly obeys: boolean }): Record<string, string> {
    mkdirSync(at.path("bin"));
    const file = at.write(
      "bin/claude",
      `#!${process.execPath}
const { spawnSync } = require("node:child_process");
const tools = [{ name: "Bash" }];
fetch(process.env.ANTHROPIC_BASE_URL + "/v1/messages", { method: "POST", body: JSON.stringify({ model: "m", tools, messages: [] }) })
  .then((answer) => answer.json())
  .then(({ content: [{ input, name }] }) => {
    const event = { hook_event_name: "PreToolUse", session_id: "1", cwd: process.cwd(), tool_name: name, tool_input: input };
    const asked = ${behavior.asksHook} ? spawnSync(${JSON.stringify(join(at.store, "hooks/assent-hook"))}, ["claude", "decide"], { input: JSON.stringify(event) }).status : 0;
    if (asked === 0 || !${behavior.obeys}) spawnSync("/bin/sh", ["-c", input.command]);
  });
`,
    );
    chmodSync(file, 0o755);
    return { PATH: `${at.path("bin")}:${at.env["PATH"]}` };
  }

  const rows: readonly [sentence: string, behavior: Parameters<typeof fakeClaude>[1], code: number, detail: RegExp][] = [
    ["an agent that asks and obeys is proven", { asksHook: true, obeys: true }, 0, /asked Assent, and the denied command did not run/],
    ["an agent that does not ask is found out", { asksHook: false, obeys: true }, 1, /without asking Assent/],
    ["an agent that asks and runs it anyway is found out", { asksHook: true, obeys: false }, 1, /ran a command that Assent denied/],
  ];
  for (const [sentence, behavior, code, detail] of rows) {
    test(sentence, async () => {
      using at = place();
      assert.equal((await at.run(["hook", "install", "claude", "--yes"])).code, 0);
      const env = fakeClaude(at, behavior);
      const examined = await at.json(["hook", "doctor", "claude"], { env });
      assert.deepEqual([examined.code, examined.value.ok], [code, code === 0]);
      assert.match(examined.value.detail, detail);
      const { value } = await at.hereJson(["hook", "status"]);
      const { ok, ageSeconds } = value.agents[0].doctor;
      assert.deepEqual([ok, Number.isInteger(ageSeconds)], [code === 0, true]);
      await at.run(["hook", "uninstall", "claude", "--yes"]);
      assert.equal((await at.hereJson(["hook", "status"])).value.agents[0].doctor, null);
    });
  }

  test("an agent that does not ask the model in time is stopped, and that proves nothing", async () => {
    using at = place();
    mkdirSync(at.path("bin"));
    chmodSync(at.write("bin/claude", "#!/bin/sh\necho starting\nexec tail -f /dev/null\n"), 0o755);
    const env = { PATH: `${at.path("bin")}:${at.env["PATH"]}` };
    const { code, value } = await at.json(["hook", "doctor", "claude", "--max-time", "1s"], { env });
    assert.equal(code, 1);
    assert.match(value.detail, /did not ask the local model within its time limit \(see --max-time\).*\nstarting/);
  });

  test("an agent that is not installed is named", async () => {
    using at = place();
    const { code, value } = await at.hereJson(["hook", "doctor", "opencode"], { env: { PATH: "/nowhere" } });
    assert.equal(code, 1);
    assert.match(value.detail, /opencode was not found in PATH/);
  });
});
