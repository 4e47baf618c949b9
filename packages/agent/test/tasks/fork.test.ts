import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { setImmediate as turn } from "node:timers/promises";
import { defineTool, type Tool } from "@assent/core";
import { z } from "zod";
import { bench, gate } from "./bench.ts";

const call = (id: string, input: object = {}): string =>
  `{ tool: agent, id: ${id}, input: ${JSON.stringify({ description: "branch", prompt: "Go on alone.", ...input })} }`;

/** A tool that starts an agent itself, through the gate, after some awaits. */
const nesting: Tool = defineTool({
  name: "nest",
  description: "Starts an agent.",
  kind: "other",
  input: z.object({}),
  run: async (_input, { gate: through }) => {
    await turn();
    await new Promise((resolve) => setTimeout(resolve, 1));
    const result = await through({ name: "agent", arguments: { description: "d", prompt: "p" } }).catch((error: unknown) => error);
    return { content: result instanceof Error ? result.message : JSON.stringify(result) };
  },
});

describe("a fork", () => {
  test("its first request has the parent's prompt, history and tools, byte for byte and in order, then its own task", async () => {
    const made = await bench(
      `
turns:
  - say: I look.
    calls: [{ tool: echo, id: e1, input: { text: hi } }]
  - say: I fork.
    calls: [{ tool: echo, id: e2, input: { text: before } }, ${call("f1", { run_in_background: true })}, { tool: echo, id: e3, input: { text: after } }]
  - say: Meanwhile.
  - say: Thanks.
agents: { fork: { turns: [{ say: Branch done. }] } }
`,
    );
    await made.sendAll("the question");
    const [, second, third] = made.requests.filter(({ who }) => who === "main");
    const forked = made.requests.find(({ who }) => who === "fork");
    const prompt = forked?.options.prompt ?? [];
    assert.deepEqual(prompt.slice(0, second?.options.prompt.length), second?.options.prompt);
    assert.deepEqual(forked?.options.tools, third?.options.tools);
    for (const [at, message] of (second?.options.prompt ?? []).entries()) assert.equal(prompt[at], message, "shared, not copied");
    const own = prompt.slice(second?.options.prompt.length);
    assert.deepEqual(
      own.map(({ role }) => role),
      ["assistant", "tool", "user"],
    );
    const results = own[1]?.role === "tool" ? own[1].content.map((part) => (part.type === "tool-result" ? part.output : undefined)) : [];
    assert.deepEqual(results, [
      { type: "text", value: "before" },
      { type: "text", value: "You are the fork started by this call." },
      { type: "text", value: "Handled by the parent." },
    ]);
    assert.match(JSON.stringify(own[2]), /Go on alone\./);
    const heard = made.requests.filter(({ who }) => who === "main").flatMap(({ options }) => options.prompt);
    assert.ok(
      !heard.some((message) => message.role === "user" && JSON.stringify(message).includes("Go on alone.")),
      "the parent hears nothing of it",
    );
    const child = made.tasks.get("t_f1")?.session ?? "";
    const [created] = await made.events("session.created", child);
    assert.equal(created?.body.forked?.session, made.session.id);
  });

  const RECURSE = `calls: [${call("x")}] }, { expect: { result: { call: x, outcome: failed, type: agent_recursive_fork, contains: "A fork cannot start another fork. Do this work yourself or name an agent." } }, say: alone`;

  test("a fork in the foreground cannot fork, and continues", async () => {
    const made = await bench(
      `turns: [{ calls: [${call("f1")}] }, { expect: { result: { call: f1, contains: alone } }, say: ok }]\nagents: { fork: { turns: [{ ${RECURSE} }] } }`,
    );
    assert.deepEqual(await made.sendAll("go"), { reason: "done", text: "ok" });
    made.player.assertUsed();
  });

  test("in the background cannot fork either, after several awaits and from inside a tool; nor can an agent it started", async () => {
    const made = await bench(
      `
turns:
  - calls: [${call("f1", { run_in_background: true })}]
  - say: a
  - say: b
agents:
  fork:
    turns:
      - calls: [{ tool: echo, input: { text: one } }]
      - calls: [{ tool: nest, id: n1 }, ${call("h1", { agent: "helper" })}]
      - expect: { results: [{ call: n1, contains: A fork cannot start another fork. }, { call: h1, contains: helped }] }
        say: alone
  helper: { turns: [{ ${RECURSE.replace("say: alone", "say: helped")} }] }
`,
      { tools: [nesting], definitions: [{ tools: ["agent"] }] },
    );
    assert.deepEqual(await made.sendAll("go"), { reason: "done", text: "b" });
    made.player.assertUsed();
  });

  test("two forks at once, and the main agent forks meanwhile, also from the turn of a notice", async () => {
    const door = gate();
    const made = await bench(
      `
turns:
  - calls: [${call("f1", { run_in_background: true })}, ${call("f2", { run_in_background: true })}]
  - calls: [${call("f3", { run_in_background: true, prompt: "Third." })}]
  - expect: { result: { call: f3, outcome: succeeded } }
    say: a
  - calls: [${call("f4", { run_in_background: true, prompt: "Fourth." })}]
  - expect: { result: { call: f4, outcome: succeeded } }
    say: b
  - say: c
allowUnused: true
agents: { fork: { turns: [{ calls: [{ tool: gate }] }, { say: done }] } }
`,
      { tools: [door.tool] },
    );
    await made.send("go");
    door.open();
    await made.agent.settle(new AbortController().signal);
    assert.deepEqual(
      made.tasks.list().map(({ id, status }) => [id, status]),
      ["t_f1", "t_f2", "t_f3", "t_f4"].map((id) => [id, "completed"]),
    );
  });

  test("the turn in which the main agent hears of a task that a fork had started is not the fork's", async () => {
    const door = gate();
    const made = await bench(
      `
turns:
  - calls: [${call("f1")}]
  - say: a
  - calls: [${call("f2", { prompt: "Second." })}]
  - expect: { result: { call: f2, outcome: succeeded } }
    say: b
  - say: c
  - say: d
allowUnused: true
agents:
  fork: { turns: [{ calls: [${call("h1", { agent: "helper", run_in_background: true })}] }, { say: forked }] }
  helper: { turns: [{ calls: [{ tool: gate }] }, { say: done }] }
`,
      { tools: [door.tool] },
    );
    assert.equal((await made.send("go")).text, "a");
    door.open();
    await made.tasks.idle();
    await made.agent.drain(); // begun by the task's end, in whose name it was not
    assert.deepEqual(
      (await made.events("call.ended")).map(({ body }) => [body.call, body.outcome]),
      [
        ["f1", "succeeded"],
        ["f2", "succeeded"],
      ],
    );
  });
});
