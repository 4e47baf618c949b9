import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import {
  answerApproval,
  createRegistry,
  createRequestReader,
  type Draft,
  type EventBodies,
  type Facts,
  type Ledger,
  type LeftOver,
  mayBeUnderWay,
  type ProbeAnswer,
  type Processes,
  patternRules,
  type TaskProcess,
  type ToolDefinition,
} from "@assent/core";
import { draftOf, grantedDraft, scriptedApprover } from "@assent/core/testing";
import { toolDigest } from "../../src/tool-digest.ts";
import {
  type Bench,
  type BenchOptions,
  bench,
  call,
  history,
  only,
  outcomes,
  rest,
  says,
  scriptedHooks,
  sha256,
  textOf,
  type textSchema,
  textTool,
  until,
} from "./harness.ts";

type Definition = ToolDefinition<typeof textSchema>;

/** A ledger that says it survives the process. What an earlier process held died with it. */
const durable = (ledger: Ledger): Ledger => ({ ...ledger, durable: true, hold: async () => () => undefined });
const yolo = { policy: { mode: "yolo" } } as const;

/** Leaves a process in the middle of an effect: the body never settles, and another process takes the session over. */
async function crashed(t: TestContext, options: BenchOptions & { readonly call?: Parameters<Bench["process"]>[0] } = {}): Promise<Bench> {
  const b = await bench(t, { ...yolo, ...options });
  void b.process(options.call ?? [call("slow_edit", "x", "c1")]);
  await until(() => b.gates.started.length > 0, "the effect");
  return b;
}

/** The process after it: the same store, the same tools, the session taken over. */
function after(t: TestContext, b: Bench, options: BenchOptions = {}): Promise<Bench> {
  return bench(t, { beside: b, reopen: { id: b.session.id, takeOver: true }, ...options });
}

/** Writes the history of one call by hand, as far as the types given. */
async function written(b: Bench, types: readonly Draft["type"][], over: Partial<EventBodies["call.judged"]> = {}): Promise<void> {
  const name = "edit";
  const tool = b.registry.get(name)!;
  const input = { text: "x" };
  const digest = toolDigest(tool, sha256);
  const fingerprint = sha256.sha256(`{"binds":{},"cwd":"/workspace","input":{"text":"x"},"tool":"${name}","toolDigest":"${digest}"}`);
  const judged = draftOf("call.judged", {
    call: "c1",
    revision: 1,
    fingerprint,
    tool: name,
    toolDigest: digest,
    kind: tool.kind,
    safe: false,
    input,
    cwd: "/workspace",
    binds: {},
    verdict: "ask",
    explicitAsk: false,
    reason: "default",
    source: "",
    rule: null,
    trace: [],
    units: 1,
    policy: "policy-1",
    ...over,
  });
  const opened = draftOf("approval.opened", {
    approval: "a_1",
    call: "c1",
    revision: 1,
    fingerprint,
    tool: name,
    title: "T",
    reason: "default",
    source: "",
    rule: null,
    explicitAsk: over.explicitAsk === true,
    details: { type: "info", prompt: "p" },
    facts: null,
    suggestions: [],
    expiresAt: null,
  });
  const proposed = draftOf("call.proposed", { call: "c1", turn: 0, index: 0, tool: name, raw: JSON.stringify(input), givenId: "c1" });
  const events = [proposed, judged, opened].filter(({ type }) => types.includes(type));
  await b.session.record(events, "normal");
}

async function answer(b: Bench, over: Parameters<typeof says>[1] = {}): Promise<void> {
  const [row] = await b.ledger.pending("approvals");
  const requests = createRequestReader({ ledger: b.ledger, tools: b.registry, digest: sha256 });
  await answerApproval({ ledger: b.ledger, clock: b.clock, ids: b.ids, rules: patternRules, requests }, says(row!.id, over));
}

const PROPOSED = ["call.proposed"] as const;
const JUDGED = ["call.proposed", "call.judged"] as const;
const WAITING = ["call.proposed", "call.judged", "approval.opened"] as const;

type OpenRow = readonly [
  name: string,
  types: readonly Draft["type"][],
  judged: Partial<EventBodies["call.judged"]>,
  options: BenchOptions,
  outcome: string,
];

const nobody: BenchOptions = { person: "nobody" };
const parking: BenchOptions = { person: "nobody", deps: { onAsk: "park" } };
const denying: BenchOptions = { policy: { rules: { team: { deny: ["edit"] } } } };
const denyingHook = (): BenchOptions => ({ ...yolo, deps: { hooks: scriptedHooks({ pre_tool_use: () => ({ verdict: "deny" }) }) } });
const askingHook = (): BenchOptions => ({
  ...yolo,
  person: "nobody",
  deps: { hooks: scriptedHooks({ pre_tool_use: () => ({ verdict: "ask" }) }) },
});

