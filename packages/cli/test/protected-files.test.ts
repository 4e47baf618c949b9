import assert from "node:assert/strict";
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, test } from "node:test";
import { type Place, place } from "./support/assent.ts";

/** Runs a call in yolo with no one to ask. */
async function tried(
  at: Place,
  tool: "write" | "shell",
  input: object,
): Promise<{ readonly outcome: string; readonly type: string | null; readonly source: string }> {
  const { value } = await at.hereJson(["call", tool, "--input", JSON.stringify(input), "--mode", "yolo", "--on-ask", "deny"]);
  const { stdout } = await at.here(["log", value.sessionId, "--type", "call.judged", "--json"]);
  return { outcome: value.outcome, type: value.type, source: JSON.parse(stdout.trim()).body.source };
}

const DENIED = { outcome: "denied", type: "denied_by_guard", source: "own-files" };
const ASKED = { outcome: "denied", type: "denied_unattended", source: "control-file" };
const DOUBTED = { outcome: "denied", type: "denied_unattended", source: "deny-in-doubt" };

describe("in yolo, through the write tool", () => {
  const PATHS: readonly (readonly [name: string, path: string, expected: object])[] = [
    ["the project's settings", ".assent/settings.json", DENIED],
    ["the user's settings", "../.config/assent/settings.json", DENIED],
    ["the ledger, in which trust is kept", "../store/ledger.db", DENIED],
    ["a git hook that does not exist yet", ".git/hooks/pre-push", ASKED],
    [".mcp.json", ".mcp.json", ASKED],
    ["~/.bashrc", "../.bashrc", ASKED],
    [".GIT/config", ".GIT/config", ASKED],
    [".Assent/settings.json", ".Assent/settings.json", DENIED],
    ["through a link", "link/settings.json", DENIED],
  ];
  for (const [name, path, expected] of PATHS) {
    test(`${name} is not written`, async () => {
      using at = place();
      mkdirSync(at.path(".assent"));
      symlinkSync(".assent", at.path("link"));
      const existed = existsSync(at.path(path));
      assert.deepEqual(await tried(at, "write", { file_path: path, content: "x" }), expected);
      assert.equal(existsSync(at.path(path)), existed || path === "../store/ledger.db");
    });
  }
});

describe("Assent's own commands, in yolo", () => {
  const COMMANDS: readonly (readonly [command: string, source: string])[] = [
    ["assent log", "mode"],
    ["assent approvals show a_1", "mode"],
    ["assent policy check", "mode"],
    ["assent sessions export s_1", "mode"],
    ["assent sessions fork s_1", "own-files"],
    ["assent tasks", "mode"],
    ["assent tasks discard t_1", "own-files"],
    ["assent approve a_1", "own-files"],
    ["assent trust", "own-files"],
    ["assent imagined", "own-files"],
  ];
  for (const [command, source] of COMMANDS) {
    test(`${command}: ${source === "mode" ? "it looks, and passes" : "denied"}`, async () => {
      using at = place();
      const input = JSON.stringify({ command });
      const { value } = await at.hereJson(["explain", "--tool", "shell", "--mode", "yolo", "--input", input]);
      assert.deepEqual([value.verdict, value.source], source === "mode" ? ["allow", value.source] : ["deny", source]);
    });
  }
});

const SETTINGS = '{"permissions":{"deny":["Shell(halt)"]}}';

type Config = "there" | "absent" | "link";

/** Creates `~/.config` as a directory or a link, or not at all. */
function makeConfig(at: Place, config: Config): void {
  mkdirSync(at.path("evil/assent"), { recursive: true });
  at.write("evil/assent/settings.json", "{}");
  if (config === "absent") return;
  const directory = config === "link" ? "../dotfiles" : "../.config";
  mkdirSync(at.path(`${directory}/assent`), { recursive: true });
  at.write(`${directory}/assent/settings.json`, SETTINGS);
  if (config === "link") symlinkSync("dotfiles", at.path("../.config"));
}

