import assert from "node:assert/strict";
import type { ChildProcess } from "node:child_process";
import { describe, test } from "node:test";
import { makeScene, type Scene, stateOf, until } from "./scene.ts";
import { bothStores } from "./stores.ts";

for (const store of await bothStores()) {
  describe(`a writer that is stopped and goes on later, ${store.name}`, { concurrency: 2 }, () => {
    test("a take-over while it holds its session's lock, before the claim: it is ended, and the other runs the call", async () => {
      using scene = makeScene(store);
      const first = await stopped(scene, ["call", "world", "--allow", "world"], "call.after_judged=stop");
      const [{ id }] = await scene.json(["sessions"]);
      assert.equal((await scene.json(["resume", id])).error.type, "session_in_use", "it is stopped, not dead");
      assert.equal((await scene.json(["resume", id, "--take-over"])).outcome, "succeeded");
      await until("the first is ended", () => first.signalCode === "SIGKILL");
      assert.deepEqual([await outcomes(scene), scene.lines().length], [["succeeded"], 1]);
      await scene.holds();
    });

    test("a take-over during its effect: it is ended, and the outcome is unknown", async () => {
      using scene = makeScene(store);
      const first = await stopped(scene, ["call", "world", "--allow", "world"], "effect.mid=stop");
      const [{ id }] = await scene.json(["sessions"]);
      assert.equal((await scene.json(["resume", id, "--take-over"])).outcome, "unknown");
      await until("the first is ended", () => first.signalCode === "SIGKILL");
      assert.deepEqual([await outcomes(scene), scene.lines().length], [["unknown"], 1]);
      await scene.holds();
    });

    test("another takes over while it waits for a person; the yes is used by the other alone", async () => {
      using scene = makeScene(store);
      const { first, approval, session } = await waiting(scene);
      first.kill("SIGSTOP");
      await until("the first is stopped", () => stateOf(pidOf(first)) === "T");
      assert.equal((await scene.json(["resume", session, "--take-over"])).outcome, "waiting");
      assert.equal((await scene.json(["approve", approval])).outcome, "approved");
      assert.equal((await scene.json(["resume", session])).outcome, "succeeded");
      assert.deepEqual(await goOn(scene, first), { code: 1, said: "stale_writer" });
      assert.deepEqual([await outcomes(scene), scene.lines().length], [["succeeded"], 1]);
      await scene.holds();
    });

    test("an answer given meanwhile is on disk at once, and the call runs once when the writer goes on", async () => {
      using scene = makeScene(store);
      const { first, approval } = await waiting(scene);
      first.kill("SIGSTOP");
      await until("the first is stopped", () => stateOf(pidOf(first)) === "T");
      const { outcome, alreadyAnswered } = await scene.json(["approve", approval]);
      assert.deepEqual([outcome, alreadyAnswered, scene.lines().length], ["approved", false, 0]);
      assert.equal((await scene.json(["approvals", "show", approval])).state, "approved");
      assert.deepEqual(await goOn(scene, first), { code: 0, said: "succeeded" });
      assert.deepEqual([await outcomes(scene), scene.lines().length], [["succeeded"], 1]);
      await scene.holds();
    });
  });
}

async function outcomes(scene: Scene): Promise<readonly string[]> {
  return (await scene.ended()).map(({ outcome }) => outcome);
}

function pidOf({ pid }: ChildProcess): number {
  assert.ok(pid !== undefined);
  return pid;
}

/** Starts a command that stops itself at the failpoint. */
async function stopped(scene: Scene, argv: readonly string[], failpoint: string): Promise<ChildProcess> {
  const started = scene.start([...argv, "--json"], { failpoint });
  await until(`${failpoint} is reached`, () => stateOf(pidOf(started)) === "T");
  return started;
}

/** Starts a call that asks a person who says nothing. */
async function waiting(scene: Scene): Promise<{ first: ChildProcess; approval: string; session: string }> {
  const first = scene.start(["call", "world", "--json"], { env: { ASSENT_TEST_PERSON: "1" } });
  let row: { id: string; sessionId: string } | undefined;
  await until("the approval is open", async () => {
    [row] = await scene.json(["approvals"]);
    return row !== undefined;
  });
  return { first, approval: row?.id ?? "", session: row?.sessionId ?? "" };
}

/** Lets it go on: its exit code, and the error or the outcome that it tells. */
async function goOn(scene: Scene, started: ChildProcess): Promise<{ code: number | null; said: string }> {
  const end = scene.finished(started);
  started.kill("SIGCONT");
  const { code, stdout } = await end;
  const { error, outcome } = JSON.parse(stdout);
  return { code, said: error?.type ?? outcome };
}
