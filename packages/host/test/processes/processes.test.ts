import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import type { LeftOver, ProcessEnd, ProcessSpec, TaskProcess } from "@assent/core";
import { createHostProcesses } from "../../src/processes/processes.ts";
import { readProcessTable } from "../../src/processes/table.ts";
import { scratch } from "../scratch.ts";
import { runNode } from "./run-node.ts";

const processes = createHostProcesses({ graceMs: 150, lingerMs: 150 });
const table = readProcessTable();

function bash(text: string, options: Partial<ProcessSpec> = {}, signal = new AbortController().signal): Promise<ProcessEnd> {
  const args = ["--noprofile", "--norc", "-c", "--", text];
  return processes.run({ file: "/bin/bash", args, cwd: "/", env: { PATH: "/usr/bin:/bin" }, ...options }, signal);
}

const ENDS: readonly (readonly [name: string, text: string, end: Partial<ProcessEnd>])[] = [
  [
    "output and error come in the order they were written",
    "echo a; echo b >&2; echo c; echo d >&2",
    { output: "a\nb\nc\nd\n", lines: 4, chars: 8 },
  ],
  ["a non-zero exit code is reported", "exit 3", { exitCode: 3, signal: null, ended: "exit" }],
  ["death by a signal is reported by its name", "kill -9 $$", { exitCode: null, signal: "SIGKILL", ended: "exit" }],
  ["standard input is empty", "cat; echo end", { output: "end\n" }],
  ["standard error can be opened again by name", "echo x > /dev/stderr; echo y > /dev/stdout", { output: "x\ny\n" }],
  ["there is no terminal", "tty; (: < /dev/tty) 2>/dev/null || echo none", { output: "not a tty\nnone\n" }],
  [
    "the environment is exactly what was given, and a mark",
    "/usr/bin/env | grep -v '^\\(_\\|SHLVL\\|PWD\\)=' | sed 's/=[0-9a-f]\\{32\\}$/=mark/' | sort -r",
    { output: "PATH=/usr/bin:/bin\nASSENT_MARK=mark\n" },
  ],
  ["bytes that are no UTF-8 are replaced", "printf 'a\\xffb'", { output: "a\ufffdb", chars: 3 }],
  ["a character cut at the end is replaced", "printf '\\xe6\\xbc'", { output: "\ufffd", chars: 1 }],
];
for (const [name, text, end] of ENDS) {
  test(name, async () => {
    const found = await bash(text);
    assert.deepEqual({ ...found, ...end }, found);
    assert.deepEqual(found.survivors, []);
  });
}

test("without a place for a pipe, output still comes whole", async () => {
  const spec = { file: "/bin/bash", args: ["-c", "echo a; echo b >&2"], cwd: "/", env: {} };
  const end = await createHostProcesses({ temporaryDirectory: "/proc/nonexistent" }).run(spec, new AbortController().signal);
  assert.deepEqual([...end.output.split("\n")].sort(), ["", "a", "b"]);
});

test("a character split over two writes is put together", async () => {
  const chunks: string[] = [];
  const end = await bash("printf '\\xf0\\x9f'; sleep 0.05; printf '\\x99\\x82.'", { onOutput: (chunk) => chunks.push(chunk) });
  assert.equal(end.output, "🙂.");
  assert.equal(chunks.join(""), "🙂.");
});

test("every program has its own process group, and its start is reported before any output", async () => {
  const seen: unknown[] = [];
  const end = await bash("ps -o pgid= -p $$ | tr -d ' '", {
    onStart: async (started) => {
      await new Promise((resolve) => setImmediate(resolve));
      seen.push(started.pid === started.pgid, started.processStart.length > 0, started.pgid);
    },
    onOutput: (chunk) => seen.push(Number(chunk)),
  });
  assert.deepEqual(seen, [true, true, Number(end.output), Number(end.output)]);
});

test("a start that cannot be recorded ends the program, and nothing of it is used", async (t) => {
  const file = join(scratch(t), "late");
  const used: string[] = [];
  let group = 0;
  const onStart = async ({ pgid }: { pgid: number }) => {
    group = pgid;
    throw new Error("not recorded");
  };
  const run = bash(`echo early; sleep 0.3; touch ${file}`, { onStart, onOutput: (chunk) => used.push(chunk) });
  await assert.rejects(run, /not recorded/);
  assert.deepEqual([table.members(group), used, existsSync(file)], [[], [], false]);
});

