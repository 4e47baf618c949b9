import assert from "node:assert/strict";
import { describe, test } from "node:test";
import {
  AnswerError,
  type AnswerPorts,
  type Approver,
  answerApproval,
  defineTool,
  type HookOpinion,
  type Hooks,
  type NamedChecker,
  patternRules,
  staticPolicy,
  type Tool,
} from "@assent/core";
import { z } from "zod";
import { type Bench, type BenchOptions, bench, noticeTexts } from "./bench.ts";

const SIGNAL = new AbortController().signal;
const BY = { kind: "person", user: "u", name: "u", door: "test", pid: 1 } as const;
const START = `{ tool: agent, id: c1, input: { description: help me, prompt: Do it., agent: helper, run_in_background: true } }`;
const started = (turns: string): string => `turns: [{ calls: [${START}] }, { say: Meanwhile. }, { say: One. }, { say: Two. }]
allowUnused: true
agents: { helper: { turns: [${turns}], allowUnused: true } }`;
const ASKS = { policy: staticPolicy({ revision: "r", mode: "default", checkers: [], safeguards: [], honourReadOnlyHint: true }) };
const NOTE = "Background tasks cannot ask. Allow it with a rule, or leave it to the main agent.";
const CALLS = "{ calls: [{ tool: mark, id: m1, input: { text: x } }] }";

function marking(): { readonly tool: Tool; readonly marks: string[] } {
  const marks: string[] = [];
  const tool = defineTool({
    name: "mark",
    description: "Leaves a mark.",
    kind: "execute",
    input: z.object({ text: z.string() }),
    run: ({ text }) => {
      marks.push(text);
      return "marked";
    },
  });
  return { tool, marks };
}

function hooks(
  answers: Partial<
    Record<
      string,
      (input: Readonly<Record<string, unknown>>, signal: AbortSignal) => HookOpinion | undefined | Promise<HookOpinion | undefined>
    >
  >,
): Hooks & { readonly asked: string[] } {
  const asked: string[] = [];
  return {
    asked,
    consult: async (event, input, signal) => {
      asked.push(event);
      return await answers[event]?.(input, signal);
    },
    tell: () => undefined,
  };
}

describe("what a task may do", () => {
  test("what would be asked is denied, says why, and does not run", async () => {
    const { tool, marks } = marking();
    const expect = `{ expect: { result: { call: m1, outcome: denied, type: denied_unattended, contains: ["Tool 'mark' requires approval, but no one can be asked in this run. ${NOTE}"], notContains: user } }, say: ok }`;
    const made = await bench(started(`${CALLS}, ${expect}`), { tools: [tool], inAgents: { ...ASKS, onAsk: "deny", unattendedNote: NOTE } });
    await made.sendAll("go");
    made.player.assertUsed();
    assert.deepEqual([marks, (await made.events("task.ended"))[0]?.body.status], [[], "completed"]);
  });

  test("a permission hook that allows it lets it run, and is named", async () => {
    const { tool, marks } = marking();
    const allowing = hooks({ permission_request: () => ({ verdict: "allow", name: "gatekeeper" }) });
    const made = await bench(started(`${CALLS}, { say: ok }`), { tools: [tool], inAgents: { ...ASKS, hooks: allowing } });
    await made.sendAll("go");
    assert.deepEqual(marks, ["x"]);
    const child = made.tasks.get("t_c1")?.session ?? "";
    assert.deepEqual(
      (await made.events("call.answered", child)).map(({ body }) => body.by),
      [{ kind: "hook", id: "gatekeeper" }],
    );
  });

  test("a permission hook that throws has no opinion", async () => {
    const { tool, marks } = marking();
    const failing = hooks({
      permission_request: () => {
        throw new Error("oops");
      },
    });
    const made = await bench(started(`${CALLS}, { expect: { result: { call: m1, type: denied_unattended } }, say: ok }`), {
      tools: [tool],
      inAgents: { ...ASKS, hooks: failing },
    });
    await made.sendAll("go");
    made.player.assertUsed();
    assert.deepEqual(marks, []);
  });

  test("in yolo it runs, but what a rule insists on asking is denied", async () => {
    const { tool, marks } = marking();
    const insisting: NamedChecker = {
      label: "user permissions",
      scope: "user",
      check: ({ input: { text } }) => ({ verdict: text === "ask" || text === "deny" ? text : "none" }),
    };
    const policy = staticPolicy({ revision: "r", mode: "yolo", checkers: [insisting], safeguards: [], honourReadOnlyHint: true });
    const made = await bench(
      started(
        `{ calls: [{ tool: mark, id: a, input: { text: go } }, { tool: mark, id: b, input: { text: ask } }, { tool: mark, id: c, input: { text: deny } }] }, { expect: { results: [{ call: a, outcome: succeeded }, { call: b, type: denied_unattended }, { call: c, type: denied_by_rule }] }, say: ok }`,
      ),
      { tools: [tool], inAgents: { policy } },
    );
    await made.sendAll("go");
    made.player.assertUsed();
    assert.deepEqual(marks, ["go"]);
    assert.equal(made.tasks.get("t_c1")?.mode, "yolo");
  });

  test("grants of the session above count; those given to its own calls are its own", async () => {
    const { tool, marks } = marking();
    const approver: Approver = {
      available: () => true,
      ask: async ({ id }) => ({ approval: id, outcome: "approve", by: BY, remember: { scope: "user", rules: ["mark:text=y*"] } }),
    };
    const above: string[] = [];
    const made = await bench(
      started(`${CALLS}, { calls: [{ tool: mark, input: { text: y1 } }] }, { calls: [{ tool: mark, input: { text: y2 } }] }, { say: ok }`),
      {
        tools: [tool],
        inAgents: { ...ASKS, approver, rules: patternRules, above },
      },
    );
    above.push(made.session.id);
    await made.ledger.answer([
      made.session.draft("grant.created", {
        grant: "g_x",
        scope: "session",
        session: made.session.id,
        rule: "mark:text=x",
        tool: "mark",
        madeBy: "u",
        approval: "a_0",
      }),
    ]);
    await made.sendAll("go");
    assert.deepEqual(marks, ["x", "y1", "y2"]);
    const child = made.tasks.get("t_c1")?.session ?? "";
    const answered = (await made.events("call.answered", child)).map(({ body }) => body.source);
    assert.deepEqual(answered, ["grant_session", "grant_session"], "the first by the root's grant, the last by its own");
    const grants = await made.ledger.pending("grants", {});
    assert.deepEqual(
      grants.map(({ id, scope, session }) => [id === "g_x", scope, session]),
      [
        [true, "session", made.session.id],
        [false, "session", child],
      ],
    );
  });
});

