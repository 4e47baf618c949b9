import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import type { Containment, RunContext, ToolResult } from "@assent/core";
import { confineProgram, createHostFiles, createHostProcesses } from "@assent/host";
import { createPathLookup, createPolicyFacts } from "@assent/policy";
import { withoutProgram } from "../../../../test/support/programs.ts";
import { shellTool } from "../../src/builtin/shell.ts";
import { createShellContainment, guessConfinementFailure } from "../../src/shell/containment.ts";
import { scratch } from "../scratch.ts";

const skip = withoutProgram("bwrap");
const CONFINED: Containment = { confined: true, network: false };

type Running = Partial<RunContext> & { readonly input?: object };

function workshop(t: TestContext, writable: readonly string[] = []) {
  const top = scratch(t);
  const [root, home] = [join(top, "ws"), join(top, "home")];
  for (const directory of [join(root, ".git/hooks"), home, join(top, "named"), join(top, "ledger")])
    mkdirSync(directory, { recursive: true });
  const look = createPathLookup({ workspace: root });
  const containment = createShellContainment({
    ...{ workspace: root, home, writable: () => writable.map((name) => join(top, name)) },
    isControl: (path) => look(path, root).control,
    aside: join(top, "aside"),
    hidden: [join(top, "ledger")],
  });
  const tool = shellTool({
    ...{ workspace: root, containment, files: createHostFiles({ outputDirectory: join(top, "output") }) },
    ...{ processes: createHostProcesses({ graceMs: 150, lingerMs: 150 }), environment: { PATH: "/usr/bin:/bin", HOME: home } },
  });
  const facts = createPolicyFacts({ workspace: root, look });
  const execute = async (command: string, { input = {}, ...ctx }: Running = {}): Promise<ToolResult> => {
    const invocation = await tool.build({ command, ...input }, { cwd: root, callId: "c1", sessionId: "s_1" });
    return await invocation.execute(new AbortController().signal, ctx.update, { containment: CONFINED, ...ctx });
  };
  const planned = async (command: string, ctx: Running = {}): Promise<ToolResult> => {
    const { plan } = await facts({ tool: "shell", kind: "execute", input: { command }, cwd: root, locations: [] });
    return await execute(command, { plan, allowedByRules: true, ...ctx });
  };
  return { top, root, execute, planned, containment };
}

test("an approved text runs confined, and the result says so", { skip }, async (t) => {
  const { top, root, execute } = workshop(t);
  const { details, error } = await execute(`echo x > made; echo y > ${top}/outside`);
  assert.deepEqual([error, details], [undefined, { containment: CONFINED }]);
  assert.deepEqual([readFileSync(join(root, "made"), "utf8"), existsSync(join(top, "outside"))], ["x\n", false]);
});

test("a command that a rule allowed runs confined, too", { skip }, async (t) => {
  const { top, root, planned } = workshop(t);
  writeFileSync(join(top, "secret"), "secret");
  const { content } = await planned(`cat ${top}/secret; touch made; ls`);
  assert.doesNotMatch(String(content), /^secret/m);
  assert.ok(existsSync(join(root, "made")));
});

test("a command on a view changes the view alone: not the workspace, not named paths, and what is hidden stays hidden", {
  skip,
}, async (t) => {
  const { top, root, containment } = workshop(t, ["named"]);
  const view = { workspaceFrom: join(top, "view"), temporary: join(top, "tmp") };
  for (const directory of [view.workspaceFrom, join(view.temporary, ".home")]) mkdirSync(directory, { recursive: true });
  const confinement = (await containment.enterView("/usr/bin:/bin"))(view);
  assert.deepEqual(
    [confinement.writable, confinement.network, confinement.masked.map(({ path }) => path)],
    [[], false, [join(top, "ledger")]],
  );
  const program = {
    file: "/bin/bash",
    args: ["-c", `echo x > made; echo x > ${top}/named/made`],
    cwd: root,
    env: { PATH: "/usr/bin:/bin" },
  };
  await createHostProcesses().run({ ...program, confine: (inside) => confineProgram(inside, confinement) }, new AbortController().signal);
  const made = [join(view.workspaceFrom, "made"), join(root, "made"), join(top, "named/made")];
  assert.deepEqual(
    made.map((path) => existsSync(path)),
    [true, false, false],
  );
});

