import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { setImmediate as turn } from "node:timers/promises";
import { defineTool, LedgerError, type Tool } from "@assent/core";
import { z } from "zod";
import { type Bench, type BenchOptions, bench, gate, noticeTexts } from "./bench.ts";

const SIGNAL = new AbortController().signal;
const START = `{ tool: agent, id: c1, input: { description: help me, prompt: Do it., agent: helper, run_in_background: true } }`;

/** A main conversation that starts one task and has as many turns as it may need. */
const started = (turns: string): string => `turns: [{ calls: [${START}] }, { say: Meanwhile. }, { say: One. }, { say: Two. }]
allowUnused: true
agents: { helper: { turns: [${turns}], allowUnused: true } }`;

async function start(turns: string, options: BenchOptions = {}): Promise<Bench> {
  const made = await bench(started(turns), options);
  assert.equal((await made.send("go")).text, "Meanwhile.");
  return made;
}

/** A body that takes no notice of its signal. */
function deaf(): { readonly tool: Tool; readonly entered: Promise<void>; readonly open: () => void } {
  const entered = Promise.withResolvers<void>();
  const opened = Promise.withResolvers<void>();
  const run = async (): Promise<string> => {
    entered.resolve();
    await opened.promise;
    return "late";
  };
  const tool = defineTool({ name: "deaf", description: "Does not listen.", kind: "read", input: z.object({}), run });
  return { tool, entered: entered.promise, open: opened.resolve };
}

const endsOf = async (made: Bench): Promise<unknown> =>
  (await made.events("task.ended")).map(({ body: { status, result, error, partial, settled } }) => ({
    status,
    result,
    error,
    partial,
    settled,
  }));

describe("how a task ends", () => {
  const CALL = "{ say: Half., calls: [{ tool: echo, input: { text: a } }] }";
  const ENDS: readonly [sentence: string, turns: string, status: string, result: string, error: string | null, options?: BenchOptions][] = [
    ["a goal is its final text", "{ say: Found it. }", "completed", "Found it.", null],
    ["a goal without text is one", "{}", "completed", "", null],
    ["a provider's error", `${CALL}, { error: { status: 500, message: boom } }`, "failed", "Half.", "boom (status 500)"],
    [
      "the turn limit",
      `${CALL}, { calls: [{ tool: echo, input: { text: b } }] }`,
      "failed",
      "Half.",
      "turn limit (1) reached",
      { definitions: [{ maxTurns: 1 }] },
    ],
    ["output that was cut", "{ say: Half, truncated: true }", "failed", "Half", "output truncated"],
    [
      "equal calls again and again",
      Array.from({ length: 14 }, () => "{ calls: [{ tool: echo, input: { text: same } }] }").join(", "),
      "failed",
      "",
      "stopped, repeating the same calls",
    ],
    [
      "a script that has no turn left",
      CALL,
      "failed",
      "Half.",
      "The script has only 1 turn for the agent helper, and the model was asked once more. Add what it says next under agents, for example: - say: Done.",
    ],
  ];
  for (const [sentence, turns, status, result, error, options] of ENDS) {
    test(sentence, async () => {
      const made = await bench(started(turns), options);
      await made.sendAll("go");
      assert.deepEqual(await endsOf(made), [{ status, result, error, partial: status !== "completed", settled: true }]);
      const [text = ""] = await noticeTexts(made);
      assert.match(text, new RegExp(`<status>${status}</status>`));
      const said =
        status === "completed" ? result || "(agent ended without text)" : [`Error: ${error}`, ...(result ? [result] : [])].join("\n\n");
      assert.ok(text.includes(`<result>${said}</result>`), text);
    });
  }

  test("the time limit, by the clock", async () => {
    const made = await start("{ say: Half., calls: [{ tool: echo, input: { text: a } }] }, { delayMs: 5000, say: late }", {
      definitions: [{ maxTimeMs: 2_000 }],
    });
    await made.clock.advance(2_000);
    await made.agent.settle(SIGNAL);
    assert.deepEqual(await endsOf(made), [
      { status: "failed", result: "Half.", error: "time limit (2000 ms) reached", partial: true, settled: true },
    ]);
  });

  test("the budget of the session", async () => {
    const made = await start("{ calls: [{ tool: echo, input: { text: a } }] }, { say: no }", {
      inAgents: { mayClaim: () => "the limit of 1 tool call is reached" },
    });
    await made.agent.settle(SIGNAL);
    const [end] = await made.events("task.ended");
    assert.equal(end?.body.status, "failed");
  });

  test("tokens, uses and duration are equal in the record, the event and the envelope", async () => {
    const made = await start(
      "{ calls: [{ tool: echo, input: { text: a } }, { tool: echo, input: { text: b } }], usage: { inputTokens: 100, outputTokens: 20 } }, { delayMs: 300, say: done, usage: { inputTokens: 30, outputTokens: 4 } }",
    );
    await made.clock.advance(300);
    await made.agent.settle(SIGNAL);
    const usage = { totalTokens: 154, toolUses: 2, durationMs: 300 };
    assert.deepEqual((await made.events("task.ended"))[0]?.body.usage, usage);
    assert.deepEqual(made.heard.find(({ type }) => type === "task_notification")?.task.usage, usage);
    assert.ok(
      (await noticeTexts(made))[0]?.includes(
        "<usage><total_tokens>154</total_tokens><tool_uses>2</tool_uses><duration_ms>300</duration_ms></usage>",
      ),
    );
    assert.equal(made.tasks.get("t_c1")?.usage.totalTokens, 154);
  });
});

