import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { setImmediate as turn } from "node:timers/promises";
import { defineTool, LedgerError, type Tool } from "@assent/core";
import { z } from "zod";
import type { LoadedAgent } from "../../src/index.ts";
import { type Bench, type BenchOptions, bench, gate, noticeTexts } from "./bench.ts";

const SIGNAL = new AbortController().signal;
const START = `{ tool: agent, id: c1, input: { description: help me, prompt: Do it., agent: helper, run_in_background: true } }`;
const script = (turns: string): string => `turns: [{ calls: [${START}] }, { say: Meanwhile. }, { say: One. }, { say: Two. }]
allowUnused: true
agents: { helper: { turns: [${turns}], allowUnused: true }, fork: { turns: [${turns}], allowUnused: true } }`;

const STUCK: Tool = defineTool({
  name: "stuck",
  description: "Never ends.",
  kind: "execute",
  input: z.object({}),
  run: () => new Promise<string>(() => undefined),
});

/** A process that is gone while its task does `turns`, and the next one. */
async function restarted(
  turns: string,
  { text = script(turns), ...options }: BenchOptions & { readonly text?: string } = {},
): Promise<{ before: Bench; after: Bench }> {
  const before = await bench(text, options);
  await before.send("go");
  for (let at = 0; at < 50; at += 1) await turn();
  const after = await bench(text, { ...options, after: before });
  await after.tasks.restore();
  return { before, after };
}

/** Lets what is delayed come, and waits for the end. */
async function ended(made: Bench): Promise<void> {
  await made.clock.advance(1_000);
  await made.agent.settle(SIGNAL);
}

const WAITS = "{ say: Half., calls: [{ tool: echo, input: { text: a } }] }, { delayMs: 1000, say: Whole. }";

