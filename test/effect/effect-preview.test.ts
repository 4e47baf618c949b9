import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { once } from "node:events";
import { chmodSync, cpSync, existsSync, lstatSync, mkdirSync, readdirSync, readFileSync, readlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, test } from "node:test";
import type { EffectOffer } from "@assent/core";
import { type Place, place, until } from "../../packages/cli/test/support/assent.ts";
import { check } from "../crash/check.ts";
import { ENTRY } from "../crash/entry.ts";
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

/** `seen`: what the result for the model contains. */
function script(at: Place, command: string, seen = ""): string {
  const turns = [
    { calls: [{ tool: "shell", id: "c1", input: { command } }] },
    { expect: { result: { call: "c1", contains: seen } }, say: "Done." },
  ];
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
async function park(at: Place, command: string, seen?: string): Promise<Parked> {
  const ran = await at.run(["run", "go", "--model", script(at, command, seen), "--on-ask", "park"]);
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
  assert.deepEqual(check({ store: at.store, world: join(at.root, "none") }).violations, []);
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

  test("a parked call prints the answers that approve accepts", async () => {
    using at = workspace({ "a.txt": "a\n" });
    const { code, stderr } = await at.run(["call", "shell", "--input", '{"command":"echo b > a.txt"}', "--on-ask", "park"]);
    assert.deepEqual([code, stderr.match(/assent approve \S+ (--write|--run)$/gm)?.length], [75, 2], stderr);
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
    assert.deepEqual(tree(at.workspace), before);
    assert.deepEqual([git("log", "--format=%s"), git("show", ":a.txt")], ["first\n", "a\n"]);
    await isSound(at);
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

  test("files of submodules and other control files that later run or steer something are named", async () => {
    const places = [
      ...[".git/info/attributes", ".git/modules/lib/config", ".git/modules/lib/hooks/post-checkout", ".git/rebase-merge/git-rebase-todo"],
      ...[".gitattributes", "AGENTS.md", "bare/hooks/post-receive", "deep/CLAUDE.md", "sub/.git"],
    ];
    using at = workspace({
      "make.sh": `for f in ${places.join(" ")} .git/index.lock src/a.ts; do mkdir -p "$(dirname $f)"; echo x > $f; done`,
    });
    const { effect } = await park(at, "sh make.sh");
    const flagged = effect.changes.filter(({ runs }) => runs !== undefined).map(({ path }) => path);
    assert.deepEqual(flagged, places);
  });

  test("in a linked worktree, a failed preview says that the repository is not in the copy", async () => {
    using at = workspace({ "a.txt": "a\n" });
    const main = join(at.root, "main");
    const git = (...args: readonly string[]): Buffer => execFileSync("git", ["-c", "user.name=a", "-c", "user.email=a@b.test", ...args]);
    git("init", "-q", main);
    git("-C", main, "commit", "-q", "--allow-empty", "-m", "first");
    execFileSync("rm", ["-rf", at.workspace]);
    git("-C", main, "worktree", "add", "-q", at.workspace);
    put(at.path("a.txt"), "a\n");
    const before = tree(main);
    const { effect } = await park(at, "git add a.txt");
    assert.match(
      effect.notes.join("\n"),
      /This is a linked worktree\. Its repository, .*main\/\.git\/worktrees\/workspace, is outside the workspace/,
    );
    assert.deepEqual([effect.unwritable, tree(main)], ["The command did not succeed.", before]);
  });

  test("a submodule's commit is there after yes, and gone after undo", async () => {
    using at = workspace({});
    const [sub, id] = [join(at.root, "sub"), ["-c", "user.name=a", "-c", "user.email=a@b.test", "-c", "protocol.file.allow=always"]];
    const git = (cwd: string, ...args: readonly string[]): string =>
      execFileSync("git", [...id, ...args], { cwd, env: at.env, encoding: "utf8" });
    put(join(sub, "a.txt"), "a\n");
    git(sub, "init", "-q");
    git(sub, "add", "-A");
    git(sub, "commit", "-qm", "first");
    git(at.workspace, "init", "-q");
    git(at.workspace, "submodule", "--quiet", "add", sub, "lib");
    const before = tree(at.workspace);
    const approval = await park(at, "cd lib && echo b >> a.txt && git -c user.name=a -c user.email=a@b.test commit -qam second");
    assert.deepEqual([tree(at.workspace), approval.effect.unwritable], [before, undefined]);
    await write(at, approval);
    assert.equal(git(at.path("lib"), "log", "--format=%s"), "second\nfirst\n");
    await undo(at);
    assert.deepEqual(tree(at.workspace), before);
  });

  test("a record in the workspace would be in its own copy: there is no preview, and the approval says why", async () => {
    using at = workspace({ "a.txt": "a\n" });
    const store = ["--store", at.path("state")];
    const ran = await at.run(["run", "go", "--model", script(at, "echo b > a.txt"), "--on-ask", "park", ...store]);
    assert.equal(ran.code, 75, ran.stderr);
    const [{ id }] = (await at.hereJson(["approvals", ...store])).value;
    const { effect } = (await at.hereJson(["approvals", "show", id, ...store])).value.preview;
    assert.match(`${effect.state}: ${effect.reason}`, /^unavailable: Assent keeps its record in the workspace/);
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

  test("what a person would approve unread is named", async () => {
    using at = workspace({ "same.txt": "abc\n" });
    chmodSync(at.path("same.txt"), 0o644);
    const { effect } = await park(at, "seq 1000 > long.txt; printf 'a\\0b' > b.bin; echo xyz > same.txt; chmod 700 same.txt");
    assert.equal(effect.unwritable, undefined);
    assert.deepEqual(
      effect.changes.map(({ path, note }) => [path, note]),
      [
        ["b.bin", "binary, 3 bytes, not shown"],
        ["long.txt", "400 of 1004 lines shown"],
        ["same.txt", "mode 0644 to 0700"],
      ],
    );
    assert.match(effect.blocks.join("\n"), /-abc\n\+xyz/);
    assert.ok(effect.notes.includes("Not shown in full: b.bin, long.txt. Writing these changes approves what is not shown."));
  });

  test("changes that cannot be written are shown all the same", async () => {
    using at = workspace({ "a.txt": "a\n" });
    const { effect } = await park(at, "echo b > a.txt; mkfifo p");
    assert.match(effect.unwritable ?? "", /p is a named pipe/);
    assert.match(effect.blocks.join("\n"), /-a\n\+b/);
  });

  test("processes that stay are stopped and named, and files elsewhere are thrown away and named", async () => {
    using at = workspace({ "a.txt": "a" });
    const { effect } = await park(
      at,
      "(setsid sleep 1234 >/dev/null 2>&1 &); until ps -eo args= | grep -q '^sleep 1234'; do :; done; echo x > /tmp/elsewhere; echo b > a.txt",
    );
    assert.match(effect.notes.join("\n"), /stopped: sleep\.[\s\S]*thrown away: \/tmp\/elsewhere/);
    assert.doesNotMatch(execFileSync("ps", ["-eo", "args="], { encoding: "utf8" }), /^sleep 1234$/m);
  });

  test("the result for the model says what was thrown away when the rest was written", async () => {
    using at = workspace({ "a.txt": "a" });
    const seen = "[Written outside the workspace, and thrown away: /tmp/elsewhere.]";
    await write(at, await park(at, "echo x > /tmp/elsewhere; echo b > a.txt", seen));
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
      input: { command: `echo ${word} >> a.txt; cat a.txt` },
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
    for (const { id } of approvals) await at.here(["approve", id, "--write"]);
    for (const { id } of (await at.hereJson(["sessions", "--all"])).value) await at.run(["resume", id, "--on-ask", "deny"]);
    assert.match(readFileSync(at.path("a.txt"), "utf8"), /^a(one|two)\n$/, "the first is written, the others are not written over it");
    await isSound(at);
  });

  test("--preview writes only the preview that the person saw", async () => {
    using at = workspace({ "a.txt": "a" });
    const { id, effect } = await park(at, "echo b > a.txt");
    assert.match(
      (await at.here(["approvals", "show", id])).stdout,
      new RegExp(`^assent approve ${id} --write --preview ${effect.id}$`, "m"),
    );
    const other = await at.here(["approve", id, "--write", "--preview", "v_other"]);
    assert.match(`${other.code} ${other.stderr}`, /^[1-9]\d* .*does not show this preview/s);
    assert.equal((await at.here(["approve", id, "--preview", effect.id])).code, 2);
    assert.equal((await at.here(["approve", id, "--write", "--preview", effect.id])).code, 0);
  });

  test("a file that changed after the preview is not overwritten", async () => {
    using at = workspace({ "a.txt": "a" });
    const approval = await park(at, "echo b > a.txt");
    at.write("a.txt", "mine");
    await write(at, approval);
    assert.equal(readFileSync(at.path("a.txt"), "utf8"), "mine");
    await isSound(at);
  });

  test("killed during a preview, nothing is changed, nothing keeps running, and the next process previews it again", async () => {
    using at = workspace({ "a.txt": "a" });
    const before = tree(at.workspace);
    const child = at.start(["run", "go", "--model", script(at, "[ -e go ] || exec sleep 2345; echo b > a.txt"), "--on-ask", "park"]);
    child.stdin?.end();
    const isRunning = (): boolean => /^sleep 2345$/m.test(execFileSync("ps", ["-eo", "args="], { encoding: "utf8" }));
    await until("the command runs", isRunning);
    child.kill("SIGKILL");
    await once(child, "close");
    await until("the command is gone", () => !isRunning());
    assert.deepEqual(tree(at.workspace), before);
    at.write("go", "");
    const [{ id: session }] = (await at.hereJson(["sessions", "--all"])).value;
    assert.equal((await at.run(["resume", session, "--on-ask", "park"])).code, 75);
    assert.deepEqual(readdirSync(join(at.store, "previews")), []);
    const approval = await parked(at);
    await write(at, approval);
    assert.equal(readFileSync(at.path("a.txt"), "utf8"), "b\n");
    await isSound(at);
  });

  const KILLS: readonly (readonly [point: string, after: "old" | "new"])[] = [
    ["claim.before", "new"], // nothing began, so it begins now
    ["claim.after", "old"],
    ["proposal.after_staged", "old"],
    ["proposal.after_applying", "old"],
    ["file.rename@7", "old"],
    ["proposal.before_applied", "new"],
    ["proposal.after_applied", "new"],
  ];
  for (const [point, expected] of KILLS)
    test(`killed between yes and the end of writing (${point}): all files are ${expected}, and the command does not run again`, async () => {
      using at = workspace(TWENTY);
      const before = tree(at.workspace);
      const approval = await park(at, "sed -i s/color/colour/g src/*.ts; echo $RANDOM$RANDOM$RANDOM > stamp");
      assert.equal((await at.here(["approve", approval.id, "--write"])).code, 0);
      const killed = at.start(["resume", approval.session], { entry: ENTRY, env: { ASSENT_FAILPOINT: point } });
      killed.stdin?.end();
      assert.deepEqual(await once(killed, "close"), [null, "SIGKILL"]);
      await at.run(["resume", approval.session]);
      const after = tree(at.workspace);
      const stamp = approval.effect.blocks.find((block) => block.includes("b/stamp"))?.match(/^\+(\d+)$/m)?.[1];
      if (expected === "old") assert.deepEqual(after, before);
      else {
        assert.equal(readFileSync(at.path("stamp"), "utf8"), `${stamp}\n`);
        assert.equal(Object.values(after).filter((text) => Buffer.from(text.slice(4), "base64").includes("colour")).length, 20);
      }
      const { stdout } = await at.here(["log", "--type", "preview.started"]);
      assert.equal(stdout.match(/preview\.started/g)?.length, 1, "the command ran once, on the copy");
      await isSound(at);
    });

  test("two processes that answer with write at the same time write once", async () => {
    using at = workspace({ "a.txt": "a\n" });
    const approval = await park(at, "echo b >> a.txt");
    const answers = await Promise.all([1, 2].map(() => at.run(["approve", approval.id, "--write"])));
    assert.ok(answers.some(({ code }) => code === 0));
    await Promise.all([1, 2].map(() => at.run(["resume", approval.session])));
    assert.equal(readFileSync(at.path("a.txt"), "utf8"), "a\nb\n");
    assert.equal((await at.hereJson(["proposals", "--all"])).value.length, 1);
    await isSound(at);
  });

  test("rules that became stricter after the preview and the answer are followed: nothing is written", async () => {
    using at = workspace({ "a.txt": "a\n", "b.txt": "b\n" });
    const before = tree(at.workspace);
    const approval = await park(at, "echo x >> a.txt; echo x >> b.txt");
    assert.equal((await at.here(["approve", approval.id, "--write"])).code, 0);
    const rules = { version: 1, preview: "always", permissions: { deny: ["Edit(b.txt)"] } };
    put(join(at.root, ".config/assent/settings.json"), JSON.stringify(rules));
    await at.run(["resume", approval.session, "--on-ask", "park"]);
    assert.deepEqual(tree(at.workspace), before);
    await isSound(at);
  });

  test("a path that a rule denies makes the changes unwritable, and is named", async () => {
    using at = workspace({ "a.txt": "a\n" });
    const rules = { version: 1, preview: "always", permissions: { deny: ["Edit(secret/**)"] } };
    put(join(at.root, ".config/assent/settings.json"), JSON.stringify(rules));
    const { effect, id } = await park(at, 'mkdir secret; p=sec; echo x > "$p"ret/key');
    assert.match(effect.unwritable ?? "", /^A rule denies changing .*secret/);
    assert.equal((await at.here(["approve", id, "--write"])).code, 2);
    assert.ok(!existsSync(at.path("secret")));
  });

  test("files that control Assent, git or agents are flagged, and those of Assent cannot be written", async () => {
    const places = [".assent/settings.json", ".git/config", ".git/hooks/pre-push", ".mcp.json"];
    using at = workspace({ "make.sh": `mkdir -p .assent .git/hooks; for f in ${places.join(" ")}; do echo x > $f; done` });
    const { effect, id } = await park(at, "sh make.sh");
    assert.deepEqual(
      effect.changes.filter(({ runs }) => runs !== undefined).map(({ path }) => path),
      places,
    );
    assert.match(effect.unwritable ?? "", /^A rule denies changing .*\/\.assent/);
    assert.equal((await at.here(["approve", id, "--write"])).code, 2);
    assert.ok(!existsSync(at.path(".assent")));
  });

  test("the model learns nothing about the preview of a command that is refused", async () => {
    using at = workspace({ "a.txt": "a\n" });
    const { id, session } = await park(at, "echo $((6 * 7))-shown; echo b > a.txt");
    assert.equal((await at.here(["reject", id])).code, 0);
    assert.equal((await at.here(["resume", session])).code, 0);
    const { stdout } = await at.here(["log", session, "--json"]);
    const events = stdout.split("\n").filter((line) => line.includes("42-shown"));
    const types = events.map((line) => JSON.parse(line).type);
    assert.deepEqual(types, ["preview.ended", "approval.opened"]);
  });
});