const NOT_STARTED: readonly (readonly [name: string, spec: Partial<ProcessSpec>, message: RegExp])[] = [
  ["a program that does not exist", { file: "/nonexistent/program" }, /\/nonexistent\/program could not be started/],
  ["a program that may not be executed", { file: "/etc/passwd" }, /\/etc\/passwd could not be started/],
  ["a working directory that does not exist", { cwd: "/proc/nonexistent" }, /working directory \/proc\/nonexistent does not exist/],
  ["an argument with a NUL", { args: ["a\0b"] }, /null bytes/],
];
for (const [name, spec, message] of NOT_STARTED) {
  test(`${name} is a rejection`, async () => {
    const before = readdirSync("/proc/self/fd").length;
    await assert.rejects(bash("true", spec), message);
    assert.equal(readdirSync("/proc/self/fd").length, before);
  });
}

test("an aborted signal starts nothing", async (t) => {
  const file = join(scratch(t), "made");
  const end = await bash(`touch ${file}`, {}, AbortSignal.abort());
  assert.deepEqual([end.ended, end.exitCode, existsSync(file)], ["cancelled", null, false]);
});

/** Ends when the program has said that it is ready. */
function whenReady(): { onOutput: (chunk: string) => void; ready: Promise<void> } {
  const { promise, resolve } = Promise.withResolvers<void>();
  return { ready: promise, onOutput: (chunk) => chunk.includes("ready") && resolve() };
}

const STOPPED: readonly (readonly [name: string, text: string, signal: string])[] = [
  ["a plain program", "echo ready; exec sleep 60", "SIGTERM"],
  ["a shell with children", "sleep 60 & echo ready; sleep 60", "SIGTERM"],
  [
    "one that ignores SIGTERM, forks twice and holds the output",
    "trap '' TERM; (trap '' TERM; (sleep 60 & sleep 60) & sleep 60) & echo ready; sleep 60",
    "SIGKILL",
  ],
];
for (const [name, text, signal] of STOPPED) {
  test(`${name}, cancelled: the whole group is gone`, async () => {
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
    assert.deepEqual([end.ended, end.exitCode, end.signal, end.output, end.survivors], ["cancelled", null, signal, "ready\n", []]);
    assert.deepEqual(table.members(group), []);
  });
}

/** Ways out of the group; each tells the pid of a process that would run on. */
const LEAVING: readonly (readonly [name: string, text: string])[] = [
  ["in a session of its own", "setsid sleep 60 >/dev/null 2>&1 & echo ready $!; sleep 60"],
  ["that its parent left, without our output", "setsid bash -c 'sleep 60 >/dev/null 2>&1 & echo ready $!' & wait; sleep 60"],
  [
    "that is deaf to SIGTERM, of a parent that has gone",
    `setsid bash -c 'bash -c "trap : TERM; echo ready \\$BASHPID; while :; do sleep 1; done" & exit' & wait; sleep 60`,
  ],
  ["with an environment of its own, while its parent lives", "env -i setsid -w sleep 60 & sleep 0.2; echo ready $!; sleep 60"],
  [
    "that begins another when it is told to end",
    `setsid bash -c 'trap "setsid sleep 60 & exit" TERM; echo ready $BASHPID; while :; do sleep 0.1; done' & wait; sleep 60`,
  ],
];
for (const [name, text] of LEAVING) {
  for (const how of ["cancelled", "timeout"] as const) {
    test(`a process ${name}: none is left of a command that ended by ${how}`, async () => {
      const cancel = new AbortController();
      const { ready, onOutput } = whenReady();
      let mark = "";
      const onStart: ProcessSpec["onStart"] = async (started) => {
        mark = started.mark ?? "";
      };
      const running = bash(text, { onOutput, onStart, ...(how === "timeout" && { timeoutMs: 600 }) }, cancel.signal);
      await ready;
      if (how === "cancelled") cancel.abort();
      const { ended, survivors, output } = await running;
      const pid = Number(/ready (\d+)/.exec(output)?.[1]);
      assert.ok(pid > 0 && mark !== "", output);
      assert.deepEqual([ended, survivors, processes.startOf(pid), markedNow(mark)], [how, [], undefined, []]);
    });
  }
}

