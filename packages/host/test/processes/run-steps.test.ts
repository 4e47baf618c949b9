import assert from "node:assert/strict";
import { appendFileSync, copyFileSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import type { PlanEntry, PlanProgram, PlanStep, ProcessEnd, StepRedirection, StepsEnd, StepsSpec, TaskProcess } from "@assent/core";
import { createHostFiles } from "../../src/files/files.ts";
import { createHostProcesses } from "../../src/processes/processes.ts";
import { readProcessTable } from "../../src/processes/table.ts";
import { scratch } from "../scratch.ts";
import { runNode } from "./run-node.ts";

const processes = createHostProcesses({ graceMs: 150, lingerMs: 150 });
const table = readProcessTable();
const env = { PATH: "/usr/bin:/bin", LC_ALL: "C" };
const never = (): AbortSignal => new AbortController().signal;

const REDIRECTIONS: readonly string[] = ["2>&1", "1>&2", ">/dev/null", "2>/dev/null", "</dev/null"] satisfies StepRedirection[];

/** One command as words; the redirections stand among them. */
type Words = readonly string[];
/** `["&&", command, command]`: how the step is joined, and the stages of its pipeline. */
type Row = readonly [join: ";" | "&&" | "||", ...stages: Words[]];

function program(words: Words, more: Partial<PlanProgram> = {}): PlanProgram | PlanEntry {
  const [name = "", ...args] = words.filter((word) => !REDIRECTIONS.includes(word));
  const redirections = words.filter((word): word is StepRedirection => REDIRECTIONS.includes(word));
  if (name === "cd") return { enter: args[0] ?? "", redirections };
  return { file: name.includes("/") ? name : `/usr/bin/${name}`, args, argv0: name, cwd: "/", redirections, ...more };
}

const WHEN = { ";": "always", "&&": "success", "||": "failure" } as const;

function steps(rows: readonly Row[], more: Partial<PlanProgram> = {}): readonly PlanStep[] {
  return rows.map(([join, ...stages]) => ({ when: WHEN[join], pipeline: stages.map((words) => program(words, more)) }));
}

function text(rows: readonly Row[]): string {
  const quoted = (word: string): string => (REDIRECTIONS.includes(word) ? word : `'${word.replaceAll("'", "'\\''")}'`);
  const lines = rows.map(
    ([join, ...stages], i) => `${i > 0 ? join : ""} ${stages.map((words) => words.map(quoted).join(" ")).join(" | ")}`,
  );
  return lines.join(" ");
}

function run(list: readonly PlanStep[], more: Partial<StepsSpec> = {}, signal = never()): Promise<StepsEnd> {
  return processes.runSteps({ steps: list, env, ...more }, signal);
}

function bash(command: string): Promise<ProcessEnd> {
  return processes.run({ file: "/bin/bash", args: ["--noprofile", "--norc", "-c", "--", command], cwd: "/", env }, never());
}

const BOTH = ["sh", "-c", "echo out; echo err >&2"];
const EXIT_3 = ["sh", "-c", "exit 3"];

const SAME_AS_BASH: readonly (readonly [name: string, rows: readonly Row[]])[] = [
  ["one program", [[";", ["echo", "a b", "*", "$HOME", "`id`"]]]],
  ["an empty word and quotes", [[";", ["printf", "[%s]", "", "it's", '"', "\\n", "a\nb"]]]],
  ["a program that fails", [[";", ["false"]]]],
  ["any exit code", [[";", EXIT_3]]],
  [
    "one after the other, whatever the status",
    [
      [";", ["false"]],
      [";", ["echo", "a"]],
      [";", EXIT_3],
      [";", ["echo", "b"]],
    ],
  ],
  [
    "the last status counts",
    [
      [";", ["echo", "a"]],
      [";", ["false"]],
    ],
  ],
  [
    "and: the second runs on success",
    [
      [";", ["true"]],
      ["&&", ["echo", "a"]],
    ],
  ],
  [
    "and: the second does not run on failure",
    [
      [";", EXIT_3],
      ["&&", ["echo", "a"]],
    ],
  ],
  [
    "or: the second runs on failure",
    [
      [";", ["false"]],
      ["||", ["echo", "a"]],
    ],
  ],
  [
    "or: the second does not run on success",
    [
      [";", ["true"]],
      ["||", ["echo", "a"]],
    ],
  ],
  [
    "true || false && echo",
    [
      [";", ["true"]],
      ["||", ["false"]],
      ["&&", ["echo", "x"]],
    ],
  ],
  [
    "false && echo || echo",
    [
      [";", ["false"]],
      ["&&", ["echo", "no"]],
      ["||", ["echo", "yes"]],
    ],
  ],
  [
    "false || exit 3 && echo",
    [
      [";", ["false"]],
      ["||", EXIT_3],
      ["&&", ["echo", "x"]],
    ],
  ],
  [
    "true && false || false",
    [
      [";", ["true"]],
      ["&&", ["false"]],
      ["||", EXIT_3],
    ],
  ],
  [
    "a failed and-list, then a new list",
    [
      [";", ["false"]],
      ["&&", ["echo", "a"]],
      [";", ["echo", "b"]],
      ["&&", ["echo", "c"]],
      ["||", ["echo", "d"]],
    ],
  ],
  ["a pipe", [[";", ["echo", "b\na\nc"], ["sort"]]]],
  ["three stages", [[";", ["seq", "100"], ["grep", "7"], ["wc", "-l"]]]],
  [
    "a pipeline's status is its last program's: failure before",
    [
      [";", ["false"], ["true"]],
      ["&&", ["echo", "a"]],
    ],
  ],
  [
    "a pipeline's status is its last program's: failure at the end",
    [
      [";", ["true"], EXIT_3],
      ["&&", ["echo", "a"]],
    ],
  ],
  [
    "a pipeline within and-or",
    [
      [";", ["seq", "3"], ["grep", "9"]],
      ["||", ["echo", "none"], ["cat"]],
    ],
  ],
  ["a program that reads nothing of its pipe", [[";", ["seq", "100000"], ["true"]]]],
  ["a program that stops reading ends the one that writes", [[";", ["yes"], ["head", "-n", "2"]]]],
  ["several that end by a closed pipe", [[";", ["yes"], ["cat"], ["cat"], ["head", "-n", "1"]]]],
  ["a reader that waits for a slow writer", [[";", ["sh", "-c", "sleep 0.1; echo late"], ["cat"]]]],
  ["standard error of a stage is not piped on", [[";", BOTH, ["sh", "-c", "sed s/^/piped:/ >&2"]]]],
  ["2>&1 |", [[";", [...BOTH, "2>&1"], ["sed", "s/^/piped:/"]]]],
  [">/dev/null", [[";", [...BOTH, ">/dev/null"]]]],
  ["2>/dev/null", [[";", [...BOTH, "2>/dev/null"]]]],
  [">/dev/null 2>&1", [[";", [...BOTH, ">/dev/null", "2>&1"]]]],
  ["2>&1 >/dev/null", [[";", [...BOTH, "2>&1", ">/dev/null"]]]],
  ["2>/dev/null 1>&2", [[";", [...BOTH, "2>/dev/null", "1>&2"]]]],
  ["1>&2 2>/dev/null", [[";", [...BOTH, "1>&2", "2>/dev/null"]]]],
  ["2>&1 >/dev/null |", [[";", [...BOTH, "2>&1", ">/dev/null"], ["sed", "s/^/piped:/"]]]],
  [">/dev/null 2>&1 |", [[";", [...BOTH, ">/dev/null", "2>&1"], ["sed", "s/^/piped:/"]]]],
  ["1>&2 |", [[";", [...BOTH, "1>&2"], ["sed", "s/^/piped:/"]]]],
  [
    "</dev/null at the end of a pipe",
    [
      [";", ["echo", "lost"], ["cat", "</dev/null"]],
      [";", ["echo", "end"]],
    ],
  ],
  ["no standard input at the start of a pipe", [[";", ["cat"], ["wc", "-c"]]]],
  [
    "output and error in the order they were written",
    [
      [";", BOTH],
      [";", ["echo", "c"]],
      [";", ["ls", "/proc/nonexistent"]],
      [";", ["echo", "d"]],
    ],
  ],
  [
    "a program is called by the name that was written",
    [
      [";", ["ls", "/proc/nonexistent"]],
      [";", ["cat", "/proc/nonexistent"]],
    ],
  ],
  [
    "cd to a directory",
    [
      [";", ["cd", "/usr"]],
      ["&&", ["echo", "there"]],
    ],
  ],
  [
    "cd in a pipeline",
    [
      [";", ["cd", "/usr"], ["wc", "-c"]],
      [";", ["echo", "x"], ["cd", "/usr"]],
    ],
  ],
  [
    "cd to nowhere, unheard",
    [
      [";", ["cd", "/proc/nonexistent", "2>/dev/null"]],
      ["||", ["echo", "no"]],
      [";", ["cd", "/etc/passwd", "2>/dev/null"]],
    ],
  ],
];
for (const [name, rows] of SAME_AS_BASH) {
  test(`6.1, as bash has it: ${name}`, async () => {
    const [expected, end] = [await bash(text(rows)), await run(steps(rows))];
    assert.deepEqual(
      [end.output, end.exitCode, end.signal, end.ended],
      [expected.output, expected.exitCode, expected.signal, expected.ended],
      text(rows),
    );
    assert.deepEqual(end.survivors, []);
    const gated = await run(steps(rows, { gated: true }), { onStart: async () => undefined });
    const shown = gated.output.replaceAll("/usr/bin/", "");
    assert.deepEqual([shown, gated.exitCode, gated.signal], [end.output, end.exitCode, end.signal], "the same behind a gate");
  });
}

test("the last program's death by a signal is reported", async () => {
  const end = await run(steps([[";", ["sh", "-c", "kill -9 $$"]]]));
  assert.deepEqual([end.exitCode, end.signal, end.ended], [null, "SIGKILL", "exit"]);
  const list = steps([
    [";", ["sh", "-c", "kill -9 $$"]],
    ["&&", ["echo", "no"]],
    ["||", ["echo", "yes"]],
  ]);
  assert.equal((await run(list)).output, "yes\n");
});

test("a cd that fails says so where errors go, and a program whose directory is not there does not run elsewhere", async (t) => {
  const missing = join(scratch(t), "missing");
  const cd = await run([{ when: "always", pipeline: [program(["cd", missing])] }]);
  assert.deepEqual([cd.exitCode, cd.output], [1, `cd: ${missing}: not a directory that can be entered\n`]);
  const piped = await run(steps([[";", ["cd", missing, "2>&1"], ["sed", "s/^/piped:/"]]]));
  assert.equal(piped.output, `piped:cd: ${missing}: not a directory that can be entered\n`);
  const lost = await run([{ when: "always", pipeline: [program(["pwd"], { cwd: missing })] }, ...steps([["||", ["echo", "went on"]]])]);
  assert.equal(lost.output, `the working directory ${missing} does not exist\nwent on\n`);
});

const NOT_STARTED: readonly (readonly [name: string, file: string, code: number])[] = [
  ["a file that is not there", "/nonexistent/program", 127],
  ["a file that may not be executed", "/etc/passwd", 126],
];
for (const [name, file, code] of NOT_STARTED) {
  for (const gated of [false, true]) {
    test(`${name}${gated ? ", behind a gate" : ""}: the status is ${code}, and the output says so`, async () => {
      const end = await run(
        steps(
          [
            [";", [file]],
            ["||", ["echo", "b"]],
          ],
          { gated },
        ),
        { onStart: async () => undefined },
      );
      assert.equal(end.output, `${file} could not be started\nb\n`);
      assert.equal((await run(steps([[";", ["echo", "a"], [file]]], { gated }))).exitCode, code);
    });
  }
}

test("words no system takes are no start", async () => {
  const end = await run([{ when: "always", pipeline: [program(["echo", "a\0b"])] }]);
  assert.deepEqual([end.exitCode, end.output], [126, "/usr/bin/echo could not be started\n"]);
});

test("an empty list succeeds", async () => assert.deepEqual([(await run([])).exitCode, (await run([])).output], [0, ""]));

test("programs get no descriptor that leads anywhere but 0 to 2, and the environment they were given with a mark, gated or not", async () => {
  for (const gated of [false, true]) {
    const list = steps(
      [
        [";", ["env"]],
        [";", ["ls", "-l", "/proc/self/fd"], ["cat"]],
      ],
      { gated },
    );
    const end = await run(list, { onStart: async () => undefined });
    const [environment, links = ""] = end.output.split("total 0\n");
    const lines = environment
      ?.replace(/=[0-9a-f]{32}$/m, "=mark")
      .trimEnd()
      .split("\n")
      .sort();
    assert.deepEqual(lines, ["ASSENT_MARK=mark", "LC_ALL=C", "PATH=/usr/bin:/bin"]);
    const targets = [...links.matchAll(/ (\d+) -> (\S+)/g)].filter(([, fd, to]) => Number(fd) > 2 && to !== "/dev/null");
    assert.ok(links.includes(" 2 -> "));
    assert.deepEqual(
      targets.map(([, , to = ""]) => to.replace(/\d+/, "N")),
      ["/proc/N/fd"],
      "the directory that ls itself opened",
    );
  }
});

test("50 MB through two pipes come whole", async (t) => {
  const files = createHostFiles({ outputDirectory: scratch(t) });
  const list = steps([[";", ["head", "-c", "50000000", "/dev/zero"], ["tr", "\\0", "x"], ["wc", "-c"]]]);
  assert.equal((await run(list)).output, "50000000\n");
  const shown = steps([
    [";", ["head", "-c", "15000000", "/dev/zero"], ["tr", "\\0", "x"]],
    [";", ["echo", "last"]],
  ]);
  const end = await run(shown, { spill: () => files.spill("s_1", "c1") });
  assert.deepEqual([end.chars, end.lines, end.spilled?.size], [15_000_005, 1, 15_000_005]);
  assert.ok(end.dropped > 4_000_000 && end.output.endsWith("xxxlast\n"));
});

test("every program has its own group; each step reports its first start before output is used", async () => {
  const seen: (string | number)[] = [];
  const group = ["sh", "-c", "ps -o pgid= -p $$ | tr -d ' '"];
  const list = steps([
    [";", group],
    [";", group, ["cat"]],
    ["||", group],
  ]);
  const onStart = async ({ pid, pgid, processStart }: { pid: number; pgid: number; processStart: string }) => {
    await new Promise((resolve) => setImmediate(resolve));
    assert.ok(pid === pgid && processStart.length > 0);
    seen.push(pgid);
  };
  const end = await run(list, { onStart, onOutput: (chunk) => seen.push(...chunk.trim().split("\n").map(String)) });
  const [first, second] = end.output.trim().split("\n").map(Number);
  assert.equal(seen[0], first);
  assert.deepEqual(
    seen.filter((one) => typeof one === "number"),
    [first, second],
  );
});

test("the start of a step reports all programs of its pipeline with their groups and start times", async () => {
  const told: TaskProcess[] = [];
  const list = steps([
    [";", ["cat"], ["head", "-c1"], ["cat"]],
    [";", ["true"]],
  ]);
  const gated = list.map((step, i) =>
    i > 0 ? step : { ...step, pipeline: step.pipeline.map((stage, n) => ({ ...stage, gated: n === 1 })) },
  );
  const onStart = async (process: TaskProcess) => {
    told.push(process);
    const all = [process, ...(process.others ?? [])];
    for (const { pid, pgid, processStart } of all) assert.deepEqual([pgid, table.find(pid)?.start ?? processStart], [pid, processStart]);
    for (const { processStart } of all) assert.notEqual(processStart, "unknown");
  };
  await run(gated, { onStart });
  assert.deepEqual([told.length, told[0]?.others?.length, told[1]?.others], [2, 2, undefined]);
  assert.equal(new Set([told[0], ...(told[0]?.others ?? [])].map((one) => one?.pid)).size, 3);
});

test("a gated program begins once its start is recorded, and the first gated one is reported", async (t) => {
  const directory = scratch(t);
  const mark = join(directory, "mark");
  const touch = program(["touch", mark], { gated: true });
  const group = join(directory, "group");
  const told = program(["sh", "-c", `ps -o pgid= -p $$ >${group}`], { gated: true });
  const order: (boolean | number)[] = [];
  const onStart = async ({ pgid }: { pgid: number }) => {
    await new Promise((resolve) => setTimeout(resolve, 50)); // time enough for a program that does not wait
    order.push(existsSync(mark), pgid);
  };
  await run([{ when: "always", pipeline: [program(["echo", "x"]), told, touch] }], { onStart });
  assert.deepEqual([...order, existsSync(mark)], [false, Number(readFileSync(group, "utf8")), true]);
});

test("a start that cannot be recorded ends everything; nothing gated begins and no output is used", async (t) => {
  const mark = join(scratch(t), "mark");
  const used: string[] = [];
  const groups: number[] = [];
  const onStart = async ({ pgid }: { pgid: number }) => {
    groups.push(pgid);
    throw new Error("not recorded");
  };
  const list = steps([
    [";", ["echo", "early"], ["sleep", "60"]],
    [";", ["touch", mark]],
  ]);
  await assert.rejects(run(list, { onStart, onOutput: (chunk) => used.push(chunk) }), /not recorded/);
  await assert.rejects(run(steps([[";", ["touch", mark], ["cat"]]], { gated: true }), { onStart }), /not recorded/);
  assert.deepEqual([used, existsSync(mark), groups.flatMap(table.members), groups.length], [[], false, [], 2]);
});

/** The processes whose command line holds this word. */
function running(mark: string): readonly string[] {
  return readdirSync("/proc")
    .filter((pid) => /^\d+$/.test(pid) && pid !== String(process.pid))
    .filter((pid) => commandLine(pid).includes(mark));
}

/** Empty for a process that has ended meanwhile. */
function commandLine(pid: string): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, "utf8");
  } catch {
    return "";
  }
}

