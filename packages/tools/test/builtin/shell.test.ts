import assert from "node:assert/strict";
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import type { Display } from "@assent/core";
import { validateBuildAndExecute } from "@assent/core/ungoverned";
import { createHostFiles, createHostProcesses } from "@assent/host";
import { shellTool } from "../../src/builtin/shell.ts";
import { findBash } from "../../src/shell/bash.ts";
import { runNode } from "../run-node.ts";
import { scratch } from "../scratch.ts";
import { session, shown } from "../session.ts";

const ROWS: readonly (readonly [name: string, command: string, content: string, type: string | undefined])[] = [
  ["output of a success is its text", "echo hello", "hello", undefined],
  ["nothing to show", "true", "(no output)", undefined],
  ["output and error in the order they were written", "echo a; echo b >&2; echo c", "a\nb\nc", undefined],
  ["a non-zero exit is a failure with the output", "echo out; exit 3", "out\n[exit code 3]", "shell_execute_error"],
  ["a non-zero exit without output", "exit 1", "[exit code 1]", "shell_execute_error"],
  ["a signal is named", "kill -9 $$", "[ended by signal SIGKILL]", "shell_execute_error"],
  ["a command that does not exist", "nonexistent-program 2>/dev/null", "[exit code 127]", "shell_execute_error"],
  ["a text that begins with a dash is a command, not an option", "-c 2>/dev/null; echo $?", "127", undefined],
  ["several lines", "echo a\necho b", "a\nb", undefined],
  ["no start file of the user is read", "shopt -q login_shell || echo plain", "plain", undefined],
];
for (const [name, command, content, type] of ROWS) {
  test(name, async (t) => {
    const result = await session(t).call("shell", { command });
    assert.deepEqual([shown(result.content), result.error?.type], [content, type]);
  });
}

test("`cmd` is another name of `command`, and both at once are invalid", async (t) => {
  const { call } = session(t);
  assert.equal((await call("shell", { cmd: "echo x" })).content, "x");
  const both = await call("shell", { cmd: "echo x", command: "echo y" });
  assert.equal(both.error?.type, "invalid_tool_params");
  assert.match(both.error.message, /params must not have both 'cmd' and 'command'/);
});

const INVALID: readonly (readonly [name: string, input: object, message: RegExp])[] = [
  ["no command", {}, /required property 'command'/],
  ["a time limit of 0", { command: "true", timeout_ms: 0 }, /params\/timeout_ms must be >= 1/],
  ["a time limit over an hour", { command: "true", timeout_ms: 3_600_001 }, /params\/timeout_ms must be <= 3600000/],
  ["a description over 200 characters", { command: "true", description: "x".repeat(201) }, /params\/description/],
  ["a command over 1 MiB", { command: "x".repeat(1024 * 1024 + 1) }, /params\/command/],
  [
    "running in the background where nobody keeps it",
    { command: "true", run_in_background: true },
    /run_in_background is not available here/,
  ],
  ["a terminal that is neither wanted nor not", { command: "true", pty: 80 }, /params\/pty must be boolean/],
  ["an unknown field", { command: "true", shell: "zsh" }, /additional property 'shell'/],
];
for (const [name, input, message] of INVALID) {
  test(`${name} is invalid`, async (t) => {
    const result = await session(t).call("shell", input);
    assert.equal(result.error?.type, "invalid_tool_params");
    assert.match(result.error.message, message);
  });
}

test("what is not there may be said to be off, and is not shown to the model", async (t) => {
  const { call, tool } = session(t);
  assert.equal((await call("shell", { command: "echo x", run_in_background: false })).content, "x");
  assert.doesNotMatch(JSON.stringify(tool("shell").inputSchema), /background/);
});

test("the tool has no opinion of its own: what is read-only, allowed or malformed is for facts, rules and safeguards", (t) => {
  assert.equal(session(t).tool("shell").definition.permission, undefined);
});

test("a text that no program can be given is not started", async (t) => {
  const result = await session(t).call("shell", { command: "ls\0-la" });
  assert.equal(result.error?.type, "shell_execute_error");
});

test("it runs in the session's directory, or in the one asked for", async (t) => {
  const { call, root } = session(t);
  mkdirSync(join(root, "sub"));
  assert.equal((await call("shell", { command: "pwd" })).content, root);
  assert.equal((await call("shell", { command: "pwd", cwd: "sub" })).content, join(root, "sub"));
  assert.equal((await call("shell", { command: "pwd", cwd: ".." }, { cwd: join(root, "sub") })).content, root);
});

