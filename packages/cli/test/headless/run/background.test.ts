import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { afterEach, describe, test } from "node:test";
import { ended, groupRuns, type Place, place, until } from "../../support/assent.ts";
import { endHosts, isRequest, isResult, isSystem, type Line, resultsOf, startHost } from "../host.ts";

afterEach(endHosts);

const AGENT = "---\nname: helper\ndescription: helps\n---\nYou help.\n";

const FLAGS: readonly string[] = ["--model", "script:s.yaml", "--output-format", "stream-json"];

function scene(script: string): Place {
  const at = place();
  at.write("s.yaml", script);
  return at;
}

async function helper(at: Place): Promise<void> {
  const { mkdirSync, writeFileSync } = await import("node:fs");
  mkdirSync(`${at.root}/.config/assent/agents`, { recursive: true });
  writeFileSync(`${at.root}/.config/assent/agents/helper.md`, AGENT);
}

function parse(stdout: string): readonly Line[] {
  return stdout
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line));
}

const task = (turns: string, main: string): string => `
turns:
  - calls: [{ tool: agent, id: launch, input: { description: find it, prompt: look, agent: helper, run_in_background: true } }]
${main}
agents:
  helper: { turns: [${turns}] }
`;

describe("background agents in a headless run", () => {
  test("the result comes after the notice turn; the agent's lines carry the call that started it", async () => {
    using at = scene(
      task(
        "{ delayMs: 300, calls: [{ tool: list, id: l1, input: { path: . } }] }, { say: found it }",
        "  - say: started\n  - expect: { notices: [{ contains: found it }] }\n    say: it was found\n",
      ),
    );
    await helper(at);
    const { code, stdout, stderr } = await at.run(["run", "go", "--allow", "Agent", ...FLAGS]);
    assert.equal(code, 0, stderr + stdout.slice(-500));
    const lines = parse(stdout);
    const order = ["task_started", "task_notification", "notice_delivered"].map((subtype) => lines.findIndex(isSystem(subtype)));
    assert.ok(
      order.every((at0, i) => at0 > 0 && (i === 0 || at0 > (order[i - 1] ?? 0))),
      JSON.stringify(order),
    );
    const [started, notified] = [lines.find(isSystem("task_started")), lines.find(isSystem("task_notification"))];
    assert.deepEqual(
      [started.task_id, started.tool_use_id, started.agent, started.description],
      ["t_launch", "launch", "helper", "find it"],
    );
    assert.deepEqual([notified.status, notified.summary, notified.usage.tool_uses], ["completed", "helper: find it — completed", 1]);
    const own = lines.filter(({ parent_tool_use_id }) => parent_tool_use_id === "launch");
    assert.deepEqual(
      own.filter(({ type }) => type === "assistant").map(({ message }) => message.content.at(-1).type),
      ["tool_use", "text"],
    );
    assert.deepEqual(
      resultsOf(own).map(({ tool_use_id }) => tool_use_id),
      ["l1"],
    );
    const notice = lines.find(({ origin }) => origin === "notice");
    assert.match(notice.display_text, /^Background task "helper: find it" completed\.$/);
    const result = lines.at(-1);
    assert.deepEqual([result.type, result.result, result.num_turns, result.num_tool_calls], ["result", "it was found", 3, 2]);
    assert.equal((await at.here(["run", "go", "--allow", "Agent", "--model", "script:s.yaml"])).stdout, "it was found\n");
  });

  test("parked with a task still running: it ends first, and its notice is delivered at resume", async () => {
    using at = scene(
      `turns:
  - calls:
      - { tool: agent, id: launch, input: { description: find it, prompt: look, agent: helper, run_in_background: true } }
      - { tool: write, id: w, input: { file_path: x.txt, content: y } }
  - expect: { notices: [{ contains: found it }] }
    say: Done.
agents:
  helper: { turns: [{ delayMs: 300, say: found it }] }
`,
    );
    await helper(at);
    const parked = await at.run(["run", "go", "--allow", "Agent", "--on-ask", "park", ...FLAGS]);
    assert.equal(parked.code, 75, parked.stderr);
    const lines = parse(parked.stdout);
    assert.equal(lines.find(isSystem("task_notification")).status, "completed");
    assert.equal(lines.filter(isSystem("notice_delivered")).length, 0);
    const { session_id, approvals } = lines.at(-1);
    await at.here(["approve", approvals[0].id]);
    const resumed = await at.run(["resume", session_id, ...FLAGS]);
    assert.equal(resumed.code, 0, resumed.stderr);
    const after = parse(resumed.stdout);
    assert.deepEqual([after.filter(isSystem("notice_delivered")).length, after.at(-1).result], [1, "Done."]);
    assert.ok(existsSync(at.path("x.txt")));
  });

  test("a task that waits for a person: the printed command continues it; each of its calls has one result", async () => {
    const calls = ["one", "two"].map((id) => `{ tool: shell, id: ${id}, input: { command: "echo x >> ${id}" } }`).join(", ");
    using at = scene(task(`{ calls: [${calls}] }, { say: found }`, "  - say: started\n  - say: it was found\n"));
    await helper(at);
    at.write(
      "../.config/assent/settings.json",
      JSON.stringify({ version: 1, tasks: { onAsk: "park" }, permissions: { allow: ["Agent"] } }),
    );
    const parked = await at.here(["run", "go", ...FLAGS]);
    assert.equal(parked.code, 75, parked.stderr);
    const streams = [parse(parked.stdout)];
    const told: string = streams[0]?.at(-1).resume;
    assert.match(told, /^assent resume s_\w+ --tasks$/);
    assert.match(parked.stderr, /^Waiting for an answer: .*\n {2}assent approve a_\w+\n {2}assent reject a_\w+\n/);
    assert.ok(parked.stderr.endsWith(`Then continue with: ${told}\n`), parked.stderr);
    const [{ sessionId: own0 }] = (await at.hereJson(["approvals"])).value;
    for (const command of [
      ["resume", own0],
      ["run", "x", "--session", own0, "--mode", "yolo"],
    ]) {
      const refused = await at.here([...command, "--model", "script:s.yaml"]);
      assert.equal(refused.code, 1, command.join(" "));
      assert.match(refused.stderr, /is the session of a background agent/);
    }
    for (const answer of ["approve", "reject"]) {
      const [open] = (await at.hereJson(["approvals"])).value;
      const answered = await at.here([answer, open.id]);
      assert.deepEqual([answered.code, answered.stderr], [0, `Continue with: ${told}\n`]);
      const { stdout } = await at.here([...told.split(" ").slice(1), ...FLAGS]);
      streams.push(parse(stdout));
    }
    assert.deepEqual([streams.at(-1)?.at(-1).subtype, streams.at(-1)?.at(-1).result], ["success", "it was found"]);
    const own = streams.flat().filter(({ parent_tool_use_id }) => parent_tool_use_id === "launch");
    assert.deepEqual(
      resultsOf(own).map(({ tool_use_id, outcome }) => [tool_use_id, outcome]),
      [
        ["one", "succeeded"],
        ["two", "rejected"],
      ],
    );
  });

  test("agents that a host brings: known by name, told to the model, held to the rules of files", async () => {
    using at = scene(`
turns:
  - calls: [{ tool: agent, id: launch, input: { description: find it, prompt: look, agent: scout } }]
  - expect: { result: { call: launch, contains: found it } }
    calls: [{ tool: agent, id: bad, input: { description: no, prompt: no, agent: fork } }]
  - expect: { result: { call: bad, outcome: failed, type: agent_not_found } }
    say: Done.
agents:
  scout: { turns: [{ expect: { tools: { has: [read], hasNot: [shell, agent] } }, say: found it }] }
`);
    const host = startHost(at, ["run", "--model", "script:s.yaml", "--allow", "Agent"]);
    const agents = {
      scout: { description: "looks around", prompt: "You look.", tools: ["read"], color: "red" },
      fork: { description: "x", prompt: "x" },
      wild: { description: "x", prompt: "x", mode: "yolo" },
      "no name": { description: "x", prompt: "x" },
      silent: { description: "x" },
    };
    const { response } = await host.ask("initialize", { agents });
    assert.deepEqual(
      response.agents.find(({ name }: Line) => name === "scout"),
      { name: "scout", description: "looks around" },
    );
    host.say("go");
    assert.equal((await host.next("result", isResult)).result, "Done.", host.stderr());
    assert.equal(await host.end(), 0);
    const warnings = host.lines.filter(isSystem("warning")).map(({ code, message }) => [code, message.split(":")[0]]);
    assert.deepEqual(warnings, [
      ...["fork", "wild", "no name", "silent"].map((name) => ["agent_ignored", `initialize.agents.${name}`]),
      ["agent_field_ignored", "initialize.agents.scout"],
    ]);
  });

  test("a host sees the progress of a task, and a plain line where the model gets markup", async () => {
    const calls = "{ calls: [{ tool: glob, id: a, input: { pattern: '*' } }, { tool: list, id: b, input: {} }] }";
    using at = scene(
      task(
        `${calls}, { usage: { inputTokens: 7, outputTokens: 2 }, calls: [{ tool: glob, id: c, input: { pattern: x } }] }, { say: found }`,
        "  - say: started\n  - say: it was found\n",
      ),
    );
    await helper(at);
    const host = startHost(at, ["run", "--model", "script:s.yaml", "--allow", "Agent"]);
    await host.ask("initialize", {});
    host.say("go");
    assert.equal((await host.next("result", isResult)).result, "it was found");
    assert.equal(await host.end(), 0, host.stderr());
    const progress = host.lines.filter(isSystem("task_progress"));
    assert.deepEqual(
      progress.map(({ task_id, tool_use_id, last_tool_name, usage }) => [task_id, tool_use_id, last_tool_name, usage.tool_uses]),
      [
        ["t_launch", "launch", "glob", 1],
        ["t_launch", "launch", "list", 2],
        ["t_launch", "launch", "glob", 3],
      ],
    );
    const { description, subagent_type, usage } = progress.at(-1);
    assert.deepEqual([typeof description, subagent_type, usage.total_tokens], ["string", "helper", 9]);
    const told = host.lines.find(({ origin }) => origin === "notice");
    assert.deepEqual(told.message.content, [{ type: "text", text: told.display_text }]);
    assert.match(told.display_text, /^Background task "helper: .*" completed\.$/);
    assert.deepEqual(
      host.lines.filter((line) => JSON.stringify(line).includes("<task-id>")),
      [],
    );
  });

  test("a message that failed has one result, and it is the last line, though a task went on behind it", async () => {
    using at = scene(
      task("{ delayMs: 60000, say: found }", "  - error: { status: 401, message: no key }\n  - error: { status: 401, message: no key }\n"),
    );
    await helper(at);
    const host = startHost(at, ["run", "--model", "script:s.yaml", "--allow", "Agent"]);
    await host.ask("initialize", {});
    host.say("go");
    assert.equal((await host.next("result", isResult)).error.type, "provider_auth");
    assert.equal(await host.end(), 1, host.stderr());
    assert.deepEqual(
      host.lines.filter(isResult).map(({ subtype }) => subtype),
      ["error_during_execution"],
    );
    assert.equal(host.lines.at(-1).type, "result");
  });

  test("--approval-timeout counts for what a task asks too", async () => {
    using at = scene(
      task(
        '{ calls: [{ tool: shell, id: s, input: { command: "echo x >> ran" } }] }, { say: found }',
        "  - say: started\n  - say: it was found\n",
      ),
    );
    await helper(at);
    const host = startHost(at, ["run", "--model", "script:s.yaml", "--allow", "Agent", "--approval-timeout", "300ms"]);
    await host.ask("initialize", { can_use_tool: true });
    host.say("go");
    const { request } = await host.next("asked", isRequest("can_use_tool"));
    assert.deepEqual([request.agent_id, request.agent_name, typeof request.expires_at], ["t_launch", "helper (t_launch)", "string"]);
    assert.equal((await host.next("result", isResult)).result, "it was found");
    assert.deepEqual([await host.end(), resultsOf(host.lines).at(-1)?.outcome], [0, "expired"]);
  });

  test("a notice turn over the limit: exit 53, and the task has its notification", async () => {
    using at = scene(task("{ delayMs: 200, say: found }", "  - say: started\n  - say: never\n"));
    await helper(at);
    const { code, stdout } = await at.run(["run", "go", "--allow", "Agent", "--max-turns", "2", ...FLAGS]);
    const lines = parse(stdout);
    assert.deepEqual([code, lines.at(-1).subtype], [53, "error_max_turns"]);
    assert.equal(lines.filter(isSystem("task_notification")).length, lines.filter(isSystem("task_started")).length);
  });

  test("a notice turn that asks: the host is asked", async () => {
    using at = scene(
      task(
        "{ delayMs: 100, say: found }",
        '  - say: started\n  - calls: [{ tool: shell, id: s, input: { command: "echo x >> ran" } }]\n  - say: Done.\n',
      ),
    );
    await helper(at);
    const host = startHost(at, ["run", "--model", "script:s.yaml", "--allow", "Agent"]);
    await host.ask("initialize");
    host.say("go");
    const request = await host.next("can_use_tool", isRequest("can_use_tool"));
    host.answer(request, { behavior: "allow" });
    assert.equal((await host.next("result", isResult)).result, "Done.");
    assert.equal(await host.end(), 0);
    assert.equal(host.lines.filter(isResult).length, 1);
    assert.equal(readFileSync(at.path("ran"), "utf8"), "x\n");
  });

  test("task_stop and task_send of a host; interrupt leaves a task running", async () => {
    using at = scene(task("{ delayMs: 20000, say: found }", "  - say: started\n  - say: stopped\n"));
    await helper(at);
    const host = startHost(at, ["run", "--model", "script:s.yaml", "--allow", "Agent"]);
    await host.ask("initialize");
    host.say("go");
    await host.next("task_started", isSystem("task_started"));
    await host.next("the answer", ({ type, message }) => type === "assistant" && message.content[0].text === "started");
    assert.equal((await host.ask("interrupt")).subtype, "success");
    assert.equal((await host.next("the result", isResult)).result, "started");
    const { tasks } = (await host.ask("status")).response;
    assert.deepEqual([tasks.length, tasks[0].status], [1, "running"]);
    assert.deepEqual((await host.ask("task_send", { task_id: "t_launch", message: "hurry" })).response, {});
    assert.deepEqual((await host.ask("stop_task", { task_id: "t_launch" })).response, {});
    assert.equal((await host.next("ended", isSystem("task_notification"))).status, "cancelled");
    assert.equal(await host.end(), 0, host.stderr());
    assert.equal(host.lines.at(-1).type, "result");
  });

  test("a notice that is delivered between messages counts as running, and an interrupt ends it before it is answered", async () => {
    using at = scene(task("{ delayMs: 500, say: found }", "  - say: started\n  - { delayMs: 20000, say: never }\n"));
    await helper(at);
    const host = startHost(at, ["run", "--model", "script:s.yaml", "--allow", "Agent"]);
    await host.ask("initialize");
    host.say("go");
    await host.next("the answer", ({ type, message }) => type === "assistant" && message.content[0].text === "started");
    await host.ask("interrupt");
    assert.equal((await host.next("the result", isResult)).result, "started");
    await host.next("the notice", ({ origin }) => origin === "notice");
    assert.equal((await host.ask("status")).response.state, "running");
    assert.equal((await host.ask("interrupt")).subtype, "success");
    assert.equal((await host.ask("status")).response.state, "idle");
    assert.deepEqual([await host.end(), host.lines.at(-1).subtype], [0, "interrupted"]);
  });

  test("a provider's failure in a notice turn, text: stderr, exit 1, no false success on stdout", async () => {
    using at = scene(task("{ delayMs: 100, say: found }", "  - say: started\n  - error: { status: 500, message: boom }\n"));
    await helper(at);
    const { code, stdout, stderr } = await at.run(["run", "go", "--allow", "Agent", "--model", "script:s.yaml"]);
    assert.deepEqual([code, stdout], [1, ""]);
    assert.match(stderr, /^assent: boom \(status 500\)\nContinue with: assent resume s_\w+\n$/);
  });
});

