import assert from "node:assert/strict";
import type { ChildProcess } from "node:child_process";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { describe, test } from "node:test";
import { ended, groupRuns, type Place, place, type Ran, until } from "../../support/assent.ts";
import { isResult, isSystem, type Line } from "../host.ts";

const FLAGS: readonly string[] = ["--model", "script:s.yaml", "--output-format", "stream-json"];
const YOLO: readonly string[] = ["run", "go", "--mode", "yolo", ...FLAGS];

const behind = (command: string, id = "c1"): string =>
  `{ tool: shell, id: ${id}, input: ${JSON.stringify({ command, run_in_background: true })} }`;

function scene(script: string): Place {
  const at = place();
  at.write("s.yaml", script);
  return at;
}

const parse = (stdout: string): readonly Line[] =>
  stdout
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line));

async function log(at: Place, type: string): Promise<readonly Line[]> {
  const { stdout } = await at.here(["log", "--json", "--type", type]);
  return stdout === "" ? [] : parse(stdout);
}

function begin(at: Place, argv: readonly string[]): { child: ChildProcess; end: Promise<Ran>; seen: () => string } {
  const child = at.start(argv);
  child.stdin?.end();
  let said = "";
  const end = ended(child);
  child.stdout?.on("data", (text: string) => {
    said += text;
  });
  return { child, end, seen: () => said };
}

const isRunning = (pid: number): boolean => {
  const stat = `/proc/${pid}/stat`;
  return existsSync(stat) && !/\) [ZX] /.test(readFileSync(stat, "utf8"));
};
const pidOf = (at: Place): number => Number(readFileSync(at.path("pid"), "utf8"));
const begun = (at: Place): boolean => existsSync(at.path("pid")) && readFileSync(at.path("pid"), "utf8").endsWith("\n");

describe("background commands in a headless run", () => {
  test("the run waits for it: started, meanwhile, its end, its notice, the result", async () => {
    using at = scene(`turns:
  - calls: [${behind("for i in 1 2 3; do echo line $i; done; until [ -e go ]; do sleep 0.01; done; exit 3")}]
  - expect: { result: { call: c1, outcome: succeeded, contains: Started background task t_c1 } }
    say: Meanwhile.
  - expect: { notices: [{ contains: [<status>failed</status>, "Error: The command ended with exit code 3.", "line 1\\nline 2\\nline 3"] }] }
    say: Told.
`);
    const { child, end, seen } = begin(at, YOLO);
    await until("the main conversation is done", () => seen().includes("Meanwhile."));
    assert.equal(child.exitCode, null, "it waits");
    writeFileSync(at.path("go"), "");
    const { code, stdout, stderr } = await end;
    assert.equal(code, 0, stderr + stdout.slice(-800));
    const lines = parse(stdout);
    const [started, notified] = [lines.find(isSystem("task_started")), lines.find(isSystem("task_notification"))];
    assert.deepEqual([started.task_id, started.tool_use_id, started.agent], ["t_c1", "c1", "shell"]);
    assert.deepEqual([notified.task_id, notified.status, notified.output_session], ["t_c1", "failed", lines[0].session_id]);
    assert.deepEqual([lines.at(-1).result, lines.filter(isSystem("notice_delivered")).length], ["Told.", 1]);
    assert.equal((await at.here(["verify"])).code, 0);
  });

  test("what rules allow runs from its plan, each program on record; what they do not is judged as in the foreground", async () => {
    using at = scene(`turns:
  - calls: [${behind("touch one && touch two")}, ${behind("touch three", "c2")}, ${behind("touch four", "c3")}]
  - expect: { results: [{ call: c1, outcome: succeeded }, { call: c2, type: denied_unattended }, { call: c3, type: denied_by_rule }] }
    say: Meanwhile.
  - say: Told.
allowUnused: true
`);
    const rules = ["--allow", "Shell(touch one)", "--allow", "Shell(touch two)", "--deny", "Shell(touch four)"];
    const { code, stderr } = await at.here(["run", "go", ...rules, "--model", "script:s.yaml"]);
    assert.equal(code, 0, stderr);
    assert.deepEqual(
      ["one", "two", "three", "four"].map((name) => existsSync(at.path(name))),
      [true, true, false, false],
    );
    const processes = await log(at, "task.process");
    assert.deepEqual([processes.length, new Set(processes.map(({ body }) => body.pid)).size], [2, 2]);
    assert.deepEqual(
      (await log(at, "task.ended")).map(({ body }) => body.status),
      ["completed"],
    );
  });

  test("parked, approved elsewhere with what it is in sight, resumed: it runs once, in the background", async () => {
    using at = scene(`turns:
  - calls: [${behind("echo once >> ran")}]
  - say: Meanwhile.
  - { expect: { notices: [{ contains: <status>completed</status> }] }, say: Told. }
`);
    assert.equal((await at.here(["run", "go", "--on-ask", "park", "--model", "script:s.yaml"])).code, 75);
    const [asked] = (await at.hereJson(["approvals"])).value;
    const shown = (await at.hereJson(["approvals", "show", asked.id])).value;
    assert.match(JSON.stringify(shown), /It runs in the background/);
    assert.equal((await at.here(["approve", asked.id, "--fingerprint", shown.fingerprint])).code, 0);
    const [session] = (await at.hereJson(["sessions"])).value;
    const went = await at.here(["resume", session.id]);
    assert.deepEqual([went.code, went.stdout, readFileSync(at.path("ran"), "utf8")], [0, "Told.\n", "once\n"], went.stderr);
  });

  test("parked while one runs: it ends first, the session's approvals stay open, and its notice is delivered at resume", async () => {
    using at = scene(`turns:
  - calls: [${behind("sleep 0.3")}, { tool: shell, id: c2, input: { command: "touch asked" } }]
  - { expect: { result: { call: c2, outcome: succeeded }, notices: [{ contains: <status>completed</status> }] }, say: Told. }
allowUnused: true
`);
    const flags = ["--on-ask", "park", "--allow", "Shell(sleep 0.3)", "--model", "script:s.yaml"];
    const parked = await at.here(["run", "go", ...flags]);
    assert.equal(parked.code, 75, parked.stderr);
    const open = (await at.hereJson(["approvals"])).value;
    assert.deepEqual([open.length, (await log(at, "task.ended")).map(({ body }) => body.status)], [1, ["completed"]]);
    assert.equal((await at.here(["approve", open[0].id, "--fingerprint", open[0].fingerprint])).code, 0);
    const [session] = (await at.hereJson(["sessions"])).value;
    const went = await at.here(["resume", session.id]);
    assert.deepEqual([went.code, went.stdout, existsSync(at.path("asked"))], [0, "Told.\n", true], went.stderr);
    const told = 'Background task "shell: sleep 0.3" completed. The model learns this in the next turn.\n';
    assert.equal(went.stderr, told, "why a turn started by itself");
  });

  test("over a limit of time: exit 55, and it is ended with its notification", async () => {
    using at = scene(`turns: [{ calls: [${behind("echo $$ > pid; sleep 300")}] }, { say: Meanwhile. }]`);
    const { code, stdout } = await at.run([...YOLO, "--max-time", "5s"]);
    const lines = parse(stdout);
    assert.deepEqual([code, lines.find(isSystem("task_notification"))?.status], [55, "cancelled"]);
    await until("the group is gone", () => !groupRuns(pidOf(at)));
  });

  test("a single call cannot keep a background command: refused, and nothing runs", async () => {
    using at = place();
    const input = JSON.stringify({ command: "touch made", run_in_background: true });
    const { code, stdout, stderr } = await at.here(["call", "shell", "--input", input, "--mode", "yolo"]);
    assert.equal(code, 1, stderr);
    assert.match(stdout + stderr, /run it in the foreground/);
    assert.equal(existsSync(at.path("made")), false);
  });
});

