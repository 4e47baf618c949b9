import assert from "node:assert/strict";
import { test } from "node:test";
import {
  type By,
  createDispatcher,
  createRegistry,
  type Facts,
  type JsonObject,
  type Ledger,
  type PendingAction,
  queueResolveHandler,
  type ResolveContext,
  type Safeguard,
  ToolError,
} from "@assent/core";
import { scriptedApprover } from "@assent/core/testing";
import { bench, call, history, only, outcomes, type Rules, rest, says, sha256, textOf, textTool, until } from "../harness.ts";
import { memoryFiles } from "./memory-files.ts";
import {
  done,
  type ProposalBench,
  type ProposalOptions,
  patching,
  patchTool,
  proposalBench,
  pusher,
  resolveTool,
  resolving,
  withAction,
} from "./proposal-bench.ts";

const person: By = { kind: "person", user: "u", name: "n", door: "test", pid: 7 };
const only1 = (b: ProposalBench) => [...b.session.state.proposals.values()][0];

/** The process after this one: the same store, files and tools; what only the first could do is gone. */
function after(t: Parameters<typeof proposalBench>[0], b: ProposalBench, options: ProposalOptions = {}): Promise<ProposalBench> {
  return proposalBench(t, { beside: b, files: b.files, reopen: { id: b.session.id, takeOver: true }, ...options });
}

test("a staged proposal keeps every content, before and after", async (t) => {
  const b = await proposalBench(t);
  const row = await b.stage({ a: "uno", b: null, c: "new" });
  const [event] = await b.stored("proposal.staged");
  const { manifest, contents, digest, files, owner, carrier } = event?.body ?? assert.fail("nothing is staged");
  assert.deepEqual([files, owner, carrier, digest], [3, null, "data", row.digest]);
  assert.equal(contents.length, 4);
  for (const hash of contents) assert.ok((await b.ledger.blob(hash)).length > 0);
  const { effects } = manifest as { effects: { op: string; before: string; after: string }[] };
  assert.deepEqual(
    effects.map(({ op, before, after: next }) => [op, before === "absent", next === "absent"]),
    [
      ["modify", false, false],
      ["delete", false, true],
      ["create", true, false],
    ],
  );
});

test("a rename is one effect and two files", async (t) => {
  const b = await proposalBench(t);
  await b.stage({ a: { to: "moved", text: "one!" } });
  assert.equal(only(await b.process([resolving("apply")])).type, "applied");
  assert.deepEqual([b.files.texts.get("/workspace/a"), b.files.texts.get("/workspace/moved")], [undefined, "one!"]);
});

test("above its limits nothing is staged", async (t) => {
  const tools = [patchTool((await proposalBench(t)).files, { name: "many", alwaysStages: true })];
  const b = await proposalBench(t, { tools });
  const patch = Object.fromEntries(Array.from({ length: 10_001 }, (_, at) => [`f${at}`, "x"]));
  const report = only(await b.process([patching(patch, { label: "all" })]));
  assert.deepEqual([report.outcome, report.type], ["failed", "proposal_too_large"]);
  assert.match(textOf(report), /^The preview is too large: 10001 files/);
  assert.deepEqual(await b.stored("proposal.staged"), []);
});

type Refused = readonly [name: string, over: Parameters<typeof patchTool>[1], outcome: string, text: RegExp];
const PREVIEWS: readonly Refused[] = [
  ["a preview that gives a text ends the call with it", { preview: () => "Nothing to do." }, "succeeded", /^Nothing to do\.$/],
  [
    "a preview that gives a failure fails",
    { preview: () => ({ content: "", error: { message: "no match", type: "edit_no_occurrence_found" } }) },
    "failed edit_no_occurrence_found",
    /no match/,
  ],
  [
    "a preview that throws fails, and stages nothing",
    { preview: () => Promise.reject(new Error("broken")) },
    "failed execution_failed",
    /^Error: Tool call execution failed\. Reason: broken$/,
  ],
  [
    "a preview that throws a ToolError keeps its message and type",
    { preview: () => Promise.reject(new ToolError("Not read yet.", "edit_requires_prior_read")) },
    "failed edit_requires_prior_read",
    /^Not read yet\.$/,
  ],
  ["a preview that gives nonsense", { preview: () => ({ label: "x" }) as never }, "failed invalid_tool_result", /returned no valid result/],
  [
    "a preview whose contents are none",
    { preview: () => ({ label: "x", blocks: [], changes: [{ path: "/w/a", realPath: "/w/a", before: null, after: "text" }] }) as never },
    "failed invalid_tool_result",
    /returned no valid result/,
  ],
  [
    "a preview of a relative path",
    { preview: () => ({ label: "x", blocks: [], changes: [{ path: "a", realPath: "a", before: null, after: Buffer.from("x") }] }) },
    "failed invalid_tool_result",
    /returned no valid result/,
  ],
  [
    "a preview that changes one file twice",
    {
      preview: () => {
        const change = { path: "/w/a", realPath: "/w/a", before: null, after: Buffer.from("x") };
        return { label: "x", blocks: [], changes: [change, { ...change, path: "/w/b" }] };
      },
    },
    "failed execution_failed",
    /changes \/w\/a twice/,
  ],
];
for (const [name, over, outcome, text] of PREVIEWS) {
  for (const staged of [true, false]) {
    test(`${name} (${staged ? "staged" : "at once"})`, async (t) => {
      const b = await proposalBench(t, {
        tools: [patchTool((await proposalBench(t)).files, { ...over, name: "odd", alwaysStages: staged })],
      });
      const report = await b.process([patching({ a: "uno" }, {}, "odd")]);
      assert.deepEqual(outcomes(report), [outcome]);
      assert.match(textOf(report.results[0]), text);
      assert.equal(b.session.state.proposals.size, 0);
      assert.deepEqual(b.files.log, []);
    });
  }
}

test("a call that runs at once is recorded and applied as a proposal, and can be undone", async (t) => {
  const b = await proposalBench(t);
  const report = only(await b.process([patching({ a: "uno" }, {}, "put")]));
  assert.deepEqual([report.outcome, report.type, textOf(report)], ["succeeded", null, 'Patched {"n":1}.']);
  const { proposalId } = report.result.details as { proposalId: string };
  const types = (
    await Promise.all((["proposal.staged", "proposal.applying", "proposal.applied"] as const).map((type) => b.stored(type)))
  ).flat();
  assert.deepEqual(
    types.map(({ type, body }) => [type, body.proposal]),
    [
      ["proposal.staged", proposalId],
      ["proposal.applying", proposalId],
      ["proposal.applied", proposalId],
    ],
  );
  assert.equal((await b.dispatcher.proposals.undo(proposalId, person)).ok, true);
  assert.equal(b.files.texts.get("/workspace/a"), "one");
});

