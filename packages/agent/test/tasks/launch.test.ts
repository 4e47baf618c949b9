import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { type Ledger, LedgerError, openSession } from "@assent/core";
import { type Bench, bench, gate, noticeTexts } from "./bench.ts";

/** A call of the `agent` tool, as a script has it. */
const call = (id: string | undefined, input: object): string =>
  `{ tool: agent, ${id === undefined ? "" : `id: ${id}, `}input: ${JSON.stringify({ description: "help me", prompt: "Do it.", ...input })} }`;
const inBackground = { agent: "helper", run_in_background: true };
const helper = (turns: string): string => `agents: { helper: { turns: [${turns}], allowUnused: true } }`;
const ended = ({ tasks }: Bench): unknown => tasks.list().map(({ id, status }) => [id, status]);

describe("an agent in the foreground", () => {
  test("its last text is the result of its call, and it is not a task", async () => {
    const made = await bench(`
turns:
  - calls: [${call("c1", { agent: "helper" })}]
  - expect: { result: { call: c1, contains: Found it., outcome: succeeded } }
    say: Done.
agents: { helper: { turns: [{ calls: [{ tool: echo, input: { text: hi } }] }, { say: Found it. }] } }
`);
    assert.deepEqual(await made.sendAll("go"), { reason: "done", text: "Done." });
    made.player.assertUsed();
    assert.deepEqual(await made.events("task.started"), []);
    assert.deepEqual([made.heard, await noticeTexts(made)], [[], []]);
    assert.deepEqual(
      made.tasks.list().map(({ id, status, foreground }) => [id, status, foreground]),
      [["t_c1", "completed", true]],
    );
  });

  test("the result says so if it ends without text", async () => {
    const made =
      await bench(`turns: [{ calls: [${call("c1", { agent: "helper" })}] }, { expect: { result: { call: c1, contains: (agent ended without text) } }, say: ok }]
${helper("{}")}`);
    assert.equal((await made.send("go")).reason, "done");
  });

  test("that fails is a failed call, with why and how far it came", async () => {
    const made =
      await bench(`turns: [{ calls: [${call("c1", { agent: "helper" })}] }, { expect: { result: { call: c1, outcome: failed, contains: ["Error: boom", "Half."] } }, say: ok }]
${helper("{ say: Half., calls: [{ tool: echo, input: { text: a } }] }, { error: { status: 500, message: boom } }")}`);
    assert.equal((await made.send("go")).reason, "done");
  });

  test("a cancel of the parent's turn ends it with its call", async () => {
    const door = gate();
    const made = await bench(
      `turns: [{ calls: [${call("c1", { agent: "helper" })}] }]\n${helper("{ calls: [{ tool: gate }] }, { say: no }")}`,
      { tools: [door.tool] },
    );
    const stop = new AbortController();
    const end = made.send("go", stop.signal);
    await door.entered;
    stop.abort();
    assert.equal((await end).reason, "cancelled");
    assert.deepEqual(ended(made), [["t_c1", "cancelled"]]);
    const child = made.tasks.get("t_c1")?.session ?? "";
    assert.deepEqual(
      (await made.events("call.ended", child)).map(({ body }) => body.outcome),
      ["cancelled"],
    );
    assert.equal((await made.events("session.closed", child))[0]?.body.reason, "cancelled");
  });
});

