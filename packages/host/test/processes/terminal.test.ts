import assert from "node:assert/strict";
import { existsSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import type { ProcessEnd, ProcessSpec } from "@assent/core";
import { createHostFiles } from "../../src/files/files.ts";
import { createHostProcesses } from "../../src/processes/processes.ts";
import { readProcessTable } from "../../src/processes/table.ts";
import { scratch } from "../scratch.ts";
import { runNode } from "./run-node.ts";

const processes = createHostProcesses({ graceMs: 150, lingerMs: 500 });
const table = readProcessTable();

function bash(text: string, options: Partial<ProcessSpec> = {}, signal = new AbortController().signal): Promise<ProcessEnd> {
  const args = ["--noprofile", "--norc", "-c", "--", text];
  const pty = { columns: 91, rows: 33 };
  return processes.run({ file: "/bin/bash", args, cwd: "/", env: { PATH: "/usr/bin:/bin" }, pty, ...options }, signal);
}

const ENDS: readonly (readonly [name: string, text: string, end: Partial<ProcessEnd>])[] = [
  [
    "input, output and error are terminals",
    "test -t 0 && test -t 1 && test -t 2 && echo yes",
    { output: "yes\r\n", lines: 1, chars: 5, exitCode: 0 },
  ],
  ["it has the size that was asked for", "stty size; tput -T xterm cols 2>/dev/null || echo 91", { output: "33 91\r\n91\r\n" }],
  ["it is the program's own: it can be opened by its name", "echo x > /dev/tty; echo y > /dev/stderr", { output: "x\r\ny\r\n" }],
  ["the program is in the foreground", "ps -o pgid=,tpgid= -p $$ | awk '{ print $1 == $2 }'", { output: "1\r\n" }],
  ["output and error come in the order they were written", "echo a; echo b >&2; echo c", { output: "a\r\nb\r\nc\r\n" }],
  ["a non-zero exit code is reported", "exit 3", { exitCode: 3, signal: null, ended: "exit" }],
  ["death by a signal is reported by its name", "kill -9 $$", { exitCode: null, signal: "SIGKILL", ended: "exit" }],
  [
    "the environment is exactly what was given, and a mark",
    "/usr/bin/env | grep -v '^\\(_\\|SHLVL\\|PWD\\)=' | sed 's/=[0-9a-f]\\{32\\}$/=mark/' | sort -r",
    { output: "PATH=/usr/bin:/bin\r\nASSENT_MARK=mark\r\n" },
  ],
  ["arguments stay as they are", "printf '%s|' \"$0\" a 'b c'", { output: "/bin/bash|a|b c|" }],
  ["a character cut at the end is replaced", "printf '\\xe6\\xbc'", { output: "\ufffd", chars: 1 }],
];
for (const [name, text, end] of ENDS) {
  test(`in a terminal: ${name}`, async () => {
    const found = await bash(text);
    assert.deepEqual({ ...found, ...end }, found);
    assert.deepEqual(found.survivors, []);
  });
}

test("in a terminal: everything written before the exit arrives, also where we are busy when it comes", async () => {
  const expected = Array.from({ length: 3000 }, (_, i) => `${i + 1}\r\n`).join("");
  for (let i = 0; i < 5; i++) {
    let first = true;
    const busy = (): void => {
      if (first) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 100);
      first = false;
    };
    const { output, ended } = await bash("seq 3000", { onOutput: busy });
    assert.equal(ended, "exit");
    assert.ok(output === expected, `${output.length} of ${expected.length} characters`);
  }
});

test("in a terminal: the start is reported with its process group before the program begins", async (t) => {
  const file = join(scratch(t), "begun");
  const seen: unknown[] = [];
  const end = await bash(`touch ${file}; ps -o pgid= -p $$ | tr -d ' '`, {
    onStart: async ({ pid, pgid, processStart }) => {
      for (let i = 0; i < 20; i++) await new Promise((resolve) => setImmediate(resolve));
      seen.push(pid === pgid, processStart.length > 0, existsSync(file), pgid);
    },
    onOutput: (chunk) => seen.push(Number(chunk)),
  });
  assert.deepEqual(seen, [true, true, false, Number(end.output), Number(end.output)]);
});

