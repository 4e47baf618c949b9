import assert from "node:assert/strict";
import { test } from "node:test";
import { LONG } from "../support/long.ts";
import type { Failpoint } from "./failpoints.ts";
import { LOAD } from "./load.ts";
import { makeScene } from "./scene.ts";
import { seeded } from "./seeded.ts";
import { bothStores } from "./stores.ts";

const SEED = Number(process.env["ASSENT_SEED"] ?? 1);
const ROUNDS = LONG ? 100 : 4;
const NEW_SESSIONS = 8;

const POINTS: readonly Failpoint[] = ["append.before_commit", "append.after_commit", "effect.mid", "claim.after", "recover.each"];

for (const store of await bothStores()) {
  test(`two processes killed at random commits under load, ${ROUNDS} times, ${store.name} (ASSENT_SEED=${SEED})`, {
    timeout: 600_000,
  }, async () => {
    using scene = makeScene(store);
    const random = seeded(SEED);
    let kills = 0;
    for (let round = 0; round < ROUNDS; round += 1) {
      const failpoints = [0, 1].map(() => `${POINTS[random(POINTS.length)]}@${1 + random(20)}`);
      const ends = await Promise.all(failpoints.map((failpoint) => scene.child([String(NEW_SESSIONS)], { failpoint, entry: LOAD })));
      for (const [at, { code, signal, stderr }] of ends.entries()) {
        assert.ok(signal === "SIGKILL" || code === 0, `${failpoints[at]}: exit ${code}, ${stderr}`);
        kills += signal === "SIGKILL" ? 1 : 0;
      }
    }
    assert.ok(kills > ROUNDS / 2, `only ${kills} kills in ${ROUNDS} rounds: this was no load`);
    const { code, stderr } = await scene.child(["1"], { entry: LOAD });
    assert.equal(code, 0, stderr);
    const sessions: { state: string }[] = await scene.json(["sessions", "--limit", "1000"]);
    assert.deepEqual([...new Set(sessions.map(({ state }) => state))], ["done"], "everything came to rest");
    assert.ok(sessions.length >= NEW_SESSIONS);
    await scene.holds();
  });
}
