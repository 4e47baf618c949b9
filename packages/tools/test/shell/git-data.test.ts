import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { appendFileSync, chmodSync, cpSync, existsSync, mkdirSync, readFileSync, symlinkSync, utimesSync, writeFileSync } from "node:fs";
import { join, relative } from "node:path";
import { describe, type TestContext, test } from "node:test";
import type { ToolResult } from "@assent/core";
import { createHostFiles, createHostProcesses } from "@assent/host";
import { createPathLookup, createPolicyFacts } from "@assent/policy";
import { shellTool } from "../../src/builtin/shell.ts";
import { scratch } from "../scratch.ts";
import { shown } from "../session.ts";

type Place = {
  readonly root: string;
  /** The directory of the main repository. */
  readonly main: string;
  readonly git: (cwd: string, ...args: readonly string[]) => string;
};

/** A main repository with a commit; its settings name a program that must never run. */
function place(t: TestContext): Place {
  const root = scratch(t);
  const main = join(root, "main");
  const env = { PATH: "/usr/bin:/bin", HOME: root, GIT_CONFIG_NOSYSTEM: "1" };
  const settings = ["-c", "user.name=n", "-c", "user.email=n@example.test", "-c", "protocol.file.allow=always"];
  const git: Place["git"] = (cwd, ...args) => execFileSync("git", [...settings, ...args], { cwd, env, encoding: "utf8", stdio: "pipe" });
  makeRepository(git, main);
  makeRepository(git, join(root, "module"));
  git(main, "submodule", "--quiet", "add", join(root, "module"), "sub");
  git(main, "commit", "-qm", "second");
  for (const tree of [join(root, "tree"), "inner"]) git(main, "worktree", "add", "-q", tree);
  const canary = join(root, "canary");
  writeFileSync(canary, `#!/bin/sh\ntouch ${root}/ran\n`);
  chmodSync(canary, 0o755);
  for (const cwd of [main, join(main, "sub")])
    for (const key of ["core.fsmonitor", "diff.external", "filter.x.clean"]) git(cwd, "config", key, canary);
  return { root, main, git };
}

function makeRepository(git: Place["git"], directory: string): void {
  mkdirSync(directory);
  git(directory, "init", "-q", "--template=", "-b", "main");
  writeFileSync(join(directory, ".gitattributes"), "*.bin filter=x\n");
  writeFileSync(join(directory, "g.bin"), "one\n");
  git(directory, "add", "-A");
  git(directory, "commit", "-qm", "first");
}

/** A shell in a workspace, as after an allow because the line only reads. Undefined: the line is not known to only read. */
function shellIn(root: string, workspace: string): (command: string, between?: () => void) => Promise<ToolResult | undefined> {
  const files = createHostFiles({ outputDirectory: join(root, "output") });
  const environment = { PATH: "/usr/bin:/bin", HOME: root };
  const tool = shellTool({ workspace, files, processes: createHostProcesses({ graceMs: 150, lingerMs: 150 }), environment });
  const facts = createPolicyFacts({ workspace, home: root, look: createPathLookup({ workspace, home: root }) });
  return async (command, between) => {
    const { plan, safe } = await facts({ tool: "shell", kind: "execute", input: { command }, cwd: workspace, locations: [] });
    if (!safe) return undefined;
    between?.();
    const invocation = await tool.build({ command }, { cwd: workspace, callId: "c1", sessionId: "s_1" });
    return await invocation.execute(new AbortController().signal, undefined, { plan });
  };
}

const GENUINE: readonly (readonly [sentence: string, workspace: string, cwd: string])[] = [
  ["a linked worktree", "tree", "."],
  ["a directory of a linked worktree", "tree", "d"],
  ["a submodule in the workspace", "main", "sub"],
  ["a submodule as the workspace", "main/sub", "."],
  ["a linked worktree in the workspace", "main", "inner"],
];
describe("git reads without a question, and runs no program of the settings, in", () => {
  for (const [sentence, workspace, cwd] of GENUINE)
    test(sentence, async (t) => {
      const { root } = place(t);
      const directory = join(root, workspace, cwd);
      mkdirSync(directory, { recursive: true });
      const file = join(directory, cwd === "d" ? "../g.bin" : "g.bin");
      writeFileSync(file, "two\n");
      utimesSync(file, 1, 1);
      const run = shellIn(root, join(root, workspace));
      for (const [command, output] of [
        ["git status --short", / M (?:\.\.\/)?g\.bin/],
        ["git diff", /^\+two$/m],
        ["git log --oneline", /first/],
        ["git branch", /\* /],
        ["git remote -v", /module|no output/],
      ] as const) {
        const result = await run(cwd === "." ? command : `cd ${cwd} && ${command}`);
        assert.ok(result, command);
        assert.equal(result.error, undefined, shown(result.content));
        assert.match(shown(result.content), output);
      }
      assert.equal(existsSync(join(root, "ran")), false);
    });

  test("a linked worktree that is known by a relative path", async (t) => {
    const { root, main } = place(t);
    const data = join(main, ".git/worktrees/tree");
    writeFileSync(join(data, "gitdir"), `${relative(data, join(root, "tree/.git"))}\n`);
    assert.ok(await shellIn(root, join(root, "tree"))("git log"));
  });
});