test("in a terminal: a program whose start cannot be recorded does not begin", async (t) => {
  const file = join(scratch(t), "late");
  let group = 0;
  const onStart = async ({ pgid }: { pgid: number }) => {
    group = pgid;
    throw new Error("not recorded");
  };
  await assert.rejects(bash(`touch ${file}`, { onStart, onOutput: () => assert.fail("used") }), /not recorded/);
  assert.deepEqual([table.members(group), existsSync(file)], [[], false]);
});

const NOT_STARTED: readonly (readonly [name: string, spec: Partial<ProcessSpec>, message: RegExp])[] = [
  ["a program that does not exist", { file: "/nonexistent/program" }, /\/nonexistent\/program could not be started/],
  ["a program that may not be executed", { file: "/etc/passwd" }, /\/etc\/passwd could not be started/],
  ["a program without its directory", { file: "bash" }, /absolute path/],
  ["a working directory that does not exist", { cwd: "/proc/nonexistent" }, /working directory \/proc\/nonexistent does not exist/],
  ["an argument with a NUL", { args: ["a\0b"] }, /null bytes/],
  ["no column", { pty: { columns: 0, rows: 24 } }, /0 is not a valid terminal size/],
  ["half a row", { pty: { columns: 80, rows: 1.5 } }, /1\.5 is not a valid terminal size/],
];
for (const [name, spec, message] of NOT_STARTED) {
  test(`in a terminal: ${name} is a rejection, and nothing stays open`, async () => {
    await bash("true");
    const before = readdirSync("/proc/self/fd").length;
    await assert.rejects(bash("true", spec), message);
    assert.equal(readdirSync("/proc/self/fd").length, before);
  });
}

/** Ends when the program has said that it is ready. */
function whenReady(): { onOutput: (chunk: string) => void; ready: Promise<void> } {
  const { promise, resolve } = Promise.withResolvers<void>();
  return { ready: promise, onOutput: (chunk) => chunk.includes("ready") && resolve() };
}

const STOPPED: readonly (readonly [name: string, text: string, signal: string])[] = [
  ["a plain program", "echo ready; exec sleep 60", "SIGTERM"],
  ["one that waits for input", "echo ready; read -r line", "SIGTERM"],
  ["one that ignores every polite signal, and forks", "trap '' TERM HUP; (trap '' TERM HUP; sleep 60) & echo ready; sleep 60", "SIGKILL"],
];
for (const [name, text, signal] of STOPPED) {
  test(`in a terminal: ${name}, cancelled: the whole group is gone`, async () => {
    const cancel = new AbortController();
    const { ready, onOutput } = whenReady();
    let group = 0;
    const onStart = async ({ pgid }: { pgid: number }) => {
      group = pgid;
    };
    const running = bash(text, { onOutput, onStart }, cancel.signal);
    await ready;
    cancel.abort();
    const end = await running;
    assert.deepEqual([end.ended, end.exitCode, end.signal, end.output, end.survivors], ["cancelled", null, signal, "ready\r\n", []]);
    assert.deepEqual(table.members(group), []);
  });
}

test("in a terminal: a time limit ends the group and keeps the output so far", async () => {
  const end = await bash("echo so far; sleep 60 & sleep 60", { timeoutMs: 150 });
  assert.deepEqual([end.ended, end.output, end.survivors], ["timeout", "so far\r\n", []]);
});

test("in a terminal: an aborted signal starts nothing", async (t) => {
  const file = join(scratch(t), "made");
  const end = await bash(`touch ${file}`, {}, AbortSignal.abort());
  assert.deepEqual([end.ended, end.exitCode, existsSync(file)], ["cancelled", null, false]);
});

test("in a terminal: what is left in the background is hung up on; one that does not hear it is named, and holds nothing up", async () => {
  const gone = await bash("sleep 60 & echo $!");
  assert.deepEqual([gone.ended, gone.exitCode], ["exit", 0]);
  while (processes.startOf(Number(gone.output)) !== undefined) await new Promise((resolve) => setImmediate(resolve));
  const end = await bash("trap '' HUP; sleep 60 & echo $!");
  const left = Number(end.output);
  assert.deepEqual([end.ended, end.exitCode, end.survivors], ["exit", 0, [left]]);
  process.kill(left, "SIGKILL");
});

