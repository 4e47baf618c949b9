import assert from "node:assert/strict";
import { basename, dirname } from "node:path";
import { describe, test } from "node:test";
import { AGENT_NAMES, AGENTS, type AgentHome, agentFiles, type HookSetup, switchedOff } from "@assent/guard";

const AT: AgentHome = { home: "/home/me", project: "/project", env: {} };
const SETUP: HookSetup = {
  wrapper: "/state/hooks/assent-hook",
  options: ["--store", "/elsewhere"],
  decideOptions: ["--deadline", "598s"],
  timeoutSeconds: 600,
  besideDialog: false,
};

const OTHERS = `{
  // mine
  "theme": "dark",
  "hooks": {
    "PreToolUse": [{ "matcher": "Bash", "hooks": [{ "type": "command", "command": "other.sh" }] }],
    "BeforeTool": [{ "hooks": [{ "type": "command", "command": "other.sh" }] }]
  }
}
`;

describe("the files of each agent", () => {
  for (const agent of AGENT_NAMES) {
    const { title } = AGENTS[agent];
    const [file] = agentFiles(agent, "user", AT);
    assert.ok(file);

    test(`${title}: an installed file has no problem, and installing twice changes nothing`, () => {
      for (const { install, problem } of agentFiles(agent, "user", AT)) {
        const once = install("", SETUP);
        assert.equal(problem(once), undefined);
        assert.equal(install(once, SETUP), once);
      }
    });

    test(`${title}: a file without the hook has a problem`, () => assert.notEqual(file.problem(""), undefined));

    test(`${title}: the hook before a call has the deadline, and no report has it`, () => {
      const text = file.install("", SETUP);
      assert.match(
        text,
        new RegExp(
          agent === "opencode" || agent === "claude"
            ? `"decide",\\s*"--deadline",\\s*"598s",\\s*"--store"`
            : `assent-hook ${agent} decide --deadline 598s --store /elsewhere \\|\\| exit 2"`,
        ),
      );
      assert.doesNotMatch(text, /report[\s",]*--deadline/);
      assert.match(text, /report[\s",]*--store[\s",]*\/elsewhere/);
    });

    test(`${title}: the user's file is in the home, the project's in the project`, () => {
      assert.match(file.path, /^\/home\/me\//);
      for (const { path } of agentFiles(agent, "project", AT)) assert.match(path, /^\/project\//);
    });

    if (agent === "opencode") {
      test(`${title}: uninstalling removes the plugin`, () => assert.equal(file.uninstall(file.install("", SETUP)), undefined));
      continue;
    }

    test(`${title}: other hooks, settings and comments stay`, () => {
      const text = file.install(OTHERS, SETUP);
      for (const kept of ["// mine", '"theme": "dark"', "other.sh"]) assert.ok(text.includes(kept), kept);
      assert.equal(text.split("other.sh").length, OTHERS.split("other.sh").length);
    });

    test(`${title}: uninstalling leaves what was there before`, () => {
      const left = file.uninstall(file.install(OTHERS, SETUP)) ?? "";
      assert.ok(!left.includes("assent-hook") && left.includes("// mine"));
      assert.equal(left.split("other.sh").length, OTHERS.split("other.sh").length);
      assert.equal(file.uninstall(file.install("", SETUP))?.replace(/\s/g, ""), "{}");
    });

    test(`${title}: uninstalling gives back a file with comments and trailing commas as it was`, () => {
      const event = agent === "gemini" ? "BeforeTool" : "PreToolUse";
      const first = JSON.stringify({ hooks: [{ type: "command", command: "a.sh" }] }, null, 2).replaceAll("\n", "\n      ");
      const lines = ["{", '  "hooks": {', "    // mine", `    "${event}": [`, "      // logs", `      ${first}, // first`, "      // last"];
      const commented = [...lines, "    ],", "  },", "}", ""].join("\n");
      const installed = file.install(commented, SETUP);
      for (const kept of ["// mine", "// logs", "// first", "// last"]) assert.ok(installed.includes(kept), kept);
      assert.equal(file.problem(installed), undefined);
      assert.equal(file.install(installed, SETUP), installed);
      assert.equal(file.uninstall(installed), commented);
    });

    test(`${title}: a hook that someone added to the group of Assent stays`, () => {
      const installed = file.install("", SETUP);
      const added = installed.replaceAll('"hooks": [', '"hooks": [ { "type": "command", "command": "other.sh" }, ');
      const left = file.uninstall(added) ?? "";
      assert.deepEqual([left.includes("assent-hook"), left.split("other.sh").length], [false, added.split("other.sh").length]);
    });

    const twice = ['{ "hooks": {}, "hooks": {} }', '{ "hooks": { "SessionEnd": [], "SessionEnd": [] } }'];
    for (const broken of ["{", "[]", "nonsense", '{ "hooks": [] }', '{ "hooks": { "SessionEnd": {} } }', ...twice])
      test(`${title}: ${broken} is refused instead of overwritten`, () =>
        assert.throws(() => file.install(broken, SETUP), { name: "AgentConfigError" }));
  }
});

describe("the configuration of Codex", () => {
  const rows: readonly [before: string, after: string][] = [
    ["", "[features]\nhooks = true\n"],
    ['model = "x"', 'model = "x"\n\n[features]\nhooks = true\n'],
    ["[features]\nweb = true\n", "[features]\nhooks = true\nweb = true\n"],
    ["[features]\nhooks = false # no\n\n[other]\nhooks = false\n", "[features]\nhooks = true # no\n\n[other]\nhooks = false\n"],
    ["[features]\nhooks = true\n", "[features]\nhooks = true\n"],
    ["[features]", "[features]\nhooks = true\n"],
    ["features = { web = true }\n", "features = { hooks = true, web = true }\n"],
    ["features = { hooks = false }\n", "features = { hooks = true }\n"],
    ["features = {}\n", "features = { hooks = true }\n"],
    ["features.web = true # x\n[a]\n", "features.hooks = true\nfeatures.web = true # x\n[a]\n"],
    ["features.hooks = true\n", "features.hooks = true\n"],
    ['note = """\n[features]\nhooks = true\n"""\n', 'note = """\n[features]\nhooks = true\n"""\n\n[features]\nhooks = true\n'],
  ];
  const config = agentFiles("codex", "user", AT)[1];
  for (const [before, after] of rows)
    test(`${JSON.stringify(before)} enables hooks`, () => {
      assert.equal(config?.install(before, SETUP), after);
      assert.equal(config?.problem(after), undefined);
    });
});

describe("a project that switches hooks off is noticed", () => {
  const before = (event: string, command: string): string =>
    JSON.stringify({ hooks: { [event]: [{ matcher: "*", hooks: [{ type: "command", command }] }] } });
  const ownPlugin = agentFiles("opencode", "project", AT)[0]?.install("", SETUP) ?? "";
  const rows: readonly [agent: (typeof AGENT_NAMES)[number], file: string, text: string, noticed: boolean][] = [
    ["claude", ".claude/settings.json", '{ "disableAllHooks": true }', true],
    ["claude", ".claude/settings.local.json", '{ "disableAllHooks": true }', true],
    ["claude", ".claude/settings.json", '{ "disableAllHooks": false }', false],
    ["claude", ".claude/settings.json", "nonsense", true],
    ["claude", ".claude/settings.json", "", false],
    ["claude", ".claude/settings.json", '\ufeff{ "disableAllHooks": true }', true],
    ["claude", ".claude/settings.json", '{ "env": { "CLAUDE_CODE_SHELL_PREFIX": "./p.sh" } }', true],
    ["claude", ".claude/settings.json", '{ "env": { "CLAUDE_ENV_FILE": "./p.sh" } }', true],
    ["claude", ".claude/settings.json", before("PreToolUse", "./rewrite.sh"), true],
    ["claude", ".claude/settings.json", before("PreToolUse", "./rewrite.sh # /state/hooks/assent-hook"), true],
    ["claude", ".claude/settings.json", before("PreToolUse", "/state/hooks/assent-hook claude; ./rewrite.sh"), true],
    ["claude", ".claude/settings.json", before("PreToolUse", "/state/hooks/assent-hook claude decide || exit 2"), false],
    ["claude", ".claude/settings.json", before("PreToolUse", SETUP.wrapper), false],
    ["claude", ".claude/settings.json", before("PermissionRequest", "./allow.sh"), true],
    ["qwen", ".qwen/settings.json", before("PermissionRequest", "./allow.sh"), true],
    ["claude", ".claude/settings.json", before("PostToolUse", "./format.sh"), false],
    ["claude", ".claude/settings.json", before("Stop", "./format.sh"), false],
    ["claude", ".claude/settings.json", before("Notification", "./format.sh"), false],
    ["qwen", ".qwen/settings.json", before("PostToolUse", "./format.sh"), false],
    ["qwen", ".qwen/settings.json", before("Stop", "./format.sh"), false],
    ["qwen", ".qwen/settings.json", before("Notification", "./format.sh"), false],
    ["gemini", ".gemini/settings.json", before("AfterTool", "./format.sh"), false],
    ["gemini", ".gemini/settings.json", before("AfterAgent", "./format.sh"), false],
    ["gemini", ".gemini/settings.json", before("Notification", "./format.sh"), false],
    ["qwen", ".qwen/settings.json", before("PreToolUse", "./allow.sh"), true],
    ["qwen", ".qwen/settings.json", '{ "env": { "QWEN_CODE_SAFE_MODE": "1" } }', true],
    ["qwen", ".env", "A=1\nexport QWEN_CODE_SIMPLE=1\n", true],
    ["qwen", ".qwen/.env", "QWEN_CODE_SAFE_MODE=1\n", true],
    ["qwen", ".env", "BASH_ENV=./x.sh\n", true],
    ["qwen", ".env", "QWEN_CODE_SYSTEM_SETTINGS_PATH=./x.json\n", true],
    ["qwen", ".env", "NODE_OPTIONS=--max-old-space-size=4096\n", false],
    ["gemini", ".env", "BASH_ENV=./x.sh\n", true],
    ["gemini", ".gemini/.env", "LD_PRELOAD=./x.so\n", true],
    ["gemini", ".env", "GEMINI_CLI_SYSTEM_SETTINGS_PATH=./x.json\n", true],
    ["gemini", ".env", "GEMINI_API_KEY=x\n", false],
    ["gemini", ".gemini/settings.json", before("BeforeTool", "./rewrite.sh"), true],
    ["opencode", "opencode.json", '{ "plugin": ["./x.js"] }', true],
    ["opencode", ".opencode/opencode.jsonc", '{ "plugin": [], }', true],
    ["opencode", "opencode.json", '{ "model": "x" }', false],
    ["opencode", ".opencode/plugin/x.ts", "export default {}", true],
    ["opencode", ".opencode/tool/bash.js", "export default {}", true],
    ["opencode", ".opencode/plugin/assent.js", "export default {} // /state/hooks/assent-hook", true],
    ["opencode", ".opencode/plugin/assent.js", ownPlugin, false],
    ["qwen", ".qwen/settings.json", '{ "disableAllHooks": true }', true],
    ["gemini", ".gemini/settings.json", '{ "hooksConfig": { "enabled": false } }', true],
    ["gemini", ".gemini/settings.json", '{ "hooksConfig": { "disabled": ["assent"] } }', true],
    ["gemini", ".gemini/settings.json", '{ "hooks": { "disabled": ["assent"] } }', true],
    ["gemini", ".gemini/settings.json", '{ "hooksConfig": { "disabled": ["other"] } }', false],
    ["codex", ".codex/config.toml", "[features]\nhooks = false\n", true],
    ["codex", ".codex/config.toml", "features = { web = true, hooks = false }\n", true],
    ["codex", ".codex/config.toml", "features.hooks = false\n", true],
    ["codex", ".codex/config.toml", "what Assent cannot read\nfeatures = { hooks = false }\n", true],
    ["codex", ".codex/config.toml", "[features]\nhooks = true\n", false],
  ];
  for (const [agent, file, text, noticed] of rows)
    test(`${AGENTS[agent].title}: ${file} with ${JSON.stringify(text.slice(0, 100))}${noticed ? "" : " is fine"}`, () => {
      const at = { directory: "/home/me/project/src", home: "/home/me", claudeConfig: "/home/me/.claude", wrapper: SETUP.wrapper };
      const path = `/home/me/project/${file}`;
      const found = switchedOff(agent, at, {
        read: (one) => (one === path ? text : undefined),
        list: (folder) => (folder === dirname(path) ? [basename(path)] : []),
      });
      assert.equal(found.length, noticed ? 1 : 0);
    });
});

describe("hooks in the definitions of a project are noticed", () => {
  const TOP = "/home/me/project/.claude/skills";
  const HOOKS = "---\nhooks:\n  PreToolUse: []\n---\n";
  const names = (count: number): readonly string[] => Array.from({ length: count }, (_, index) => `${index}.txt`);
  type Folders = (folder: string) => readonly string[];
  const rows: readonly [name: string, list: Folders, found: RegExp | undefined][] = [
    ["no definitions", () => [], undefined],
    ["a definition at the ninth level", (folder) => (depthOf(folder) < 9 ? ["a.md"] : []), /a\.md: the hooks that it brings/],
    [
      "a definition below what Assent looks through",
      (folder) => (depthOf(folder) < 14 ? ["a"] : ["a.md"]),
      /skills: it has more files or levels/,
    ],
    ["a link to a folder above", (folder) => (folder.startsWith(TOP) ? ["up"] : []), /skills: it has more files or levels/],
    ["two links to folders above", (folder) => (folder.startsWith(TOP) ? ["up", "up2"] : []), /skills: it has more files or levels/],
    ["10,000 other files", (folder) => (folder === TOP ? names(10_000) : []), undefined],
    ["10,001 other files", (folder) => (folder === TOP ? names(10_001) : []), /skills: it has more files or levels/],
  ];
  for (const [name, list, expected] of rows)
    test(name, () => {
      const at = { directory: "/home/me/project", home: "/home/me", claudeConfig: "/home/me/.claude", wrapper: SETUP.wrapper };
      const found = switchedOff("claude", at, {
        read: (path) => (path.endsWith(".md") ? HOOKS : undefined),
        list: (folder) => (folder.startsWith(TOP) ? list(folder) : []),
      });
      if (expected === undefined) assert.deepEqual(found, []);
      else assert.match(found.join("\n"), expected);
    });

  function depthOf(folder: string): number {
    return folder.slice(TOP.length).split("/").length - 1;
  }
});