type Direct = readonly [name: string, fault: "write" | "rename" | "restore", outcome: string, state: string];
const DIRECT: readonly Direct[] = [
  ["a write that fails tells why, and nothing stays pending", "write", "failed no_space_left", "discarded"],
  ["a rename that fails", "rename", "failed file_write_failure", "discarded"],
  ["a restore that fails too", "restore", "unknown apply_unknown", "unknown"],
];
for (const [name, fault, outcome, state] of DIRECT) {
  test(`at once: ${name}`, async (t) => {
    const b = await proposalBench(t);
    b.files.faults.push(fault);
    assert.deepEqual(outcomes(await b.process([patching({ a: "uno", b: "due" }, {}, "put")])), [outcome]);
    assert.equal(b.session.state.proposals.size, 0);
    assert.equal((await b.ledger.pending("proposals", { all: true }))[0]?.state, state);
  });
}

test("at once: an apply whose words fail is still a success", async (t) => {
  const b = await proposalBench(t, {
    tools: [patchTool((await proposalBench(t)).files, { name: "mute", apply: () => Promise.reject(new Error("no words")) })],
  });
  const report = only(await b.process([patching({ c: "uno" }, {}, "mute")]));
  assert.deepEqual([report.outcome, textOf(report)], ["succeeded", "Applied: Patch: c."]);
  assert.equal(b.files.texts.get("/workspace/c"), "uno");
  assert.deepEqual(b.warnings, [
    `Tool 'mute' applied ${(report.result.details as { proposalId: string }).proposalId} but could not say so: no words`,
  ]);
});

test("a tool whose apply is the effect gets its own data, now or from another process", async (t) => {
  const world: unknown[] = [];
  const files = (await proposalBench(t)).files;
  const notes = patchTool(files, {
    name: "note",
    alwaysStages: true,
    preview: ({ text }) => ({ label: "Note", blocks: [String(text)], changes: [], data: { text: String(text) } }),
    apply: ({ data, reason }) => {
      world.push([data, reason]);
      return "noted";
    },
  });
  const b = await proposalBench(t, { files, tools: [notes] });
  await b.process([{ name: "note", arguments: { text: "hello" } }]);
  const next = await after(t, b);
  assert.equal(textOf(only(await next.process([resolving("apply")]))), "noted");
  assert.deepEqual(world, [[{ text: "hello" }, "because"]]);
});

test("without a store nothing can be staged, neither by code nor by a preview", async (t) => {
  const said: unknown[] = [];
  const push = textTool("deploy", "other", {
    run: (_input, ctx) => {
      try {
        ctx.pushPendingAction(done);
      } catch (error) {
        said.push(error);
      }
      return "x";
    },
  });
  const plain = await proposalBench(t);
  const registry = createRegistry();
  for (const tool of [push, resolveTool, patchTool(plain.files, { alwaysStages: true })]) registry.add(tool);
  const b = await bench(t, { policy: { mode: "yolo" } });
  const report = await b.process([call("deploy", "x"), patching({ a: "uno" }), resolving("apply")], { tools: registry });
  assert.deepEqual(outcomes(report), ["succeeded", "failed staging_unavailable", "failed no_pending_action"]);
  const text = "Pending action store unavailable for custom tools in this runtime.";
  assert.equal(textOf(report.results[1]), text);
  assert.ok(said[0] instanceof ToolError && said[0].type === "staging_unavailable" && said[0].message === text);
  await assert.rejects(queueResolveHandler(b.session, { ...done, sourceToolName: "host" }), { message: text, type: "staging_unavailable" });
});

test("nothing can be pushed after the call has ended", async (t) => {
  let late: ((action: PendingAction) => unknown) | undefined;
  const b = await proposalBench(t, {
    tools: [
      textTool("deploy", "other", {
        run: (_input, ctx) => {
          late = ctx.pushPendingAction;
          return "x";
        },
      }),
    ],
  });
  await b.process([call("deploy", "x")]);
  assert.throws(() => late?.(done), { message: "pushPendingAction needs a running tool call.", type: "no_running_call" });
});

type Bad = readonly [name: string, action: unknown, message: string];
const loop: Record<string, unknown> = {};
loop["self"] = loop;
const BAD: readonly Bad[] = [
  ["no label", { apply: () => "x" }, "Pending action needs a label."],
  ["an empty label", { ...done, label: " \n" }, "Pending action needs a label."],
  ["no apply", { label: "x" }, "Pending action needs an apply function."],
  ["nothing at all", null, "Pending action needs a label."],
  ["details that contain themselves", { ...done, details: loop }, "Pending action details must be JSON."],
  ["details with a function", { ...done, details: { f: () => 1 } }, "Pending action details must be JSON."],
  ["details that are too long", { ...done, details: "x".repeat(70_000) }, "Pending action details must be at most 64 KiB."],
];
for (const [name, action, message] of BAD) {
  test(`${name} throws`, async (t) => {
    const b = await proposalBench(t);
    await assert.rejects(queueResolveHandler(b.session, action as never), { message, name: "ToolError" });
    assert.equal(b.session.state.proposals.size, 0);
  });
}

test("a queued action is recorded before its id is returned; its label is one line", async (t) => {
  const b = await proposalBench(t);
  const { id } = await queueResolveHandler(b.session, { ...done, label: "two\nlines\u0007", sourceToolName: "host" });
  const row = b.session.state.proposals.get(id);
  assert.deepEqual([row?.label, row?.tool, row?.carrier, row?.callId, row?.owner?.pid], ["two lines", "host", "closure", null, 1]);
  assert.equal(textOf(only(await b.process([resolving("apply")]))), "deployed");
});

test("code queued under an unknown tool name asks, even if its kind is allowed", async (t) => {
  const b = await proposalBench(t, { policy: { mode: "default" } });
  await queueResolveHandler(b.session, { ...done, sourceToolName: "host" });
  void b.process([resolving("apply")]);
  await until(() => b.dispatcher.pending().length > 0);
  assert.equal(b.dispatcher.pending()[0]?.details.type === "info" && b.dispatcher.pending()[0]?.details.title, "Confirm Deploy");
  b.dispatcher.cancel(b.dispatcher.pending()[0]?.callId ?? "");
  await until(() => b.dispatcher.pending().length === 0);
});