test("in a terminal: far more output than is held goes to the file as it comes", async (t) => {
  const files = createHostFiles({ outputDirectory: scratch(t) });
  const spec = { file: "/bin/bash", args: ["-c", "seq 400000"], cwd: "/", env: { PATH: "/usr/bin:/bin" }, pty: { columns: 80, rows: 24 } };
  const end = await createHostProcesses({ heldBytes: 300_000 }).run(
    { ...spec, spill: () => files.spill("s", "c") },
    new AbortController().signal,
  );
  assert.deepEqual([end.lines, end.chars, end.spilled?.size], [400_000, 3_088_895, 3_088_895]);
  assert.ok(end.dropped > 2_000_000 && end.output.endsWith("399999\r\n400000\r\n"));
});

test("in a terminal: starting and aborting leaves no descriptor or process behind", async () => {
  await bash("true");
  const before = readdirSync("/proc/self/fd").length;
  const groups: number[] = [];
  const onStart = async ({ pgid }: { pgid: number }) => {
    groups.push(pgid);
  };
  for (let i = 0; i < 10; i++) {
    const cancel = new AbortController();
    const running = bash("sleep 60 & sleep 60", { onStart }, cancel.signal);
    if (i % 2 === 0) await new Promise((resolve) => setImmediate(resolve));
    cancel.abort();
    assert.equal((await running).ended, "cancelled");
  }
  assert.equal(readdirSync("/proc/self/fd").length, before);
  for (const group of groups) assert.deepEqual(table.members(group), []);
});

test("no program gets hold of a terminal that is not its own, nor of what this process inherited open", async (t) => {
  const secret = join(scratch(t), "secret");
  writeFileSync(secret, "the secret");
  const source = `
    import { createHostProcesses } from "../../src/processes/processes.ts";
    const signal = new AbortController().signal;
    const list = { file: "/bin/bash", args: ["-c", "cat <&40; ls -l /proc/self/fd"], cwd: "/", env: { PATH: "/usr/bin:/bin" } };
    const pty = { columns: 80, rows: 24 };
    const outputs = [];
    const onOutput = async () => {
      for (const spec of [list, { ...list, pty }]) outputs.push((await createHostProcesses().run(spec, signal)).output);
      cancel.abort();
    };
    const cancel = new AbortController();
    const holding = { ...list, args: ["-c", "echo ready; sleep 60"], pty };
    const { promise: ready, resolve } = Promise.withResolvers();
    const running = createHostProcesses().run({ ...holding, onOutput: resolve }, cancel.signal);
    await ready;
    await onOutput();
    await running;
    console.log(JSON.stringify(outputs));`;
  const outputs: readonly string[] = JSON.parse(await runNode(source, `exec 40<${secret}`));
  assert.equal(outputs.length, 2);
  for (const output of outputs) {
    assert.match(output, /2 -> /);
    assert.ok(!output.includes("secret") && !output.includes("ptmx"), output);
  }
  assert.ok(!outputs[0]?.includes("/pts/"), outputs[0]);
});

test("without the optional package a terminal is refused with what to do, and everything else works", async () => {
  const source = `
    import { registerHooks } from "node:module";
    registerHooks({ resolve(specifier, context, next) {
      if (specifier.startsWith("@lydell/")) throw Object.assign(new Error("not there"), { code: "ERR_MODULE_NOT_FOUND" });
      return next(specifier, context);
    } });
    const { createHostProcesses } = await import("../../src/processes/processes.ts");
    const spec = { file: "/bin/echo", args: ["hello"], cwd: "/", env: {} };
    const signal = new AbortController().signal;
    console.log((await createHostProcesses().run(spec, signal)).output.trim());
    await createHostProcesses().run({ ...spec, pty: { columns: 80, rows: 24 } }, signal).catch(({ code, message }) => console.log(code, message));`;
  const [plain, refused] = (await runNode(source)).split("\n");
  assert.equal(plain, "hello");
  assert.match(refused ?? "", /^ERR_NO_TERMINAL .*npm install @lydell\/node-pty$/);
});