describe("in yolo, through a shell line", () => {
  const LINES: readonly (readonly [line: string, expected: object])[] = [
    ["echo x > .assent/settings.json", DENIED],
    ["(echo x) > .assent/settings.json", DENIED],
    ["for i in 1; do echo $i; done >> .assent/settings.json", DENIED],
    ["echo x | tee link/settings.json", DENIED],
    ["sh -c 'sed -i s/a/b/ .assent/settings.json'", DENIED],
    ["rm -rf .assent", DENIED],
    ["cat ../store/ledger.db", DENIED],
    ['cp "$HOME"/store/ledger.db x', DENIED],
    ["echo x >> ~/.bashrc", ASKED],
    ["cp x .git/hooks/pre-commit", ASKED],
    ["rm -rf .git", ASKED],
    ["git config core.fsmonitor ./x", ASKED],
    ["echo x > $TARGET", DOUBTED],
    ["rm -rf .*", ASKED],
  ];
  for (const [line, expected] of LINES) {
    test(`${line} is not run`, async () => {
      using at = place();
      mkdirSync(at.path(".assent"));
      symlinkSync(".assent", at.path("link"));
      assert.deepEqual(await tried(at, "shell", { command: line }), expected);
      assert.deepEqual([readdirSync(at.path(".assent")), existsSync(at.path(".git")), existsSync(at.path("x"))], [[], true, false]);
    });
  }

  const ABOVE: readonly (readonly [line: string, config: Config, expected: object])[] = [
    ["cp -r evil/assent ~/.config/", "there", DENIED],
    ["cp -r evil/assent ../.config", "there", DENIED],
    ["mv evil ~/.config/assent", "there", DENIED],
    ["ln -sfn $PWD/evil/assent ../.config/assent", "there", DENIED],
    ["rsync -a evil/ ~/.config/", "there", ASKED],
    ["ln -s $PWD/evil ~/.config", "absent", DENIED],
    ["mv evil ../.config", "absent", DENIED],
    ["cp -r evil ../.config", "absent", DENIED],
    ["ln -sfn $PWD/evil ../.config", "link", DENIED],
    ["rm ../.config", "link", DENIED],
    ["unlink ../.config", "link", DENIED],
  ];
  for (const [line, config, expected] of ABOVE) {
    test(`with ~/.config ${config}, ${line} is not run`, async () => {
      using at = place();
      makeConfig(at, config);
      assert.deepEqual(await tried(at, "shell", { command: line }), expected);
      const file = at.path("../.config/assent/settings.json");
      assert.equal(existsSync(file) && readFileSync(file, "utf8"), config !== "absent" && SETTINGS);
      assert.deepEqual(readdirSync(at.path("evil/assent")), ["settings.json"]);
    });
  }

  const WRITERS: readonly (readonly [line: string, expected: object])[] = [
    ["ln -s x/.mcp.json", ASKED],
    ["install -d .assent/x", DENIED],
    ["git init --separate-git-dir=.assent", DENIED],
    ["command time -o .assent/settings.json true", DENIED],
    ["flock .assent/settings.json true", DENIED],
    ["mktemp -p .assent", DENIED],
  ];
  for (const [line, expected] of WRITERS) {
    test(`${line} is not run`, async () => {
      using at = place();
      mkdirSync(at.path(".assent"));
      assert.deepEqual(await tried(at, "shell", { command: line }), expected);
      assert.deepEqual([readdirSync(at.path(".assent")), existsSync(at.path(".mcp.json"))], [[], false]);
    });
  }

  test("lines of every day run", async () => {
    using at = place();
    for (const directory of ["src", "../.config/foo"]) mkdirSync(at.path(directory), { recursive: true });
    at.write("src/a.ts", "a");
    const lines = [
      "cp src/a.ts src/b.ts",
      "sed -i s/a/b/ src/a.ts",
      "echo x >> notes.txt",
      "mkdir -p out/x ~/.config/bar",
      "mv notes.txt out/",
    ];
    const more = [
      "cp src/a.ts ~/.config/",
      "touch ~/x",
      "rm -r ../.config/foo",
      "rm ~/.config/a.ts",
      "rm -rf out node_modules",
      "ls > /dev/null",
      "mktemp -u",
    ];
    for (const command of [...lines, ...more]) assert.equal((await tried(at, "shell", { command })).outcome, "succeeded", command);
  });

  test("what touches nothing of the kind runs", async () => {
    using at = place();
    assert.equal((await tried(at, "shell", { command: "mkdir -p out && echo x > out/a.txt; ls $NOWHERE" })).outcome, "succeeded");
    assert.ok(existsSync(at.path("out/a.txt")));
  });
});

test("an edit behind a link that leads out, or by dots, asks, and nothing is written outside", async () => {
  using at = place();
  const outside = join(at.root, "outside");
  mkdirSync(outside);
  symlinkSync(outside, at.path("link"));
  for (const file_path of ["link/x", "a/../../outside/y"]) {
    const { value } = await at.hereJson([
      "call",
      "write",
      "--input",
      JSON.stringify({ file_path, content: "x" }),
      "--mode",
      "auto-edit",
      "--on-ask",
      "park",
    ]);
    assert.equal(value.outcome, "waiting");
    const { facts } = (await at.hereJson(["approvals", "show", value.approvalId])).value;
    assert.equal(dirname(facts.paths[0].real), outside);
  }
  assert.deepEqual(readdirSync(outside), []);
});

test("approved, then the parent becomes a link to the home: nothing is written there", async () => {
  using at = place();
  mkdirSync(at.path("dir"));
  const { value } = await at.hereJson(["call", "write", "--input", '{"file_path":"dir/f","content":"x"}', "--on-ask", "park"]);
  assert.equal((await at.here(["approve", value.approvalId])).code, 0);
  renameSync(at.path("dir"), at.path("old"));
  const home = join(at.root, "home");
  mkdirSync(home);
  writeFileSync(join(home, "kept"), "");
  symlinkSync(home, at.path("dir"));
  const end = await at.hereJson(["resume", value.sessionId]);
  assert.deepEqual([end.code, end.value.outcome, end.value.type], [1, "denied", "operand_changed"]);
  assert.deepEqual(readdirSync(home), ["kept"]);
});