test("a directory that does not exist: the command is not started, and that is said", async (t) => {
  const result = await session(t).call("shell", { command: "echo x", cwd: "absent" });
  assert.equal(result.error?.type, "shell_execute_error");
  assert.match(shown(result.content), /was not started in absent: the working directory .* does not exist/);
});

test("nothing of one call is there in the next", async (t) => {
  const { call, root } = session(t);
  await call("shell", { command: "export LEFT=over; cd /; f() { :; }" });
  assert.equal((await call("shell", { command: 'echo "$LEFT"; pwd; type f 2>/dev/null || echo none' })).content, `\n${root}\nnone`);
});

test("the user's environment without secrets and without what redirects a shell", async (t) => {
  const secret = {
    MY_API_KEY: "k",
    GITHUB_TOKEN: "k",
    DB_PASSWORD: "k",
    BASH_ENV: "/x",
    LD_PRELOAD: "",
    ASSENT_STORE: "/s",
    "BASH_FUNC_ls%%": "() { echo fake; }",
  };
  const { call } = session(t, { PATH: "/usr/bin:/bin", HOME: "/home/me", EDITOR: "vi", ...secret });
  const result = await call("shell", { command: "env | grep -v '^\\(_\\|SHLVL\\|PWD\\|OLDPWD\\)=' | sort" });
  assert.match(String(result.content), /^ASSENT_MARK=[0-9a-f]{32}\nEDITOR=vi\nHOME=\/home\/me\nPATH=\/usr\/bin:\/bin$/);
});

test("the shell itself is never taken from the workspace or a relative directory", (t) => {
  const root = scratch(t);
  for (const directory of ["ws", "tools"]) {
    mkdirSync(join(root, directory));
    writeFileSync(join(root, directory, "bash"), "#!/bin/sh\necho fake\n");
    chmodSync(join(root, directory, "bash"), 0o755);
  }
  symlinkSync("ws", join(root, "alias"));
  const workspace = join(root, "ws");
  const searchPath = `.:${root}/ws:${root}/alias:${root}/tools`;
  assert.match(findBash({ workspace, searchPath }) ?? "", /^\/(usr\/)?(local\/)?bin\/bash$/);
  assert.equal(findBash({ workspace, searchPath, system: [] }), join(root, "tools/bash"));
});

test("a time limit ends the command, keeps the output so far, and says that it may have had effects", async (t) => {
  const { call } = session(t);
  const result = await call("shell", { command: "echo so far; sleep 60 & sleep 60", timeout_ms: 200 });
  assert.equal(result.error?.type, "execution_timeout");
  assert.equal(result.content, "so far\nError: Tool 'shell' did not finish within 0.2 s and was stopped. It may have had effects.");
});

test("a cancel ends the whole group, also what ignores SIGTERM and holds the output", async (t) => {
  const { call, root } = session(t);
  const cancel = new AbortController();
  const update = (display: Display): void => {
    if (String(display).includes("ready")) cancel.abort();
  };
  const command = `trap '' TERM; (trap '' TERM; sleep 60 & sleep 60; touch ${root}/late) & echo ready $!; sleep 60`;
  const result = await call("shell", { command }, { signal: cancel.signal, update });
  assert.equal(result.error?.type, "cancelled");
  const child = Number(/ready (\d+)/.exec(shown(result.content))?.[1]);
  assert.ok(child > 0);
  assert.equal(createHostProcesses().startOf(child), undefined);
  assert.ok(!existsSync(join(root, "late")));
});

test("a process left behind is named", async (t) => {
  const result = await session(t).call("shell", { command: "sleep 60 & echo $!" });
  const [left, note] = shown(result.content).split("\n");
  assert.equal(note, `[still running: process ${left}]`);
  assert.equal(result.error, undefined);
  process.kill(Number(left), "SIGKILL");
});

test("people see the end of the output while it runs", async (t) => {
  const seen: string[] = [];
  await session(t).call(
    "shell",
    { command: "echo one; sleep 0.05; echo two; head -c 20000 /dev/zero | tr '\\0' x" },
    { update: (display) => seen.push(String(display)) },
  );
  assert.equal(seen[0], "one\n");
  assert.equal(seen.at(-1), "x".repeat(10_000));
});

