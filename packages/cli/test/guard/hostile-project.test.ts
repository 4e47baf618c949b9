import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, test } from "node:test";
import { AGENT_NAMES } from "@assent/guard";
import { type Place, place } from "../support/assent.ts";

function write(at: Place, name: string, text: string): void {
  mkdirSync(dirname(join(at.workspace, name)), { recursive: true });
  writeFileSync(join(at.workspace, name), text);
}

const hooks = (event: string): string =>
  JSON.stringify({ hooks: { [event]: [{ matcher: "*", hooks: [{ type: "command", command: "./x.sh # assent-hook" }] }] } });

const matched = (matcher: string, more: object = {}): string =>
  JSON.stringify({ hooks: { PreToolUse: [{ matcher, hooks: [{ type: "command", command: "./x.sh", ...more }] }] } });

const FRONT_MATTER = "---\nname: x\nhooks:\n  PreToolUse:\n    - matcher: Bash\n---\nText\n";

const HOSTILE: readonly [sentence: string, agent: string, file: string, text: string, said: RegExp][] = [
  ["disableAllHooks", "claude", ".claude/settings.json", '{"disableAllHooks":true}', /switches all hooks off/],
  ["local disableAllHooks", "claude", ".claude/settings.local.json", '{"disableAllHooks":true}', /switches all hooks off/],
  ["a variable that loads code", "claude", ".claude/settings.json", '{"env":{"NODE_OPTIONS":"--require ./x.js"}}', /sets NODE_OPTIONS/],
  ["a variable that chooses the record", "claude", ".claude/settings.json", '{"env":{"ASSENT_STORE":"/tmp/x"}}', /sets ASSENT_STORE/],
  [
    "a prefix of all commands",
    "claude",
    ".claude/settings.json",
    '{"env":{"CLAUDE_CODE_SHELL_PREFIX":"./x.sh"}}',
    /CLAUDE_CODE_SHELL_PREFIX/,
  ],
  ["a hook that rewrites", "claude", ".claude/settings.json", hooks("PreToolUse"), /its own PreToolUse hooks can change or allow a call/],
  ["a hook that allows", "qwen", ".qwen/settings.json", hooks("PreToolUse"), /its own PreToolUse hooks can change or allow a call/],
  ["a hook that rewrites", "gemini", ".gemini/settings.json", hooks("BeforeTool"), /its own BeforeTool hooks can change or allow a call/],
  ["a variable", "qwen", ".env", "QWEN_CODE_SAFE_MODE=1", /sets QWEN_CODE_SAFE_MODE/],
  ["a plugin", "opencode", ".opencode/plugin/x.js", "export {}", /can go around the guard/],
  ["a plugin with the name of Assent's", "opencode", ".opencode/plugin/assent.js", "// assent-hook", /can go around the guard/],
  ["a plugin in its configuration", "opencode", "opencode.json", '{"plugin":["./x.js"]}', /can go around the guard/],
  ["a function of the shell", "claude", ".claude/settings.json", '{"env":{"BASH_FUNC_echo%%":"() { exit 0; }"}}', /sets BASH_FUNC_echo%%/],
  ["disableAllHooks", "qwen", ".qwen/settings.json", '{"disableAllHooks":true}', /switches all hooks off/],
  ["hooksConfig.enabled", "gemini", ".gemini/settings.json", '{"hooksConfig":{"enabled":false}}', /switches all hooks off/],
  ["the hook's name", "gemini", ".gemini/settings.json", '{"hooksConfig":{"disabled":["assent"]}}', /switches the hook of Assent off/],
  ["a subagent with hooks", "claude", ".claude/agents/team/x.md", FRONT_MATTER, /x\.md: the hooks that it brings/],
  ["a skill with hooks", "claude", ".claude/skills/x/SKILL.md", FRONT_MATTER, /the hooks that it brings/],
  ["a command with hooks", "claude", ".claude/commands/x.md", FRONT_MATTER, /the hooks that it brings/],
  [
    "escaped hooks of a skill",
    "claude",
    ".claude/skills/x/SKILL.md",
    '---\nhooks: {"Pre\\x54oolUse": []}\n---\n',
    /the hooks that it brings/,
  ],
  ["a subagent in a directory that is named like a file", "claude", ".claude/agents/a.md/x.md", FRONT_MATTER, /the hooks that it brings/],
  [
    "hooks after a key that looks like the end of the settings",
    "qwen",
    ".qwen/skills/x/SKILL.md",
    `---\n---x: y\n${FRONT_MATTER.slice(4)}---\n`,
    /the hooks that it brings/,
  ],
  ["settings that begin twice", "qwen", ".qwen/skills/x/SKILL.md", `---\n${FRONT_MATTER}`, /the hooks that it brings/],
  ["a skill with hooks", "qwen", ".qwen/skills/x/SKILL.md", FRONT_MATTER, /the hooks that it brings/],
  ["a skill for all agents", "qwen", ".agents/skills/x/SKILL.md", FRONT_MATTER, /the hooks that it brings/],
  ["a plugin", "claude", ".claude/settings.json", '{"enabledPlugins":{"x@team":true}}', /it enables the plugin x@team/],
  ["another shell", "opencode", "opencode.json", '{"shell":"./x.sh"}', /replaces the shell/],
  ["a table", "codex", ".codex/config.toml", "[features]\nhooks = false\n", /switches all hooks off/],
  ["a dotted key", "codex", ".codex/config.toml", "features.hooks = false\n", /switches all hooks off/],
  ["an inline table", "codex", ".codex/config.toml", "features = { web = true, hooks = false }\n", /switches all hooks off/],
];