describe("an approval of a task", () => {
  const shown = (): { readonly approver: Approver; readonly open: Promise<string>; readonly aborted: Promise<void> } => {
    const open = Promise.withResolvers<string>();
    const aborted = Promise.withResolvers<void>();
    return {
      open: open.promise,
      aborted: aborted.promise,
      approver: {
        available: () => true,
        ask: ({ id }, signal) => {
          open.resolve(id);
          return new Promise((resolve) =>
            signal.addEventListener("abort", () => {
              aborted.resolve();
              resolve(undefined);
            }),
          );
        },
      },
    };
  };

  test("an approval of a cancelled task is closed first, and a later answer is refused", async () => {
    const { tool, marks } = marking();
    const person = shown();
    const made = await bench(started(`${CALLS}, { say: no }`), { tools: [tool], inAgents: { ...ASKS, approver: person.approver } });
    await made.send("go");
    const id = await person.open;
    const order: string[] = [];
    const following = made.ledger.subscribe(
      { pos: await made.ledger.head() },
      { types: ["approval.closed", "call.ended", "task.cancelling", "task.ended"] },
      ({ type }) => order.push(type),
    );
    await made.tasks.cancel("t_c1", "person");
    const [row] = await made.ledger.pending("approvals", { all: true });
    assert.deepEqual([row?.state, made.tasks.get("t_c1")?.status], ["cancelled", "cancelling"]);
    await made.tasks.idle();
    await person.aborted;
    following.close();
    assert.deepEqual(order, ["task.cancelling", "approval.closed", "call.ended", "task.ended"]);
    const closed: unknown[] = [];
    for await (const { body } of made.ledger.read({ pos: 0 }, { types: ["approval.closed"] })) closed.push(body["by"]);
    assert.deepEqual(closed, ["person"], "by who cancelled the task, before its calls were stopped");
    const late = await answerApproval(portsOf(made), { approval: id, outcome: "approve", by: BY });
    assert.deepEqual([late.outcome, late.alreadyAnswered, late.identical], ["cancelled", true, false]);
    assert.deepEqual(marks, []);
  });

  const parkedOn = async (options: BenchOptions = {}): Promise<{ made: Bench; marks: string[]; approval: string }> => {
    const { tool, marks } = marking();
    const paused = Promise.withResolvers<void>();
    const made = await bench(started(`${CALLS}, { say: Went on. }`), {
      tools: [tool],
      inAgents: { ...ASKS, onAsk: "park" },
      ...options,
      observe: ({ type }) => {
        if (type === "task_paused") paused.resolve();
      },
    });
    await made.send("go");
    await paused.promise;
    const [row] = await made.ledger.pending("approvals", {});
    return { made, marks, approval: row?.id ?? "" };
  };
  const never = (): never => {
    throw new AnswerError("bad_answer", "not here");
  };
  const portsOf = ({ ledger, clock, ids }: Bench): AnswerPorts => {
    return { ledger, clock, ids, rules: patternRules, requests: { load: never, edit: never, partProblem: never } };
  };

  test("a parked approval pauses the task, which does not block the run, and resumes when it is answered", async () => {
    const { made, marks, approval } = await parkedOn();
    assert.deepEqual(
      [made.tasks.running(), marks, made.tasks.get("t_c1")?.status, made.tasks.get("t_c1")?.blockedReason],
      [0, [], "paused", "approval"],
    );
    await made.tasks.idle();
    assert.equal(await made.agent.settle(SIGNAL), undefined, "nothing to wait for");
    await answerApproval(portsOf(made), { approval, outcome: "approve", by: BY });
    while (made.tasks.get("t_c1")?.status !== "completed") await new Promise(setImmediate);
    assert.deepEqual([marks, (await made.events("task.ended"))[0]?.body.result], [["x"], "Went on."]);
    assert.deepEqual(
      [(await made.events("task.paused")).length, (await made.events("task.resumed")).length, (await noticeTexts(made)).length],
      [1, 1, 1],
    );
  });

  test("that is parked and discarded with its task ends the call, and gives one notice", async () => {
    const { made, marks } = await parkedOn();
    assert.equal(await made.tasks.cancel("t_c1", "person"), undefined);
    await made.tasks.idle();
    const child = made.tasks.get("t_c1")?.session ?? "";
    assert.deepEqual([made.tasks.get("t_c1")?.status, marks, (await noticeTexts(made)).length], ["cancelled", [], 1]);
    assert.deepEqual(
      (await made.events("call.ended", child)).map(({ body }) => body.outcome),
      ["cancelled"],
    );
    assert.deepEqual(await made.ledger.pending("approvals", {}), []);
  });

  test("that is parked in the moment its task is cancelled is ended once", async () => {
    const { tool, marks } = marking();
    const mayWish = Promise.withResolvers<void>();
    const cancelled = Promise.withResolvers<unknown>();
    const told: string[] = [];
    const made = await bench(started(`${CALLS}, { say: no }`), {
      tools: [tool],
      ledger: (ledger) =>
        Object.assign(Object.create(ledger), {
          append: async (...given: Parameters<typeof ledger.append>) => {
            const types = given[2].events.map(({ type }) => type);
            if (types.includes("approval.opened")) cancelled.resolve(made.tasks.cancel("t_c1", "person"));
            if (types.includes("task.cancelling")) await mayWish.promise;
            return await ledger.append(...given);
          },
        }),
      inAgents: {
        ...ASKS,
        onAsk: "park",
        hooks: {
          consult: async (event) => {
            if (event !== "tool_response_transform") return undefined;
            told.push(event);
            mayWish.resolve(); // its body has come to rest, and ends what it left open
            for (let at = 0; at < 50; at += 1) await new Promise(setImmediate);
            return undefined;
          },
          tell: (event) => void told.push(event),
        },
      },
    });
    await made.send("go");
    assert.equal(await cancelled.promise, undefined);
    await made.tasks.idle();
    const child = made.tasks.get("t_c1")?.session ?? "";
    assert.deepEqual(
      [(await made.events("call.ended", child)).map(({ body }) => body.outcome), (await made.events("task.ended")).length, marks],
      [["cancelled"], 1, []],
    );
    assert.deepEqual(told.filter((event) => event === "tool_response_transform").length, 1);
    assert.deepEqual(told.filter((event) => event === "on_tool_approval_decision").length, 1);
    assert.deepEqual(made.warnings, []);
  });

  test("a task with a parked approval resumes once in another process after it was answered", async () => {
    const { made, marks, approval } = await parkedOn();
    await made.session.close("parked", 75);
    await answerApproval(portsOf(made), { approval, outcome: "approve", by: BY });
    const { tool, marks: again } = marking();
    const script = started(`${CALLS}, { expect: { result: { call: m1, outcome: succeeded } }, say: Went on. }`);
    const next = await bench(script, { after: made, tools: [tool], inAgents: { ...ASKS, onAsk: "park" } });
    await next.tasks.restore();
    await next.agent.settle(SIGNAL);
    assert.deepEqual([marks, again, next.tasks.get("t_c1")?.status], [[], ["x"], "completed"]);
    assert.equal((await noticeTexts(next)).length, 1);
  });
});

