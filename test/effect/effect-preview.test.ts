import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { once } from "node:events";
import { chmodSync, cpSync, existsSync, lstatSync, mkdirSync, readdirSync, readFileSync, readlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, test } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import type { EffectOffer } from "@assent/core";
import { type Place, place } from "../../packages/cli/test/support/assent.ts";
import { withoutProgram } from "../support/programs.ts";

type Shown = Extract<EffectOffer, { readonly state: "shown" }>;
type Parked = { readonly id: string; readonly session: string; readonly effect: Shown };

/** A workspace whose commands are previewed before anyone is asked. */
function workspace(files: Readonly<Record<string, string>>): Place {
  const at = place();
  put(join(at.root, ".config/assent/settings.json"), JSON.stringify({ version: 1, preview: "always" }));
  for (const [name, text] of Object.entries(files)) put(at.path(name), text);
  return at;
}

function put(file: string, text: string): void {
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text);
}

function script(at: Place, command: string): string {
  const turns = [{ calls: [{ tool: "shell", id: "c1", input: { command } }] }, { say: "Done." }];
  put(join(at.root, "script.json"), JSON.stringify({ turns, allowUnused: true }));
  return "script:../script.json";
}

/** Everything in the workspace: bytes, modes, links and directories. */
function tree(directory: string, below = ""): Readonly<Record<string, string>> {
  const found: Record<string, string> = {};
  for (const name of readdirSync(join(directory, below)).toSorted()) {
    const path = join(below, name);
    const stats = lstatSync(join(directory, path));
    const mode = (stats.mode & 0o7777).toString(8);
    if (stats.isDirectory()) Object.assign(found, { [`${path}/`]: mode }, tree(directory, path));
    else if (stats.isSymbolicLink()) found[path] = `-> ${readlinkSync(join(directory, path))}`;
    else found[path] = `${mode} ${readFileSync(join(directory, path), "base64")}`;
  }
  return found;
}

/** Lets the model propose a command, and gives the approval that is parked with its preview. */
async function park(at: Place, command: string): Promise<Parked> {
  const ran = await at.run(["run", "go", "--model", script(at, command), "--on-ask", "park"]);
  assert.equal(ran.code, 75, ran.stderr);
  return await parked(at);
}

async function parked(at: Place): Promise<Parked> {
  const [{ id, sessionId }] = (await at.hereJson(["approvals"])).value;
  const { effect } = (await at.hereJson(["approvals", "show", id])).value.preview;
  assert.equal(effect?.state, "shown", JSON.stringify(effect));
  return { id, session: sessionId, effect };
}

async function write(at: Place, { id, session }: Parked): Promise<void> {
  const answered = await at.here(["approve", id, "--write"]);
  assert.equal(answered.code, 0, answered.stderr);
  const resumed = await at.here(["resume", session]);
  assert.equal(resumed.code, 0, resumed.stderr);
}

async function undo(at: Place): Promise<void> {
  const [{ id }] = (await at.hereJson(["proposals", "--all"])).value;
  assert.equal((await at.here(["undo", id])).code, 0);
}

async function isSound(at: Place): Promise<void> {
  const { code, stdout } = await at.here(["verify"]);
  assert.equal(code, 0, stdout);
}

const FORMATTER = `const fs = require("fs"); for (const f of fs.readdirSync("src")) fs.writeFileSync("src/" + f, fs.readFileSync("src/" + f, "utf8").replace(/ +$/gm, "") );`;
const GENERATOR = `const fs = require("fs"); fs.mkdirSync("gen/deep", { recursive: true }); for (let i = 0; i < 30; i++) fs.writeFileSync("gen/deep/m" + i + ".ts", "export const m" + i + " = " + i + ";\\n"); fs.writeFileSync("gen/run.sh", "#!/bin/sh\\n", { mode: 0o755 });`;
const COVERAGE = `const fs = require("fs"); fs.mkdirSync("coverage", { recursive: true }); fs.writeFileSync("coverage/lcov.info", "SF:a\\nend_of_record\\n"); console.log("1 passing");`;
const TWENTY = Object.fromEntries(Array.from({ length: 20 }, (_, n) => [`src/f${n}.ts`, `const color = ${n};  \nexport { color };\n`]));

