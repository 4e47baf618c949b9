import assert from "node:assert/strict";
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import type { PlanStep, ProcessEnd } from "@assent/core";
import { liveProcesses } from "../../../../test/support/processes.ts";
import { withoutProgram } from "../../../../test/support/programs.ts";
import { createHostProcesses } from "../../src/processes/processes.ts";
import { type Confinement, confineProgram, PRIVATE_HOME, type SandboxProgram } from "../../src/sandbox/confine-program.ts";
import { createSystemCallFilter } from "../../src/sandbox/seccomp.ts";
import { listVisibleRoots } from "../../src/sandbox/visible-roots.ts";
import { scratch } from "../scratch.ts";

const skip = withoutProgram("bwrap");
const processes = createHostProcesses({ graceMs: 500, lingerMs: 300 });
const filter = createSystemCallFilter(process.arch);
const SANDBOX: SandboxProgram = { file: "/usr/bin/bwrap", disablesUserNamespaces: true, ...(filter && { filter }) };
const signal = new AbortController().signal;

type Scene = { readonly confinement: Confinement; readonly directory: string };

function scene(t: Parameters<typeof scratch>[0], change: Partial<Confinement> = {}): Scene {
  const directory = scratch(t);
  const [workspace, temporary] = [join(directory, "workspace"), join(directory, "tmp")];
  for (const path of [join(workspace, ".git", "hooks"), join(temporary, PRIVATE_HOME), join(directory, "outside")])
    mkdirSync(path, { recursive: true });
  const confinement = {
    ...{ sandbox: SANDBOX, workspace, temporary, home: "/home/person", roots: listVisibleRoots("/usr/bin:/bin", "/home/person") },
    ...{ writable: [], readOnly: [], masked: [], network: false, ...change },
  };
  return { confinement, directory };
}

function run(
  text: string,
  { confinement }: Scene,
  options: { readonly pty?: { readonly columns: number; readonly rows: number } } = {},
): Promise<ProcessEnd> {
  const env = { PATH: "/usr/bin:/bin", COLOR: "red" };
  const spec = { file: "/bin/bash", args: ["-c", text], cwd: confinement.workspace, env, onStart: async () => undefined };
  return processes.run({ ...spec, ...options, confine: (program) => confineProgram(program, confinement) }, signal);
}

const RUNS: readonly (readonly [name: string, text: string, output: RegExp])[] = [
  ["a confined command has its own variables", "echo $COLOR", /^red\n$/],
  ["a confined command has a private temporary directory", "echo x > /tmp/x && echo $TMPDIR && cat /var/tmp/x", /^\/tmp\nx\n$/],
  ["a confined command writes in the workspace", "echo x > made && cat made", /^x\n$/],
  ["a confined command cannot write elsewhere", "echo x > ../outside/made", /No such file or directory/],
  ["a confined command sees no other process", "ls -d /proc/[0-9]* | wc -l", /^[1-6]\n$/],
  [
    "a confined command inherits no descriptor",
    "exec ls -l /proc/self/fd",
    /^total 0\n(.* [012] -> .*\n|.* -> \/dev\/null\n|.* -> \/proc\/\d+\/fd\n)*$/,
  ],
  ["settings of the kernel cannot be written, not even by root", "find /proc/sys -writable 2>/dev/null; echo end", /^end\n$/],
  ["the launcher's environment is empty", "tr '\\0' '\\n' < /proc/1/environ; echo end", /^end\n$/],
  ["the launcher's options are hidden", "tr '\\0' ' ' < /proc/1/cmdline", /bwrap --args 4 -- \/bin\/bash/],
  ["a confined command has no network", "exec 3<>/dev/tcp/127.0.0.1/9", /refused|unreachable/],
];
for (const [name, text, output] of RUNS) {
  test(name, { skip }, async (t) => {
    const { output: found } = await run(text, scene(t));
    assert.match(found, output);
  });
}

test("the exit code is that of the command", { skip }, async (t) => {
  const { exitCode } = await run("exit 7", scene(t));
  assert.equal(exitCode, 7);
});

test("a confined command can have a terminal", { skip }, async (t) => {
  const { output } = await run("test -t 1 && echo > /dev/tty && stty size", scene(t), { pty: { columns: 80, rows: 24 } });
  assert.match(output, /24 80/);
});