const NASTY = "trap '' TERM; (trap '' TERM; (sleep 60 & sleep 60) & sleep 60) & echo ready; sleep 60";
const STOPS: readonly (readonly [name: string, rows: (mark: string) => readonly Row[]])[] = [
  [
    "in the middle of a pipeline",
    (mark) => [[";", ["sh", "-c", "echo ready; sleep 60", mark], ["tee", "-a", "/dev/null"], ["sh", "-c", "cat; sleep 60", mark]]],
  ],
  [
    "in a later step",
    (mark) => [
      [";", ["true"]],
      ["&&", ["sh", "-c", "echo ready; sleep 60", mark], ["cat"]],
    ],
  ],
  [
    "programs that ignore SIGTERM, fork twice and hold the pipes",
    (mark) => [[";", ["sh", "-c", NASTY, mark], ["sh", "-c", "trap '' TERM; cat; sleep 60", mark]]],
  ],
];
for (const [name, rows] of STOPS) {
  for (const how of ["cancelled", "timeout"] as const) {
    test(`${how} ${name}: no process is left, and no later step starts`, async (t) => {
      const mark = join(scratch(t), "late");
      const cancel = new AbortController();
      const list = steps([...rows(mark), [";", ["touch", mark]], ["||", ["touch", mark]]]);
      const onOutput = (chunk: string): void => {
        if (how === "cancelled" && chunk.includes("ready")) cancel.abort();
      };
      const end = await run(list, { onOutput, ...(how === "timeout" && { timeoutMs: 300 }) }, cancel.signal);
      assert.deepEqual([end.ended, end.survivors, existsSync(mark)], [how, [], false]);
      if (how === "cancelled") assert.equal(end.output, "ready\n");
      assert.deepEqual(running(mark), []);
    });
  }
}

