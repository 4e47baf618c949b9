import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { describe, test } from "node:test";
import { wireLine } from "../../../src/headless/stream/message.ts";
import { ended, groupRuns, type Place, place, until } from "../../support/assent.ts";
import { type Line, resultsOf } from "../host.ts";

type Streamed = {
  readonly code: number | null;
  readonly lines: readonly Line[];
  readonly result: Line;
  readonly stderr: string;
  readonly stdout: string;
};

async function stream(at: Place, argv: readonly string[], script?: string): Promise<Streamed> {
  if (script !== undefined) at.write("s.yaml", script);
  const { code, stdout, stderr } = await at.here([...argv, "--model", "script:s.yaml", "--output-format", "stream-json"]);
  const lines = stdout
    .split("\n")
    .slice(0, -1)
    .map((line) => JSON.parse(line));
  assert.ok(stdout === "" || stdout.endsWith("\n"));
  return { code, lines, result: lines.at(-1), stderr, stdout };
}

const WRITES = `
turns:
  - say: I make it.
    calls: [{ tool: write, id: c1, input: { file_path: x.txt, content: "one\\n" } }]
  - say: Done.
`;

const PARKED =
  /^Waiting for an answer: Confirm .*: .*x\.txt\n {2}assent approve (a_\w+)\n {2}assent reject \1\nThen continue with: assent resume s_\w+\n$/;

