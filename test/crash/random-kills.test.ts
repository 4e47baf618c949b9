import assert from "node:assert/strict";
import { test } from "node:test";
import { LONG } from "../support/long.ts";
import type { Failpoint } from "./failpoints.ts";
import { CALLS, cameOutRight, type Kills, killAndFinish, makeStory, survey } from "./random-kills-scene.ts";
import { seeded } from "./seeded.ts";
import { bothStores, SQLITE } from "./stores.ts";

/** By default one from which eight kills already meet all kinds of doubt. */
const SEED = Number(process.env["ASSENT_SEED"] ?? 13);
const KILLS = LONG ? 200 : 8;
/** Stories at a time. */
const LANES = 2;

/** Steps that change files are met in real processes alone, so that nobody has counted them; a run has about so many. */
const FILE_STEPS: readonly [Failpoint, number] = ["file.step", 60];

for (const store of await bothStores()) {
  const wanted = store === SQLITE || LONG ? KILLS : 2;
  test(`a run of ${CALLS} calls killed at random points, ${wanted} times, ${store.name} (ASSENT_SEED=${SEED})`, {
    timeout: 1_800_000,
    concurrency: LANES,
  }, async (t) => {
    assert.ok(CALLS >= 20, `${CALLS} calls`);
    const { run, resume } = await survey(store);
    const points = { run: weighed(run), resume: weighed(resume) };
    let kills = 0;
    let round = 0;
    const lane = async (): Promise<void> => {
      while (kills < wanted) {
        const seed = SEED + round;
        round += 1;
        const planned = plan(seed, points);
        await t.test(`ASSENT_SEED=${seed}: ${planned.join(", then ")}`, async () => {
          const story = makeStory(store);
          using scene = story.scene;
          const killed = await killAndFinish(story, planned);
          kills += killed;
          await cameOutRight(scene);
        });
        assert.ok(round < wanted * 3, `only ${kills} kills in ${round} rounds`);
      }
    };
    await Promise.all(Array.from({ length: LANES }, lane));
  });
}

/** Between the intent and the end it is in doubt whether something ran: these points come up more often. */
const IN_DOUBT: readonly Failpoint[] = ["claim.after", "effect.before", "effect.after_spawn", "effect.mid", "effect.after"];

function weighed(counts: ReadonlyMap<Failpoint, number>): Points {
  const doubtful = [...counts].filter(([name]) => IN_DOUBT.includes(name));
  return [...counts, FILE_STEPS, ...doubtful, ...doubtful];
}

type Points = readonly (readonly [Failpoint, number])[];

/** One kill of the run, and up to three of those that take it up. */
function plan(seed: number, { run, resume }: { readonly run: Points; readonly resume: Points }): Kills {
  const random = seeded(seed * 7_919);
  random(1);
  const one = (of: Points): string => {
    const [name, count] = of[random(of.length)] ?? FILE_STEPS;
    return `${name}@${1 + random(count)}`;
  };
  return [one(run), ...Array.from({ length: random(4) }, () => one(resume))];
}
