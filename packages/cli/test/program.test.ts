import assert from "node:assert/strict";
import { execFileSync, spawnSync } from "node:child_process";
import { cpSync, existsSync, globSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import { describe, test } from "node:test";
import { fileURLToPath } from "node:url";
import { completionScript } from "../src/command-line/completions.ts";
import { COMMANDS } from "../src/command-line/table.ts";
import { BIN, type Place, place } from "./support/assent.ts";

const PACKAGE = fileURLToPath(new URL("..", import.meta.url));
const COMMAND_FILES = readdirSync(join(PACKAGE, "src/commands")).sort();

/** Runs a command line from the sources and lists the modules it loaded. */
async function runListing(
  at: Place,
  argv: readonly string[],
  input = "",
): Promise<{ readonly code: number | null; readonly stdout: string; readonly modules: readonly string[] }> {
  const preload = at.write(
    "preload.mjs",
    `import { registerHooks } from "node:module";
     import { writeFileSync } from "node:fs";
     const loaded = [];
     registerHooks({ load: (url, context, next) => { loaded.push(url); return next(url, context); } });
     process.on("exit", () => writeFileSync(${JSON.stringify(at.path("loaded"))}, loaded.filter((url) => url.startsWith("file:")).join("\\n")));`,
  );
  const { code, stdout } = await at.run(argv, { entry: ["--import", preload, BIN], input, env: { ASSENT_DIST: "0" } });
  const modules = readFileSync(at.path("loaded"), "utf8").split("\n");
  return { code, stdout, modules: modules.map((url) => relative(PACKAGE, fileURLToPath(url))).sort() };
}

describe("the program", () => {
  test("--version prints the package's version and loads nothing it does not need", async () => {
    using at = place();
    const { code, stdout, modules } = await runListing(at, ["--version"]);
    assert.deepEqual([code, stdout], [0, `${JSON.parse(readFileSync(join(PACKAGE, "package.json"), "utf8")).version}\n`]);
    assert.deepEqual(modules, [
      "../core/src/model/text/display-width.ts",
      "../core/src/model/text/edit-distance.ts",
      "../core/src/model/text/unicode-pattern.ts",
      "../core/src/model/text/visible-text.ts",
      "../core/src/text.ts",
      "bin/assent.js",
      "src/command-line/nearest-spelling.ts",
      "src/command-line/options.ts",
      "src/command-line/parse.ts",
      "src/command-line/shell-word.ts",
      "src/command-line/table.ts",
      ...COMMAND_FILES.map((file) => `src/commands/${file}`),
      "src/io/display-width.ts",
      "src/io/failure.ts",
      "src/io/output.ts",
      "src/io/process-io.ts",
      "src/io/visible-text.ts",
      "src/main.ts",
      "src/program.ts",
      "src/version.ts",
    ]);
  });

  test("approve loads no settings, tools, providers or terminal interface", async () => {
    using at = place();
    const { value } = await at.hereJson(["call", "shell", "--input", '{"command":"touch x"}', "--on-ask", "park"]);
    const { code, modules } = await runListing(at, ["approve", value.approvalId]);
    assert.equal(code, 0);
    assert.deepEqual(
      modules.filter((file) => /^\.\.\/(?:agent|policy|tools)\/|^src\/(?:compose|headless|tui)\/|node_modules/.test(file)),
      [],
    );
  });

  test("a run without MCP servers loads nothing of the protocol", async () => {
    using at = place();
    const script = at.write("script.json", JSON.stringify({ turns: [{ say: "Hi" }] }));
    const run = ["run", "go", "--model", `script:${script}`];
    const { code, modules } = await runListing(at, run);
    assert.equal(code, 0);
    assert.deepEqual(
      modules.filter((file) => /\/mcp\/src\/|modelcontextprotocol/.test(file)),
      [],
    );
  });

  test("a hook of another agent loads no model, run, terminal interface, database server or library beyond two parsers", async () => {
    using at = place();
    const call = { tool_name: "Bash", tool_input: { command: "ls" }, tool_use_id: "t1" };
    const event = JSON.stringify({ hook_event_name: "PreToolUse", session_id: "S1", cwd: at.workspace, ...call });
    const { code, modules } = await runListing(at, ["hook", "claude", "--on-ask", "deny"], event);
    assert.equal(code, 0);
    assert.deepEqual(
      modules.filter((file) => /^\.\.\/(?:agent|store-postgres)\/|^src\/(?:call|headless|tui|desk\/(?:approvals|terminal))\//.test(file)),
      [],
    );
    const libraries = modules.flatMap((file) => /\/node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(file)?.[1] ?? []);
    assert.deepEqual([...new Set(libraries)], ["jsonc-parser", "unbash"]);
  });

  test("every command has help with usage, options and an example; help names every command", async () => {
    using at = place();
    const overview = await at.run(["--help"]);
    assert.deepEqual([overview.code, overview.stderr], [0, ""]);
    for (const { name, operands } of COMMANDS) {
      assert.match(overview.stdout, new RegExp(`^  ${name}( |$)`, "m"));
      const words = name.split(" ");
      const [flag, command] = await Promise.all([at.here([...words, "--help"]), at.here(["help", ...words])]);
      assert.deepEqual([flag.code, flag.stdout], [0, command.stdout], name);
      assert.match(flag.stdout, new RegExp(`^Usage: assent ${name}`));
      const namesStores = operands.some((operand) => operand.name === "FROM"); // `store copy`
      if (!namesStores) assert.match(flag.stdout, /^ {2}--store DIR(\|URL)? {2,}\S/m);
      assert.match(flag.stdout, /^Examples:\n {2}\S*(assent|source)/m);
    }
  });

  test("help of call names its exit codes", async () => {
    using at = place();
    const { stdout } = await at.run(["help", "call"]);
    for (const code of [0, 1, 2, 75, 130]) assert.match(stdout, new RegExp(`^  ${code} +\\S`, "m"));
  });

  const helpTexts: readonly (readonly [string, readonly string[], RegExp])[] = [
    ["the overview names what the look group does", ["--help"], /^Inspect \(changes nothing\)/m],
    ["audit names the command below it", ["audit", "--help"], /^ {2}audit send +send what was not sent yet/m],
    ["undo says what its reason is for", ["undo", "--help"], /^ {2}--reason TEXT +why you undo it; recorded$/m],
    ["undo says what its exit code 0 means", ["undo", "--help"], /^ {2}0 +undone$/m],
    ["reject says who sees its reason", ["reject", "--help"], /^ {2}--reason TEXT +recorded with the answer; the model sees/m],
    [
      "run names why it can fail",
      ["run", "--help"],
      /^ {2}1 +failed because of the provider, the record, a repeated call, a hook, or --on-ask fail$/m,
    ],
    [
      "run says when a script is wrong",
      ["run", "--help"],
      /^ {2}70 +a scripted model's expectation was not met, or turns were missing or unused$/m,
    ],
    [
      "verify names the lists that it rebuilds",
      ["verify", "--help"],
      /^ {2}--rebuild +rebuild the lists of sessions, approvals and proposals from the events$/m,
    ],
  ];
  for (const [name, argv, text] of helpTexts)
    test(`in the help, ${name}`, async () => {
      using at = place();
      assert.match((await at.run(argv)).stdout, text);
    });

  test("help of a word that only leads to commands lists them", async () => {
    using at = place();
    const [flag, command] = await Promise.all([at.here(["policy", "--help"]), at.here(["help", "policy"])]);
    assert.deepEqual([flag.code, flag.stderr, flag.stdout], [0, "", command.stdout]);
    assert.match(flag.stdout, /^Usage: assent policy COMMAND \[options\]\n/);
    assert.match(flag.stdout, /^ {2}policy check .*\n {2}policy diff /m);
    const names = (await at.hereJson(["help", "policy"])).value.map(({ name }: { name: string }) => name);
    assert.deepEqual(names, ["policy check", "policy diff", "policy test", "policy fetch"]);
  });

  test("help of an unknown command: exit 2 and the nearest", async () => {
    using at = place();
    const { code, stderr } = await at.run(["help", "aprove"]);
    assert.deepEqual([code, stderr], [2, "assent help: unknown command 'aprove'. Did you mean 'approve'?\n"]);
  });

  test("a fault of ours is one line without a stack", async () => {
    using at = place();
    writeFileSync(join(at.root, "file"), "");
    const { code, stdout, stderr } = await at.run(["call", "read", "--store", join(at.root, "file")]);
    assert.deepEqual([code, stdout], [1, ""]);
    assert.ok(!stderr.includes("    at "));
    assert.match(stderr, /^assent: .+\n/);
  });

  test("a directory that was removed under the program: one line, exit 1", () => {
    using at = place();
    const gone = join(at.root, "gone");
    mkdirSync(gone);
    const line = `rmdir "$PWD" && exec "$0" "$1" sessions`;
    const { status, stdout, stderr } = spawnSync("bash", ["-c", line, process.execPath, BIN], { cwd: gone, env: at.env, encoding: "utf8" });
    assert.deepEqual(
      [status, stdout, stderr],
      [1, "", "assent: The current directory no longer exists. Change to another one and try again.\n"],
    );
  });

  test("every place that says which Node is needed says the same", () => {
    const root = join(PACKAGE, "..", "..");
    const said = (file: string, pattern: RegExp): readonly string[] => {
      const found = [...readFileSync(join(root, file), "utf8").matchAll(pattern)].map(([, major, minor]) => `${file}: ${major}.${minor}`);
      assert.ok(found.length > 0, `${file} names no Node`);
      return found;
    };
    const manifests = globSync("packages/*/package.json", { cwd: root });
    const places = [
      ...manifests.flatMap((file) => said(file, /"node": ">=(\d+)\.(\d+)"/g)),
      ...said("packages/cli/bin/assent.js", /WANTED = \[(\d+), (\d+)\]/g),
      ...said("packages/cli/src/desk/maintain/doctor.ts", /major > (\d+) .* minor >= (\d+)/g),
      ...said("scripts/check-node.mjs", /(\d{2})(?:, |\.)(\d+)/g),
      ...said("README.md", /Node (\d+)\.(\d+) or newer/g),
      ...said("CONTRIBUTING.md", /Node (\d+)\.(\d+) or newer/g),
      ...said("docs/decisions/0005-runtime-through-npm.md", /(?:>=|of )(2[2-9])\.(\d+)/g),
    ];
    assert.deepEqual(
      places.filter((place) => !place.endsWith(": 22.19")),
      [],
    );
  });

  test("an old Node without a newer one nearby prints what to do", () => {
    const root = mkdtempSync(join(tmpdir(), "assent-bin-"));
    try {
      mkdirSync(join(root, "bin"));
      writeFileSync(join(root, "package.json"), '{"type":"module"}');
      const program = readFileSync(BIN, "utf8").replace("const WANTED = [22, 19];", "const WANTED = [99, 0];");
      writeFileSync(join(root, "bin/assent.js"), program);
      assert.throws(() => execFileSync(process.execPath, [join(root, "bin/assent.js"), "--version"], { stdio: "pipe" }), {
        status: 1,
        stderr: Buffer.from(
          `Assent needs Node 99.0 or newer; this is v${process.versions.node}.\nInstall Node 24, or run \`npm ci\` in the repository, which brings one.\n`,
        ),
      });
    } finally {
      rmSync(root, { recursive: true });
    }
  });

  test("an old Node continues with the newer one beside it, and passes arguments, exit code and output through", () => {
    const root = mkdtempSync(join(tmpdir(), "assent-bin-"));
    try {
      mkdirSync(join(root, "packages/cli/bin"), { recursive: true });
      mkdirSync(join(root, "node_modules/.bin"), { recursive: true });
      writeFileSync(join(root, "package.json"), '{"type":"module"}');
      writeFileSync(join(root, "node_modules/.bin/node"), '#!/bin/sh\necho "newer: $2 $3"\nexit 7\n', { mode: 0o755 });
      cpSync(BIN, join(root, "packages/cli/bin/assent.js"));
      const program = readFileSync(BIN, "utf8").replace("const WANTED = [22, 19];", "const WANTED = [99, 0];");
      writeFileSync(join(root, "packages/cli/bin/assent.js"), program);
      assert.throws(() => execFileSync(process.execPath, [join(root, "packages/cli/bin/assent.js"), "call", "a b"], { stdio: "pipe" }), {
        status: 7,
        stdout: Buffer.from("newer: call a b\n"),
      });
    } finally {
      rmSync(root, { recursive: true });
    }
  });

  test("the program that starts everything can be read by old Nodes: none of the newer syntax", () => {
    const program = readFileSync(BIN, "utf8").replaceAll(/\/\/.*|`[^`]*`/g, "");
    assert.ok(program.startsWith("#!/usr/bin/env node\n"));
    for (const newer of [/\?\./, /\?\?/, /^\s*await /m, /^import /m, /\|\|=|&&=/]) assert.ok(!newer.test(program), String(newer));
  });
});

describe("completions", () => {
  for (const shell of ["bash", "zsh", "fish"] as const) {
    test(`${shell}: every command and option is in the script`, async () => {
      using at = place();
      const { code, stdout } = await at.run(["completions", shell]);
      assert.deepEqual([code, stdout], [0, completionScript(shell, COMMANDS)]);
      const words = COMMANDS.flatMap(({ name }) => name.split(" "));
      const flags = COMMANDS.flatMap(({ options }) => options.map(({ name }) => (shell === "fish" ? `-l ${name}` : `--${name}`)));
      assert.deepEqual(
        [...words, ...flags].filter((word) => !stdout.includes(word)),
        [],
      );
    });
  }

  test("bash reads the script, and completes commands, options and values with it", () => {
    const script = completionScript("bash", COMMANDS);
    const complete = (...words: string[]): string[] => {
      const line = `${script}\nCOMP_WORDS=(${words.map((word) => `'${word}'`).join(" ")}); COMP_CWORD=${words.length - 1}; _assent; printf '%s\\n' "\${COMPREPLY[@]}"`;
      return execFileSync("bash", ["--noprofile", "--norc", "-c", line], { encoding: "utf8" }).trimEnd().split("\n");
    };
    execFileSync("bash", ["-n"], { input: script });
    assert.deepEqual(complete("assent", "appro"), ["approvals", "approve"]);
    assert.deepEqual(complete("assent", "call", "read", "--mode", "a"), ["auto-edit"]);
    assert.deepEqual(complete("assent", "approvals", "sh"), ["show"]);
    assert.deepEqual(complete("assent", "approvals", "show", "--j"), ["--json"]);
    assert.deepEqual(complete("assent", "completions", ""), ["bash", "zsh", "fish", "--store", "--json", "--help"]);
    assert.deepEqual(complete("assent", "policy", ""), ["check", "diff", "test", "fetch", "--help"]);
  });

  for (const shell of ["zsh", "fish"] as const) {
    const found = (process.env["PATH"] ?? "").split(":").some((directory) => existsSync(join(directory, shell)));
    if (found) {
      test(`${shell} reads the script`, () => void execFileSync(shell, ["-n"], { input: completionScript(shell, COMMANDS) }));
    } else {
      test(`${shell} is not installed here, so its script is checked for closed quotes and blocks`, () => {
        const script = completionScript(shell, COMMANDS);
        const unquoted = script
          .replaceAll(/#.*/g, "")
          .replaceAll("'\\''", "")
          .replaceAll(/'[^']*'/g, "");
        assert.ok(!unquoted.includes("'"), "a quote is left open");
        const blocks = (word: string): number => unquoted.split(/\s+|;/).filter((token) => token === word).length;
        assert.deepEqual([blocks("if"), blocks("case")], [blocks("fi"), blocks("esac")]);
        assert.ok(script.split("\n").length > COMMANDS.length);
      });
    }
  }
});

test("the command version prints the same as --version", async () => {
  using at = place();
  const [command, flag] = await Promise.all([at.here(["version"]), at.here(["--version"])]);
  assert.deepEqual([command.code, command.stdout], [0, flag.stdout]);
});

test("every command is run by a test", () => {
  const text = globSync("**/*.test.ts", { cwd: import.meta.dirname })
    .filter((file) => file !== "command-line/parse.test.ts")
    .map((file) => readFileSync(join(import.meta.dirname, file), "utf8"))
    .join("\n");
  const isRun = (name: string): boolean => new RegExp(`\\["${name.replace(" ", '",\\s*"')}"[,\\]]`).test(text);
  const untested = COMMANDS.filter(({ name }) => !isRun(name)).map(({ name }) => name);
  assert.deepEqual(untested, [], 'Add a test in packages/cli/test/commands that runs it: at.here(["NAME", …]).');
});

test("every command has a file of its name, and every file is in the table", () => {
  const named = COMMANDS.map(({ name }) => `${name.replace(" ", "-")}.ts`);
  assert.deepEqual(COMMAND_FILES, named.sort());
});
