import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { describe, test } from "node:test";
import { type LiveProcess, liveProcesses } from "../support/processes.ts";
import { answerAs, BATCH, type BatchResult, type BatchSpec, openLibrary, runBatch } from "./library.ts";
import { makeScene, type Scene, stateOf, until } from "./scene.ts";
import { bothStores } from "./stores.ts";

/** One call per line of the recovery table: reads under way, an unsafe one behind them, one that waits, one with a yes. */
const MIXED: BatchSpec = {
  allow: ["world", "keyed"],
  calls: [
    ...["r1", "r2", "r3", "r4", "r5"].map((id) => ({ id, name: "look", arguments: {} })),
    { id: "w1", name: "world", arguments: {} },
    { id: "a1", name: "probed", arguments: {} },
    { id: "a2", name: "probed", arguments: { note: "other" } },
  ],
};

/** All five reads have run, without an end, and both approvals are open. */
const AMID = "batch.under_way@7";

/** Kills a batch while all reads are claimed, with a yes for a2 on disk; gives the session. */
async function crashMixed(scene: Scene): Promise<string> {
  await killed(scene, MIXED, AMID);
  const [session] = await scene.json(["sessions"]);
  const [, second] = await scene.json(["approvals"]);
  await scene.json(["approve", second.id]);
  return session.id;
}