describe("an agent in the foreground whose store fails", () => {
  const script = `turns: [{ calls: [${call("c1", { agent: "helper" })}] }, { say: Done. }]\n${helper("{ calls: [{ tool: nosuch, id: n1 }] }, { say: no }")}`;
  /** Ends of the agent's own record meet a full disk, so often. */
  const full = (left: { times: number }): ((ledger: Ledger) => Ledger) => {
    const sessions: string[] = [];
    return (ledger) =>
      Object.assign(Object.create(ledger), {
        append: (...given: Parameters<typeof ledger.append>) => {
          const [{ session }, , { events }] = given;
          if (!sessions.includes(session)) sessions.push(session);
          const isEnd = session !== sessions[0] && events.some(({ type }) => type === "call.ended" || type === "session.closed");
          if (!isEnd || left.times === 0) return ledger.append(...given);
          left.times -= 1;
          return Promise.reject(new LedgerError("store_full", "disk full"));
        },
      });
  };
  const endsOf = async (made: Bench): Promise<readonly unknown[]> => {
    const child = made.tasks.get("t_c1")?.session ?? "";
    const calls = (await made.events("call.ended", child)).map(({ body }) => body.outcome);
    const closed = (await made.events("session.closed", child)).map(({ body }) => body.reason);
    return [calls, closed, (await made.events("session.closed")).length];
  };

  test("for a moment is closed, with every call ended, before its root is", async () => {
    const made = await bench(script, { ledger: full({ times: 4 }) });
    assert.deepEqual(await made.sendAll("go"), { reason: "done", text: "Done." });
    assert.deepEqual(await endsOf(made), [[], [], 0]);
    await made.session.close("done", 0);
    assert.deepEqual(await endsOf(made), [["invalid"], ["failed"], 1]);
  });

  test("for longer keeps its root open: the store's failure is the run's, and the next process puts it in order", async () => {
    const left = { times: Number.POSITIVE_INFINITY };
    const made = await bench(script, { ledger: full(left) });
    await made.sendAll("go");
    await assert.rejects(made.session.close("done", 0), { type: "store_full" });
    await assert.rejects(made.session.close("done", 0), { type: "store_full" });
    assert.deepEqual(await endsOf(made), [[], [], 0]);
    left.times = 0;
    const next = await bench(script, { after: made });
    await next.tasks.restore();
    const child = made.tasks.get("t_c1")?.session ?? "";
    assert.deepEqual([(await next.events("call.ended", child)).length, (await next.events("session.closed", child)).length], [1, 1]);
  });
});

describe("an agent in the foreground that winds down after its call was cancelled", () => {
  const slow = async (): Promise<{ made: Bench; child: string; go: () => void }> => {
    const door = gate();
    const hook = Promise.withResolvers<void>();
    const made = await bench(
      `turns: [{ calls: [${call("c1", { agent: "helper" })}] }]\n${helper("{ calls: [{ tool: gate }] }, { say: no }")}`,
      {
        tools: [door.tool],
        inAgents: {
          hooks: {
            consult: async (event) => (event === "tool_response_transform" ? void (await hook.promise) : undefined),
            tell: () => undefined,
          },
        },
      },
    );
    const stop = new AbortController();
    const end = made.send("go", stop.signal);
    await door.entered;
    stop.abort();
    await made.clock.advance(5_000);
    assert.equal((await end).reason, "cancelled");
    return { made, child: made.tasks.get("t_c1")?.session ?? "", go: hook.resolve };
  };

  test("is waited for before its root is closed", async () => {
    const { made, child, go } = await slow();
    assert.deepEqual(await made.events("call.ended", child), []);
    const closed = made.session.close("cancelled", 130);
    go();
    await closed;
    assert.deepEqual(
      [(await made.events("call.ended", child)).length, (await made.events("session.closed", child))[0]?.body.reason],
      [1, "cancelled"],
    );
    assert.equal(made.clock.pending(), 0);
  });

  test("is waited for also while it is being closed", async () => {
    const { made, child, go } = await slow();
    go();
    while ((await made.events("turn.ended", child)).length === 0) await new Promise(setImmediate);
    await made.session.close("cancelled", 130);
    assert.equal((await made.events("session.closed", child)).length, 1);
  });

  test("keeps its root open where it takes longer than 5 s", async () => {
    const { made, child } = await slow();
    const closed = assert.rejects(made.session.close("cancelled", 130), { type: "session_in_use" });
    await made.clock.advance(5_000);
    await closed;
    assert.deepEqual([await made.events("session.closed", child), await made.events("session.closed")], [[], []]);
  });
});

