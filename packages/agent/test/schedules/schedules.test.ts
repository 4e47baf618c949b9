import assert from "node:assert/strict";
import { test } from "node:test";
import {
  type EventType,
  type Ledger,
  LedgerError,
  type LedgerErrorType,
  memoryLedger,
  openSession,
  type ScheduleRow,
  type Session,
} from "@assent/core";
import { countingIds, type ManualClock, manualClock } from "@assent/core/testing";
import { isScheduleRefusal, type ScheduleInput } from "../../src/schedules/input.ts";
import { createSchedules, type Schedules } from "../../src/schedules/schedules.ts";
import type { ScheduleFired } from "../../src/schedules/timers.ts";

const HOLDER = { pid: 1, host: "here", processStart: "then", door: "test" };
const HOUR = 3_600_000;

type Bench = {
  readonly clock: ManualClock;
  readonly ledger: Ledger;
  readonly session: Session;
  readonly schedules: Schedules;
  readonly fired: ScheduleFired[];
  /** What could not be recorded. */
  readonly failures: unknown[];
  /** The store refuses the next events of this type, so often. */
  readonly refuse: (type: EventType, error: LedgerErrorType, times: number) => void;
  readonly wakes: () => number;
  readonly made: (input: ScheduleInput) => Promise<ScheduleRow>;
  /** What the loop does: the notices are told. */
  readonly deliver: () => Promise<readonly string[]>;
};

async function bench(before?: Bench): Promise<Bench> {
  const clock = before?.clock ?? manualClock();
  const ids = countingIds();
  const memory = before?.ledger ?? memoryLedger({ clock, ids });
  const refused: { type: EventType; error: LedgerErrorType; times: number } = { type: "hook.ran", error: "store_full", times: 0 };
  const ledger: Ledger = {
    ...memory,
    append: async (lease, expected, batch) => {
      const isRefused = refused.times > 0 && batch.events.some(({ type }) => type === refused.type);
      if (!isRefused) return await memory.append(lease, expected, batch);
      refused.times -= 1;
      throw new LedgerError(refused.error, "refused");
    },
  };
  const opening = before ? { holder: HOLDER, id: before.session.id, takeOver: true } : { holder: HOLDER, create: { cwd: "/w" } };
  const session = await openSession({ ledger, clock, ids }, opening);
  const fired: ScheduleFired[] = [];
  const failures: unknown[] = [];
  let wakes = 0;
  const wake = (): void => {
    wakes += 1;
  };
  const schedules = createSchedules({
    session,
    clock,
    ids,
    wake,
    expand: (prompt) => `${prompt}!`,
    observe: (one) => void fired.push(one),
    failed: (error) => void failures.push(error),
  });
  return {
    ...{ clock, ledger: memory, session, schedules, fired, failures, wakes: () => wakes },
    refuse: (type, error, times) => void Object.assign(refused, { type, error, times }),
    made: async (input) => {
      const row = await schedules.create(input);
      assert.ok(!isScheduleRefusal(row), JSON.stringify(row));
      return row;
    },
    deliver: async () => {
      const notices = [...session.state.notices.values()];
      await session.record([session.draft("notice.delivered", { ids: notices.map(({ notice }) => notice), turn: 1 })], "normal");
      return notices.map(({ modelText }) => modelText);
    },
  };
}

for (const [name, input, type] of [
  ["every 5s is too often", { every: "5s", prompt: "p" }, "schedule_too_often"],
  ["every 29s is too often", { every: "29s", prompt: "p" }, "schedule_too_often"],
  ["a moment that has passed", { at: "2025-12-31T23:59:59Z", prompt: "p" }, "schedule_past"],
  ["a moment without an offset", { at: "2026-05-01T10:00:00", prompt: "p" }, "schedule_invalid"],
  ["a day that does not exist", { at: "2026-13-01T10:00:00Z", prompt: "p" }, "schedule_invalid"],
  ["every more than a day", { every: "25h", prompt: "p" }, "schedule_invalid"],
  ["a distance in words", { every: "soon", prompt: "p" }, "schedule_invalid"],
  ["a distance of nothing", { every: "0s", prompt: "p" }, "schedule_invalid"],
  ["both", { at: "2026-05-01T10:00:00Z", every: "1h", prompt: "p" }, "schedule_invalid"],
  ["neither", { prompt: "p" }, "schedule_invalid"],
  ["an empty prompt", { every: "1h", prompt: "  " }, "schedule_invalid"],
  ["a prompt that is too long", { every: "1h", prompt: "x".repeat(10_001) }, "schedule_invalid"],
] as const) {
  test(`${name}: ${type}, and nothing is recorded`, async () => {
    const b = await bench();
    const refused = await b.schedules.create(input);
    assert.ok(isScheduleRefusal(refused));
    assert.equal(refused.type, type);
    assert.equal(b.schedules.list().length, 0);
    assert.equal(b.clock.pending(), 0);
  });
}