describe("a cancel", () => {
  test("of a body that listens: one notice, with the text and the use so far", async () => {
    const door = gate();
    const made = await start("{ say: Half., calls: [{ tool: gate }], usage: { inputTokens: 7, outputTokens: 1 } }, { say: no }", {
      tools: [door.tool],
    });
    await door.entered;
    assert.equal(await made.tasks.cancel("t_c1", "person"), undefined);
    assert.equal(made.tasks.get("t_c1")?.status, "cancelling");
    assert.equal(await made.tasks.cancel("t_c1", "person"), undefined, "twice is no more than once");
    await made.tasks.idle();
    assert.deepEqual(await endsOf(made), [{ status: "cancelled", result: "Half.", error: null, partial: true, settled: true }]);
    assert.equal((await made.events("task.ended"))[0]?.body.by, "person");
    const texts = await noticeTexts(made);
    assert.deepEqual([texts.length, texts[0]?.includes("<result>Half.</result>"), texts[0]?.includes("<total_tokens>8<")], [1, true, true]);
    assert.deepEqual(await made.tasks.cancel("t_c1", "person"), {
      type: "task_stop_not_running",
      message: 'Task "t_c1" is not running (cancelled).',
    });
  });

  test("after the final text, before the body has come to rest, changes nothing: the result is the real one", async () => {
    const made = await bench(started("{ say: The answer. }"), {
      inAgents: {},
      observe: () => undefined,
    });
    const cancelled = Promise.withResolvers<unknown>();
    const stop = made.ledger.subscribe({ pos: 0 }, { types: ["message.assistant"] }, (event) => {
      if (event.session !== made.session.id) cancelled.resolve(made.tasks.cancel("t_c1", "person"));
    });
    await made.sendAll("go");
    await cancelled.promise;
    stop.close();
    assert.deepEqual(await endsOf(made), [{ status: "completed", result: "The answer.", error: null, partial: false, settled: true }]);
    assert.equal((await noticeTexts(made)).length, 1);
  });

  test("of a body that does not listen: after 5 s it counts as ended, and what it does later adds nothing", async () => {
    const answer = Promise.withResolvers<void>();
    const asked = Promise.withResolvers<void>();
    let requests = 0;
    const made = await start("{ say: Half., calls: [{ tool: echo, input: { text: a } }] }, { say: late }", {
      model: (_id, model) => ({
        ...model,
        doStream: async (options) => {
          requests += 1;
          if (requests === 2) asked.resolve();
          if (requests === 2) await answer.promise;
          return await model.doStream({ ...options, abortSignal: undefined as never });
        },
      }),
    });
    await asked.promise;
    await made.tasks.cancel("t_c1", "person");
    await made.clock.advance(4_999);
    assert.deepEqual([made.tasks.running(), await endsOf(made)], [1, []]);
    await made.clock.advance(1);
    await made.tasks.idle();
    assert.deepEqual(await endsOf(made), [{ status: "cancelled", result: "Half.", error: null, partial: true, settled: false }]);
    answer.resolve();
    while (made.warnings.length === 0) await turn();
    assert.deepEqual(made.warnings, ["task t_c1 had ended already; its later result was ignored"]);
    assert.deepEqual([(await noticeTexts(made)).length, (await made.events("task.ended")).length], [1, 1]);
  });

  test("whose five seconds are over while the end is being stored makes no second notice", async () => {
    const storing = Promise.withResolvers<void>();
    const stored = Promise.withResolvers<void>();
    const door = gate();
    const made = await start("{ calls: [{ tool: gate }] }", {
      tools: [door.tool],
      ledger: (ledger) =>
        Object.assign(Object.create(ledger), {
          append: async (...given: Parameters<typeof ledger.append>) => {
            const isEnd = given[2].events.some(({ type }) => type === "task.ended");
            if (isEnd) storing.resolve();
            if (isEnd) await stored.promise;
            return await ledger.append(...given);
          },
        }),
    });
    await door.entered;
    await made.tasks.cancel("t_c1", "person");
    await storing.promise;
    await made.clock.advance(5_000);
    stored.resolve();
    await made.tasks.idle();
    for (let at = 0; at < 10; at += 1) await turn();
    assert.deepEqual([(await made.events("task.ended")).length, (await noticeTexts(made)).length], [1, 1]);
  });

  test("ending a task from an observer of its end queues no second notice", async () => {
    const made = await start("{ say: done }", {
      observe: ({ type, task }, { tasks }) => {
        if (type === "task_notification") void tasks.cancel(task.id, "observer");
      },
    });
    await made.agent.settle(SIGNAL);
    assert.deepEqual([(await made.events("task.ended")).length, (await noticeTexts(made)).length], [1, 1]);
  });

  test("of the parent's turn leaves a task alone", async () => {
    const [task, main] = [gate("task_gate"), gate("main_gate")];
    const made = await bench(
      `turns: [{ calls: [${START}] }, { calls: [{ tool: main_gate }] }, { say: After. }]\nallowUnused: true\nagents: { helper: { turns: [{ calls: [{ tool: task_gate }] }, { say: done }] } }`,
      { tools: [task.tool, main.tool] },
    );
    const stop = new AbortController();
    const end = made.send("go", stop.signal);
    await Promise.all([task.entered, main.entered]);
    stop.abort();
    assert.equal((await end).reason, "cancelled");
    assert.equal(made.tasks.get("t_c1")?.status, "running");
    task.open();
    await made.tasks.idle();
    assert.equal(made.tasks.get("t_c1")?.status, "completed");
  });

  test("of nothing, and of what runs in the foreground, is refused", async () => {
    const door = gate();
    const made = await bench(
      `turns: [{ calls: [{ tool: agent, id: c1, input: { description: d, prompt: p, agent: helper } }] }, { say: x }]\nagents: { helper: { turns: [{ calls: [{ tool: gate }] }, { say: y }] } }`,
      {
        tools: [door.tool],
      },
    );
    const end = made.send("go");
    await door.entered;
    assert.equal((await made.tasks.cancel("t_c1", "person"))?.type, "task_stop_not_cancellable");
    assert.deepEqual(await made.tasks.cancel("t_9", "person"), { type: "task_stop_not_found", message: 'No task "t_9".' });
    door.open();
    assert.equal((await end).reason, "done");
  });
});

