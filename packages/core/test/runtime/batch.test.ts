import assert from "node:assert/strict";
import { test } from "node:test";
import type { Facts } from "@assent/core";
import { scriptedApprover } from "@assent/core/testing";
import { type Bench, bench, call, outcomes, rest, says, scriptedHooks, textOf, textTool, until } from "./harness.ts";

const yolo = { policy: { mode: "yolo" } } as const;
const CANCELLED_BEFORE = "The tool call was cancelled by the user before it ran.";
const CANCELLED_DURING = "The tool call was cancelled by the user while it was running. It may have had effects.";

const responses = (b: Bench): readonly string[] => b.log().filter((line) => line.startsWith("response"));
const history = (b: Bench): readonly string[] => b.log().filter((line) => line.startsWith("messageAdded"));

test("reads before an edit run together, the edit after both, and the read after it sees it", async (t) => {
  const b = await bench(t, yolo);
  const running = b.process([call("slow_read", "r1"), call("slow_read", "r2"), call("edit", "e"), call("read", "r3")]);
  await until(() => b.gates.started.length === 2);
  await rest();
  assert.deepEqual(b.world.lines, []);
  b.gates.open("r2");
  await rest();
  assert.deepEqual(b.world.lines, []);
  b.gates.open("r1");
  assert.equal(textOf((await running).results[3]), "world: e");
});

test("a read before an edit that waits for a person runs at once, the read after it waits", async (t) => {
  const b = await bench(t);
  const running = b.process([call("read", "r1", "c1"), call("edit", "e", "c2"), call("read", "r2", "c3")]);
  await until(() => b.dispatcher.pending().length === 1);
  await rest();
  assert.deepEqual(responses(b), ["response c1"]);
  await b.dispatcher.answer(says(b.dispatcher.pending()[0]!.id));
  assert.equal(textOf((await running).results[2]), "world: e");
});

test("both questions are open at once, and an approved second edit waits for the first", async (t) => {
  const b = await bench(t);
  const running = b.process([call("edit", "e1", "c1"), call("edit", "e2", "c2")]);
  await until(() => b.dispatcher.pending().length === 2);
  const [first, second] = b.dispatcher.pending();
  await b.dispatcher.answer(says(second!.id));
  await rest();
  assert.deepEqual(b.world.lines, []);
  await b.dispatcher.answer(says(first!.id));
  await running;
  assert.deepEqual(b.world.lines, ["e1", "e2"]);
});

test("an allowed edit waits for an earlier one that waits for a person", async (t) => {
  const b = await bench(t, { policy: { rules: { user: { allow: ["slow_edit"] } } } });
  const running = b.process([call("edit", "e1", "c1"), call("slow_edit", "e2", "c2")]);
  await until(() => b.dispatcher.pending().length === 1);
  await rest();
  assert.deepEqual(b.gates.started, []);
  await b.dispatcher.answer(says(b.dispatcher.pending()[0]!.id));
  await b.gates.reached("e2");
  b.gates.open("e2");
  await running;
  assert.deepEqual(b.world.lines, ["e1"]);
});

test("an edit runs after an earlier one was rejected, denied or invalid", async (t) => {
  const b = await bench(t, {
    policy: { rules: { user: { allow: ["edit:text=go"], deny: ["edit:text=no"] } } },
    person: scriptedApprover({ edit: "reject" }),
  });
  const report = await b.process([
    call("edit", "ask"),
    call("edit", "no"),
    { id: "bad", name: "edit", arguments: "[]" },
    call("edit", "go"),
  ]);
  assert.deepEqual(outcomes(report), ["rejected rejected_by_user", "denied denied_by_rule", "invalid invalid_tool_params", "succeeded"]);
  assert.deepEqual(b.world.lines, ["go"]);
});