type Allowance = readonly [name: string, over: Parameters<typeof pusher>[1], allow: readonly string[]];
const PREVIEW_ALLOWED: readonly Allowance[] = [
  ["a tool of a kind that reads", { kind: "read" }, []],
  ["a tool that is hinted to be read-only", { annotations: { readOnlyHint: true } }, []],
  ["a tool that allows itself", { permission: () => "allow" }, []],
  ["a tool that a rule allows", {}, ["deploy"]],
  ["a tool that a rule with a star allows", {}, ["*"]],
  ["a call that a rule allows", {}, ["deploy:text=x"]],
];
for (const [name, over, allow] of PREVIEW_ALLOWED) {
  test(`${name} pushes an action without asking, and applying the action asks`, async (t) => {
    const b = await proposalBench(t, { policy: { rules: { user: { allow } } }, tools: [pusher([() => done], over)] });
    assert.equal(only(await b.process([call("deploy", "x", "push")])).outcome, "succeeded");
    const running = b.process([resolving("apply")]);
    await until(() => b.dispatcher.pending().length > 0);
    const [open] = b.dispatcher.pending();
    assert.deepEqual([open?.tool, open?.explicitAsk, open?.suggestions], ["resolve", false, ["deploy.apply"]]);
    await b.dispatcher.answer(says(open?.id ?? ""));
    assert.equal(only(await running).type, "applied");
  });
}

type ApplyRule = readonly [name: string, mode: string, rules: Rules, type: string];
const APPLY_RULES: readonly ApplyRule[] = [
  ["an allow of its own name", "default", { user: { allow: ["deploy.apply"] } }, "applied"],
  ["an allow of its own name and input", "default", { user: { allow: ["deploy.apply:text=x"] } }, "applied"],
  ["an allow of another input", "default", { user: { allow: ["deploy.apply:text=y"] } }, "rejected_by_user"],
  ["an allow of every action", "default", { user: { allow: ["*.apply"] } }, "applied"],
  ["an allow of every tool", "default", { user: { allow: ["*"] } }, "rejected_by_user"],
  ["mode yolo", "yolo", {}, "applied"],
  ["mode auto-edit", "auto-edit", {}, "rejected_by_user"],
  ["mode plan", "plan", {}, "denied_by_mode"],
  ["a deny of its own name in mode yolo", "yolo", { user: { deny: ["deploy.apply"] } }, "denied_by_rule"],
  ["a deny of the tool in mode yolo", "yolo", { user: { deny: ["deploy:text=x"] } }, "denied_by_rule"],
  ["a deny of the tool beside an allow of its name", "default", { user: { allow: ["deploy.apply"], deny: ["deploy"] } }, "denied_by_rule"],
  ["an ask about the tool in mode yolo", "yolo", { user: { ask: ["deploy"] } }, "rejected_by_user"],
  ["an ask of its own name in mode yolo", "yolo", { user: { ask: ["deploy.apply"] } }, "rejected_by_user"],
];
for (const [name, mode, rules, type] of APPLY_RULES) {
  test(`a pending action is judged by itself, for any source name: ${name}`, async (t) => {
    const b = await proposalBench(t, {
      tools: [pusher([() => ({ ...done, sourceToolName: "nice_name" })], { kind: "read" })],
      person: scriptedApprover(() => "reject"),
    });
    assert.equal(only(await b.process([call("deploy", "x", "push")])).outcome, "succeeded");
    b.policy.set({ mode, rules });
    assert.equal(only(await b.process([resolving("apply")])).type, type);
  });
}

test("a deny of a pending action holds against a person, too", async (t) => {
  const b = await withAction(t, done);
  b.policy.set({ mode: "yolo", rules: { user: { deny: ["deploy.apply"] } } });
  const [row] = b.session.state.proposals.values();
  assert.equal((await b.dispatcher.proposals.apply(row?.id ?? "", person)).type, "denied_by_rule");
});

test("two pushes of one call are two proposals", async (t) => {
  const b = await proposalBench(t, { tools: [pusher([() => done, () => ({ ...done, label: "Two" })])] });
  await b.process([call("deploy", "x", "c1")]);
  assert.deepEqual(
    [...b.session.state.proposals.values()].map(({ label, callId }) => [label, callId]),
    [
      ["Deploy", "c1"],
      ["Two", "c1"],
    ],
  );
});

test("also where the first is on record before the second is pushed", async (t) => {
  const b = await proposalBench(t, {
    tools: [
      textTool("deploy", "other", {
        run: async (_input, ctx) => {
          await ctx.pushPendingAction(done).staged;
          await ctx.pushPendingAction(done).staged;
          return "x";
        },
      }),
    ],
  });
  await b.process([call("deploy", "x")]);
  assert.equal(b.session.state.proposals.size, 2);
  await b.process([call("deploy", "x")]);
  assert.equal(b.session.state.proposals.size, 2, "the same request of another call replaces them");
});

test("actions of a failed call are discarded, and their reject runs", async (t) => {
  const told: string[] = [];
  const reject = (reason: string): undefined => void told.push(reason);
  const b = await proposalBench(t, {
    tools: [
      textTool("deploy", "other", {
        run: (_input, ctx) => {
          ctx.pushPendingAction({ ...done, reject });
          throw new Error("too early");
        },
      }),
    ],
  });
  assert.equal(only(await b.process([call("deploy", "x")])).outcome, "failed");
  assert.equal(b.session.state.proposals.size, 0);
  assert.deepEqual(told, ["staging call failed"]);
  const [event] = await b.stored("proposal.discarded");
  assert.deepEqual([event?.body.resolution.by, event?.body.resolution.reason], ["runtime", "staging call failed"]);
});

test("and with one that is cancelled", async (t) => {
  const told: string[] = [];
  const b = await proposalBench(t, {
    tools: [
      textTool("deploy", "other", {
        run: async (_input, ctx) => {
          ctx.pushPendingAction({ ...done, reject: (reason) => void told.push(reason) });
          await new Promise((_resolve, refuse) => ctx.signal.addEventListener("abort", refuse));
          return "x";
        },
      }),
    ],
  });
  const running = b.process([call("deploy", "x", "c1")]);
  await until(() => b.session.state.proposals.size === 1);
  b.dispatcher.cancel("c1");
  assert.equal(only(await running).outcome, "cancelled");
  assert.deepEqual([told, b.session.state.proposals.size], [["staging call failed"], 0]);
});

