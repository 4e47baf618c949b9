import assert from "node:assert/strict";
import { chmodSync, existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "node:test";
import type { JsonObject } from "@assent/core";
import type { HookEntry } from "@assent/core/parts";
import { manualClock } from "@assent/core/testing";
import { withoutProgram } from "../../../../test/support/programs.ts";
import { createHookRunner } from "../../src/hooks/runner.ts";
import { createSlots } from "../../src/hooks/slots.ts";
import { readProcessTable } from "../../src/processes/table.ts";
import { nodeDigest } from "../../src/system/digest.ts";
import { scratch } from "../scratch.ts";
import { functionHooks, hook, hookBench, live, shellCall, until } from "./hooks-bench.ts";

const table = readProcessTable();

function isAlive(pid: number): boolean {
  const row = table.find(pid);
  return row !== undefined && !row.zombie;
}

function lines(file: string): readonly string[] {
  return existsSync(file) ? readFileSync(file, "utf8").split("\n").filter(Boolean) : [];
}

/** One pre_tool_use hook, consulted once. */
async function consult(body: string, over: Partial<HookEntry> = {}, input = shellCall()) {
  const bench = hookBench([hook("pre_tool_use", body, { name: "h", ...over })]);
  return { ...bench, opinion: await bench.consult("pre_tool_use", input, live()) };
}

describe("what a program reads", () => {
  test("one JSON object on standard input with everything about the session, the event and the call, then the end", async (t) => {
    const file = join(scratch(t), "input");
    const clock = manualClock();
    const bench = hookBench([hook("pre_tool_use", `cat > ${file}`)], { cwd: "/tmp", transcriptPath: "/t.jsonl", clock });
    await bench.consult("pre_tool_use", shellCall("ls ü\ud800"), live());
    const text = readFileSync(file, "utf8");
    assert.ok(text.endsWith("}\n"), "a line, so that `read` succeeds");
    assert.deepEqual(JSON.parse(text), {
      session_id: "s_1",
      transcript_path: "/t.jsonl",
      cwd: "/tmp",
      hook_event_name: "PreToolUse",
      timestamp: "2026-01-01T00:00:00.000Z",
      ...shellCall("ls ü\ud800"),
    });
  });

  test("what the runtime says of the session stays", async (t) => {
    const file = join(scratch(t), "input");
    const bench = hookBench([hook("stop", `cat > ${file}`)], { cwd: "/nowhere" });
    await bench.consult("stop", { session_id: "s_2", cwd: "/", transcript_path: "/other", mode: "yolo" }, live());
    const { timestamp: _now, ...input } = JSON.parse(readFileSync(file, "utf8"));
    assert.deepEqual(input, { session_id: "s_2", cwd: "/", transcript_path: "/other", mode: "yolo", hook_event_name: "Stop" });
  });

  const READERS: readonly (readonly [name: string, script: string])[] = [
    ["a line by read", 'read -r line && test -n "$line" && echo ok'],
    ["all by cat", 'test -n "$(cat)" && echo ok'],
    ["the standard input opened by name", 'test -n "$(cat /dev/stdin)" && echo ok'],
    ["the standard streams opened by name for writing", "echo ok > /dev/stdout; echo no > /dev/stderr"],
    ["nothing", "echo ok"],
    ["nothing, with its end of the pipe closed", "exec 0<&-; echo ok"],
    ["one byte of very much", "head -c 1 > /dev/null; echo ok"],
  ];
  for (const [name, script] of READERS) {
    test(`a program may read ${name}`, async () => {
      const { opinion, warnings } = await consult(script, {}, shellCall("x".repeat(3_000_000)));
      assert.deepEqual([opinion?.context, warnings], ["ok", []]);
    });
  }
});

describe("where and how a program runs", () => {
  test("in the session's working directory, by the shell, in a process group of its own", { skip: withoutProgram("ps") }, async (t) => {
    const cwd = scratch(t);
    const bench = hookBench([hook("pre_tool_use", 'pwd; test "$(ps -o pgid= -p $$ | tr -d " ")" = $$ && echo own')], { cwd });
    const opinion = await bench.consult("pre_tool_use", shellCall(), live());
    assert.equal(opinion?.context, `${cwd}\nown`);
  });

  test("with args it runs without a shell", async () => {
    const body = { type: "command", command: "printf", args: ["%s|", "$HOME", "a b", "; exit 2"] } as const;
    const opinion = await hookBench([hook("pre_tool_use", body)]).consult("pre_tool_use", shellCall(), live());
    assert.equal(opinion?.context, "$HOME|a b|; exit 2|");
  });

  test("with the user's environment without secrets and what redirects a shell, plus what is true of the run, plus what it asks for", async (t) => {
    const file = join(scratch(t), "env");
    const environment = {
      PATH: process.env["PATH"],
      EDITOR: "vi",
      MY_API_KEY: "k",
      GITHUB_TOKEN: "t",
      OTHER_TOKEN: "o",
      BASH_ENV: "/x",
      LD_PRELOAD: "/y",
      ASSENT_STORE: "/s",
      TEAM_CODE: "c",
    };
    const body = {
      type: "command",
      command: `env > ${file}`,
      env: { LD_LIBRARY_PATH: "/l" },
      passEnv: ["GITHUB_TOKEN", "ABSENT"],
    } as const;
    const bench = hookBench([hook("pre_tool_use", body)], { environment, secretEnv: ["TEAM_*"] });
    await bench.consult("pre_tool_use", shellCall(), live());
    const found = lines(file).filter((line) => !/^(?:PATH|PWD|SHLVL|OLDPWD|_)=/.test(line));
    assert.deepEqual(found.sort(), [
      "ASSENT_HOOK_EVENT=pre_tool_use",
      "ASSENT_PROJECT_DIR=/project",
      "ASSENT_SESSION_ID=s_1",
      "CLAUDE_PROJECT_DIR=/project",
      "EDITOR=vi",
      "GITHUB_TOKEN=t",
      "LD_LIBRARY_PATH=/l",
    ]);
  });

  for (const [source, hidden] of [
    ["user", false],
    ["team", false],
    ["policy", false],
    ["session", false],
    ["project", true],
  ] as const) {
    test(`the project's secretEnv ${hidden ? "reaches" : "does not reach"} a hook of scope ${source}`, async (t) => {
      const file = join(scratch(t), "env");
      const body = { type: "command", command: `echo "$GUARD_WORD" > ${file}` } as const;
      const surroundings = { environment: { GUARD_WORD: "seen" }, projectSecretEnv: ["GUARD_*"] };
      await hookBench([{ ...hook("pre_tool_use", body), source }], surroundings).consult("pre_tool_use", shellCall(), live());
      assert.deepEqual(lines(file), hidden ? [] : ["seen"]);
    });
  }

  const FAILURES: readonly (readonly [name: string, body: string, cause: string, over?: Partial<HookEntry>])[] = [
    ["another exit code", "exit 1", "exited with code 1"],
    ["a program that is not there", "/nonexistent/program", "exited with code 127"],
    ["death by a signal", "kill -SEGV $$", "killed by SIGSEGV"],
    ["a timeout", "sleep 30", "timed out after 0.2s", { timeoutMs: 200 }],
    ["invalid JSON", "echo '{ nope'", "invalid output"],
    ["standard output over the cap", "head -c 1048577 /dev/zero", "output over 1 MiB"],
    ["standard error over the cap", "head -c 1048577 /dev/zero >&2", "output over 1 MiB"],
    ["output without end", "yes", "output over 1 MiB"],
  ];
  for (const [name, body, cause, over] of FAILURES) {
    test(`${name} is a failure: it denies and is said`, async () => {
      const { opinion, warnings, records } = await consult(body, over);
      assert.deepEqual([opinion?.verdict, opinion?.reason?.split("\n")[0]], ["deny", `hook h failed to execute: ${cause}`]);
      assert.equal(warnings.length, 1);
      assert.deepEqual([records[0]?.outcome, records[0]?.cause], ["failed", cause]);
    });
  }

  test("output of exactly 1 MiB is read", async () => {
    const { opinion } = await consult("head -c 1048576 /dev/zero | tr '\\0' x");
    assert.deepEqual([opinion?.verdict, opinion?.context], ["none", `${"x".repeat(9_999)}…`]);
  });

  test("a direct program that is missing or not executable is a failure", async (t) => {
    const file = join(scratch(t), "script.sh");
    writeFileSync(file, "#!/bin/sh\nexit 0\n");
    chmodSync(file, 0o644);
    for (const [command, cause] of [
      ["/nonexistent/program", "not found"],
      ["no-such-program-anywhere", "not found"],
      [file, "not executable"],
    ] as const) {
      const bench = hookBench([hook("pre_tool_use", { type: "command", command, args: [] }, { name: "h" })]);
      const opinion = await bench.consult("pre_tool_use", shellCall(), live());
      assert.deepEqual([opinion?.verdict, opinion?.reason], ["deny", `hook h failed to execute: ${cause}`]);
    }
  });

  const REFUSED: readonly [sentence: string, event: "pre_tool_use" | "post_tool_use", verdict: string][] = [
    ["denies where its event fails closed", "pre_tool_use", "deny"],
    ["is a warning where it does not", "post_tool_use", "none"],
  ];
  for (const [sentence, event, verdict] of REFUSED) {
    test(`a hook that may not run is not started, and ${sentence}`, async (t) => {
      const file = join(scratch(t), "ran");
      const refuses = ({ name }: HookEntry): string | undefined => (name === "h" ? "not here" : undefined);
      const bench = hookBench([hook(event, `touch ${file}`, { name: "h" }), hook(event, `touch ${file}.other`)], { refuses });
      const opinion = await bench.consult(event, shellCall(), live());
      assert.deepEqual([opinion?.verdict, existsSync(file), existsSync(`${file}.other`)], [verdict, false, true]);
      assert.deepEqual([bench.records[0]?.outcome, bench.records[0]?.cause], ["failed", "not here"]);
      assert.equal(bench.warnings.length, 1);
    });
  }

  test("a working directory that is gone is a failure", async () => {
    const bench = hookBench([hook("pre_tool_use", "true", { name: "h" })], { cwd: "/proc/nonexistent" });
    const opinion = await bench.consult("pre_tool_use", shellCall(), live());
    assert.deepEqual(
      [opinion?.verdict, opinion?.reason],
      ["deny", "hook h failed to execute: the working directory /proc/nonexistent does not exist"],
    );
  });

  test("at the timeout the whole group is ended, also who ignores SIGTERM", async (t) => {
    const file = join(scratch(t), "pids");
    const body = `trap '' TERM; sleep 60 & echo $! >> ${file}; echo $$ >> ${file}; wait; sleep 60`;
    const { opinion } = await consult(body, { timeoutMs: 300 });
    assert.equal(opinion?.verdict, "deny");
    const pids = lines(file).map(Number);
    assert.equal(pids.length, 2);
    assert.deepEqual(pids.filter(isAlive), []);
  });

  test("a cancelled hook is ended; where hooks fail closed it denies, without a warning", async (t) => {
    const file = join(scratch(t), "pid");
    const bench = hookBench([hook("pre_tool_use", `echo $$ > ${file}; sleep 60`)]);
    const controller = new AbortController();
    const consulted = bench.consult("pre_tool_use", shellCall(), controller.signal);
    await until(() => lines(file).length === 1, "the hook's start");
    controller.abort();
    assert.equal((await consulted)?.verdict, "deny");
    assert.deepEqual([bench.warnings, bench.records[0]?.outcome, isAlive(Number(lines(file)[0]))], [[], "cancelled", false]);
  });

  test("a hook that is cancelled before it starts does not start", async (t) => {
    const file = join(scratch(t), "ran");
    const bench = hookBench([hook("pre_tool_use", `touch ${file}`)]);
    assert.equal((await bench.consult("pre_tool_use", shellCall(), AbortSignal.abort()))?.verdict, "deny");
    assert.equal(existsSync(file), false);
  });

  test("without a timeout of its own a program has 60 seconds from its start, and no more", async () => {
    const clock = manualClock();
    const bench = hookBench([hook("pre_tool_use", "sleep 61", { name: "h", timeoutMs: 60_000 })], { clock });
    let settled = false;
    const consulted = bench.consult("pre_tool_use", shellCall(), live()).finally(() => {
      settled = true;
    });
    await until(() => clock.pending() === 1, "the program's timer");
    await clock.advance(59_999);
    assert.equal(settled, false);
    await clock.advance(1);
    assert.equal((await consulted)?.reason, "hook h failed to execute: timed out after 60s");
  });

  test("a grandchild that holds the output open after the exit is not waited for, and is left alone", async (t) => {
    const file = join(scratch(t), "pid");
    const { opinion } = await consult(`sleep 60 & echo $! > ${file}; echo '{"decision":"ask","reason":"look"}'`);
    assert.deepEqual([opinion?.verdict, opinion?.reason], ["ask", "look"]);
    const pid = Number(lines(file)[0]);
    assert.equal(isAlive(pid), true);
    process.kill(pid);
  });

  test("it is waited for exactly one second", async (t) => {
    const file = join(scratch(t), "pid");
    const clock = manualClock();
    const waits: number[] = [];
    const timer = (ms: number, fire: () => void): (() => void) => {
      waits.push(ms);
      return clock.timer(ms, fire);
    };
    const runner = createHookRunner({
      entries: [hook("pre_tool_use", `sleep 60 & echo $! > ${file}; echo late`)],
      clock: { now: clock.now, timer },
      digest: nodeDigest,
      environment: process.env,
      ...{ cwd: "/", projectDir: "/", sessionId: "s_1", record: () => undefined, warn: () => undefined },
    });
    let settled = false;
    const consulted = runner.consult("pre_tool_use", shellCall(), live()).finally(() => {
      settled = true;
    });
    await until(() => waits.includes(1_000), "the exit");
    await clock.advance(999);
    assert.equal(settled, false);
    await clock.advance(1);
    assert.equal((await consulted)?.context, "late");
    process.kill(Number(lines(file)[0]));
  });

  test("without a place for pipes a program is still given its input and heard", async (t) => {
    const before = process.env["TMPDIR"];
    t.after(() => {
      if (before === undefined) delete process.env["TMPDIR"];
      else process.env["TMPDIR"] = before;
    });
    process.env["TMPDIR"] = "/proc/nonexistent";
    const { opinion } = await consult('test -n "$(cat)" && echo no >&2 && exit 2');
    assert.deepEqual([opinion?.verdict, opinion?.reason], ["deny", "no"]);
  });

  test("at most ten programs run at once, and waiting for a place does not count towards a timeout", async (t) => {
    const directory = scratch(t);
    const log = join(directory, "log");
    const go = join(directory, "go");
    const clock = manualClock();
    const slow = Array.from({ length: 10 }, (_, at) =>
      hook("post_tool_use", `echo start >> ${log}; while [ ! -e ${go} ]; do sleep 0.02; done`, { name: `h${at}`, timeoutMs: 3_600_000 }),
    );
    const last = hook("post_tool_use", `test -e ${go} || exit 1; echo '{"hookSpecificOutput":{"additionalContext":"ran"}}'`, {
      timeoutMs: 1_000,
    });
    const bench = hookBench([...slow, last], { clock });
    const consulted = bench.consult("post_tool_use", shellCall(), live());
    await until(() => lines(log).length === 10, "ten starts");
    await clock.advance(5_000);
    writeFileSync(go, "");
    assert.equal((await consulted)?.context, "ran");
    assert.deepEqual(bench.warnings, []);
  });
});

describe("places for programs", () => {
  test("no more than there are; given away in the order of asking; not to who has gone", async () => {
    const slots = createSlots(1);
    const order: string[] = [];
    const first = await slots.take(live());
    const gone = new AbortController();
    const second = slots.take(gone.signal).then((release) => void order.push(release ? "second" : "second gone"));
    const third = slots.take(live()).then((release) => {
      order.push("third");
      release?.();
    });
    gone.abort();
    await second;
    assert.deepEqual(order, ["second gone"]);
    first?.();
    await third;
    assert.deepEqual(order, ["second gone", "third"]);
    const last = await slots.take(live());
    assert.ok(last, "the place is free again");
    const waiting = new AbortController();
    const refused = slots.take(waiting.signal);
    waiting.abort();
    assert.equal(await refused, undefined, "and it is one place");
    assert.equal(await slots.take(AbortSignal.abort()), undefined);
  });
});

describe("order", () => {
  test("hooks that may rewrite run one after another, each seeing what the one before made", async () => {
    const seen: JsonObject[] = [];
    const first = Promise.withResolvers<object>();
    const bench = hookBench([], {
      ...functionHooks(
        "pre_tool_use",
        (input) => {
          seen.push(input);
          return first.promise;
        },
        (input) => {
          seen.push(input);
          return { hookSpecificOutput: { updatedInput: { b: 2 } } };
        },
      ),
    });
    const consulted = bench.consult("pre_tool_use", shellCall("ls"), live());
    await until(() => seen.length === 1);
    await new Promise((resolve) => setImmediate(resolve));
    assert.equal(seen.length, 1, "the second waits for the first");
    first.resolve({ hookSpecificOutput: { updatedInput: { a: 1 } } });
    assert.deepEqual((await consulted)?.updatedInput, { command: "ls", a: 1, b: 2 });
    assert.deepEqual(seen[1]?.["tool_input"], { command: "ls", a: 1 });
  });

  test("a block does not keep later hooks from running", async () => {
    let ran = 0;
    const count = (): object => {
      ran += 1;
      return { decision: "block", reason: "no" };
    };
    const bench = hookBench([], functionHooks("pre_tool_use", count, count));
    await bench.consult("pre_tool_use", shellCall(), live());
    assert.equal(ran, 2);
  });

  test("all other hooks run at the same time, and are combined in configuration order", async () => {
    const both = [Promise.withResolvers<object>(), Promise.withResolvers<object>()] as const;
    let started = 0;
    const wait = (at: 0 | 1) => (): Promise<object> => {
      started += 1;
      return both[at].promise;
    };
    const bench = hookBench([], functionHooks("post_tool_use", wait(0), wait(1)));
    const consulted = bench.consult("post_tool_use", shellCall(), live());
    await until(() => started === 2, "both starts");
    both[1].resolve({ decision: "block", reason: "second" });
    both[0].resolve({ decision: "block", reason: "first" });
    assert.equal((await consulted)?.feedback, "first\nsecond");
  });

  test("transforms see what the one before made of the output, also where it is an error's", async () => {
    const seen: unknown[] = [];
    const add =
      (text: string) =>
      ({ tool_response: response, error }: JsonObject): object => {
        seen.push([response, error]);
        return { hookSpecificOutput: { updatedToolOutput: `${String(response)}${text}` } };
      };
    const bench = hookBench([], functionHooks("tool_response_transform", add("-1"), add("-2")));
    const opinion = await bench.consult("tool_response_transform", shellCall("ls", { tool_response: "out", error: "out" }), live());
    assert.equal(opinion?.updatedOutput, "out-1-2");
    assert.deepEqual(seen, [
      ["out", "out"],
      ["out-1", "out-1"],
    ]);
    assert.deepEqual(
      bench.records.map(({ changed }) => changed),
      [["tool_response"], ["tool_response"]],
    );
  });

  test("identical hooks run once", async (t) => {
    const file = join(scratch(t), "log");
    const same = hook("pre_tool_use", `echo ran >> ${file}`, { name: "a", definition: "same" });
    const bench = hookBench([same, { ...same, name: "b" }, { ...same, name: "c", definition: "other" }]);
    await bench.consult("pre_tool_use", shellCall(), live());
    assert.equal(lines(file).length, 2);
  });
});

describe("which hooks a call is for", () => {
  const on = (over: Partial<HookEntry>, input = shellCall()): Promise<boolean> =>
    hookBench([hook("pre_tool_use", "true", over)])
      .consult("pre_tool_use", input, live())
      .then((opinion) => opinion !== undefined);

  test("a matcher is compared with our name and the common one", async () => {
    assert.equal(await on({ matches: (name) => name === "shell" }), true);
    assert.equal(await on({ matches: (name) => name === "Bash" }), true);
    assert.equal(await on({ matches: (name) => name === "Edit" }), false);
  });

  test("a guard is not dropped by doubt: without a name to compare, and with a rule that throws, it runs", async () => {
    assert.equal(await on({ matches: () => false }, {}), true);
    assert.equal(
      await on({
        test: () => {
          throw new Error("rule");
        },
      }),
      true,
    );
    assert.equal(await on({ test: () => Promise.reject(new Error("rule")) }), true);
  });

  test("an if looks at the call as it is by then", async () => {
    const { functions } = functionHooks("pre_tool_use", () => ({ hookSpecificOutput: { updatedInput: { command: "rm x" } } }));
    const subjects: unknown[] = [];
    const entries = [
      hook("pre_tool_use", { type: "function", function: "f1" }),
      hook("pre_tool_use", "exit 2", {
        test: (subject) => {
          subjects.push(subject);
          return Promise.resolve(subject.input["command"] === "rm x");
        },
      }),
    ];
    const bench = hookBench(entries, functions ? { functions } : {});
    assert.equal((await bench.consult("pre_tool_use", shellCall("ls"), live()))?.verdict, "deny");
    assert.deepEqual(subjects, [{ tool: "shell", kind: "execute", input: { command: "rm x" }, cwd: "/" }]);
  });

  test("an if that does not match leaves the hook out", async () => assert.equal(await on({ test: () => false }), false));

  test("other events are matched on their own value", async () => {
    const bench = hookBench([hook("session_start", "echo hi", { matches: (source) => source === "resume" })]);
    assert.equal(await bench.consult("session_start", { source: "startup" }, live()), undefined);
    assert.equal((await bench.consult("session_start", { source: "resume" }, live()))?.context, "hi");
  });

  test("where no hook applies nothing is run and nothing said", async () => {
    const bench = hookBench([hook("stop", "exit 1")]);
    assert.equal(await bench.consult("pre_tool_use", shellCall(), live()), undefined);
    assert.deepEqual(bench.records, []);
  });

  test("whether a hook may look at calls of a tool is known beforehand", () => {
    const bench = hookBench([hook("tool_response_transform", "true", { matches: (name) => name === "Bash", test: () => false })]);
    assert.deepEqual(
      [
        bench.applies?.("tool_response_transform", "shell"),
        bench.applies?.("tool_response_transform", "read"),
        bench.applies?.("post_tool_use", "shell"),
      ],
      [true, false, false],
    );
  });

  test("the matcher of an event that is about no tool does not matter", () => {
    const bench = hookBench([hook("post_tool_batch", "true", { matches: () => false })]);
    assert.equal(bench.applies?.("post_tool_batch", "shell"), true);
  });

  test("hooks that cannot be known may apply to any tool", () => {
    const bench = hookBench(() => assert.fail("no configuration"));
    assert.equal(bench.applies?.("tool_response_transform", "shell"), true);
  });

  test("a reload takes effect at the next event", async () => {
    let entries: readonly HookEntry[] = [];
    const bench = hookBench(() => entries);
    assert.equal(await bench.consult("pre_tool_use", shellCall(), live()), undefined);
    entries = [hook("pre_tool_use", "exit 2")];
    assert.equal((await bench.consult("pre_tool_use", shellCall(), live()))?.verdict, "deny");
  });
});

describe("functions", () => {
  const one = (call: (input: JsonObject, context: { readonly signal: AbortSignal }) => unknown, over = {}) => {
    const made = functionHooks("pre_tool_use", call);
    return hookBench([], { ...made, ...over });
  };

  test("a function gets the same object, frozen to its depth", async () => {
    let given: JsonObject = {};
    await one((input) => {
      given = input;
    }).consult("pre_tool_use", shellCall("ls", { deep: { list: [{}] } }), live());
    assert.equal(given["hook_event_name"], "PreToolUse");
    assert.deepEqual(given["tool_input"], { command: "ls" });
    const deep = given["deep"] as { list: object[] };
    assert.ok([given, deep, deep.list, deep.list[0]].every(Object.isFrozen));
  });

  const FAILING: readonly (readonly [name: string, call: () => unknown, cause: RegExp])[] = [
    ["throws", () => assert.fail("broken"), /it threw: broken$/],
    ["rejects", () => Promise.reject(new Error("broken")), /it threw: broken$/],
    ["rejects with nothing", () => Promise.reject(), /it threw: undefined$/],
    ["returns a text", () => "deny", /invalid output$/],
    ["returns null", () => null, /invalid output$/],
  ];
  for (const [name, call, cause] of FAILING) {
    test(`a function that ${name} fails: it denies`, async () => {
      const opinion = await one(call).consult("pre_tool_use", shellCall(), live());
      assert.equal(opinion?.verdict, "deny");
      assert.match(opinion?.reason ?? "", cause);
    });
  }

  test("a function that is not there fails", async () => {
    const bench = hookBench([hook("pre_tool_use", { type: "function", function: "constructor" })]);
    assert.equal((await bench.consult("pre_tool_use", shellCall(), live()))?.verdict, "deny");
  });

  test("a function that takes too long is aborted by its signal and not awaited", async () => {
    const clock = manualClock();
    let told: AbortSignal | undefined;
    const bench = one(
      (_input, { signal }) => {
        told = signal;
        return new Promise(() => undefined);
      },
      { clock },
    );
    const consulted = bench.consult("pre_tool_use", shellCall(), live());
    await until(() => clock.pending() === 1);
    await clock.advance(10_000);
    assert.equal((await consulted)?.reason, "hook f1 failed to execute: timed out after 10s");
    assert.equal(told?.aborted, true);
    assert.equal(clock.pending(), 0);
  });

  test("a cancelled function is not waited for", async () => {
    const controller = new AbortController();
    const bench = one(() => new Promise(() => undefined));
    const consulted = bench.consult("pre_tool_use", shellCall(), controller.signal);
    controller.abort();
    assert.equal((await consulted)?.verdict, "deny");
  });
});

describe("detached hooks", () => {
  test("an async hook does not hold up its event, and what it says is ignored", async (t) => {
    const go = join(scratch(t), "go");
    const bench = hookBench([
      hook("post_tool_use", `while [ ! -e ${go} ]; do sleep 0.02; done; echo '{"continue":false}'`, { async: true }),
    ]);
    assert.equal(await bench.consult("post_tool_use", shellCall(), live()), undefined);
    assert.deepEqual(bench.records, []);
    writeFileSync(go, "");
    await bench.idle();
    assert.deepEqual(
      bench.records.map(({ outcome }) => outcome),
      ["stop"],
    );
  });

  test("an event that is only told runs its hooks; a failure is a warning, a message is shown", async (t) => {
    const file = join(scratch(t), "log");
    const bench = hookBench([
      hook("permission_denied", `cat > ${file}; echo '{"systemMessage":"told you"}'`),
      hook("permission_denied", "exit 3", { name: "h" }),
      hook("permission_denied", "echo look >&2; exit 2", { name: "two" }),
    ]);
    bench.tell("permission_denied", shellCall("ls", { reason: "no" }));
    await bench.idle();
    assert.equal(JSON.parse(readFileSync(file, "utf8")).hook_event_name, "PermissionDenied");
    assert.deepEqual(bench.shown, ["told you"]);
    assert.deepEqual(bench.warnings.sort(), ["hook h failed to execute: exited with code 3", "hook two (permission_denied): look"]);
  });

  test("closing ends them", async (t) => {
    const file = join(scratch(t), "pid");
    const bench = hookBench([hook("session_end", `echo $$ > ${file}; sleep 600`, { timeoutMs: 3_600_000 })]);
    bench.tell("session_end", { reason: "exit" });
    await until(() => lines(file).length === 1, "the hook's start");
    await bench.close();
    assert.equal(isAlive(Number(lines(file)[0])), false);
  });
});

describe("what is recorded and said", () => {
  test("every run is recorded with hook, event, call, exit, duration, verdict and the digest of its output", async () => {
    const { records } = await consult(`echo '{"decision":"ask"}'; echo note >&2`);
    assert.deepEqual(
      records.map(({ durationMs, ...record }) => [typeof durationMs, record]),
      [
        [
          "number",
          {
            event: "pre_tool_use",
            hook: "h",
            outcome: "ask",
            callId: "c1",
            exit: 0,
            digest: nodeDigest.sha256('{"decision":"ask"}\nnote\n'),
          },
        ],
      ],
    );
  });

  test("a hook that rewrote is recorded with the keys it changed", async () => {
    const { records } = await consult(
      `echo '{"hookSpecificOutput":{"updatedInput":{"command":"pwd","keep":1},"updatedInputMode":"replace"}}'`,
      {},
      shellCall("ls", { tool_input: { command: "ls", keep: 1, gone: true } }),
    );
    assert.deepEqual(records[0]?.changed, ["command", "gone"]);
  });

  test("a rewrite equal but for the order of keys is recorded as none", async () => {
    const { opinion, records } = await consult(
      `echo '{"hookSpecificOutput":{"updatedInput":{"b":1,"a":2},"updatedInputMode":"replace"}}'`,
      {},
      shellCall("ls", { tool_input: { a: 2, b: 1 } }),
    );
    assert.deepEqual([opinion?.updatedInput, records[0]?.changed], [undefined, undefined]);
  });

  test("a run that cannot be recorded is a warning and changes nothing", async () => {
    for (const record of [() => Promise.reject(new Error("disk full")), () => assert.fail("disk full")]) {
      const bench = hookBench([hook("pre_tool_use", "exit 2", { name: "h" })], { record });
      assert.equal((await bench.consult("pre_tool_use", shellCall(), live()))?.verdict, "deny");
      assert.deepEqual(bench.warnings, ["the run of hook h could not be recorded: disk full"]);
    }
  });

  test("a field an event has no use for is said once, however often the hook runs", async () => {
    const bench = hookBench([hook("stop", `echo '{"hookSpecificOutput":{"updatedInput":{}}}'`, { name: "h" })]);
    for (let times = 0; times < 3; times += 1) await bench.consult("stop", {}, live());
    assert.deepEqual(bench.warnings, ["hook h (stop): updatedInput is not applied on this event"]);
  });

  test("messages to the person are shown together", async () => {
    const bench = hookBench(
      [],
      functionHooks(
        "pre_tool_use",
        () => ({ systemMessage: "one" }),
        () => ({ systemMessage: "two" }),
      ),
    );
    await bench.consult("pre_tool_use", shellCall(), live());
    assert.deepEqual(bench.shown, ["one\ntwo"]);
  });
});
