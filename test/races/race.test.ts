import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { describe, test } from "node:test";
import type { AnswerReport } from "@assent/core";
import { type BatchResult, type BatchSpec, openLibrary, runBatch } from "../crash/library.ts";
import { LOAD } from "../crash/load.ts";
import { makeScene, type Scene } from "../crash/scene.ts";
import { bothStores, type SceneStore } from "../crash/stores.ts";
import { LONG } from "../support/long.ts";
import { APPROVER, type Ask, type Said } from "./approver.ts";

for (const store of await bothStores()) {
  describe(`two processes answer one approval at the same time, ${store.name}`, () => {
    const often = LONG ? 1_000 : 100;
    test(`both say yes, ${often} times: one wins each time, the other learns who, and there are ${often} effects`, async () => {
      const { won, effects } = await race(store, often, ["approve", "approve"]);
      assert.deepEqual([won.approved, won.rejected, effects], [often, 0, often]);
    });

    test(`one says yes and one no, ${often} times: one outcome each, and as many effects as yeses that won`, async () => {
      const { won, effects } = await race(store, often, ["approve", "reject"]);
      assert.deepEqual([won.approved + won.rejected, effects], [often, won.approved]);
    });

    test("`approve` and `reject` at the same instant, 10 times: one wins, the other exits 1 and says who and when", async () => {
      using scene = makeScene(store);
      let yeses = 0;
      for (let round = 0; round < 10; round += 1) {
        const { approvalId } = await scene.json(["call", "world", "--on-ask", "park"]);
        const ends = await Promise.all(
          ["approve", "reject"].map((command) => scene.child([command, approvalId, "--by", command, "--json"])),
        );
        const [winner, loser] = ends.toSorted((left, right) => Number(left.code) - Number(right.code));
        assert.deepEqual([winner?.code, loser?.code], [0, 1], `${winner?.stderr}${loser?.stderr}`);
        const [told, known] = [winner, loser].map((ran) => JSON.parse(ran?.stdout ?? ""));
        assert.deepEqual([told.alreadyAnswered, known.alreadyAnswered], [false, true]);
        assert.deepEqual([known.outcome, known.answeredBy, known.answeredAt], [told.outcome, told.answeredBy, told.answeredAt]);
        yeses += told.outcome === "approved" ? 1 : 0;
      }
      await scene.rest();
      assert.equal(scene.lines().length, yeses);
      await scene.holds();
    });
  });

  test(`two processes that append to one ledger at once do not disturb each other, ${store.name}`, async () => {
    using scene = makeScene(store);
    const ends = await Promise.all([1, 2].map(() => scene.child(["16"], { entry: LOAD })));
    for (const { code, stderr } of ends) assert.equal(code, 0, stderr);
    const sessions: { state: string; calls: number }[] = await scene.json(["sessions"]);
    assert.deepEqual([sessions.length, new Set(sessions.map(({ state }) => state))], [32, new Set(["done"])]);
    assert.equal(scene.lines().length, 32 * 5, "every call but the rejected one has its effect");
    await scene.holds();
  });
}

type Race = { readonly won: { readonly approved: number; readonly rejected: number }; readonly effects: number };

/** Parks so many calls of one session, lets two processes answer each of them at once, and then runs what may run. */
async function race(store: SceneStore, count: number, outcomes: readonly [Ask["outcome"], Ask["outcome"]]): Promise<Race> {
  using scene = makeScene(store);
  const calls = Array.from({ length: count }, (_, at) => ({ id: `c${at}`, name: "world", arguments: { note: String(at) } }));
  const { session, results } = await batch(scene, { calls });
  const approvals = results.map((report) => ("approvalId" in report ? (report.approvalId ?? "") : ""));
  assert.equal(new Set(approvals).size, count);
  const won = await answerAtOnce(scene, approvals, outcomes);
  await batch(scene, { session });
  await scene.holds();
  return { won, effects: scene.lines().length };
}

async function answerAtOnce(scene: Scene, approvals: readonly string[], outcomes: readonly Ask["outcome"][]): Promise<Race["won"]> {
  const won = { approved: 0, rejected: 0 };
  const winners = new Set<string>();
  const approvers = await Promise.all([approver(scene, "ann"), approver(scene, "bob")]);
  try {
    for (const approval of approvals) {
      const said = await Promise.all(approvers.map(({ ask }, at) => ask({ approval, outcome: outcomes[at] ?? "approve" })));
      const [winner, loser] = said.toSorted((left, right) => Number(left.alreadyAnswered) - Number(right.alreadyAnswered));
      assert.deepEqual([winner?.alreadyAnswered, loser?.alreadyAnswered], [false, true]);
      assert.deepEqual([loser?.outcome, loser?.answeredBy, loser?.answeredAt], [winner?.outcome, winner?.answeredBy, winner?.answeredAt]);
      if (winner?.outcome === "approved" || winner?.outcome === "rejected") won[winner.outcome] += 1;
      winners.add(winner?.answeredBy?.name ?? "");
      approvers.reverse(); // whoever is sent the approval first is second the next time
    }
  } finally {
    await Promise.all(approvers.map(({ leave }) => leave()));
  }
  assert.deepEqual(winners, new Set(["ann", "bob"]), "one of them always won: this was no race");
  return won;
}

async function batch(scene: Scene, spec: BatchSpec): Promise<BatchResult> {
  const library = await openLibrary(scene);
  try {
    return await runBatch(library, spec);
  } finally {
    await library.ledger.close();
  }
}

type Approver = { readonly ask: (ask: Ask) => Promise<AnswerReport>; readonly leave: () => Promise<unknown> };

/** A person in a process of their own, who is asked over its channel. */
async function approver({ env }: Scene, name: string): Promise<Approver> {
  const child = spawn(process.execPath, [...APPROVER, name], { env, stdio: ["ignore", "inherit", "inherit", "ipc"] });
  const gone = once(child, "exit");
  const heard = async (): Promise<AnswerReport> => {
    const message: Promise<Said[]> = once(child, "message");
    const [said] = await Promise.race([message, gone.then(() => assert.fail(`${name} has gone`))]);
    if (said === undefined || "error" in said) assert.fail(said?.error);
    return said;
  };
  await once(child, "message");
  return {
    ask: (message) => {
      const said = heard();
      child.send(message);
      return said;
    },
    leave: () => {
      child.disconnect();
      return gone;
    },
  };
}