describe("hooks of agents", () => {
  test("an agent that a stop hook keeps going once continues as the same agent, with the reason", async () => {
    let held = false;
    const seen: unknown[] = [];
    const holding = hooks({
      subagent_stop: (input) => {
        seen.push([input["agent_id"], input["agent_type"], input["stop_hook_active"], input["last_assistant_message"]]);
        if (held) return undefined;
        held = true;
        return { verdict: "deny", name: "h", reason: "check the tests too" };
      },
    });
    const made = await bench(started("{ say: First. }, { say: Second. }"), { hooks: holding });
    await made.sendAll("go");
    assert.equal((await made.events("task.ended"))[0]?.body.result, "Second.");
    assert.deepEqual(seen, [
      ["t_c1", "helper", false, "First."],
      ["t_c1", "helper", true, "Second."],
    ]);
    const [first, second] = made.requests.filter(({ who }) => who === "helper");
    assert.deepEqual(second?.options.prompt.slice(0, first?.options.prompt.length), first?.options.prompt);
    assert.deepEqual(second?.options.tools, first?.options.tools);
    assert.match(JSON.stringify(second?.options.prompt.at(-1)), /check the tests too/);
  });

  for (const [limit, given] of [
    [5, { stopHookLimit: 5 }],
    [8, {}],
  ] as const) {
    test(`one that is held back for ever goes on ${limit} times, then it is done, with a remark`, async () => {
      const holding = hooks({ subagent_stop: () => ({ verdict: "deny", name: "h", reason: "more" }) });
      const turns = Array.from({ length: 12 }, (_none, at) => `{ say: "${at}" }`).join(", ");
      const made = await bench(started(turns), { hooks: holding, ...given });
      await made.sendAll("go");
      const [end] = await made.events("task.ended");
      assert.deepEqual([end?.body.status, end?.body.result, end?.body.remark], ["completed", String(limit), "stop hook limit reached"]);
      assert.match((await noticeTexts(made))[0] ?? "", /<summary>helper: help me — completed \(stop hook limit reached\)<\/summary>/);
    });
  }

  test("a stop hook that fails lets it stop", async () => {
    const failing = hooks({
      subagent_stop: () => {
        throw new Error("oops");
      },
    });
    const made = await bench(started("{ say: First. }, { say: Second. }"), { hooks: failing });
    await made.sendAll("go");
    assert.equal((await made.events("task.ended"))[0]?.body.result, "First.");
  });

  test("a start that a hook blocks is an error, and leaves nothing behind", async () => {
    const blocking = hooks({ subagent_start: (input) => ({ verdict: "deny", name: "h", reason: `no ${String(input["agent_type"])}` }) });
    const script = `turns: [{ calls: [${START}] }, { expect: { result: { call: c1, type: agent_init_failed, contains: 'Could not start agent "helper": no helper' } }, say: ok }]`;
    const made = await bench(script, { hooks: blocking });
    assert.deepEqual(await made.sendAll("go"), { reason: "done", text: "ok" });
    assert.deepEqual([made.tasks.list(), await made.events("task.started")], [[], []]);
  });

  test("what a start hook says reaches the agent", async () => {
    const speaking = hooks({ subagent_start: () => ({ verdict: "none", name: "h", context: "Mind the <gap>." }) });
    const made = await bench(started("{ say: ok }"), { hooks: speaking });
    await made.sendAll("go");
    assert.match(JSON.stringify(made.requests.find(({ who }) => who === "helper")?.options.prompt), /Do it\..*Mind the &lt;gap&gt;\./);
  });

  test("a hook that refuses every prompt is not asked about a notice, nor about an agent's task", async () => {
    const refusing = hooks({ user_prompt_submit: () => ({ verdict: "deny", name: "h", reason: "no" }) });
    const made = await bench(started("{ say: done }"), { hooks: refusing, talk: { hooks: refusing } });
    assert.equal((await made.send("go")).reason, "stopped", "a person's prompt is refused");
    const free = await bench(started("{ say: done }"), { hooks: refusing });
    await free.sendAll("go");
    assert.deepEqual(
      [(await free.events("notice.delivered")).length, refusing.asked.filter((event) => event === "user_prompt_submit").length],
      [1, 1],
    );
  });
});