describe("a shutdown", () => {
  test("with three running gives three notices, and waits for all of them together", async () => {
    const body = deaf();
    const calls = ["c1", "c2", "c3"].map((id) => START.replace("c1", id)).join(", ");
    const made = await bench(`turns: [{ calls: [${calls}] }, { say: x }]\nagents: { helper: { turns: [{ calls: [{ tool: deaf }] }] } }`, {
      tools: [body.tool],
    });
    await made.send("go");
    await body.entered;
    const done = made.agent.shutdown("signal");
    await made.clock.advance(5_000);
    await done;
    assert.deepEqual(
      (await made.events("task.ended")).map(({ body: { status, by } }) => [status, by]),
      Array.from({ length: 3 }, () => ["cancelled", "signal"]),
    );
    assert.equal((await noticeTexts(made)).length, 3);
    body.open();
  });

  test("that drops notices lets none of a task that was being ended reach what comes after", async () => {
    const body = deaf();
    const made = await start("{ calls: [{ tool: deaf }] }", { tools: [body.tool] });
    await body.entered;
    await made.tasks.cancel("t_c1", "person");
    const done = made.agent.shutdown("reset", { notices: "drop" });
    await made.clock.advance(5_000);
    await done;
    const [queued] = await made.events("notice.queued");
    assert.deepEqual((await made.events("notice.dropped"))[0]?.body.ids, [queued?.body.notice]);
    assert.deepEqual([made.session.state.notices.size, (await made.events("notice.delivered")).length], [0, 0]);
    body.open();
  });
});