test("what code of an ended process carries is lost: a notice, and the words of resolve", async (t) => {
  const b = await withAction(t, done);
  const id = only1(b)?.id ?? "";
  const next = await after(t, b);
  await next.resume();
  const lost = "Lost: Deploy was staged by a process that has ended. Nothing was applied. Preview again.";
  assert.deepEqual(
    [...next.session.state.notices.values()].map(({ kind, modelText }) => [kind, modelText]),
    [["proposal", lost]],
  );
  for (const over of [{}, { id }]) {
    const applied = only(await next.process([resolving("apply", over)]));
    assert.deepEqual([applied.outcome, applied.type, textOf(applied)], ["failed", "proposal_lost", lost]);
    const discarded = only(await next.process([resolving("discard", over)]));
    assert.deepEqual([discarded.type, textOf(discarded)], ["nothing_to_discard", `Proposal ${id} is already stale.`]);
  }
  await next.stage({ a: "uno" });
  await next.process([resolving("discard")]);
  assert.equal(only(await next.process([resolving("apply")])).type, "no_pending_action", "something was staged since");
});

test("what code of this process carries outlives a dispatcher of its session", async (t) => {
  const b = await withAction(t, done);
  await b.dispatcher.close();
  const { session, clock, ids, policy, files: changes } = b;
  const second = createDispatcher({ session, clock, ids, policy, changes, digest: sha256 });
  const { signal } = new AbortController();
  assert.equal(textOf(only(await second.process({ calls: [resolving("apply")], tools: b.registry, signal }))), "deployed");
});

test("a proposal of data is applied by another process", async (t) => {
  const b = await proposalBench(t);
  await b.stage({ a: "uno" });
  const next = await after(t, b);
  assert.equal(only(await next.process([resolving("apply")])).type, "applied");
  assert.equal(b.files.texts.get("/workspace/a"), "uno");
});

test("of a tool that changed or is gone nothing is applied", async (t) => {
  for (const tools of [
    [patchTool((await proposalBench(t)).files, { name: "other" })],
    [patchTool((await proposalBench(t)).files, { title: "New" })],
  ]) {
    const b = await proposalBench(t);
    await b.stage({ a: "uno" });
    const registry = createRegistry();
    for (const tool of [resolveTool, ...tools]) registry.add(tool);
    const report = only(await b.process([resolving("apply")], { tools: registry }));
    assert.deepEqual([report.outcome, report.type, textOf(report)], ["failed", "proposal_stale", "Tool patch changed since the preview."]);
    assert.equal((await b.stored("proposal.stale"))[0]?.body.cause, "tool");
    assert.deepEqual(b.files.log, []);
  }
});

test("a cancel before the claim leaves it staged", async (t) => {
  const b = await proposalBench(t, { policy: { mode: "default" } });
  await b.stage({ a: "uno" });
  const running = b.process([resolving("apply", {}, "r1")]);
  await until(() => b.dispatcher.pending().length > 0);
  b.dispatcher.cancel("r1");
  assert.deepEqual(outcomes(await running), ["cancelled cancelled"]);
  assert.equal(only1(b)?.state, "staged");
});

test("a cancel before the commit point: nothing is written, it is staged again, and counts as no failure", async (t) => {
  const b = await proposalBench(t);
  await b.stage({ a: "uno" });
  const release = b.files.hold("before");
  const running = b.process([resolving("apply", {}, "r1")]);
  await until(() => b.files.log.length > 0);
  b.dispatcher.cancel("r1");
  release();
  const report = only(await running);
  assert.deepEqual(
    [report.outcome, report.type, textOf(report)],
    ["cancelled", "cancelled_before_commit", "Cancelled before anything was written. Patch: a is still pending."],
  );
  assert.deepEqual([only1(b)?.state, only1(b)?.failures, b.files.texts.get("/workspace/a")], ["staged", 0, "one"]);
});

test("after the commit point the files are finished, and the call reports the cancel request", async (t) => {
  const b = await proposalBench(t);
  await b.stage({ a: "uno" });
  const release = b.files.hold("committed");
  const controller = new AbortController();
  const running = b.process([resolving("apply"), call("edit", "after")], { signal: controller.signal });
  await until(() => b.files.reached.committed === 1);
  controller.abort();
  await b.clock.advance(60_000);
  release();
  const report = await running;
  assert.deepEqual(outcomes(report), ["succeeded applied", "cancelled cancelled"]);
  const [first] = report.results;
  assert.equal(first?.outcome === "succeeded" && (first.result.details as JsonObject)["cancelRequested"], true);
  assert.deepEqual([b.files.texts.get("/workspace/a"), b.world.lines], ["uno", []]);
});

type Aborted = readonly [name: string, apply: (ctx: ResolveContext) => Promise<string>, outcome: string, state: string];
const hearing = (ctx: ResolveContext): Promise<string> =>
  new Promise((_resolve, refuse) => ctx.signal.addEventListener("abort", () => refuse(new Error("stopped"))));
const ABORTED: readonly Aborted[] = [
  ["code that throws before it committed", hearing, "cancelled cancelled_before_commit", "staged"],
  [
    "code that throws after it committed",
    (ctx) => {
      ctx.commit();
      return hearing(ctx);
    },
    "failed proposal_apply_failed",
    "staged",
  ],
  [
    "code that committed is awaited and succeeds",
    async (ctx) => {
      ctx.commit();
      return await hearing(ctx).catch(() => "done after all");
    },
    "succeeded applied",
    "applied",
  ],
  ["code that ends well in spite of the signal", (ctx) => hearing(ctx).catch(() => "done"), "succeeded applied", "applied"],
  ["code that neither commits nor ends", () => new Promise(() => undefined), "unknown apply_unknown", "unknown"],
];
for (const [name, apply, outcome, state] of ABORTED) {
  test(`${name}, when the call is cancelled`, async (t) => {
    const b = await withAction(t, { ...done, apply: (_reason, _extra, ctx) => apply(ctx) });
    const running = b.process([resolving("apply", {}, "r1")]);
    await until(() => only1(b)?.state === "applying");
    b.dispatcher.cancel("r1");
    await b.clock.advance(5_000);
    assert.deepEqual(outcomes(await running), [outcome]);
    assert.equal((await b.ledger.pending("proposals", { all: true }))[0]?.state, state);
  });
}

