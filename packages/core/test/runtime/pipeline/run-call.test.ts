import assert from "node:assert/strict";
import { test } from "node:test";
import { type Ledger, LedgerError, type LedgerErrorType } from "@assent/core";
import { scriptedApprover } from "@assent/core/testing";
import { type BenchOptions, bench, call, only, outcomes, says, textOf, textTool, until } from "../harness.ts";

const yolo = { policy: { mode: "yolo" } } as const;

/** What fails, once or always, and with what. */
type Fault = { readonly at: string; readonly error: LedgerErrorType; times: number };

function faulty(fault: Fault): NonNullable<BenchOptions["wrap"]> {
  const strikes = (what: string): boolean => {
    if (what !== fault.at || fault.times <= 0) return false;
    fault.times -= 1;
    return true;
  };
  const error = (): Promise<never> => Promise.reject(new LedgerError(fault.error, `injected ${fault.error}`));
  return (ledger: Ledger) => ({
    ...ledger,
    append: (lease, expected, batch) => (batch.events.some(({ type }) => strikes(type)) ? error() : ledger.append(lease, expected, batch)),
    claim: (lease, expected, claimed) => (strikes("claim") ? error() : ledger.claim(lease, expected, claimed)),
    answer: (events) => (events.some(({ type }) => strikes(type)) ? error() : ledger.answer(events)),
    pending: (kind, query) => (strikes(`pending ${kind}`) ? error() : ledger.pending(kind, query)),
  });
}

const STORE_TEXT = "Tool 'edit' was not run: the decision could not be recorded.";

type Row = readonly [at: string, options: BenchOptions];

const before: readonly Row[] = [
  ["call.judged", yolo],
  ["claim", yolo],
  ["claim", { person: scriptedApprover({ edit: "approve" }) }],
  ["call.judged", { person: scriptedApprover({ edit: "approve" }) }],
  ["approval.opened", { person: scriptedApprover({ edit: "approve" }) }],
  ["pending grants", { person: scriptedApprover({ edit: "approve" }) }],
];
for (const [at, options] of before) {
  for (const error of ["store_locked", "store_full", "event_too_large"] as const) {
    test(`${error} at ${at} (${options.person ? "asked" : "allowed"}): denied store_unavailable, nothing runs, and the next call works`, async (t) => {
      const b = await bench(t, { ...options, wrap: faulty({ at, error, times: 1 }) });
      const report = await b.process([call("edit", "x", "c1")]);
      assert.deepEqual(outcomes(report), ["denied store_unavailable"]);
      assert.equal(textOf(only(report)), STORE_TEXT);
      assert.deepEqual(b.world.lines, []);
      assert.equal((await b.stored("call.ended", "c1"))[0]?.body.type, "store_unavailable");
      assert.deepEqual((await b.ledger.pending("approvals")).length, 0, "no question is left open");
      assert.deepEqual(outcomes(await b.process([call("edit", "y", "c2")])), ["succeeded"]);
    });
  }
}

test("a proposal that cannot be stored is denied, nothing runs, and the session goes on", async (t) => {
  const b = await bench(t, { ...yolo, wrap: faulty({ at: "call.proposed", error: "store_locked", times: 1 }) });
  const report = await b.process([call("edit", "x", "c1"), call("read", "r", "c2")]);
  assert.deepEqual(outcomes(report), ["denied store_unavailable", "denied store_unavailable"]);
  assert.deepEqual(b.world.lines, []);
  assert.equal(b.dispatcher.failure(), undefined);
  assert.deepEqual(outcomes(await b.process([call("edit", "y", "c3")])), ["succeeded"]);
});

test("a proposal whose arguments no store can keep is denied, and the session goes on", async (t) => {
  const b = await bench(t, { ...yolo, wrap: faulty({ at: "call.proposed", error: "event_invalid", times: 1 }) });
  assert.deepEqual(outcomes(await b.process([call("edit", "x")])), ["denied store_unavailable"]);
  assert.deepEqual(outcomes(await b.process([call("edit", "y")])), ["succeeded"]);
});

test("a store that fails for good before the claim runs nothing and is reported", async (t) => {
  const fault = { at: "claim", error: "store_io" as const, times: Number.POSITIVE_INFINITY };
  const always = faulty(fault);
  const b = await bench(t, {
    ...yolo,
    wrap: (ledger) => {
      const wrapped = always(ledger);
      return {
        ...wrapped,
        append: (lease, expected, batch) =>
          batch.events[0]?.type === "call.ended"
            ? Promise.reject(new LedgerError("store_io", "EIO"))
            : ledger.append(lease, expected, batch),
      };
    },
  });
  const report = await b.process([call("edit", "x"), call("edit", "y")]);
  assert.deepEqual(outcomes(report), ["denied store_unavailable", "denied store_unavailable"]);
  assert.deepEqual(b.world.lines, []);
  assert.equal((b.dispatcher.failure() as LedgerError).type, "store_io");
});