test("output beyond what is held in memory: head and tail around the line that says how much and where, within what the model is given", async (t) => {
  const made = session(t);
  const result = await made.call("shell", { command: "echo first; head -c 12000000 /dev/zero | tr '\\0' x; echo; echo last; exit 2" });
  const content = shown(result.content);
  assert.ok(content.length <= 25_000 && content.startsWith("first\nxxx") && content.endsWith("xxx\nlast\n[exit code 2]"));
  const [file = ""] = readdirSync(made.output);
  assert.match(content, new RegExp(`\\n\\[output truncated: 12000012 characters, 3 lines; full output in ${made.output}/${file}\\]\\n`));
  assert.equal(result.spilled?.[0]?.path, join(made.output, file));
  assert.equal(statSync(join(made.output, file)).size, 12_000_012);
  assert.equal(statSync(join(made.output, file)).mode & 0o777, 0o600);
  const read = await made.tool("read").build({ file_path: join(made.output, file) }, { cwd: made.root, callId: "c", sessionId: "s_1" });
  assert.equal(await read.permission(), "allow");
});

test("where the full output could not be saved, a success stays one and the line says so", async (t) => {
  const root = scratch(t);
  writeFileSync(join(root, "output"), "a file where the directory should be");
  const tool = shellTool({
    workspace: root,
    files: createHostFiles({ outputDirectory: join(root, "output") }),
    processes: createHostProcesses(),
    environment: { PATH: "/usr/bin:/bin" },
  });
  const ctx = { cwd: root, callId: "c", sessionId: "s" };
  const result = await validateBuildAndExecute(
    tool,
    { command: "head -c 12000000 /dev/zero | tr '\\0' x" },
    new AbortController().signal,
    undefined,
    ctx,
  );
  assert.equal(result.error, undefined);
  assert.match(shown(result.content), /\n\[output truncated: 12000000 characters, 1 lines; full output could not be saved\]\n/);
});

test("60 MB of output cost bounded memory", async (t) => {
  const root = scratch(t);
  const source = `
    import { setFlagsFromString } from "node:v8";
    import { runInNewContext } from "node:vm";
    import { builtinTools } from "@assent/tools";
    import { createHostFiles, createHostProcesses } from "@assent/host";
    import { validateBuildAndExecute } from "@assent/core/ungoverned";
    setFlagsFromString("--expose-gc");
    const collect = runInNewContext("gc"); // what is held counts, not what waits to be collected
    const root = ${JSON.stringify(root)};
    const shell = builtinTools({ workspace: root, files: createHostFiles({ outputDirectory: root }), processes: createHostProcesses(), environment: { PATH: "/usr/bin:/bin" } }).find(({ name }) => name === "shell");
    const ctx = { cwd: root, callId: "c", sessionId: "s" };
    let most = 0;
    let updates = 0;
    const update = () => {
      updates += 1;
      if (updates % 50 !== 0) return;
      collect();
      most = Math.max(most, process.memoryUsage().arrayBuffers);
    };
    const input = { command: "yes | head -c 60000000" };
    const result = await validateBuildAndExecute(shell, input, new AbortController().signal, update, ctx);
    console.log(most > 0 && most < 40_000_000, result.content.length < 25_000, result.spilled[0].size);`;
  assert.equal(await runNode(source), "true true 50000000\n");
});

test("the process is recorded before its output is used, and a start that cannot be recorded ends the call", async (t) => {
  const made = session(t);
  const order: string[] = [];
  const invocation = await made.tool("shell").build({ command: "echo x" }, { cwd: made.root, callId: "c", sessionId: "s" });
  const signal = new AbortController().signal;
  await invocation.execute(signal, () => order.push("output"), {
    started: async ({ pid, pgid, processStart }) => {
      await new Promise((resolve) => setImmediate(resolve));
      order.push(pid === pgid && processStart !== "" ? "started" : "wrong");
    },
  });
  assert.deepEqual(order, ["started", "output"]);
  const started = async () => {
    throw new Error("the ledger is full");
  };
  await assert.rejects(invocation.execute(signal, undefined, { started }), /the ledger is full/);
});

test("7: the person is shown the command as it will run", async (t) => {
  const { tool, root } = session(t);
  const build = (input: object) => tool("shell").build(input, { cwd: root, callId: "c", sessionId: "s" });
  const signal = new AbortController().signal;
  assert.deepEqual(await (await build({ command: " git  push --force" })).confirmation(signal), {
    type: "exec",
    command: " git  push --force",
    rootCommand: "git",
    cwd: root,
  });
  const described = await (await build({ command: "ls", cwd: "/", description: "harmless" })).confirmation(signal);
  assert.deepEqual(described, { type: "exec", command: "ls", rootCommand: "ls", cwd: "/", warnings: ["The model says: harmless"] });
  assert.equal((await build({ command: "ls", description: "look\naround" })).describe(), "Run ls (the model says: look around)");
  assert.equal((await build({ command: "ls\n  id" })).describe(), "Run ls ⏎ id");
  assert.equal((await build({ command: "x".repeat(300) })).describe(), `Run ${"x".repeat(200)}…`);
});

