import assert from "node:assert/strict";
import { describe, type TestContext, test } from "node:test";
import type { Answer, EffectOffer, EffectPreview, OpenApproval, Tool } from "@assent/core";
import { type ScriptedAnswer, scriptedApprover } from "@assent/core/testing";
import { call, only, says, textOf, textTool, until } from "../harness.ts";
import type { MemoryFiles } from "../proposal/memory-files.ts";
import { type ProposalBench, type ProposalOptions, proposalBench } from "../proposal/proposal-bench.ts";

/** What the command did on the copy: it wrote `new` to a file. */
const DID: EffectPreview = {
  label: "Run x",
  ended: "exit code 0",
  succeeded: true,
  output: "done",
  changes: [{ path: "a", what: "modified" }],
  blocks: ["--- a/a\n+++ b/a\n@@ -1 +1 @@\n-one\n+new\n"],
  notes: ["The network was off."],
  planned: [{ path: "/workspace/a", realPath: "/workspace/a", before: Buffer.from("one"), after: Buffer.from("new") }],
  result: "the output",
};

type Commands = {
  readonly tool: Tool;
  /** Inputs of commands that really ran, and of those that ran on a copy. */
  readonly ran: string[];
  readonly previewed: string[];
};

function commandTool(preview: (signal: AbortSignal) => Promise<EffectPreview> | EffectPreview = () => DID, unavailable?: string): Commands {
  const ran: string[] = [];
  const previewed: string[] = [];
  const tool = textTool("command", "execute", {
    run: ({ text }) => {
      ran.push(String(text));
      return "ran for real";
    },
    effectPreview: {
      unavailable: () => unavailable,
      run: async ({ text }, { signal }) => {
        previewed.push(String(text));
        return await preview(signal);
      },
    },
  });
  return { tool, ran, previewed };
}

type Scene = ProposalBench & Commands & { readonly shown: readonly OpenApproval[] };

/** A person who gives these answers, one after another. */
type PersonAnswer = (effect: EffectOffer | undefined) => ScriptedAnswer;

function answering(answers: readonly PersonAnswer[]): (approval: OpenApproval) => ScriptedAnswer {
  const left = [...answers];
  return ({ details }) => left.shift()?.(details.effect) ?? "wait";
}

const wantsPreview = (): ScriptedAnswer => "preview";
const writes = (effect: EffectOffer | undefined): ScriptedAnswer => ({
  outcome: "approve",
  write: effect?.state === "shown" ? effect.id : "none",
});

async function scene(
  t: TestContext,
  commands: Commands,
  { answers = [], ...options }: ProposalOptions & { readonly answers?: readonly PersonAnswer[] } = {},
): Promise<Scene> {
  const person = scriptedApprover(answering(answers));
  const policy = { effectPreview: "offer", ...options.policy } as const;
  const b = await proposalBench(t, { person, ...options, policy, tools: [commands.tool] });
  return { ...b, ...commands, shown: person.shown };
}

const textIn = ({ texts }: MemoryFiles): string | undefined => texts.get("/workspace/a");

