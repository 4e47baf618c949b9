import assert from "node:assert/strict";
import { existsSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, type TestContext, test } from "node:test";
import { setImmediate as turn } from "node:timers/promises";
import { type BackgroundCommand, type BackgroundCommands, type HookOpinion, LedgerError, type TaskProcess } from "@assent/core";
import { createHostFiles, createHostProcesses } from "@assent/host";
import { shellTool } from "@assent/tools";
import { type Bench, type BenchOptions, bench, noticeTexts } from "./bench.ts";

const SIGNAL = new AbortController().signal;
const PROCESSES = createHostProcesses({ graceMs: 150, lingerMs: 150 });

const shell = (command: string, id = "c1"): string =>
  `{ tool: shell, id: ${id}, input: ${JSON.stringify({ command, run_in_background: true })} }`;
const script = (...calls: readonly string[]): string =>
  `turns: [${calls.map((call) => `{ calls: [${call}] }`).join(", ")}, { say: Meanwhile. }, { say: One. }, { say: Two. }]\nallowUnused: true\n`;

type Scene = Bench & { readonly root: string; readonly port: { keeper: BackgroundCommands | undefined } };

/** A bench whose models have a real shell, in a directory of its own. */
async function scene(t: TestContext, text: string, options: BenchOptions = {}): Promise<Scene> {
  const root = realpathSync(mkdtempSync(join(tmpdir(), "assent-commands-")));
  t.after(() => rmSync(root, { recursive: true, force: true }));
  return await scenedIn(root, text, options);
}

async function scenedIn(root: string, text: string, options: BenchOptions = {}): Promise<Scene> {
  const port: Scene["port"] = { keeper: undefined };
  const tool = shellTool({
    workspace: root,
    files: createHostFiles({ outputDirectory: join(root, ".state") }),
    processes: PROCESSES,
    environment: { PATH: "/usr/bin:/bin" },
    background: {
      start: async (command, signal) => {
        if (!port.keeper) throw new Error("nobody keeps it");
        return await port.keeper.start(command, signal);
      },
    },
  });
  const made = await bench(text.replaceAll("ROOT", root), { processes: PROCESSES, cwd: root, tools: [tool], ...options });
  port.keeper = made.tasks.commands;
  return { ...made, root, port };
}

/** Waits for something of the world outside. */
async function until(holds: () => boolean | undefined): Promise<void> {
  for (const deadline = Date.now() + 20_000; !holds(); await turn()) if (Date.now() > deadline) throw new Error("waited in vain");
}

const groupRuns = (pgid: number): boolean => {
  try {
    process.kill(-pgid, 0);
    return true;
  } catch {
    return false;
  }
};

const pgidOf = async ({ events }: Bench): Promise<number> => (await events("task.process")).at(-1)?.body.pgid ?? 0;
const LOOP = "cd ROOT; echo begun; until [ -e go ]; do sleep 0.01; done; echo ended";