const openRows: readonly OpenRow[] = [
  ["proposed, now allowed: it runs", PROPOSED, {}, yolo, "succeeded"],
  ["proposed, now denied", PROPOSED, {}, denying, "denied denied_by_rule"],
  ["proposed, asks and no one is there", PROPOSED, {}, nobody, "denied denied_unattended"],
  ["proposed, a hook denies", PROPOSED, {}, denyingHook(), "denied denied_by_hook"],
  ["judged allow: it runs", JUDGED, { verdict: "allow", reason: "yolo" }, yolo, "succeeded"],
  ["judged allow, now it asks", JUDGED, { verdict: "allow" }, nobody, "denied denied_unattended"],
  ["judged allow, now denied", JUDGED, { verdict: "allow" }, denying, "denied denied_by_rule"],
  ["judged ask, now allowed: it runs", JUDGED, {}, yolo, "succeeded"],
  ["judged deny, still denied", JUDGED, { verdict: "deny", reason: "checker" }, denying, "denied denied_by_rule"],
  ["judged deny, now allowed: it stays denied", JUDGED, { verdict: "deny", reason: "checker" }, yolo, "denied denied_by_rule"],
  ["judged deny by a mode that was left", JUDGED, { verdict: "deny", reason: "mode", source: "plan" }, yolo, "denied denied_by_mode"],
  [
    "judged deny by a hook that is silent now",
    JUDGED,
    { verdict: "deny", reason: "hook", source: "hook-1" },
    yolo,
    "denied denied_by_hook",
  ],
  [
    "judged deny by a hook that still denies",
    JUDGED,
    { verdict: "deny", reason: "hook", source: "hook-1" },
    denyingHook(),
    "denied denied_by_hook",
  ],
  [
    "judged ask by a hook that still asks",
    JUDGED,
    { verdict: "ask", explicitAsk: true, reason: "hook" },
    askingHook(),
    "denied denied_unattended",
  ],
  ["waiting, no answer, a person is there now", WAITING, {}, { person: scriptedApprover({ edit: "approve" }) }, "succeeded"],
  ["waiting, no answer, no one is there: it keeps waiting", WAITING, {}, parking, "waiting"],
  ["waiting, no answer, a policy that loosened changes nothing", WAITING, {}, { ...parking, policy: { mode: "yolo" } }, "waiting"],
  ["waiting, no answer, now denied", WAITING, {}, denying, "denied denied_policy_changed"],
];
for (const [name, types, judged, options, outcome] of openRows) {
  test(`${name}: ${outcome}`, async (t) => {
    const b = await bench(t, { person: "nobody" });
    await written(b, types, judged);
    const again = await after(t, b, options);
    const report = await again.resume();
    assert.deepEqual(outcomes(report), [outcome]);
    assert.deepEqual(b.world.lines, outcome === "succeeded" ? ["x"] : []);
    if (outcome === "waiting")
      assert.deepEqual(
        (await b.ledger.pending("approvals")).map(({ id }) => id),
        ["a_1"],
        "the same approval, still open",
      );
    assert.deepEqual(outcomes(await again.resume()), outcome === "waiting" ? ["waiting"] : [], "a second time there is nothing more to do");
    assert.deepEqual(b.world.lines, outcome === "succeeded" ? ["x"] : []);
  });
}

test("proposed with arguments that are invalid ends invalid", async (t) => {
  const b = await bench(t);
  await b.session.record([draftOf("call.proposed", { call: "c1", turn: 0, index: 0, tool: "edit", raw: "{", givenId: "c1" })], "normal");
  assert.deepEqual(outcomes(await (await after(t, b)).resume()), ["invalid invalid_json"]);
});

test("proposed with arguments that a door had parsed is read as that value", async (t) => {
  const b = await bench(t, yolo);
  await b.session.record(
    [draftOf("call.proposed", { call: "c1", turn: 0, index: 0, tool: "edit", raw: { text: "parsed" }, givenId: "c1" })],
    "normal",
  );
  await (await after(t, b)).resume();
  assert.deepEqual(b.world.lines, ["parsed"]);
});

const WORDS: readonly (readonly [who: string, judged: Partial<EventBodies["call.judged"]>, text: string])[] = [
  [
    "hook",
    { reason: "hook", source: "hook-1", trace: [{ layer: "hook", opinion: "deny", note: "hook-1: too risky" }] },
    "Tool call blocked by hook: too risky",
  ],
  [
    "hook without a reason",
    { reason: "hook", source: "hook-1", trace: [{ layer: "hook", opinion: "deny", note: "hook-1" }] },
    "Tool call blocked by hook: blocked by hook hook-1",
  ],
  [
    "safeguard",
    { reason: "guard", source: "place", trace: [{ layer: "safeguard:place", opinion: "deny", note: "it is special" }] },
    "Tool 'edit' is denied: it is special.",
  ],
  [
    "safeguard as earlier versions named it",
    { reason: "guard", source: "place", trace: [{ layer: "guard:place", opinion: "deny", note: "it is special" }] },
    "Tool 'edit' is denied: it is special.",
  ],
  [
    "rule",
    { reason: "checker", source: "team", rule: { text: "edit", because: "frozen" } },
    "Tool 'edit' is denied by team. Denied by a rule: frozen",
  ],
];
for (const [who, judged, text] of WORDS) {
  test(`a deny of a ${who} on record is final: no hook runs again, and the text is the same`, async (t) => {
    const b = await bench(t, { person: "nobody" });
    await written(b, JUDGED, { verdict: "deny", ...judged });
    const hooks = scriptedHooks({ pre_tool_use: () => ({ verdict: "allow" }) });
    const again = await after(t, b, { ...yolo, deps: { hooks } });
    assert.equal(textOf(only(await again.resume())), text);
    assert.deepEqual([hooks.consulted, again.notices], [[], []]);
    assert.ok(!hooks.told.some(({ event }) => event === "on_tool_approval_decision"));
    assert.equal((await again.stored("call.judged")).length, 1);
  });
}

test("a call that waited and was denied on record ends so, and its approval closes", async (t) => {
  const b = await bench(t, { person: "nobody" });
  await written(b, WAITING);
  const [asked] = await b.stored("call.judged");
  const denied = {
    ...(asked?.body ?? assert.fail("never judged")),
    revision: 2,
    verdict: "deny",
    reason: "checker",
    source: "team",
  } as const;
  await b.session.record([draftOf("call.judged", denied)], "normal");
  const again = await after(t, b, { ...yolo, person: scriptedApprover({ edit: "approve" }) });
  assert.deepEqual(outcomes(await again.resume()), ["denied denied_policy_changed"]);
  assert.deepEqual([b.world.lines, await b.ledger.pending("approvals")], [[], []]);
  const closed = (await history(b.ledger, b.session.id)).filter(({ type }) => type === "approval.closed");
  assert.deepEqual(
    closed.map(({ body }) => "outcome" in body && body.outcome),
    ["denied"],
  );
});