describe("the registry", () => {
  test("an observer that throws is said once each time, and changes nothing", async () => {
    const made = await start("{ say: done }", {
      observe: () => {
        throw new Error("oops");
      },
    });
    await made.agent.settle(SIGNAL);
    assert.deepEqual([(await noticeTexts(made)).length, made.tasks.get("t_c1")?.status], [1, "completed"]);
    assert.deepEqual(
      made.warnings,
      Array.from({ length: 2 }, () => "an observer of tasks failed: oops"),
    );
  });

  test("of forty ended tasks 32 stay listed, the ledger keeps all, and none with an undelivered notice is dropped", async () => {
    const calls = Array.from({ length: 40 }, (_none, at) => START.replace("c1", `c${at}`)).join(", ");
    const door = gate();
    const options = { asleep: true, maxRunning: 40, tools: [door.tool] };
    const script = `turns: [{ calls: [${calls}] }, { say: x }, { say: told }]\nagents: { helper: { turns: [{ calls: [{ tool: gate }] }, { say: done }] } }`;
    const made = await bench(script, options);
    await made.send("go");
    door.open();
    await made.tasks.idle();
    assert.equal((await made.events("task.ended")).length, 40);
    assert.deepEqual([made.session.state.notices.size, made.tasks.list().length], [40, 40], "none is told yet");
    await made.agent.settle(SIGNAL);
    assert.equal(made.tasks.list().length, 32);
    assert.equal(made.tasks.list()[0]?.id, "t_c8");
  });

  test("an end that cannot be stored is not announced, and the run fails", async () => {
    const made = await bench(started("{ say: done }"), {
      ledger: (ledger) =>
        Object.assign(Object.create(ledger), {
          append: (...given: Parameters<typeof ledger.append>) =>
            given[2].events.some(({ type }) => type === "task.ended")
              ? Promise.reject(new LedgerError("store_full", "disk full"))
              : ledger.append(...given),
        }),
    });
    await made.send("go");
    await assert.rejects(made.agent.settle(SIGNAL), { type: "store_full" });
    assert.deepEqual([await noticeTexts(made), made.heard.map(({ type }) => type)], [[], ["task_started"]]);
  });

  test("the tools show what there is", async () => {
    const door = gate();
    const made = await bench(
      `
turns:
  - calls: [{ tool: task_list, id: l0 }, ${START}]
  - expect: { result: { call: l0, contains: There are no tasks. } }
    calls: [{ tool: gate }]
  - calls: [{ tool: task_list, id: l1 }, { tool: task_output, id: o1, input: { id: t_c1 } }, { tool: task_output, id: o2, input: { id: t_9 } }, { tool: task_stop, id: s2, input: { id: t_9 } }, { tool: task_send, id: m2, input: { id: t_9, message: hi } }, { tool: task_stop, id: s1, input: { id: t_c1, reason: enough } }]
  - expect:
      results:
        - { call: l1, contains: ["t_c1  helper: help me  running  0s"] }
        - { call: o1, contains: [Task t_c1 is running., I begin.] }
        - { call: o2, type: task_output_not_found, contains: 'No task "t_9".' }
        - { call: s2, type: task_stop_not_found }
        - { call: m2, type: send_message_not_found }
        - { call: s1, contains: Stopping task t_c1. }
    say: ok
  - expect: { notices: [{ contains: [<status>cancelled</status>, I begin.] }] }
    say: told
agents: { helper: { turns: [{ say: I begin., calls: [{ tool: gate }] }] } }
`,
      {
        tools: [
          defineTool({
            name: "gate",
            description: "Waits in a task.",
            kind: "read",
            input: z.object({}),
            run: async (_input, { sessionId, signal }) => {
              if (sessionId === made.session.id) await door.entered;
              else await door.tool.definition.run?.({}, { signal } as never);
              return "went";
            },
          }),
        ],
      },
    );
    assert.deepEqual(await made.sendAll("go"), { reason: "done", text: "told" });
    made.player.assertUsed();
    assert.equal((await made.events("task.cancelling"))[0]?.body.reason, "enough");
  });
});