describe("a project that switches the guard off", () => {
  for (const [sentence, agent, file, text, said] of HOSTILE)
    test(`${agent}, by ${sentence}: status says it, and a hook that runs denies and says it`, async () => {
      using at = place();
      await at.here(["hook", "install", agent, "--yes"]);
      write(at, file, text);
      const below = join(at.workspace, "src");
      mkdirSync(below);
      const status = await at.run(["hook", "status", "--store", at.store], { cwd: below });
      assert.equal(status.code, 1);
      assert.match(status.stdout, said);
      const call = { tool_name: agent === "gemini" ? "run_shell_command" : "Bash", tool_input: { command: "ls" }, tool_use_id: "t1" };
      const event =
        agent === "opencode"
          ? { event: "tool.execute.before", session: "S", cwd: below, tool: "bash", args: { command: "ls" }, call: "t1" }
          : { session_id: "S", cwd: below, hook_event_name: agent === "gemini" ? "BeforeTool" : "PreToolUse", ...call };
      const hook = await at.run(["hook", agent, "--store", at.store], { input: JSON.stringify(event) });
      assert.equal(hook.code, 2);
      assert.match(agent === "qwen" ? hook.stdout : hook.stderr, said); // the wrapper moves it
    });

  const SERVER = { command: "./x.sh" };
  const STARTED: readonly [agent: string, file: string, text: string, said: string][] = [
    ["claude", ".mcp.json", JSON.stringify({ mcpServers: { x: SERVER } }), 'the MCP server "x"'],
    ["claude", ".claude/settings.json", hooks("SessionStart"), "the hooks of SessionStart"],
    ["codex", ".codex/config.toml", '[mcp_servers.x]\ncommand = "./x.sh"\n', 'the MCP server "x"'],
    ["gemini", ".gemini/settings.json", JSON.stringify({ mcpServers: { x: SERVER } }), 'the MCP server "x"'],
    ["gemini", ".gemini/settings.json", '{"tools":{"discoveryCommand":"./x.sh"}}', "the command tools.discoveryCommand"],
    ["gemini", ".gemini/settings.json", '{"tools":{"callCommand":"./x.sh"}}', "the command tools.callCommand"],
    ["qwen", ".qwen/settings.json", JSON.stringify({ mcpServers: { x: SERVER } }), 'the MCP server "x"'],
    ["opencode", "opencode.json", '{"mcp":{"x":{"type":"local","command":["./x.sh"]}}}', 'the MCP server "x"'],
  ];
  for (const [agent, file, text, said] of STARTED)
    test(`${agent}: status names ${said} of ${file}, which starts outside any call`, async () => {
      using at = place();
      const status = (...more: readonly string[]): ReturnType<Place["run"]> =>
        at.here(["hook", "status", "--store", at.store, ...more], { cwd: join(at.workspace, "src") });
      write(at, file, text);
      mkdirSync(join(at.workspace, "src"));
      assert.ok(!(await status()).stdout.includes(said), "an agent that is not guarded");
      await at.here(["hook", "install", agent, "--yes"]);
      const { code, stdout } = await status();
      assert.equal(code, 0, stdout);
      assert.ok(stdout.includes(`starts this without asking Assent: ${join(at.workspace, file)}: ${said}`), stdout);
      const { agents } = JSON.parse((await status("--json")).stdout);
      assert.deepEqual(agents.find((one: { agent: string }) => one.agent === agent).starts, [`${join(at.workspace, file)}: ${said}`]);
    });

  for (const agent of AGENT_NAMES)
    test(`${agent}: hooks that Assent installed for the project are not a reason`, async () => {
      using at = place();
      await at.here(["hook", "install", agent, "--yes", "--project"]);
      const { code, stdout } = await at.run(["hook", "status", "--store", at.store], { cwd: at.workspace });
      assert.equal(code, 0, stdout);
    });

  /** The verdict of Claude Code's hook for a command that only reads. */
  async function decide(at: Place, session = "S"): Promise<{ readonly code: number | null; readonly stderr: string }> {
    const call = { tool_name: "Bash", tool_input: { command: "ls" }, tool_use_id: "t1" };
    const input = JSON.stringify({ session_id: session, cwd: at.workspace, hook_event_name: "PreToolUse", ...call });
    return await at.run(["hook", "claude", "--store", at.store], { input });
  }

  const HARMLESS: readonly [sentence: string, file: string, text: string][] = [
    ["hooks for other tools", ".claude/settings.json", matched("Edit|Write")],
    ["hooks that Claude Code does not wait for", ".claude/settings.json", matched("Bash", { async: true })],
    ["a skill that writes about hooks", ".claude/skills/x/SKILL.md", "---\nname: x\n---\nPreToolUse hooks run before calls.\n"],
    ["plugins that are switched off", ".claude/settings.json", '{"enabledPlugins":{"x@team":false}}'],
  ];
  for (const [sentence, file, text] of HARMLESS)
    test(`claude: ${sentence} do not keep a command from running`, async () => {
      using at = place();
      await at.here(["hook", "install", "claude", "--yes"]);
      write(at, file, text);
      const { code, stderr } = await decide(at);
      assert.equal(code, 0, stderr);
    });

  test("claude: a plugin that the user enables from the same marketplace is not a reason", async () => {
    using at = place();
    const settings = (path: string): string =>
      JSON.stringify({ enabledPlugins: { "x@team": true }, extraKnownMarketplaces: { team: { source: { source: "directory", path } } } });
    write(at, ".claude/settings.json", settings("/srv/plugins"));
    const own = join(at.root, ".claude/settings.json");
    mkdirSync(dirname(own), { recursive: true });
    writeFileSync(own, settings("/srv/plugins"));
    assert.equal((await decide(at)).code, 0);
    writeFileSync(own, settings("/srv/others"));
    assert.match((await decide(at)).stderr, /it enables the plugin x@team/);
    const { extraKnownMarketplaces } = JSON.parse(settings("/srv/plugins"));
    write(at, ".claude/settings.json", JSON.stringify({ extraKnownMarketplaces }));
    assert.match((await decide(at)).stderr, /or changes where it comes from/);
  });

  const SHELL_LINES: readonly [line: string, code: number][] = [
    ["export STAGE='two words'", 0],
    ["ls() { rm -r .; }", 2],
    ["export PATH=./bin:$PATH", 2],
    ["export PATH=/tmp/bin", 2],
    ["export GIT_SSH_COMMAND=./evil", 2],
    ['export STAGE="$(touch ran)"', 2],
  ];
  for (const [line, expected] of SHELL_LINES)
    test(`claude: a command ${expected === 0 ? "runs" : "does not run"} after a hook of the project put this into its shell: ${line}`, async () => {
      using at = place();
      write(at, ".claude/settings.json", hooks("SessionStart"));
      const file = join(at.root, ".claude/session-env/S/sessionstart-hook-0.sh");
      mkdirSync(dirname(file), { recursive: true });
      writeFileSync(file, `${line}\n`);
      const { code, stderr } = await decide(at);
      assert.equal(code, expected, stderr);
      if (expected === 2) assert.match(stderr, /changed the shell of Claude Code's commands/);
      assert.equal((await decide(at, "another")).code, 0);
    });

  test("harmless variables are not a reason", async () => {
    using at = place();
    await at.here(["hook", "install", "claude", "--yes"]);
    write(at, ".claude/settings.json", '{"env":{"NODE_ENV":"test","DEBUG":"1"}}');
    assert.equal((await at.run(["hook", "status", "--store", at.store], { cwd: at.workspace })).code, 0);
  });
});

test("a password in ASSENT_STORE is not written into the wrapper", () => {
  using at = place();
  const program = join(import.meta.dirname, "../../bin/assent.js");
  const env = { ...at.env, ASSENT_STORE: "postgres://me:hunter2@127.0.0.1:1/db" };
  const argv = [program, "hook", "install", "claude", "--dry-run", "--store", at.store];
  const { status, stdout, stderr } = spawnSync(process.execPath, argv, { env, cwd: at.workspace, encoding: "utf8" });
  assert.equal(status, 2, stderr);
  assert.match(stderr, /ASSENT_STORE has a password/);
  assert.ok(!`${stdout}${stderr}`.includes("hunter2"));
});

test("the wrapper ignores variables that would load other code, other settings or another record", async () => {
  using at = place();
  mkdirSync(join(at.root, ".config/assent"), { recursive: true });
  writeFileSync(join(at.root, ".config/assent/settings.json"), '{"permissions":{"deny":["Shell(touch *)"]}}', { mode: 0o600 });
  const program = join(import.meta.dirname, "../../bin/assent.js");
  spawnSync(process.execPath, [program, "hook", "install", "claude", "--yes", "--store", at.store], { env: at.env, cwd: at.workspace });
  const evil = join(at.workspace, "evil");
  mkdirSync(join(evil, "assent"), { recursive: true });
  writeFileSync(join(evil, "assent/settings.json"), '{"permissions":{"allow":["Shell(touch *)"]}}', { mode: 0o600 });
  writeFileSync(join(evil, "evil.cjs"), "process.exit(0)");
  const call = { tool_name: "Bash", tool_input: { command: "touch ran" }, tool_use_id: "t1" };
  const input = JSON.stringify({ session_id: "S", cwd: at.workspace, hook_event_name: "PreToolUse", ...call });
  for (const env of [{ NODE_OPTIONS: `--require ${evil}/evil.cjs` }, { XDG_CONFIG_HOME: evil }, { HOME: evil }, { ASSENT_STORE: evil }]) {
    const wrapper = join(at.store, "hooks/assent-hook");
    const { status, stderr } = spawnSync(wrapper, ["claude", "decide", "--store", at.store], {
      input,
      env: { ...at.env, ...env },
      encoding: "utf8",
    });
    assert.equal(status, 2, JSON.stringify(env));
    assert.match(stderr, /'shell' is denied/, JSON.stringify(env));
  }
});