test("an agent in the foreground does not begin in a process that has lost its session", async () => {
  const made = await bench(`turns: [{ calls: [${call("c1", { agent: "helper" })}] }]\n${helper("{ say: no }")}`, {
    hooks: {
      consult: async (event) => {
        const holder = { pid: 2, host: "here", processStart: "now", door: "test" };
        if (event === "subagent_start") await openSession(made, { holder, id: made.session.id, takeOver: true });
        return undefined;
      },
      tell: () => undefined,
    },
  });
  assert.equal((await made.send("go")).error?.type, "stale_writer");
  assert.deepEqual(made.requests.filter(({ who }) => who !== "main").length, 0, "its model was not asked");
  const open = await made.ledger.pending("sessions", {});
  assert.deepEqual(
    open.map(({ id }) => id),
    [made.session.id],
    "and its session is closed",
  );
});

describe("whether an agent runs in the background", () => {
  const CASES: readonly [defined: boolean, asked: boolean | undefined, background: boolean][] = [
    [false, undefined, false],
    [false, true, true],
    [true, undefined, true],
    [true, true, true],
    [true, false, false],
    [false, false, false],
  ];
  for (const [defined, asked, background] of CASES) {
    test(`definition ${defined}, parameter ${asked ?? "absent"}: ${background ? "task" : "foreground"}`, async () => {
      const input = { agent: "helper", ...(asked !== undefined && { run_in_background: asked }) };
      const made = await bench(
        `turns: [{ calls: [${call("c1", input)}] }, { say: a }, { say: b }]\nallowUnused: true\n${helper("{ say: x }")}`,
        {
          definitions: [{ background: defined }],
        },
      );
      await made.sendAll("go");
      assert.equal((await made.events("task.started")).length, background ? 1 : 0);
    });
  }

  test('"true" is not true: the call is invalid, never understood', async () => {
    const made = await bench(
      `turns: [{ calls: [${call("c1", { agent: "helper", run_in_background: "true" })}] }, { expect: { result: { call: c1, outcome: invalid, type: invalid_tool_params } }, say: ok }]`,
    );
    assert.equal((await made.send("go")).reason, "done");
  });
});