test("rejected while no process ran: ended rejected with the reason", async (t) => {
  const b = await bench(t);
  await written(b, WAITING);
  await answer(b, { outcome: "reject", reason: "not now" });
  const report = await (await after(t, b, { person: "nobody" })).resume();
  assert.deepEqual(outcomes(report), ["rejected rejected_by_user"]);
  assert.equal(textOf(only(report)), "The user rejected the tool call. Reason: not now");
});

test("approved while no process ran: it runs once with that answer, however often it is resumed", async (t) => {
  const b = await bench(t);
  await written(b, WAITING);
  await answer(b);
  let last = b;
  for (let times = 0; times < 10; times += 1) {
    last = await after(t, last, { person: "nobody" });
    assert.deepEqual(outcomes(await last.resume()), times === 0 ? ["succeeded"] : []);
  }
  assert.deepEqual(b.world.lines, ["x"]);
  const [answered] = await last.stored("approval.answered");
  assert.equal((await last.stored("call.claimed"))[0]?.body.answer?.pos, answered?.pos);
});

test("approved with an edit while no process ran: the edit is judged and runs", async (t) => {
  for (const [options, outcome, lines] of [
    [{ person: "nobody" }, "succeeded", ["edited"]],
    [{ policy: { rules: { team: { deny: ["edit:text=edited"] } } } }, "denied", []],
  ] as const) {
    const b = await bench(t);
    await written(b, WAITING);
    await answer(b, { updatedInput: { text: "edited" } });
    assert.equal(only(await (await after(t, b, options)).resume()).outcome, outcome);
    assert.deepEqual(b.world.lines, lines);
  }
});

test("approved, and the policy now denies: the approval is closed denied, the call ends denied", async (t) => {
  const b = await bench(t);
  await written(b, WAITING);
  await answer(b);
  const again = await after(t, b, denying);
  assert.deepEqual(outcomes(await again.resume()), ["denied denied_policy_changed"]);
  assert.equal((await b.ledger.pending("approvals", { all: true }))[0]?.state, "denied");
  assert.deepEqual(b.world.lines, []);
});

for (const by of ["grant", "hook"] as const) {
  test(`approved by a ${by}, and a rule now insists on asking: a person is asked`, async (t) => {
    const b = await bench(t);
    await written(b, JUDGED);
    await b.ledger.answer([grantedDraft("g_1", { rule: "edit", tool: "edit" })]);
    const [judged] = await b.stored("call.judged");
    const lifted = draftOf("call.answered", {
      call: "c1",
      fingerprint: judged!.body.fingerprint!,
      by: { kind: by, id: "g_1" },
      source: by === "grant" ? "grant_user" : "permission_request_hook_allow",
    });
    await b.session.record([lifted], "normal");
    const person = scriptedApprover({ edit: "reject" });
    const again = await after(t, b, { policy: { rules: { team: { ask: ["edit"] } } }, person });
    assert.deepEqual(outcomes(await again.resume()), ["rejected rejected_by_user"]);
    assert.equal(person.shown.length, 1);
    assert.deepEqual(b.world.lines, []);
  });

  test(`approved by a ${by}: it is claimed with that answer and runs`, async (t) => {
    const b = await bench(t);
    await written(b, JUDGED);
    await b.ledger.answer([grantedDraft("g_1", { rule: "edit", tool: "edit" })]);
    const [judged] = await b.stored("call.judged");
    const lifted = draftOf("call.answered", {
      call: "c1",
      fingerprint: judged!.body.fingerprint!,
      by: { kind: by, id: "g_1" },
      source: by === "grant" ? "grant_user" : "permission_request_hook_allow",
    });
    await b.session.record([lifted], "normal");
    const again = await after(t, b, { person: "nobody" });
    assert.deepEqual(outcomes(await again.resume()), ["succeeded"]);
    assert.deepEqual(
      again.notices.map(({ source }) => source),
      [by === "grant" ? "grant_user" : "permission_request_hook_allow"],
    );
  });
}

test("a tool that was changed or removed while its call waited is not run, and the approval is closed", async (t) => {
  for (const [name, approve] of [
    ["removed", false],
    ["changed", false],
    ["changed", true],
  ] as const) {
    const b = await bench(t);
    await written(b, WAITING);
    if (approve) await answer(b);
    const other = textTool("edit", "edit", { description: "another description" });
    const again = await after(t, b, { tools: [] });
    const tools = createRegistry();
    if (name === "changed") tools.add(other);
    const report = await again.resume({ tools });
    assert.deepEqual(outcomes(report), ["denied tool_changed"]);
    assert.equal(textOf(only(report)), "Tool 'edit' was changed or removed while the call was waiting. Propose it again.");
    assert.deepEqual(await b.ledger.pending("approvals"), []);
    assert.deepEqual(b.world.lines, []);
  }
});

test("an expiry holds across a restart, also when the new process has another timeout or none", async (t) => {
  for (const deps of [{}, { approvalTimeoutMs: 3_600_000 }]) {
    const b = await bench(t, { person: "nobody", deps: { onAsk: "park", approvalTimeoutMs: 60_000 } });
    await b.process([call("edit", "x", "c1")]);
    await b.session.close("parked", 75);
    await b.clock.advance(30_000);
    const again = await bench(t, { beside: b, reopen: { id: b.session.id }, deps });
    const running = again.resume();
    await until(() => again.dispatcher.pending().length === 1);
    assert.equal(again.dispatcher.pending()[0]?.expiresAt, "2026-01-01T00:01:00.000Z");
    await b.clock.advance(30_000);
    assert.deepEqual(outcomes(await running), ["expired approval_expired"]);
  }
});

