import assert from "node:assert/strict";
import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { describe, test } from "node:test";
import { checkProposals } from "./check-proposals.ts";
import { DOORS, proposals, stageTen } from "./proposal-scene.ts";
import { makeScene, type Scene } from "./scene.ts";

/** How a sound history is made untrue, and which invariants say so. */
type Spoiling = readonly [sentence: string, spoil: (story: Story) => void, invariants: readonly string[]];

type Story = { readonly scene: Scene; readonly run: (sql: string) => void };

const ROW = (type: string): string => `type = 'proposal.${type}'`;
const SET = (type: string, path: string, value: string): string =>
  `update events set body = json_set(body, '$.${path}', ${value}) where ${ROW(type)}`;

/** What a conversation leaves that staged ten files and applied them by `resolve`. */
const APPLIED: readonly Spoiling[] = [
  ["nothing is untrue", () => undefined, []],
  ["an apply without an end", ({ run }) => run(`delete from events where ${ROW("applied")}`), ["P1", "P4"]],
  ["an apply that ends twice", ({ run }) => copy(run, ROW("applied"), "proposal.applied"), ["P1"]],
  ["an apply that nobody began", ({ run }) => run(`delete from events where ${ROW("applying")}`), ["P1", "P4"]],
  ["a discard of what is applied", ({ run }) => copy(run, ROW("applied"), "proposal.discarded"), ["P1", "P6"]],
  ["a content that is not kept", ({ run }) => run(`delete from blobs where sha = (${ONE})`), ["P2"]],
  ["a content that is kept otherwise", ({ run }) => run(`update blobs set bytes = x'00' where sha = (${ONE})`), ["P2"]],
  ["a content that is not named", ({ run }) => run(SET("staged", "contents", "json('[]')")), ["P2"]],
  ["a label that was not shown", ({ run }) => run(SET("staged", "label", "'other'")), ["P3"]],
  ["a file whose end was not shown", ({ run }) => run(SET("staged", "manifest.effects[0].mode", "511")), ["P3"]],
  ["an apply of something else", ({ run }) => run(SET("applying", "digest", "'sha256:00'")), ["P3"]],
  ["a call that failed and applied", ({ run }) => run(END("failed")), ["P4"]],
  ["a call that applied by another's record", ({ run }) => run(SET("applying", "resolution.callId", "'c9'")), ["P4"]],
  ["a wish that nobody heard", ({ run }) => copy(run, ROW("applied"), "proposal.requested"), ["P5"]],
  ["a file that is as before", ({ scene }) => writeFileSync(scene.path("set/a.txt"), "a one\na two\n"), ["P6"]],
  ["a file that was not deleted", ({ scene }) => writeFileSync(scene.path("set/e/gone.txt"), "e\n"), ["P6"]],
  ["a file that somebody has changed since is nobody's fault", ({ scene }) => writeFileSync(scene.path("set/a.txt"), "mine\n"), []],
  ["half of the files, and nobody can tell", giveUp, []],
];

const ONE = "select substr(json_extract(body, '$.manifest.effects[0].after'), 8) from events where type = 'proposal.staged'";
const END = (outcome: string): string =>
  `update events set body = json_set(body, '$.outcome', '${outcome}') where pos = (select max(pos) from events where type = 'call.ended')`;

function giveUp({ scene, run }: Story): void {
  rmSync(scene.path("set/i.txt"));
  run(`update events set type = 'proposal.unknown' where ${ROW("applied")}`);
  run(END("unknown"));
}

/** The row once more, at the end of everything, under another name. */
function copy(run: Story["run"], which: string, type: string): void {
  run(`insert into events (pos, session, seq, epoch, at, type, v, body, prev, hash)
    select (select max(pos) + 1 from events), session, 1000, epoch, at, '${type}', v, body, prev, hash from events where ${which}`);
}

describe("the checker of proposals", { concurrency: 3 }, () => {
  for (const [sentence, spoil, invariants] of APPLIED) {
    test(`${sentence}: ${invariants.join(", ") || "holds"}`, async () => {
      using scene = makeScene();
      await scene.here(await DOORS["run resolve"].command(scene));
      assert.equal((await proposals(scene))[0]?.state, "applied");
      assert.deepEqual(spoilt(scene, spoil), invariants);
    });
  }

  test("a staged proposal of which a file is changed: P6", async () => {
    using scene = makeScene();
    await stageTen(scene);
    assert.deepEqual(
      spoilt(scene, () => writeFileSync(scene.path("set/i.txt"), "I\n")),
      ["P6"],
    );
  });
});

function spoilt(scene: Scene, spoil: (story: Story) => void): readonly string[] {
  const database = new DatabaseSync(join(scene.store, "ledger.db"));
  try {
    spoil({ scene, run: (sql) => database.exec(sql) });
  } finally {
    database.close();
  }
  return [...new Set(checkProposals(scene.store).map(({ invariant }) => invariant))];
}