/** Commands whose effect is the same wherever they run. */
const COMMANDS: readonly (readonly [sentence: string, command: string, files: Readonly<Record<string, string>>, changed: number])[] = [
  ["sed over twenty files", "sed -i s/color/colour/g src/*.ts", TWENTY, 20],
  [
    "npm test that writes coverage",
    "npm test --silent --offline",
    { "package.json": JSON.stringify({ scripts: { test: "node cover.cjs" } }), "cover.cjs": COVERAGE },
    2,
  ],
  ["a formatter", "node format.cjs", { ...TWENTY, "format.cjs": FORMATTER }, 20],
  ["a code generator", "node generate.cjs", { "generate.cjs": GENERATOR }, 33],
  ["rm -rf build", "rm -rf build", { "build/a.js": "a", "build/deep/b.js": "b", "src/a.ts": "a" }, 4],
  [
    "links, modes and empty directories",
    "ln -s a.txt l && chmod 700 a.txt && mkdir -p e/f && mv b.txt c.txt",
    { "a.txt": "a", "b.txt": "b" },
    6,
  ],
];

describe("seeing what a command would do", { skip: withoutProgram("bwrap") }, () => {
  for (const [sentence, command, files, changed] of COMMANDS)
    test(`${sentence}: nothing changes until yes, then exactly what was shown, and undo restores it`, async () => {
      using at = workspace(files);
      const before = tree(at.workspace);
      const approval = await park(at, command);
      assert.deepEqual(tree(at.workspace), before);
      assert.deepEqual([approval.effect.unwritable, approval.effect.changes.length], [undefined, changed]);
      const copy = join(at.root, "copy");
      cpSync(at.workspace, copy, { recursive: true, verbatimSymlinks: true });
      execFileSync("bash", ["-c", command], { cwd: copy, env: at.env, stdio: "ignore" });
      await write(at, approval);
      assert.deepEqual(tree(at.workspace), tree(copy));
      await undo(at);
      assert.deepEqual(tree(at.workspace), before);
      await isSound(at);
    });

  test("git commit with a hook: the commit is there after yes, and gone after undo", async () => {
    using at = workspace({ "a.txt": "a\n" });
    const git = (...args: readonly string[]): string =>
      execFileSync("git", ["-c", "user.name=a", "-c", "user.email=a@b.test", ...args], {
        cwd: at.workspace,
        env: at.env,
        encoding: "utf8",
      });
    execFileSync("rm", ["-rf", at.path(".git")]);
    git("init", "-q", "-b", "main");
    git("add", "-A");
    git("commit", "-qm", "first");
    put(at.path(".git/hooks/pre-commit"), "#!/bin/sh\necho from the hook > hooked.txt\ngit add hooked.txt\n");
    chmodSync(at.path(".git/hooks/pre-commit"), 0o755);
    const before = tree(at.workspace);
    const approval = await park(at, "echo b >> a.txt && git -c user.name=a -c user.email=a@b.test commit -qam second");
    assert.deepEqual([tree(at.workspace), approval.effect.unwritable], [before, undefined]);
    await write(at, approval);
    assert.deepEqual([git("log", "--format=%s"), git("--no-optional-locks", "status", "--short")], ["second\nfirst\n", ""]);
    assert.equal(git("show", "HEAD:hooked.txt"), "from the hook\n");
    git("fsck", "--strict");
    await undo(at);
    assert.deepEqual([git("log", "--format=%s"), git("show", ":a.txt")], ["first\n", "a\n"]);
  });

  test("files that later run by themselves are named", async () => {
    using at = workspace({ "package.json": '{"scripts":{"a":"true"}}' });
    const { effect } = await park(
      at,
      `echo x > .envrc; mkdir -p .git/hooks; echo x > .git/hooks/pre-push; sed -i s/true/false/ package.json`,
    );
    const flagged = effect.changes.filter(({ runs }) => runs !== undefined).map(({ path }) => path);
    assert.deepEqual(flagged, [".envrc", ".git/hooks/pre-push", "package.json"]);
  });

  test("a command that needs the network fails in the preview, says so, and cannot be written", async () => {
    using at = workspace({ "a.txt": "a" });
    const command = `node -e 'require("http").get("http://127.0.0.1:9", () => {}).on("error", (e) => { console.error("failed to connect to " + e.port); process.exit(3); })'; s=$?; echo b > a.txt; exit $s`;
    const { effect, id } = await park(at, command);
    assert.deepEqual([effect.ended, effect.unwritable], ["exit code 3", "The command did not succeed."]);
    assert.ok(effect.notes.includes("It tried to use the network, which was off."), effect.notes.join());
    assert.equal((await at.here(["approve", id, "--write"])).code, 2);
    assert.equal(readFileSync(at.path("a.txt"), "utf8"), "a");
  });

  test("processes that stay are stopped and named, and files elsewhere are thrown away and named", async () => {
    using at = workspace({ "a.txt": "a" });
    const { effect } = await park(at, "(setsid sleep 1234 >/dev/null 2>&1 &); echo x > /tmp/elsewhere; echo b > a.txt");
    assert.match(effect.notes.join("\n"), /stopped: (?:sleep|setsid)\.[\s\S]*thrown away: \/tmp\/elsewhere/);
    assert.doesNotMatch(execFileSync("ps", ["-eo", "args="], { encoding: "utf8" }), /^sleep 1234$/m);
  });

  test("a write of 200 MB is shown with its size and digest, and cannot be written", async () => {
    using at = workspace({ "a.txt": "a" });
    const { effect } = await park(at, "head -c 200000000 /dev/zero > big.bin");
    assert.match(effect.changes[0]?.note ?? "", /191 MiB, sha256 [0-9a-f]{64}/);
    assert.match(effect.unwritable ?? "", /at most 64 MiB/);
    assert.ok(!existsSync(at.path("big.bin")));
  });

  test("two previews at once do not see each other", async () => {
    using at = workspace({ "a.txt": "a" });
    const calls = ["one", "two"].map((word) => ({
      tool: "shell",
      id: word,
      input: { command: `echo ${word} >> a.txt; sleep 0.3; cat a.txt` },
    }));
    put(join(at.root, "script.json"), JSON.stringify({ turns: [{ calls }, { say: "Done." }], allowUnused: true }));
    const runs = ["run", "go", "--model", "script:../script.json", "--on-ask", "park"];
    await Promise.all([at.run(runs), at.run(runs)]);
    const approvals: readonly { readonly id: string }[] = (await at.hereJson(["approvals"])).value;
    const shown = await Promise.all(
      approvals.map(async ({ id }) => (await at.hereJson(["approvals", "show", id])).value.preview.effect.output),
    );
    assert.deepEqual(new Set(shown), new Set(["aone", "atwo"]));
    assert.equal(readFileSync(at.path("a.txt"), "utf8"), "a");
  });

  test("a file that changed after the preview is not overwritten", async () => {
    using at = workspace({ "a.txt": "a" });
    const approval = await park(at, "echo b > a.txt");
    at.write("a.txt", "mine");
    await write(at, approval);
    assert.equal(readFileSync(at.path("a.txt"), "utf8"), "mine");
  });

  test("killed during a preview, nothing is changed, nothing keeps running, and the next process previews it again", async () => {
    using at = workspace({ "a.txt": "a" });
    const before = tree(at.workspace);
    const child = at.start(["run", "go", "--model", script(at, "sleep 2.34 && echo b > a.txt"), "--on-ask", "park"]);
    child.stdin?.end();
    const isRunning = (): boolean => /^sleep 2\.34$/m.test(execFileSync("ps", ["-eo", "args="], { encoding: "utf8" }));
    for (let tries = 0; tries < 200 && !isRunning(); tries++) await delay(50);
    child.kill("SIGKILL");
    await once(child, "close");
    for (let tries = 0; tries < 40 && isRunning(); tries++) await delay(25);
    assert.deepEqual([isRunning(), tree(at.workspace)], [false, before]);
    const [{ id: session }] = (await at.hereJson(["sessions", "--all"])).value;
    assert.equal((await at.run(["resume", session, "--on-ask", "park"])).code, 75);
    assert.deepEqual(readdirSync(join(at.store, "previews")), []);
    const approval = await parked(at);
    await write(at, approval);
    assert.equal(readFileSync(at.path("a.txt"), "utf8"), "b\n");
    await isSound(at);
  });

  test("killed between yes and write, the files are all old or all new, and the command never runs", async () => {
    const outcomes = new Set<string>();
    for (const ms of [250, 450, 650]) {
      using at = workspace(TWENTY);
      const before = tree(at.workspace);
      const approval = await park(at, "sed -i s/color/colour/g src/*.ts; date +%N > stamp");
      assert.equal((await at.here(["approve", approval.id, "--write"])).code, 0);
      const child = at.start(["resume", approval.session]);
      child.stdin?.end();
      await delay(ms);
      child.kill("SIGKILL");
      await once(child, "close");
      await at.run(["resume", approval.session]);
      const after = tree(at.workspace);
      const isNew = after["stamp"] !== undefined;
      if (isNew) assert.equal(Object.values(after).filter((text) => Buffer.from(text.slice(4), "base64").includes("colour")).length, 20);
      else assert.deepEqual(after, before);
      const { stdout } = await at.here(["log", "--type", "preview.started"]);
      assert.equal(
        stdout
          .trim()
          .split("\n")
          .filter((line) => line.includes("preview.started")).length,
        1,
        "the command ran once, on the copy",
      );
      await isSound(at);
      outcomes.add(isNew ? "new" : "old");
    }
    assert.ok(outcomes.size > 0);
  });
});