test("a deadline that passed while no process ran ends the call as expired", async (t) => {
  const b = await bench(t, { person: "nobody", deps: { onAsk: "park", approvalTimeoutMs: 60_000 } });
  await b.process([call("edit", "x", "c1")]);
  await b.session.close("parked", 75);
  await b.clock.advance(60_000);
  const again = await bench(t, { beside: b, reopen: { id: b.session.id }, ...parking });
  assert.deepEqual(outcomes(await again.resume()), ["expired approval_expired"]);
  assert.deepEqual(b.world.lines, []);
});

test("read, edit that asks, read, parked: the first read ran, the second waits behind the edit; after approve and resume both continue, once", async (t) => {
  const b = await bench(t, parking);
  const parked = await b.process([call("read", "r1", "c1"), call("edit", "x", "c2"), call("read", "r2", "c3")]);
  assert.deepEqual(outcomes(parked), ["succeeded", "waiting", "waiting"]);
  const [approval] = await b.ledger.pending("approvals");
  assert.deepEqual(
    parked.results.map((result) => "approvalId" in result && result.approvalId),
    [false, approval?.id, false],
  );
  assert.deepEqual(
    b.log().filter((line) => line.startsWith("messageAdded")),
    ["messageAdded c1"],
  );
  await b.session.close("parked", 75);
  const still = await bench(t, { beside: b, reopen: { id: b.session.id }, ...parking });
  assert.deepEqual(outcomes(await still.resume()), ["waiting", "waiting"]);
  await still.session.close("parked", 75);
  await answer(b);
  const again = await bench(t, { beside: b, reopen: { id: b.session.id }, ...parking });
  const report = await again.resume();
  assert.deepEqual(
    report.results.map(({ callId }) => callId),
    ["c2", "c3"],
  );
  assert.deepEqual(outcomes(report), ["succeeded", "succeeded"]);
  assert.equal(textOf(report.results[1]), "world: x", "the read after the edit sees it");
  assert.deepEqual(
    again.log().filter((line) => line.startsWith("messageAdded")),
    ["messageAdded c2", "messageAdded c3"],
  );
  assert.deepEqual(outcomes(await again.resume()), []);
  assert.deepEqual(b.world.lines, ["x"]);
});

test("two asks parked, the second approved: it stays approved behind the waiting one, nothing runs twice", async (t) => {
  const b = await bench(t, parking);
  assert.deepEqual(outcomes(await b.process([call("edit", "x", "c1"), call("edit", "y", "c2")])), ["waiting", "waiting"]);
  await b.session.close("parked", 75);
  const rows = await b.ledger.pending("approvals");
  const byCall = new Map(rows.map((row) => [row.call, row.id]));
  const other = await bench(t, { beside: b });
  await other.process([call("read", "r")]);
  await other.dispatcher.answer(says(byCall.get("c2")!));
  const second = await bench(t, { beside: b, reopen: { id: b.session.id }, ...parking });
  const waiting = await second.resume();
  assert.deepEqual(outcomes(waiting), ["waiting", "waiting"]);
  assert.deepEqual(
    waiting.results.map((result) => "approvalId" in result && result.approvalId),
    [byCall.get("c1"), false],
  );
  assert.equal(second.session.state.calls.get("c2")?.state, "approved");
  assert.deepEqual(b.world.lines, []);
  await second.session.close("parked", 75);
  await other.dispatcher.answer(says(byCall.get("c1")!));
  const third = await bench(t, { beside: b, reopen: { id: b.session.id }, ...parking });
  assert.deepEqual(outcomes(await third.resume()), ["succeeded", "succeeded"]);
  assert.deepEqual(b.world.lines, ["x", "y"]);
});

test("park: an answer that came meanwhile is used when the same process resumes", async (t) => {
  const b = await bench(t, parking);
  await b.process([call("edit", "x", "c1")]);
  await answer(b);
  assert.deepEqual(outcomes(await b.resume()), ["succeeded"]);
  assert.deepEqual(b.world.lines, ["x"]);
});

test("a process that parked a call continues with other calls", async (t) => {
  const b = await bench(t, parking);
  await b.process([call("edit", "x", "c1")]);
  assert.deepEqual(outcomes(await b.process([call("read", "r", "c2")])), ["succeeded"]);
  assert.equal(b.session.state.calls.get("c1")?.state, "waiting");
});

test("resume can be cancelled: what waits ends cancelled, and the approval is closed", async (t) => {
  const b = await bench(t, parking);
  await b.process([call("edit", "x", "c1")]);
  await b.session.close("parked", 75);
  const again = await bench(t, { beside: b, reopen: { id: b.session.id } });
  const controller = new AbortController();
  const running = again.resume({ signal: controller.signal });
  await until(() => again.dispatcher.pending().length === 1);
  controller.abort();
  assert.deepEqual(outcomes(await running), ["cancelled cancelled"]);
  assert.deepEqual(await b.ledger.pending("approvals"), []);
});

test("a claimed read without an end is unknown, and may be called again freely", async (t) => {
  const b = await crashed(t, { call: [call("slow_read", "x", "c1")] });
  const again = await after(t, b);
  const report = await again.resume();
  assert.deepEqual(outcomes(report), ["unknown execution_unknown"]);
  assert.match(
    textOf(only(report)),
    /^It is unknown whether 'slow_read' ran: the process ended while it was running\. It was not repeated\.\s+It only reads; it is safe to call again\.$/,
  );
  assert.deepEqual((await again.stored("call.ended"))[0]?.body.evidence, { safe: true });
  const next = again.process([call("slow_read", "x", "c2")]);
  await until(() => again.gates.started.length === 2);
  again.gates.open("x");
  assert.deepEqual(outcomes(await next), ["succeeded"]);
});

