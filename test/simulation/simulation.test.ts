import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { planOf } from "./plan.ts";
import { PLANTED } from "./planted.ts";
import { firstFailing } from "./seeds.ts";
import { shorten } from "./shrink.ts";
import { fingerprintOf, simulate } from "./simulation.ts";

const SEEDS = 500;

test(`${SEEDS} seeds: whatever the order of steps, delays, crashes, power cuts, disk errors and second writers, the invariants hold`, async () => {
  const failed = await firstFailing(0, SEEDS);
  if (!failed) return;
  const { outcome } = await shorten(planOf(failed.seed));
  assert.fail(
    [...outcome.history, `${failed.violation.rule}: ${failed.violation.message}`, `Again: npm run simulate -- --seed ${failed.seed}`].join(
      "\n",
    ),
  );
});

test("the same seed gives the same history, another seed another one", async () => {
  const histories = new Set<string>();
  for (let seed = 0; seed < 40; seed += 1) {
    const [one, other] = [await simulate(planOf(seed), { isRecording: true }), await simulate(planOf(seed), { isRecording: true })];
    assert.equal(fingerprintOf(one), fingerprintOf(other), `seed ${seed}`);
    assert.ok(one.history.length > 20);
    histories.add(fingerprintOf(one));
  }
  assert.equal(histories.size, 40);
});

test("every kind of fault is met, and so is every end of a call", async () => {
  const met = new Set<string>();
  for (let seed = 0; seed < 240; seed += 1) {
    const { history } = await simulate(planOf(seed), { isRecording: true });
    for (const line of history) {
      const fault = /^world: (kill|power|stop|store_full|store_locked|store_io|cancel|policy|clock|takes)/.exec(line)?.[1];
      const end = /call\.ended \S+ (\w+)/.exec(line)?.[1];
      const edit = /approval\.answered .* (edited)$/.exec(line)?.[1];
      for (const found of [fault, end, edit, /^ {2}= \S+ (notice\.delivered|proposal\.\w+|question\.\w+)/.exec(line)?.[1]])
        if (found !== undefined) met.add(found);
    }
  }
  const faults = ["cancel", "clock", "kill", "policy", "power", "stop", "store_full", "store_io", "store_locked", "takes"];
  const ends = ["cancelled", "denied", "failed", "rejected", "succeeded", "timed_out", "unknown"];
  const others = ["edited", "notice.delivered", "proposal.applied", "proposal.discarded", "proposal.staged", "question.answered"];
  assert.deepEqual(
    [...faults, ...ends, ...others].filter((wanted) => !met.has(wanted)),
    [],
  );
});

describe("a bug that is put in at a port is found", () => {
  const ROWS: readonly [bug: keyof typeof PLANTED, rules: readonly string[], seeds: number][] = [
    ["lost wake-up", ["L2"], 100],
    ["lost edit", ["I5"], 100],
    ["double claim", ["I2", "I4"], 1_000], // done twice, or once without its intent on record
    ["missing fsync", ["I2", "I4", "I10"], 100],
    ["reordered notice", ["I9"], 300],
  ];
  for (const [bug, rules, seeds] of ROWS) {
    test(`${bug}: within ${seeds} seeds, by ${rules.join(" or ")}`, async () => {
      const failed = await firstFailing(0, seeds, { planted: PLANTED[bug]() });
      assert.ok(failed, "it was not found");
      assert.ok(rules.includes(failed.violation.rule), JSON.stringify(failed));
    });
  }

  test("its history is made shorter, and fails by the same rule", async () => {
    const planted = PLANTED["missing fsync"]();
    const failed = await firstFailing(0, 100, { planted });
    assert.ok(failed);
    const whole = planOf(failed.seed);
    const { plan, outcome } = await shorten(whole, { planted });
    assert.equal(outcome.violations[0]?.rule, failed.violation.rule);
    assert.equal(plan.faults.length, 1, "the power is lost once");
    assert.ok(plan.sessions.flatMap(({ batches }) => batches.flat()).length <= 2, "and a call or two are enough");
    assert.ok(outcome.history.length > 0);
  });
});