test("code that committed is awaited without a limit", async (t) => {
  const end = Promise.withResolvers<string>();
  const b = await withAction(t, {
    ...done,
    apply: (_reason, _extra, ctx) => {
      ctx.commit();
      return end.promise;
    },
  });
  const running = b.process([resolving("apply", {}, "r1")]);
  await until(() => only1(b)?.state === "applying");
  b.dispatcher.cancel("r1");
  await b.clock.advance(60_000);
  end.resolve("deployed in the end");
  const report = only(await running);
  assert.deepEqual([report.type, textOf(report)], ["applied", "deployed in the end"]);
});

test("a late end is recorded and not acted on", async (t) => {
  const late = Promise.withResolvers<string>();
  const b = await withAction(t, { ...done, apply: () => late.promise });
  const running = b.process([resolving("apply", {}, "r1")]);
  await until(() => only1(b)?.state === "applying");
  b.dispatcher.cancel("r1");
  await b.clock.advance(5_000);
  const report = only(await running);
  assert.equal(textOf(report), "Cancelled while applying Deploy. It may have taken effect. Check before trying again.");
  late.resolve("x");
  await until(() => b.session.state.notices.size === 1);
  assert.match([...b.session.state.notices.values()][0]?.modelText ?? "", /ended after it was given up: it succeeded\.$/);
});

test("a reject that never ends leaves the call unknown and the proposal staged", async (t) => {
  const b = await withAction(t, { ...done, reject: () => new Promise(() => undefined) });
  const running = b.process([resolving("discard", {}, "r1")]);
  await until(() => b.log().includes("toolCall r1"));
  b.dispatcher.cancel("r1");
  await b.clock.advance(5_000);
  assert.deepEqual(outcomes(await running), ["unknown apply_unknown"]);
  assert.equal(only1(b)?.state, "staged");
});

type Crash = readonly [
  name: string,
  fault: "crash-before" | "crash" | "crash-after",
  meddle: boolean,
  state: string,
  outcome: string,
  a: string,
];
const CRASHES: readonly Crash[] = [
  ["killed between claim and first rename", "crash-before", false, "staged", "failed not_applied", "one"],
  ["killed between renames", "crash", false, "staged", "failed not_applied", "one"],
  ["killed between renames, and a file is something else by now", "crash", true, "unknown", "unknown apply_unknown", "uno"],
  ["killed after the last rename", "crash-after", false, "applied", "succeeded recovered", "uno"],
];
for (const [name, fault, meddle, state, outcome, a] of CRASHES) {
  test(name, async (t) => {
    const b = await proposalBench(t);
    const { id } = await b.stage({ a: "uno", b: "due" });
    b.files.faults.push(fault);
    void b.process([resolving("apply")]);
    await until(() => b.files.reached.crashed === 1);
    if (meddle) b.files.texts.set("/workspace/b", "mine");
    const next = await after(t, b);
    assert.deepEqual(outcomes(await next.resume()), [outcome]);
    const [row] = await next.ledger.pending("proposals", { all: true, prefix: id });
    assert.deepEqual([row?.state, next.files.texts.get("/workspace/a")], [state, a]);
    assert.equal(next.session.state.notices.size, 1);
    assert.equal(row?.failures, 0);
    assert.deepEqual(b.files.log, [`apply ${id}`, `recover ${id}`]);
  });
  test(`${name}, by a call that runs at once`, async (t) => {
    const b = await proposalBench(t);
    b.files.faults.push(fault);
    void b.process([patching({ a: "uno", b: "due" }, {}, "put")]);
    await until(() => b.files.reached.crashed === 1);
    if (meddle) b.files.texts.set("/workspace/b", "mine");
    const next = await after(t, b);
    assert.deepEqual(outcomes(await next.resume()), [outcome]);
    const [row] = await next.ledger.pending("proposals", { all: true });
    assert.deepEqual([row?.state, next.files.texts.get("/workspace/a")], [state === "staged" ? "discarded" : state, a]);
    assert.equal(next.session.state.notices.size, 0, "the call's own result tells");
  });
}

test("recovery of proposals may be repeated", async (t) => {
  const b = await proposalBench(t);
  await b.stage({ a: "uno", b: "due" });
  b.files.faults.push("crash");
  void b.process([resolving("apply")]);
  await until(() => b.files.reached.crashed === 1);
  let next = await after(t, b);
  await next.resume();
  next = await after(t, next);
  assert.deepEqual(outcomes(await next.resume()), []);
  assert.equal(only1(next)?.state, "staged");
  assert.equal(next.session.state.notices.size, 1);
});

test("a killed staging call is recovered from the disk", async (t) => {
  for (const [when, outcome] of [
    ["before", "failed not_applied"],
    ["after", "succeeded recovered"],
  ] as const) {
    const gate = Promise.withResolvers<never>();
    const reached = { staged: false };
    const files = (await proposalBench(t)).files;
    const b = await proposalBench(t, {
      files,
      tools: [patchTool(files, { name: "slow", alwaysStages: true, ...(when === "before" && { preview: () => gate.promise }) })],
      wrap: (ledger) => ({
        ...ledger,
        append: async (lease, at, batch) => {
          if (when === "after" && batch.events.some(({ type }) => type === "call.ended")) return gate.promise;
          const stored = await ledger.append(lease, at, batch);
          reached.staged ||= batch.events.some(({ type }) => type === "proposal.staged");
          return stored;
        },
      }),
    });
    void b.process([patching({ a: "uno" }, {}, "slow")]);
    await until(() => (when === "before" ? b.log().some((line) => line.startsWith("toolCall")) : reached.staged));
    const next = await after(t, b);
    const report = await next.resume();
    assert.deepEqual(outcomes(report), [outcome]);
    if (when === "after") assert.match(textOf(report.results[0]), /^Preview staged as p_\w+: Patch: a\. No file was modified\.\na\n/);
    assert.equal(next.session.state.proposals.size, when === "after" ? 1 : 0);
  }
});