test("a command in a terminal runs confined, too", { skip }, async (t) => {
  const { execute } = workshop(t);
  const { content } = await execute("test -t 1 && ls -d /home /var/log", { input: { pty: true } });
  assert.match(String(content), /cannot access '\/var\/log'/);
});

test("commands of a session share a private temporary directory, and others do not see it", { skip }, async (t) => {
  const { execute } = workshop(t);
  await execute("echo shared > /tmp/note");
  assert.equal((await execute("cat /tmp/note")).content, "shared");
  assert.match(String((await execute("cat /tmp/note", { sessionId: "s_2" })).content), /No such file/);
});

test("named paths can be changed, and missing ones are skipped", { skip }, async (t) => {
  const { top, execute } = workshop(t, ["named", "missing"]);
  await execute(`echo x > ${top}/named/made`);
  assert.equal(readFileSync(join(top, "named/made"), "utf8"), "x\n");
});

test("a control file that a command creates is moved away, and the result has the command that puts it back", { skip }, async (t) => {
  const { root, execute } = workshop(t);
  const { content } = await execute('mkdir "it\'s new"; echo x > "it\'s new/.envrc"; touch .git/hooks/pre-commit');
  const [file, hook] = [join(root, "it's new/.envrc"), join(root, ".git/hooks/pre-commit")];
  assert.deepEqual([existsSync(file), existsSync(hook)], [false, false]);
  const [, back = ""] = /^\[Moved away: .*\/\.envrc\. It is a control file .* put it back: (.*)\]$/m.exec(String(content)) ?? [];
  spawnSync("sh", ["-c", back]);
  assert.equal(readFileSync(file, "utf8"), "x\n");
});

test("what appears while a command runs in the background is named, not moved", { skip }, async (t) => {
  const { root, containment } = workshop(t);
  const command = { sessionId: "s", network: false, cwd: root, searchPath: "/usr/bin:/bin", keepsNewControls: true };
  const { leave } = await containment.enter(command);
  writeFileSync(join(root, ".envrc"), "of the person");
  assert.match(leave().join("\n"), /\.envrc is a control file that appeared while the command ran/);
  assert.ok(existsSync(join(root, ".envrc")));
});

test("what appears while a command runs that only reads is named, not moved", { skip }, async (t) => {
  const { root, planned } = workshop(t);
  const started = async (): Promise<void> => writeFileSync(join(root, ".envrc"), "of the person");
  assert.match(String((await planned("ls -a", { started })).content), /\.envrc is a control file that appeared while the command ran/);
  assert.ok(existsSync(join(root, ".envrc")));
});

test("what a command created whose Assent was killed is moved away before the next command, and later files stay", { skip }, async (t) => {
  const { root, top, containment } = workshop(t);
  const killed = spawnSync(process.execPath, [
    ...process.execArgv,
    "--input-type=module",
    "-e",
    KILLED,
    root,
    join(top, "home"),
    join(top, "aside"),
  ]);
  assert.equal(killed.signal, "SIGKILL", String(killed.stderr));
  const [note = ""] = readdirSync(join(top, "aside"));
  const longAgo = new Date(Date.now() - 60_000);
  assert.ok(existsSync(join(root, ".envrc")));
  const command = { sessionId: "s", network: false, cwd: root, searchPath: "/usr/bin:/bin", keepsNewControls: false };
  utimesSync(join(top, "aside", note), longAgo, longAgo); // killed a minute ago, so the file is newer
  assert.deepEqual((await containment.enter(command)).leave(), []);
  assert.ok(existsSync(join(root, ".envrc")));
  rmSync(join(root, ".envrc"));
  spawnSync(process.execPath, [...process.execArgv, "--input-type=module", "-e", KILLED, root, join(top, "home"), join(top, "aside")]);
  assert.match((await containment.enter(command)).leave().join("\n"), /Moved away: .*\.envrc\. It is a control file/);
  assert.equal(existsSync(join(root, ".envrc")), false);
});