/** Who began with a mark, and still runs. */
function markedNow(mark: string): readonly number[] {
  return table.all().flatMap(({ pid }) => (table.began(pid, `ASSENT_MARK=${mark}`) ? [pid] : []));
}

test("a time limit ends the group and keeps the output so far", async () => {
  const end = await bash("echo so far; sleep 60 & sleep 60", { timeoutMs: 100 });
  assert.deepEqual([end.ended, end.output, end.survivors], ["timeout", "so far\n", []]);
});

test("a program that cleans up on SIGTERM may do so, and may exit with a status", async () => {
  const cancel = new AbortController();
  const { ready, onOutput } = whenReady();
  const running = bash("trap 'echo cleaned; exit 7' TERM; sleep 60 & echo ready; wait", { onOutput }, cancel.signal);
  await ready;
  cancel.abort();
  const end = await running;
  assert.deepEqual([end.ended, end.exitCode, end.output], ["cancelled", 7, "ready\ncleaned\n"]);
});

test("a leader that ends while its children ignore SIGTERM does not save them", async () => {
  const cancel = new AbortController();
  const { ready, onOutput } = whenReady();
  let group = 0;
  const onStart = async ({ pgid }: { pgid: number }) => {
    group = pgid;
  };
  const running = bash(
    "(trap '' TERM; exec >/dev/null 2>&1; sleep 60; sleep 60) & sleep 0.1; echo ready; wait",
    { onOutput, onStart },
    cancel.signal,
  );
  await ready;
  cancel.abort();
  assert.deepEqual((await running).survivors, []);
  assert.deepEqual(table.members(group), []);
});

test("a child left in the background does not hold the call; it is named and left alone", async () => {
  const end = await bash("sleep 60 & echo $!");
  const left = Number(end.output);
  assert.deepEqual([end.ended, end.exitCode, end.survivors], ["exit", 0, [left]]);
  process.kill(left, "SIGKILL");
});

test("a process that left the group and holds the output does not hold the call", async () => {
  const end = await bash("setsid sleep 60 & echo $!; sleep 0.1");
  assert.deepEqual([end.ended, end.exitCode], ["exit", 0]);
  process.kill(Number(end.output), "SIGKILL");
});

test("a cancel while a background child holds the output ends that child too", async () => {
  const cancel = new AbortController();
  const patient = createHostProcesses({ graceMs: 150, lingerMs: 60_000 });
  const { ready, onOutput } = whenReady();
  const spec = {
    file: "/bin/bash",
    args: ["-c", "(sleep 0.1; echo ready; sleep 60) & exit 4"],
    cwd: "/",
    env: { PATH: "/usr/bin:/bin" },
    onOutput,
  };
  const running = patient.run(spec, cancel.signal);
  await ready;
  cancel.abort();
  const end = await running;
  assert.deepEqual([end.ended, end.exitCode, end.survivors], ["cancelled", 4, []]);
});

test("starting and aborting leaves no listener, descriptor or process behind", async () => {
  await bash("true");
  const before = readdirSync("/proc/self/fd").length;
  const groups: number[] = [];
  const onStart = async ({ pgid }: { pgid: number }) => {
    groups.push(pgid);
  };
  for (let i = 0; i < 20; i++) {
    const cancel = new AbortController();
    const running = bash("sleep 60 & sleep 60", { onStart }, cancel.signal);
    if (i % 2 === 0) await new Promise((resolve) => setImmediate(resolve));
    cancel.abort();
    assert.equal((await running).ended, "cancelled");
  }
  assert.equal(readdirSync("/proc/self/fd").length, before);
  for (const group of groups) assert.deepEqual(table.members(group), []);
});

test("a descriptor this process inherited open is not passed on", async (t) => {
  const secret = join(scratch(t), "secret");
  writeFileSync(secret, "the secret");
  const source = `
    import { createHostProcesses } from "../../src/processes/processes.ts";
    const spec = { file: "/bin/bash", args: ["-c", "cat <&3; cat <&40; ls -l /proc/self/fd"], cwd: "/", env: { PATH: "/usr/bin:/bin" } };
    console.log((await createHostProcesses().run(spec, new AbortController().signal)).output);`;
  const output = await runNode(source, `exec 3<${secret} 40<${secret}`);
  assert.match(output, /2 -> /);
  assert.ok(!output.includes("secret"), output);
});