test("a person applies, and the model is notified", async (t) => {
  const b = await proposalBench(t, { policy: { mode: "default" } });
  const { id } = await b.stage({ a: "uno" });
  const report = await b.dispatcher.proposals.apply(id, person, "looks right");
  assert.deepEqual(report, { id, state: "applied", ok: true, type: "applied", text: 'Patched {"n":1}.' });
  const [event] = await b.stored("proposal.applying");
  assert.deepEqual(
    [event?.body.resolution.by, event?.body.resolution.who, event?.body.resolution.reason],
    ["person", person, "looks right"],
  );
  assert.deepEqual(
    [...b.session.state.notices.values()].map(({ modelText }) => modelText),
    [`A person applied Patch: a (${id}). Reason: looks right Result: Patched {"n":1}.`],
  );
});

test("a close does not wait forever for the words of a tool that does not end", async (t) => {
  const files = memoryFiles({ "/workspace/a": "one" });
  const reached = Promise.withResolvers<void>();
  const hang = (): Promise<never> => {
    reached.resolve();
    return new Promise(() => undefined);
  };
  const silent = patchTool(files, { name: "silent", alwaysStages: true, apply: hang });
  const b = await proposalBench(t, { files, tools: [silent] });
  await b.process([patching({ a: "uno" }, {}, "silent")]);
  const [row] = b.session.state.proposals.values();
  const applying = b.dispatcher.proposals.apply(row?.id ?? "", person);
  await reached.promise;
  const closing = b.dispatcher.close();
  await b.clock.advance(5_000);
  await b.clock.advance(5_000);
  await closing;
  assert.deepEqual([(await applying).state, files.texts.get("/workspace/a")], ["applied", "uno"]);
});

test("a person discards", async (t) => {
  const b = await proposalBench(t);
  const { id } = await b.stage({ a: "uno" });
  assert.deepEqual(await b.dispatcher.proposals.discard(id, person), {
    id,
    state: "discarded",
    ok: true,
    type: "discarded",
    text: "Discarded: Patch: a. Reason: .",
  });
  assert.equal(b.session.state.notices.size, 1);
  assert.deepEqual((await b.dispatcher.proposals.apply(id, person)).type, "proposal_not_pending");
  assert.deepEqual((await b.dispatcher.proposals.apply("p_no", person)).state, null);
});

test("what the policy denies a person does not apply either", async (t) => {
  const b = await proposalBench(t);
  const { id } = await b.stage({ a: "uno" });
  b.policy.set({ rules: { team: { deny: ["patch"] } } });
  const report = await b.dispatcher.proposals.apply(id, person);
  assert.deepEqual([report.ok, report.type, report.state], [false, "denied_by_rule", "staged"]);
  b.policy.set({ proposals: { resolver: "model", stages: () => false } });
  assert.equal((await b.dispatcher.proposals.apply(id, person)).type, "not_allowed");
  assert.equal((await b.dispatcher.proposals.discard(id, person)).ok, true);
  assert.deepEqual(b.files.log, []);
});

test("of two people who apply at once one succeeds, and the other is refused", async (t) => {
  const b = await proposalBench(t);
  const { id } = await b.stage({ a: "uno" });
  const reports = await Promise.all([b.dispatcher.proposals.apply(id, person), b.dispatcher.proposals.apply(id, person)]);
  assert.deepEqual(reports.map(({ type }) => type).sort(), ["applied", "proposal_busy"]);
  assert.deepEqual(b.files.log, [`apply ${id}`]);
});

for (const [who, ending] of [
  ["a dispatcher", (b: ProposalBench) => b.dispatcher.close()],
  ["a session", (b: ProposalBench) => b.session.close("done", 0)],
] as const) {
  test(`${who} that is closed waits for what a person of this process asked for`, async (t) => {
    const b = await proposalBench(t);
    const { id } = await b.stage({ a: "uno", b: "due" });
    const release = b.files.hold("committed");
    const applying = b.dispatcher.proposals.apply(id, person);
    await until(() => b.files.reached.committed === 1);
    let closed = false;
    const closing = ending(b).then(() => {
      closed = true;
    });
    await rest();
    assert.equal(closed, false);
    release();
    assert.equal((await applying).type, "applied");
    await closing;
    assert.deepEqual(
      (await history(b.ledger, b.session.id)).map(({ type }) => type).filter((type) => /applied|closed/.test(type)),
      who === "a session" ? ["proposal.applied", "session.closed"] : ["proposal.applied"],
    );
  });

  test(`what a person asks of ${who} that is closed is refused`, async (t) => {
    const b = await proposalBench(t);
    const { id } = await b.stage({ a: "uno" });
    await ending(b);
    for (const action of ["apply", "discard", "undo"] as const) {
      const report = await b.dispatcher.proposals[action](id, person);
      assert.deepEqual([report.ok, report.type, report.state], [false, "not_allowed", "staged"], action);
    }
    assert.deepEqual([b.files.log, await b.stored("proposal.requested")], [[], []]);
  });
}

test("an apply, discard or refusal reported to a person is durable", async (t) => {
  const kept: string[] = [];
  const wrap = (ledger: Ledger): Ledger => ({
    ...ledger,
    append: (lease, expected, batch) => {
      for (const { type } of batch.events) if (/applied|discarded|refused/.test(type)) kept.push(`${type} ${batch.durability}`);
      return ledger.append(lease, expected, batch);
    },
  });
  const b = await proposalBench(t, { wrap });
  await b.dispatcher.proposals.discard((await b.stage({ a: "uno" })).id, person);
  await b.stage({ a: "uno" });
  await b.process([resolving("discard")]);
  await b.dispatcher.proposals.apply((await b.stage({ a: "uno" })).id, person);
  await b.stage({ b: "uno" });
  await b.process([resolving("apply")]);
  const { id } = await b.stage({ a: "due" });
  b.policy.set({ rules: { team: { deny: ["patch"] } } });
  await requestAction(b, id, "apply");
  await until(() => kept.length === 5);
  const [discarded, applied] = ["proposal.discarded", "proposal.applied"];
  assert.deepEqual(kept, [`${discarded} full`, `${discarded} normal`, `${applied} full`, `${applied} normal`, "proposal.refused full"]);
});