/** A process that is killed after its command created a control file. */
const KILLED = `
import { writeFileSync } from "node:fs";
import { createShellContainment } from ${JSON.stringify(import.meta.resolve("../../src/shell/containment.ts"))};
const [root, home, aside] = process.argv.slice(1);
const containment = createShellContainment({ workspace: root, home, aside, writable: () => [], isControl: (path) => path.endsWith("/.envrc") });
await containment.enter({ sessionId: "s", network: false, cwd: root, searchPath: "/usr/bin:/bin", keepsNewControls: false });
writeFileSync(root + "/.envrc", "evil");
process.kill(process.pid, "SIGKILL");
`;

test("a failure that the sandbox may explain says how to run outside, as a guess", { skip }, async (t) => {
  const { execute } = workshop(t);
  const { content } = await execute("touch /usr/made");
  assert.match(String(content), /may be why it failed \(a guess from its output\).*unconfined: true, or type \/outside in the terminal/s);
});

test("what was judged to run confined never runs outside", async (t) => {
  const top = scratch(t);
  const places = { workspace: top, files: createHostFiles({ outputDirectory: join(top, "output") }), processes: createHostProcesses() };
  const tool = shellTool({ ...places, environment: { PATH: "/usr/bin:/bin" } });
  const invocation = await tool.build({ command: "touch made" }, { cwd: top, callId: "c", sessionId: "s" });
  for (const containment of [CONFINED, { confined: false, reason: "no bubblewrap", required: true } as const]) {
    const { error } = await invocation.execute(new AbortController().signal, undefined, { containment });
    assert.equal(error?.type, "execution_denied");
  }
  assert.equal(existsSync(join(top, "made")), false);
});

test("a command that runs outside says why", async (t) => {
  const { content, details } = await workshop(t).execute("echo x", { containment: { confined: false, reason: "no bubblewrap" } });
  assert.match(String(content), /^x\n\[run outside the sandbox: no bubblewrap\]$/);
  assert.deepEqual(details, { containment: { confined: false, reason: "no bubblewrap" } });
});

const GUESSES: readonly (readonly [output: string, where: Containment, guess: RegExp | undefined])[] = [
  ["touch: cannot touch '/x': Read-only file system", CONFINED, /write only in the workspace/],
  ["curl: (6) Could not resolve host: example.com", CONFINED, /no network/],
  ["npm error code EAI_AGAIN", CONFINED, /no network/],
  ["npm error code EAI_AGAIN", { confined: true, network: true }, undefined],
  ["Cannot connect to the Docker daemon at unix:///var/run/docker.sock", CONFINED, /services of this machine/],
  ["touch: cannot touch '/opt/x': No such file or directory", CONFINED, /does not see directories outside/],
  ["Error: ENOENT: no such file or directory, open '/var/lib/x'", CONFINED, /does not see directories outside/],
  ["cat: opt/x: No such file or directory", CONFINED, undefined],
  ["cat: key: Permission denied", CONFINED, /hidden/],
  ["Read-only file system", { ...CONFINED, required: true }, /settings do not let it run outside/],
  ["Read-only file system", { confined: false, reason: "x" }, undefined],
  ["1 test failed", CONFINED, undefined],
];
for (const [output, where, guess] of GUESSES) {
  test(`the guess about ${JSON.stringify(output)} ${JSON.stringify(where)}`, () => {
    const found = guessConfinementFailure(output, where);
    if (guess === undefined) assert.equal(found, undefined);
    else assert.match(found ?? "", guess);
  });
}