describe("the three formats", () => {
  test("json is one array on one line, with the messages of stream-json; ids aside both are the same", async () => {
    using at = place();
    const streamed = await stream(at, ["run", "go"], WRITES);
    const json = await at.here(["run", "go", "--model", "script:s.yaml", "--output-format", "json"]);
    assert.equal(json.stdout.indexOf("\n"), json.stdout.length - 1);
    const array: readonly Line[] = JSON.parse(json.stdout);
    const kinds = (lines: readonly Line[]): readonly string[] =>
      lines.map(({ type, subtype, origin }) => [type, subtype ?? origin].join("/"));
    assert.deepEqual(kinds(array), kinds(streamed.lines));
    assert.deepEqual(kinds(array), [
      "system/init",
      "user/user",
      "assistant/",
      "system/decision",
      "user/tool",
      "assistant/",
      "result/success",
    ]);
    assert.deepEqual((await at.hereJson(["run", "go", "--model", "script:s.yaml"])).value.length, array.length, "--json is the same");
  });

  test("every line has its type, uuid and session; those that show the ledger have its sequence, which only grows", async () => {
    using at = place();
    const { lines } = await stream(at, ["run", "go"], WRITES);
    const [init] = lines;
    assert.equal(new Set(lines.map(({ uuid }) => uuid)).size, lines.length);
    const seqs = lines.map(({ seq }) => seq);
    assert.ok(
      seqs.every((seq, i) => i === 0 || seq >= seqs[i - 1]),
      JSON.stringify(seqs),
    );
    for (const { session_id, parent_tool_use_id } of lines) assert.deepEqual([session_id, parent_tool_use_id], [init.session_id, null]);
    assert.deepEqual(
      [
        init.cwd,
        init.model,
        init.permission_mode,
        init.on_ask,
        init.protocol,
        init.resumed,
        init.pending_approvals,
        init.tools.includes("shell"),
      ],
      [at.workspace, "script:s.yaml", "default", "deny", 1, false, [], true],
    );
  });

  const OFFERED: readonly (readonly [onAsk: string, asks: boolean])[] = [
    ["deny", false],
    ["park", true],
  ];
  for (const [onAsk, asks] of OFFERED) {
    test(`--on-ask ${onAsk}: the first line names the tools that the model is offered, ${asks ? "" : "not "}ask among them`, async () => {
      using at = place();
      const expected = asks ? "{ has: [ask, resolve, agent] }" : "{ has: [resolve, agent], hasNot: [ask] }";
      const { lines, code } = await stream(at, ["run", "go", "--on-ask", onAsk], `turns: [{ expect: { tools: ${expected} }, say: Done. }]`);
      assert.equal(code, 0, "the model was offered what the script expects");
      const { tools } = lines[0] ?? {};
      assert.deepEqual(
        ["ask", "resolve", "agent"].map((name) => tools.includes(name)),
        [asks, true, true],
      );
    });
  }

  test("a result has all its fields", async () => {
    using at = place();
    const { result } = await stream(at, ["run", "go"], "turns: [{ say: Hi, usage: { inputTokens: 3, outputTokens: 4 } }]");
    const { uuid: _uuid, session_id: _session, seq: _seq, duration_ms, duration_api_ms, ...rest } = result;
    assert.ok(duration_ms >= duration_api_ms && duration_api_ms >= 0);
    const usage = { input_tokens: 3, output_tokens: 4, cache_read_tokens: 0, cache_read_input_tokens: 0, total_tokens: 7 };
    assert.deepEqual(rest, {
      type: "result",
      subtype: "success",
      parent_tool_use_id: null,
      is_error: false,
      exit_code: 0,
      result: "Hi",
      num_turns: 1,
      num_tool_calls: 0,
      usage,
      model_usage: { script: usage },
      permission_denials: [],
      unknown_outcomes: [],
      approvals: [],
    });
  });

  type End = {
    readonly code: number;
    readonly subtype: string;
    readonly error?: string;
    readonly stdout?: string;
    readonly stderr?: RegExp;
  };
  const ENDS: readonly [sentence: string, argv: readonly string[], script: string, end: End][] = [
    ["success", [], "turns: [{ say: a }]", { code: 0, subtype: "success", stdout: "a\n", stderr: /^$/ }],
    [
      "a provider's failure",
      [],
      "turns: [{ error: { status: 500, message: boom } }]",
      {
        code: 1,
        subtype: "error_during_execution",
        error: "provider_error",
        stderr: /^assent: boom \(status 500\)\nContinue with: assent resume s_\w+\n$/,
      },
    ],
    [
      "a provider that refuses the key",
      [],
      "turns: [{ error: { status: 401, message: no } }]",
      { code: 1, subtype: "error_during_execution", error: "provider_auth" },
    ],
    [
      "an expectation",
      [],
      "turns: [{ expect: { toolChoice: x }, say: a }]",
      {
        code: 70,
        subtype: "error_expectation",
        error: "expectation_failed",
        stderr: /turn 1: toolChoice: expected x, actual nothing forced\nContinue with: assent resume s_\w+\n$/,
      },
    ],
    ["turns left over", [], "turns: [{ say: a }, { say: b }]", { code: 70, subtype: "error_expectation", error: "script_unused" }],
    [
      "turns missing",
      [],
      "turns: [{ calls: [{ tool: list, input: { path: . } }] }]",
      { code: 70, subtype: "error_expectation", error: "script_exhausted" },
    ],
    [
      "an answer that was cut at the output limit",
      [],
      "turns: [{ say: Once upon, truncated: true }]",
      {
        code: 1,
        subtype: "error_incomplete_answer",
        error: "answer_cut",
        stdout: "Once upon\n",
        stderr: /^assent: The model's last answer was cut off at its output limit\.\n/,
      },
    ],
    ["--on-ask fail", ["--on-ask", "fail"], WRITES, { code: 1, subtype: "error_during_execution", error: "approval_required" }],
    ["parked", ["--on-ask", "park"], WRITES, { code: 75, subtype: "parked", stdout: "I make it.\n", stderr: PARKED }],
  ];
  for (const [sentence, argv, script, { code, subtype, error, stdout = "", stderr = /^assent: / }] of ENDS) {
    test(`the result of ${sentence}, in stream-json, json and text`, async () => {
      using at = place();
      const { result, ...ran } = await stream(at, ["run", "go", ...argv], script);
      const said = [ran.code, result.type, result.subtype, result.exit_code, result.error?.type, result.is_error];
      assert.deepEqual(said, [code, "result", subtype, code, error, error !== undefined], ran.stderr);
      assert.equal(result.resume, code === 0 ? undefined : `assent resume ${result.session_id}`);
      assert.deepEqual(result.errors, result.error && [result.error.message]);
      const json = await at.hereJson(["run", "go", "--model", "script:s.yaml", ...argv]);
      assert.deepEqual([json.code, json.value.at(-1).subtype], [code, subtype]);
      const text = await at.here(["run", "go", "--model", "script:s.yaml", ...argv]);
      assert.deepEqual([text.code, text.stdout], [code, stdout]);
      assert.match(text.stderr, stderr);
    });
  }

  const ENDINGS: readonly [sentence: string, argv: readonly string[], script: string, code: number][] = [
    ["a limit of turns", ["--max-turns", "1"], "turns: [{ calls: [{ tool: list, input: { path: . } }] }, { say: a }]", 53],
    [
      "a limit of calls",
      ["--max-tool-calls", "1"],
      "turns: [{ calls: [{ tool: list, input: { path: . } }, { tool: list, input: { path: . } }] }]",
      55,
    ],
    ["a failure", [], "turns: [{ error: { status: 500, message: boom } }]", 1],
  ];
  for (const [sentence, argv, script, code] of ENDINGS) {
    test(`text says how to continue after ${sentence}, json has it in its result, and --quiet says neither`, async () => {
      using at = place();
      at.write("s.yaml", script);
      const run = ["run", "go", "--model", "script:s.yaml", ...argv];
      const [text, json, quiet] = [await at.here(run), await at.here([...run, "--json"]), await at.here([...run, "--quiet"])];
      assert.deepEqual([text.code, json.code, quiet.code], [code, code, code], text.stderr);
      assert.match(text.stderr, /^assent: .*\nContinue with: assent resume s_\w+\n$/);
      for (const { stderr } of [json, quiet]) assert.match(stderr, /^assent: .*\n$/);
    });
  }

  const UNASKED: readonly [sentence: string, argv: readonly string[], stderr: RegExp][] = [
    [
      "is reported with a hint",
      [],
      /^assent: warning: write \(x\.txt\) was not run, because no one could be asked\. --on-ask park lets you answer later; --allow RULE allows it, and assent explain shows which rule\.\n$/,
    ],
    [
      "of which a rule asks is not helped by an allow",
      ["--ask", "Write"],
      /^assent: warning: write .* asked\. --on-ask park lets you answer later\.\n$/,
    ],
    ["is not told with --quiet", ["--quiet"], /^$/],
    ["that a rule denies is decided, and not told", ["--deny", "Write"], /^$/],
    ["that passes is not told", ["--allow", "Write"], /^$/],
  ];
  for (const [sentence, argv, stderr] of UNASKED) {
    test(`in text a call ${sentence}`, async () => {
      using at = place();
      at.write("s.yaml", WRITES);
      const ran = await at.here(["run", "go", "--model", "script:s.yaml", ...argv]);
      assert.deepEqual([ran.code, ran.stdout], [0, "Done.\n"], ran.stderr);
      assert.match(ran.stderr, stderr);
    });
  }

  test("what a script expects of a forced choice and of a denied call", async () => {
    using at = place();
    const denied = await stream(
      at,
      ["run", "go", "--deny", "Write"],
      `turns:
  - calls: [{ tool: write, id: c1, input: { file_path: x, content: y } }]
  - expect: { result: { call: c1, outcome: denied, type: denied_by_rule } }
    say: ok
`,
    );
    assert.deepEqual([denied.code, denied.result.permission_denials[0].source], [0, "session_permissions_deny"], denied.stderr);
    at.write("a.ts", "foo(1);\n");
    const forced = await stream(
      at,
      ["run", "go", "--allow", "ast_edit"],
      `turns:
  - calls: [{ tool: ast_edit, id: c1, input: { ops: [{ pat: "foo($A)", out: "bar($A)" }], paths: ["a.ts"] } }]
  - expect: { toolChoice: null }
    say: no
`,
    );
    assert.equal(forced.code, 70, JSON.stringify(forced.result));
    assert.match(forced.result.error.message, /expected nothing forced, actual resolve/);
    const [proposal] = forced.lines.filter(({ subtype }) => subtype === "proposal");
    assert.deepEqual(
      [proposal.state, proposal.tool_use_id, proposal.files],
      ["staged", "c1", [{ path: at.path("a.ts"), added: 1, removed: 1 }]],
    );
  });
});