for (const store of await bothStores()) {
  describe(`recovery that is itself killed, ${store.name}`, { concurrency: 2 }, () => {
    test("five times at each of its appends, it comes to what one recovery comes to", async () => {
      const [once, often] = await Promise.all([
        recoverMixed([]),
        recoverMixed(["recover.each@1", "recover.each@2", "recover.each@2", "append.before_commit@2", "recover.each@1"]),
      ]);
      const reads = ["r1", "r2", "r3", "r4", "r5"];
      for (const { ends, effects } of [once, often]) {
        assert.deepEqual(ends, [...reads.map((call) => `${call} unknown`), "w1 succeeded", "a1 succeeded", "a2 succeeded"]);
        assert.deepEqual(effects, ["a1", "a2", ...reads, "w1"]);
      }
    });

    async function recoverMixed(kills: readonly string[]): Promise<{ ends: string[]; effects: string[] }> {
      using scene = makeScene(store);
      const session = await crashMixed(scene);
      for (const failpoint of kills) await killed(scene, { ...MIXED, session, calls: [] }, failpoint);
      await batch(scene, { ...MIXED, session, calls: [] });
      const [first] = await scene.json(["approvals"]);
      await scene.json(["approve", first.id]);
      await batch(scene, { ...MIXED, session, calls: [] });
      await scene.holds();
      const order = MIXED.calls?.map(({ id }) => id) ?? [];
      const ends = (await scene.ended()).map(({ call, outcome }) => `${call} ${outcome}`);
      return {
        ends: ends.sort((left, right) => order.indexOf(left.slice(0, 2)) - order.indexOf(right.slice(0, 2))),
        effects: scene
          .lines()
          .map(({ call }) => call)
          .sort(),
      };
    }

    test("a retry carries the same key, and there is only one", async () => {
      using scene = makeScene(store);
      const keyed: BatchSpec = { allow: ["keyed"], retryIdempotent: true };
      await killed(scene, { ...keyed, calls: [{ id: "k1", name: "keyed", arguments: {} }] }, "effect.mid");
      const [{ id: session }] = await scene.json(["sessions"]);
      await killed(scene, { ...keyed, session }, "effect.mid");
      await batch(scene, { ...keyed, session });
      const [first, second] = scene.lines();
      assert.deepEqual([first?.attempt, second?.attempt, scene.lines().length], [1, 2, 2]);
      assert.ok(first?.key && first.key === second?.key, "both attempts carry one key");
      assert.deepEqual(
        (await scene.ended()).map(({ outcome }) => outcome),
        ["unknown"],
      );
      await scene.holds();
    });

    test("a retry that is not killed gives the real result", async () => {
      using scene = makeScene(store);
      const keyed: BatchSpec = { allow: ["keyed"], retryIdempotent: true };
      await killed(scene, { ...keyed, calls: [{ id: "k1", name: "keyed", arguments: {} }] }, "effect.before");
      const [{ id: session }] = await scene.json(["sessions"]);
      await batch(scene, { ...keyed, session });
      assert.deepEqual(
        [(await scene.ended()).map(({ outcome }) => outcome), scene.lines().map(({ attempt }) => attempt)],
        [["succeeded"], [2]],
      );
      await scene.holds();
    });

    test("after unknown the same call asks even in yolo, and another one does not", async () => {
      using scene = makeScene(store);
      await killed(scene, { mode: "yolo", calls: [{ id: "c1", name: "world", arguments: {} }] }, "effect.mid");
      const [{ id: session }] = await scene.json(["sessions"]);
      const calls = [
        { id: "c2", name: "world", arguments: { note: "other" } },
        { id: "c3", name: "world", arguments: {} },
      ];
      const { results } = await batch(scene, { session, mode: "yolo", calls });
      assert.deepEqual(
        results.map(({ callId, outcome }) => `${callId} ${outcome}`),
        ["c1 unknown", "c2 succeeded", "c3 waiting"],
      );
      assert.deepEqual(
        scene.lines().map(({ call }) => call),
        ["c1", "c2"],
      );
      await scene.holds();
    });

    test("a crash after a grant's use loses the use, and gains none", async () => {
      using scene = makeScene(store);
      const { approvalId } = await scene.json(["call", "world", "--on-ask", "park"]);
      const library = await openLibrary(scene);
      await answerAs("ann", library, { approval: approvalId, outcome: "approve", remember: { scope: "user", rules: ["world"], uses: 1 } });
      await library.ledger.close();
      const call = ["call", "world", "--input", '{"note":"granted"}', "--on-ask", "park"];
      const { signal } = await scene.child(call, { failpoint: "grant.after_used" });
      assert.equal(signal, "SIGKILL");
      const sessions: { id: string; state: string }[] = await scene.json(["sessions"]);
      const outcomes: string[] = [];
      for (const { id } of sessions) outcomes.push((await scene.json(["resume", id])).outcome);
      assert.deepEqual(outcomes.sort(), ["succeeded", "waiting"], "the first was approved once, the second has to ask again");
      await scene.rest("reject");
      assert.equal(scene.lines().length, 1);
      await scene.holds();
    });
  });

  describe(`a program that a killed process left behind, ${store.name}`, { concurrency: 2 }, () => {
    test("it is ended with its group, and named", async () => {
      using scene = makeScene(store);
      const child = scene.start([
        "call",
        "shell",
        "--mode",
        "yolo",
        "--input",
        JSON.stringify({ command: "echo $$ > pid; sleep 60; touch X" }),
      ]);
      await until("the command runs", () => existsSync(scene.path("pid")));
      const pid = await startedPid(scene);
      assert.ok(pid !== undefined, "its start was on record before it began");
      child.kill("SIGKILL");
      await scene.rest();
      const [end] = await scene.ended();
      assert.deepEqual([end?.outcome, end?.evidence], ["unknown", { pid, alive: true, killed: true }]);
      await until("the group is gone", () => [undefined, "Z"].includes(stateOf(pid)));
      assert.equal(existsSync(scene.path("X")), false);
      await scene.holds();
    });

    test("killed before its start is on record, it never begins", async () => {
      using scene = makeScene(store);
      const command = `echo $$ >> begun; sleep 60; touch X # ${scene.root}`;
      const { signal } = await scene.child(["call", "shell", "--mode", "yolo", "--input", JSON.stringify({ command })], {
        failpoint: "effect.after_spawn",
      });
      assert.equal(signal, "SIGKILL");
      await until("its group is gone", () => processesOf(scene).length === 0);
      await scene.rest();
      assert.deepEqual(
        (await scene.ended()).map(({ outcome }) => outcome),
        ["unknown"],
      );
      assert.deepEqual([existsSync(scene.path("begun")), existsSync(scene.path("X"))], [false, false]);
      await scene.holds();
    });

    /** Live processes whose command line names the scene. */
    function processesOf({ root }: Scene): readonly LiveProcess[] {
      return liveProcesses().filter(({ command }) => command.includes(root));
    }
  });
}

/** The pid on record of the only program that was started. */
async function startedPid(scene: Scene): Promise<number | undefined> {
  const body = (await scene.events()).find(({ type }) => type === "call.started")?.body as { pid: number } | undefined;
  return body?.pid;
}

async function killed(scene: Scene, spec: BatchSpec, failpoint: string): Promise<void> {
  const { signal, code, stdout, stderr } = await scene.child([JSON.stringify(spec)], { failpoint, entry: BATCH });
  assert.equal(signal, "SIGKILL", `${failpoint} was never reached: exit ${code}, ${stdout}${stderr}`);
}

/** The batch in this process, which nobody kills. */
async function batch(scene: Scene, spec: BatchSpec): Promise<BatchResult> {
  const library = await openLibrary(scene);
  try {
    return await runBatch(library, spec);
  } finally {
    await library.ledger.close();
  }
}
