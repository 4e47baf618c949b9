import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { describe, test } from "node:test";
import { place } from "../support/assent.ts";

const ASKS = `
turns:
  - say: I make it.
    calls: [{ tool: write, id: c1, input: { file_path: x.txt, content: "one\\n" } }]
  - expect: { result: { call: c1, outcome: OUTCOME } }
    say: Done.
`;

describe("assent run with a script", () => {
  const ENDS: readonly [sentence: string, script: string, code: number, stdout: string, stderr: RegExp][] = [
    ["its last words, ended by one newline", "turns: [{ say: Hi }]", 0, "Hi\n", /^$/],
    ["a newline of its own is enough", 'turns: [{ say: "Hi\\n" }]', 0, "Hi\n", /^$/],
    ["nothing said, nothing printed", "turns: [{}]", 0, "", /^$/],
    [
      "a provider's failure",
      "turns: [{ error: { status: 500, message: boom } }]",
      1,
      "",
      /^assent: boom \(status 500\)\nContinue with: assent resume s_\w+\n$/,
    ],
    [
      "an expectation that does not hold",
      "turns: [{ expect: { toolChoice: resolve }, say: a }]",
      70,
      "",
      /turn 1: toolChoice: expected resolve, actual nothing forced/,
    ],
    ["turns that are left over", "turns: [{ say: a }, { say: b }]", 70, "", /1 turn of the script was not used/],
    [
      "an ask that no one can answer is denied, and the run continues",
      ASKS.replace("OUTCOME", "denied"),
      0,
      "Done.\n",
      /^assent: warning: write .*\n$/,
    ],
    [
      "a call of the script that is invalid is named, and the run continues",
      "turns: [{ calls: [{ tool: write, id: c1, input: { path: x } }] }, { say: Done. }]",
      0,
      "Done.\n",
      /^assent: warning: The script's call c1 was not run\. .*required property 'file_path'.*\n$/,
    ],
    ["a script that cannot be read", "turns: 3", 2, "", /^assent run: .*s\.yaml:1: script.turns must be a list\n$/],
  ];
  for (const [sentence, script, code, stdout, stderr] of ENDS) {
    test(sentence, async () => {
      using at = place();
      at.write("s.yaml", script);
      const ran = await at.here(["run", "go", "--model", "script:s.yaml"]);
      assert.deepEqual([ran.code, ran.stdout], [code, stdout], ran.stderr);
      assert.match(ran.stderr, stderr);
      if (code === 2) assert.ok(!existsSync(at.store), "nothing was started");
    });
  }

  for (const flag of ["--deny", "--ask"])
    for (const rule of ["Writ", "Writ(src/**)", "writ:file_path=*"])
      test(`${flag} ${rule} refuses the run: no agent has such a tool`, async () => {
        using at = place();
        at.write("s.yaml", "turns: [{ say: Hi }]");
        const ran = await at.here(["run", "go", "--model", "script:s.yaml", flag, rule]);
        assert.deepEqual([ran.code, ran.stdout, existsSync(at.store)], [2, "", false], ran.stderr);
        assert.match(ran.stderr, /there is no tool named '[Ww]rit'\n {2}\[rule_unknown_tool\] To list the tools, run: assent tools/);
      });

  test("names of other agents narrow a run as ours do; an allow that names nothing only warns", async () => {
    using at = place();
    at.write("s.yaml", ASKS.replace("OUTCOME", "denied"));
    const flags = ["--mode", "yolo", "--deny", "write_file", "--deny", "WebSearch", "--deny", "mcp__tracker", "--allow", "Frob"];
    const ran = await at.here(["run", "go", "--model", "script:s.yaml", ...flags]);
    assert.deepEqual([ran.code, ran.stdout], [0, "Done.\n"], ran.stderr);
    assert.match(ran.stderr, /^assent: warning: Ignored --allow 'Frob': there is no tool named 'Frob'\.\n$/);
  });

  test("no prompt, and no model, are said before anything starts", async () => {
    using at = place();
    const noFile = await at.here(["run", "go", "--model", "script:"]);
    assert.deepEqual([noFile.code, noFile.stderr], [2, "assent run: the model 'script:' needs a file: --model script:FILE\n"]);
    const none = await at.here(["run", "--model", "script:s.yaml"]);
    assert.deepEqual([none.code, none.stderr], [2, "assent run: the prompt is missing. Give one as an argument or on stdin.\n"]);
    const bad = await at.hereJson(["run", "go", "--model", "nobody:x"]);
    assert.deepEqual([bad.code, bad.value.error.type], [2, "unknown_model"]);
  });

  test("the prompt may come from stdin", async () => {
    using at = place();
    at.write("s.yaml", "turns: [{ say: Hi }]");
    assert.equal((await at.run(["run", "--model", "script:s.yaml"], { input: "do it" })).stdout, "Hi\n");
  });

  test("a limit of turns", async () => {
    using at = place();
    at.write(
      "s.yaml",
      "turns: [{ calls: [{ tool: list, input: { path: . } }] }, { calls: [{ tool: glob, input: { pattern: a } }] }, { say: c }]",
    );
    assert.equal((await at.here(["run", "go", "--model", "script:s.yaml", "--max-turns", "2"])).code, 53);
  });

  for (const [answer, outcome, made] of [
    ["approve", "succeeded", "one\n"],
    ["reject", "rejected", undefined],
  ] as const) {
    test(`parked, then ${answer}, then resumed: the model continues with the result`, async () => {
      using at = place();
      at.write("s.yaml", ASKS.replace("OUTCOME", outcome));
      const parked = await at.json(["run", "go", "--model", "script:s.yaml", "--on-ask", "park"]);
      assert.equal(parked.code, 75, JSON.stringify(parked));
      const { session_id: sessionId } = parked.value.at(-1);
      assert.equal((await at.here(["resume", sessionId])).code, 75, "it is not answered yet");
      const [approval] = (await at.hereJson(["approvals"])).value;
      assert.equal((await at.here([answer, approval.id])).code, 0);
      const went = await at.run(["resume", sessionId]);
      assert.deepEqual([went.code, went.stdout], [0, "Done.\n"], went.stderr);
      assert.equal(existsSync(at.path("x.txt")) ? readFileSync(at.path("x.txt"), "utf8") : undefined, made);
      const again = await at.here(["resume", sessionId]);
      assert.deepEqual([again.code, again.stdout, again.stderr], [0, "", "Nothing to resume.\n"]);
      assert.equal((await at.here(["verify"])).code, 0);
    });
  }

  test("what was read before a run was parked is known after it: the approved edit is made", async () => {
    using at = place();
    at.write("notes.txt", "one\ntwo\n");
    at.write(
      "s.yaml",
      `turns:
  - calls: [{ tool: read, input: { file_path: notes.txt } }]
  - calls: [{ tool: edit, id: c2, input: { file_path: notes.txt, old_string: two, new_string: TWO } }]
  - expect: { result: { call: c2, outcome: succeeded } }
    calls: [{ tool: edit, id: c3, input: { file_path: notes.txt, old_string: TWO, new_string: three } }]
  - expect: { result: { call: c3, outcome: succeeded } }
    say: Done.
`,
    );
    const parked = await at.json(["run", "go", "--model", "script:s.yaml", "--on-ask", "park"]);
    assert.equal(parked.code, 75, JSON.stringify(parked));
    for (const text of ["TWO", "three"]) {
      const [approval] = (await at.hereJson(["approvals"])).value;
      assert.match((await at.here(["approvals", "show", approval.id])).stdout, new RegExp(`\\+${text}`));
      await at.here(["approve", approval.id]);
      await at.run(["resume", parked.value.at(-1).session_id]);
      assert.match(readFileSync(at.path("notes.txt"), "utf8"), new RegExp(text));
    }
  });

  test("AK: a question is parked, answered from elsewhere, and the model hears the answer", async () => {
    using at = place();
    at.write(
      "s.yaml",
      `turns:
  - expect: { tools: { has: [ask] } }
    calls: [{ tool: ask, id: q, input: { questions: [{ id: db, question: Which database?, options: [{ label: SQLite }, { label: Postgres }] }] } }]
  - expect: { result: { call: q, contains: "User selected: Postgres" } }
    say: Postgres it is.
`,
    );
    const parked = await at.hereJson(["run", "go", "--model", "script:s.yaml", "--on-ask", "park"]);
    assert.equal(parked.code, 75, JSON.stringify(parked));
    const [question] = (await at.hereJson(["approvals"])).value;
    assert.equal(question.tool, "ask");
    const answers = JSON.stringify([{ id: "db", selected: ["Postgres"] }]);
    const answered = await at.here(["approve", question.id, "--answers", answers]);
    assert.equal(answered.code, 0, answered.stderr);
    const went = await at.here(["resume", parked.value.at(-1).session_id]);
    assert.deepEqual([went.code, went.stdout], [0, "Postgres it is.\n"], went.stderr);
  });
});
