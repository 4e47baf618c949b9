import assert from "node:assert/strict";
import { existsSync, mkdirSync } from "node:fs";
import { describe, test } from "node:test";
import { ended, type Place, place, type Ran, until } from "../support/assent.ts";

const SLEEP = '{ tool: shell, id: c1, input: { command: "touch begun; sleep 60" } }';
const AGENT = (background: boolean): string =>
  `{ tool: agent, id: a1, input: { description: help, prompt: Do it., agent: helper, run_in_background: ${background} } }`;
const SCRIPTS = {
  "a call": `turns: [{ calls: [${SLEEP}] }, { say: It goes on. }]`,
  "a background agent": `turns: [{ calls: [${AGENT(true)}] }, { say: Meanwhile. }, { say: It goes on. }]
agents: { helper: { turns: [{ calls: [${SLEEP}] }, { say: Never. }], allowUnused: true } }`,
  "an agent that a call waits for": `turns: [{ calls: [${AGENT(false)}] }, { say: It goes on. }]
agents: { helper: { turns: [{ calls: [${SLEEP}] }, { say: Never. }], allowUnused: true } }`,
} as const;

type Running = { readonly at: Place; readonly ended: Promise<Ran>; readonly sessions: readonly { id: string; parent: object | null }[] };

/** A run in another process whose command sleeps. */
async function running(at: Place, script: keyof typeof SCRIPTS): Promise<Running> {
  mkdirSync(at.path("../.config/assent/agents"), { recursive: true });
  at.write("../.config/assent/agents/helper.md", "---\nname: helper\ndescription: Helps.\n---\nYou help.\n");
  at.write("../.config/assent/settings.json", JSON.stringify({ version: 1, mode: "yolo", permissions: { allow: ["Agent"] } }));
  at.write("s.yaml", SCRIPTS[script]);
  const child = at.start(["run", "go", "--model", "script:s.yaml"]);
  child.stdin?.end();
  const over = ended(child);
  await until("the command runs", () => existsSync(at.path("begun")));
  return { at, ended: over, sessions: (await at.hereJson(["sessions", "--all"])).value };
}

async function logged(at: Place, type: string): Promise<readonly ReturnType<typeof JSON.parse>[]> {
  const { stdout } = await at.here(["log", "--json", "--type", type]);
  return stdout
    .split("\n")
    .filter(Boolean)
    .map((line) => JSON.parse(line).body);
}

