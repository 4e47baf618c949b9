import assert from "node:assert/strict";
import { existsSync, mkdirSync, readFileSync } from "node:fs";
import { describe, test } from "node:test";
import { ended, type Place, place, until } from "../support/assent.ts";
import { ENTRY } from "../support/entry.ts";

const START = (input: object = {}, id = "c1"): string =>
  `{ tool: agent, id: ${id}, input: ${JSON.stringify({ description: "help me", prompt: "Do it.", agent: "helper", run_in_background: true, ...input })} }`;
const TASK = (turns: string, after = "say: Told."): string => `turns:
  - calls: [${START()}]
  - say: Meanwhile.
  - ${after}
agents: { helper: { turns: [${turns}] } }
`;

/** A workspace with a user agent and a script. */
function set(
  script: string,
  { agent = "tools: [read, write, shell, mark]", settings = {} }: { agent?: string; settings?: object } = {},
): Place {
  const at = place();
  mkdirSync(at.path("../.config/assent/agents"), { recursive: true });
  at.write("../.config/assent/agents/helper.md", `---\nname: helper\ndescription: Helps.\n${agent}\n---\nYou help.\n`);
  at.write("../.config/assent/settings.json", JSON.stringify({ version: 1, permissions: { allow: ["Agent"] }, ...settings }));
  at.write("s.yaml", script);
  return at;
}

const RUN = ["run", "go", "--model", "script:s.yaml"] as const;

type Event = { readonly type: string; readonly session: string; readonly body: Readonly<Record<string, never>> };

async function log(at: Place, type: string): Promise<Event[]> {
  const { stdout } = await at.here(["log", "--json", "--type", type]);
  return stdout
    .split("\n")
    .filter(Boolean)
    .map((line) => JSON.parse(line));
}