test("responses come as calls end, the history in call order", async (t) => {
  const b = await bench(t);
  const running = b.process([call("slow_read", "slow", "c1"), call("slow_read", "fast", "c2")]);
  await until(() => b.gates.started.length === 2);
  b.gates.open("fast");
  await until(() => responses(b).length === 1);
  assert.deepEqual(history(b), []);
  b.gates.open("slow");
  const report = await running;
  assert.deepEqual(responses(b), ["response c2", "response c1"]);
  assert.deepEqual(history(b), ["messageAdded c1", "messageAdded c2"]);
  assert.deepEqual(
    report.results.map(({ callId }) => callId),
    ["c1", "c2"],
  );
});

test("of 25 reads never more than 10 run at once, and all run", async (t) => {
  const b = await bench(t);
  const texts = Array.from({ length: 25 }, (_, at) => `r${at}`);
  const running = b.process(texts.map((text) => call("slow_read", text)));
  for (const [ended, text] of texts.entries()) {
    await until(() => b.gates.started.length === Math.min(25, ended + 10));
    await rest();
    assert.equal(b.gates.started.length, Math.min(25, ended + 10));
    b.gates.open(text);
  }
  assert.equal((await running).results.filter(({ outcome }) => outcome === "succeeded").length, 25);
  assert.deepEqual(b.gates.started, texts);
});

test("the number that run at once is a setting", async (t) => {
  const b = await bench(t, { deps: { maxConcurrency: 1 } });
  const running = b.process([call("slow_read", "r1"), call("slow_read", "r2")]);
  await b.gates.reached("r1");
  await rest();
  assert.deepEqual(b.gates.started, ["r1"]);
  b.gates.open("r1");
  b.gates.open("r2");
  await running;
});

test("a call with a proven safe input runs concurrently, but one that only declares a safe kind does not", async (t) => {
  const shell = textTool("shell", "execute", { safe: ({ text }) => text === "ls", run: ({ text }) => String(text) });
  const b = await bench(t, { ...yolo, tools: [shell] });
  const running = b.process([call("slow_read", "r"), call("shell", "ls", "safe"), call("shell", "rm", "unsafe")]);
  await until(() => b.log().includes("response safe"));
  await rest();
  assert.equal(b.log().includes("toolCall unsafe"), false);
  b.gates.open("r");
  await running;
});

/** Facts as a shell judge has them: the digest of the script a command names. */
function scripts(b: { readonly world: Bench["world"] | undefined }): Facts {
  return ({ tool, input }) => ({
    units: [{ subject: tool }],
    binds: input["text"] === "sh a.sh" ? { "a.sh": (b.world?.lines ?? []).join(",") } : {},
  });
}

test("after the write the open approval shows the new digest under a higher revision, and an answer to the older one is stale", async (t) => {
  const late: { world: Bench["world"] | undefined } = { world: undefined };
  const b = await bench(t, { policy: { rules: { user: { allow: ["slow_edit", "edit:text=content"] } } }, deps: { facts: scripts(late) } });
  late.world = b.world;
  const running = b.process([call("slow_edit", "hold", "c0"), call("edit", "content", "c1"), call("edit", "sh a.sh", "c2")]);
  await until(() => b.dispatcher.pending().length === 1);
  const [first] = b.dispatcher.pending();
  b.gates.open("hold");
  await until(() => b.log().includes("response c1"));
  await until(() => b.dispatcher.pending()[0]?.revision === 2, "the higher revision");
  const [second] = b.dispatcher.pending();
  assert.equal(second?.id, first?.id);
  assert.notEqual(second?.fingerprint, first?.fingerprint);
  await assert.rejects(b.dispatcher.answer(says(first!.id, { revision: 1 })), { type: "stale_revision" });
  await b.dispatcher.answer(says(second!.id, { revision: 2 }));
  assert.deepEqual(outcomes(await running), ["succeeded", "succeeded", "succeeded"]);
  const [claimed] = await b.stored("call.claimed", "c2");
  assert.equal(claimed?.body.fingerprint, second?.fingerprint);
});

