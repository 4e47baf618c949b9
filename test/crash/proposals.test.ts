import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { LONG } from "../support/long.ts";
import type { Failpoint, Failpoints } from "./failpoints.ts";
import {
  DOORS,
  type Door,
  type DoorName,
  filesAt,
  isSettled,
  killAt,
  lastEnd,
  proposals,
  resumeAll,
  type Survey,
  stage,
  stepLog,
  stepsOf,
  survey,
  temporaries,
} from "./proposal-scene.ts";
import { makeScene, type Scene } from "./scene.ts";

/** Every step of every door; without it those between which something differs. */

/** How a kill is put in order: a person takes the session up, or gives the same command again. */
type Way = "resume" | "again";

/** The only proposal's state, where all files are, and the end of the last call. */
type Found = readonly [state: string, files: string, end: string];

const names = Object.keys(DOORS) as readonly DoorName[];
const surveys = new Map(await Promise.all(names.map(async (name) => [name, await survey(DOORS[name])] as const)));

function surveyOf(name: DoorName): Survey {
  const found = surveys.get(name);
  assert.ok(found);
  return found;
}

/** What must be found after a kill that came when so many of the files were changed. */
function expected({ settles }: Door, { done, way }: { readonly done: boolean; readonly way: Way }): Found {
  const staged = "succeeded null";
  if (settles === "undo") return ["undone", "before", staged];
  if (settles === "apply") return done || way === "again" ? ["applied", "after", staged] : ["staged", "before", staged];
  if (done) return ["applied", "after", "succeeded recovered"];
  return [settles === "direct" ? "discarded" : "staged", "before", "failed not_applied"];
}

async function found(scene: Scene, name: DoorName): Promise<Found> {
  const [proposal, ...more] = await proposals(scene);
  assert.deepEqual(more, []);
  return [proposal?.state ?? "none", filesAt(scene, endsOf(name)), await lastEnd(scene)];
}

/** An undo goes from what was made back to what was; directories that were made stay. */
function endsOf(name: DoorName): Pick<Survey, "before" | "after"> {
  const { before, after } = surveyOf(name);
  return name === "undo" ? { before: after, after: before } : { before, after };
}

/** A person who gives the command again is told that it holds; a second undo may be told that it was one. */
async function settle(scene: Scene, way: Way, argv: readonly string[]): Promise<void> {
  if (way === "resume") return await resumeAll(scene);
  const { code, stdout } = await scene.child(argv);
  assert.ok(code === 0 || (argv[0] === "undo" && stdout.includes("not_undoable")), `what was asked for holds: ${stdout}`);
}

/** What is staged can still be applied, and what is applied can be taken back: no kill costs a proposal. */
async function goesOn(scene: Scene, name: DoorName): Promise<void> {
  const [proposal] = await proposals(scene);
  if (!proposal || !(LONG || name === "apply")) return;
  if (proposal.state === "staged") assert.equal((await scene.json(["apply", proposal.id])).outcome, "applied");
  if (proposal.state === "discarded" || proposal.state === "undone") return;
  assert.equal(filesAt(scene, endsOf(name)), "after");
  assert.equal((await scene.json(["undo", proposal.id])).state, "undone");
  assert.deepEqual(temporaries(scene), []);
  await scene.holds();
}

describe("killed before a step that changes something on the disk", { concurrency: 3 }, () => {
  for (const name of names) {
    const { steps, changedBefore, changes } = surveyOf(name);
    for (const [at, way] of LONG ? every(name) : telling(name)) {
      const changed = changedBefore[at] ?? changes;
      const about = `${name}, ${changed} of ${changes} files changed, before step ${at + 1} of ${steps.length} (${steps[at]?.split(" ")[0]}), then ${way}`;
      test(about, async () => {
        using scene = makeScene();
        const argv = await DOORS[name].command(scene);
        await killAt(scene, argv, `file.step@${at + 1}`);
        await settle(scene, way, argv);
        assert.deepEqual(await found(scene, name), expected(DOORS[name], { done: changed === changes, way }));
        await isSettled(scene);
        await goesOn(scene, name);
      });
    }
  }

  /** A person can give the same command again where it was a person's. */
  function ways(name: DoorName): readonly Way[] {
    return name === "apply" || name === "undo" ? ["resume", "again"] : ["resume"];
  }

  function every(name: DoorName): readonly (readonly [at: number, way: Way])[] {
    return surveyOf(name).steps.flatMap((_, at) => ways(name).map((way) => [at, way] as const));
  }

  /** The first step of all, the last before the first file changes, those beside the first and the last change, the last of all; each put in order in one way. */
  function telling(name: DoorName): readonly (readonly [at: number, way: Way])[] {
    const { steps, changedBefore, changes } = surveyOf(name);
    const [first, last] = [changedBefore.lastIndexOf(0), changedBefore.indexOf(changes)];
    assert.ok(first > 0 && last > first, "nothing to break");
    const all = [0, first, first + 1, last - 1, last, steps.length - 1];
    const some = name === "apply" ? all : [first + (changes > 1 ? 1 : 0), last];
    return [...new Set(some)].map((at, n) => [at, ways(name)[n % ways(name).length] ?? "resume"] as const);
  }
});