describe("a background task", () => {
  test("its call ends at once, the parent continues, and its result comes as a notice", async () => {
    const door = gate();
    const made = await bench(
      `
turns:
  - calls: [${call("c1", inBackground)}]
  - expect: { result: { call: c1, contains: ["Started background task t_c1 (helper: help me)", "do not wait or poll"], outcome: succeeded }, notices: [] }
    say: Meanwhile.
  - expect: { notices: [{ contains: [<task-id>t_c1</task-id>, <status>completed</status>, Found it.] }] }
    say: Thanks.
agents: { helper: { turns: [{ calls: [{ tool: gate }] }, { say: Found it. }] } }
`,
      { tools: [door.tool] },
    );
    assert.deepEqual(await made.send("go"), { reason: "done", text: "Meanwhile." });
    assert.equal(made.tasks.running(), 1);
    assert.deepEqual(
      (await made.events("call.ended")).map(({ body }) => [body.details, body.display]),
      [
        [
          { taskId: "t_c1", agent: "helper" },
          { type: "task_execution", agentName: "helper", taskDescription: "help me", taskPrompt: "Do it.", status: "background" },
        ],
      ],
    );
    door.open();
    assert.deepEqual(await made.agent.settle(new AbortController().signal), { reason: "done", text: "Thanks." });
    made.player.assertUsed();
    assert.equal((await noticeTexts(made)).length, 1);
  });

  test("two calls of one agent in one batch, without usable ids, are two tasks with two notices", async () => {
    const made = await bench(
      `turns: [{ calls: [${call("'a b'", inBackground)}, ${call("'a/b'", inBackground)}] }, { say: x }, { say: y }, { say: z }]\nallowUnused: true\n${helper("{ say: done }")}`,
    );
    await made.sendAll("go");
    const ids = (await made.events("task.started")).map(({ body }) => body.task);
    assert.equal(new Set(ids).size, 2);
    for (const id of ids) assert.match(id, /^t_[a-z0-9]+$/);
    assert.equal((await noticeTexts(made)).length, 2);
  });

  test("a call id that was used before gives its task a random id", async () => {
    const made = await bench(`
turns:
  - calls: [${call("c1", inBackground)}]
  - calls: [${call("c1", { ...inBackground, prompt: "Another." })}]
  - say: x
  - say: y
allowUnused: true
${helper("{ say: done }")}`);
    await made.sendAll("go");
    const ids = (await made.events("task.started")).map(({ body }) => body.task);
    assert.equal(ids[0], "t_c1");
    assert.notEqual(ids[1], "t_c1");
  });

  test("a model that cannot be loaded is an error, and nothing is left running", async () => {
    const made = await bench(
      `turns: [{ calls: [${call("c1", inBackground)}] }, { expect: { result: { call: c1, type: agent_init_failed, contains: 'Could not start agent "helper": no such model' } }, say: ok }]`,
      {
        model: () => {
          throw new Error("no such model");
        },
      },
    );
    assert.deepEqual(await made.sendAll("go"), { reason: "done", text: "ok" });
    assert.deepEqual([made.tasks.list(), made.heard, await made.events("task.started")], [[], [], []]);
  });

  test("a start that the ledger refuses is an error, and the agent never runs", async () => {
    const made = await bench(
      `turns: [{ calls: [${call("c1", inBackground)}] }, { expect: { result: { call: c1, type: agent_init_failed, contains: refused } }, say: ok }, { calls: [${call("c2", inBackground)}] }]`,
      {
        maxRunning: 1,
        ledger: (ledger) =>
          Object.assign(Object.create(ledger), {
            append: (...given: Parameters<typeof ledger.append>) =>
              given[2].events.some(({ type }) => type === "task.started")
                ? Promise.reject(new LedgerError("event_too_large", "refused"))
                : ledger.append(...given),
          }),
      },
    );
    assert.deepEqual(await made.sendAll("go"), { reason: "done", text: "ok" });
    assert.deepEqual([made.requests.filter(({ who }) => who !== "main"), made.tasks.list(), made.heard], [[], [], []]);
    assert.equal(made.tasks.running(), 0, "its slot is free");
  });

  test("the eleventh is refused, and the ten are untouched", async () => {
    const door = gate();
    const calls = Array.from({ length: 11 }, (_none, at) => call(`c${at + 1}`, inBackground)).join(", ");
    const made = await bench(
      `turns: [{ calls: [${calls}] }, { expect: { result: { call: c11, type: task_limit, contains: "10 background tasks are already running. Wait for one to end, stop one, or run in the foreground." } }, say: ok }, { say: a }, { say: b }]\nallowUnused: true\n${helper("{ calls: [{ tool: gate }] }, { say: done }")}`,
      { tools: [door.tool] },
    );
    assert.equal((await made.send("go")).reason, "done");
    assert.equal(made.tasks.running(), 10);
    door.open();
    await made.agent.settle(new AbortController().signal);
    assert.deepEqual(
      made.tasks.list().map(({ status }) => status),
      Array.from({ length: 10 }, () => "completed"),
    );
  });

  test("the launching call's id is on the entry, both events and the envelope", async () => {
    const made = await bench(
      `turns: [{ calls: [${call("call_7", inBackground)}] }, { say: x }, { say: y }]\nallowUnused: true\n${helper("{ say: done }")}`,
    );
    await made.sendAll("go");
    assert.deepEqual(
      made.heard.map(({ type, task }) => [type, task.id, task.callId]),
      [
        ["task_started", "t_call_7", "call_7"],
        ["task_notification", "t_call_7", "call_7"],
      ],
    );
    assert.equal(made.tasks.get("t_call_7")?.callId, "call_7");
    assert.match((await noticeTexts(made))[0] ?? "", /<tool-use-id>call_7<\/tool-use-id>/);
  });

  const REFUSED: readonly [sentence: string, input: object, type: string, text: string][] = [
    ["a name nobody has", { agent: "nobody" }, "agent_not_found", 'No agent named \\"nobody\\". Available: helper, other.'],
    ["a reserved name", { agent: "fork" }, "agent_not_found", 'No agent named \\"fork\\"'],
    [
      "an untrusted one",
      { agent: "theirs" },
      "agent_untrusted",
      'Agent \\"theirs\\" comes from an untrusted workspace. Run \\"assent trust\\" first.',
    ],
  ];
  for (const [sentence, input, type, text] of REFUSED) {
    test(`${sentence} is told: ${type}`, async () => {
      const made = await bench(
        `turns: [{ calls: [${call("c1", input)}] }, { expect: { result: { call: c1, type: ${type}, contains: "${text}" } }, say: ok }]`,
        {
          definitions: [{}, { name: "other" }, { name: "theirs", usable: false }],
        },
      );
      assert.deepEqual(await made.send("go"), { reason: "done", text: "ok" });
    });
  }

  test("agents are nested at most three deep, never in a circle, and no task starts tasks", async () => {
    const all = { tools: ["agent", "echo"] };
    const made = await bench(
      `
turns:
  - calls: [${call("c1", { agent: "a" })}, ${call("c2", { agent: "a2", run_in_background: true })}]
  - say: ok
  - say: told
agents:
  a: { turns: [{ calls: [${call("x", { agent: "b" })}] }, { say: a }] }
  b: { turns: [{ calls: [${call("x", { agent: "c" })}, ${call("y", { agent: "a" })}] }, { expect: { result: { call: y, type: agent_cycle, contains: 'Agent "a" is already running above this one: main > a > b.' } }, say: b }] }
  c: { turns: [{ calls: [${call("x", { agent: "d" })}] }, { expect: { result: { call: x, type: agent_depth, contains: Agents may be nested at most 3 deep. } }, say: c }] }
  a2: { turns: [{ calls: [${call("x", { agent: "d", run_in_background: true })}, ${call("y", { agent: "d" })}] }, { expect: { results: [{ call: x, type: task_nested, contains: A background task cannot start background tasks. }, { call: y, contains: deep }] }, say: a2 }] }
  d: { turns: [{ say: deep }] }
`,
      { definitions: ["a", "b", "c", "a2", "d"].map((name) => ({ name, ...all })) },
    );
    assert.deepEqual(await made.sendAll("go"), { reason: "done", text: "told" });
    made.player.assertUsed();
    const ids = made.tasks.list().map(({ id }) => id);
    assert.deepEqual(
      [ids.length, new Set(ids).size, ids.includes("t_x")],
      [5, 5, true],
      "calls of different sessions may have one id, tasks not",
    );
  });

  test("the tool's description names the agents that can be started", async () => {
    const made = await bench("turns: [{ say: x }]", { definitions: [{}, { name: "theirs", usable: false, description: "Not yet." }] });
    await made.send("go");
    const offered = made.requests[0]?.options.tools?.find(({ name }) => name === "agent");
    assert.match(JSON.stringify(offered), /- helper: Helps\./);
    assert.doesNotMatch(JSON.stringify(offered), /theirs/);
  });
});