test("far more output than is held costs bounded memory, and the file takes it as it comes", async (t) => {
  const directory = scratch(t);
  const source = `
    import { setFlagsFromString } from "node:v8";
    import { runInNewContext } from "node:vm";
    import { createHostFiles } from "../../src/files/files.ts";
    import { createHostProcesses } from "../../src/processes/processes.ts";
    setFlagsFromString("--expose-gc");
    const collect = runInNewContext("gc"); // what is held counts, not what waits to be collected
    const held = () => { collect(); const { heapUsed, external } = process.memoryUsage(); return heapUsed + external; };
    const files = createHostFiles({ outputDirectory: ${JSON.stringify(directory)} });
    const spec = { file: "/bin/bash", args: ["-c", "echo first; head -c 150000000 /dev/zero | tr '\\\\0' x; echo; echo last"], cwd: "/", env: { PATH: "/usr/bin:/bin" } };
    const before = held();
    let most = 0;
    let pieces = 0;
    const onOutput = () => { pieces += 1; if (pieces % 100 === 0) most = Math.max(most, held()); };
    const end = await createHostProcesses().run({ ...spec, onOutput, spill: () => files.spill("s_1", "c1") }, new AbortController().signal);
    const { output, ...rest } = end;
    console.log(JSON.stringify({ ...rest, held: output.length, first: output.slice(0, 7), last: output.slice(-6), grown: most - before }));`;
  const end: unknown = JSON.parse(await runNode(source));
  assert.ok(
    end &&
      typeof end === "object" &&
      "grown" in end &&
      "held" in end &&
      "spilled" in end &&
      "dropped" in end &&
      "chars" in end &&
      "lines" in end &&
      "first" in end &&
      "last" in end,
  );
  assert.deepEqual([end.chars, end.lines, end.first, end.last], [150_000_012, 3, "first\nx", "\nlast\n"]);
  assert.ok(typeof end.held === "number" && end.held <= 10_000_100, `held ${end.held}`);
  assert.ok(typeof end.dropped === "number" && end.dropped >= 140_000_000);
  assert.ok(typeof end.grown === "number" && end.grown > 0 && end.grown < 60_000_000, `grown ${end.grown}`);
  const [file] = readdirSync(join(directory, "s_1"));
  const text = readFileSync(join(directory, "s_1", file ?? ""), "utf8");
  assert.ok(text.length <= 50_000_000 && text.endsWith("x\n[file limit reached]"));
});

const endLeftOver = (pgid: number, processStart: string): Promise<LeftOver> => processes.endLeftOver({ pid: pgid, pgid, processStart });

test("the start time of a live process is stable, and a dead one has none", async () => {
  const child = spawn("sleep", ["60"], { stdio: "ignore", detached: true });
  await once(child, "spawn");
  assert.ok(child.pid);
  const start = processes.startOf(child.pid);
  assert.ok(start);
  assert.equal(processes.startOf(child.pid), start);
  assert.notEqual(start, processes.startOf(process.pid));
  const exit = once(child, "exit");
  assert.deepEqual(await endLeftOver(child.pid, start), { found: true, survivors: [] });
  await exit;
  assert.equal(child.signalCode, "SIGTERM");
  assert.equal(processes.startOf(child.pid), undefined);
  assert.deepEqual(await endLeftOver(child.pid, start), { found: false, survivors: [] });
});

test("a group whose leader has another start time is not ours and is left alone", async () => {
  const child = spawn("sleep", ["60"], { stdio: "ignore", detached: true });
  await once(child, "spawn");
  assert.ok(child.pid);
  assert.deepEqual(await endLeftOver(child.pid, "another boot:1"), { found: false, survivors: [] });
  assert.ok(processes.startOf(child.pid));
  child.kill("SIGKILL");
});

/** Leaves a program in the group of a leader that has exited. */
async function leftMember(how = ""): Promise<{ readonly pgid: number; readonly start: string; readonly member: number }> {
  let start = "";
  const onStart: ProcessSpec["onStart"] = async ({ processStart }) => {
    start = processStart;
  };
  const end = await bash(`${how} sleep 60 >/dev/null 2>&1 & echo $$ $!`, { onStart });
  const [pgid = 0, member = 0] = end.output.split(" ").map(Number);
  assert.deepEqual(end.survivors, [member]);
  return { pgid, start, member };
}

