import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { planOf } from "./plan.ts";
import { PLANTED } from "./planted.ts";
import { firstFailing } from "./seeds.ts";
import { shorten } from "./shrink.ts";
import { fingerprintOf, simulate } from "./simulation.ts";

const SEEDS = 500;

test(`${SEEDS} seeds: whatever the order of steps, delays, crashes, power cuts, disk errors, cut connections, skewed clocks and second writers, the invariants hold`, async () => {
  const failed = await firstFailing(0, SEEDS);
  if (!failed) return;
  const { outcome } = await shorten(planOf(failed.seed));
  assert.fail(
    [...outcome.history, `${failed.violation.rule}: ${failed.violation.message}`, `Again: npm run simulate -- --seed ${failed.seed}`].join(
      "\n",
    ),
  );
});

const FOUND: readonly [what: string, seed: number][] = [
  ["a session whose write may be stored or not is refused, and does not wait for ever", 33],
  ["an undo that was begun is finished after a restart, though something else was wished for meanwhile", 232_013],
];

for (const [what, seed] of FOUND) {
  test(`what a seed found once holds: ${what}`, async () => {
    assert.equal(await firstFailing(seed, 1), undefined);
  });
}

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

/** What a line of a history tells of: a fault, the end of a call, what a hook says, an event. */
const TELLING: readonly RegExp[] = [
  /^world: (kill|power|stop|cut|store_full|store_locked|store_io|cancel|policy|clock|takes)/,
  /^world: (somebody writes)/,
  /(the lease of|does not know)/,
  /call\.ended \S+ (\w+)/,
  /approval\.answered .* (edited)$/,
  /hears hooks, (\w+) \S+ \w+$/,
  /hears hooks, pre_tool_use \S+ (\w+)$/,
  /^ {2}= \S+ (call\.started|notice\.delivered|proposal\.\w+|question\.\w+|schedule\.\w+)/,
  /the person wants to (\w+)/,
  /takes \S+ to (settle)/,
];

const WANTED: readonly string[] = [
  ...["cancel", "clock", "kill", "policy", "power", "stop", "store_full", "store_io", "store_locked", "takes", "somebody writes"],
  ...["cut", "the lease of", "does not know"],
  ...["cancelled", "denied", "failed", "rejected", "succeeded", "timed_out", "unknown"],
  ...["edited", "call.started", "notice.delivered", "question.answered", "schedule.created", "schedule.fired", "schedule.removed"],
  ...["pre_tool_use", "permission_request", "tool_response_transform", "allow", "ask", "deny", "fails", "nonsense", "rewrite"],
  ...["proposal.staged", "proposal.applied", "proposal.discarded", "proposal.requested", "proposal.refused", "proposal.stale"],
  ...["proposal.undone", "apply", "discard", "undo", "settle"],
];

test("every kind of fault, of end, of hook and of settling is met", async () => {
  const met = new Set<string>();
  for (let seed = 0; seed < 240; seed += 1) {
    const { history } = await simulate(planOf(seed), { isRecording: true });
    for (const line of history)
      for (const telling of TELLING) {
        const found = telling.exec(line)?.[1];
        if (found !== undefined) met.add(found);
      }
  }
  assert.deepEqual(
    WANTED.filter((wanted) => !met.has(wanted)),
    [],
  );
});

describe("a bug that is put in at a port is found", () => {
  const ROWS: readonly [bug: keyof typeof PLANTED, rules: readonly string[], seeds: number][] = [
    ["lost wake-up", ["L2"], 100],
    ["lost edit", ["I5"], 100],
    ["skipped hook", ["H1", "H2"], 100],
    ["stale apply", ["P2"], 300],
    ["orphaned agent", ["A1", "I1"], 600],
    ["repeated fire", ["S1", "S2"], 1_000],
    ["double claim", ["I2", "I4"], 1_000], // done twice, or once without its intent on record
    ["missing fsync", ["I2", "I4", "I10"], 100],
    ["reordered notice", ["I9"], 1_000],
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