const HOSTILE: readonly (readonly [sentence: string, workspace: string, set: (place: Place) => void])[] = [
  ["the data of another repository", "tree", ({ root, main }) => writeFileSync(join(root, "tree/.git"), `gitdir: ${main}/.git\n`)],
  ["a worktree's data that leads back to another worktree", "tree", stealWorktree],
  ["a submodule's data that leads back to another directory", "main/sub", ({ main }) => setWorktree(main, "../../../other")],
  ["a submodule's data that leads back to two directories", "main/sub", ({ main }) => addWorktree(main)],
  ["a directory that does not exist", "tree", ({ root }) => writeFileSync(join(root, "tree/.git"), "gitdir: gone\n")],
  ["two lines", "tree", ({ root }) => appendFileSync(join(root, "tree/.git"), "gitdir: x\n")],
  ["data in the workspace that anyone may write", "tree", ownData],
  [
    "data with objects of another repository",
    "tree",
    ({ root, main }) => addAlternates(join(main, ".git"), join(root, "module/.git/objects")),
  ],
  ["data with a link to elsewhere", "tree", ({ main }) => symlinkSync("/etc/hostname", join(main, ".git/MERGE_MSG"))],
  [
    "a worktree's data with a link to elsewhere",
    "tree",
    ({ main }) => symlinkSync("/etc/hostname", join(main, ".git/worktrees/tree/MERGE_MSG")),
  ],
  ["data with another shared directory", "tree", ({ root, main }) => shareWith(main, join(root, "module/.git"))],
];
describe("git asks if the .git file names", () => {
  for (const [sentence, workspace, set] of HOSTILE)
    test(sentence, async (t) => {
      const made = place(t);
      mkdirSync(join(made.main, "other"));
      assert.ok(await shellIn(made.root, join(made.root, workspace))("git log"));
      set(made);
      assert.equal(await shellIn(made.root, join(made.root, workspace))("git log"), undefined);
    });

  test("data whose settings contain a password, and the command would show it", async (t) => {
    const { root, main, git } = place(t);
    git(main, "remote", "add", "origin", "https://ann:hunter2@example.test/app.git");
    const run = shellIn(root, join(root, "tree"));
    assert.equal(await run("git remote -v"), undefined);
    assert.ok(await run("git log"));
  });
});

const CHANGED: readonly (readonly [sentence: string, workspace: string, set: (place: Place) => void])[] = [
  ["the file names another repository", "tree", ({ root }) => writeFileSync(join(root, "tree/.git"), `gitdir: ${root}/module/.git\n`)],
  ["the data is shared with another repository", "tree", ({ root, main }) => shareWith(main, join(root, "module/.git"))],
  ["the files are elsewhere", "main/sub", ({ main }) => setWorktree(main, "../../../other")],
];
for (const [sentence, workspace, set] of CHANGED)
  test(`git does not run if, after it was judged, ${sentence}`, async (t) => {
    const made = place(t);
    mkdirSync(join(made.main, "other"));
    const result = await shellIn(made.root, join(made.root, workspace))("git log", () => set(made));
    assert.equal(result?.error?.type, "execution_denied", shown(result?.content ?? ""));
  });

function stealWorktree({ root, main, git }: Place): void {
  git(main, "worktree", "add", "-q", join(root, "victim"));
  writeFileSync(join(root, "tree/.git"), `gitdir: ${main}/.git/worktrees/victim\n`);
}

function setWorktree(main: string, path: string): void {
  const file = join(main, ".git/modules/sub/config");
  writeFileSync(file, readFileSync(file, "utf8").replace(/worktree = .*/, `worktree = ${path}`));
}

function addWorktree(main: string): void {
  appendFileSync(join(main, ".git/modules/sub/config"), "[core]\n\tworktree = ../../../other\n");
}

function ownData({ root }: Place): void {
  cpSync(join(root, "module/.git"), join(root, "tree/data"), { recursive: true });
  writeFileSync(join(root, "tree/.git"), "gitdir: data\n");
}

function addAlternates(data: string, objects: string): void {
  mkdirSync(join(data, "objects/info"), { recursive: true });
  writeFileSync(join(data, "objects/info/alternates"), `${objects}\n`);
}

function shareWith(main: string, data: string): void {
  writeFileSync(join(main, ".git/worktrees/tree/commondir"), `${data}\n`);
}