test("a read-only path, and the directories above it, cannot be replaced", { skip }, async (t) => {
  const plain = scene(t);
  const hooks = join(plain.confinement.workspace, ".git", "hooks");
  const { output } = await run("touch .git/hooks/x; mv .git moved; rm -r .git/hooks; touch .git/index && ls .git", {
    ...plain,
    confinement: { ...plain.confinement, readOnly: [hooks] },
  });
  assert.match(output, /touch: .*Read-only.*mv: .*busy.*rm: .*busy.*hooks\nindex\n$/is);
});

test("a masked file and a masked directory are empty", { skip }, async (t) => {
  const plain = scene(t);
  const { workspace } = plain.confinement;
  writeFileSync(join(workspace, "key"), "secret");
  mkdirSync(join(workspace, "keys"));
  writeFileSync(join(workspace, "keys", "one"), "secret");
  const masked = [
    { path: join(workspace, "key"), isDirectory: false },
    { path: join(workspace, "keys"), isDirectory: true },
  ];
  const { output } = await run("cat key; ls keys; touch keys/x", { ...plain, confinement: { ...plain.confinement, masked } });
  assert.doesNotMatch(output, /secret|one/);
  assert.match(output, /Read-only/);
});

test("another directory can take the workspace's place, and its read-only paths stay read-only", { skip }, async (t) => {
  const plain = scene(t);
  const copy = join(plain.directory, "copy");
  mkdirSync(join(copy, ".git", "hooks"), { recursive: true });
  const readOnly = [join(plain.confinement.workspace, ".git", "hooks")];
  const { output } = await run("echo x > made; touch .git/hooks/y", {
    ...plain,
    confinement: { ...plain.confinement, readOnly, workspaceFrom: copy },
  });
  assert.match(output, /Read-only/);
  assert.equal(readFileSync(join(copy, "made"), "utf8"), "x\n");
  assert.throws(() => readFileSync(join(plain.confinement.workspace, "made")));
});

/** Options as bubblewrap would understand them if the source became a link, for the moment in which bubblewrap resolves it. */
const EXCHANGED: readonly (readonly [sentence: string, source: string, to: string])[] = [
  ["a protected directory for a link to a place outside", "--ro-bind\0WORKSPACE/.git/hooks\0", "--ro-bind\0OUTSIDE\0"],
  ["a directory above it for a link to a place outside", "--bind\0WORKSPACE/.git\0", "--bind\0OUTSIDE\0"],
  [
    "the place where it is mounted",
    "--ro-bind\0WORKSPACE/.git/hooks\0WORKSPACE/.git/hooks\0",
    "--ro-bind\0WORKSPACE/.git/hooks\0/tmp/hooks\0",
  ],
];
for (const [sentence, source, to] of EXCHANGED) {
  test(`nothing runs if another command exchanges ${sentence} at the last moment`, { skip }, async (t) => {
    const { confinement, directory } = scene(t);
    const { workspace } = confinement;
    mkdirSync(join(directory, "outside/hooks"));
    writeFileSync(join(directory, "outside/secret"), "TOP SECRET");
    const fill = (text: string): string => text.replaceAll("WORKSPACE", workspace).replaceAll("OUTSIDE", join(directory, "outside"));
    const exchange = (program: Parameters<typeof confineProgram>[0]): ReturnType<typeof confineProgram> => {
      const start = confineProgram(program, { ...confinement, readOnly: [join(workspace, ".git/hooks")] });
      const [options, ...rest] = start.feeds;
      const changed = new TextDecoder().decode(options?.bytes).replace(fill(source), fill(to));
      return { ...start, feeds: [{ fd: options?.fd ?? 0, bytes: new TextEncoder().encode(changed) }, ...rest] };
    };
    const args = ["-c", "cat .git/secret .git/hooks/secret; touch .git/made"];
    const spec = { file: "/bin/bash", args, cwd: workspace, env: { PATH: "/usr/bin:/bin" }, onStart: async () => undefined };
    const end = await processes.run({ ...spec, confine: exchange }, signal);
    assert.match(end.output, /^The command was not run: files in the workspace were exchanged/);
    assert.equal(end.exitCode, 126);
    assert.throws(() => readFileSync(join(directory, "outside/made")));
  });
}

test("protected paths with spaces, tabs and backslashes are recognized, and variables stay as they are", { skip }, async (t) => {
  const { confinement, directory } = scene(t);
  const odd = join(confinement.workspace, "a b\tc\\d*|e", "AGENTS.md");
  mkdirSync(join(odd, ".."));
  writeFileSync(odd, "x");
  const readOnly = [odd, join(confinement.workspace, ".git/hooks")];
  const { output } = await run('env | cut -d= -f1 | sort | tr "\\n" " "; echo y 2>&1 >> a*/AGENTS.md', {
    directory,
    confinement: { ...confinement, readOnly },
  });
  assert.match(output, /^(?:ASSENT_MARK )?COLOR PATH PWD SHLVL TMPDIR _ .*Read-only/s);
});

