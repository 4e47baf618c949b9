import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { type BatchReport, type Facts, type JsonObject, type Ledger, LedgerError, type ProposedCall } from "@assent/core";
import { scriptedApprover } from "@assent/core/testing";
import fc from "fast-check";
import {
  type Bench,
  type BenchOptions,
  bench,
  call,
  type HookWords,
  history,
  type PolicyWords,
  rest,
  says,
  scriptedHooks,
  textTool,
  turn,
  until,
  type World,
} from "../harness.ts";

/** One thing that happens to a session from outside, at some moment. */
type Act =
  | { readonly do: "answer"; readonly which: number; readonly outcome: "approve" | "reject"; readonly over: "none" | "edit" | "always" }
  | { readonly do: "cancel"; readonly which: number }
  | { readonly do: "abort" }
  | { readonly do: "policy"; readonly mode: string; readonly deny: boolean; readonly ask: boolean }
  | { readonly do: "open" | "fail"; readonly which: number }
  | { readonly do: "revoke" }
  | { readonly do: "time"; readonly ms: number }
  | { readonly do: "crash" };

const tools = ["read", "edit", "slow_read", "slow_edit", "flaky", "outer", "nope"] as const;

const proposals = fc.array(fc.tuple(fc.constantFrom(...tools), fc.constantFrom("a", "b", "bad", "insist")), { minLength: 1, maxLength: 6 });

const act: fc.Arbitrary<Act> = fc.oneof(
  fc.record({
    do: fc.constant("answer" as const),
    which: fc.nat(5),
    outcome: fc.constantFrom("approve" as const, "reject" as const),
    over: fc.constantFrom("none" as const, "none" as const, "edit" as const, "always" as const),
  }),
  fc.record({
    do: fc.constant("answer" as const),
    which: fc.nat(5),
    outcome: fc.constant("approve" as const),
    over: fc.constantFrom("none" as const, "always" as const),
  }),
  fc.record({ do: fc.constant("cancel" as const), which: fc.nat(5) }),
  fc.record({
    do: fc.constant("answer" as const),
    which: fc.nat(5),
    outcome: fc.constant("approve" as const),
    over: fc.constantFrom("none" as const, "edit" as const),
  }),
  fc.record({ do: fc.constant("abort" as const) }),
  fc.record({
    do: fc.constant("policy" as const),
    mode: fc.constantFrom("default", "yolo", "plan"),
    deny: fc.boolean(),
    ask: fc.boolean(),
  }),
  fc.record({ do: fc.constantFrom("open" as const, "fail" as const), which: fc.nat(5) }),
  fc.record({ do: fc.constant("open" as const), which: fc.nat(5) }),
  fc.record({ do: fc.constant("revoke" as const) }),
  fc.record({ do: fc.constant("time" as const), ms: fc.constantFrom(100, 5_000, 61_000) }),
  fc.record({ do: fc.constant("crash" as const) }),
);

const scenarios = fc.record({
  calls: proposals,
  mode: fc.constantFrom("default", "yolo", "default"),
  durable: fc.boolean(),
  delays: fc.array(fc.nat(2), { minLength: 3, maxLength: 3 }),
  /** How many turns later than the writer others hear of an event. */
  lag: fc.nat(3),
  moving: fc.boolean(),
  hooks: fc.record({
    before: fc.constantFrom("none", "ask", "deny", "rewrite", "allow"),
    asked: fc.constantFrom("none", "none", "allow", "deny", "rewrite"),
    stops: fc.boolean(),
  }),
  /** Writes that fail once, by kind and count. */
  faults: fc.array(fc.tuple(fc.constantFrom("append" as const, "claim" as const, "answer" as const), fc.nat(25)), { maxLength: 2 }),
  acts: fc.array(fc.tuple(fc.nat(6), act), { maxLength: 14 }),
  /** How it ends: everything that waits is approved, or the batch is cancelled. */
  ending: fc.constantFrom("approve" as const, "approve" as const, "abort" as const),
});

type Scenario = typeof scenarios extends fc.Arbitrary<infer S> ? S : never;

/** A ledger as one on a disk is: writers are told a few turns after the commit, followers later still, and a write may fail. */
function onDisk({ delays, lag, durable, faults }: Scenario): (ledger: Ledger) => Ledger {
  const [append = 0, claim = 0, answer = 0] = delays;
  const counts = { append: 0, claim: 0, answer: 0 };
  const write = async <T>(kind: keyof typeof counts, turns: number, store: () => Promise<T>): Promise<T> => {
    counts[kind] += 1;
    if (faults.some(([of, at]) => of === kind && at + 3 === counts[kind])) throw new LedgerError("store_locked", "busy");
    const value = await store();
    await pass(turns);
    return value;
  };
  return (ledger) => ({
    ...ledger,
    durable,
    hold: async () => () => undefined, // what a process held dies with it
    append: (...args) => write("append", append, () => ledger.append(...args)),
    claim: (...args) => write("claim", claim, () => ledger.claim(...args)),
    answer: (...args) => write("answer", answer, () => ledger.answer(...args)),
    subscribe: (from, filter, sink) => {
      let told = Promise.resolve();
      let open = true;
      const subscription = ledger.subscribe(from, filter, (event) => {
        told = told.then(() => pass(lag)).then(() => (open ? sink(event) : undefined));
      });
      return {
        close: () => {
          open = false;
          subscription.close();
        },
      };
    },
  });
}