test("an aborted signal starts nothing", async (t) => {
  const mark = join(scratch(t), "mark");
  const end = await run(steps([[";", ["touch", mark]]]), {}, AbortSignal.abort());
  assert.deepEqual([end.ended, end.exitCode, existsSync(mark)], ["cancelled", null, false]);
});

test("one time limit counts for all steps together", async () => {
  const naps = Array.from({ length: 20 }, (): Row => [";", ["sleep", "0.1"]]);
  const end = await run(steps([...naps, [";", ["echo", "late"]]]), { timeoutMs: 300 });
  assert.deepEqual([end.ended, end.output], ["timeout", ""]);
});

test("what a program leaves behind in its group is named and left alone, also by a step before the last", async () => {
  const left = await run(
    steps([
      [";", ["sh", "-c", "sleep 60 >/dev/null 2>&1 & echo $!"]],
      [";", ["echo", "b"]],
    ]),
  );
  const pid = Number(left.output.split("\n")[0]);
  assert.deepEqual([left.ended, left.exitCode, left.survivors], ["exit", 0, [pid]]);
  process.kill(pid, "SIGKILL");
});

test("a process that holds the output does not hold the call", async () => {
  const end = await run(
    steps([
      [";", ["sh", "-c", "setsid sleep 60 & echo $!; sleep 0.1"]],
      [";", ["echo", "b"]],
    ]),
  );
  assert.deepEqual([end.ended, end.output.endsWith("b\n")], ["exit", true]);
  process.kill(Number(end.output.split("\n")[0]), "SIGKILL");
});

