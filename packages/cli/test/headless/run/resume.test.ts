import assert from "node:assert/strict";
import { existsSync, mkdirSync, readFileSync, rmSync } from "node:fs";
import { describe, test } from "node:test";
import { ended, groupRuns, type Place, place, until } from "../../support/assent.ts";
import { isSystem, type Line, resultsOf } from "../host.ts";

const STREAM: readonly string[] = ["--output-format", "stream-json"];
const WRITES = `
turns:
  - calls: [{ tool: write, id: c1, input: { file_path: x.txt, content: "one\\n" } }]
  - say: Done.
allowUnused: true
`;

function parse(stdout: string): readonly Line[] {
  return stdout
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line));
}

async function parked(at: Place, script = WRITES): Promise<Line> {
  at.write("s.yaml", script);
  const ran = await at.hereJson(["run", "go", "--model", `script:${at.path("s.yaml")}`, "--on-ask", "park"]);
  assert.equal(ran.code, 75, ran.stderr);
  return ran.value.at(-1);
}

/** Kills a run once a condition holds. */
async function killed(at: Place, argv: readonly string[], reached: (stdout: string) => boolean | Promise<boolean>): Promise<string> {
  const child = at.start([...argv, ...STREAM]);
  child.stdin?.end();
  let seen = "";
  child.stdout?.on("data", (text: Buffer) => {
    seen += text;
  });
  const end = ended(child);
  await until("it is so far", () => reached(seen));
  child.kill("SIGKILL");
  await end;
  return parse(seen.slice(0, seen.lastIndexOf("\n")))[0]?.session_id;
}

async function openings(at: Place, session: string): Promise<readonly string[]> {
  return parse((await at.here(["log", session, "--json", "--type", "session.*"])).stdout).flatMap(({ type }) =>
    type === "session.created" ? [] : [type],
  );
}