const ROOTS: readonly (readonly [command: string, root: string])[] = [
  ["git push", "git"],
  ["  \n git", "git"],
  ['A=1 B+=\'x y\' C="q \\" r" D=\\  git push', "git"],
  ["(cd x; ls)", "cd"],
  ["{ ls; }", "ls"],
  ["! grep -q x f", "grep"],
  ["ls;rm x", "ls"],
  ["ls&&rm x", "ls"],
  ["cat<f", "cat"],
  ["A=1", "A=1"],
  ["A='open", "A='open"],
  ["/usr/bin/env x", "/usr/bin/env"],
  ["", ""],
];
for (const [command, root] of ROOTS) {
  test(`7: the root command of ${JSON.stringify(command)} is ${JSON.stringify(root)}`, async (t) => {
    const { tool, root: cwd } = session(t);
    const invocation = await tool("shell").build({ command }, { cwd, callId: "c", sessionId: "s" });
    const details = await invocation.confirmation(new AbortController().signal);
    assert.equal(details?.type === "exec" && details.rootCommand, root);
  });
}

test("7: a command of 1 MiB that is all one unfinished assignment is shown at once", async (t) => {
  const { tool, root: cwd } = session(t);
  for (const piece of ["A='x' ", "A='x'", "A=\\", "A=x A='", "(", 'A="\\']) {
    const command = piece.repeat(Math.floor(1_000_000 / piece.length));
    const invocation = await tool("shell").build({ command }, { cwd, callId: "c", sessionId: "s" });
    assert.equal((await invocation.confirmation(new AbortController().signal))?.type, "exec");
  }
});

test("what colours its output is shown to people in colour, and to the model as it was written", async (t) => {
  const { call, root } = session(t);
  const seen: Display[] = [];
  const update = (display: Display): void => {
    seen.push(display);
    writeFileSync(join(root, `seen${seen.length}`), "");
  };
  const after = (n: number) => `until [ -e seen${n} ]; do sleep 0.01; done`;
  const command = `echo plain; ${after(1)}; printf '\\033[31mred\\033[0m\\n'; ${after(2)}; exit 1`;
  const result = await call("shell", { command, timeout_ms: 20_000 }, { update });
  assert.equal(result.content, "plain\n\x1b[31mred\x1b[0m\n[exit code 1]");
  assert.deepEqual(linesOf(result.display), [["plain"], ["red"], ["[exit code 1]"]]);
  assert.notEqual(runsOf(result.display)[1]?.[0]?.fg, runsOf(result.display)[0]?.[0]?.fg);
  assert.equal(seen[0], "plain\n");
  assert.deepEqual(linesOf(seen[1]), [["plain"], ["red"]]);
});

test("of much coloured output people are shown as much as the model", async (t) => {
  const result = await session(t).call("shell", { command: "seq -f $'\\033[31mline %g' 50000" });
  assert.ok(shown(result.content).length > 400_000); // the runtime cuts it, and keeps the whole
  const lines = linesOf(result.display).map((line) => line.join(""));
  assert.ok(lines.length <= 1000 && lines[0] === "line 1" && lines.at(-1) === "line 50000");
});

/** The texts of a terminal's display, line by line. */
function linesOf(display: Display | undefined): readonly (readonly string[])[] {
  return runsOf(display).map((line) => line.map((run) => run.text));
}

function runsOf(display: Display | undefined): Extract<Display, { type: "ansi_output" }>["ansiOutput"] {
  assert.ok(typeof display === "object" && display.type === "ansi_output");
  return display.ansiOutput;
}

test("every built-in tool is offered with a description and a closed schema", (t) => {
  const { tool } = session(t);
  for (const name of ["read", "write", "shell"]) {
    const { description, inputSchema } = tool(name);
    assert.ok(description.length > 100 && !description.includes("{{"));
    assert.ok(typeof inputSchema === "object" && inputSchema.additionalProperties === false);
    assert.equal(description, readFileSync(join(import.meta.dirname, `../../src/builtin/${name}.md`), "utf8").trim());
  }
});
