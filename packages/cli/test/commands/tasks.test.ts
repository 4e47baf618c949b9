import assert from "node:assert/strict";
import { existsSync, mkdirSync } from "node:fs";
import { afterEach, describe, test } from "node:test";
import { endHosts, isResult, isSystem, startHost } from "../headless/host.ts";
import { ended, type Place, place, until } from "../support/assent.ts";

afterEach(endHosts);

const START = "{ tool: agent, id: c1, input: { description: help me, prompt: Do it., agent: helper, run_in_background: true } }";
const script = (own: string, told = "say: Told."): string => `turns:
  - calls: [${START}]
  - say: Meanwhile.
  - ${told}
allowUnused: true
agents: { helper: { turns: [${own}], allowUnused: true } }
`;
const RUNS = '{ calls: [{ tool: shell, id: w1, input: { command: "touch begun; sleep 30" } }] }, { say: Whole. }';
const HELPER = "../.config/assent/agents/helper.md";

function set(own: string, settings: object, told?: string): Place {
  const at = place();
  mkdirSync(at.path("../.config/assent/agents"), { recursive: true });
  at.write(HELPER, "---\nname: helper\ndescription: Helps.\n---\nYou help.\n");
  at.write("../.config/assent/settings.json", JSON.stringify({ version: 1, permissions: { allow: ["Agent"] }, ...settings }));
  at.write("s.yaml", script(own, told));
  return at;
}

const RUN = ["run", "go", "--model", "script:s.yaml"] as const;

/** Kills a run in the middle of a call of its task; returns its session. */
async function killed(at: Place): Promise<string> {
  const child = at.start(RUN);
  child.stdin?.end();
  const gone = ended(child);
  await until("the call runs", () => existsSync(at.path("begun")));
  child.kill("SIGKILL");
  await gone;
  return (await at.hereJson(["sessions"])).value[0].id;
}

type Task = { readonly id: string; readonly sessionId: string; readonly state: string; readonly blockedBy: string | null };

async function tasks(at: Place, ...more: readonly string[]): Promise<readonly Task[]> {
  return (await at.hereJson(["tasks", ...more])).value;
}

async function statuses(at: Place): Promise<readonly string[]> {
  const { stdout } = await at.here(["log", "--json", "--type", "task.ended"]);
  return stdout
    .split("\n")
    .filter(Boolean)
    .map((line) => JSON.parse(line).body.status);
}

describe("a task with a call whose outcome is unknown", () => {
  test("is listed, released with a person's note, and continues", async () => {
    using at = set(RUNS, { mode: "yolo" });
    const id = await killed(at);
    assert.deepEqual(
      (await tasks(at)).map(({ id: task, sessionId, state }) => [task, sessionId, state]),
      [["t_c1", id, "interrupted"]],
    );
    const blocked = await at.here(["resume", id, "--tasks"]);
    assert.match(blocked.stderr, /is paused \(execution_unknown\)\n {2}assent tasks release t_c1 --session s_/);
    assert.deepEqual(
      (await tasks(at, "--session", id)).map(({ state, blockedBy }) => [state, blockedBy]),
      [["paused", "execution_unknown"]],
    );
    assert.equal((await at.hereJson(["sessions"])).value[0].unknownOutcomes, 1, "counted where the task was started");
    const released = await at.here(["tasks", "release", "t_c1", "--saying", "It did not finish.", "--json"]);
    assert.deepEqual([released.code, JSON.parse(released.stdout)], [0, { id: "t_c1", sessionId: id, state: "paused" }], released.stderr);
    assert.match(released.stderr, new RegExp(`assent resume ${id} --tasks`));
    const went = await at.here(["resume", id, "--tasks"]);
    assert.deepEqual([went.code, went.stdout, await statuses(at)], [0, "Told.\n", ["completed"]], went.stderr);
    const said = (await at.here(["log", "--json", "--type", "message.user"])).stdout;
    assert.match(said, /Message from a person: It did not finish\./);
    assert.deepEqual([await tasks(at), (await at.here(["tasks"])).stdout], [[], "No tasks.\n"]);
    assert.equal((await at.here(["verify"])).code, 0);
  });

  test("is discarded: what it left running is ended, its notice is written, and the session comes to its end", async () => {
    using at = set(RUNS, { mode: "yolo" }, "{ expect: { notices: [{ contains: <status>cancelled</status> }] }, say: Told. }");
    const id = await killed(at);
    const dropped = await at.run(["tasks", "discard", "t_c1", "--reason", "no longer needed"]);
    assert.deepEqual([dropped.code, dropped.stdout], [0, "t_c1  cancelled: helper: help me\n"], dropped.stderr);
    assert.deepEqual([await statuses(at), await tasks(at)], [["cancelled"], []]);
    const again = await at.hereJson(["tasks", "discard", "t_c1"]);
    assert.deepEqual([again.code, again.value.error.type], [4, "task_stop_not_found"]);
    const went = await at.run(["resume", id]);
    assert.deepEqual([went.code, went.stdout], [0, "Told.\n"], went.stderr);
    assert.equal((await at.here(["verify"])).code, 0);
  });
});

