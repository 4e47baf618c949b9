import assert from "node:assert/strict";
import { copyFileSync, existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { describe, test } from "node:test";
import { makeScene, type Scene } from "./scene.ts";

type Approved = { readonly sessionId: string; readonly saved: string };

/** A call that was approved and has not run, and a copy of the ledger as it is then. */
async function approve(scene: Scene): Promise<Approved> {
  const input = JSON.stringify({ command: "echo ran >> effects" });
  const { sessionId, approvalId } = await scene.json(["call", "shell", "--input", input, "--on-ask", "park"]);
  await scene.json(["approve", approvalId]);
  const saved = join(scene.root, "saved.db");
  copyFileSync(join(scene.store, "ledger.db"), saved);
  return { sessionId, saved };
}

function effects(scene: Scene): number {
  const file = scene.path("effects");
  return existsSync(file) ? readFileSync(file, "utf8").split("\n").length - 1 : 0;
}

async function restores(scene: Scene): Promise<number> {
  return (await scene.events()).filter(({ type }) => type === "store.restored").length;
}

/** `resume` commits six times; its fourth commit is the claim. */
const WITHOUT_RESTORE: readonly string[] = ["append.before_commit@4", "append.after_commit@4", "claim.after", "effect.after"];
const WITH_RESTORE: readonly string[] = [
  "append.after_commit@3",
  "append.after_commit@4",
  "claim.after",
  "effect.after",
  "append.after_commit@5",
];

describe("an approved call whose process is killed", { concurrency: 2 }, () => {
  for (const failpoint of WITHOUT_RESTORE) {
    test(`at ${failpoint}: no approval is lost, and the call runs at most once`, async () => {
      using scene = makeScene();
      const { sessionId } = await approve(scene);
      assert.equal((await scene.child(["resume", sessionId, "--json"], { failpoint })).signal, "SIGKILL");
      const before = effects(scene);
      const wasClaimed = (await scene.events()).some(({ type }) => type === "call.claimed");
      assert.equal(wasClaimed, failpoint !== "append.before_commit@4");
      await scene.child(["resume", sessionId, "--json"]);
      assert.deepEqual([await restores(scene), effects(scene)], [0, wasClaimed ? before : 1]);
      await scene.holds();
    });
  }

  for (const failpoint of WITH_RESTORE) {
    test(`at ${failpoint}, and a backup restored over the ledger: the call runs at most once`, async () => {
      using scene = makeScene();
      const { sessionId, saved } = await approve(scene);
      assert.equal((await scene.child(["resume", sessionId, "--json"], { failpoint })).signal, "SIGKILL");
      const before = effects(scene);
      await emptyLog(scene);
      copyFileSync(saved, join(scene.store, "ledger.db"));
      await scene.child(["resume", sessionId, "--json"]);
      assert.ok(effects(scene) <= 1, `${before} before and ${effects(scene)} after`);
    });
  }
});

/** A process that was killed leaves SQLite's log behind, which would be replayed over the restored file. */
async function emptyLog({ store }: Scene): Promise<void> {
  const database = new DatabaseSync(join(store, "ledger.db"));
  database.exec("pragma wal_checkpoint(truncate)");
  database.close();
}

test("killed after it noticed a restored backup, the next process does not cancel again", async () => {
  using scene = makeScene();
  const { sessionId, saved } = await approve(scene);
  await scene.json(["resume", sessionId]);
  copyFileSync(saved, join(scene.store, "ledger.db"));
  const { signal } = await scene.child(["approvals", "--json"], { failpoint: "append.after_commit@1" });
  assert.equal(signal, "SIGKILL");
  assert.deepEqual((await scene.json(["verify"])).findings, []);
  await scene.json(["approvals"]);
  assert.equal(await restores(scene), 1);
  assert.equal(effects(scene), 1);
});