describe("killed while the new bytes are written beside a file", { concurrency: 3 }, () => {
  const rows = LONG ? names.flatMap((name) => halves(name)) : ([["call ten", 3]] as const);
  for (const [name, nth] of rows) {
    test(`${name}, half of temporary file ${nth}`, async () => {
      using scene = makeScene();
      await killAt(scene, await DOORS[name].command(scene), `file.half@${nth}`);
      await resumeAll(scene);
      assert.deepEqual(await found(scene, name), expected(DOORS[name], { done: false, way: "resume" }));
      await isSettled(scene);
      await goesOn(scene, name);
    });
  }

  function halves(name: DoorName): readonly (readonly [DoorName, number])[] {
    const writes = surveyOf(name).steps.filter((step) => step === "file.write");
    return writes.map((_, at) => [name, at + 1]);
  }
});

const [STAGED, RECOVERED, NOTHING] = ["succeeded null", "succeeded recovered", "failed not_applied"] as const;

/** Where the process is killed between two records, and what must be found. A conversation that is taken up goes on: its model applies what it has staged. */
const POINTS: readonly [name: DoorName, point: Failpoint | `${Failpoint}@${number}`, found: Found][] = [
  ["apply", "lease.after_epoch", ["staged", "before", STAGED]],
  ["apply", "proposal.before_applying", ["staged", "before", STAGED]],
  ["apply", "proposal.after_applying", ["staged", "before", STAGED]],
  ["apply", "proposal.before_applied", ["applied", "after", STAGED]],
  ["apply", "proposal.after_applied", ["applied", "after", STAGED]],
  ["apply", "close.before", ["applied", "after", STAGED]],
  ["call ten", "claim.after", ["none", "before", NOTHING]],
  ["call ten", "proposal.before_applying", ["none", "before", NOTHING]],
  ["call ten", "proposal.after_staged", ["discarded", "before", NOTHING]],
  ["call ten", "proposal.before_applied", ["applied", "after", RECOVERED]],
  ["call ten", "proposal.after_applied", ["applied", "after", RECOVERED]],
  ["call ten", "effect.after", ["applied", "after", RECOVERED]],
  ["call ten", "end.after", ["applied", "after", "succeeded null"]],
  ["call write", "proposal.after_staged", ["discarded", "before", NOTHING]],
  ["run edit", "proposal.after_staged", ["discarded", "before", NOTHING]],
  ["run resolve", "proposal.after_staged", ["applied", "after", "succeeded applied"]],
  ["run resolve", "claim.before@2", ["applied", "after", "succeeded applied"]],
  ["run resolve", "claim.after@2", ["staged", "before", NOTHING]],
  ["run resolve", "proposal.before_applying", ["staged", "before", NOTHING]],
  ["run resolve", "proposal.after_applying", ["staged", "before", NOTHING]],
  ["run resolve", "proposal.before_applied", ["applied", "after", RECOVERED]],
  ["run resolve", "proposal.after_applied", ["applied", "after", RECOVERED]],
  ["run resolve", "end.after@2", ["applied", "after", "succeeded applied"]],
  ["undo", "proposal.before_requested", ["applied", "after", STAGED]],
  ["undo", "proposal.after_requested", ["undone", "before", STAGED]],
  ["undo", "proposal.before_undone", ["undone", "before", STAGED]],
  ["undo", "proposal.after_undone", ["undone", "before", STAGED]],
];

describe("killed between two records of an apply", { concurrency: 3 }, () => {
  const differing: readonly string[] = [
    "claim.after",
    "proposal.before_applying",
    "proposal.after_staged",
    "proposal.before_applied",
    "effect.after",
  ];
  const some = POINTS.filter(([name, point]) => name === "undo" || differing.includes(point));
  for (const [name, point, wanted] of LONG ? POINTS : some) {
    test(`${name} at ${point}: ${wanted.join(", ")}`, async () => {
      using scene = makeScene();
      await killAt(scene, await DOORS[name].command(scene), point);
      await resumeAll(scene);
      assert.deepEqual(await found(scene, name), wanted);
      await isSettled(scene);
      await goesOn(scene, name);
    });
  }
});