test("no tool that looks through directories shows or opens a store in the workspace", async () => {
  using at = place();
  mkdirSync(at.path("state/prompts"), { recursive: true, mode: 0o700 });
  at.write("state/prompts/old.ts", "secret(1)\n");
  at.write("open.ts", "secret(2)\n");
  const said = async (tool: string, input: object): Promise<string> => {
    const { value } = await at.hereJson(["call", tool, "--input", JSON.stringify(input), "--store", at.path("state"), "--mode", "yolo"]);
    return `${value.outcome}: ${value.content}`;
  };
  assert.match(await said("search", { pattern: "secret" }), /^succeeded: open\.ts\n\[\d+ files are hidden by a rule\]$/);
  assert.match(await said("glob", { pattern: "**/{*.ts,ledger.*}" }), /^succeeded: open\.ts\n\[\d+ files are hidden by a rule\]$/);
  assert.equal(
    await said("ast_grep", { pattern: "secret($A)", paths: ["**/*.ts"] }),
    "succeeded: open.ts:1:1: secret(2)\n[1 file is hidden by a rule]",
  );
});

describe("files that a rule forbids to read, seen from the directory above", () => {
  const LAYERS: readonly (readonly [layer: string, settings: string | undefined, flags: readonly string[]])[] = [
    ["the project's settings", ".assent/settings.json", []],
    ["the user's settings", "../.config/assent/settings.json", []],
    ["a flag", undefined, ["--deny", "Read(private/**)"]],
  ];
  for (const [layer, settings, flags] of LAYERS) {
    test(`a deny of ${layer} reaches into search, glob, list and ast_grep`, async () => {
      using at = place();
      for (const directory of [".assent", "../.config/assent", "private"]) mkdirSync(at.path(directory), { recursive: true });
      at.write("private/key.ts", "secret(1)\n");
      at.write("open.ts", "secret(2)\n");
      if (settings) at.write(settings, JSON.stringify({ permissions: { deny: ["Read(private/**)"] } }));
      const said = async (tool: string, input: object): Promise<string> => {
        const { value } = await at.hereJson(["call", tool, "--input", JSON.stringify(input), ...flags]);
        return `${value.outcome}: ${value.content}`;
      };
      const calls = [
        await said("search", { pattern: "secret" }),
        await said("glob", { pattern: "**/*.ts" }),
        await said("list", { path: ".", ignore: [".*"] }),
        await said("ast_grep", { pattern: "secret($A)", paths: ["**/*.ts"] }),
      ];
      const hidden = "[1 file is hidden by a rule]";
      assert.deepEqual(calls, [
        `succeeded: open.ts\n${hidden}`,
        `succeeded: open.ts\n${hidden}`,
        `succeeded: open.ts (10 bytes)\n${hidden}`,
        `succeeded: open.ts:1:1: secret(2)\n${hidden}`,
      ]);
      assert.equal((await said("read", { file_path: "private/key.ts" })).split(":")[0], "denied");
    });
  }
});

describe("an approval to read one file", () => {
  const CHANGES: readonly (readonly [name: string, change: (at: Place) => void])[] = [
    ["a link in its place", (at) => symlinkSync("../outside.txt", at.path(".env"))],
    ["a link to another file of the workspace in its place", (at) => symlinkSync("other.txt", at.path(".env"))],
    ["nothing in its place", () => undefined],
  ];
  const CALLS = [
    ["read", '{"file_path":".env"}'],
    ["shell", '{"command":"cat .env"}'],
    ["shell", '{"command":"sort < .env"}'],
    ["shell", '{"command":"while read line; do echo $line; done < .env"}'],
  ] as const;
  const rows = CHANGES.flatMap(([name, change]) => CALLS.map(([tool, input]) => ({ name, change, tool, input })));
  for (const { name, change, tool, input } of rows) {
    test(`by ${tool} ${input} reads no other: ${name}`, async () => {
      using at = place();
      writeFileSync(at.path(".env"), "A=1\n");
      writeFileSync(at.path("other.txt"), "OTHER-SECRET\n");
      writeFileSync(join(at.root, "outside.txt"), "OTHER-SECRET\n");
      const parked = await at.hereJson(["call", tool, "--input", input, "--on-ask", "park"]);
      assert.equal(parked.code, 75);
      assert.equal((await at.here(["approve", parked.value.approvalId])).code, 0);
      renameSync(at.path(".env"), at.path("moved"));
      change(at);
      const { code, stdout, stderr } = await at.here(["resume", parked.value.sessionId]);
      assert.equal(code, 1);
      assert.doesNotMatch(`${stdout}${stderr}`, /OTHER-SECRET/);
      const { stdout: log } = await at.here(["log", parked.value.sessionId, "--json"]);
      assert.doesNotMatch(log, /OTHER-SECRET/);
      if (name.startsWith("a link")) assert.match(log, /operand_changed/);
    });
  }
});
