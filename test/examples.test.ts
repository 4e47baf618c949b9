import assert from "node:assert/strict";
import { execFileSync, spawnSync } from "node:child_process";
import { copyFileSync, cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "node:test";
import { fileURLToPath } from "node:url";
import { BIN, type Place, place } from "../packages/cli/test/support/assent.ts";
import { CODE_FLAGS } from "./support/code-flags.ts";

const directory = fileURLToPath(new URL("../examples", import.meta.url));
const examples = readdirSync(directory).filter((name) => name.endsWith(".ts"));

test("there are examples", () => assert.ok(examples.length >= 4));

for (const name of examples) {
  test(`examples/${name} runs, and prints what is promised`, () => {
    const { status, stdout, stderr } = spawnSync(process.execPath, [...CODE_FLAGS, `${directory}/${name}`], {
      encoding: "utf8",
      env: { ...process.env, NODE_TEST_CONTEXT: undefined, ASSENT_STORE: undefined },
    });
    assert.equal(status, 0, `${stdout}\n${stderr}`);
    const promised = `${directory}/${name.replace(/\.ts$/, ".out")}`;
    if (existsSync(promised)) assert.equal(stdout, readFileSync(promised, "utf8"));
    else assert.match(stdout, /pass [1-9]\d*\n.*fail 0/, "an example without a promised output is a test file");
  });

  test(`examples/${name} has fewer than 60 lines`, () => {
    assert.ok(readFileSync(`${directory}/${name}`, "utf8").split("\n").length <= 60);
  });
}

const policies = join(directory, "policy");

test("docs/scripted-model.md: the question of question.yaml is parked, answered elsewhere, and told to the model", async () => {
  using at = place();
  copyFileSync(join(policies, "question.yaml"), at.path("question.yaml"));
  const parked = await at.here(["run", "go", "--model", "script:question.yaml", "--on-ask", "park"]);
  assert.equal(parked.code, 75, parked.stderr);
  const [{ id, sessionId }] = (await at.hereJson(["approvals"])).value;
  const answers = [
    { id: "db", selected: ["SQLite"] },
    { id: "why", selected: [], custom: "notes" },
  ];
  assert.equal((await at.here(["approve", id, "--answers", JSON.stringify(answers)])).code, 0);
  const { code, stdout } = await at.here(["resume", sessionId]);
  assert.deepEqual([code, stdout], [0, "SQLite it is.\n"]);
});

/** A repository on a branch, with the example of hooks as its settings and the other files beside it. */
function project(branch: string): Place {
  const at = place();
  rmSync(at.path(".git"), { recursive: true });
  execFileSync("git", ["init", "-q", "-b", branch, at.workspace], { env: at.env });
  mkdirSync(at.path(".assent"));
  for (const name of readdirSync(policies)) copyFileSync(join(policies, name), at.path(name));
  copyFileSync(join(policies, "hooks.json"), at.path(".assent/settings.json"));
  copyFileSync(join(policies, "guard.sh"), at.path(".assent/guard.sh"));
  return at;
}

describe("examples/policy", () => {
  for (const name of ["settings.json", "hooks.json", "staging.json"]) {
    test(`${name} is sound, and its examples hold`, async () => {
      using at = project("main");
      const { code, stdout } = await at.here(["policy", "check", name]);
      assert.equal(code, 0, stdout);
    });
  }

  const transcripts = readdirSync(policies).filter((name) => name.endsWith(".out"));

  test("there are transcripts", () => assert.ok(transcripts.length >= 3));

  for (const name of transcripts) {
    test(`the commands of ${name} print what stands there`, () => {
      using at = project("main");
      const promised = readFileSync(join(policies, name), "utf8");
      const commands = [...promised.matchAll(/^\$ (.*)$/gm)].map(([, command]) => command ?? "");
      assert.ok(commands.length > 0);
      const env = { ...at.env, NODE: process.execPath, BIN };
      const printed = commands.map((command) => {
        const script = `assent() { "$NODE" "$BIN" "$@"; }\n${command}`;
        const { stdout, stderr } = spawnSync("bash", ["-c", script], { cwd: at.workspace, env, encoding: "utf8" });
        return `$ ${command}\n${stdout}${stderr}`;
      });
      assert.equal(printed.join("").replaceAll(at.workspace, "~/app"), promised);
    });
  }

  /** Tries to commit in yolo, where only denies, asks and safeguards remain. */
  async function commit(at: Place): Promise<{ readonly outcome: string; readonly type: string | null; readonly content: string }> {
    const command = "git -c user.name=a -c user.email=a@b.test commit -q --allow-empty -m first";
    const { value } = await at.hereJson(["call", "shell", "--mode", "yolo", "--input", JSON.stringify({ command })]);
    return value;
  }

  const HOOKS: readonly (readonly [sentence: string, branch: string, trusted: boolean, type: string | null, outcome: string])[] = [
    ["the hook refuses a commit on main", "main", true, "denied_by_hook", "denied"],
    ["it has no opinion on another branch", "topic", true, null, "succeeded"],
    ["it does not run before the workspace is trusted", "main", false, null, "succeeded"],
  ];
  for (const [sentence, branch, trusted, type, outcome] of HOOKS) {
    test(sentence, async () => {
      using at = project(branch);
      if (trusted) assert.equal((await at.here(["trust", "--yes"])).code, 0);
      const ended = await commit(at);
      assert.deepEqual([ended.outcome, ended.type], [outcome, type], ended.content);
      assert.equal(existsSync(at.path(`.git/refs/heads/${branch}`)), outcome === "succeeded");
    });
  }

  test("it denies where it cannot tell the branch", async () => {
    using at = project("main");
    assert.equal((await at.here(["trust", "--yes"])).code, 0);
    rmSync(at.path(".git/HEAD"));
    const { type, content } = await commit(at);
    assert.equal(type, "denied_by_hook", content);
  });

  test("docs/hooks.md shows what the refusal reads like", async () => {
    using at = project("main");
    assert.equal((await at.here(["trust", "--yes"])).code, 0);
    const page = readFileSync(join(directory, "..", "docs", "hooks.md"), "utf8");
    assert.ok(page.includes(`\n${(await commit(at)).content}\n`));
  });
});

describe("examples/agents", () => {
  const agents = join(directory, "agents");

  test("review.out prints what stands there; the reviewer reads, and is let do nothing else", async () => {
    using at = place();
    cpSync(agents, at.workspace, { recursive: true });
    rmSync(at.path(".git"), { recursive: true }); // the directory is a workspace of its own accord
    assert.equal((await at.here(["trust", "--yes"])).code, 0);
    const promised = readFileSync(join(agents, "review.out"), "utf8");
    const [, command = ""] = /^\$ (.*)$/m.exec(promised) ?? [];
    const script = `assent() { "$NODE" "$BIN" "$@"; }\n${command}`;
    const env = { ...at.env, NODE: process.execPath, BIN };
    const { stdout, stderr } = spawnSync("bash", ["-c", script], { cwd: at.workspace, env, encoding: "utf8" });
    assert.equal(`$ ${command}\n${stdout}${stderr}`, promised);
    assert.ok(existsSync(at.path("src/total.js")));
  });

  test("schedule.json is taken; what lives as long as the process keeps a run alive, until a limit ends it", async () => {
    using at = place();
    copyFileSync(join(agents, "schedule.json"), at.path("schedule.json"));
    at.write("script.yaml", "turns: [{ say: I wait. }]\n");
    const { code, stderr } = await at.run([
      "run",
      "go",
      "--model",
      "script:script.yaml",
      "--schedule",
      "schedule.json",
      "--max-time",
      "1s",
    ]);
    assert.equal(code, 55, stderr);
    const { stdout } = await at.here(["log", "--type", "schedule.created"]);
    assert.equal(stdout.trim().split("\n").length, 2, stdout);
  });
});