test("an answer to the older revision that is committed just before the higher one is stored harms nothing", async (t) => {
  let shown = "";
  const late: { world: Bench["world"] | undefined } = { world: undefined };
  const b = await bench(t, {
    policy: { rules: { user: { allow: ["slow_edit", "edit:text=content"] } } },
    deps: { facts: scripts(late) },
    wrap: (ledger) => ({
      ...ledger,
      append: (lease, expected, batch) => {
        const [event] = batch.events;
        if (event?.type !== "approval.opened" || event.body.revision !== 2) return ledger.append(lease, expected, batch);
        const { approval, call: of } = event.body;
        const answer = { approval, session: b.session.id, call: of, revision: 1, outcome: "approved", fingerprint: shown } as const;
        const draft = { type: "approval.answered", v: 1, at: event.at, body: { ...answer, by: says("").by, reason: null } } as const;
        return ledger.answer([draft]).then(() => ledger.append(lease, expected, batch));
      },
    }),
  });
  late.world = b.world;
  const running = b.process([call("slow_edit", "hold", "c0"), call("edit", "content", "c1"), call("edit", "sh a.sh", "c2")]);
  await until(() => b.dispatcher.pending().length === 1);
  shown = b.dispatcher.pending()[0]!.fingerprint;
  b.gates.open("hold");
  await until(() => b.dispatcher.pending()[0]?.revision === 2, "the higher revision");
  await b.dispatcher.answer(says(b.dispatcher.pending()[0]!.id, { revision: 2 }));
  assert.deepEqual(outcomes(await running), ["succeeded", "succeeded", "succeeded"]);
  assert.equal(b.dispatcher.failure(), undefined);
});

test("an answer given before an earlier write changed what the call means does not hold: it is asked again", async (t) => {
  const late: { world: Bench["world"] | undefined } = { world: undefined };
  const b = await bench(t, { policy: { rules: { user: { allow: ["slow_edit", "edit:text=content"] } } }, deps: { facts: scripts(late) } });
  late.world = b.world;
  const running = b.process([call("slow_edit", "hold", "c0"), call("edit", "content", "c1"), call("edit", "sh a.sh", "c2")]);
  await until(() => b.dispatcher.pending().length === 1);
  await b.dispatcher.answer(says(b.dispatcher.pending()[0]!.id));
  b.gates.open("hold");
  await until(() => b.dispatcher.pending()[0]?.revision === 2, "the second question");
  await b.dispatcher.answer(says(b.dispatcher.pending()[0]!.id, { outcome: "reject" }));
  assert.deepEqual(outcomes(await running), ["succeeded", "succeeded", "rejected rejected_by_user"]);
  assert.deepEqual(b.world.lines, ["content"]);
});

test("an edited answer that no longer holds can be edited again, and the last edit runs", async (t) => {
  const late: { world: Bench["world"] | undefined } = { world: undefined };
  const facts: Facts = ({ tool }) => ({ units: [{ subject: tool }], binds: { world: (late.world?.lines ?? []).join(",") } });
  const b = await bench(t, { policy: { rules: { user: { allow: ["slow_edit", "edit:text=content"] } } }, deps: { facts } });
  late.world = b.world;
  const running = b.process([call("slow_edit", "hold", "c0"), call("edit", "content", "c1"), call("edit", "x", "c2")]);
  await until(() => b.dispatcher.pending().length === 1);
  await b.dispatcher.answer(says(b.dispatcher.pending()[0]!.id, { updatedInput: { text: "first edit" } }));
  b.gates.open("hold");
  await until(() => b.dispatcher.pending()[0]?.revision === 2, "the second question");
  await b.dispatcher.answer(says(b.dispatcher.pending()[0]!.id, { updatedInput: { text: "second edit" } }));
  assert.deepEqual(outcomes(await running), ["succeeded", "succeeded", "succeeded"]);
  assert.deepEqual(b.world.lines, ["content", "second edit"]);
});