test("a person settles a proposal while a turn begins: the turn begins all the same", async (t) => {
  const b = await proposalBench(t);
  const { draft } = b.session;
  const begin = async (proposal: string): Promise<void> => {
    const started = draft("turn.started", { turn: 1, origin: "user", promptId: "u_1", model: "m", toolChoice: null });
    const marks = [draft("proposal.reminded", { proposal, turn: 1 }), draft("proposal.unheeded", { proposal, turn: 1 })];
    await b.session.record([started, ...marks, draft("proposal.parked", { proposal, why: "unheeded" })], "normal");
  };
  const first = await b.stage({ a: "uno" });
  await b.dispatcher.proposals.discard(first.id, person);
  await begin(first.id);
  const [row] = await b.ledger.pending("proposals", { all: true, prefix: first.id });
  assert.deepEqual([row?.state, row?.parked, row?.reminded], ["discarded", false, 0]);
  const second = await b.stage({ b: "due" });
  const release = b.files.hold("before");
  b.files.faults.push("write");
  const applying = b.dispatcher.proposals.apply(second.id, person);
  await until(() => b.session.state.proposals.get(second.id)?.state === "applying");
  await begin(second.id);
  release();
  assert.equal((await applying).type, "proposal_apply_failed");
  const after2 = b.session.state.proposals.get(second.id);
  assert.deepEqual([after2?.state, after2?.parked, after2?.reminded, after2?.unheeded], ["staged", true, 1, 0]);
});

/** Records a request of another process on the shared chain. */
async function requestAction(b: ProposalBench, id: string, action: "apply" | "discard" | "undo"): Promise<void> {
  const [row] = await b.ledger.pending("proposals", { all: true, prefix: id });
  const body = { proposal: id, session: b.session.id, action, digest: row?.digest ?? "", reason: "from afar", by: person };
  await b.ledger.answer([{ type: "proposal.requested", v: 1, at: new Date(b.clock.now()).toISOString(), body }]);
}

test("the holder handles a request of another process", async (t) => {
  const b = await proposalBench(t);
  const first = await b.stage({ a: "uno" });
  await requestAction(b, first.id, "apply");
  await until(() => b.files.texts.get("/workspace/a") === "uno");
  await until(() => b.session.state.notices.size === 1);
  const second = await b.stage({ b: "due" });
  await requestAction(b, second.id, "discard");
  await until(() => b.session.state.proposals.size === 0);
  await requestAction(b, first.id, "undo");
  await until(() => b.files.texts.get("/workspace/a") === "one");
  await b.session.close("done", 0);
  assert.equal((await b.stored("proposal.undone")).length, 1);
});

test("a request that fails is recorded as refused, and not retried", async (t) => {
  const b = await proposalBench(t);
  const { id } = await b.stage({ a: "uno" });
  await b.process([resolving("apply")]);
  b.files.texts.set("/workspace/a", "mine");
  await requestAction(b, id, "undo");
  const refused = async (): Promise<number> => (await b.stored("proposal.refused")).length;
  let seen = 0;
  await until(() => {
    void refused().then((count) => {
      seen = count;
    });
    return seen === 1;
  });
  const [event] = await b.stored("proposal.refused");
  assert.deepEqual(event?.body, {
    proposal: id,
    action: "undo",
    type: "undo_conflict",
    message: `Cannot undo ${id}: changed since: a. Nothing was written.`,
  });
  b.files.texts.set("/workspace/a", "uno");
  const next = await after(t, b);
  await next.resume();
  assert.equal(next.files.texts.get("/workspace/a"), "uno");
});

test("a missed request is handled when the session is resumed", async (t) => {
  const b = await proposalBench(t);
  const { id } = await b.stage({ a: "uno" });
  await b.dispatcher.close();
  await requestAction(b, id, "apply");
  assert.equal(b.files.texts.get("/workspace/a"), "one");
  const next = await after(t, b);
  await next.resume();
  assert.equal(next.files.texts.get("/workspace/a"), "uno");
});

test("a dispatcher closed while catching up handles no further request", async (t) => {
  const b = await proposalBench(t);
  const ids = [(await b.stage({ a: "uno" })).id, (await b.stage({ b: "due" })).id];
  await b.dispatcher.close();
  for (const id of ids) await requestAction(b, id, "apply");
  const next = await after(t, b);
  const release = next.files.hold("before");
  const resuming = next.resume();
  await until(() => next.files.log.length === 1);
  const closing = next.dispatcher.close();
  release();
  await Promise.all([closing, resuming]);
  assert.deepEqual(Object.fromEntries(next.files.texts), { "/workspace/a": "uno", "/workspace/b": "two" });
});

test("a request of this process received after it is done keeps the order of the others", async (t) => {
  const heard: (() => void)[] = [];
  const wrap = (ledger: Ledger): Ledger => ({
    ...ledger,
    subscribe: (from, filter, sink) => ledger.subscribe(from, filter, (event) => void heard.push(() => sink(event))),
  });
  const b = await proposalBench(t, { wrap });
  const first = await b.stage({ a: "uno" });
  await b.process([resolving("apply")]);
  const second = await b.stage({ b: "due" });
  await requestAction(b, second.id, "apply");
  assert.equal((await b.dispatcher.proposals.undo(first.id, person)).type, "undone");
  const release = b.files.hold("committed");
  await until(() => heard.length === 2);
  for (const hear of heard) hear();
  const closing = b.dispatcher.close().then(() => "closed");
  await until(() => b.files.reached.committed === 3);
  await rest();
  assert.equal(await Promise.race([closing, Promise.resolve("open")]), "open");
  release();
  await closing;
  assert.equal((await b.stored("proposal.applied")).length, 2);
});

test("a session that is closed stops listening", async (t) => {
  const b = await proposalBench(t);
  const { id } = await b.stage({ a: "uno" });
  await b.session.close("parked", 75);
  await requestAction(b, id, "apply");
  for (let turns = 0; turns < 20; turns += 1) await new Promise((resolve) => setImmediate(resolve));
  assert.equal(b.files.texts.get("/workspace/a"), "one");
  await b.session.refresh();
});

/** A tool that names `a` and touches `b` too. */
function sly(files: ProposalBench["files"], over: Parameters<typeof patchTool>[1] = {}): ReturnType<typeof patchTool> {
  return patchTool(files, { name: "sly", locations: () => [{ path: "/workspace/a" }], ...over });
}

/** Rules about paths, as a host's facts make them. */
const pathFacts: Facts = ({ tool, locations }) => ({
  units: (locations ?? []).map(({ path }) => ({ subject: path })).concat(locations?.length ? [] : [{ subject: tool }]),
  binds: {},
});
const pathGuard = (verdict: "ask" | "deny", tool: string, path: string): Safeguard => ({
  id: "place",
  check: (request, unit) =>
    request.tool === tool && unit.subject === path ? { verdict, note: `${path} is special` } : { verdict: "none" },
});