describe("seeing the effect first", () => {
  test("yes after a preview writes exactly its bytes and does not run the command", async (t) => {
    const s = await scene(t, commandTool(), { answers: [wantsPreview, writes] });
    const report = only(await s.process([call("command", "x", "c1")]));
    assert.deepEqual([report.outcome, s.previewed, s.ran, textIn(s.files)], ["succeeded", ["x"], [], "new"]);
    assert.match(textOf(report), /^the output\n\[The command ran once, on a copy/);
    assert.deepEqual(
      s.shown.map(({ revision, details }) => [revision, details.effect?.state]),
      [
        [1, "offered"],
        [2, "shown"],
      ],
    );
  });

  test("the preview is on record before it runs, and its end with output, changes and contents", async (t) => {
    let started: readonly unknown[] = [];
    const commands = commandTool(async () => {
      started = await s.stored("preview.started");
      return DID;
    });
    const s = await scene(t, commands, { answers: [wantsPreview, () => "reject"] });
    await s.process([call("command", "x", "c1")]);
    assert.equal(started.length, 1);
    const [end] = await s.stored("preview.ended");
    assert.equal(end?.body.shown?.output, "done");
    assert.equal(end?.body.contents.length, 2);
  });

  test("no throws the changes away, and the model learns nothing about them", async (t) => {
    const s = await scene(t, commandTool(), { answers: [wantsPreview, () => "reject"] });
    const report = only(await s.process([call("command", "x", "c1")]));
    assert.deepEqual([report.outcome, s.ran, textIn(s.files)], ["rejected", [], "one"]);
    assert.doesNotMatch(textOf(report), /the output|done/);
  });

  test("an approval without write runs the command for real", async (t) => {
    const s = await scene(t, commandTool(), { answers: [wantsPreview, () => "approve"] });
    const report = only(await s.process([call("command", "x", "c1")]));
    assert.deepEqual([textOf(report), s.ran, textIn(s.files)], ["ran for real", ["x"], "one"]);
  });

  test("written changes can be undone", async (t) => {
    const s = await scene(t, commandTool(), { answers: [wantsPreview, writes] });
    await s.process([call("command", "x", "c1")]);
    const [staged] = await s.stored("proposal.staged");
    const { ok } = await s.dispatcher.proposals.undo(staged?.body.proposal ?? "", says("a_1").by);
    assert.deepEqual([ok, textIn(s.files)], [true, "one"]);
  });

  test("a file that changed since the preview is not overwritten", async (t) => {
    const answers = [
      wantsPreview,
      (effect: EffectOffer | undefined): ScriptedAnswer => {
        s.files.texts.set("/workspace/a", "changed by hand");
        return writes(effect);
      },
    ];
    const s = await scene(t, commandTool(), { answers });
    const report = only(await s.process([call("command", "x", "c1")]));
    assert.deepEqual([report.outcome, report.type, textIn(s.files), s.ran], ["failed", "proposal_stale", "changed by hand", []]);
  });

  test("a preview without changes gives its result, and writes nothing", async (t) => {
    const s = await scene(
      t,
      commandTool(() => ({ ...DID, changes: [], blocks: [], planned: [] })),
      { answers: [wantsPreview, writes] },
    );
    const report = only(await s.process([call("command", "x", "c1")]));
    assert.deepEqual([report.outcome, s.ran, (await s.stored("proposal.staged")).length], ["succeeded", [], 0]);
  });

  test("a deny of a changed path makes the preview unwritable", async (t) => {
    const s = await scene(t, commandTool(), { answers: [wantsPreview, () => "wait"], policy: { rules: { user: { deny: ["edit"] } } } });
    const running = s.process([call("command", "x", "c1")]);
    await until(() => s.shown.length === 2, "the second card");
    const effect = s.shown[1]?.details.effect;
    assert.match(effect?.state === "shown" ? (effect.unwritable ?? "") : "", /A rule denies changing \/workspace\/a/);
    const answer: Answer = { ...says(s.shown[1]?.id ?? ""), write: effect?.state === "shown" ? effect.id : "" };
    await assert.rejects(s.dispatcher.answer(answer), { type: "bad_answer" });
    s.dispatcher.cancel("c1");
    await running;
  });

  const REFUSED: readonly (readonly [name: string, answer: (id: string) => Partial<Answer>, type: string])[] = [
    ["another preview than the one shown", () => ({ write: "v_other" }), "stale_revision"],
    ["a write with an edited input", (write) => ({ write, updatedInput: { text: "y" } }), "bad_answer"],
    ["a write that is remembered", (write) => ({ write, remember: { scope: "session" } }), "bad_answer"],
    ["a rejection that writes", (write) => ({ write, outcome: "reject" }), "bad_answer"],
    ["a request for a preview in place of an answer", () => ({ outcome: "preview" }), "bad_answer"],
  ];
  for (const [name, answer, type] of REFUSED)
    test(`${name} is refused, and the approval stays open`, async (t) => {
      const s = await scene(t, commandTool(), { answers: [wantsPreview] });
      const running = s.process([call("command", "x", "c1")]);
      await until(() => s.shown.length === 2, "the second card");
      const [, card] = s.shown;
      const id = card?.details.effect?.state === "shown" ? card.details.effect.id : "";
      await assert.rejects(s.dispatcher.answer({ ...says(card?.id ?? ""), ...answer(id) }), { type });
      assert.equal(s.dispatcher.pending().length, 1);
      s.dispatcher.cancel("c1");
      await running;
      assert.deepEqual([s.ran, textIn(s.files)], [[], "one"]);
    });

  test("a preview that fails is shown as unavailable with its reason", async (t) => {
    const failing = commandTool(() => {
      throw new Error("no room on the disk");
    });
    const s = await scene(t, failing, { answers: [wantsPreview, () => "reject"] });
    await s.process([call("command", "x", "c1")]);
    assert.deepEqual(s.shown[1]?.details.effect, { state: "unavailable", reason: "no room on the disk" });
  });

  test("where previews cannot work, the card says why and asks as before", async (t) => {
    const s = await scene(t, commandTool(undefined, "Bubblewrap is not installed."), { answers: [() => "approve"] });
    assert.equal(only(await s.process([call("command", "x", "c1")])).outcome, "succeeded");
    assert.deepEqual(s.shown[0]?.details.effect, { state: "unavailable", reason: "Bubblewrap is not installed." });
    assert.deepEqual([s.previewed, s.ran], [[], ["x"]]);
  });

  test("if no person can be asked now, nothing is tried out for a preview", async (t) => {
    const tried: string[] = [];
    const commands = commandTool();
    const effectPreview = { run: async () => DID, unavailable: () => void tried.push("x") };
    const untried = textTool("command", "execute", { run: () => "ran", effectPreview });
    const s = await scene(t, { ...commands, tool: untried }, { person: "nobody", deps: { onAsk: "park" } });
    const { results } = await s.process([call("command", "x", "c1")]);
    assert.deepEqual([results.map(({ outcome }) => outcome), tried], [["waiting"], []]);
  });

  test("with setting off, a card offers no preview, and one that is requested does not run", async (t) => {
    const s = await scene(t, commandTool(), { policy: { effectPreview: "off" }, answers: [wantsPreview, () => "reject"] });
    await s.process([call("command", "x", "c1")]);
    assert.deepEqual([s.shown[0]?.details.effect, s.previewed], [undefined, []]);
  });

  test("with setting always, the first card shows the preview", async (t) => {
    const s = await scene(t, commandTool(), { policy: { effectPreview: "always" }, answers: [writes] });
    await s.process([call("command", "x", "c1")]);
    assert.deepEqual([s.shown.length, s.previewed, textIn(s.files)], [1, ["x"], "new"]);
  });

  test("a denied call is never previewed", async (t) => {
    const policy = { effectPreview: "always", rules: { user: { deny: ["command"] } } } as const;
    const s = await scene(t, commandTool(), { policy });
    assert.equal(only(await s.process([call("command", "x", "c1")])).outcome, "denied");
    assert.deepEqual(s.previewed, []);
  });

  test("an answer from elsewhere ends a running preview and decides", async (t) => {
    const commands = commandTool(
      (signal) => new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason), { once: true })),
    );
    const s = await scene(t, commands, { answers: [wantsPreview] });
    const running = s.process([call("command", "x", "c1")]);
    await until(() => s.previewed.length === 1, "the preview");
    await s.dispatcher.answer(says(s.shown[0]?.id ?? ""));
    assert.deepEqual([only(await running).outcome, s.ran], ["succeeded", ["x"]]);
  });

  test("cancelling a call stops its preview", async (t) => {
    const commands = commandTool(
      (signal) => new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason), { once: true })),
    );
    const s = await scene(t, commands, { answers: [wantsPreview] });
    const running = s.process([call("command", "x", "c1")]);
    await until(() => s.previewed.length === 1, "the preview");
    s.dispatcher.cancel("c1");
    assert.equal(only(await running).outcome, "cancelled");
    assert.equal((await s.stored("preview.ended"))[0]?.body.problem, "The preview was cancelled.");
  });
});