describe("what is in the stream", () => {
  test("an ask that is denied: one decision before the result, one entry of permission_denials", async () => {
    using at = place();
    const { lines, result, code } = await stream(at, ["run", "go"], WRITES);
    assert.equal(code, 0);
    const [decision] = lines.filter(({ subtype }) => subtype === "decision");
    assert.deepEqual([decision.tool_use_id, decision.decision, decision.source], ["c1", "deny", "unattended_deny"]);
    assert.equal(result.permission_denials.length, 1);
    assert.deepEqual(
      [result.permission_denials[0].tool_name, result.permission_denials[0].tool_use_id, result.permission_denials[0].tool_input.file_path],
      ["write", "c1", "x.txt"],
    );
    assert.deepEqual(
      resultsOf(lines).map(({ tool_use_id, is_error, outcome, error_type }) => [tool_use_id, is_error, outcome, error_type]),
      [["c1", true, "denied", "denied_unattended"]],
    );
  });

  test("a limit of turns: two answers, every call has its result", async () => {
    using at = place();
    const { code, lines, result } = await stream(
      at,
      ["run", "go", "--max-turns", "2"],
      "turns: [{ calls: [{ tool: list, id: a, input: { path: . } }] }, { calls: [{ tool: glob, id: b, input: { pattern: x } }] }, { say: c }]",
    );
    assert.deepEqual([code, result.subtype, result.error.type, result.num_turns], [53, "error_max_turns", "limit_turns", 2]);
    assert.equal(lines.filter(({ type }) => type === "assistant").length, 2);
    assert.deepEqual(
      resultsOf(lines).map(({ tool_use_id }) => tool_use_id),
      ["a", "b"],
    );
  });

  test("a limit of calls: one ran, the others were skipped, each has a result", async () => {
    using at = place();
    const calls = ["a", "b", "c"].map((id) => `{ tool: list, id: ${id}, input: { path: . } }`).join(", ");
    const { code, lines, result } = await stream(at, ["run", "go", "--max-tool-calls", "1"], `turns: [{ calls: [${calls}] }, { say: x }]`);
    assert.deepEqual([code, result.subtype, result.error.type, result.num_tool_calls], [55, "error_budget", "limit_tool_calls", 1]);
    const outcomes = resultsOf(lines).map(({ outcome, error_type }) => `${outcome}/${error_type ?? ""}`);
    assert.deepEqual(outcomes.toSorted(), ["cancelled/skipped", "cancelled/skipped", "succeeded/"]);
  });

  test("a limit of time ends what runs, with its whole process group", async () => {
    using at = place();
    at.write("s.yaml", 'turns: [{ calls: [{ tool: shell, id: a, input: { command: "echo $$ > pid; sleep 30" } }] }, { say: x }]');
    const argv = ["run", "go", "--max-time", "1s", "--mode", "yolo", "--model", "script:s.yaml", "--output-format", "stream-json"];
    const { code, stdout, stderr } = await at.run(argv);
    const lines = stdout
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line));
    assert.deepEqual([code, lines.at(-1).error?.type], [55, "limit_time"], stderr);
    assert.equal(resultsOf(lines)[0].outcome, "cancelled");
    if (existsSync(at.path("pid"))) assert.equal(groupRuns(Number(readFileSync(at.path("pid"), "utf8"))), false);
  });

  test("a cost limit without a known price is a start error", async () => {
    using at = place();
    at.write("p.json", JSON.stringify({ maxCostUsd: 1 }));
    at.write("s.yaml", "turns: [{ say: a }]");
    const ran = await at.here(["run", "go", "--model", "script:s.yaml", "--policy", "p.json"]);
    assert.deepEqual([ran.code, ran.stdout], [2, ""]);
    assert.match(ran.stderr, /maxCostUsd/);
    assert.equal((await at.hereJson(["sessions"])).value.length, 0, "no session was made");
  });

  test("of a batch that is parked the reads before it ran and are told, those behind it wait", async () => {
    using at = place();
    at.write("a.txt", "A\n");
    const script = `turns:
  - calls:
      - { tool: read, id: r1, input: { file_path: a.txt } }
      - { tool: write, id: w, input: { file_path: x.txt, content: y } }
      - { tool: read, id: r2, input: { file_path: a.txt } }
  - say: Done.
`;
    const { code, lines, result } = await stream(at, ["run", "go", "--on-ask", "park"], script);
    assert.equal(code, 75);
    assert.deepEqual(
      resultsOf(lines).map(({ tool_use_id }) => tool_use_id),
      ["r1"],
    );
    assert.equal(result.approvals.length, 1);
    assert.deepEqual([result.approvals[0].tool, result.approvals[0].callId], ["write", "w"]);
    const [opened] = lines.filter(({ subtype }) => subtype === "approval_opened");
    assert.deepEqual(opened.approval, result.approvals[0]);
    await at.here(["approve", result.approvals[0].id]);
    const resumed = await stream(at, ["resume", result.session_id]);
    assert.equal(resumed.code, 0, resumed.stderr);
    assert.deepEqual(
      resultsOf(resumed.lines).map(({ tool_use_id, outcome }) => [tool_use_id, outcome]),
      [
        ["w", "succeeded"],
        ["r2", "succeeded"],
      ],
    );
    assert.deepEqual([resumed.lines[0].resumed, resumed.result.result], [true, "Done."]);
  });

  test("of two asks the second is approved: it waits behind the first, and nothing runs twice", async () => {
    using at = place();
    const script = `turns:
  - calls:
      - { tool: write, id: w1, input: { file_path: x1.txt, content: y } }
      - { tool: write, id: w2, input: { file_path: x2.txt, content: y } }
  - say: Done.
`;
    const { code, result } = await stream(at, ["run", "go", "--on-ask", "park"], script);
    assert.deepEqual([code, result.approvals.length], [75, 2]);
    const [first, second] = result.approvals;
    await at.here(["approve", second.id]);
    const again = await stream(at, ["resume", result.session_id]);
    assert.deepEqual([again.code, resultsOf(again.lines).length, existsSync(at.path("x2.txt"))], [75, 0, false], again.stderr);
    assert.deepEqual(
      again.result.approvals.map(({ id }: Line) => id),
      [first.id],
    );
    await at.here(["approve", first.id]);
    const last = await stream(at, ["resume", result.session_id]);
    assert.deepEqual([last.code, resultsOf(last.lines).map(({ tool_use_id }) => tool_use_id)], [0, ["w1", "w2"]]);
    const { stdout } = await at.here(["log", result.session_id, "--type", "call.claimed"]);
    assert.equal(stdout.trimEnd().split("\n").length, 2);
  });

  test("what a tool says cannot end a line, nor forge one, and arrives as it was", async () => {
    using at = place();
    const text = '\u001b[31mred\u2028two\u2029three\n}\n{"type":"result"}';
    at.write("a.txt", text);
    const { lines, stdout } = await stream(
      at,
      ["run", "go"],
      "turns: [{ calls: [{ tool: read, id: r, input: { file_path: a.txt } }] }, { say: ok }]",
    );
    assert.ok(!stdout.includes("\u2028") && !stdout.includes("\u2029"));
    const [result] = resultsOf(lines);
    for (const part of ["\u001b[31mred\u2028two\u2029three", '{"type":"result"}']) assert.ok(result.content.includes(part), result.content);
    assert.equal(lines.filter(({ type }) => type === "result").length, 1);
  });

  test("half a surrogate pair becomes the replacement character; an escape that was only written stays", () => {
    const line = wireLine({ "k\ud800": "a\udc00b \\ud800 \\\\ud800 \u{1f600}" });
    assert.deepEqual(JSON.parse(line), { "k\ufffd": "a\ufffdb \\ud800 \\\\ud800 \u{1f600}" });
    assert.ok(line.isWellFormed());
  });

  test("a call's id that is given twice: the second has an id of its own, and both have one result", async () => {
    using at = place();
    const call = "{ tool: list, id: c1, input: { path: . } }";
    const { lines } = await stream(at, ["run", "go"], `turns: [{ calls: [${call}, ${call}] }, { say: ok }]`);
    const [answer] = lines.filter(({ type }) => type === "assistant");
    assert.deepEqual(
      answer.message.content.map(({ id }: Line) => id),
      ["c1", "c1#2"],
    );
    assert.deepEqual(
      resultsOf(lines).map(({ tool_use_id, outcome, error_type }) => [tool_use_id, outcome, error_type]),
      [
        ["c1", "succeeded", undefined],
        ["c1#2", "invalid", "duplicate_call_id"],
      ],
    );
  });

  test("the loop detector stops the run; every call has its result", async () => {
    using at = place();
    const turn = "{ calls: [{ tool: list, input: { path: . } }] }";
    const { code, lines, result } = await stream(at, ["run", "go"], `turns: [${Array(12).fill(turn).join(", ")}]`);
    assert.deepEqual([code, result.error.type], [1, "loop_detected"]);
    const uses = lines.filter(({ type }) => type === "assistant").flatMap(({ message }) => message.content);
    assert.equal(resultsOf(lines).length, uses.filter(({ type }: Line) => type === "tool_use").length);
  });

  test("a value that is kept beside the ledger is in its line whole", async () => {
    using at = place();
    const long = "x".repeat(200_000);
    const { lines } = await stream(at, ["run", "go"], `turns: [{ say: "${long}" }]`);
    assert.equal(lines.find(({ type }) => type === "assistant").message.content[0].text, long);
  });

  test("with --include-partial-messages an answer comes piece by piece, and is whole again behind them", async () => {
    using at = place();
    const { lines } = await stream(
      at,
      ["run", "go", "--include-partial-messages"],
      "turns: [{ say: one two, calls: [{ tool: list, id: c1, input: { path: . } }] }, { say: end }]",
    );
    const events = lines.filter(({ type }) => type === "stream_event").map(({ event }) => event);
    assert.equal(events.filter(({ type }) => type === "message_start").length, 2);
    assert.equal(events.filter(({ type }) => type === "message_stop").length, 2);
    const text = events.filter(({ delta }) => delta?.type === "text_delta").map(({ delta }) => delta.text);
    assert.deepEqual(text, ["one ", "two", "end"]);
    const json = events.filter(({ delta }) => delta?.type === "input_json_delta").map(({ delta }) => delta.partial_json);
    assert.deepEqual(JSON.parse(json.join("")), { path: "." });
    const at0 = lines.findIndex(({ event }) => event?.type === "message_stop");
    assert.equal(lines[at0 + 1].type, "assistant");
    assert.equal(events[0].message.id, lines[at0 + 1].message.id);
    assert.ok(!(await stream(at, ["run", "go"])).stdout.includes("stream_event"), "not unless asked for");
  });
});