test("a claimed unsafe call without an end, a probe or a key is unknown and not repeated", async (t) => {
  const b = await crashed(t);
  const again = await after(t, b);
  const report = await again.resume();
  assert.deepEqual(outcomes(report), ["unknown execution_unknown"]);
  assert.equal(
    textOf(only(report)),
    [
      "It is unknown whether 'slow_edit' ran: the process ended while it was running. It was not repeated.",
      "Started: 2026-01-01T00:00:00.000Z. Evidence: none.",
      "Check the present state before you decide what to do. Calling it again needs a new approval.",
    ].join("\n"),
  );
  assert.equal(b.gates.started.length, 1);
  assert.deepEqual(again.log(), ["response c1", "messageAdded c1"]);
  assert.deepEqual(outcomes(await again.resume()), []);
});

test("recovering twice, and a crash in the middle of it, give the same end", async (t) => {
  const b = await bench(t, yolo);
  void b.process([call("slow_read", "r", "c1"), call("slow_read", "s", "c2")]);
  await until(() => b.gates.started.length === 2);
  let fail = true;
  const broken = await after(t, b, {
    wrap: (ledger) => ({
      ...ledger,
      append: (lease, expected, batch) =>
        fail && batch.events.some((event) => event.type === "call.ended" && event.body.call === "c2")
          ? Promise.reject(new Error("killed"))
          : ledger.append(lease, expected, batch),
    }),
  });
  await broken.resume().catch(() => undefined);
  fail = false;
  const again = await after(t, b);
  await again.resume();
  const ended = await again.stored("call.ended");
  assert.deepEqual(ended.map(({ body }) => [body.call, body.outcome]).sort(), [
    ["c1", "unknown"],
    ["c2", "unknown"],
  ]);
  assert.equal(again.session.state.calls.size, 0);
});

test("the recovered calls are named in session.opened", async (t) => {
  const b = await crashed(t);
  const again = await after(t, b);
  await again.resume();
  const opened = await again.stored("session.opened");
  assert.deepEqual(opened.at(-1)?.body.recovered, [{ call: "c1", to: "unknown" }]);
});

for (const [name, writer, count] of [
  ["its own door has opened on record is not opened a second time", {}, 1],
  ["another process has open on record is opened", { processStart: "earlier" }, 2],
  ["another machine has open on record is opened", { host: "elsewhere" }, 2],
] as const) {
  test(`a session that ${name}`, async (t) => {
    const b = await bench(t);
    await b.session.close("parked", 75);
    const again = await after(t, b);
    const { session } = again;
    await session.record([session.draft("session.opened", { ...session.holder, ...writer, recovered: [] })], "normal");
    assert.equal(session.state.closed, undefined);
    await again.resume();
    assert.equal((await again.stored("session.opened")).length, count + 1, "and once by who made it");
  });
}

test("a closed session is opened once by the process that resumes it", async (t) => {
  const b = await bench(t);
  await b.session.close("parked", 75);
  const again = await after(t, b);
  await again.resume();
  await again.resume();
  assert.equal((await again.stored("session.opened")).length, 2);
});

type ProbeRow = readonly [name: string, probe: () => unknown, outcome: string, text: RegExp];

const NOT_APPLIED = /^Did not happen: the program stopped before the change\.$/;
const UNKNOWN = /^It is unknown whether 'probed' ran/;
const probes: readonly ProbeRow[] = [
  [
    "applied",
    (): ProbeAnswer => ({ state: "applied", content: "the file is there" }),
    "succeeded recovered",
    /^the file is there.*verified after a restart/,
  ],
  ["applied, without words", (): ProbeAnswer => ({ state: "applied" }), "succeeded recovered", /verified after a restart/],
  ["applied, later", () => Promise.resolve({ state: "applied" }), "succeeded recovered", /verified after a restart/],
  [
    "applied, as another program reported",
    (): ProbeAnswer => ({ state: "applied", content: "3 files", reportedBy: "another agent" }),
    "succeeded",
    /^3 files$/,
  ],
  ["failed", (): ProbeAnswer => ({ state: "failed", content: "exit code 1" }), "failed execution_failed", /^exit code 1$/],
  ["failed, without words", (): ProbeAnswer => ({ state: "failed" }), "failed execution_failed", /^'probed' ran and failed\.$/],
  ["not_applied", (): ProbeAnswer => ({ state: "not_applied" }), "failed not_applied", NOT_APPLIED],
  ["unknown", (): ProbeAnswer => ({ state: "unknown", evidence: "two files" }), "unknown execution_unknown", UNKNOWN],
  [
    "a throw",
    () => {
      throw new Error("no disk");
    },
    "unknown execution_unknown",
    UNKNOWN,
  ],
  ["a rejection", () => Promise.reject(new Error("no disk")), "unknown execution_unknown", UNKNOWN],
  ["nonsense", () => ({ state: "Applied" }), "unknown execution_unknown", UNKNOWN],
  ["nothing", () => undefined, "unknown execution_unknown", UNKNOWN],
];
for (const [name, probe, outcome, text] of probes) {
  test(`a claimed unsafe call whose probe says ${name}: ${outcome}, and it is not run again`, async (t) => {
    const b = await probedBench(t, { probe: probe as NonNullable<Definition["probe"]> });
    const again = await after(t, b);
    const report = await again.resume();
    assert.deepEqual(outcomes(report), [outcome]);
    assert.match(textOf(only(report)), text);
    assert.equal(b.gates.started.length, 1);
  });
}

async function probedBench(t: TestContext, over: Partial<Definition>, options: BenchOptions = {}): Promise<Bench> {
  const gates: { run: NonNullable<Definition["run"]> } = { run: () => "" };
  const tool = textTool("probed", "edit", { ...over, run: (input, ctx) => gates.run(input, ctx) });
  const b = await bench(t, { ...yolo, ...options, tools: [tool] });
  gates.run = b.gates.run;
  void b.process([call("probed", "x", "c1")]);
  await b.gates.reached("x");
  return b;
}