/** Every commit of every door: what is found is one of the ends, and the record says which. */
for (const name of LONG ? names : []) {
  const commits = await countCommits(DOORS[name]);
  test(`${name} commits`, () => assert.ok(commits > 2, "nothing to break"));
  describe(`killed at each commit of ${name}`, { concurrency: 3 }, () => {
    for (const point of ["append.before", "append.before_commit", "append.after_commit"] as const) {
      for (let nth = 1; nth <= commits; nth += 1) {
        test(`${point}@${nth} of ${commits}`, async () => {
          using scene = makeScene();
          await killAt(scene, await DOORS[name].command(scene), `${point}@${nth}`);
          await resumeAll(scene);
          assert.notEqual(filesAt(scene, endsOf(name)), "neither");
          await isSettled(scene);
          await goesOn(scene, name);
        });
      }
    }
  });
}

async function countCommits({ command }: Door): Promise<number> {
  using scene = makeScene();
  const argv = await command(scene);
  let commits = 0;
  const counting: Failpoints = {
    isArmed: () => false,
    hit: (name) => {
      if (name === "append.before_commit") commits += 1;
    },
  };
  await scene.here(argv, counting);
  return commits;
}

describe("killed while an earlier kill is put in order", { concurrency: 3 }, () => {
  test("one recovery after the other is killed: it comes to what one recovery comes to", async () => {
    using scene = makeScene();
    const argv = await halfDone(scene);
    const kills = [
      "file.step@1",
      "file.half@2",
      "file.rename@1",
      "file.rename@4",
      "file.unlink@1",
      "file.rmdir@1",
      "append.before_commit@2",
    ];
    for (const kill of LONG ? kills : kills.slice(3)) await killAt(scene, argv, kill);
    await isBroughtBack(scene);
  });

  test("an undo that is killed each time it is tried is one undo", async () => {
    using scene = makeScene();
    const argv = await DOORS.undo.command(scene);
    const kills = ["file.link@2", "file.rename@2", "file.unlink@1", "file.unlink@4", "proposal.before_undone"];
    for (const kill of LONG ? kills : kills.slice(2)) await killAt(scene, argv, kill);
    await settle(scene, "again", argv);
    assert.deepEqual(await found(scene, "undo"), ["undone", "before", STAGED]);
    await resumeAll(scene);
    await isSettled(scene);
  });

  if (LONG) {
    test("at every step of it", async () => {
      const steps = await stepsOfRecovery();
      assert.ok(steps.length > 20, "nothing to break");
      for (const at of steps.keys()) {
        using scene = makeScene();
        await killAt(scene, await halfDone(scene), `file.step@${at + 1}`);
        await isBroughtBack(scene);
      }
    });
  }

  /** Kills a call that runs at once when half of its files are changed; gives the command that takes it up. */
  async function halfDone(scene: Scene): Promise<readonly string[]> {
    await killAt(scene, await DOORS["call ten"].command(scene), "file.link@2");
    const [{ id }] = await scene.json(["sessions"]);
    return ["resume", id, "--json"];
  }

  async function stepsOfRecovery(): Promise<readonly string[]> {
    using scene = makeScene();
    const argv = await halfDone(scene);
    await scene.child(argv, { env: { ASSENT_TEST_STEPS: stepLog(scene) } });
    return stepsOf(scene);
  }

  async function isBroughtBack(scene: Scene): Promise<void> {
    await resumeAll(scene);
    assert.deepEqual(await found(scene, "call ten"), ["discarded", "before", NOTHING]);
    await isSettled(scene);
  }
});

/** A preview without files: its `apply` is the effect, of which only the process that made it knows. */
describe("killed in the middle of an effect that leaves no digests", { concurrency: 3 }, () => {
  const rows: readonly [point: Failpoint, state: string, lines: number][] = [
    ["proposal.before_applying", "staged", 0],
    ["effect.before", "unknown", 0],
    ["effect.mid", "unknown", 1],
    ["proposal.before_applied", "unknown", 1],
    ["proposal.after_applied", "applied", 1],
  ];
  for (const [point, state, lines] of rows) {
    test(`${point}: ${state}, and never a second time`, async () => {
      using scene = makeScene();
      const { id } = await stage(scene, ["told"]);
      await killAt(scene, ["apply", id, "--json"], point);
      await resumeAll(scene);
      assert.deepEqual([(await proposals(scene))[0]?.state, scene.lines().length], [state, lines]);
      const again = await scene.json(["apply", id]);
      const told = state === "unknown" ? again.error.type : again.outcome;
      assert.equal(told, state === "unknown" ? "proposal_not_pending" : "applied");
      assert.equal(scene.lines().length, state === "unknown" ? lines : 1);
      await isSettled(scene);
    });
  }
});