type Touching = readonly [name: string, guard: Safeguard, staged: boolean, outcome: string];
const TOUCHING: readonly Touching[] = [
  ["a deny on a touched path denies at staging", pathGuard("deny", "sly", "/workspace/b"), true, "failed denied_by_guard"],
  ["a deny on a touched path denies what runs at once", pathGuard("deny", "sly", "/workspace/b"), false, "failed denied_by_guard"],
  ["an ask about writing a touched path waits for the apply", pathGuard("ask", "sly", "/workspace/b"), true, "succeeded"],
  [
    "an ask about a touched path that no one was asked about stops what runs at once",
    pathGuard("ask", "sly", "/workspace/b"),
    false,
    "failed execution_denied",
  ],
  [
    "an ask about reading a touched path that no one was asked about stops the preview",
    pathGuard("ask", "read", "/workspace/b"),
    true,
    "failed execution_denied",
  ],
  ["a deny of reading a touched path", pathGuard("deny", "read", "/workspace/b"), true, "failed denied_by_guard"],
  ["nothing against it, staged", pathGuard("deny", "sly", "/workspace/z"), true, "succeeded"],
  ["nothing against it, at once", pathGuard("deny", "sly", "/workspace/z"), false, "succeeded"],
];
for (const [name, guard, staged, outcome] of TOUCHING) {
  test(`touched files: ${name}`, async (t) => {
    const files = (await proposalBench(t)).files;
    const b = await proposalBench(t, {
      files,
      tools: [sly(files, { alwaysStages: staged })],
      policy: { mode: "yolo", safeguards: [guard] },
      deps: { facts: pathFacts },
    });
    assert.deepEqual(outcomes(await b.process([patching({ a: "uno", b: "due" }, {}, "sly")])), [outcome]);
    assert.equal(b.session.state.proposals.size, staged && outcome === "succeeded" ? 1 : 0);
    assert.equal(files.texts.get("/workspace/b"), !staged && outcome === "succeeded" ? "due" : "two");
  });
}

test("an apply is judged by the paths it touches", async (t) => {
  const b = await proposalBench(t, { deps: { facts: pathFacts } });
  await b.stage({ a: "uno" });
  b.policy.set({ mode: "yolo", safeguards: [pathGuard("deny", "patch", "/workspace/a")] });
  assert.equal(only(await b.process([resolving("apply")])).type, "denied_by_guard");
});

test("also by those that its call did not name", async (t) => {
  const files = (await proposalBench(t)).files;
  const b = await proposalBench(t, { files, tools: [sly(files, { alwaysStages: true })], deps: { facts: pathFacts } });
  await b.process([patching({ a: "uno", b: "due" }, {}, "sly")]);
  b.policy.set({ mode: "yolo", safeguards: [pathGuard("deny", "sly", "/workspace/b")] });
  assert.equal(only(await b.process([resolving("apply")])).type, "denied_by_guard");
});

test("a timeout before anything is written is reported as one, and nothing is pending", async (t) => {
  const files = (await proposalBench(t)).files;
  const b = await proposalBench(t, { files, tools: [patchTool(files, { name: "slow", timeoutMs: 100 })] });
  const release = files.hold("before");
  const running = b.process([patching({ a: "uno" }, {}, "slow")]);
  await until(() => files.log.length > 0);
  await b.clock.advance(100);
  release();
  assert.deepEqual(outcomes(await running), ["timed_out execution_timeout"]);
  assert.deepEqual([b.session.state.proposals.size, files.texts.get("/workspace/a")], [0, "one"]);
});

test("a time limit that passes after the commit point does not undo what is done", async (t) => {
  const files = (await proposalBench(t)).files;
  const b = await proposalBench(t, { files, tools: [patchTool(files, { name: "slow", timeoutMs: 100 })] });
  const release = files.hold("committed");
  const running = b.process([patching({ a: "uno" }, {}, "slow")]);
  await until(() => files.reached.committed === 1);
  await b.clock.advance(100);
  release();
  assert.deepEqual(outcomes(await running), ["succeeded"]);
  assert.equal(files.texts.get("/workspace/a"), "uno");
});

test("a preview that is cancelled while it is being recorded is discarded", async (t) => {
  const gate = Promise.withResolvers<void>();
  let reached = false;
  const b = await proposalBench(t, {
    wrap: (ledger) => ({
      ...ledger,
      append: async (lease, at, batch) => {
        if (batch.events.some(({ type }) => type === "proposal.staged")) {
          reached = true;
          await gate.promise;
        }
        return await ledger.append(lease, at, batch);
      },
    }),
  });
  const running = b.process([{ ...patching({ a: "uno" }), id: "c1" }]);
  await until(() => reached);
  b.dispatcher.cancel("c1");
  gate.resolve();
  assert.deepEqual(outcomes(await running), ["cancelled cancelled"]);
  assert.equal((await b.stored("proposal.discarded"))[0]?.body.resolution.reason, "staging call failed");
  assert.equal(b.session.state.proposals.size, 0);
});

test("two proposals that touch one file are applied one after the other: the second looks at what the first left", async (t) => {
  const b = await proposalBench(t);
  const first = await b.stage({ a: "uno" });
  const second = await b.stage({ a: "due" });
  const release = b.files.hold("committed");
  const applying = b.dispatcher.proposals.apply(first.id, person);
  await until(() => b.files.reached.committed === 1);
  const late = b.dispatcher.proposals.apply(second.id, person);
  await until(() => b.session.state.proposals.get(second.id)?.state === "applying");
  release();
  assert.deepEqual([(await applying).type, (await late).type], ["applied", "proposal_stale"]);
  assert.equal(b.files.texts.get("/workspace/a"), "uno");
});

test("a preview that is cancelled while it looks stages nothing", async (t) => {
  const files = (await proposalBench(t)).files;
  const reached = Promise.withResolvers<void>();
  const b = await proposalBench(t, {
    files,
    tools: [
      patchTool(files, {
        name: "slow",
        alwaysStages: true,
        preview: () => {
          reached.resolve();
          return new Promise(() => undefined);
        },
      }),
    ],
  });
  const running = b.process([{ ...patching({ a: "uno" }, {}, "slow"), id: "c1" }]);
  await reached.promise;
  b.dispatcher.cancel("c1");
  await b.clock.advance(5_000);
  const report = only(await running);
  assert.deepEqual([report.type, textOf(report)], ["cancelled", "The tool call was cancelled by the user before it ran."]);
});