describe("a task whose process is gone", () => {
  test("a running task is paused after a restart, does not block the run, and resumes where it was", async () => {
    const { after } = await restarted(WAITS);
    const [task] = after.tasks.list();
    assert.deepEqual([task?.status, task?.resumable, task?.blockedReason, after.tasks.running()], ["paused", true, undefined, 0]);
    assert.deepEqual(
      (await after.events("task.paused")).map(({ body }) => [body.reason, body.blocked]),
      [["restart", null]],
    );
    assert.equal(await after.agent.settle(SIGNAL), undefined);
    assert.equal(await after.tasks.resume("t_c1", "person"), undefined);
    await ended(after);
    const [end] = await after.events("task.ended");
    assert.deepEqual([end?.body.status, end?.body.result], ["completed", "Whole."]);
    const child = task?.session ?? "";
    assert.equal((await after.events("call.claimed", child)).length, 1, "no second start of its calls");
  });

  test("resumed, it comes to its end and gives its one notice, with the use of both processes", async () => {
    const { after } = await restarted(
      "{ say: Half., calls: [{ tool: echo, input: { text: a } }], usage: { inputTokens: 5, outputTokens: 1 } }, { delayMs: 1000, say: Whole., usage: { inputTokens: 7, outputTokens: 1 } }",
    );
    await after.tasks.resume("t_c1", "person");
    await ended(after);
    const [end] = await after.events("task.ended");
    assert.deepEqual(
      [end?.body.status, end?.body.usage.totalTokens, end?.body.usage.toolUses, (await noticeTexts(after)).length],
      ["completed", 14, 1, 1],
    );
    assert.equal(after.tasks.output("t_c1"), "Half.\n\nWhole.");
  });

  test("resumed, it has no more turns than were left", async () => {
    const turns =
      "{ calls: [{ tool: echo, input: { text: a } }] }, { delayMs: 1000, calls: [{ tool: echo, input: { text: b } }] }, { say: no }";
    const { after } = await restarted(turns, { definitions: [{ maxTurns: 3 }] });
    await after.tasks.resume("t_c1", "person");
    await ended(after);
    const [end] = await after.events("task.ended");
    assert.deepEqual([end?.body.status, end?.body.error], ["failed", "turn limit (3) reached"], "the turn that was cut short counts");
  });

  const BLOCKED: readonly [sentence: string, reason: string, turns: string, options: BenchOptions, later: BenchOptions][] = [
    ["whose definition has changed", "agent_changed", WAITS, {}, { definitions: [{ digest: "sha256:2" }] }],
    ["whose definition is gone", "agent_changed", WAITS, {}, { definitions: [] }],
    ["whose definition is not trusted any more", "agent_changed", WAITS, {}, { definitions: [{ usable: false }] }],
    ["whose directory is gone", "cwd_missing", WAITS, {}, { isDirectory: () => false }],
    ["that left a call of which nobody knows whether it ran", "execution_unknown", "{ calls: [{ tool: stuck }] }", { tools: [STUCK] }, {}],
  ];
  for (const [sentence, reason, turns, options, later] of BLOCKED) {
    test(`one ${sentence} cannot go on: ${reason}`, async () => {
      const before = await bench(script(turns), options);
      await before.send("go");
      for (let at = 0; at < 50; at += 1) await turn();
      const after = await bench(script(turns), { ...options, ...later, after: before });
      await after.tasks.restore();
      const task = after.tasks.get("t_c1");
      assert.deepEqual([task?.status, task?.resumable, task?.blockedReason], ["paused", false, reason]);
      assert.equal((await after.tasks.resume("t_c1", "person"))?.type, reason);
      assert.deepEqual([await after.events("task.resumed"), after.requests], [[], []], "nothing was done");
      assert.equal(await after.tasks.cancel("t_c1", "person"), undefined);
      await after.tasks.idle();
      assert.deepEqual(
        [after.tasks.get("t_c1")?.status, (await noticeTexts(after)).length],
        ["cancelled", 1],
        "discarding it gives its notice",
      );
    });
  }

  test("a task with an unknown call resumes after a person released it, gets the person's message first, and stays released", async () => {
    const text = script("{ calls: [{ tool: stuck }] }, { say: Whole. }");
    const before = await bench(text, { tools: [STUCK] });
    await before.send("go");
    for (let at = 0; at < 50; at += 1) await turn();
    const after = await bench(text, { tools: [STUCK], after: before });
    await after.tasks.restore();
    assert.equal(await after.tasks.release("t_c1", { by: "ada", message: "It <did> run." }), undefined);
    assert.deepEqual([after.tasks.get("t_c1")?.resumable, after.requests], [true, []], "nothing goes on by itself");
    assert.equal(await after.tasks.release("t_c1", { by: "ada" }), undefined, "what is asked for holds");
    const later = await bench(text, { tools: [STUCK], after });
    await later.tasks.restore();
    assert.equal(later.tasks.get("t_c1")?.resumable, true, "also in a later process");
    assert.equal(await later.tasks.release("t_c1", { by: "ada", message: "It ran twice." }), undefined, "there is more to say");
    await later.tasks.resume("t_c1", "resume");
    await ended(later);
    assert.equal((await later.events("task.ended"))[0]?.body.status, "completed");
    const heard = JSON.stringify(later.requests.find(({ who }) => who === "helper")?.options.prompt);
    assert.match(
      heard,
      /It is unknown whether 'stuck' ran.*Message from a person: It &lt;did&gt; run\..*Message from a person: It ran twice\./,
    );
  });

  test("nothing but looking is released: what is changed or gone stays blocked, what runs or is over is refused", async () => {
    const { after } = await restarted(WAITS, {});
    assert.equal((await after.tasks.release("t_no", { by: "ada" }))?.type, "task_stop_not_found");
    const changed = await bench(script(WAITS), { after, definitions: [{ digest: "sha256:2" }] });
    await changed.tasks.restore();
    assert.equal((await changed.tasks.release("t_c1", { by: "ada" }))?.type, "not_allowed");
    await changed.tasks.cancel("t_c1", "ada");
    assert.equal((await changed.tasks.release("t_c1", { by: "ada" }))?.type, "task_stop_not_running");
  });

  test("a task resumes when its unchanged definition is loaded later; a changed one does not help", async () => {
    const given: { definitions: Partial<LoadedAgent>[] } = { definitions: [] };
    const before = await bench(script(WAITS));
    await before.send("go");
    for (let at = 0; at < 50; at += 1) await turn();
    const after = await bench(script(WAITS), { after: before, live: given });
    await after.tasks.restore();
    assert.equal(after.tasks.get("t_c1")?.blockedReason, "agent_changed");
    given.definitions = [{ digest: "sha256:2" }];
    await after.tasks.recheckBlocked();
    assert.equal(after.tasks.get("t_c1")?.blockedReason, "agent_changed");
    given.definitions = [{}];
    await after.tasks.recheckBlocked();
    assert.deepEqual([after.tasks.get("t_c1")?.resumable, after.tasks.list().length], [true, 1]);
    await after.tasks.resume("t_c1", "resume");
    await ended(after);
    assert.equal((await after.events("task.ended"))[0]?.body.result, "Whole.");
  });

  test("a task that was being cancelled is ended with one notice, not paused", async () => {
    const before = await bench(script("{ say: Half., calls: [{ tool: stuck }] }"), { tools: [STUCK] });
    await before.send("go");
    for (let at = 0; at < 50; at += 1) await turn();
    await before.tasks.cancel("t_c1", "person");
    assert.deepEqual(await before.events("task.ended"), []);
    const after = await bench(script("{ say: x }"), { tools: [STUCK], after: before });
    await after.tasks.restore();
    const [end] = await after.events("task.ended");
    assert.deepEqual(
      [end?.body.status, end?.body.result, (await noticeTexts(after)).length, await after.events("task.paused")],
      ["cancelled", "Half.", 1, []],
    );
  });

  test("a message that was only recorded in the parent is delivered when the task resumes", async () => {
    const { before, after } = await restarted(
      "{ say: Half., calls: [{ tool: echo, input: { text: a } }] }, { delayMs: 1000, say: Heard. }",
    );
    assert.notEqual(before, after);
    await after.session.record(
      [after.session.draft("task.message", { task: "t_c1", message: "n_left", text: "left behind", by: "model" })],
      "normal",
    );
    await after.tasks.resume("t_c1", "person");
    await ended(after);
    assert.match(
      JSON.stringify(after.requests.find(({ who }) => who === "helper")?.options.prompt.at(-1)),
      /Message from the main agent: left behind/,
    );
  });

  test("a message to a paused task resumes it", async () => {
    const { after } = await restarted("{ say: Half., calls: [{ tool: echo, input: { text: a } }] }, { delayMs: 1000, say: Heard. }");
    assert.equal(await after.tasks.send("t_c1", "go on", "model"), undefined);
    assert.equal(after.tasks.get("t_c1")?.status, "running");
    await ended(after);
    assert.match(
      JSON.stringify(after.requests.find(({ who }) => who === "helper")?.options.prompt.at(-1)),
      /Message from the main agent: go on/,
    );
    assert.equal((await after.events("task.ended"))[0]?.body.result, "Heard.");
  });

  test("one that had said its last word is not asked again", async () => {
    let isGone = false;
    const before = await bench(script("{ say: Whole. }"), {
      ledger: (ledger) =>
        Object.assign(Object.create(ledger), {
          append: (...given: Parameters<typeof ledger.append>) =>
            !isGone && given[2].events.some(({ type }) => type === "task.ended") ? new Promise(() => undefined) : ledger.append(...given),
        }),
    });
    await before.send("go");
    for (let at = 0; at < 50; at += 1) await turn();
    isGone = true;
    const after = await bench(script("{ say: Whole. }"), { after: before });
    await after.tasks.restore();
    await after.tasks.resume("t_c1", "person");
    await after.tasks.idle();
    assert.deepEqual(
      [(await after.events("task.ended"))[0]?.body.result, after.requests.filter(({ who }) => who === "helper")],
      ["Whole.", []],
    );
  });

  test("a fork resumes with the history it was forked from", async () => {
    const text = script("{ say: Half., calls: [{ tool: echo, input: { text: a } }] }, { delayMs: 1000, say: Whole. }").replace(
      ", agent: helper",
      "",
    );
    const { before, after } = await restarted("", { text });
    const first = before.requests.find(({ who }) => who === "fork")?.options.prompt ?? [];
    await after.tasks.resume("t_c1", "person");
    await ended(after);
    const again = after.requests.find(({ who }) => who === "fork")?.options.prompt ?? [];
    assert.deepEqual(again.slice(0, first.length), first);
    assert.equal((await after.events("task.ended"))[0]?.body.result, "Whole.");
  });

  test("a foreground agent of an ended process is ended with its open calls, and reported once", async () => {
    const text = `turns: [{ calls: [{ tool: agent, id: c1, input: { description: d, prompt: p, agent: helper } }] }, { say: x }]\nagents: { helper: { turns: [{ calls: [{ tool: stuck }] }, { say: y }] } }`;
    const before = await bench(text, { tools: [STUCK] });
    void before.send("go");
    for (let at = 0; at < 50; at += 1) await turn();
    const [child = ""] = before.tasks.list().map(({ session }) => session);
    const after = await bench(text, { tools: [STUCK], after: before });
    await after.tasks.restore();
    assert.deepEqual(
      [
        (await after.events("call.ended", child)).map(({ body }) => body.outcome),
        (await after.events("session.closed", child)).map(({ body }) => body.reason),
      ],
      [["unknown"], ["cancelled"]],
    );
    assert.deepEqual([after.tasks.list(), await noticeTexts(after)], [[], []]);
  });

  /** A process after another, whose store is locked so many times for whoever takes the agent's session. */
  async function afterLocked(locked: number): Promise<{ readonly after: Awaited<ReturnType<typeof bench>>; readonly child: string }> {
    const text = `turns: [{ calls: [{ tool: agent, id: c1, input: { description: d, prompt: p, agent: helper } }] }, { say: x }]\nagents: { helper: { turns: [{ calls: [{ tool: stuck }] }, { say: y }] } }`;
    const before = await bench(text, { tools: [STUCK] });
    void before.send("go");
    for (let at = 0; at < 50; at += 1) await turn();
    const [child = ""] = before.tasks.list().map(({ session }) => session);
    let times = locked;
    const after = await bench(text, {
      tools: [STUCK],
      after: before,
      ledger: (ledger) =>
        Object.assign(Object.create(ledger), {
          acquire: (...given: Parameters<typeof ledger.acquire>) => {
            if (given[0] !== child || times === 0) return ledger.acquire(...given);
            times -= 1;
            return Promise.reject(new LedgerError("store_locked", "locked"));
          },
        }),
    });
    await after.tasks.restore();
    return { after, child };
  }

  test("an agent that a call waited for, and that a locked store keeps from being ended, is ended before its root is closed", async () => {
    const { after, child } = await afterLocked(6);
    assert.match(after.warnings.join("\n"), /could not be ended: locked/);
    await assert.rejects(after.session.close("done", 0), { type: "store_locked" });
    await after.session.close("done", 0);
    assert.deepEqual([(await after.events("call.ended", child)).length, (await after.events("session.closed", child)).length], [1, 1]);
  });

  test("a store that is locked for a moment does not keep an agent that a call waited for from being ended", async () => {
    const { after, child } = await afterLocked(4);
    assert.deepEqual(after.warnings, []);
    assert.equal((await after.events("session.closed", child)).length, 1);
  });

  test("an agent that a stopped process starts below another, before that one is taken from it, is ended too", async () => {
    const started = (agent: string): string => `{ tool: agent, input: { description: d, prompt: p, agent: ${agent} } }`;
    const text = `turns: [{ calls: [${started("helper")}] }]
agents: { helper: { turns: [{ calls: [{ tool: gate }] }, { calls: [${started("inner")}] }] }, inner: { turns: [{ delayMs: 1000, say: no }] } }`;
    const door = gate();
    const options = { tools: [door.tool], definitions: [{ tools: ["agent", "gate"] }, { name: "inner" }] };
    const before = await bench(text, options);
    void before.send("go");
    await door.entered;
    const [child = ""] = before.tasks.list().map(({ session }) => session);
    const after = await bench(text, {
      ...options,
      after: before,
      ledger: (ledger) =>
        Object.assign(Object.create(ledger), {
          acquire: async (...given: Parameters<typeof ledger.acquire>) => {
            if (given[0] === child) door.open(); // the other process goes on
            for (let at = 0; given[0] === child && at < 50; at += 1) await turn();
            return await ledger.acquire(...given);
          },
        }),
    });
    await after.tasks.restore();
    assert.equal(before.requests.filter(({ who }) => who === "inner").length, 1, "it had begun");
    assert.deepEqual(
      (await after.ledger.pending("sessions", {})).map(({ id }) => id),
      [after.session.id],
    );
    await before.clock.advance(1_000);
    assert.match(before.warnings.join("\n"), /taken over/, "what it said is on no record");
  });

  test("ids of tasks that ended before are not given again", async () => {
    const door = gate();
    const before = await bench(script("{ say: done }"), { tools: [door.tool] });
    await before.sendAll("go");
    const after = await bench(
      `turns: [{ say: a }, { say: b }, { say: c }, { calls: [${START}] }, { say: e }, { say: f }]\nallowUnused: true\nagents: { helper: { turns: [{ say: done }] } }`,
      { after: before, tools: [door.tool] },
    );
    await after.tasks.restore();
    assert.deepEqual(
      after.tasks.list().map(({ id, status }) => [id, status]),
      [["t_c1", "completed"]],
    );
    await after.sendAll("again");
    const ids = (await after.events("task.started")).map(({ body }) => body.task);
    assert.deepEqual([ids.length, new Set(ids).size], [2, 2]);
  });
});