test("the probe's finding is reported as evidence", async (t) => {
  const b = await probedBench(t, { probe: () => ({ state: "unknown", evidence: "two files" }) });
  const report = await (await after(t, b)).resume();
  assert.match(textOf(only(report)), /Evidence: probe two files\./);
});

test("a probe over 10 s is unknown", async (t) => {
  const b = await probedBench(t, { probe: () => new Promise(() => undefined) });
  const again = await after(t, b);
  const running = again.resume();
  await b.clock.advance(10_000);
  assert.deepEqual(outcomes(await running), ["unknown execution_unknown"]);
});

test("a probe is given the input and the call's key, the same as the body's key was made from", async (t) => {
  const keys: string[] = [];
  const b = await probedBench(t, {
    idempotencyKey: (_input, { callKey }) => {
      keys.push(callKey);
      return "k";
    },
    probe: (input, { callKey, callId }) => {
      keys.push(callKey);
      assert.deepEqual([input, callId], [{ text: "x" }, "c1"]);
      return { state: "applied" };
    },
  });
  await (await after(t, b)).resume();
  assert.equal(keys.length, 2);
  assert.equal(keys[0], keys[1]);
});

type RetryRow = readonly [name: string, options: BenchOptions, after: BenchOptions, outcome: string, runs: number];

const retrying: BenchOptions = { deps: { retryIdempotent: true } };
const retries: readonly RetryRow[] = [
  ["with the setting it is run again with the same key", {}, retrying, "succeeded", 2],
  ["without the setting it is unknown", {}, {}, "unknown execution_unknown", 1],
  ["denied by now it is unknown", {}, { ...retrying, policy: { rules: { team: { deny: ["probed"] } } } }, "unknown execution_unknown", 1],
  [
    "a call that a person approved is run again, too",
    { policy: {}, person: scriptedApprover({ probed: "approve" }) },
    { ...retrying, policy: {} },
    "succeeded",
    2,
  ],
  ["on a durable ledger", { wrap: durable }, { ...retrying, wrap: durable }, "succeeded", 2],
];
for (const [name, options, later, outcome, runs] of retries) {
  test(`a claimed unsafe call with an idempotency key: ${name}`, async (t) => {
    const b = await probedBench(t, { idempotencyKey: () => "k1" }, options);
    const again = await after(t, b, later);
    const running = again.resume();
    if (runs === 2) {
      await until(() => b.gates.started.length === 2);
      const ctx = b.gates.contexts.get("x");
      assert.deepEqual([ctx?.attempt, ctx?.idempotencyKey], [2, "k1"]);
      b.gates.open("x", "done at last");
    }
    const report = await running;
    assert.deepEqual(outcomes(report), [outcome]);
    assert.equal(b.gates.started.length, runs);
    if (runs === 2) assert.match(textOf(only(report)), /^done at last[\s\S]*retried with the same key/);
    assert.deepEqual(
      (await again.stored("call.claimed")).map(({ body }) => [body.attempt, body.idempotencyKey]),
      runs === 2
        ? [
            [1, "k1"],
            [2, "k1"],
          ]
        : [[1, "k1"]],
    );
  });
}

test("a retry that crashes, too, is unknown: at most one retry", async (t) => {
  const b = await probedBench(t, { idempotencyKey: () => "k1" });
  const second = await after(t, b, retrying);
  void second.resume();
  await until(() => b.gates.started.length === 2);
  const third = await after(t, b, retrying);
  assert.deepEqual(outcomes(await third.resume()), ["unknown execution_unknown"]);
  assert.equal(b.gates.started.length, 2);
});

test("a retry can be cancelled like any call", async (t) => {
  const b = await probedBench(t, { idempotencyKey: () => "k1" });
  const again = await after(t, b, retrying);
  const controller = new AbortController();
  const running = again.resume({ signal: controller.signal });
  await until(() => b.gates.started.length === 2);
  controller.abort();
  assert.equal(b.gates.contexts.get("x")?.signal.aborted, true);
  await b.clock.advance(5_000);
  assert.deepEqual(outcomes(await running), ["cancelled cancelled"]);
});

/** Processes of which some may still live. */
function processes(left: LeftOver): Processes & { readonly looked: TaskProcess[] } {
  const looked: TaskProcess[] = [];
  return {
    looked,
    run: () => Promise.reject(new Error("not here")),
    runSteps: () => Promise.reject(new Error("not here")),
    open: () => Promise.reject(new Error("not here")),
    startOf: () => undefined,
    endLeftOver: async (process) => {
      looked.push(process);
      return left;
    },
    endWithUs: () => () => undefined,
  };
}

type ProcessRow = readonly [name: string, table: ReturnType<typeof processes> | undefined, evidence: object];

const processRows: readonly ProcessRow[] = [
  ["still alive: its group is killed", processes({ found: true, survivors: [] }), { pid: 7, alive: true, killed: true }],
  ["still alive and cannot be killed: it is named", processes({ found: true, survivors: [7] }), { pid: 7, alive: true, survivor: 7 }],
  [
    "gone, but not all of its group: they are named",
    processes({ found: true, survivors: [9, 10] }),
    { pid: 7, alive: true, survivor: 9, survivors: [9, 10] },
  ],
  ["gone", processes({ found: false, survivors: [] }), { pid: 7, alive: false }],
  ["unknown, since no one can look: it is named", undefined, { pid: 7 }],
];

/** Leaves a process in the middle of an effect that has told the processes it started. */
async function crashedAfterStart(t: TestContext): Promise<Bench> {
  let runs = 0;
  const spawning = textTool("spawn", "execute", {
    run: async (_input, { started }) => {
      runs += 1;
      if (runs > 1) return "ran again";
      await started({ pid: 5, pgid: 5, processStart: "before", others: [{ pid: 6, pgid: 6, processStart: "before" }] });
      await started({ pid: 7, pgid: 8, processStart: "then" });
      return await new Promise<string>(() => undefined);
    },
  });
  const b = await bench(t, { ...yolo, tools: [spawning] });
  void b.process([call("spawn", "x", "c1")]);
  const process = (): TaskProcess | null => {
    const row = b.session.state.calls.get("c1");
    return mayBeUnderWay(row) ? row.process : null;
  };
  await until(() => process()?.pid === 7, "the call's second process on record");
  return b;
}