async function pass(turns: number): Promise<void> {
  for (let at = 0; at < turns; at += 1) await turn();
}

/** Hooks that have opinions on calls with the text `b`, rewrite `a` to `b`, and may stop the run after a failure. */
function hooksOf({ before, asked, stops }: Scenario["hooks"]): Partial<NonNullable<BenchOptions["deps"]>> {
  if (before === "none" && asked === "none" && !stops) return {};
  const say = (words: string, input: JsonObject): HookWords => {
    const { text } = input["tool_input"] as { text: string };
    if (words === "rewrite") return text === "a" ? { verdict: "allow", updatedInput: { text: "b" } } : undefined;
    return text === "b" && words !== "none" ? { verdict: words as "allow" | "ask" | "deny" } : undefined;
  };
  const hooks = scriptedHooks({
    pre_tool_use: (input) => say(before, input),
    permission_request: (input) => say(asked, input),
    post_tool_use_failure: () => (stops ? { stop: "enough" } : undefined),
  });
  return { hooks };
}

function options(scenario: Scenario, world: { now: World | undefined }): BenchOptions {
  const { mode, moving, hooks } = scenario;
  const flaky = textTool("flaky", "execute", {
    run: async ({ text }) => {
      await turn();
      if (text === "a") throw new Error("flaky");
      return "flaky done";
    },
  });
  const outer = textTool("outer", "other", {
    permission: () => "allow",
    run: async ({ text }, { gate }) => {
      const nested = await gate({ name: "edit", arguments: { text } }).catch((error: unknown) => ({ content: String(error) }));
      return `outer: ${nested.content}`;
    },
  });
  const facts: Facts = ({ tool }) => ({ units: [{ subject: tool }], binds: moving ? { world: String(world.now?.lines.length ?? 0) } : {} });
  return {
    policy: { mode, rules: { team: { deny: ["*:text=bad"], ask: ["*:text=insist"] } } },
    tools: [flaky, outer],
    person: scriptedApprover(() => "wait"),
    wrap: onDisk(scenario),
    deps: { facts, approvalTimeoutMs: 60_000, timeoutMs: 30_000, ...hooksOf(hooks) },
  };
}

type Play = {
  b: Bench;
  running: Promise<BatchReport>;
  controller: AbortController;
  readonly calls: readonly ProposedCall[];
  crashes: number;
};

/** Plays a scenario to its end, whatever happened in it: in the end all that waits is cancelled and time passes. */
async function play(t: TestContext, scenario: Scenario): Promise<Play> {
  const world: { now: World | undefined } = { now: undefined };
  const made = options(scenario, world);
  const b = await bench(t, made);
  world.now = b.world;
  const calls = scenario.calls.map(([name, text], at) => call(name, text, `c${at}`));
  const controller = new AbortController();
  const p: Play = { b, running: b.process(calls, { signal: controller.signal }), controller, calls, crashes: 0 };
  for (const [turns, next] of scenario.acts) {
    for (let at = 0; at < turns; at += 1) await turn();
    await perform(t, p, { act: next, made });
  }
  if (scenario.ending === "approve") await windUp(p.b);
  p.controller.abort();
  for (let seconds = 0; seconds < 12; seconds += 1) {
    await p.b.clock.advance(1_000);
    await rest();
  }
  let over = false;
  const done = (): void => {
    over = true;
  };
  p.running.then(done, done);
  await until(() => over, "the end of the batch");
  return p;
}

/** Says yes to whatever is asked, and lets every body finish. */
async function windUp({ dispatcher, gates }: Bench): Promise<void> {
  for (let rounds = 0; rounds < 8; rounds += 1) {
    await rest();
    for (const { id } of dispatcher.pending()) await dispatcher.answer(says(id)).catch(() => undefined);
    for (const text of gates.started) gates.open(text);
  }
}

type Performing = { readonly act: Act; readonly made: BenchOptions };

async function perform(t: TestContext, p: Play, { act: next, made }: Performing): Promise<void> {
  const { b } = p;
  switch (next.do) {
    case "answer":
      return answerOne(b, next);
    case "cancel":
      b.dispatcher.cancel(`c${next.which}`);
      return;
    case "abort":
      return p.controller.abort();
    case "policy":
      return b.policy.set(words(next));
    case "open":
    case "fail":
      return settleBody(b, next);
    case "revoke":
      return await revokeOne(b);
    case "time":
      return await b.clock.advance(next.ms);
    case "crash":
      return await crash(t, p, made);
    default:
      next satisfies never;
  }
}