test("no descriptor stays open, however the run ends", async () => {
  await run(steps([[";", ["true"], ["true"]]]));
  const before = readdirSync("/proc/self/fd").length;
  for (let i = 0; i < 10; i++) {
    const cancel = new AbortController();
    const running = run(
      steps(
        [
          [";", ["sleep", "60"], ["cat"]],
          [";", ["sleep", "60"]],
        ],
        { gated: i % 2 === 0 },
      ),
      { onStart: async () => undefined },
      cancel.signal,
    );
    if (i % 3 === 0) await new Promise((resolve) => setTimeout(resolve, i));
    cancel.abort();
    assert.equal((await running).ended, "cancelled");
    await run(steps([[";", ["seq", "9"], ["/proc/nonexistent"], ["cat"]]]));
  }
  assert.equal(readdirSync("/proc/self/fd").length, before);
});

test("without a place for pipes nothing starts", async (t) => {
  const mark = join(scratch(t), "mark");
  const placeless = createHostProcesses({ temporaryDirectory: "/proc/nonexistent" });
  await assert.rejects(placeless.runSteps({ steps: steps([[";", ["touch", mark]]]), env }, never()), /mkfifo/);
  assert.equal(existsSync(mark), false);
});

test("where a later pipeline gets no pipes it fails, and says so; what ran has run", async (t) => {
  const directory = join(scratch(t), "pipes");
  mkdirSync(directory);
  const list = steps([
    [";", ["rm", "-r", directory]],
    [";", ["echo", "a"]],
    [";", ["echo", "b"], ["cat"]],
    ["||", ["echo", "c"]],
  ]);
  const end = await createHostProcesses({ temporaryDirectory: directory }).runSteps({ steps: list, env }, never());
  assert.deepEqual([end.output, end.exitCode], ["a\na pipe could not be created\nc\n", 0]);
});