for (const [name, table, evidence] of processRows) {
  test(`a claimed call whose process is ${name}`, async (t) => {
    const b = await crashedAfterStart(t);
    const again = await after(t, b, { deps: table ? { processes: table } : {} });
    const report = await again.resume();
    assert.deepEqual(outcomes(report), ["unknown execution_unknown"]);
    assert.deepEqual((await again.stored("call.ended"))[0]?.body.evidence, evidence);
    const others = [5, 6].map((pid) => ({ pid, pgid: pid, processStart: "before" }));
    assert.deepEqual(table?.looked ?? [], table ? [{ pid: 7, pgid: 8, processStart: "then", others }] : []);
    assert.match(textOf(only(report)), /pid 7/);
  });
}

for (const [kind, wrap] of [
  ["the memory ledger", undefined],
  ["a durable ledger", durable],
] as const) {
  test(`on ${kind}, after an unknown outcome the same call asks, even in yolo and with a grant; another does not; a person's answer clears it`, async (t) => {
    const b = await crashed(t, wrap ? { wrap } : {});
    const person = scriptedApprover({ slow_edit: "reject" });
    const again = await after(t, b, { person, ...(wrap && { wrap }) });
    await again.resume();
    await again.ledger.answer([grantedDraft("g_1", { rule: "slow_edit", tool: "slow_edit" })]);
    assert.deepEqual(outcomes(await again.process([call("slow_edit", "x", "c2")])), ["rejected rejected_by_user"]);
    assert.deepEqual(
      person.shown.map(({ reason, source, explicitAsk }) => [reason, source, explicitAsk]),
      [["guard", "recovery", true]],
    );
    assert.deepEqual(outcomes(await again.process([call("edit", "other", "c3")])), ["succeeded"]);
    const cleared = again.process([call("slow_edit", "x", "c4")], { newPrompt: true });
    await until(() => again.gates.started.length === 2, "the call runs now that a person knows");
    again.gates.open("x");
    assert.deepEqual(outcomes(await cleared), ["succeeded"]);
    assert.equal(person.shown.length, 1);
  });
}

test("a call with a recorded process is remembered like any other: the same call asks, even in yolo", async (t) => {
  const person = scriptedApprover({ spawn: "reject" });
  const again = await after(t, await crashedAfterStart(t), { person });
  await again.resume();
  assert.deepEqual(outcomes(await again.process([call("spawn", "x", "c2")])), ["rejected rejected_by_user"]);
  assert.deepEqual(
    person.shown.map(({ reason, source, explicitAsk }) => [reason, source, explicitAsk]),
    [["guard", "recovery", true]],
  );
});

test("a deny stays a deny, and an ask that no one can answer is denied", async (t) => {
  const b = await crashed(t, { wrap: durable });
  const again = await after(t, b, { person: "nobody", wrap: durable });
  await again.resume();
  assert.deepEqual(outcomes(await again.process([call("slow_edit", "x", "c2")])), ["denied denied_unattended"]);
  again.policy.set({ mode: "yolo", rules: { team: { deny: ["slow_edit"] } } });
  assert.deepEqual(outcomes(await again.process([call("slow_edit", "x", "c3")])), ["denied denied_by_rule"]);
});

test("an unknown outcome is remembered across another restart", async (t) => {
  const b = await crashed(t, { wrap: durable });
  const second = await after(t, b, { wrap: durable });
  await second.resume();
  await second.session.close("done", 0);
  const third = await bench(t, { beside: b, reopen: { id: b.session.id }, person: "nobody", wrap: durable });
  await third.resume();
  assert.deepEqual(outcomes(await third.process([call("slow_edit", "x", "c2")])), ["denied denied_unattended"]);
});

test("after recovery every proposed call of a crashed batch has exactly one end", async (t) => {
  const b = await bench(t, { policy: { rules: { user: { allow: ["slow_edit"] } } } });
  void b.process([
    call("read", "r", "c1"),
    call("slow_edit", "x", "c2"),
    call("edit", "y", "c3"),
    call("read", "s", "c4"),
    { id: "c5", name: "edit", arguments: "{" },
  ]);
  await b.gates.reached("x");
  await until(() => b.dispatcher.pending().length === 1);
  const again = await after(t, b, { person: scriptedApprover({ edit: "approve" }) });
  const report = await again.resume();
  assert.deepEqual(
    report.results.map(({ callId, outcome }) => `${callId} ${outcome}`),
    ["c2 unknown", "c3 succeeded", "c4 succeeded"],
  );
  const events = await history(b.ledger, b.session.id);
  for (const id of ["c1", "c2", "c3", "c4", "c5"])
    assert.equal(events.filter(({ type, body }) => type === "call.ended" && "call" in body && body.call === id).length, 1, id);
});

test("what resume tells the model is in call order", async (t) => {
  const b = await bench(t, { policy: { rules: { user: { allow: ["slow_read"] } } }, ...{ person: "nobody", deps: { onAsk: "park" } } });
  void b.process([call("edit", "x", "c1"), call("slow_edit", "never", "c2")]);
  await rest();
  const again = await after(t, b, { person: scriptedApprover({ edit: "approve", slow_edit: "reject" }) });
  const report = await again.resume();
  assert.deepEqual(
    report.results.map(({ callId }) => callId),
    ["c1", "c2"],
  );
  assert.deepEqual(
    again.log().filter((line) => line.startsWith("messageAdded")),
    ["messageAdded c1", "messageAdded c2"],
  );
});