test("the fifty-first is schedule_limit", async () => {
  const b = await bench();
  for (let at = 0; at < 50; at += 1) await b.made({ every: "1h", prompt: "p" });
  const refused = await b.schedules.create({ every: "1h", prompt: "p" });
  assert.ok(isScheduleRefusal(refused) && refused.type === "schedule_limit");
});

test("one moment fires once, as a notice that was prepared like a prompt, and is gone", async () => {
  const b = await bench();
  const { schedule } = await b.made({ at: "2026-01-01T02:00:00+01:00", prompt: "look" });
  await b.clock.advance(HOUR - 1);
  assert.equal(b.fired.length, 0);
  await b.clock.advance(1);
  assert.deepEqual(b.fired, [{ schedule, due: "2026-01-01T01:00:00.000Z", missed: 0 }]);
  assert.deepEqual(await b.deliver(), ["look!"]);
  assert.equal(b.wakes(), 2, "for the notice, and for its end");
  assert.deepEqual(b.schedules.list(), []);
  assert.equal(b.schedules.holds(), false);
  await b.clock.advance(48 * HOUR);
  assert.equal(b.fired.length, 1);
});

test("every fires again and again; recurring false fires once", async () => {
  const b = await bench();
  await b.made({ every: "1h", prompt: "again" });
  await b.made({ every: "1h", prompt: "once", recurring: false });
  const told: string[] = [];
  for (let at = 0; at < 3; at += 1) {
    await b.clock.advance(HOUR);
    told.push(...(await b.deliver()));
  }
  assert.deepEqual(told, ["again!", "once!", "again!", "again!"]);
});

test("five fires during one long turn are one notice, and four are counted", async () => {
  const b = await bench();
  await b.made({ every: "30s", prompt: "p" });
  await b.clock.advance(150_000);
  assert.deepEqual(
    b.fired.map(({ missed }) => missed),
    [0, 1, 2, 3, 4],
  );
  assert.deepEqual(await b.deliver(), ["p!"]);
  await b.clock.advance(30_000);
  assert.deepEqual(b.fired.at(-1)?.missed, 0, "told again, from nothing");
  assert.equal(b.session.state.notices.size, 1);
});

test("a clock that steps back an hour after a fire does not fire the same due time again", async () => {
  const b = await bench();
  await b.made({ every: "10m", prompt: "p" });
  await b.clock.advance(600_000);
  await b.deliver();
  b.clock.jump(-HOUR);
  await b.clock.advance(HOUR + 599_000);
  assert.equal(b.fired.length, 1);
  await b.clock.advance(1_000);
  assert.deepEqual(new Set(b.fired.map(({ due }) => due)).size, 2);
});

test("a clock that jumps forward fires a schedule once, and reports no missed times for one that is not durable", async () => {
  const b = await bench();
  await b.made({ every: "10m", prompt: "p" });
  b.clock.jump(5 * HOUR);
  await b.clock.advance(15 * 60_000);
  assert.equal(b.fired.filter(({ missed }) => missed === 0).length >= 1, true);
  assert.equal(b.session.state.notices.size, 1);
});

test("a recurring one ends by itself after seven days; a durable one does not", async () => {
  const b = await bench();
  await b.made({ every: "24h", prompt: "p" });
  const kept = await b.made({ every: "24h", prompt: "q", durable: true });
  for (let day = 0; day < 9; day += 1) {
    await b.clock.advance(24 * HOUR);
    await b.deliver();
  }
  assert.deepEqual(
    b.schedules.list().map(({ schedule }) => schedule),
    [kept.schedule],
  );
});

test("a deleted schedule does not fire, and an unknown id is an error", async () => {
  const b = await bench();
  const { schedule } = await b.made({ every: "1h", prompt: "p" });
  assert.equal(await b.schedules.remove(schedule), true);
  assert.equal(await b.schedules.remove(schedule), false);
  await b.clock.advance(5 * HOUR);
  assert.equal(b.fired.length, 0);
  assert.equal(b.clock.pending(), 0);
});

test("after a restart durable ones fire once for all they missed; the others are gone", async () => {
  const first = await bench();
  await first.made({ every: "1h", prompt: "gone" });
  const { schedule } = await first.made({ every: "1h", prompt: "kept", durable: true });
  first.clock.jump(3.5 * HOUR);
  const second = await bench(first);
  await second.schedules.restore();
  assert.deepEqual(
    second.fired.map((one) => [one.schedule, one.missed]),
    [[schedule, 2]],
  );
  assert.deepEqual(await second.deliver(), ["kept!"]);
  assert.deepEqual(
    second.schedules.list().map(({ prompt }) => prompt),
    ["kept"],
  );
  await second.clock.advance(0.5 * HOUR);
  assert.equal(second.fired.length, 2, "the next due time keeps its place");
});