test("an allowed call is judged again when an earlier unsafe call ran, and a deny of what is there now holds", async (t) => {
  const late: { world: Bench["world"] | undefined } = { world: undefined };
  const facts: Facts = ({ tool }) => ({ units: [{ subject: tool, data: late.world?.lines.includes("evil") === true }], binds: {} });
  const guard = {
    id: "evil",
    check: (_: unknown, { data }: { readonly data?: unknown }) => ({ verdict: data === true ? "deny" : "none" }) as const,
  };
  const b = await bench(t, { policy: { mode: "yolo", safeguards: [guard] }, deps: { facts } });
  late.world = b.world;
  const report = await b.process([call("edit", "evil"), call("edit", "later")]);
  assert.deepEqual(outcomes(report), ["succeeded", "denied denied_by_guard"]);
  assert.deepEqual(b.world.lines, ["evil"]);
});

test("cancel of one call that waits closes its approval and leaves the others alone", async (t) => {
  const b = await bench(t);
  const running = b.process([call("edit", "x", "c1"), call("edit", "y", "c2")]);
  await until(() => b.dispatcher.pending().length === 2);
  const [first, second] = b.dispatcher.pending();
  assert.equal(b.dispatcher.cancel("c1"), true);
  await until(() => responses(b).length === 1);
  assert.equal((await b.ledger.pending("approvals", { prefix: first!.id, all: true }))[0]?.state, "cancelled");
  await b.dispatcher.answer(says(second!.id));
  const report = await running;
  assert.deepEqual(outcomes(report), ["cancelled cancelled", "succeeded"]);
  assert.equal(textOf(report.results[0]), CANCELLED_BEFORE);
  assert.deepEqual(b.world.lines, ["y"]);
});

test("cancel of one call that waits for its lane: it never starts", async (t) => {
  const b = await bench(t, yolo);
  const running = b.process([call("slow_edit", "first", "c1"), call("edit", "x", "c2"), call("edit", "y", "c3")]);
  await b.gates.reached("first");
  assert.equal(b.dispatcher.cancel("c2"), true);
  b.gates.open("first");
  const report = await running;
  assert.deepEqual(outcomes(report), ["succeeded", "cancelled cancelled", "succeeded"]);
  assert.equal(textOf(report.results[1]), CANCELLED_BEFORE);
  assert.deepEqual(b.world.lines, ["y"]);
});

test("cancelling an approved call that waits for its lane withdraws the consent", async (t) => {
  const b = await bench(t, { policy: { rules: { user: { allow: ["slow_edit"] } } } });
  const running = b.process([call("slow_edit", "first", "c1"), call("edit", "x", "c2")]);
  await until(() => b.dispatcher.pending().length === 1);
  const { id } = b.dispatcher.pending()[0]!;
  await b.dispatcher.answer(says(id));
  b.dispatcher.cancel("c2");
  b.gates.open("first");
  assert.deepEqual(outcomes(await running), ["succeeded", "cancelled cancelled"]);
  assert.equal((await b.ledger.pending("approvals", { prefix: id, all: true }))[0]?.state, "cancelled");
});

test("cancelling a batch stops running calls, ends waiting ones and starts no others", async (t) => {
  const b = await bench(t, { policy: { rules: { user: { allow: ["slow_edit", "edit:text=allowed"] } } } });
  const controller = new AbortController();
  const running = b.process(
    [call("read", "r", "c1"), call("slow_edit", "one", "c2"), call("edit", "asks", "c3"), call("edit", "allowed", "c4")],
    { signal: controller.signal },
  );
  await b.gates.reached("one");
  await until(() => b.dispatcher.pending().length === 1);
  controller.abort();
  assert.equal(b.gates.contexts.get("one")?.signal.aborted, true);
  b.gates.fail("one", new Error("aborted"));
  const report = await running;
  assert.deepEqual(outcomes(report), ["succeeded", "cancelled cancelled", "cancelled cancelled", "cancelled cancelled"]);
  assert.deepEqual(report.results.slice(1).map(textOf), [CANCELLED_DURING, CANCELLED_BEFORE, CANCELLED_BEFORE]);
  assert.deepEqual([report.stopRun, report.stopMessage], [false, ""]);
  assert.deepEqual(history(b), ["messageAdded c1", "messageAdded c2", "messageAdded c3", "messageAdded c4"]);
  assert.deepEqual(b.world.lines, []);
});