test("a waiting call and a later recovered one are reported in call order", async (t) => {
  const b = await bench(t, { policy: { rules: { user: { ask: ["read"] } } } });
  void b.process([call("read", "asks", "c1"), call("slow_read", "r", "c2")]);
  await b.gates.reached("r");
  const again = await after(t, b, { person: scriptedApprover({ read: "approve" }) });
  const report = await again.resume();
  assert.deepEqual(
    report.results.map(({ callId, outcome }) => `${callId} ${outcome}`),
    ["c1 succeeded", "c2 unknown"],
  );
  assert.deepEqual(
    again.log().filter((line) => line.startsWith("messageAdded")),
    ["messageAdded c1", "messageAdded c2"],
  );
});

test("a binding of an approved call changed while no process ran: it ends operand_changed, and nothing runs", async (t) => {
  let digest = "d1";
  const facts: Facts = ({ tool }) => ({ units: [{ subject: tool }], binds: { "a.sh": digest } });
  const b = await bench(t, { person: "nobody", deps: { onAsk: "park", facts } });
  await b.process([call("edit", "x", "c1")]);
  await b.session.close("parked", 75);
  await answer(b);
  digest = "d2";
  const again = await bench(t, { beside: b, reopen: { id: b.session.id }, person: "nobody", deps: { onAsk: "park", facts } });
  assert.deepEqual(outcomes(await again.resume()), ["denied operand_changed"]);
  assert.deepEqual(await b.ledger.pending("approvals"), []);
  assert.deepEqual(b.world.lines, []);
});

const closes: readonly (readonly [closed: "cancelled" | "expired" | "denied", outcome: string])[] = [
  ["cancelled", "cancelled cancelled"],
  ["expired", "expired approval_expired"],
  ["denied", "denied denied_policy_changed"],
];
for (const [closed, outcome] of closes) {
  for (const approve of [false, true]) {
    if (approve && closed === "expired") continue;
    test(`${approve ? "approved and taken back" : "waiting and closed"} (${closed}) without an end: ${outcome}, and no one is asked again`, async (t) => {
      const b = await bench(t);
      await written(b, WAITING);
      if (approve) await answer(b);
      const body = { approval: "a_1", session: b.session.id, call: "c1", revision: 1, outcome: closed, by: "test" };
      await b.ledger.answer([draftOf("approval.closed", body)]);
      const person = scriptedApprover({ edit: "approve" });
      const again = await after(t, b, { person, policy: { mode: "yolo" } });
      assert.deepEqual(outcomes(await again.resume()), [outcome]);
      assert.deepEqual([person.shown, b.world.lines], [[], []]);
    });
  }
}

test("a crash inside a nested effect leaves both unknown, and only the parent is a message to the model", async (t) => {
  const outer = textTool("outer", "other", {
    permission: () => "allow",
    run: async (_input, { gate }) => String((await gate({ name: "slow_edit", arguments: { text: "x" } })).content),
  });
  const b = await crashed(t, { tools: [outer], call: [call("outer", "o", "c1")] });
  const again = await after(t, b);
  const report = await again.resume();
  assert.deepEqual(
    report.results.map(({ callId, outcome }) => [callId, outcome]),
    [["c1", "unknown"]],
  );
  assert.deepEqual((await again.stored("call.ended")).map(({ body }) => [body.call, body.outcome]).sort(), [
    ["c1", "unknown"],
    ["c1/1", "unknown"],
  ]);
  assert.deepEqual(
    again.log().filter((line) => line.startsWith("messageAdded")),
    ["messageAdded c1"],
  );
});

for (const [what, key] of [
  ["nothing", undefined],
  ["a blank text", ""],
  ["a number", 7],
  ["null", null],
] as const) {
  test(`an idempotency key that is ${what} is ignored: the call never runs twice`, async (t) => {
    const keyed = textTool("keyed", "edit", { idempotencyKey: () => key as never, run: (input, ctx) => b.gates.run(input, ctx) });
    const b: Bench = await bench(t, { ...yolo, tools: [keyed] });
    const first = b.process([call("keyed", "x", "c1")]);
    await rest();
    if (b.gates.started.length === 0) assert.equal(only(await first).outcome, "denied");
    const again = await after(t, b, retrying);
    const running = again.resume();
    await rest();
    assert.ok(b.gates.started.length <= 1, "it ran once at most");
    for (const { outcome } of (await running).results) assert.equal(outcome, "unknown");
  });
}

test("a tool that changed since its call was claimed is not asked what happened: unknown", async (t) => {
  let probed = 0;
  const b = await probedBench(t, {
    probe: () => {
      probed += 1;
      return { state: "applied" };
    },
  });
  const again = await after(t, b);
  const tools = createRegistry();
  const probe = (): ProbeAnswer => {
    probed += 1;
    return { state: "applied" };
  };
  tools.add(textTool("probed", "edit", { description: "another tool of that name", probe }));
  assert.deepEqual(outcomes(await again.resume({ tools })), ["unknown execution_unknown"]);
  assert.equal(probed, 0);
});

test("facts that changed while a parked call waited are shown under a higher revision when it is resumed", async (t) => {
  let digest = "d1";
  const facts: Facts = ({ tool }) => ({ units: [{ subject: tool }], binds: { "a.sh": digest } });
  const b = await bench(t, { person: "nobody", deps: { onAsk: "park", facts } });
  await b.process([call("edit", "x", "c1")]);
  await b.session.close("parked", 75);
  digest = "d2";
  const person = scriptedApprover({ edit: "approve" });
  const again = await bench(t, { beside: b, reopen: { id: b.session.id }, person, deps: { facts } });
  assert.deepEqual(outcomes(await again.resume()), ["succeeded"]);
  assert.deepEqual(
    person.shown.map(({ revision }) => revision),
    [2],
  );
  const [claimed] = await again.stored("call.claimed");
  assert.equal(claimed?.body.fingerprint, person.shown[0]?.fingerprint);
});