test("a program that is another file than the one that was meant is refused before anything runs", async (t) => {
  const mark = join(scratch(t), "mark");
  const list: readonly PlanStep[] = [
    ...steps([[";", ["touch", mark]]]),
    { when: "failure", pipeline: [program(["echo"], { unchanged: () => false })] },
  ];
  const end = await run(list);
  assert.deepEqual(
    [end.refused?.reason, end.refused?.file, end.exitCode, end.ended, existsSync(mark)],
    ["changed", "/usr/bin/echo", null, "exit", false],
  );
});

for (const gated of [false, true]) {
  test(`one replaced by an earlier step is refused when its turn comes${gated ? ", behind its gate too" : ""}`, async (t) => {
    const directory = scratch(t);
    const [file, mark, other] = [join(directory, "tool"), join(directory, "mark"), join(directory, "other")];
    copyFileSync("/usr/bin/touch", file);
    const size = readFileSync(file).length;
    const tool: PlanProgram = {
      file,
      args: [mark],
      cwd: "/",
      redirections: [],
      gated,
      unchanged: () => readFileSync(file).length === size,
    };
    const grow = program(["sh", "-c", `echo changed; echo x >>${file}`]);
    const beside = program(["touch", other], { gated: true });
    const end = await run([
      { when: "always", pipeline: [grow] },
      { when: "always", pipeline: [beside, tool] },
      { when: "always", pipeline: [program(["touch", mark])] },
    ]);
    assert.deepEqual([end.refused?.file, end.output, existsSync(mark), existsSync(other)], [file, "changed\n", false, false]);
  });
}

