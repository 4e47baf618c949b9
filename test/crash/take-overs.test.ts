import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { LONG } from "../support/long.ts";
import type { Failpoint } from "./failpoints.ts";
import { DOORS, survey } from "./proposal-scene.ts";
import { appendedLines, survey as surveyStory } from "./random-kills-scene.ts";
import type { Scene } from "./scene.ts";
import { seeded } from "./seeded.ts";
import { bothStores, SQLITE } from "./stores.ts";
import { type InterruptedDoor, interruptible, type StoppedCommand, stopAt } from "./take-over-scene.ts";
import { tree } from "./ten-files.ts";

const SEED = Number(process.env["ASSENT_SEED"] ?? 1);
const TAKE_OVERS = LONG ? 100 : 5;
const KILLS = LONG ? 300 : 4;
/** Scenes at a time. */
const LANES = 2;
const LIMITS = { timeout: 3_600_000, concurrency: LANES } as const;

type Points = readonly (readonly [Failpoint, number])[];
type Row = { readonly seed: number; readonly door: InterruptedDoor; readonly failpoint: string; readonly wakesAtOnce: boolean };

const whole = await survey(DOORS.apply);
const story = await surveyStory();

/** A run has about so many steps that change files; they are met in real processes alone. */
const STORY_STEPS: Points = Array.from({ length: 3 }, () => ["file.step", 60] as const);
/** Between the intent and the end of a change files differ from the record: these points come up more often. */
const SET_STEPS: Points = Array.from({ length: 6 }, () => ["file.step", whole.steps.length] as const);
const POINTS: Readonly<Record<InterruptedDoor, Points>> = {
  run: [...story.run, ...STORY_STEPS],
  resume: [...story.resume, ...STORY_STEPS],
  apply: [
    ["proposal.before_applying", 1],
    ["proposal.after_applying", 1],
    ...SET_STEPS,
    ["proposal.before_applied", 1],
    ["proposal.after_applied", 1],
  ],
  undo: [["proposal.after_requested", 1], ...SET_STEPS, ["proposal.before_undone", 1], ["proposal.after_undone", 1]],
};

/** Where a process that wakes would do most harm: its intent is on record, its effect has not begun. They come first. */
const FIRST: readonly Pick<Row, "door" | "failpoint">[] = [
  { door: "apply", failpoint: "proposal.after_applying@1" },
  { door: "undo", failpoint: "file.step@1" },
  { door: "run", failpoint: "effect.before@1" },
  { door: "resume", failpoint: "effect.before@1" },
];

/** A door, a point of it, and whether a stopped process wakes while it is being taken over or only after that. */
function rowOf(seed: number): Row {
  const first = FIRST[seed - SEED];
  if (first) return { seed, ...first, wakesAtOnce: false };
  const random = seeded(seed * 7_919);
  random(1);
  const door = (["apply", "undo", "run", "resume"] as const)[seed % 4] ?? "apply";
  const points = POINTS[door];
  const [name, count] = points[random(points.length)] ?? ["file.step", 1];
  return { seed, door, failpoint: `${name}@${1 + random(count)}`, wakesAtOnce: random(3) === 0 };
}

/** Plays rows from the seed on until so many of them met their point. Returns what became of the processes. */
async function play(t: TestContext, wanted: number, one: (row: Row) => Promise<string | undefined>): Promise<void> {
  const met: string[] = [];
  let next = SEED;
  const lane = async (): Promise<void> => {
    while (met.length < wanted) {
      const row = rowOf(next);
      next += 1;
      await t.test(`ASSENT_SEED=${row.seed}: ${row.door} at ${row.failpoint}${row.wakesAtOnce ? ", waking at once" : ""}`, async () => {
        const end = await one(row);
        if (end !== undefined) met.push(`${row.door}: ${end}`);
      });
      assert.ok(next - SEED < wanted * 4, `only ${met.length} in ${next - SEED} rows`);
    }
  };
  await Promise.all(Array.from({ length: LANES }, lane));
  for (const [how, all] of Map.groupBy(met, (end) => end)) t.diagnostic(`${all.length} × ${how}`);
}

/** Everything that effects change. A tool that says it only reads is taken at its word, and nobody waits for it. */
function worldOf(scene: Scene): unknown {
  const lines = scene.lines().filter(({ call }) => call !== "w_look");
  return { files: tree(scene.path(".")), lines, appended: appendedLines(scene) };
}

/** Takes the session of a stopped command over and wakes that one. Undefined: there was nothing to take over. */
async function takeOverAndWake(
  scene: Scene,
  { child, ends, isStopped }: StoppedCommand,
  wakesAtOnce: boolean,
): Promise<string | undefined> {
  const sessions: readonly { readonly id: string }[] = isStopped ? await scene.json(["sessions"]) : [];
  const taking = sessions[0] && scene.child(["resume", sessions[0].id, "--take-over", "--json"]);
  if (!taking || wakesAtOnce) child.kill("SIGCONT");
  const taken = await taking;
  const settled = worldOf(scene);
  child.kill("SIGCONT");
  const { signal, code } = await ends;
  if (taken && !wakesAtOnce && !taken.stdout.includes("store_locked"))
    assert.deepEqual(worldOf(scene), settled, "the old process did something after it was taken over");
  if (!taken || taken.stdout.includes("store_locked")) return undefined; // it was stopped within a commit, which nobody can pass
  assert.ok([0, 1, 75].includes(taken.code ?? -1), `exit ${taken.code} ${taken.signal}: ${taken.stdout}${taken.stderr}`);
  assert.doesNotMatch(taken.stdout, /session_busy|unhandled_exception/);
  return signal === null ? `the old process exits with ${code}` : `the old process is ended by ${signal}`;
}

for (const store of await bothStores()) {
  const [takeOvers, kills] = store === SQLITE || LONG ? [TAKE_OVERS, KILLS] : [2, 1];
  test(
    `${takeOvers} processes are stopped, taken over and woken: record and files agree, ${store.name} (ASSENT_SEED=${SEED})`,
    LIMITS,
    (t) =>
      play(t, takeOvers, async ({ door, failpoint, wakesAtOnce }) => {
        const interrupted = await interruptible(door, whole, store);
        using scene = interrupted.scene;
        const end = await takeOverAndWake(scene, await stopAt(interrupted, failpoint), wakesAtOnce);
        await interrupted.finish();
        await interrupted.agrees();
        return end;
      }),
  );

  test(`${kills} processes are killed: record and files agree, ${store.name} (ASSENT_SEED=${SEED})`, LIMITS, (t) =>
    play(t, kills, async ({ door, failpoint }) => {
      const interrupted = await interruptible(door, whole, store);
      using scene = interrupted.scene;
      const { signal } = await scene.child(interrupted.command, { failpoint });
      await interrupted.finish();
      await interrupted.agrees();
      return signal === "SIGKILL" ? "killed" : undefined;
    }),
  );
}