describe("what an agent is offered", () => {
  const OFFERS: readonly [sentence: string, tools: readonly string[] | undefined, offered: readonly string[] | undefined][] = [
    ["an empty list: no tools, not all", [], undefined],
    ["no list: every tool of the session but `agent`", undefined, ["echo", "task_list", "task_output", "task_stop", "task_send"]],
    ["of known and unknown names the known ones", ["echo", "nope"], ["echo"]],
  ];
  for (const [sentence, tools, offered] of OFFERS) {
    test(sentence, async () => {
      const made = await bench(`turns: [{ calls: [${call("c1", { agent: "helper" })}] }, { say: ok }]\n${helper("{ say: x }")}`, {
        definitions: [{ tools }],
      });
      await made.send("go");
      const request = made.requests.find(({ who }) => who === "helper");
      assert.deepEqual(
        request?.options.tools?.map(({ name }) => name),
        offered,
      );
      assert.deepEqual(request?.options.prompt[0], { role: "system", content: "You help." });
    });
  }

  test("an agent's own model is asked for by its id", async () => {
    const made = await bench(
      `turns: [{ calls: [${call("c1", { agent: "helper" })}] }, { say: ok }]\nagents: { helper: { turns: [{ expect: { model: "some:model" }, say: x }] } }`,
      { definitions: [{ model: "some:model" }] },
    );
    assert.deepEqual(await made.send("go"), { reason: "done", text: "ok" });
    made.player.assertUsed();
  });
});