describe("a preview after a restart", () => {
  const next = (t: TestContext, s: Scene, answers: readonly PersonAnswer[]): Promise<ProposalBench> =>
    proposalBench(t, {
      beside: s,
      policy: { effectPreview: "offer" },
      files: s.files,
      reopen: { id: s.session.id, takeOver: true },
      person: scriptedApprover(answering(answers)),
    });

  test("a parked approval keeps its preview, and a later process writes it", async (t) => {
    const s = await scene(t, commandTool(), { policy: { effectPreview: "always" }, person: "nobody", deps: { onAsk: "park" } });
    const { results } = await s.process([call("command", "x", "c1")]);
    assert.equal(results[0]?.outcome, "waiting");
    const later = await next(t, s, [writes]);
    assert.equal(only(await later.resume()).outcome, "succeeded");
    assert.deepEqual([s.previewed, s.ran, textIn(s.files)], [["x"], [], "new"]);
  });

  for (const fault of ["crash-before", "crash", "crash-after"] as const)
    test(`a process that ends while it writes (${fault}) leaves all or nothing, and the command never runs`, async (t) => {
      const s = await scene(t, commandTool(), { answers: [wantsPreview, writes] });
      s.files.faults.push(fault);
      void s.process([call("command", "x", "c1")]);
      await until(() => s.files.reached.crashed === 1, "the crash");
      const later = await next(t, s, []);
      const [report] = (await later.resume()).results;
      assert.deepEqual([report?.outcome, textIn(s.files)], fault === "crash-before" ? ["failed", "one"] : ["succeeded", "new"]);
      assert.deepEqual(s.ran, []);
    });
});