test("cancel of the batch between the claim and the body: no body starts, and none is said to have run", async (t) => {
  const handled = textTool("handled", "edit", { runtimeHandler: "h" });
  for (const name of ["edit", "handled"]) {
    const controller = new AbortController();
    let handlerRan = false;
    const handlers = {
      h: async () => {
        handlerRan = true;
        return "handled";
      },
    };
    const b = await bench(t, {
      ...yolo,
      tools: [handled],
      deps: { handlers },
      wrap: (ledger) => ({
        ...ledger,
        claim: async (...args) => {
          const answer = await ledger.claim(...args);
          controller.abort();
          return answer;
        },
      }),
    });
    const report = await b.process([call(name, "x", "c1")], { signal: controller.signal });
    assert.deepEqual(outcomes(report), ["cancelled cancelled"]);
    assert.deepEqual([b.world.lines, handlerRan], [[], false]);
    assert.equal(textOf(report.results[0]), CANCELLED_BEFORE);
    assert.deepEqual(b.log(), ["response c1", "messageAdded c1"]);
  }
});

test("stop-run: calls that run finish, calls not started are skipped, and the message is the hook's", async (t) => {
  const hooks = scriptedHooks({ post_tool_use: ({ tool_use_id: id }) => (id === "c1" ? { stop: "quota" } : undefined) });
  const b = await bench(t, { deps: { hooks }, policy: { rules: { user: { allow: ["edit"] } } } });
  const running = b.process([
    call("slow_read", "one", "c1"),
    call("slow_read", "two", "c2"),
    call("edit", "x", "c3"),
    call("slow_edit", "asks", "c4"),
  ]);
  await until(() => b.gates.started.length === 2 && b.dispatcher.pending().length === 1);
  b.gates.open("one");
  await until(() => b.dispatcher.pending().length === 0);
  b.gates.open("two");
  const report = await running;
  assert.deepEqual(outcomes(report), ["succeeded", "succeeded", "cancelled skipped", "cancelled skipped"]);
  assert.equal(textOf(report.results[2]), "Tool 'edit' was skipped: a post_tool_use hook ended the run.");
  assert.deepEqual([report.stopRun, report.stopMessage], [true, "quota"]);
  assert.deepEqual(b.world.lines, []);
});

test("of several stop messages the first in call order counts, and a blank one gets a default", async (t) => {
  const hooks = scriptedHooks({ post_tool_use: ({ tool_use_id: id }) => ({ stop: id === "c1" ? "first" : "second" }) });
  const b = await bench(t, { deps: { hooks } });
  const running = b.process([call("slow_read", "one", "c1"), call("slow_read", "two", "c2")]);
  await until(() => b.gates.started.length === 2);
  b.gates.open("two");
  await until(() => responses(b).length === 1);
  b.gates.open("one");
  assert.equal((await running).stopMessage, "first");
  const blank = await bench(t, { deps: { hooks: scriptedHooks({ post_tool_use: () => ({ stop: "" }) }) } });
  assert.equal((await blank.process([call("read", "x")])).stopMessage, "Stopped by a post_tool_use hook.");
});

test("stop-run and cancel at once: cancel wins", async (t) => {
  const controller = new AbortController();
  const hooks = scriptedHooks({
    post_tool_use: () => {
      controller.abort();
      return { stop: "quota" };
    },
  });
  const b = await bench(t, { ...yolo, deps: { hooks } });
  const report = await b.process([call("edit", "x"), call("edit", "y")], { signal: controller.signal });
  assert.deepEqual([report.stopRun, report.stopMessage], [false, ""]);
  assert.deepEqual(outcomes(report), ["succeeded", "cancelled cancelled"]);
  assert.deepEqual(b.world.lines, ["x"]);
});