describe("assent cancel", () => {
  test("ends a running call in another process; the model learns who cancelled it, and the run continues", async () => {
    using at = place();
    const { ended: over } = await running(at, "a call");
    const cancelled = await at.here(["cancel", "c1", "--by", "Ana", "--reason", "too slow"]);
    assert.deepEqual([cancelled.code, cancelled.stdout], [0, "c1  cancelled\n"], cancelled.stderr);
    const { code, stdout } = await over;
    assert.deepEqual([code, stdout], [0, "It goes on.\n"]);
    const [end] = await logged(at, "call.ended");
    assert.equal(end.outcome, "cancelled");
    assert.match(JSON.stringify(end), /cancelled while it was running: Ana cancelled it \(too slow\)\./);
    const [request] = await logged(at, "cancel.requested");
    assert.deepEqual([request.by.name, request.by.kind, request.reason, request.target], ["Ana", "person", "too slow", { call: "c1" }]);
    const again = await at.here(["cancel", "c1", "--json"]);
    assert.deepEqual([again.code, JSON.parse(again.stdout).error.type], [1, "not_running"]);
    assert.equal((await at.here(["verify"])).code, 0);
  });

  test("ends a session: its turn, its calls and the run", async () => {
    using at = place();
    const { ended: over, sessions } = await running(at, "a call");
    const id = sessions[0]?.id ?? "";
    const cancelled = await at.hereJson(["cancel", id, "--by", "Ana"]);
    assert.deepEqual([cancelled.code, cancelled.value], [0, { id, sessionId: id, state: "cancelled", outcome: "cancelled" }]);
    const { code, stderr } = await over;
    assert.deepEqual([code, /Ana cancelled the session\./.test(stderr)], [130, true], stderr);
    assert.equal((await at.hereJson(["sessions", "--all"])).value[0].state, "cancelled");
    const again = await at.here(["cancel", id]);
    assert.match(again.stderr, /There is nothing to cancel in session s_\w+: it has ended \(cancelled\)\./);
    assert.equal((await logged(at, "cancel.requested")).length, 1, "nothing was recorded for what had ended");
  });

  test("ends a run that was resumed, while a call that a person approved runs", async () => {
    using at = place();
    at.write("s.yaml", SCRIPTS["a call"]);
    assert.equal((await at.here(["run", "go", "--model", "script:s.yaml", "--on-ask", "park"])).code, 75);
    const [{ id, sessionId }] = (await at.hereJson(["approvals"])).value;
    assert.equal((await at.here(["approve", id])).code, 0);
    const over = ended(at.start(["resume", sessionId]));
    await until("the command runs", () => existsSync(at.path("begun")));
    const cancelled = await at.here(["cancel", sessionId, "--by", "Ana"]);
    assert.deepEqual([cancelled.code, cancelled.stdout], [0, `${sessionId}  cancelled\n`], cancelled.stderr);
    const { code, stdout, stderr } = await over;
    assert.deepEqual([code, stdout, /Ana cancelled the session\./.test(stderr)], [130, "", true], stderr);
    assert.equal((await at.hereJson(["sessions"])).value[0].state, "cancelled");
  });

  test("ends a run that waits for a background agent; the model is not asked again", async () => {
    using at = place();
    const { ended: over, sessions } = await running(at, "a background agent");
    const id = sessions.find(({ parent }) => !parent)?.id ?? "";
    await until("the first turns are over", async () => (await logged(at, "turn.ended")).length >= 2);
    const cancelled = await at.here(["cancel", id, "--by", "Ana"]);
    assert.deepEqual([cancelled.code, cancelled.stdout], [0, `${id}  cancelled\n`], cancelled.stderr);
    const { code, stdout, stderr } = await over;
    assert.deepEqual([code, /It goes on/.test(stdout), /Ana cancelled the session\./.test(stderr)], [130, false, true], stderr);
    assert.equal((await logged(at, "task.ended"))[0].status, "cancelled");
    assert.equal((await at.hereJson(["sessions"])).value[0].state, "cancelled");
  });

  for (const name of ["t_a1", "its session"] as const)
    test(`ends a background agent by ${name}; the run continues`, async () => {
      using at = place();
      const { ended: over, sessions } = await running(at, "a background agent");
      const id = name === "t_a1" ? name : (sessions.find(({ parent }) => parent)?.id ?? "");
      const cancelled = await at.here(["cancel", id, "--by", "Ana"]);
      assert.deepEqual([cancelled.code, cancelled.stdout], [0, `${id}  cancelled\n`], cancelled.stderr);
      assert.match((await over).stdout, /It goes on\./);
      const [end] = await logged(at, "task.ended");
      assert.equal(end.status, "cancelled");
      assert.match(JSON.stringify(await logged(at, "task.cancelling")), /"by":"Ana"/);
    });

  test("ends an agent that a call waits for, by its session", async () => {
    using at = place();
    const { ended: over, sessions } = await running(at, "an agent that a call waits for");
    const id = sessions.find(({ parent }) => parent)?.id ?? "";
    assert.equal((await at.here(["cancel", id])).code, 0);
    assert.equal((await over).stdout, "It goes on.\n");
  });

  test("does nothing if the process died; the session keeps its state", async () => {
    using at = place();
    mkdirSync(at.path("../.config/assent"), { recursive: true });
    at.write("../.config/assent/settings.json", JSON.stringify({ version: 1, mode: "yolo" }));
    at.write("s.yaml", SCRIPTS["a call"]);
    const child = at.start(["run", "go", "--model", "script:s.yaml"]);
    child.stdin?.end();
    const over = ended(child);
    await until("the command runs", () => existsSync(at.path("begun")));
    child.kill("SIGKILL");
    await over;
    const [{ id }] = (await at.hereJson(["sessions"])).value;
    for (const what of [id, "c1"]) {
      const refused = await at.here(["cancel", what]);
      assert.deepEqual([refused.code, /nothing to cancel in session s_\w+: its process has ended\./.test(refused.stderr)], [1, true]);
    }
    assert.equal((await at.hereJson(["sessions"])).value[0].state, "interrupted");
    assert.deepEqual(await logged(at, "cancel.requested"), []);
  });

  test("says what to do about a parked session, a detached run, and an unknown id", async () => {
    using at = place();
    at.write("s.yaml", `turns: [{ calls: [{ tool: shell, id: c1, input: { command: "npm run x" } }] }, { say: Done. }]`);
    await at.here(["run", "go", "--model", "script:s.yaml", "--on-ask", "park"]);
    const [{ id }] = (await at.hereJson(["sessions"])).value;
    assert.match((await at.here(["cancel", id])).stderr, /it waits for a person; reject what it asks instead \(assent approvals\)/);
    const unknown = await at.here(["cancel", "nothing", "--json"]);
    assert.deepEqual([unknown.code, JSON.parse(unknown.stdout).error.type], [4, "unknown_id"]);
    await at.here(["run", "later", "--detach", "--model", "script:s.yaml"]);
    const queued = (await at.hereJson(["sessions"])).value.find(({ state }: { state: string }) => state === "queued");
    assert.equal((await at.here(["cancel", queued.id])).stdout, `${queued.id}  cancelled\n`);
    assert.equal((await at.hereJson(["sessions", "--all"])).value.find((row: { id: string }) => row.id === queued.id).state, "cancelled");
  });
});