test("further paths can be changed, and a process that the command leaves behind ends with it", { skip }, async (t) => {
  const plain = scene(t);
  const outside = join(plain.directory, "outside");
  const { output, survivors } = await run(`(setsid sleep 60 &) ; echo x > ${outside}/made; echo done`, {
    ...plain,
    confinement: { ...plain.confinement, writable: [outside] },
  });
  assert.equal(output, "done\n");
  assert.deepEqual(survivors, []);
  assert.equal(readFileSync(join(outside, "made"), "utf8"), "x\n");
});

test("a sandbox that cannot be set up is not a result of the command", { skip }, async (t) => {
  const plain = scene(t);
  const gone = { ...plain, confinement: { ...plain.confinement, writable: ["/nonexistent/place"] } };
  await assert.rejects(run("true", gone), { code: "ERR_NOT_CONFINED", message: /could not be set up.*\/nonexistent\/place/s });
});

test("a confined command that takes too long is ended with everything it started", { skip }, async (t) => {
  const { confinement } = scene(t);
  const mark = `confined-${process.pid}`;
  const spec = {
    file: "/bin/bash",
    args: ["-c", `(exec -a ${mark} sleep 60) & trap "" TERM; wait; sleep 60`],
    cwd: confinement.workspace,
    env: {},
  };
  const confine = (program: Parameters<typeof confineProgram>[0]) => confineProgram(program, confinement);
  const end = await processes.run({ ...spec, timeoutMs: 400, confine }, signal);
  assert.deepEqual([end.ended, end.survivors], ["timeout", []]);
  assert.deepEqual(
    liveProcesses().filter(({ command }) => command.startsWith(mark)),
    [],
  );
});

const step = (text: string, cwd: string): PlanStep["pipeline"][number] => ({
  ...{ file: "/bin/sh", args: ["-c", text], cwd, redirections: [], gated: true },
});

test("every program of a list is confined", { skip }, async (t) => {
  const { confinement, directory } = scene(t);
  const { workspace: cwd } = confinement;
  const steps: readonly PlanStep[] = [
    { when: "always", pipeline: [step("echo one", cwd), step(`cat; touch ${directory}/outside/x`, cwd)] },
    { when: "failure", pipeline: [step("echo two > two; cat two", cwd)] },
  ];
  const confine = (program: Parameters<typeof confineProgram>[0]) => confineProgram(program, confinement);
  const { output, exitCode } = await processes.runSteps({ steps, env: {}, confine }, signal);
  assert.match(output, /^one\ntouch: .*No such file or directory\ntwo\n$/);
  assert.equal(exitCode, 0);
});

test("a list ends where a program cannot be confined", { skip }, async (t) => {
  const { confinement } = scene(t);
  const { workspace: cwd } = confinement;
  const steps: readonly PlanStep[] = [
    { when: "always", pipeline: [step("echo one", cwd)] },
    { when: "always", pipeline: [{ ...step("", cwd), file: "/nonexistent/program" }] },
    { when: "always", pipeline: [step("touch three", cwd)] },
  ];
  const confine = (program: Parameters<typeof confineProgram>[0]) => confineProgram(program, confinement);
  const { refused } = await processes.runSteps({ steps, env: {}, confine }, signal);
  assert.equal(refused?.reason, "unconfined");
  assert.equal(refused?.ran, true);
  assert.throws(() => readFileSync(join(cwd, "three")));
});

test("toolchains on the search path are visible, also through links, but never the home directory", (t) => {
  const home = scratch(t);
  for (const name of [".nvm/versions/node/v1/bin", ".local/bin", ".local/share/keyrings", ".cargo/bin", "bin", "opt/tool/bin"])
    mkdirSync(join(home, name), { recursive: true });
  symlinkSync(join(home, "opt/tool/bin"), join(home, "linked"));
  const path = [".nvm/versions/node/v1/bin", ".local/bin", ".cargo/bin", "bin", "linked", "missing"].map((name) => join(home, name));
  const shown = listVisibleRoots(path.join(":"), home).flatMap((root) =>
    root.path.startsWith(home) ? [root.path.slice(home.length + 1)] : [],
  );
  assert.deepEqual(shown.toSorted(), [".cargo", ".local/bin", ".nvm", "bin", "linked", "opt/tool"]);
});