test("members whose leader has exited are ended, if they are of its session and started after it", async () => {
  const { pgid, start, member } = await leftMember();
  assert.equal(processes.startOf(pgid), undefined);
  assert.deepEqual(await endLeftOver(pgid, start), { found: true, survivors: [] });
  assert.equal(processes.startOf(member), undefined);
  assert.deepEqual(await endLeftOver(pgid, start), { found: false, survivors: [] });
});

for (const [name, shifted] of [
  ["started before it", (start: string) => start.replace(/\d+$/, (ticks) => String(Number(ticks) + 1_000_000))],
  ["started after another boot", (start: string) => `x${start}`],
  ["started who knows when", () => "unknown"],
] as const) {
  test(`members without their leader that ${name} cannot be told from strangers: they are left alone, and named`, async () => {
    const { pgid, start, member } = await leftMember();
    const left = await endLeftOver(pgid, shifted(start));
    const alive = processes.startOf(member) !== undefined;
    process.kill(member, "SIGKILL");
    assert.deepEqual([left, alive], [{ found: true, survivors: [member] }, true]);
  });
}

test("members without their leader that are of another session are left alone, and named", async () => {
  const end = await bash("set -m; (sleep 60 >/dev/null 2>&1 & echo $BASHPID $!) | cat");
  const [pgid = 0, member = 0] = end.output.split(" ").map(Number);
  const left = await endLeftOver(pgid, processes.startOf(process.pid) ?? "");
  const alive = processes.startOf(member) !== undefined;
  process.kill(member, "SIGKILL");
  assert.deepEqual([left, alive], [{ found: true, survivors: [member] }, true]);
});

test("a leader that is dead and not buried still names its group", async () => {
  const keeper = spawn("/bin/bash", ["-c", "setsid bash -c 'sleep 60 >/dev/null 2>&1 & echo $$ $!' & exec sleep 60"], {
    stdio: ["ignore", "pipe", "ignore"],
    detached: true,
  });
  const [said] = await once(keeper.stdout, "data");
  const [pgid = 0, member = 0] = String(said).split(" ").map(Number);
  while (table.find(pgid)?.zombie === false) await new Promise((resolve) => setImmediate(resolve));
  const start = table.find(pgid)?.start ?? "";
  assert.ok(start !== "", "a parent that waits for nobody");
  assert.deepEqual(await endLeftOver(pgid, "another boot:1"), { found: false, survivors: [] });
  assert.deepEqual(await endLeftOver(pgid, start), { found: true, survivors: [] });
  assert.equal(processes.startOf(member), undefined);
  keeper.kill("SIGKILL");
});

test("the groups of a process and its others are all ended, together", async () => {
  const children = [1, 2, 3].map(() => spawn("sleep", ["60"], { stdio: "ignore", detached: true }));
  await Promise.all(children.map((child) => once(child, "spawn")));
  const [first, ...others] = children.map(({ pid = 0 }) => ({ pid, pgid: pid, processStart: processes.startOf(pid) ?? "" }));
  assert.ok(first);
  const exits = children.map((child) => once(child, "exit"));
  assert.deepEqual(await processes.endLeftOver({ ...first, others }), { found: true, survivors: [] });
  await Promise.all(exits);
});

/** Leaves a program that is in no group of ours any more, of a command that has exited. */
async function leftStray(): Promise<{ readonly process: TaskProcess; readonly stray: number }> {
  let process: TaskProcess | undefined;
  const onStart: ProcessSpec["onStart"] = async (started) => {
    process = started;
  };
  const end = await bash("setsid bash -c 'sleep 60 >/dev/null 2>&1 & echo $!'", { onStart });
  assert.ok(process);
  return { process, stray: Number(end.output) };
}

test("what left the group of a command that exited is left alone, and ended with what is left of it", async () => {
  const { process, stray } = await leftStray();
  assert.ok(processes.startOf(stray));
  assert.deepEqual(await processes.endLeftOver(process), { found: true, survivors: [] });
  assert.equal(processes.startOf(stray), undefined);
  assert.deepEqual(await processes.endLeftOver(process), { found: false, survivors: [] });
});