describe("agents through the program", () => {
  test("a task's result comes by notice, and the run waits for it", async () => {
    using at = set(
      TASK("{ say: Found it. }", "{ expect: { notices: [{ contains: [Found it., <status>completed</status>] }] }, say: Told. }"),
    );
    const ran = await at.here(RUN);
    assert.deepEqual([ran.code, ran.stdout], [0, "Told.\n"], ran.stderr);
    assert.equal((await at.here(["verify"])).code, 0);
  });

  test("without a rule, starting an agent is asked, and `Agent(name)` allows it", async () => {
    using at = set(TASK("{ say: x }"), { settings: { permissions: {} } });
    at.write(
      "s.yaml",
      `turns: [{ calls: [${START()}] }, { expect: { result: { call: c1, type: denied_unattended, notContains: Background } }, say: no }]`,
    );
    assert.deepEqual([(await at.here(RUN)).stdout], ["no\n"]);
    at.write("s.yaml", TASK("{ say: x }"));
    assert.equal((await at.here([...RUN, "--allow", "Agent(helper)"])).stdout, "Told.\n");
  });

  test("what a task would have to ask is denied with a text of its own, and does not run", async () => {
    const expect = `{ expect: { result: { call: w1, outcome: denied, type: denied_unattended, contains: "Tool 'shell' requires approval, but no one can be asked in this run. Background tasks cannot ask. Allow it with a rule, or leave it to the main agent." } }, say: x }`;
    using at = set(TASK(`{ calls: [{ tool: shell, id: w1, input: { command: "touch made" } }] }, ${expect}`));
    const ran = await at.here(RUN);
    assert.deepEqual([ran.code, ran.stdout, existsSync(at.path("made"))], [0, "Told.\n", false], ran.stderr);
  });

  test("a rule of the session counts for a task as for the session", async () => {
    using at = set(
      TASK(
        `{ calls: [{ tool: shell, id: w1, input: { command: "touch made" } }] }, { expect: { result: { call: w1, outcome: succeeded } }, say: x }`,
      ),
    );
    assert.equal((await at.here([...RUN, "--allow", "Shell(touch made)"])).code, 0);
    assert.ok(existsSync(at.path("made")));
  });

  const MODES: readonly [defined: string, session: string, outcome: string][] = [
    ["", "default", "denied"],
    ["mode: auto-edit", "default", "succeeded"],
    ["mode: plan", "auto-edit", "denied"],
    ["mode: default", "yolo", "denied"],
    ["", "yolo", "succeeded"],
    ["mode: auto-edit", "plan", "denied"],
  ];
  for (const [defined, session, outcome] of MODES) {
    test(`an edit of an agent with ${defined || "no mode"} in a session in ${session}: ${outcome}`, async () => {
      using at = set(
        TASK(
          `{ calls: [{ tool: write, id: w1, input: { file_path: x.txt, content: a } }] }, { expect: { result: { call: w1, outcome: ${outcome} } }, say: x }`,
        ),
        { agent: defined },
      );
      const ran = await at.here([...RUN, "--mode", session]);
      assert.deepEqual([ran.code, existsSync(at.path("x.txt"))], [0, outcome === "succeeded"], ran.stderr);
    });
  }

  test("in yolo a task is in yolo, and what a rule insists on asking is denied", async () => {
    using at = set(
      TASK(
        `{ calls: [{ tool: shell, id: a, input: { command: "touch made" } }, { tool: shell, id: b, input: { command: "touch asked" } }] }, { expect: { results: [{ call: a, outcome: succeeded }, { call: b, type: denied_unattended }] }, say: x }`,
      ),
    );
    const ran = await at.here([...RUN, "--mode", "yolo", "--ask", "Shell(touch asked)"]);
    assert.deepEqual([ran.code, existsSync(at.path("made")), existsSync(at.path("asked"))], [0, true, false], ran.stderr);
  });

  test("a permission hook's yes lets a task's call run, and is named", async () => {
    const hook = {
      hooks: [
        {
          type: "command",
          command: `echo '{"hookSpecificOutput":{"hookEventName":"PermissionRequest","decision":{"behavior":"allow"}}}'`,
          name: "gatekeeper",
        },
      ],
    };
    using at = set(
      TASK(
        `{ calls: [{ tool: shell, id: a, input: { command: "touch made" } }] }, { expect: { result: { call: a, outcome: succeeded } }, say: x }`,
      ),
      {
        settings: { hooks: { PermissionRequest: [hook] } },
      },
    );
    const ran = await at.here(RUN);
    assert.deepEqual([ran.code, existsSync(at.path("made"))], [0, true], ran.stderr);
    assert.match(JSON.stringify(await log(at, "call.answered")), /gatekeeper/);
  });

  test("an expectation that fails in an agent ends the whole run; turns it left do too", async () => {
    using at = set(TASK("{ expect: { toolChoice: resolve }, say: x }"));
    const failed = await at.here(RUN);
    assert.equal(failed.code, 70, failed.stderr);
    assert.match(failed.stderr, /Script of helper, turn 1: toolChoice/);
    at.write("s.yaml", TASK("{ say: x }, { say: y }"));
    const left = await at.here(RUN);
    assert.deepEqual([left.code, /agent helper ended and 1 turn of the script was not used/.test(left.stderr)], [70, true], left.stderr);
    at.write(
      "s.yaml",
      TASK(
        "{ calls: [{ tool: read, input: { file_path: s.yaml } }] }",
        "{ expect: { notices: [{ contains: 'The script has only 1 turn for the agent helper, and the model was asked once more.' }] }, say: Told. }",
      ),
    );
    assert.equal((await at.here(RUN)).code, 0, "an agent that runs out fails alone");
  });

  test("`tools --json` lists files that define no agent; a project's counts once it is trusted", async () => {
    using at = set("turns: [{ say: x }]");
    mkdirSync(at.path(".assent/agents"), { recursive: true });
    at.write(".assent/agents/bad.md", "no front matter");
    at.write(".assent/agents/theirs.md", "---\nname: theirs\ndescription: Of the project.\n---\n");
    const { value } = await at.hereJson(["tools"]);
    assert.deepEqual(value.agentErrors, [{ file: at.path(".assent/agents/bad.md"), line: 1, message: "missing front matter" }]);
    const described = (tools: { name: string; description: string }[]): string =>
      tools.find(({ name }) => name === "agent")?.description ?? "";
    assert.match(described(value.tools), /- helper: Helps\.\n- explorer: /);
    assert.doesNotMatch(described(value.tools), /theirs/);
    at.write(
      "s.yaml",
      `turns: [{ calls: [${START({ agent: "theirs" })}] }, { expect: { result: { call: c1, type: agent_untrusted, contains: 'Agent "theirs" comes from an untrusted workspace. Run "assent trust" first.' } }, say: x }]`,
    );
    assert.equal((await at.here(RUN)).code, 0);
    assert.equal((await at.here(["trust", "--yes"])).code, 0);
    assert.match(described((await at.hereJson(["tools"])).value.tools), /- theirs: Of the project\./);
    at.write(".assent/agents/theirs.md", "---\nname: theirs\ndescription: Changed.\n---\n");
    assert.doesNotMatch(described((await at.hereJson(["tools"])).value.tools), /theirs/, "what changed is not what was trusted");
  });

  test("a parked approval of a task: 75, approved from another process, resumed, and the effect is made once", async () => {
    using at = set(
      `turns:
  - calls: [{ tool: write, id: w0, input: { file_path: first.txt, content: a } }]
  - calls: [${START()}]
  - say: Meanwhile.
  - expect: { notices: [{ contains: [<status>completed</status>, Marked.] }] }
    say: Told.
agents: { helper: { turns: [{ calls: [{ tool: mark, id: m1, input: { text: once } }] }, { expect: { result: { call: m1, outcome: succeeded } }, say: Marked. }] } }
`,
      { settings: { tasks: { onAsk: "park" } } },
    );
    const options = { entry: ENTRY };
    const parked = await at.run([...RUN, "--on-ask", "park"], options);
    assert.equal(parked.code, 75, parked.stderr);
    const [session] = (await at.hereJson(["sessions"])).value;
    const approve = async (): Promise<void> => {
      const waiting = (await at.hereJson(["approvals"])).value;
      assert.equal(waiting.length, 1);
      assert.equal((await at.run(["approve", waiting[0].id], options)).code, 0);
    };
    await approve();
    const again = await at.run(["resume", session.id], options);
    assert.equal(again.code, 75, `the task waits now: ${again.stderr}`);
    assert.ok(!existsSync(at.path("marks")));
    const [asked] = (await at.hereJson(["approvals"])).value;
    assert.equal((await at.hereJson(["approvals", "show", asked.id])).value.task, "t_c1");
    await approve();
    const last = await at.run(["resume", session.id], options);
    assert.deepEqual([last.code, last.stdout], [0, "Told.\n"], last.stderr);
    assert.equal(readFileSync(at.path("marks"), "utf8"), "once\n");
    await at.run(["resume", session.id], options);
    assert.equal(readFileSync(at.path("marks"), "utf8"), "once\n");
    assert.equal((await at.here(["verify"])).code, 0);
  });

  /** Runs in its own process, and kills it once a condition holds. */
  const killedWhen = async (at: Place, what: string, holds: () => Promise<boolean>): Promise<string> => {
    const child = at.start(RUN, { entry: ENTRY });
    child.stdin?.end();
    const gone = ended(child);
    try {
      await until(what, holds);
    } finally {
      child.kill("SIGKILL");
      await gone;
    }
    const [main] = (await at.hereJson(["sessions"])).value.filter(({ title }: { title: string }) => title === "go");
    return main.id;
  };
  const HALF = "{ say: Half., calls: [{ tool: read, input: { file_path: s.yaml } }] }";
  const begun = (at: Place) => async (): Promise<boolean> => (await log(at, "turn.started")).length === 4;

  test("killed while a task runs, resumed: it is paused, and `--tasks` continues it", async () => {
    using at = set(TASK(`${HALF}, { delayMs: 60000, say: x }`));
    const id = await killedWhen(at, "the task has begun", begun(at));
    const script = TASK(`${HALF}, { say: Whole. }`, "{ expect: { notices: [{ contains: Whole. }] }, say: Told. }");
    at.write("s.yaml", `${script}\nallowUnused: true\n`);
    const listed = await at.here(["resume", id]);
    assert.match(listed.stderr + listed.stdout, /t_c1/, "it is listed");
    const again = await at.hereJson(["resume", id]);
    const left = again.value.at(-1);
    assert.deepEqual(
      [again.code, left.subtype, left.resume],
      [0, "success", `assent resume ${id} --tasks`],
      "no one is asked, and it can be resumed",
    );
    assert.deepEqual(
      (await log(at, "task.paused")).map(({ body }) => body["blocked"]),
      [null],
    );
    const claimed = (await log(at, "call.claimed")).length;
    const went = await at.here(["resume", id, "--tasks"]);
    assert.deepEqual([went.code, went.stdout], [0, "Told.\n"], went.stderr);
    assert.deepEqual([(await log(at, "task.ended")).length, (await log(at, "call.claimed")).length], [1, claimed], "nothing started twice");
    assert.equal((await at.here(["verify"])).code, 0);
  });

  test("if the agent's file has changed, it cannot continue and says why", async () => {
    using at = set(TASK(`${HALF}, { delayMs: 60000, say: x }`));
    const id = await killedWhen(at, "the task has begun", begun(at));
    at.write("../.config/assent/agents/helper.md", "---\nname: helper\ndescription: Helps otherwise.\n---\nYou help.\n");
    const went = await at.here(["resume", id, "--tasks"]);
    assert.match(went.stderr, /agent_changed/);
    at.write("s.yaml", "turns: [{}]\nallowUnused: true\n");
    const left = (await at.hereJson(["resume", id])).value.at(-1);
    assert.deepEqual([left.subtype, left.exit_code, left.resume], ["success", 0, `assent resume ${id}`], "resuming says what can be done");
    assert.deepEqual(
      (await log(at, "task.paused")).map(({ body }) => body["blocked"]),
      ["agent_changed"],
    );
    assert.deepEqual(await log(at, "task.resumed"), []);
  });

  test("killed right after the task was stopped: it is ended, with one notice, and not paused", async () => {
    using at = set(
      `turns:
  - calls: [${START()}]
  - calls: [{ tool: shell, input: { command: "until test -e begun; do sleep 0.05; done" } }]
  - calls: [{ tool: task_stop, id: s1, input: { id: t_c1 } }]
  - { delayMs: 60000, say: x }
agents: { helper: { turns: [{ calls: [{ tool: shell, input: { command: "trap '' TERM; touch begun; sleep 60" } }] }] } }
`,
      { settings: { mode: "yolo" } },
    );
    const id = await killedWhen(at, "the request is recorded", async () => (await log(at, "task.cancelling")).length === 1);
    assert.deepEqual(await log(at, "task.ended"), [], "its body had not come to rest");
    at.write("s.yaml", "turns: [{}, {}, {}, { expect: { notices: [{ contains: <status>cancelled</status> }] }, say: Told. }]");
    const went = await at.here(["resume", id]);
    assert.deepEqual([went.code, went.stdout], [0, "Told.\n"], went.stderr);
    assert.deepEqual(
      [
        (await log(at, "task.ended")).map(({ body }) => body["status"]),
        await log(at, "task.paused"),
        (await log(at, "notice.delivered")).length,
      ],
      [["cancelled"], [], 1],
    );
  });
});