test("an answer that cannot be stored is told to whoever gave it, and the approval stays open", async (t) => {
  const b = await bench(t, { wrap: faulty({ at: "approval.answered", error: "store_locked", times: 1 }) });
  const running = b.process([call("edit", "x", "c1")]);
  await until(() => b.dispatcher.pending().length === 1);
  const { id } = b.dispatcher.pending()[0]!;
  await assert.rejects(b.dispatcher.answer(says(id)), { name: "LedgerError", type: "store_locked" });
  assert.deepEqual(b.world.lines, []);
  await b.dispatcher.answer(says(id));
  assert.deepEqual(outcomes(await running), ["succeeded"]);
});

test("an approver's answer that cannot be stored approves nothing; the approval can be answered again", async (t) => {
  const b = await bench(t, {
    wrap: faulty({ at: "approval.answered", error: "store_locked", times: 1 }),
    person: scriptedApprover({ edit: "approve" }),
  });
  const running = b.process([call("edit", "x", "c1")]);
  await until(() => b.warnings.length > 0 || b.world.lines.length > 0);
  if (b.dispatcher.pending()[0]) await b.dispatcher.answer(says(b.dispatcher.pending()[0]!.id));
  assert.deepEqual(outcomes(await running), ["succeeded"]);
  assert.deepEqual(b.world.lines, ["x"]);
});

test("a close that cannot be stored does not keep a cancelled call from ending", async (t) => {
  const b = await bench(t, { wrap: faulty({ at: "approval.closed", error: "store_locked", times: 1 }) });
  const running = b.process([call("edit", "x", "c1")]);
  await until(() => b.dispatcher.pending().length === 1);
  b.dispatcher.cancel("c1");
  const { outcome } = only(await running);
  assert.ok(outcome === "cancelled" || outcome === "denied", outcome);
  assert.equal((await b.stored("call.ended")).length, 1);
  assert.deepEqual(await b.ledger.pending("approvals"), [], "a call that ended leaves no question behind");
});

test("a grant's use that cannot be stored answers nothing", async (t) => {
  const b = await bench(t, { person: "nobody", wrap: faulty({ at: "grant.used", error: "store_locked", times: 1 }) });
  await b.ledger.answer([
    {
      type: "grant.created",
      v: 1,
      at: "2026-01-01T00:00:00.000Z",
      body: { grant: "g_1", scope: "user", rule: "edit", tool: "edit", madeBy: "T", uses: 2, approval: "a" },
    },
  ]);
  assert.equal(only(await b.process([call("edit", "x")])).outcome, "denied");
  assert.deepEqual(b.world.lines, []);
});

test("process never rejects: a store that fails at the end of a duplicate call", async (t) => {
  const b = await bench(t, { ...yolo, wrap: faulty({ at: "call.ended", error: "store_io", times: Number.POSITIVE_INFINITY }) });
  const { results } = await b.process([call("read", "x", "a"), call("read", "y", "a")]);
  assert.equal(results.length, 2);
  assert.equal((b.dispatcher.failure() as LedgerError).type, "store_io");
});

test("process never rejects: a ledger that throws at once, and not a LedgerError", async (t) => {
  let broken = false;
  const b = await bench(t, {
    ...yolo,
    wrap: (ledger) => ({
      ...ledger,
      append: (...args) => {
        if (broken) throw new TypeError("bug in a store");
        return ledger.append(...args);
      },
    }),
  });
  broken = true;
  const { results } = await b.process([call("edit", "x"), call("read", "y")]);
  assert.equal(results.length, 2);
  assert.deepEqual(b.world.lines, []);
  broken = false;
  assert.deepEqual(outcomes(await b.process([call("edit", "z")])), ["succeeded"]);
});

test("a claim lost to another fingerprint ends denied fingerprint_mismatch, and nothing runs", async (t) => {
  for (const lost of ["fingerprint_mismatch", "answer_consumed", "already_claimed", "not_claimable"] as const) {
    const b = await bench(t, { ...yolo, wrap: (ledger) => ({ ...ledger, claim: async () => ({ lost }) }) });
    const report = await b.process([call("edit", "x")]);
    assert.deepEqual(outcomes(report), ["denied fingerprint_mismatch"]);
    assert.equal(textOf(only(report)), "Tool 'edit' was not run: the request differs from what was approved.");
    assert.deepEqual(b.world.lines, []);
  }
});

test("law 4: an idempotency key that cannot be made runs nothing", async (t) => {
  const keyed = textTool("keyed", "edit", {
    idempotencyKey: () => {
      throw new Error("no key");
    },
  });
  const b = await bench(t, { ...yolo, tools: [keyed] });
  const report = only(await b.process([call("keyed", "x")]));
  assert.equal(report.outcome, "denied");
  assert.equal((await b.stored("call.claimed")).length, 0);
});