describe("resuming a run", () => {
  test("a call that was running when its process was killed is unknown: told, not run again, exit 0", async () => {
    using at = place();
    at.write("s.yaml", 'turns: [{ calls: [{ tool: shell, id: c1, input: { command: "echo x >> ran; sleep 30" } }] }, { say: Done. }]');
    const argv = ["run", "go", "--mode", "yolo", "--model", "script:s.yaml"];
    const session = await killed(at, argv, () => existsSync(at.path("ran")));
    const { code, stdout, stderr } = await at.run(["resume", session, ...STREAM]);
    const lines = parse(stdout);
    assert.equal(code, 0, stderr);
    assert.deepEqual(
      lines.at(-1).unknown_outcomes.map(({ tool_name, tool_use_id }: Line) => [tool_name, tool_use_id]),
      [["shell", "c1"]],
    );
    assert.deepEqual(
      resultsOf(lines).map(({ tool_use_id, outcome, error_type }) => [tool_use_id, outcome, error_type]),
      [["c1", "unknown", "execution_unknown"]],
    );
    assert.equal(readFileSync(at.path("ran"), "utf8"), "x\n");
    assert.equal((await at.here(["verify"])).code, 0);
  });

  test("a background command that ran when its process was killed is listed by the call that started it", async () => {
    using at = place();
    const call = '{ tool: shell, id: c1, input: { command: "echo x >> ran; sleep 30", run_in_background: true } }';
    at.write("s.yaml", `turns: [{ calls: [${call}] }, { say: Meanwhile. }, { say: Told. }]\nallowUnused: true`);
    const argv = ["run", "go", "--mode", "yolo", "--model", "script:s.yaml"];
    const session = await killed(at, argv, (seen) => existsSync(at.path("ran")) && seen.includes("Meanwhile."));
    const { code, stdout, stderr } = await at.run(["resume", session, ...STREAM]);
    assert.equal(code, 0, stderr);
    assert.deepEqual(
      parse(stdout)
        .at(-1)
        .unknown_outcomes.map(({ tool_name, tool_use_id, evidence }: Line) => [
          tool_name,
          tool_use_id,
          evidence.task,
          typeof evidence.found,
        ]),
      [["shell", "c1", "t_c1", "string"]],
    );
  });

  const SCRIPTED = "turns: [{ calls: [{ tool: shell, id: c1, input: { command: sh deploy.sh } }] }, { say: Done. }]\nallowUnused: true";
  const UNHEEDED: readonly [sentence: string, argv: readonly string[], change: (at: Place) => void, stderr: RegExp][] = [
    [
      "and whose script changed since is reported",
      [],
      (at) => at.write("deploy.sh", "touch other\n"),
      /^assent: warning: shell \(sh deploy\.sh\) was approved but did not run: .*deploy\.sh changed after it was judged\.\n$/,
    ],
    [
      "and that a rule denies since is reported",
      ["--deny", "Shell(sh *)"],
      () => undefined,
      /^assent: warning: shell \(sh deploy\.sh\) was approved but did not run: it is denied by session permissions: .*\n$/,
    ],
    ["is not told with --quiet", ["--deny", "Shell(sh *)", "--quiet"], () => undefined, /^$/],
    ["is reported by the other formats themselves", ["--deny", "Shell(sh *)", "--output-format", "json"], () => undefined, /^$/],
    ["and that ran is not told", [], () => undefined, /^$/],
  ];
  for (const [sentence, argv, change, stderr] of UNHEEDED) {
    test(`in text a call that was approved ${sentence}`, async () => {
      using at = place();
      at.write("deploy.sh", "touch deployed\n");
      const { session_id: session, approvals } = await parked(at, SCRIPTED);
      assert.equal((await at.here(["approve", approvals[0].id])).code, 0);
      change(at);
      const resumed = await at.here(["resume", session, ...argv]);
      assert.equal(resumed.code, 0, resumed.stderr);
      assert.match(resumed.stderr, stderr);
      assert.equal(existsSync(at.path("deployed")), sentence.startsWith("and that ran"));
    });
  }

  test("a call without an approval, which a rule denies since, is not reported as approved", async () => {
    using at = place();
    const { session_id: session } = await parked(at);
    const resumed = await at.here(["resume", session, "--deny", "Write"]);
    assert.deepEqual([resumed.code, resumed.stdout, resumed.stderr], [0, "Done.\n", ""]);
  });

  const REPEATED = "{ tool: shell, id: ID, input: { command: echo $$ > pid; echo x >> ran; sleep 30 } }";
  const start = (id: string, more: string): string => `{ tool: agent, id: ${id}, input: { description: do it, prompt: look${more} } }`;

  function helper(at: Place): void {
    mkdirSync(`${at.root}/.config/assent/agents`, { recursive: true });
    at.write("../.config/assent/agents/helper.md", "---\nname: helper\ndescription: helps\n---\nYou help.\n");
  }

  test("what ended unknown in the main session is not repeated by an agent or a fork, in any mode", async () => {
    using at = place();
    helper(at);
    const calls = [start("a", ", agent: helper"), start("f", ""), start("b", ", agent: helper, run_in_background: true")];
    const own = `{ turns: [{ calls: [${REPEATED.replace("ID", "w")}] }, { say: tried }] }`;
    at.write(
      "s.yaml",
      `turns: [{ calls: [${REPEATED.replace("ID", "c")}] }, { calls: [${calls.join(", ")}] }, { say: Done. }, { say: Told. }]
allowUnused: true
agents: { helper: ${own}, fork: ${own} }`,
    );
    const session = await killed(at, ["run", "go", "--mode", "yolo", "--model", "script:s.yaml"], () => existsSync(at.path("ran")));
    const { code, stdout, stderr } = await at.run(["resume", session, "--on-ask", "deny", ...STREAM]);
    assert.equal(code, 0, stderr);
    const tried = parse(stdout).filter(
      ({ type, origin, parent_tool_use_id }) => type === "user" && origin === "tool" && parent_tool_use_id,
    );
    assert.deepEqual(
      resultsOf(tried).map(({ tool_use_id, error_type }) => [tool_use_id, error_type]),
      Array.from({ length: 3 }, () => ["w", "denied_unattended"]),
    );
    assert.equal(readFileSync(at.path("ran"), "utf8"), "x\n");
  });

  for (const [where, more, said] of [
    ["an agent that a call waits for", "", ""],
    ["a background agent", ", run_in_background: true", "{ say: started }, "],
  ] as const) {
    test(`what ran in ${where} when its process was killed is ended, told as unknown, and not repeated`, async () => {
      using at = place();
      helper(at);
      const again = ["m", "n"].map((id) => `{ calls: [${REPEATED.replace("ID", id)}] }, { say: Done. }`).join(", ");
      const agents = `{ helper: { turns: [{ calls: [${REPEATED.replace("ID", "w")}] }, { say: tried }], allowUnused: true } }`;
      at.write(
        "s.yaml",
        `turns: [{ calls: [${start("a", `, agent: helper${more}`)}] }, ${said}${again}]\nallowUnused: true\nagents: ${agents}`,
      );
      const argv = ["--mode", "yolo", "--model", "script:s.yaml"];
      const isThere = (stdout: string): boolean => existsSync(at.path("ran")) && (said === "" || stdout.includes('"started"'));
      const session = await killed(at, ["run", "go", ...argv], isThere);
      const resumed = async (): Promise<readonly Line[]> =>
        parse((await at.run(["resume", session, "again", "--on-ask", "deny", "--tasks", ...STREAM])).stdout);
      const lines = await resumed();
      assert.ok(lines.at(-1).unknown_outcomes.some(({ tool_use_id }: Line) => tool_use_id === "w"));
      assert.equal(resultsOf(lines).find(({ tool_use_id }) => tool_use_id === "w").outcome, "unknown");
      assert.equal(resultsOf(lines).find(({ tool_use_id }) => tool_use_id === "m").error_type, "denied_unattended");
      assert.equal(groupRuns(Number(readFileSync(at.path("pid"), "utf8"))), false);
      assert.equal(resultsOf(await resumed()).at(-1)?.error_type, "denied_unattended", "also for a later process");
      assert.equal(readFileSync(at.path("ran"), "utf8"), "x\n");
      assert.equal((await at.here(["verify"])).code, 0);
    });
  }

  test("a request that a crash cut is made again", async () => {
    using at = place();
    at.write("s.yaml", "turns: [{ delayMs: 20000, say: never }]\nallowUnused: true");
    const session = await killed(at, ["run", "go", "--model", "script:s.yaml"], (stdout) => stdout.includes('"origin":"user"'));
    at.write("s.yaml", "turns: [{ say: now }]");
    const { code, stdout } = await at.run(["resume", session]);
    assert.deepEqual([code, stdout], [0, "now\n"]);
  });

  test("nothing answered: exit 75 again, nothing run, no request made; in all formats", async () => {
    using at = place();
    const { session_id, approvals } = await parked(at);
    const text = await at.here(["resume", session_id]);
    assert.deepEqual([text.code, text.stdout], [75, ""]);
    assert.match(text.stderr, new RegExp(`assent approve ${approvals[0].id}\\n {2}assent reject ${approvals[0].id}\\n`));
    const json = await at.hereJson(["resume", session_id]);
    assert.deepEqual([json.code, json.value.at(-1).subtype, json.value.at(-1).approvals[0].id], [75, "parked", approvals[0].id]);
    const streamed = parse((await at.here(["resume", session_id, ...STREAM])).stdout);
    assert.deepEqual([streamed.at(-1).num_turns, streamed[0].pending_approvals[0].id], [0, approvals[0].id]);
    assert.equal((await at.here(["log", session_id, "--type", "turn.started"])).stdout.trimEnd().split("\n").length, 1);
    assert.ok(!existsSync(at.path("x.txt")));
  });

  test("a finished run: nothing to resume, nothing recorded but that; with a prompt a new turn", async () => {
    using at = place();
    at.write("s.yaml", "turns: [{ say: one }, { say: two }]\nallowUnused: true");
    const first = (await at.hereJson(["run", "go", "--model", "script:s.yaml"])).value.at(-1);
    const nothing = await at.here(["resume", first.session_id]);
    assert.deepEqual([nothing.code, nothing.stdout, nothing.stderr], [0, "", "Nothing to resume.\n"]);
    const json = await at.hereJson(["resume", first.session_id]);
    assert.deepEqual(
      [json.code, json.value.map(({ type, subtype }: Line) => `${type}/${subtype}`)],
      [0, ["system/init", "result/success"]],
    );
    const [init] = json.value;
    assert.deepEqual([init.resumed, init.model, init.tools.includes("write")], [true, "script:s.yaml", true]);
    assert.deepEqual(await openings(at, first.session_id), ["session.opened", "session.closed"], "nothing is recorded for it");
    const again = await at.here(["resume", first.session_id, "and now?"]);
    assert.deepEqual([again.code, again.stdout], [0, "two\n"], again.stderr);
    const pair = ["session.opened", "session.closed"];
    assert.deepEqual(await openings(at, first.session_id), [...pair, ...pair]);
    const help = (await at.here(["resume", "--help"])).stdout.replace(/\s+/g, " ");
    assert.match(help, /for a finished call, print its result/);
    assert.match(help, /In a terminal a conversation opens in the terminal interface, unless you give a PROMPT, --json, --quiet/);
    assert.match(help, /A finished run continues only with a PROMPT, or if/);
  });

  test("the first line shows the opening of its own process", async () => {
    using at = place();
    const { session_id } = await parked(at);
    const [init] = parse((await at.here(["resume", session_id, ...STREAM])).stdout);
    const opened = parse((await at.here(["log", session_id, "--json", "--type", "session.opened"])).stdout);
    assert.equal(init.seq, opened[1].seq);
    const pair = ["session.opened", "session.closed"];
    assert.deepEqual(await openings(at, session_id), [...pair, ...pair], "each process opens it once");
  });

  test("an undo is not a turn of its own: there is nothing to resume, and the model learns of it with the next message", async () => {
    using at = place();
    at.write(
      "s.yaml",
      `turns:
  - calls: [{ tool: write, id: c1, input: { file_path: x.txt, content: "one\\n" } }]
  - calls: [{ tool: resolve, id: c2, input: { action: apply, reason: fine } }]
  - say: Done.
  - expect: { notices: [{ contains: "A person undid" }] }
    say: I see.
allowUnused: true
`,
    );
    mkdirSync(`${at.root}/.config/assent`, { recursive: true });
    at.write("../.config/assent/settings.json", JSON.stringify({ version: 1, mode: "yolo", proposals: { stage: ["Write"] } }));
    const first = await at.hereJson(["run", "go", "--model", "script:s.yaml"]);
    const { session_id } = first.value.at(-1);
    const [{ id }] = (await at.hereJson(["proposals", "--all"])).value;
    assert.equal((await at.here(["undo", id])).code, 0);
    const nothing = await at.here(["resume", session_id]);
    assert.deepEqual([nothing.code, nothing.stderr], [0, "Nothing to resume.\n"]);
    const next = await at.here(["resume", session_id, "go on"]);
    assert.deepEqual([next.code, next.stdout], [0, "I see.\n"], next.stderr);
  });

  test("resumed ten times after one approve: the effect is there once", async () => {
    using at = place();
    const { session_id, approvals } = await parked(
      at,
      'turns: [{ calls: [{ tool: shell, id: c1, input: { command: "echo x >> ran" } }] }, { say: Done. }]',
    );
    await at.here(["approve", approvals[0].id]);
    for (let times = 0; times < 10; times += 1) assert.equal((await at.here(["resume", session_id])).code, 0);
    assert.equal(readFileSync(at.path("ran"), "utf8"), "x\n");
  });

  test("the directory is gone: cwd_missing; in another one what waits is asked again", async () => {
    using at = place();
    mkdirSync(at.path("sub"));
    at.write("s.yaml", WRITES);
    const model = ["--model", `script:${at.path("s.yaml")}`];
    const { value } = await at.hereJson(["run", "go", ...model, "--on-ask", "park", "--cwd", "sub"]);
    const { session_id, approvals } = value.at(-1);
    rmSync(at.path("sub"), { recursive: true });
    const gone = await at.here(["resume", session_id, "--json"]);
    assert.deepEqual([gone.code, JSON.parse(gone.stdout).error.type], [1, "cwd_missing"]);
    const elsewhere = await at.hereJson(["resume", session_id, "--cwd", "."]);
    assert.equal(elsewhere.code, 75, JSON.stringify(elsewhere.value));
    assert.notEqual(elsewhere.value.at(-1).approvals[0].fingerprint, approvals[0].fingerprint);
  });

  test("a mode and a model that are given count from then on", async () => {
    using at = place();
    const { session_id, approvals } = await parked(at);
    await at.here(["reject", approvals[0].id]);
    at.write("t.yaml", "turns: [{ say: never }, { say: other }]\nallowUnused: true");
    const { stdout } = await at.here(["resume", session_id, "--mode", "auto-edit", "--model", "script:t.yaml", ...STREAM]);
    const lines = parse(stdout);
    assert.deepEqual([lines[0].permission_mode, lines[0].model, lines.at(-1).result], ["auto-edit", "script:t.yaml", "other"]);
    assert.equal(lines.filter(isSystem("model_changed")).length, 1);
  });

  test("a second signal, later, ends the process at once", async () => {
    using at = place();
    const stubborn = "trap '' TERM INT; echo x > ran; while true; do sleep 1; done";
    at.write("s.json", JSON.stringify({ turns: [{ calls: [{ tool: "shell", id: "c1", input: { command: stubborn } }] }] }));
    const child = at.start(["run", "go", "--mode", "yolo", "--model", "script:s.json", ...STREAM]);
    child.stdin?.end();
    const end = ended(child);
    await until("it runs", () => existsSync(at.path("ran")));
    child.kill("SIGINT");
    let over = false;
    void end.then(() => {
      over = true;
    });
    await until("it has ended", () => {
      child.kill("SIGINT");
      return over;
    });
    assert.equal((await end).code, 130);
  });
});