test("a durable one does not hold a run; another one does until it is stopped", async () => {
  const b = await bench();
  await b.made({ every: "1h", prompt: "p", durable: true });
  assert.equal(b.schedules.holds(), false);
  await b.made({ every: "1h", prompt: "q" });
  assert.equal(b.schedules.holds(), true);
  await b.schedules.stop();
  assert.equal(b.schedules.holds(), false);
  assert.deepEqual(
    b.schedules.list().map(({ prompt }) => prompt),
    ["p"],
  );
  assert.equal(b.clock.pending(), 0);
});

for (const error of ["store_full", "store_locked"] as const) {
  test(`a fire that meets ${error} is retried until it is recorded, and its notice is queued once`, async () => {
    const b = await bench();
    const { schedule } = await b.made({ at: "2026-01-01T01:00:00Z", prompt: "look" });
    b.refuse("schedule.fired", error, 3);
    await b.clock.advance(HOUR);
    assert.deepEqual([b.fired.length, b.failures.length], [0, 1]);
    assert.equal(b.schedules.holds(), true, "a run waits for it");
    await b.clock.advance(3_000);
    assert.deepEqual(b.fired, [{ schedule, due: "2026-01-01T01:00:00.000Z", missed: 0 }]);
    assert.equal(b.failures.length, 3);
    assert.deepEqual(await b.deliver(), ["look!"]);
    assert.equal(b.schedules.holds(), false);
    assert.equal(b.clock.pending(), 0);
  });
}

test("one that recurs keeps its times and its count when a fire could not be recorded at once", async () => {
  const b = await bench();
  await b.made({ every: "1h", prompt: "p", durable: true });
  await b.clock.advance(HOUR);
  b.refuse("schedule.fired", "store_locked", 2);
  await b.clock.advance(HOUR + 2_000);
  await b.clock.advance(HOUR - 2_000);
  assert.deepEqual(
    b.fired.map(({ due, missed }) => [due, missed]),
    [
      ["2026-01-01T01:00:00.000Z", 0],
      ["2026-01-01T02:00:00.000Z", 1],
      ["2026-01-01T03:00:00.000Z", 2],
    ],
  );
});

for (const error of ["store_io", "stale_writer"] as const) {
  test(`a fire that meets ${error} is given up: nothing waits for it any more`, async () => {
    const b = await bench();
    await b.made({ every: "1h", prompt: "p" });
    b.refuse("schedule.fired", error, 1);
    await b.clock.advance(HOUR);
    assert.equal(b.schedules.holds(), false);
    assert.deepEqual([b.wakes(), b.failures.length, b.clock.pending()], [1, 1, 0], "whoever waits looks again");
  });
}

for (const [name, input, after] of [
  ["has fired", { at: "2026-01-01T01:00:00Z", prompt: "p" }, HOUR],
  ["is seven days old", { every: "24h", prompt: "p" }, 7 * 24 * HOUR],
] as const) {
  test(`the end of one that ${name} is retried if it could not be recorded, and waiting runs check again`, async () => {
    const b = await bench();
    await b.made(input);
    b.refuse("schedule.removed", "store_full", 1);
    await b.clock.advance(after);
    assert.equal(b.schedules.list().length, 1);
    const before = b.wakes();
    await b.clock.advance(1_000);
    assert.deepEqual([b.schedules.list().length, b.schedules.holds()], [0, false]);
    assert.equal(b.wakes(), before + 1);
  });
}

test("one that could not be deleted still fires", async () => {
  const b = await bench();
  const { schedule } = await b.made({ every: "1h", prompt: "p" });
  b.refuse("schedule.removed", "store_locked", 1);
  await assert.rejects(b.schedules.remove(schedule), { type: "store_locked" });
  await b.clock.advance(HOUR);
  assert.equal(b.fired.length, 1);
});

test("a durable one that has fired, and whose process ended before that was all, is gone after a restart", async () => {
  const first = await bench();
  await first.made({ at: "2026-01-01T01:00:00Z", prompt: "p", durable: true });
  first.refuse("schedule.removed", "store_io", 1);
  await first.clock.advance(HOUR);
  assert.deepEqual([first.fired.length, first.schedules.list().length], [1, 1]);
  const second = await bench(first);
  await second.schedules.restore();
  assert.deepEqual(second.schedules.list(), []);
  await second.clock.advance(HOUR);
  assert.equal(second.fired.length, 0);
});

test("after a restart a durable one that is due fires although the store is locked for a moment", async () => {
  const first = await bench();
  await first.made({ every: "1h", prompt: "p", durable: true });
  first.clock.jump(HOUR);
  const second = await bench(first);
  second.refuse("schedule.fired", "store_locked", 1);
  await second.schedules.restore();
  assert.equal(second.fired.length, 0);
  await second.clock.advance(1_000);
  assert.equal(second.fired.length, 1);
});