test("the key a tool makes is on disk before its body runs, and the body is given it", async (t) => {
  let seen: string | null | undefined;
  const keyed = textTool("keyed", "edit", {
    idempotencyKey: (_input, { callKey }) => `key-${callKey.slice(0, 8)}`,
    run: (_input, { idempotencyKey }) => {
      seen = idempotencyKey;
      return "done";
    },
  });
  const b = await bench(t, { ...yolo, tools: [keyed] });
  await b.process([call("keyed", "x")]);
  assert.match(seen ?? "", /^key-[0-9a-f]{8}$/);
  assert.equal((await b.stored("call.claimed"))[0]?.body.idempotencyKey, seen);
});

test("a key that is made later is on disk before the body runs, and a cancel before it is there leaves the call unclaimed", async (t) => {
  const made = [Promise.withResolvers<string>(), Promise.withResolvers<string>()];
  const asked = Promise.withResolvers<void>();
  const keys = [...made];
  const keyed = textTool("keyed", "edit", {
    idempotencyKey: async () => {
      asked.resolve();
      return (await keys.shift()?.promise) ?? "";
    },
  });
  const b = await bench(t, { ...yolo, tools: [keyed] });
  const processing = b.process([call("keyed", "x", "c1")]);
  await asked.promise;
  b.dispatcher.cancel("c1");
  made[0]?.resolve("first");
  assert.equal(only(await processing).outcome, "cancelled");
  assert.equal((await b.stored("call.claimed")).length, 0);
  made[1]?.resolve("second");
  assert.equal(only(await b.process([call("keyed", "y", "c2")])).outcome, "succeeded");
  assert.equal((await b.stored("call.claimed"))[0]?.body.idempotencyKey, "second");
});

test("decision and intent are on disk before the effect", async (t) => {
  let before: readonly string[] = [];
  const looking = textTool("looking", "edit", {
    run: async () => {
      before = [...(await b.stored("call.judged")), ...(await b.stored("approval.answered")), ...(await b.stored("call.claimed"))].map(
        ({ type }) => type,
      );
      return "looked";
    },
  });
  const b = await bench(t, { tools: [looking], person: scriptedApprover({ looking: "approve" }) });
  await b.process([call("looking", "x")]);
  assert.deepEqual(before, ["call.judged", "approval.answered", "call.claimed"]);
});

test("an unsafe claim and an opened approval are FULL, a safe claim and an end NORMAL", async (t) => {
  const seen: string[] = [];
  const b = await bench(t, {
    person: scriptedApprover({ edit: "approve" }),
    wrap: (ledger) => ({
      ...ledger,
      append: (lease, expected, batch) => {
        for (const { type } of batch.events) seen.push(`${type} ${batch.durability}`);
        return ledger.append(lease, expected, batch);
      },
    }),
  });
  await b.process([call("edit", "x"), call("read", "y")]);
  assert.ok(seen.includes("approval.opened full"));
  assert.ok(seen.includes("call.ended normal"));
  assert.deepEqual(
    (await b.stored("call.claimed")).map(({ body }) => body.durability),
    ["full", "normal"],
  );
});

for (const at of ["call.judged", "claim"]) {
  test(`isolation: a ${at} that cannot be stored denies that call alone; its siblings run`, async (t) => {
    const b = await bench(t, {
      ...yolo,
      wrap: (ledger) => ({
        ...ledger,
        append: (lease, expected, batch) =>
          at === "call.judged" && batch.events.some((event) => event.type === "call.judged" && event.body.call === "c1")
            ? Promise.reject(new LedgerError("event_too_large", "too large"))
            : ledger.append(lease, expected, batch),
        claim: (lease, expected, claimed) =>
          at === "claim" && claimed.body.call === "c1"
            ? Promise.reject(new LedgerError("store_locked", "busy"))
            : ledger.claim(lease, expected, claimed),
      }),
    });
    const report = await b.process([call("read", "r", "c0"), call("read", "x", "c1"), call("read", "s", "c2"), call("edit", "y", "c3")]);
    assert.deepEqual(outcomes(report), ["succeeded", "denied store_unavailable", "succeeded", "succeeded"]);
    assert.deepEqual(b.world.lines, ["y"]);
  });
}

test("isolation: several writes that fail among many in flight fail their own calls alone, and the batch ends", async (t) => {
  for (const failing of [
    [4, 11],
    [3, 9],
    [4, 10, 12],
    [5, 8, 9],
  ]) {
    let appends = 0;
    const b = await bench(t, {
      wrap: (ledger) => ({
        ...ledger,
        append: async (...args) => {
          appends += 1;
          if (failing.includes(appends)) throw new LedgerError("store_locked", "busy");
          return await ledger.append(...args);
        },
      }),
    });
    let report: readonly string[] | undefined;
    const running = b.process(["1", "2", "3", "4", "5"].map((id) => call("read", id, id))).then((ended) => (report = outcomes(ended)));
    for (let second = 0; second < 30 && report === undefined; second += 1) await b.clock.advance(1_000);
    assert.ok(report, `the batch ends with failures at ${failing}`);
    await running;
    assert.ok(report!.filter((outcome) => outcome === "succeeded").length >= 5 - failing.length, `${failing}: ${report}`);
    assert.deepEqual(outcomes(await b.process([call("read", "after")])), ["succeeded"]);
  }
});