describe("schedules in a headless run", () => {
  test("--schedule: a prompt that comes at its time; the run waits for it", async () => {
    using at = scene("turns: [{ say: first }, { say: second }]");
    at.write("plan.json", JSON.stringify([{ at: new Date(Date.now() + 7_000).toISOString(), prompt: "again" }]));
    const { code, stdout, stderr } = await at.run(["run", "go", "--schedule", "plan.json", ...FLAGS]);
    assert.equal(code, 0, stderr);
    const lines = parse(stdout);
    assert.equal(lines.filter(isSystem("schedule_fired")).length, 1);
    assert.deepEqual([lines.find(({ origin }) => origin === "schedule").message.content[0].text, lines.at(-1).result], ["again", "second"]);
  });

  test("a file of schedules that is none: exit 2, nothing started", async () => {
    using at = scene("turns: []");
    const bad = [
      { every: 5, prompt: "x" },
      { every: "5s", prompt: "x" },
      { every: "30s", prompt: "" },
      { at: "2001-01-01T00:00:00Z", prompt: "x" },
      { at: "2100-01-01T00:00:00Z", every: "30s", prompt: "x" },
      { prompt: "x" },
      { every: "30s", prompt: "x", often: true },
    ];
    for (const [at0, entry] of bad.entries()) at.write(`plan${at0}.json`, JSON.stringify([entry]));
    for (const file of [...bad.keys()].map((at0) => `plan${at0}.json`).concat("none.json")) {
      const { code, stdout, stderr } = await at.here(["run", "go", "--schedule", file, ...FLAGS]);
      assert.deepEqual([code, stdout, stderr.includes(file)], [2, "", true], stderr);
    }
    assert.ok(!existsSync(at.store));
  });

  test("a run that fails before its first turn has its reason on record, hides secrets there, and can be taken up", async () => {
    using at = scene("turns: [{ say: first }]");
    const settings = { version: 1, redaction: { patterns: [{ name: "n", literal: "schedules already" }] } };
    at.write("policy.json", JSON.stringify(settings));
    at.write("plan.json", JSON.stringify(Array.from({ length: 51 }, () => ({ every: "1h", prompt: "again" }))));
    const { code, stdout } = await at.here(["run", "go", "--schedule", "plan.json", "--policy", "policy.json", ...FLAGS]);
    const { session_id: id, error } = parse(stdout).at(-1);
    assert.deepEqual([code, error.type], [1, "schedule_limit"]);
    const ended = (await at.here(["log", id, "--json", "--type", "turn.ended"])).stdout;
    assert.deepEqual(JSON.parse(ended).body, {
      turn: 1,
      reason: "error",
      error: { type: "schedule_limit", message: "There are 50 [redacted: n]. Delete one first." },
    });
    assert.match((await at.here(["sessions", "export", id])).stdout, /\*The request to the model failed: `There are 50 /);
    const again = await at.here(["run", "go", "--session", id, "--policy", "policy.json", ...FLAGS]);
    assert.deepEqual([again.code, parse(again.stdout).at(-1).result], [0, "first"], again.stderr);
    assert.equal((await at.here(["verify"])).code, 0);
  });

  test("a schedule's turn over the limit of turns: exit 53", async () => {
    using at = scene("turns: [{ say: first }]\nallowUnused: true");
    at.write("plan.json", JSON.stringify([{ at: new Date(Date.now() + 7_000).toISOString(), prompt: "again" }]));
    const { code, stdout, stderr } = await at.run(["run", "go", "--schedule", "plan.json", "--max-turns", "1", ...FLAGS]);
    assert.deepEqual([code, parse(stdout).at(-1).error.type], [53, "limit_turns"], stderr);
    assert.equal((await at.here(["verify"])).code, 0);
  });

  test("--max-time ends the wait for a schedule: exit 55", async () => {
    using at = scene("turns: [{ say: first }]\nallowUnused: true");
    at.write("plan.json", JSON.stringify([{ every: "1h", prompt: "again" }]));
    const { code, stdout } = await at.run(["run", "go", "--schedule", "plan.json", "--max-time", "2s", ...FLAGS]);
    assert.deepEqual([code, parse(stdout).at(-1).error.type], [55, "limit_time"]);
  });
});

describe("signals", () => {
  const WAITS: readonly [sentence: string, script: string, argv: readonly string[], reached: (at: Place, stdout: string) => boolean][] = [
    ["in a streaming turn", "turns: [{ delayMs: 20000, say: a }]", [], (_at, stdout) => stdout.includes('"user"')],
    [
      "while a shell call runs",
      'turns: [{ calls: [{ tool: shell, id: s, input: { command: "echo $$ > pid; sleep 30" } }] }]',
      ["--mode", "yolo"],
      (at) => existsSync(at.path("pid")) && readFileSync(at.path("pid"), "utf8") !== "",
    ],
    [
      "in hold-back",
      task("{ delayMs: 20000, say: found }", "  - say: started\n"),
      ["--allow", "Agent"],
      (_at, stdout) => stdout.includes('"started"'),
    ],
    ["while it waits for a schedule", "turns: [{ say: first }]", ["--schedule", "plan.json"], (_at, stdout) => stdout.includes('"first"')],
  ];
  for (const [sentence, script, argv, reached] of WAITS) {
    for (const signal of ["SIGINT", "SIGTERM"] as const) {
      test(`${sentence}, ${signal}: exit 130, everything recorded`, async () => {
        using at = scene(`${script}\nallowUnused: true`);
        await helper(at);
        at.write("plan.json", JSON.stringify([{ every: "1h", prompt: "again" }]));
        const child = at.start(["run", "go", "--include-partial-messages", ...argv, ...FLAGS]);
        child.stdin?.end();
        let seen = "";
        child.stdout?.on("data", (text: Buffer) => {
          seen += text;
        });
        const end = ended(child);
        await until("it is reached", () => reached(at, seen));
        child.kill(signal);
        const { code, stdout, stderr } = await end;
        const lines = parse(stdout);
        assert.deepEqual([code, lines.at(-1).subtype, lines.at(-1).exit_code, stderr], [130, "error_cancelled", 130, ""]);
        const count = (type: string): number => lines.filter(({ event }) => event?.type === type).length;
        assert.equal(count("message_start"), count("message_stop"));
        assert.equal(lines.filter(isSystem("task_notification")).length, lines.filter(isSystem("task_started")).length);
        const uses = lines.filter(({ type }) => type === "assistant").flatMap(({ message }) => message.content);
        assert.equal(resultsOf(lines).length, uses.filter(({ type }: Line) => type === "tool_use").length);
        if (existsSync(at.path("pid"))) assert.equal(groupRuns(Number(readFileSync(at.path("pid"), "utf8"))), false);
        const [session] = (await at.hereJson(["sessions"])).value;
        assert.equal(session.state, "cancelled");
        assert.equal((await at.here(["verify"])).code, 0);
      });
    }
  }

  test("a second signal: exit 130 at once, and what a tool started is gone although it heeds no signal", async () => {
    using at = scene(
      "turns: [{ calls: [{ tool: shell, id: s, input: { command: \"trap '' TERM INT; echo $$ > pid; sleep 300; sleep 300\" } }] }]",
    );
    const child = at.start(["run", "go", "--mode", "yolo", ...FLAGS]);
    child.stdin?.end();
    const end = ended(child);
    await until("it runs", () => existsSync(at.path("pid")) && readFileSync(at.path("pid"), "utf8") !== "");
    child.kill("SIGINT");
    await until("it is gone", () => !child.kill("SIGTERM"));
    const { code, stdout } = await end;
    assert.equal(code, 130);
    assert.ok(!parse(stdout).some(isResult), "it did not wait");
    const group = Number(readFileSync(at.path("pid"), "utf8"));
    await until("the group is gone", () => !groupRuns(group));
  });

  test("while it waits for a host, or for its answer: exit 130", async () => {
    using at = scene('turns: [{ calls: [{ tool: shell, id: s, input: { command: "echo x >> ran" } }] }]');
    const idle = startHost(at, ["run", "--model", "script:s.yaml"]);
    await idle.next("init", isSystem("init"));
    idle.child.kill("SIGTERM");
    assert.equal(await idle.exit(), 130);
    assert.equal(idle.lines.at(-1).subtype, "error_cancelled");
    const asking = startHost(at, ["run", "--model", "script:s.yaml"]);
    await asking.ask("initialize");
    asking.say("go");
    await asking.next("asked", isRequest("can_use_tool"));
    asking.child.kill("SIGINT");
    assert.equal(await asking.exit(), 130);
    assert.deepEqual([asking.lines.at(-1).subtype, resultsOf(asking.lines)[0].outcome], ["error_cancelled", "cancelled"]);
    assert.ok(!existsSync(at.path("ran")));
    assert.equal((await at.hereJson(["approvals"])).value.length, 0, "its approval is closed");
  });
});