test("what left the group of one of its others is ended, too", async () => {
  const { process, stray } = await leftStray();
  assert.deepEqual(await processes.endLeftOver({ pid: 1, pgid: 2 ** 22, processStart: "another:1", others: [process] }), {
    found: true,
    survivors: [],
  });
  assert.equal(processes.startOf(stray), undefined);
});

for (const [name, other] of [
  ["another mark", { mark: "0".repeat(32) }],
  ["a part of its mark", (process: TaskProcess) => ({ mark: process.mark?.slice(0, 16) ?? "" })],
  ["no mark", { mark: "" }],
  ["a later start", (process: TaskProcess) => ({ processStart: process.processStart.replace(/\d+$/, (ticks) => `${ticks}000`) })],
  ["an unknown start time", { processStart: "unknown" }],
] as const) {
  test(`a process outside the group is left alone where the record has ${name}`, async () => {
    const { process: recorded, stray } = await leftStray();
    const left = await processes.endLeftOver({ ...recorded, ...(typeof other === "function" ? other(recorded) : other) });
    const alive = processes.startOf(stray) !== undefined;
    process.kill(stray, "SIGKILL");
    assert.deepEqual([left, alive], [{ found: false, survivors: [] }, true]);
  });
}

const SOURCE = JSON.stringify(new URL("../../src/processes/processes.ts", import.meta.url).href);

test("a process never ends its own ancestors: a terminal opened by a command survives a resume inside it", async () => {
  const mark = "f".repeat(32);
  const recorded = { pid: 1, pgid: 2 ** 22, processStart: processes.startOf(process.pid), mark };
  const source = `
    import { createHostProcesses } from ${SOURCE};
    const left = await createHostProcesses({ graceMs: 100 }).endLeftOver(${JSON.stringify(recorded)});
    process.stdout.write(JSON.stringify(left));`;
  assert.deepEqual(JSON.parse(await runNode(source, `export ASSENT_MARK=${mark}`)), { found: false, survivors: [] });
});

test("a process that ends at once takes with it what runs, what left its group, and what it was told to take of a program that has exited", async () => {
  const source = `
    import { createHostProcesses } from ${SOURCE};
    import { killRunningGroups } from ${JSON.stringify(new URL("../../src/processes/group.ts", import.meta.url).href)};
    const processes = createHostProcesses();
    const never = new AbortController().signal;
    const bash = (text, more) => processes.run({ file: "/bin/bash", args: ["-c", text], cwd: "/", env: { PATH: "/usr/bin:/bin" }, ...more }, never);
    const run = async (text) => {
      let started;
      const { output } = await bash(text, { onStart: async (process) => { started = process; } });
      return [started, output.trim()];
    };
    const LEAVES = "sleep 60 >/dev/null 2>&1 & echo $!; setsid bash -c 'sleep 60 >/dev/null 2>&1 & echo $!'";
    const [kept, keptPids] = await run(LEAVES);
    const [, strangers] = await run(LEAVES);
    const [given, givenPids] = await run(LEAVES);
    processes.endWithUs(kept);
    processes.endWithUs(given)();
    const { promise, resolve } = Promise.withResolvers();
    let said = "";
    bash(LEAVES + "; sleep 60", { onOutput: (chunk) => { said += chunk; if (said.trim().split("\\n").length === 2) resolve(); } });
    await promise;
    killRunningGroups();
    process.stdout.write(JSON.stringify([keptPids, said, strangers, givenPids]), () => process.exit());`;
  const said: readonly string[] = JSON.parse(await runNode(source));
  const [kept = [], running = [], ...left] = said.map((pids) => pids.trim().split("\n").map(Number));
  assert.deepEqual([kept.length, running.length, left.flat().length], [2, 2, 4]);
  const taken = [...kept, ...running];
  const deadline = Date.now() + 10_000;
  while (taken.some((pid) => processes.startOf(pid)) && Date.now() < deadline) await new Promise((resolve) => setImmediate(resolve));
  const stayed = taken.filter((pid) => processes.startOf(pid));
  const alive = left.flat().filter((pid) => processes.startOf(pid));
  for (const pid of [...alive, ...stayed]) process.kill(pid, "SIGKILL");
  assert.deepEqual([stayed, alive.length], [[], 4], "what exited by itself and was not to be taken stays");
});