describe("a command that a process left", () => {
  const COMMAND = '{ tool: shell, id: c1, input: { command: "touch begun; sleep 30", run_in_background: true } }';

  for (const [verb, more] of [
    ["discard", "The model learns this when the session continues: assent resume "],
    ["release", "It cannot continue. The model learns this when the session continues: assent resume "],
  ] as const) {
    test(`is ended by ${verb}, which says so: exit 0, its outcome is unknown, and the model is informed`, async () => {
      using at = set(RUNS, { mode: "yolo" });
      at.write("s.yaml", `turns: [{ calls: [${COMMAND}] }, { say: Meanwhile. }, { say: Told. }]\nallowUnused: true\n`);
      const id = await killed(at);
      const done = await at.here(["tasks", verb, "t_c1"]);
      assert.deepEqual([done.code, done.stdout], [0, "t_c1  ended, outcome unknown: shell: touch begun; sleep 30\n"], done.stderr);
      assert.ok(done.stderr.includes(`${more}${id}`), done.stderr);
      assert.deepEqual([await statuses(at), await tasks(at)], [["failed"], []]);
      assert.equal((await at.here(["verify"])).code, 0);
    });
  }

  test("is in the hands of a process that lives: no option is named that the command does not have", async () => {
    using at = set(RUNS, { mode: "yolo" });
    const child = at.start(RUN);
    child.stdin?.end();
    const gone = ended(child);
    await until("the call runs", () => existsSync(at.path("begun")));
    const refused = [await at.hereJson(["tasks", "discard", "t_c1"]), await at.hereJson(["tasks", "release", "t_c1"])];
    child.kill("SIGTERM");
    await gone;
    for (const { code, value } of refused) {
      assert.deepEqual([code, value.error.type], [1, "session_in_use"]);
      assert.match(value.error.message, new RegExp(`^Session s_\\w+ is in use by pid ${child.pid} \\(run\\) on .*\\.$`));
      assert.doesNotMatch(value.error.message + value.error.hint, /take-over/);
    }
  });
});

describe("a task that waits for a person", () => {
  const ASKS = '{ calls: [{ tool: shell, id: w1, input: { command: "touch made" } }] }, { say: Whole. }';
  const PARKS = { tasks: { onAsk: "park" } };

  test("and whose definition has changed is still waited for: 75, counted as open, and not released but discarded", async () => {
    using at = set(ASKS, PARKS);
    assert.equal((await at.here(RUN)).code, 75);
    at.write(HELPER, "---\nname: helper\ndescription: Helps otherwise.\n---\nYou help.\n");
    const [{ id }] = (await at.hereJson(["sessions"])).value;
    const blocked = await at.here(["resume", id, "--tasks"]);
    assert.equal(blocked.code, 75, blocked.stderr);
    const [session] = (await at.hereJson(["sessions"])).value;
    assert.deepEqual([session.state, session.openApprovals, session.pausedTasks], ["parked", 1, 1]);
    const refused = await at.hereJson(["tasks", "release", "t_c1"]);
    assert.deepEqual([refused.code, refused.value.error.type], [1, "not_allowed"]);
    assert.equal((await at.here(["tasks", "discard", "t_c1", "--session", id])).code, 0);
    assert.deepEqual((await at.hereJson(["approvals"])).value, []);
    const went = await at.here(["resume", id]);
    assert.deepEqual([went.code, went.stdout, existsSync(at.path("made"))], [0, "Told.\n", false], went.stderr);
    assert.equal((await at.here(["verify"])).code, 0);
  });

  for (const [verb, exit] of [
    ["discard", 0],
    ["release", 1],
  ] as const) {
    test(`and was approved does not continue because another task is given to ${verb}`, async () => {
      using at = set(ASKS, PARKS);
      at.write("s.yaml", script(ASKS).replace(START, `${START}, ${START.replace("c1", "c2")}`));
      assert.equal((await at.here(RUN)).code, 75);
      const started = (await at.here(["log", "--json", "--type", "task.started"])).stdout.trim().split("\n");
      const [other] = started.map((line) => JSON.parse(line).body).filter(({ task }) => task === "t_c2");
      const [approval] = (await at.hereJson(["approvals", "--session", other.session])).value;
      assert.equal((await at.here(["approve", approval.id])).code, 0);
      const settled = await at.here(["tasks", verb, "t_c1"]);
      assert.equal(settled.code, exit, settled.stderr);
      assert.equal((await tasks(at)).find(({ id }) => id === "t_c2")?.state, "paused");
      assert.ok(!existsSync(at.path("made")), "its call has not run");
    });
  }

  test("is answered for itself alone: what is to be remembered wider is refused, and nothing is recorded", async () => {
    using at = set(ASKS, PARKS);
    assert.equal((await at.here(RUN)).code, 75);
    const [{ id }] = (await at.hereJson(["approvals"])).value;
    for (const scope of ["project", "user"]) {
      const wide = await at.hereJson(["approve", id, "--remember", scope]);
      assert.deepEqual([wide.code, wide.value.error.type], [1, "not_allowed"]);
    }
    assert.equal((await at.hereJson(["approvals"])).value.length, 1, "it is still open");
    const own = await at.here(["approve", id, "--remember", "session"]);
    assert.deepEqual([own.code, (await at.hereJson(["grants"])).value.length], [0, 1], own.stderr);
  });
});