describe("a background command", () => {
  test("its call ends at once and the next turn comes while it runs; its end is one notice, which the run waits for", async (t) => {
    const at = await scene(t, script(shell(`${LOOP}; exit 3`)));
    const first = await at.send("go");
    assert.deepEqual([first.text, at.tasks.running()], ["Meanwhile.", 1]);
    await until(() => at.tasks.output("t_c1")?.includes("begun"));
    const [task] = at.tasks.list();
    assert.deepEqual(
      [task?.id, task?.agent, task?.callId, task?.status, task?.session, task?.foreground],
      ["t_c1", "shell", "c1", "running", at.session.id, false],
    );
    writeFileSync(join(at.root, "go"), "");
    const end = await at.agent.settle(SIGNAL);
    assert.equal(end?.text, "One.");
    const [ended] = await at.events("task.ended");
    assert.deepEqual(
      [ended?.body.status, ended?.body.error, ended?.body.partial, ended?.body.settled, ended?.body.by],
      ["failed", "The command ended with exit code 3.", false, true, null],
    );
    const texts = await noticeTexts(at);
    assert.equal(texts.length, 1);
    assert.match(
      texts[0] ?? "",
      /<status>failed<\/status>\n.*\n<result>Error: The command ended with exit code 3\.\n\nbegun\nended\n\[all of /,
    );
    assert.match(texts[0] ?? "", /<total_tokens>0<\/total_tokens><tool_uses>0<\/tool_uses>/);
    assert.deepEqual(
      at.heard.map(({ type }) => type),
      ["task_started", "task_notification"],
    );
  });

  test("decision, intent, process and task are on record before it begins", async (t) => {
    const at = await scene(t, script(shell("true")));
    await at.sendAll("go");
    const types: string[] = [];
    for await (const { type } of at.ledger.read({ session: at.session.id, seq: 0 }, { session: at.session.id })) types.push(type);
    const life = types.filter((type) => /^(call|task)\./.test(type));
    assert.deepEqual(life.slice(0, 6), ["call.proposed", "call.judged", "call.claimed", "call.started", "task.started", "task.process"]);
    const [call] = await at.events("call.started");
    const [process] = await at.events("task.process");
    assert.equal(call?.body.processStart, process?.body.processStart);
  });

  test("a ledger that refuses `task.started`: the command never begins, the model is told, the slot is free", async (t) => {
    const at = await scene(t, script(shell("touch ROOT/made")), {
      ledger: (ledger) =>
        Object.assign(Object.create(ledger), {
          append: (...given: Parameters<typeof ledger.append>) =>
            given[2].events.some(({ type }) => type === "task.started")
              ? Promise.reject(new LedgerError("event_too_large", "refused"))
              : ledger.append(...given),
        }),
    });
    await at.sendAll("go");
    const [ended] = await at.events("call.ended");
    assert.deepEqual([ended?.body.outcome, ended?.body.type], ["failed", "shell_execute_error"]);
    assert.deepEqual([existsSync(join(at.root, "made")), at.tasks.list(), at.tasks.running()], [false, [], 0]);
  });

  test("it counts: the one too many is refused, and is not run", async (t) => {
    const at = await scene(t, script(shell(LOOP), shell("touch ROOT/made", "c2")), { maxRunning: 1 });
    await at.send("go");
    const ends = await at.events("call.ended");
    assert.deepEqual(
      ends.map(({ body }) => body.type),
      [null, "task_limit"],
    );
    assert.deepEqual([existsSync(join(at.root, "made")), at.tasks.running()], [false, 1]);
    await at.agent.shutdown("test");
  });

  test("a call id that was given before does not name two tasks", async (t) => {
    const at = await scene(t, script(shell("true"), shell("true")));
    await at.sendAll("go");
    const ids = (await at.events("task.started")).map(({ body }) => body.task);
    assert.equal(new Set(ids).size, 2);
  });

  test("after the end of one the session starts others", async (t) => {
    const at = await scene(
      t,
      `turns: [{ calls: [${shell("true")}] }, { say: a }, { say: b }, { calls: [${shell("true", "c2")}] }, { say: c }, { say: d }]`,
    );
    await at.sendAll("go");
    await at.sendAll("again");
    assert.deepEqual(
      (await at.events("task.ended")).map(({ body }) => [body.task, body.status]),
      [
        ["t_c1", "completed"],
        ["t_c2", "completed"],
      ],
    );
  });

  test("a task cannot start a command; a foreground agent can, and the main model gets its notice", async (t) => {
    const agents = `agents: { helper: { turns: [{ calls: [${shell("echo made > ROOT/made", "w1")}] }, { say: x }], allowUnused: true } }`;
    const start = (background: boolean): string =>
      `{ tool: agent, id: a1, input: { description: d, prompt: p, agent: helper, run_in_background: ${background} } }`;
    const nested = await scene(t, `${script(start(true))}${agents}`);
    await nested.sendAll("go");
    const [task] = nested.tasks.list();
    const [refused] = await nested.events("call.ended", task?.session);
    assert.deepEqual([refused?.body.type, existsSync(join(nested.root, "made"))], ["task_nested", false]);
    const waited = await scene(t, `${script(start(false))}${agents}`);
    await waited.sendAll("go");
    const [ended] = await waited.events("task.ended");
    assert.deepEqual([ended?.body.task, ended?.body.status, existsSync(join(waited.root, "made"))], ["t_w1", "completed", true]);
    assert.equal((await noticeTexts(waited)).length, 1);
  });

  test("the model's tools: listed, shown with its file, stopped with its group, and not spoken to", async (t) => {
    const at = await scene(
      t,
      `turns:
  - calls: [${shell("trap '' TERM; echo begun; sleep 300; sleep 300")}]
  - calls: [{ tool: task_list, id: l, input: {} }, { tool: task_send, id: s, input: { id: t_c1, message: hello } }]
  - say: Meanwhile.
  - calls: [{ tool: task_output, id: o, input: { id: t_c1 } }, { tool: task_stop, id: x, input: { id: t_c1 } }]
  - say: Stopping.
  - say: Told.
`,
    );
    await at.send("go");
    await until(() => at.tasks.output("t_c1")?.includes("begun"));
    await at.send("stop it");
    await at.agent.settle(SIGNAL);
    const results = new Map((await at.events("call.ended")).map(({ body }) => [body.call, body]));
    assert.match(String(results.get("l")?.content), /^t_c1 {2}shell: trap .* {2}running {2}0s$/);
    assert.deepEqual([results.get("s")?.type], ["send_message_not_running"]);
    const file = at.tasks.get("t_c1")?.outputFile;
    assert.equal(results.get("o")?.content, `Task t_c1 is running. All it writes is in ${file}.\n\nbegun\n`);
    assert.equal(results.get("x")?.content, "Stopping task t_c1.");
    const [ended] = await at.events("task.ended");
    assert.deepEqual([ended?.body.status, ended?.body.by, ended?.body.partial], ["cancelled", "model", true]);
    const pgid = await pgidOf(at);
    await until(() => !groupRuns(pgid));
    assert.equal(readFileSync(file ?? "", "utf8"), "begun\n");
  });

  for (const [may, result] of [
    [false, /^seen\n\[all of its output: /],
    [true, /^\(Hooks may change its output\. Use task_output to read it\.\)$/],
    [undefined, /^\(Hooks may change its output/],
  ] as const) {
    test(`output that a hook may change is not in the notice: ${may === undefined ? "nobody knows" : may}`, async (t) => {
      const applies = may === undefined ? {} : { applies: () => may };
      const hooks = { consult: async () => undefined, tell: () => undefined, ...applies };
      const at = await scene(t, script(shell("echo seen")), { hooks });
      await at.sendAll("go");
      const [ended] = await at.events("task.ended");
      assert.match(ended?.body.result ?? "", result);
      assert.equal(at.tasks.output("t_c1"), "seen\n");
    });
  }

  const SHOWS = `turns: [{ calls: [CALL] }, { say: Meanwhile. }, { say: Told. }, { calls: [{ tool: task_output, id: o, input: { id: t_c1 } }] }, { say: Shown. }]\n`;
  const failing = (): never => {
    throw new Error("no");
  };
  const ANSWERS: readonly (readonly [what: string, answer: () => HookOpinion | undefined, shown: string])[] = [
    ["what it makes of it is shown", () => ({ verdict: "none", name: "r", updatedOutput: "REDACTED" }), "REDACTED"],
    ["it takes all of it away", () => ({ verdict: "none", name: "r", updatedOutput: "" }), "(no output)"],
    ["it has nothing to say", () => undefined, "seen\n"],
    ["it blocks", () => ({ verdict: "deny", name: "r" }), "Tool output withheld: a tool_response_transform hook failed."],
    ["it fails", failing, "Tool output withheld: a tool_response_transform hook failed."],
  ];
  for (const [what, answer, shown] of ANSWERS) {
    test(`what task_output shows of a command passes the transform hook of its tool: ${what}`, async (t) => {
      const asked: unknown[] = [];
      const at = await scene(t, SHOWS.replace("CALL", shell("echo seen")), {
        hooks: {
          consult: async (event, { tool, tool_name, tool_use_id, tool_input, tool_response }) => {
            if (event !== "tool_response_transform" || tool !== "shell" || !String(tool_response).startsWith("seen")) return undefined;
            asked.push([tool_name, tool_use_id, tool_input, tool_response]);
            return answer();
          },
          applies: (event, tool) => event === "tool_response_transform" && tool === "shell",
          tell: () => undefined,
        },
      });
      await at.sendAll("go");
      await at.send("show it");
      const result = (await at.events("call.ended")).find(({ body }) => body.call === "o");
      assert.equal(String(result?.body.content).split("\n\n")[1], shown);
      assert.deepEqual(asked, [["Bash", "c1", { command: "echo seen", run_in_background: true }, "seen\n"]]);
      assert.doesNotMatch((await noticeTexts(at)).join(""), /<result>seen/);
    });
  }

  test("a secret that the cut would halve is whole before the hook", async (t) => {
    const at = await scene(t, SHOWS.replace("CALL", shell("printf 'SECRET%07998d' 0")), {
      hooks: {
        consult: async (event, { tool, tool_response }) =>
          event === "tool_response_transform" && tool === "shell"
            ? { verdict: "none", name: "r", updatedOutput: String(tool_response).replace("SECRET", "") }
            : undefined,
        tell: () => undefined,
      },
    });
    await at.sendAll("go");
    await at.send("show it");
    const result = (await at.events("call.ended")).find(({ body }) => body.call === "o");
    assert.match(String(result?.body.content), /\n\n0{7998}$/);
  });

  /** A command that never ends. */
  const endless = (at: Bench): BackgroundCommand => ({
    ...{ sessionId: at.session.id, callId: "c1", tool: "shell", command: "x", description: "x", output: () => "SECRET" },
    run: async ({ started }) => {
      await started({ pid: 1, pgid: 1, processStart: "then" }, "/w/out");
      return await new Promise<never>(() => undefined);
    },
  });
  const SILENT = "turns: [{ say: Told. }]\nallowUnused: true\n";

  test("the notice of a command that is given up withholds what a transform may remove", async () => {
    const at = await bench(SILENT, { asleep: true, hooks: { consult: async () => undefined, tell: () => undefined } });
    await at.tasks.commands.start(endless(at), SIGNAL);
    await at.tasks.cancel("t_c1", "person");
    await at.clock.advance(5_000);
    await at.tasks.idle();
    const [ended] = await at.events("task.ended");
    assert.deepEqual([ended?.body.settled, ended?.body.result], [false, "(Hooks may change its output. Use task_output to read it.)"]);
  });

  test("who wants it to end a second time hears of it when the wish is on record, which it is once", async () => {
    const slow = Promise.withResolvers<void>();
    const at = await bench(SILENT, {
      asleep: true,
      ledger: (ledger) =>
        Object.assign(Object.create(ledger), {
          append: async (...given: Parameters<typeof ledger.append>) => {
            if (given[2].events.some(({ type }) => type === "task.cancelling")) await slow.promise;
            return await ledger.append(...given);
          },
        }),
    });
    await at.tasks.commands.start(endless(at), SIGNAL);
    let heard = 0;
    const wishes = ["person", "model"].map((by) => at.tasks.cancel("t_c1", by).then(() => (heard += 1)));
    for (let turns = 0; turns < 20; turns += 1) await turn();
    assert.equal(heard, 0, "it is not on record");
    slow.resolve();
    await Promise.all(wishes);
    assert.deepEqual([heard, (await at.events("task.cancelling")).length], [2, 1]);
    await at.clock.advance(5_000);
    await at.tasks.idle();
  });

  test("an interrupt of the turn leaves it running", async (t) => {
    const at = await scene(t, `turns: [{ calls: [${shell(LOOP)}] }, { delayMs: 1000, say: x }, { say: Told. }]`);
    const cancel = new AbortController();
    const sending = at.send("go", cancel.signal);
    await until(() => at.tasks.output("t_c1")?.includes("begun"));
    cancel.abort();
    assert.equal((await sending).reason, "cancelled");
    assert.equal(at.tasks.get("t_c1")?.status, "running");
    writeFileSync(join(at.root, "go"), "");
    await at.tasks.idle();
    assert.equal(at.tasks.get("t_c1")?.status, "completed");
  });

  test("a shutdown ends them together, each with its notice, and leaves no process", async (t) => {
    const at = await scene(t, script([1, 2, 3].map((n) => shell("echo begun; sleep 300", `c${n}`)).join(", ")));
    await at.send("go");
    await at.agent.shutdown("test");
    const groups = (await at.events("task.process")).map(({ body }) => body.pgid);
    assert.equal(groups.length, 3);
    await until(() => !groups.some(groupRuns));
    assert.deepEqual(
      (await at.events("task.ended")).map(({ body }) => [body.status, body.by]),
      [1, 2, 3].map(() => ["cancelled", "test"]),
    );
    assert.equal((await noticeTexts(at)).length, 3);
  });
});

describe("what a background command leaves running", () => {
  test("it lives on after the command's end, and is ended with the session", async (t) => {
    const at = await scene(t, script(shell("sleep 300 >/dev/null 2>&1 & echo left")));
    await at.sendAll("go");
    const pgid = await pgidOf(at);
    const [ended] = await at.events("task.ended");
    assert.deepEqual([ended?.body.status, groupRuns(pgid)], ["completed", true]);
    assert.match(ended?.body.result ?? "", /\[still running: process \d+\]/);
    await at.session.close("done", 0);
    await until(() => !groupRuns(pgid));
    assert.deepEqual(at.warnings, []);
  });

  test("what cannot be ended then is named", async (t) => {
    const asked: TaskProcess[] = [];
    const warnings: string[] = [];
    const answers = [async () => ({ found: true, survivors: [7, 8] }), async () => Promise.reject(new Error("no table"))];
    for (const answer of answers) {
      const processes: NonNullable<BenchOptions["processes"]> = {
        endLeftOver: async (left) => {
          asked.push(left);
          return await answer();
        },
        endWithUs: () => () => undefined,
      };
      const left = (id: string): string => shell("sleep 300 >/dev/null 2>&1 & echo left", id);
      const at = await scene(t, script(left("c1"), left("c2"), shell("true", "c3")), { processes });
      await at.sendAll("go");
      await at.session.close("done", 0);
      warnings.push(...at.warnings);
    }
    const all = asked.map(({ others = [], ...first }) => [first, ...others]);
    for (const { pgid } of all.flat()) if (groupRuns(pgid)) process.kill(-pgid, "SIGKILL");
    assert.deepEqual(
      [warnings, all.map(({ length }) => length)],
      [
        [
          "processes of ended background commands still run: 7, 8",
          "leftover processes of background commands could not be ended: no table",
        ],
        [3, 3],
      ],
    );
  });

  /** Names the process that it leaves outside its group. */
  const STRAYS = "setsid bash -c 'sleep 300 >/dev/null 2>&1 & echo stray $!'";
  const strayOf = async ({ events }: Bench): Promise<number> =>
    Number(/stray (\d+)/.exec((await events("task.ended"))[0]?.body.result ?? "")?.[1]);

  test("what left its group is ended with the session, too", async (t) => {
    const at = await scene(t, script(shell(STRAYS)));
    await at.sendAll("go");
    const stray = await strayOf(at);
    assert.ok(PROCESSES.startOf(stray), "its command meant it to stay");
    await at.session.close("done", 0);
    assert.deepEqual([PROCESSES.startOf(stray), at.warnings], [undefined, []]);
  });

  test("task_stop ends what left its group", async (t) => {
    const at = await scene(t, script(shell(`${STRAYS}; sleep 300`)));
    await at.send("go");
    await until(() => /stray \d+/.test(at.tasks.output("t_c1") ?? ""));
    const stray = Number(/stray (\d+)/.exec(at.tasks.output("t_c1") ?? "")?.[1]);
    assert.ok(PROCESSES.startOf(stray));
    await at.tasks.cancel("t_c1", "person");
    await at.tasks.idle();
    assert.equal(PROCESSES.startOf(stray), undefined);
  });

  test("a process that ends at once ends it, until the session is closed", async (t) => {
    const kept: (number | undefined)[] = [];
    const processes: NonNullable<BenchOptions["processes"]> = {
      ...PROCESSES,
      endWithUs: ({ pgid }) => {
        const at = kept.push(pgid) - 1;
        return () => {
          kept[at] = undefined;
        };
      },
    };
    const at = await scene(t, script(shell("sleep 300 >/dev/null 2>&1 & echo left")), { processes });
    await at.sendAll("go");
    assert.deepEqual(kept, [await pgidOf(at)]);
    await at.session.close("done", 0);
    assert.deepEqual(kept, [undefined]);
  });

  for (const [name, command] of [
    ["in its group", "sleep 300 >/dev/null 2>&1 & echo stray $!"],
    ["outside its group", STRAYS],
  ] as const) {
    test(`after a kill -9 the next process ends what a command that had ended left ${name}`, async (t) => {
      const text = script(shell(command));
      const before = await scene(t, text);
      await before.sendAll("go");
      const stray = await strayOf(before);
      assert.ok(PROCESSES.startOf(stray));
      const after = await scenedIn(before.root, text, { after: before });
      await after.tasks.restore();
      assert.deepEqual([PROCESSES.startOf(stray), after.warnings, (await after.events("task.ended")).length], [undefined, [], 1]);
    });
  }

  test("a closed session left no processes, so none are looked for", async (t) => {
    const text = script(shell("true"));
    const before = await scene(t, text);
    await before.sendAll("go");
    await before.session.close("done", 0);
    const endLeftOver = async (): Promise<never> => Promise.reject(new Error("somebody looked"));
    const after = await scenedIn(before.root, text, { after: before, processes: { ...PROCESSES, endLeftOver } });
    await after.tasks.restore();
    assert.deepEqual(after.warnings, []);
  });
});

describe("a background command whose Assent is gone", () => {
  /** The process that knew of it is gone: it stands in the record and in the system alone. */
  async function restarted(t: TestContext, command: string, stop = false): Promise<{ before: Scene; after: Scene }> {
    const text = script(shell(command));
    const before = await scene(t, text, { asleep: true });
    await before.send("go");
    await until(() => before.tasks.output("t_c1")?.includes("begun"));
    if (stop) await before.session.record([before.session.draft("task.cancelling", { task: "t_c1", by: "person", reason: null })], "full");
    const after = await scenedIn(before.root, text.replaceAll("ROOT", before.root), { after: before });
    await after.tasks.restore();
    return { before, after };
  }

  test("what still runs is ended with its group; its one notice says that its outcome is unknown, and where its output is", async (t) => {
    const { after } = await restarted(t, "echo begun; sleep 300");
    const pgid = await pgidOf(after);
    await until(() => !groupRuns(pgid));
    const [ended] = await after.events("task.ended");
    const [started] = await after.events("task.started");
    const file = started?.body.command?.outputFile;
    assert.deepEqual([ended?.body.status, ended?.body.partial, ended?.body.settled], ["failed", true, true]);
    assert.match(ended?.body.error ?? "", /^its outcome is unknown/);
    assert.equal(
      ended?.body.result,
      `Its process ${pgid} and its process group still ran, and were ended. Its output until then is in ${file}.`,
    );
    assert.equal((await noticeTexts(after)).length, 1);
    assert.deepEqual([after.tasks.running(), after.tasks.get("t_c1")?.status], [0, "failed"]);
    assert.deepEqual(await after.events("task.paused"), [], "it cannot go on");
    assert.equal((await after.tasks.resume("t_c1", "person"))?.type, "task_not_paused");
  });

  test("one that cannot be ended is named", async (t) => {
    const text = script(shell("echo begun; sleep 300"));
    const next = await scene(t, text, { asleep: true });
    await next.send("go");
    const processes = { endLeftOver: async () => ({ found: true, survivors: [7, 8] }), endWithUs: () => () => undefined };
    const later = await scenedIn(next.root, text, { after: next, processes });
    await later.tasks.restore();
    const [ended] = await later.events("task.ended");
    assert.match(ended?.body.result ?? "", /^Process 7, 8 still runs: it could not be ended, or belongs to another program\./);
    process.kill(-(await pgidOf(later)), "SIGKILL");
  });

  test("law 5: the same command is not run again before a person was asked", async (t) => {
    const { after } = await restarted(t, "echo begun; sleep 300");
    const [judged] = await after.events("call.judged");
    assert.ok(after.session.state.unknown.has(judged?.body.fingerprint ?? "none"));
  });

  test("a pid that is not its own any more is left alone", async (t) => {
    const text = script(shell("echo begun; sleep 300"));
    const next = await scene(t, text, { asleep: true });
    await next.send("go");
    const later = await scenedIn(next.root, text, {
      after: next,
      processes: { ...PROCESSES, endLeftOver: (left) => PROCESSES.endLeftOver({ ...left, processStart: "another" }) },
    });
    await later.tasks.restore();
    const [ended] = await later.events("task.ended");
    assert.match(ended?.body.result ?? "", /^Its process \d+ had already ended\./);
    process.kill(-(await pgidOf(later)), "SIGKILL"); // it is there
  });

  test("a record that belongs to another process by now: a stop is refused, and leaves no process all the same", async (t) => {
    const text = script(shell("echo begun; sleep 300"));
    const before = await scene(t, text, { asleep: true });
    await before.send("go");
    await scenedIn(before.root, text, { after: before });
    const pgid = await pgidOf(before);
    assert.equal((await before.tasks.cancel("t_c1", "person"))?.type, "task_stop_internal_error");
    await until(() => !groupRuns(pgid));
    assert.match(before.warnings.join("\n"), /the end of task t_c1 could not be recorded/);
  });

  test("a command that was being stopped is cancelled", async (t) => {
    const { after } = await restarted(t, "echo begun; sleep 300", true);
    const [ended] = await after.events("task.ended");
    assert.deepEqual([ended?.body.status, ended?.body.by, ended?.body.unknown], ["cancelled", "an earlier wish", undefined]);
    assert.equal((await noticeTexts(after)).length, 1);
  });

  test("a second restart adds nothing, and its output is still known by its file", async (t) => {
    const { after } = await restarted(t, "echo begun; sleep 300");
    const third = await scenedIn(after.root, script(shell("true")), { after });
    await third.tasks.restore();
    assert.deepEqual([(await third.events("task.ended")).length, (await noticeTexts(third)).length], [1, 1]);
    const task = third.tasks.get("t_c1");
    assert.deepEqual([task?.status, existsSync(task?.outputFile ?? "")], ["failed", true]);
    assert.match(third.tasks.output("t_c1") ?? "", /only in its file/);
  });
});