test("one replaced while its start is recorded is refused, and nothing beside it begins", async (t) => {
  const directory = scratch(t);
  const [file, mark] = [join(directory, "tool"), join(directory, "mark")];
  copyFileSync("/usr/bin/touch", file);
  const size = readFileSync(file).length;
  const tool: PlanProgram = {
    file,
    args: [mark],
    cwd: "/",
    redirections: [],
    gated: true,
    unchanged: () => readFileSync(file).length === size,
  };
  const onStart = async (): Promise<void> => appendFileSync(file, "x");
  const end = await run([{ when: "always", pipeline: [program(["touch", mark], { gated: true }), tool] }], { onStart });
  assert.deepEqual([end.refused?.reason, end.exitCode, end.survivors, existsSync(mark)], ["changed", null, [], false]);
});

test("arguments are made right before the program starts; where they cannot be made, neither it nor anything after it runs", async (t) => {
  const directory = scratch(t);
  mkdirSync(join(directory, "d"));
  const list = (prepare: PlanProgram["prepare"]): readonly PlanStep[] => [
    ...steps([[";", ["sh", "-c", `echo now >${directory}/word`]]]),
    { when: "always", pipeline: [program(["echo", "old"], { ...(prepare && { prepare }) }), program(["cat"])] },
    ...steps([[";", ["touch", `${directory}/mark`]]]),
  ];
  writeFileSync(join(directory, "word"), "before");
  const made = await run(list(async () => [readFileSync(join(directory, "word"), "utf8").trim()]));
  assert.equal(made.output, "now\n");
  const failed = await run(list(async () => Promise.reject(new Error("no words"))).slice(0, 2));
  assert.deepEqual(
    [failed.refused, failed.exitCode],
    [{ file: "/usr/bin/echo", reason: "unprepared", message: "no words", ran: true }, null],
  );
  const cancel = new AbortController();
  const waiting = run(
    list(
      (signal) =>
        new Promise((_, reject) => {
          signal.addEventListener("abort", () => reject(new Error("stopped")));
          cancel.abort();
        }),
    ),
    {},
    cancel.signal,
  );
  assert.equal((await waiting).ended, "cancelled");
});