test("every result that the runtime makes is recorded and emitted like any other, one per call, in call order", async (t) => {
  const b = await bench(t, { person: "nobody", policy: { rules: { team: { deny: ["edit:text=no"] } } } });
  const report = await b.process([
    call("nope", "x", "c1"),
    call("edit", "no", "c2"),
    call("edit", "ask", "c3"),
    { id: "c4", name: "read", arguments: "{" },
    call("read", "r", "c5"),
  ]);
  const ended = await b.stored("call.ended");
  assert.deepEqual(
    new Map(ended.map(({ body }) => [body.call, body.content])),
    new Map(report.results.map((result) => [result.callId, textOf(result)])),
  );
  assert.equal(responses(b).length, 5);
  assert.deepEqual(
    history(b),
    ["c1", "c2", "c3", "c4", "c5"].map((id) => `messageAdded ${id}`),
  );
});

test("a batch over 200,000 characters has its largest results cut until it fits, of equal ones the first", async (t) => {
  const big = textTool("big", "read", { maxOutputChars: Number.POSITIVE_INFINITY, run: ({ text }) => "x".repeat(Number(text)) });
  const b = await bench(t, { tools: [big] });
  const report = await b.process([call("big", "150000"), call("big", "20000"), call("big", "150000"), call("big", "10")]);
  const lengths = report.results.map((result) => textOf(result).length);
  assert.deepEqual([lengths[1], lengths[3]], [20_000, 10]);
  const whole = lengths.reduce((sum, length) => sum + length, 0);
  assert.ok(whole <= 200_000 + 2 * 200, `${whole} characters in all`);
  assert.ok(lengths[0]! > 80_000 && lengths[2]! > 80_000);
  assert.match(textOf(report.results[0]), /\n\[output truncated: 150000 characters, 1 lines[^\]]*\]\n/);
  const added = b.events.filter((event) => event.type === "messageAdded");
  assert.deepEqual(
    added.map((event) => event.type === "messageAdded" && event.content),
    report.results.map(textOf),
  );
});

test("a batch that is cut names the file of a result, and says so where that file reached its own limit", async (t) => {
  const spilled = [{ path: "/output/x", size: 1, sha256: "", cut: true as const }];
  const big = textTool("big", "read", {
    maxOutputChars: Number.POSITIVE_INFINITY,
    run: ({ text }) => ({ content: "x".repeat(Number(text)), spilled }),
  });
  const b = await bench(t, { tools: [big] });
  const report = await b.process([call("big", "250000")]);
  assert.match(textOf(report.results[0]), /; output in \/output\/x, cut there at the file limit\]/);
});

test("a batch of exactly 200,000 characters is not cut", async (t) => {
  const big = textTool("big", "read", { maxOutputChars: Number.POSITIVE_INFINITY, run: ({ text }) => "x".repeat(Number(text)) });
  const b = await bench(t, { tools: [big] });
  const report = await b.process([call("big", "100000"), call("big", "100000")]);
  assert.deepEqual(
    report.results.map((result) => textOf(result).length),
    [100_000, 100_000],
  );
});

test("an input that a person edits into an unsafe one waits for every earlier call", async (t) => {
  const shell = textTool("shell", "execute", {
    safe: ({ text }) => text === "ls",
    run: ({ text }, { callId, sessionId }) => {
      b.world.lines.push(String(text));
      b.world.effects.push({ session: sessionId, call: callId, text: String(text) });
      return "ran";
    },
  });
  const b = await bench(t, { policy: { rules: { team: { ask: ["shell"] } } }, tools: [shell] });
  const running = b.process([call("slow_read", "r", "c1"), call("shell", "ls", "c2")]);
  await b.gates.reached("r");
  await until(() => b.dispatcher.pending().length === 1);
  await b.dispatcher.answer(says(b.dispatcher.pending()[0]!.id, { updatedInput: { text: "rm" } }));
  await rest();
  assert.deepEqual(b.world.lines, [], "the read is not done yet");
  b.gates.open("r");
  assert.deepEqual(outcomes(await running), ["succeeded", "succeeded"]);
  assert.deepEqual(b.world.lines, ["rm"]);
});