function answerOne({ dispatcher }: Bench, { which, outcome, over }: Extract<Act, { readonly do: "answer" }>): void {
  const pending = dispatcher.pending();
  const approval = pending[which % Math.max(1, pending.length)];
  if (!approval) return;
  const more = outcome === "approve" ? MORE[over] : {};
  void dispatcher.answer(says(approval.id, { outcome, revision: approval.revision, ...more })).catch(() => undefined);
}

const MORE = { none: {}, edit: { updatedInput: { text: "edited" } }, always: { remember: { scope: "session" as const } } };

function words({ mode, deny, ask }: Extract<Act, { readonly do: "policy" }>): PolicyWords {
  const rules = { deny: deny ? ["*:text=bad", "slow_edit"] : ["*:text=bad"], ask: ask ? ["edit", "*:text=insist"] : ["*:text=insist"] };
  return { mode, rules: { team: rules } };
}

function settleBody({ gates }: Bench, { do: how, which }: Extract<Act, { readonly do: "open" | "fail" }>): void {
  const text = gates.started[which % Math.max(1, gates.started.length)];
  if (text === undefined) return;
  if (how === "open") gates.open(text);
  else gates.fail(text, new Error("failed"));
}

async function revokeOne({ ledger, clock }: Bench): Promise<void> {
  const [grant] = await ledger.pending("grants");
  const at = new Date(clock.now()).toISOString();
  if (grant) await ledger.answer([{ type: "grant.revoked", v: 1, at, body: { grant: grant.id, by: "T" } }]);
}

/** The process is gone from the ledger's point of view; another takes its session over and goes on. */
async function crash(t: TestContext, p: Play, { tools: _same, policy: _kept, ...made }: BenchOptions): Promise<void> {
  p.crashes += 1;
  p.controller = new AbortController();
  p.b = await bench(t, { ...made, beside: p.b, reopen: { id: p.b.session.id, takeOver: true } });
  p.running = p.b.resume({ signal: p.controller.signal });
  p.running.catch(() => undefined); // a recovery that is fenced, or cannot be recorded, says so
}

/** What an observer of the last process saw, per call of the model. */
function checkTold({ b, crashes, calls }: Play, report: BatchReport): void {
  const ids = report.results.map(({ callId }) => callId);
  if (crashes === 0)
    assert.deepEqual(
      ids,
      calls.map(({ id }) => id),
      "one report per call, in call order",
    );
  const told = (type: string): readonly string[] => b.events.filter((event) => event.type === type).map(({ callId }) => callId);
  assert.deepEqual(told("messageAdded"), ids, "one message per call, in call order");
  for (const type of ["response", "toolCall"]) assert.equal(new Set(told(type)).size, told(type).length, `${type} at most once per call`);
  for (const id of ids) assert.ok(told("response").includes(id), `a response for ${id}`);
  const notified = b.notices.map(({ callId }) => callId);
  assert.equal(new Set(notified).size, notified.length, "a decision is told once per call");
  for (const id of told("toolCall")) assert.ok(notified.includes(id) || crashes > 0, `the verdict on ${id} was told`);
}

async function checkLedger({ b }: Play): Promise<void> {
  const events = await history(b.ledger, b.session.id);
  const ended = new Set(events.flatMap((event) => (event.type === "call.ended" ? [event.body.call] : [])));
  for (const event of events) if (event.type === "call.proposed") assert.ok(ended.has(event.body.call), `${event.body.call} has an end`);
  assert.deepEqual(await b.ledger.pending("approvals", { session: b.session.id }), [], "no question is left open");
  assert.equal(b.session.state.calls.size, 0);
}

/** Whatever could not be recorded is put in order by the next process that opens the session. */
async function settleAfterwards(t: TestContext, p: Play): Promise<void> {
  const { b } = p;
  p.b = await bench(t, { beside: b, reopen: { id: b.session.id, takeOver: true } });
  await p.b.resume({ signal: AbortSignal.abort() });
}

test("laws: whatever people, policies, hooks, clocks and crashes do to a batch, every call ends once, is told once and runs at most once", async (t) => {
  await fc.assert(
    fc.asyncProperty(scenarios, async (scenario) => {
      const p = await play(t, { ...scenario, faults: [] });
      checkTold(p, await p.running);
      await checkLedger(p);
      assert.deepEqual([p.b.dispatcher.pending(), p.b.dispatcher.failure()], [[], undefined]);
      if (p.crashes === 0) assert.equal(p.b.policy.subscribers(), 0, "nobody listens any more");
      await p.b.check();
    }),
    { numRuns: 40 },
  );
});

test("laws: a store whose writes fail now and then never leads to an effect without its record, and the next process puts all in order", async (t) => {
  await fc.assert(
    fc.asyncProperty(scenarios, async (scenario) => {
      const p = await play(t, scenario);
      const { results } = await p.running.catch(() => ({ results: [] }));
      if (p.crashes === 0)
        assert.deepEqual(
          results.map(({ callId }) => callId),
          p.calls.map(({ id }) => id),
        );
      await p.b.check();
      await settleAfterwards(t, p);
      await checkLedger(p);
      await p.b.check();
    }),
    { numRuns: 40 },
  );
});