describe("a message to a task", () => {
  test("a message is delivered once, between turns; a finishing or ended task refuses it", async () => {
    const door = gate();
    const finishing = Promise.withResolvers<unknown>();
    const made = await bench(
      `
turns:
  - calls: [${START}]
  - calls: [{ tool: task_send, id: m1, input: { id: t_c1, message: "look at <a> too" } }]
  - expect: { result: { call: m1, contains: Queued for task t_c1. } }
    say: Meanwhile.
  - say: Told.
agents:
  helper:
    turns:
      - calls: [{ tool: gate }]
      - expect: { notices: [{ contains: "Message from the main agent: look at &lt;a&gt; too" }] }
        calls: [{ tool: echo, input: { text: a } }]
      - expect: { notices: [] }
        say: done
`,
      {
        tools: [door.tool],
        observe: ({ type }, { tasks }) => {
          if (type === "task_notification") finishing.resolve(tasks.send("t_c1", "after", "person"));
        },
      },
    );
    await made.send("go");
    door.open();
    await made.agent.settle(SIGNAL);
    made.player.assertUsed();
    assert.deepEqual(await finishing.promise, { type: "send_message_not_running", message: 'Task "t_c1" is not running (completed).' });
    assert.deepEqual(await made.tasks.send("t_c1", "later", "person"), {
      type: "send_message_not_running",
      message: 'Task "t_c1" is not running (completed).',
    });
    assert.equal((await made.events("task.message")).length, 1);
  });

  test("one that comes while it is being ended, or has decided to end, is refused", async () => {
    const door = gate();
    const made = await start("{ calls: [{ tool: gate }] }", { tools: [door.tool] });
    await door.entered;
    const cancel = made.tasks.cancel("t_c1", "person");
    assert.deepEqual(await made.tasks.send("t_c1", "hi", "person"), {
      type: "send_message_finishing",
      message: 'Task "t_c1" is finishing; the message was not delivered.',
    });
    await cancel;
    await made.tasks.idle();
    assert.deepEqual(await made.events("task.message"), []);
  });

  test("a message that arrives while stop hooks run is still delivered", async () => {
    let made: Bench | undefined;
    const sent: unknown[] = [];
    made = await bench(started("{ say: first }, { expect: { notices: [{ contains: wait }] }, say: second }"), {
      hooks: {
        consult: async (event) => {
          if (event === "subagent_stop" && sent.length === 0) sent.push(await made?.tasks.send("t_c1", "wait", "person"));
          return undefined;
        },
        tell: () => undefined,
      },
    });
    await made.sendAll("go");
    assert.deepEqual([sent, (await made.events("task.ended"))[0]?.body.result], [[undefined], "second"]);
  });

  test("a message that arrives during the last turn is still delivered", async () => {
    const made = await start("{ delayMs: 100, say: first }, { expect: { notices: [{ contains: wait }] }, say: second }");
    assert.equal(await made.tasks.send("t_c1", "wait", "person"), undefined);
    await made.clock.advance(100);
    await made.agent.settle(SIGNAL);
    assert.equal((await made.events("task.ended"))[0]?.body.result, "second");
  });
});