test("with --include-partial-messages a running call shows its newest output; only then are hooks told", async () => {
  using at = place();
  const command = "head -c 20000 /dev/zero | tr '\\0' x; echo; echo newest; sleep 0.3";
  at.write("s.json", JSON.stringify({ turns: [{ calls: [{ tool: "shell", id: "c1", input: { command } }] }, { say: "ok" }] }));
  const argv = ["run", "go", "--mode", "yolo", "--model", "script:s.json", "--output-format", "stream-json"];
  const { stdout } = await at.run([...argv, "--include-partial-messages"]);
  const progress = stdout
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line))
    .filter(({ event }) => event?.type === "tool_progress");
  assert.ok(progress.length > 0);
  for (const { event } of progress) {
    assert.equal(event.tool_use_id, "c1");
    assert.ok(Buffer.byteLength(event.text) <= 8 * 1024);
  }
  assert.match(progress.at(-1).event.text, /newest/);
  assert.ok(!(await at.run(argv)).stdout.includes("tool_progress"));
});

describe("the command line of a run", () => {
  const WRONG: readonly [sentence: string, argv: readonly string[], stderr: RegExp][] = [
    ["stream-json in needs stream-json out", ["run", "--input-format", "stream-json"], /needs '--output-format stream-json'/],
    ["a format that there is not", ["run", "go", "--output-format", "xml"], /must be one of text, json, stream-json/],
    ["a limit of 0", ["run", "go", "--max-tool-calls", "0"], /must be an integer from 1/],
    ["a time without a unit", ["run", "go", "--max-time", "5"], /must be a duration/],
    ["no prompt", ["run"], /^assent run: the prompt is missing. Give one as an argument or on stdin.\n$/],
    ["--json and another format", ["run", "go", "--json", "--output-format", "stream-json"], /cannot be used together/],
    ["an unknown option, with the nearest", ["run", "go", "--max-turn", "3"], /Did you mean '--max-turns'/],
    ["an id that is none", ["run", "go", "--session", "../x"], /must be a session id or a UUID/],
    ["a prompt that is too long", ["run", "--model", "script:s.yaml"], /more than 10 MiB/],
  ];
  for (const [sentence, argv, stderr] of WRONG) {
    test(`exit 2: ${sentence}`, async () => {
      using at = place();
      const input = sentence.includes("too long") ? "x".repeat(10 * 1024 * 1024 + 1) : "";
      const ran = await at.here(argv, { input });
      assert.equal(ran.code, 2, ran.stderr);
      assert.match(argv.includes("--json") ? ran.stdout : ran.stderr, stderr);
      assert.ok(!existsSync(at.store), "nothing was started");
    });
  }

  test("text after -- is prompt; argument and stdin are joined by a blank line", async () => {
    using at = place();
    at.write("s.yaml", "turns: [{ say: Hi }]");
    const prompt = async (argv: readonly string[], input = ""): Promise<string> => {
      const { stdout } = await at.here(["run", "--model", "script:s.yaml", "--output-format", "json", ...argv], { input });
      return JSON.parse(stdout).find(({ type }: Line) => type === "user").message.content[0].text;
    };
    assert.equal(await prompt(["--", "--max-turns"]), "--max-turns");
    assert.equal(await prompt(["say"], "this\n"), "say\n\nthis\n");
    assert.equal(await prompt([], "this"), "this");
  });

  test("--session names a new session, or continues an existing one", async () => {
    using at = place();
    const id = "123e4567-e89b-42d3-a456-426614174000";
    const first = await stream(at, ["run", "one", "--session", id], "{ turns: [{ say: a }, { say: b }], allowUnused: true }");
    assert.equal(first.result.session_id, id);
    const second = await stream(at, ["run", "two", "--session", id]);
    assert.deepEqual([second.result.session_id, second.lines[0].resumed, second.result.result], [id, true, "b"], second.stderr);
  });

  test("no command but a format is a run, also in the words of public clients", async () => {
    using at = place();
    at.write("s.yaml", "turns: [{ say: Hi }]");
    const plain = await at.here(["go", "--output-format", "json", "--model", "script:s.yaml"]);
    assert.equal(JSON.parse(plain.stdout).at(-1).result, "Hi");
    const id = "123e4567-e89b-42d3-a456-426614174000";
    const words = [
      "--input-format",
      "stream-json",
      "--output-format",
      "stream-json",
      "--channel=SDK",
      "--session-id",
      id,
      "--model",
      "script:s.yaml",
    ];
    const more = [
      "--approval-mode",
      "auto-edit",
      "--max-session-turns",
      "-1",
      "--max-tool-calls",
      "-1",
      "--auth-type",
      "none",
      "--permission-prompt-tool=stdio",
    ];
    const line = `${JSON.stringify({ type: "user", session_id: "x", message: { role: "user", content: "go" }, parent_tool_use_id: null })}\n`;
    const ran = await at.here([...words, ...more], { input: line });
    const lines = ran.stdout
      .trimEnd()
      .split("\n")
      .map((each) => JSON.parse(each));
    assert.deepEqual(
      [ran.code, lines[0].permission_mode, lines.at(-1).result, lines.at(-1).session_id],
      [0, "auto-edit", "Hi", id],
      ran.stderr,
    );
    for (const narrowing of [["--core-tools", "read"], ["--sandbox"], ["--continue"], ["--permission-mode", "loose"]])
      assert.equal((await at.here([...words, ...narrowing], { input: line })).code, 2, narrowing.join(" "));
  });

  test("--quiet says nothing but errors; --verbose and ASSENT_LOG tell every event and nothing that was written", async () => {
    using at = place();
    at.write(
      "s.yaml",
      "turns: [{ say: secret words, calls: [{ tool: list, id: c1, input: { path: . } }] }, { error: { status: 500, message: boom } }]",
    );
    const quiet = await at.here(["run", "go", "--model", "script:s.yaml", "--quiet"]);
    assert.deepEqual([quiet.code, quiet.stderr], [1, "assent: boom (status 500)\n"]);
    const verbose = await at.here(["run", "secret prompt", "--model", "script:s.yaml", "--verbose"]);
    assert.match(verbose.stderr, /call\.claimed .*call="c1"/);
    await at.here(["run", "secret prompt", "--model", "script:s.yaml"], { env: { ASSENT_LOG: at.path("log") } });
    await until("the log is written", () => existsSync(at.path("log")) && readFileSync(at.path("log"), "utf8").includes("turn.ended"));
    for (const log of [verbose.stderr, readFileSync(at.path("log"), "utf8")]) assert.ok(!log.includes("secret"), log);
    assert.equal(verbose.stdout, "");
  });
});