test("a task of this id in two sessions: which one must be said", async () => {
  using at = set('{ calls: [{ tool: shell, id: w1, input: { command: "touch made" } }] }, { say: x }', { tasks: { onAsk: "park" } });
  for (let times = 0; times < 2; times += 1) assert.equal((await at.here(RUN)).code, 75);
  const both = await at.hereJson(["tasks", "discard", "t_c1"]);
  assert.deepEqual([both.code, both.value.error.type, (await tasks(at)).length], [2, "ambiguous_id", 2]);
  const [{ sessionId = "" } = {}] = await tasks(at);
  assert.equal((await at.here(["tasks", "discard", "t_c1", "--session", sessionId])).code, 0);
  assert.equal((await tasks(at)).length, 1);
});

test("a task that a live process has is that one's", async () => {
  using at = set(RUNS, { mode: "yolo" });
  const child = at.start(RUN);
  child.stdin?.end();
  const gone = ended(child);
  await until("the call runs", () => existsSync(at.path("begun")));
  const refused = await at.hereJson(["tasks", "discard", "t_c1"]);
  assert.deepEqual([refused.code, refused.value.error.type, (await tasks(at))[0]?.state], [1, "session_in_use", "running"]);
  child.kill("SIGINT");
  assert.equal((await gone).code, 130);
});

test("a task of a host's agent continues when the host defines the same agent again, and not with a different one", async () => {
  using at = set("{ say: x }", { mode: "yolo" });
  at.write("s.yaml", script(RUNS).replaceAll("helper", "guest"));
  const guest = { description: "Of the host.", prompt: "You are a guest." };
  const first = startHost(at, ["run", "--model", "script:s.yaml"]);
  await first.ask("initialize", { protocol: 1, agents: { guest } });
  first.say("go");
  const { session_id } = await first.next("started", isSystem("task_started"));
  await until("the call runs", () => existsSync(at.path("begun")));
  first.child.kill("SIGKILL");
  await first.exit();
  assert.equal((await at.run(["tasks", "release", "t_c1"])).code, 1, "without its definition it is blocked for that");
  const other = startHost(at, ["resume", session_id, "--tasks"]);
  await other.ask("initialize", { protocol: 1, agents: { guest: { ...guest, prompt: "You are another." } } });
  assert.equal(await other.end(), 0, other.stderr());
  assert.deepEqual([(await tasks(at))[0]?.blockedBy, await statuses(at)], ["agent_changed", []]);
  const same = startHost(at, ["resume", session_id, "--tasks"]);
  await same.ask("initialize", { protocol: 1, agents: { guest } });
  assert.equal(await same.end(), 0, same.stderr());
  assert.deepEqual(
    (await tasks(at)).map(({ blockedBy }) => blockedBy),
    ["execution_unknown"],
    "it is its own again; that a call may have run stays",
  );
  assert.ok(same.lines.some(isResult));
});
