import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import {
  appendFileSync,
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import type { Display, RunContext, ToolResult } from "@assent/core";
import { createHostFiles, createHostProcesses, sessionOutputDirectory } from "@assent/host";
import { createPathLookup, createPolicyFacts, markPlannedLine } from "@assent/policy";
import { liveProcesses } from "../../../../test/support/processes.ts";
import { shellTool } from "../../src/builtin/shell.ts";
import { scratch } from "../scratch.ts";
import { shown } from "../session.ts";

type Options = {
  readonly environment?: Readonly<Record<string, string>>;
  readonly shellEnv?: readonly string[];
  readonly shellPath?: readonly string[];
  readonly secretEnv?: readonly string[];
};

type Running = Partial<RunContext> & { readonly cwd?: string; readonly timeout_ms?: number; readonly pty?: boolean };

/** A workspace with a shell tool, and the facts of the policy that judges its lines. */
function workspace(t: TestContext, { environment = {}, shellEnv = [], shellPath = [], secretEnv = [] }: Options = {}) {
  const top = scratch(t);
  const root = join(top, "ws");
  mkdirSync(join(top, "home"));
  mkdirSync(root);
  const outputDirectory = join(top, "output");
  const tool = shellTool({
    workspace: root,
    files: createHostFiles({ outputDirectory }),
    processes: createHostProcesses({ graceMs: 150, lingerMs: 150 }),
    environment: { PATH: "/usr/bin:/bin", HOME: join(top, "home"), ...environment },
    shellEnv: () => shellEnv,
    shellPath: () => shellPath,
    secretEnv: () => secretEnv,
  });
  const facts = createPolicyFacts({
    ...{ workspace: root, look: createPathLookup({ workspace: root }) },
    ...{ programPath: () => shellPath, userPath: environment["PATH"] },
  });
  const judged = async (command: string, cwd = root): Promise<unknown> =>
    (await facts({ tool: "shell", kind: "execute", input: { command }, cwd, locations: [] })).plan;
  const execute = async (command: string, { cwd = root, timeout_ms, pty, ...ctx }: Running = {}): Promise<ToolResult> => {
    const input = { command, ...(timeout_ms !== undefined && { timeout_ms }), ...(pty !== undefined && { pty }) };
    const invocation = await tool.build(input, { cwd, callId: "c1", sessionId: "s_1" });
    return await invocation.execute(ctx.signal ?? new AbortController().signal, ctx.update, ctx);
  };
  /** As after a rule's allow: from the plan that was judged. */
  const allowed = async (command: string, running: Running = {}): Promise<ToolResult> =>
    await execute(command, { ...running, plan: await judged(command, running.cwd) });
  return { top, root, tool, judged, execute, allowed, output: sessionOutputDirectory(outputDirectory, "s_1") };
}

const TEXTS: readonly string[] = [
  "echo hello",
  "echo 'a  b' \"c d\" e\\ f '*' '$HOME'",
  "printf '[%s]' '' a 'b c'",
  "true",
  "false",
  "true && echo a || echo b",
  "false && echo a || echo b",
  "true || false && echo x",
  "false || false; echo x",
  "echo a; false",
  "echo a\necho b # a comment\n\nfalse\n",
  "echo a && \\\n echo b",
  "cat f.txt | sort | head -n 2",
  "cat f.txt | grep -c nothing",
  "cat f.txt | grep nothing || echo none",
  "cat missing",
  "cat missing 2>/dev/null || echo none",
  "cat missing 2>&1 | wc -l",
  "cat f.txt missing 2>&1 >/dev/null | wc -l",
  "cat f.txt missing >/dev/null 2>&1",
  "ls",
  "ls d/*.md | sort -r",
  "cd d && ls",
  "cd d && pwd",
  "cd d; cat x.md",
  "cd d && cat ../f.txt | tail -n 1",
  "cd d | pwd",
  "seq 100000 | head -n 3",
  "wc -c </dev/null",
  "grep -rn b .",
  "find . -name '*.md' | sort",
  "awk '{ print $1 }' f.txt",
  "sed -n '2p' f.txt",
  "diff f.txt d/x.md",
];
for (const text of TEXTS) {
  test(`${JSON.stringify(text)} from its plan is what bash makes of it`, async (t) => {
    const { root, execute, allowed, judged } = workspace(t);
    writeFileSync(join(root, "f.txt"), "b\na\nc\n");
    mkdirSync(join(root, "d"));
    writeFileSync(join(root, "d/x.md"), "x\n");
    writeFileSync(join(root, "d/y.md"), "y\n");
    assert.notEqual(await judged(text), undefined);
    const [expected, found] = [await execute(text), await allowed(text)];
    assert.deepEqual([found.content, found.error?.type], [expected.content, expected.error?.type]);
  });
}

test("a plan that is not the policy's own, or that was not understood whole, runs nothing: least of all its text", async (t) => {
  const { root, execute, judged } = workspace(t);
  const mark = join(root, "mark");
  const text = `touch ${mark}`;
  const genuine = await judged(text);
  const plans = [
    {},
    null,
    "plan",
    structuredClone(genuine),
    await judged(`touch ${mark} $X`),
    markPlannedLine(structuredClone({ ...(genuine as object), commands: [] }) as never),
  ];
  for (const plan of plans) {
    const result = await execute(text, { plan });
    assert.deepEqual([result.error?.type, existsSync(mark)], ["execution_denied", false]);
  }
  assert.equal((await execute(text, { plan: genuine })).error, undefined);
  assert.ok(existsSync(mark));
});

test("a program that is not found fails the call, and nothing of the line runs", async (t) => {
  const { root, allowed } = workspace(t);
  const result = await allowed(`touch ${root}/mark; no-such-program --x`);
  assert.equal(result.error?.type, "shell_execute_error");
  assert.match(result.error.message, /no program no-such-program in \/usr\/local\/bin:\/usr\/bin:\/bin/);
  assert.equal(existsSync(join(root, "mark")), false);
});

/** A repository whose owner wishes that this program runs. */
function repository(root: string, settings: readonly (readonly [key: string, value: string])[] = []): void {
  const env = { PATH: "/usr/bin:/bin", HOME: root, GIT_CONFIG_NOSYSTEM: "1" };
  const git = (...args: readonly string[]) => execFileSync("git", args, { cwd: root, env, stdio: ["ignore", "pipe", "pipe"] });
  git("init", "-q", "--template=", "-b", "main");
  writeFileSync(join(root, ".gitattributes"), "*.bin diff=x filter=x\n");
  writeFileSync(join(root, "g.bin"), "one\n");
  git("add", "-A");
  git("-c", "user.name=n", "-c", "user.email=n@example.test", "commit", "-qm", "first");
  for (const [key, value] of settings) git("config", key, value);
  writeFileSync(join(root, "g.bin"), "two\n");
  utimesSync(join(root, "g.bin"), 1, 1);
}

function canaryOf(top: string): { readonly canary: string; readonly ran: () => boolean } {
  const canary = join(top, "canary");
  writeFileSync(canary, `#!/bin/sh\ntouch ${top}/ran\n`);
  chmodSync(canary, 0o755);
  return { canary, ran: () => existsSync(join(top, "ran")) };
}

const PROGRAMS = ["core.fsmonitor", "diff.external", "diff.x.textconv", "diff.x.command", "filter.x.clean", "filter.x.process"];
for (const command of ["git status", "git diff", "git diff | head -n 3", "cd d && git status -v", "git log -p -1 && git blame g.bin"]) {
  test(`an allowed '${command}' runs no program of the repository's; approved as a text it does`, async (t) => {
    const { top, root, allowed, execute } = workspace(t);
    const { canary, ran } = canaryOf(top);
    mkdirSync(join(root, "d"));
    repository(
      root,
      PROGRAMS.map((key) => [key, canary]),
    );
    const result = await allowed(command);
    assert.deepEqual([result.error, ran()], [undefined, false], shown(result.content));
    await execute(command);
    assert.equal(ran(), true, "the trap does not work, so this proves nothing");
  });
}

test("an allowed 'git log' checks no signature with the repository's program", async (t) => {
  const { top, root, allowed } = workspace(t);
  const { canary, ran } = canaryOf(top);
  repository(root, [
    ["log.showSignature", "true"],
    ["gpg.program", canary],
    ["format.pretty", "%s %GG"],
  ]);
  assert.equal(shown((await allowed("git log -1")).content).trim(), "first");
  assert.equal(ran(), false);
});

test("a git filter that cannot be disabled denies the execution, and the result says that earlier commands ran", async (t) => {
  const { top, root, allowed } = workspace(t);
  const { canary, ran } = canaryOf(top);
  repository(root, [["filter.a=b.clean", canary]]);
  const result = await allowed("echo before; git status; echo after");
  assert.equal(result.error?.type, "execution_denied");
  assert.match(shown(result.content), /^before\nError: git was not run: .*filter.*\. The commands before it did run\.$/);
  assert.equal(ran(), false);
});

test("the configuration is read right before each git, not when the line begins", async (t) => {
  const { top, root, allowed } = workspace(t);
  const { canary, ran } = canaryOf(top);
  repository(root);
  const result = await allowed(`git status -s; git config filter.x.clean ${canary}; touch g.bin; git status -s`);
  assert.equal(shown(result.content), " M g.bin\n M g.bin");
  assert.match(readFileSync(join(root, ".git/config"), "utf8"), /canary/);
  assert.equal(ran(), false);
});

test("what an approved call exported or entered is not there in an allowed one", async (t) => {
  const { root, execute, allowed } = workspace(t, { environment: { GIT_PAGER: "./x", GIT_EXTERNAL_DIFF: "./x", PAGER: "./x" } });
  repository(root);
  writeFileSync(join(root, "x"), `#!/bin/sh\ntouch ${root}/ran\n`);
  chmodSync(join(root, "x"), 0o755);
  await execute("export GIT_PAGER=./x GIT_EXTERNAL_DIFF=./x; cd /tmp");
  assert.match(shown((await allowed("git log")).content), /first/);
  assert.match(shown((await allowed("git diff")).content), /\+two/);
  assert.equal((await allowed("pwd")).content, root);
  assert.equal(existsSync(join(root, "ran")), false);
});

test("programs in the workspace are never used, even if the search path has them", async (t) => {
  const { root, execute, allowed } = workspace(t, { environment: { PATH: `.:${process.env["PWD"]}:/usr/bin:/bin` } });
  for (const name of ["git", "ls", "echo"]) {
    writeFileSync(join(root, name), "#!/bin/sh\necho fake\n");
    chmodSync(join(root, name), 0o755);
  }
  assert.match(shown((await allowed("git --version")).content), /^git version /);
  assert.equal((await allowed("ls | head -n 1")).content, "echo");
  assert.equal((await execute("PATH=.:$PATH ls")).content, "fake");
});

test("a search path of settings that leads into the workspace is passed over; another is used", async (t) => {
  const top = scratch(t);
  const own = join(top, "own");
  mkdirSync(own);
  copyFileSync("/usr/bin/echo", join(own, "mine"));
  const made = workspace(t, { shellPath: [own, "/usr/bin"] });
  assert.equal((await made.allowed("mine x")).content, "x");
  assert.equal((await made.allowed("printenv PATH")).content, `${own}:/usr/bin`);
});

test("a program that only the user's PATH leads to runs, with its directory first for the programs that it starts", async (t) => {
  const own = scratch(t);
  for (const name of ["mine", "ls"]) writeFileSync(join(own, name), `#!/bin/sh\necho ${name} $PATH\n`, { mode: 0o755 });
  const made = workspace(t, { environment: { PATH: `relative:${own}` } });
  const system = "/usr/local/bin:/usr/bin:/bin";
  assert.equal((await made.allowed("mine x")).content, `mine ${own}:${system}`);
  assert.equal((await made.allowed("printenv PATH")).content, `${system}:${own}`);
  assert.equal((await made.allowed("command -v mine")).content, join(own, "mine"));
  assert.match(shown((await made.allowed("type ls")).content), /^(?:\/usr)?\/bin\/ls$/);
  assert.doesNotMatch(shown((await made.allowed("ls")).content), /ls/);
});

for (const [trap, set] of [
  ["a directory where everyone can write", (own: string) => chmodSync(own, 0o777)],
  ["a link that leads into the workspace", (own: string, root: string) => symlinkSync(join(root, "mine"), join(own, "mine2"))],
] as const) {
  test(`a program that the user's PATH leads to by ${trap} does not run`, async (t) => {
    const own = scratch(t);
    const { root, allowed } = workspace(t, { environment: { PATH: own } });
    for (const file of [join(own, "mine"), join(root, "mine")]) writeFileSync(file, "#!/bin/sh\necho ran\n", { mode: 0o755 });
    set(own, root);
    const { error } = await allowed(trap.startsWith("a link") ? "mine2" : "mine");
    assert.equal(error?.type, "shell_execute_error");
  });
}

test("a program of the user's PATH that another one replaced after it was judged does not run", async (t) => {
  const [own, first] = [scratch(t), scratch(t)];
  writeFileSync(join(own, "mine"), "#!/bin/sh\necho judged\n", { mode: 0o755 });
  const { judged, execute } = workspace(t, { environment: { PATH: `${first}:${own}` } });
  const plan = await judged("mine");
  writeFileSync(join(first, "mine"), "#!/bin/sh\necho other\n", { mode: 0o755 });
  assert.equal((await execute("mine", { plan })).content, "judged");
  renameSync(join(first, "mine"), join(own, "mine"));
  assert.equal((await execute("mine", { plan })).error?.type, "operand_changed");
});

const SCRUBBED = [
  "ASSENT_MARK",
  "GIT_CONFIG_NOSYSTEM",
  "GIT_OPTIONAL_LOCKS",
  "GIT_PAGER",
  "GIT_TERMINAL_PROMPT",
  "HOME",
  "LANG",
  "NO_COLOR",
  "PATH",
  "TERM",
];
for (const command of ["printenv", "printenv | cat", "cd d && printenv"]) {
  test(`what a rule allowed sees nothing but the allowed names: ${command}`, async (t) => {
    const environment = {
      LANG: "C",
      EDITOR: "vi",
      FOO: "1",
      MY_TOKEN: "t",
      LD_PRELOAD: "",
      BASH_ENV: "x",
      NODE_OPTIONS: "x",
      ASSENT_X: "1",
    };
    const { root, allowed } = workspace(t, { environment, shellEnv: ["CI", "NODE_OPTIONS", "MY_TOKEN"], secretEnv: ["HO*"] });
    mkdirSync(join(root, "d"));
    const lines = shown((await allowed(command)).content).split("\n");
    const names = lines.map((line) => line.slice(0, line.indexOf("="))).sort();
    assert.deepEqual(
      names,
      SCRUBBED.filter((name) => name !== "HOME"),
    );
  });
}

test("names that settings pass on are there", async (t) => {
  const { allowed } = workspace(t, { environment: { CI: "yes" }, shellEnv: ["CI"] });
  assert.equal((await allowed("printenv CI")).content, "yes");
});

/** A directory of programs outside the workspace, with a copy of `touch` in it. */
function ownPrograms(t: TestContext): { readonly directory: string; readonly file: string } {
  const directory = scratch(t);
  const file = join(directory, "mytouch");
  copyFileSync("/usr/bin/touch", file);
  return { directory, file };
}

const REPLACED: readonly (readonly [name: string, replace: (file: string) => void])[] = [
  [
    "another file of the same name",
    (file) => {
      copyFileSync(file, `${file}.new`);
      renameSync(`${file}.new`, file);
    },
  ],
  ["changed in place", (file) => appendFileSync(file, "x")],
  ["touched", (file) => utimesSync(file, 1, 1)],
  ["gone", (file) => renameSync(file, `${file}.old`)],
  ["not executable any more", (file) => chmodSync(file, 0o644)],
];
for (const [name, replace] of REPLACED) {
  test(`the program is ${name} when it is to run: operand_changed, nothing runs`, async (t) => {
    const { directory, file } = ownPrograms(t);
    const { root, judged, execute } = workspace(t, { shellPath: [directory, "/usr/bin"] });
    const command = `touch ${root}/first && mytouch ${root}/second`;
    const plan = await judged(command);
    replace(file);
    const result = await execute(command, { plan });
    assert.deepEqual(
      [result.error?.type, result.error?.message],
      ["operand_changed", `Tool 'shell' was not run: ${file} changed after it was judged.`],
    );
    assert.deepEqual(readdirSync(root), []);
  });
}

test("a directory of the plan that became a link out of the workspace: operand_changed, nothing runs", async (t) => {
  const { top, root, judged, execute } = workspace(t);
  mkdirSync(join(root, "d"));
  const plan = await judged("cd d && touch mark");
  renameSync(join(root, "d"), join(root, "old"));
  mkdirSync(join(top, "outside"));
  symlinkSync(join(top, "outside"), join(root, "d"));
  assert.equal((await execute("cd d && touch mark", { plan })).error?.type, "operand_changed");
  assert.deepEqual(readdirSync(join(top, "outside")), []);
});

const CHANGED_BY_LINE: readonly (readonly [sentence: string, line: string, output: RegExp])[] = [
  ["a link out of the workspace", "cp -P links/secret notes.txt && cat notes.txt", /^Error: cat was not run: .*outside the workspace/],
  [
    "a link in a directory that is searched",
    "cp -P links/secret src/notes.txt; grep -R x src",
    /^Error: grep was not run: .*outside the workspace/,
  ],
  ["a directory that leads out of the workspace", "rm -r dir; cp -P links/away dir; cd dir && ls", /was not run|cd: /],
  ["only contents", "cp plain.txt notes.txt && cat notes.txt", /^plain$/],
  ["only contents of a directory", "mkdir src/new && ls src", /^new$/],
];
for (const [sentence, line, output] of CHANGED_BY_LINE) {
  test(`an earlier command of the line makes ${sentence}: the next one is checked again`, async (t) => {
    const { top, root, judged, execute } = workspace(t);
    for (const name of ["links", "src", "dir"]) mkdirSync(join(root, name));
    writeFileSync(join(root, "plain.txt"), "plain\n");
    writeFileSync(join(root, "notes.txt"), "notes\n");
    writeFileSync(join(top, "secret"), "x secret x\n");
    symlinkSync(join(top, "secret"), join(root, "links/secret"));
    symlinkSync(top, join(root, "links/away"));
    rmSync(join(root, "notes.txt"));
    const result = await execute(line, { plan: await judged(line) });
    assert.match(shown(result.content), output);
    assert.doesNotMatch(shown(result.content), /x secret x/);
  });
}

test("a pattern means the files that were judged, not those that came later", async (t) => {
  const { top, root, judged, execute } = workspace(t);
  writeFileSync(join(top, "secret"), "secret\n");
  for (const name of ["a.txt", "b.txt"]) writeFileSync(join(root, name), `${name}\n`);
  const plan = await judged("cat *.txt");
  symlinkSync(join(top, "secret"), join(root, "c.txt"));
  assert.equal((await execute("cat *.txt", { plan })).content, "a.txt\nb.txt");
});

test("a directory of the plan that is gone: what was to run there does not run elsewhere", async (t) => {
  const { root, judged, execute } = workspace(t);
  mkdirSync(join(root, "d"));
  const plan = await judged("cd d; touch mark");
  renameSync(join(root, "d"), join(root, "old"));
  const result = await execute("cd d; touch mark", { plan });
  assert.equal(result.error?.type, "shell_execute_error");
  assert.match(shown(result.content), /^cd: .*\nthe working directory .* does not exist\n\[exit code 126\]$/);
  assert.deepEqual(readdirSync(root), ["old"]);
});

test("what may change something begins when its start is on record; a start that cannot be recorded ends the call", async (t) => {
  const { root, allowed } = workspace(t);
  const mark = join(root, "mark");
  const order: (boolean | string)[] = [];
  const started = async ({ pid, pgid }: { pid: number; pgid: number }) => {
    await new Promise((resolve) => setTimeout(resolve, 30)); // time enough for a program that does not wait
    order.push(pid === pgid, existsSync(mark));
  };
  await allowed(`touch ${mark}; echo done`, { started, update: () => order.push("output") });
  assert.deepEqual([order.slice(0, 2), order.at(-1)], [[true, false], "output"]);
  const refuse = async () => Promise.reject(new Error("the ledger is full"));
  await assert.rejects(allowed(`touch ${root}/other`, { started: refuse }), /the ledger is full/);
  assert.equal(existsSync(join(root, "other")), false);
});

/** A command that only this process starts. */
const LONG_SLEEP = `sleep 61.${process.pid}`;

for (const command of [`${LONG_SLEEP} | cat`, `echo ready; ${LONG_SLEEP}`, `cat | ${LONG_SLEEP} | wc`]) {
  test(`a time limit or a cancel ends '${command}' whole`, async (t) => {
    const { allowed, root } = workspace(t);
    const late = await allowed(`${command}; touch mark`, { timeout_ms: 200 });
    assert.equal(late.error?.type, "execution_timeout");
    const cancel = new AbortController();
    const started = async () => cancel.abort();
    const stopped = await allowed(`${command}; touch mark`, { signal: cancel.signal, started });
    assert.equal(stopped.error?.type, "cancelled");
    assert.deepEqual(readdirSync(root), []);
    assert.equal(
      liveProcesses().some(({ command: live }) => live.includes(LONG_SLEEP)),
      false,
    );
  });
}

test("output beyond what is held goes to a file, as with bash", async (t) => {
  const made = workspace(t);
  const result = await made.allowed("echo first; head -c 12000000 /dev/zero | tr '\\0' x; echo; echo last; false");
  const content = shown(result.content);
  assert.ok(content.length <= 25_000 && content.startsWith("first\nxxx") && content.endsWith("xxx\nlast\n[exit code 1]"));
  const [file = ""] = readdirSync(made.output);
  assert.equal(statSync(join(made.output, file)).size, 12_000_012);
});

test("people see the end of the output while it runs", async (t) => {
  const seen: Display[] = [];
  await workspace(t).allowed("echo one; sleep 0.05; echo two", { update: (display) => seen.push(display) });
  assert.deepEqual([seen[0], seen.at(-1)], ["one\n", "one\ntwo\n"]);
});

test("a command allowed by a rule gets no terminal, and the result says so", async (t) => {
  const { allowed, execute } = workspace(t);
  const result = await allowed("tty; stty size </dev/null", { pty: true });
  assert.deepEqual([result.error?.type, shown(result.content).split("\n")[0]], ["shell_execute_error", "not a tty"]);
  assert.match(shown(result.content), /\n\[exit code 1\]\n\[run without a terminal: commands allowed by a rule do not get one\]$/);
  assert.match(shown((await execute("tty", { pty: true })).content), /^\/dev\/pts\/\d+$/);
  assert.equal((await allowed("echo x", { pty: false })).content, "x");
});