describe("readers", () => {
  test("EPIPE: the reader is gone: the run is cancelled, without a stack", async () => {
    using at = place();
    at.write("s.yaml", 'turns: [{ say: a, calls: [{ tool: shell, id: c, input: { command: "sleep 30" } }] }, { say: b }]');
    const child = at.start(["run", "go", "--mode", "yolo", "--model", "script:s.yaml", "--output-format", "stream-json"]);
    child.stdin?.end();
    child.stdout?.once("data", () => child.stdout?.destroy());
    const { code, stderr } = await ended(child);
    assert.deepEqual([code, stderr], [130, ""]);
    const [session] = (await at.hereJson(["sessions"])).value;
    assert.equal(session.state, "cancelled");
  });
});

describe("halves of surrogate pairs", () => {
  test("in what a model says, calls, and gets from a host: U+FFFD, and the run continues", async () => {
    using at = place();
    const script = {
      turns: [
        { say: "a\ud800b", calls: [{ tool: "shell", id: "c\udfff", input: { command: "echo '\ud83d'" } }] },
        { calls: [{ tool: "re\ud800ad", id: "d", raw: '{"file_path":"\ud800 \\ud800"}' }] },
        { say: "\ud83d\ude00 \ude00" },
      ],
    };
    at.write("s.json", JSON.stringify(script));
    const argv = [
      "run",
      "go",
      "--mode",
      "yolo",
      "--model",
      "script:s.json",
      "--output-format",
      "stream-json",
      "--include-partial-messages",
    ];
    const { code, stdout, stderr } = await at.here(argv);
    const lines = stdout
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line));
    assert.deepEqual([code, lines.at(-1).result], [0, "\u{1f600} \ufffd"], stderr);
    const said = lines.filter(({ type }) => type === "assistant").flatMap(({ message }) => message.content);
    assert.deepEqual([said[0].text, said[1].id], ["a\ufffdb", "c\ufffd"]);
    const deltas = lines.flatMap(({ event }) => event?.delta?.text ?? []);
    assert.ok(deltas.join("").includes("a\ufffdb") && deltas.join("").endsWith("\u{1f600} \ufffd"), deltas.join(""));
    assert.equal(resultsOf(lines).length, 2);
    assert.equal((await at.here(["verify"])).code, 0);
  });
});