describe("a background command when the run ends early", () => {
  const RUNS = `turns: [{ calls: [${behind("trap '' TERM INT; echo $$ > pid; sleep 300; sleep 300")}] }, { say: Meanwhile. }]\nallowUnused: true`;

  for (const signal of ["SIGINT", "SIGTERM"] as const) {
    test(`${signal}: exit 130, its notification says cancelled, and no process is left`, async () => {
      using at = scene(RUNS);
      const { child, end } = begin(at, YOLO);
      await until("it runs", () => begun(at));
      child.kill(signal);
      const { code, stdout, stderr } = await end;
      const lines = parse(stdout);
      assert.deepEqual([code, lines.at(-1).subtype, stderr], [130, "error_cancelled", ""]);
      assert.deepEqual(
        lines.filter(isSystem("task_notification")).map(({ status }) => status),
        ["cancelled"],
      );
      await until("the group is gone", () => !groupRuns(pidOf(at)));
      assert.deepEqual(
        (await log(at, "task.ended")).map(({ body }) => body.status),
        ["cancelled"],
      );
      assert.equal((await log(at, "notice.queued")).length, 1);
      assert.equal((await at.here(["verify"])).code, 0);
    });
  }

  test("a second signal: exit 130 at once, and it is gone although it heeds none", async () => {
    using at = scene(RUNS);
    const { child, end } = begin(at, YOLO);
    await until("it runs", () => begun(at));
    child.kill("SIGINT");
    await until("it is gone", () => !child.kill("SIGTERM"));
    const { code, stdout } = await end;
    assert.deepEqual([code, parse(stdout).some(isResult)], [130, false]);
    await until("the group is gone", () => !groupRuns(pidOf(at)));
  });

  /** Leaves a process outside its group that ignores signals; another command keeps the run alive. */
  const LEAVES = "setsid bash -c 'trap \"\" TERM INT; echo $BASHPID > stray; sleep 300; sleep 300' >/dev/null 2>&1 &";
  const LEFT = `turns: [{ calls: [${behind(`${LEAVES} until test -s stray; do sleep 0.05; done`)}] }, { calls: [${behind("trap '' TERM INT; echo $$ > pid; sleep 300; sleep 300", "c2")}] }, { say: Meanwhile. }, { say: Told. }]\nallowUnused: true`;
  const strayOf = (at: Place): number => Number(readFileSync(at.path("stray"), "utf8"));
  const hasEnded = (seen: string): boolean => seen.includes('"subtype":"task_notification"');

  for (const [how, end] of [
    ["one signal", (child) => void child.kill("SIGINT")],
    [
      "a second signal",
      async (child) => {
        child.kill("SIGINT");
        await until("it is gone", () => !child.kill("SIGTERM"));
      },
    ],
  ] as readonly (readonly [string, (child: ChildProcess) => void | Promise<void>])[]) {
    test(`${how}: what a command that had ended left running is gone, although it left the group and heeds none`, async () => {
      using at = scene(LEFT);
      const run = begin(at, YOLO);
      await until("one has ended, and the other runs", () => hasEnded(run.seen()) && begun(at));
      const stray = strayOf(at);
      assert.ok(isRunning(stray));
      await end(run.child);
      assert.equal((await run.end).code, 130);
      await until("both are gone", () => !isRunning(stray) && !groupRuns(pidOf(at)));
    });
  }

  test("kill -9, resumed: what a command that had ended left running is ended, also outside its group", async () => {
    using at = scene(LEFT);
    const { child, end, seen } = begin(at, YOLO);
    await until("one has ended, and the other runs", () => hasEnded(seen()) && begun(at));
    const stray = strayOf(at);
    child.kill("SIGKILL");
    await end;
    assert.ok(isRunning(stray), "no process was left to end it");
    const [session] = (await at.hereJson(["sessions"])).value;
    await at.here(["resume", session.id, "--on-ask", "deny"]);
    assert.deepEqual([isRunning(stray), groupRuns(pidOf(at))], [false, false]);
  });

  test("a signal while a call in the foreground runs leaves none of its processes, also outside its group", async () => {
    const command = `${LEAVES} until test -s stray; do sleep 0.05; done; echo $$ > pid; sleep 300`;
    using at = scene(`turns: [{ calls: [{ tool: shell, id: c1, input: ${JSON.stringify({ command })} }] }]\nallowUnused: true`);
    const { child, end } = begin(at, YOLO);
    await until("it runs", () => begun(at));
    const stray = strayOf(at);
    child.kill("SIGINT");
    assert.equal((await end).code, 130);
    assert.deepEqual([isRunning(stray), groupRuns(pidOf(at))], [false, false]);
  });

  test("kill -9, resumed: what still ran is ended, the model learns once that the outcome is unknown, and the same call is asked about again", async () => {
    const COMMAND = "echo $$ > pid; echo so far; sleep 300";
    using at = scene(`turns: [{ calls: [${behind(COMMAND)}] }, { say: Meanwhile. }]\nallowUnused: true`);
    const { child, end, seen } = begin(at, YOLO);
    await until("it runs, and the main conversation is done", () => begun(at) && seen().includes("Meanwhile."));
    const [started] = await log(at, "task.started");
    const written = (): string => readFileSync(started.body.command.outputFile, "utf8");
    await until("what it wrote is in its file", () => written() !== "");
    child.kill("SIGKILL");
    await end;
    const group = pidOf(at);
    assert.equal(groupRuns(group), true, "no process was left to end it");
    const [session] = (await at.hereJson(["sessions"])).value;
    writeFileSync(
      at.path("s.yaml"),
      `turns:
  - {}
  - {}
  - expect: { notices: [{ contains: [<status>failed</status>, its outcome is unknown, "Its process ${group} and its process group still ran, and were ended."] }] }
    calls: [${behind(COMMAND, "c2")}]
  - { expect: { result: { call: c2, type: denied_unattended } }, say: Told. }
`,
    );
    const went = await at.here(["resume", session.id, "--on-ask", "deny"]);
    assert.deepEqual([went.code, went.stdout], [0, "Told.\n"], went.stderr);
    assert.match(went.stderr, /^Background task ".*" failed: its outcome is unknown.* The model learns this in the next turn/m);
    assert.equal((await at.hereJson(["sessions"])).value[0].unknownOutcomes, 1);
    await until("the group is gone", () => !groupRuns(group));
    assert.equal(pidOf(at), group, "it was not run again");
    assert.equal(written(), "so far\n");
    assert.deepEqual([(await log(at, "task.ended")).length, (await log(at, "notice.delivered")).length], [1, 1]);
    await at.here(["resume", session.id]);
    assert.equal((await log(at, "task.ended")).length, 1);
    assert.equal((await at.here(["verify"])).code, 0);
  });
});