test("what onOutput throws ends everything and is thrown", async (t) => {
  const mark = join(scratch(t), "late");
  const onOutput = (): void => {
    throw new Error("full");
  };
  await assert.rejects(
    run(
      steps([
        [";", ["sh", "-c", "echo x; sleep 60", mark], ["cat"]],
        [";", ["touch", mark]],
      ]),
      { onOutput },
    ),
    /full/,
  );
  assert.deepEqual([running(mark), existsSync(mark)], [[], false]);
});

test("a descriptor this process inherited open is not passed on to any stage", async (t) => {
  const secret = join(scratch(t), "secret");
  writeFileSync(secret, "the secret");
  const source = `
    import { createHostProcesses } from "../../src/processes/processes.ts";
    const look = { file: "/bin/bash", args: ["-c", "cat <&3; cat <&40; ls -l /proc/self/fd; cat"], cwd: "/", redirections: [] };
    const steps = [{ when: "always", pipeline: [look, look] }];
    console.log((await createHostProcesses().runSteps({ steps, env: { PATH: "/usr/bin:/bin" } }, new AbortController().signal)).output);`;
  const output = await runNode(source, `exec 3<${secret} 40<${secret}`);
  assert.match(output, /2 -> /);
  assert.ok(!output.includes("secret"), output);
});
