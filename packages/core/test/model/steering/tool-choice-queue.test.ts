import assert from "node:assert/strict";
import { describe, test } from "node:test";
import fc from "fast-check";
import {
  type Choice,
  clear,
  consumeLastServedLabel,
  EMPTY_QUEUE,
  inspect,
  markInvoked,
  next,
  push,
  pushOnce,
  pushSequence,
  reject,
  removeByLabel,
  resolve,
  type ToolChoiceQueue,
} from "../../../src/model/steering/tool-choice-queue.ts";

const a: Choice = { tool: "a" };
const b: Choice = { tool: "b" };

/** Operations in one line each; `next` and `label` record what they served. */
type Op = (at: { queue: ToolChoiceQueue; seen: unknown[] }) => void;
const once =
  (choice: Choice, options = {}): Op =>
  (at) => {
    at.queue = pushOnce(at.queue, choice, options);
  };
const sequence =
  (choices: readonly Choice[], options = {}): Op =>
  (at) => {
    at.queue = pushSequence(at.queue, choices, options);
  };
const serve =
  (active?: readonly string[]): Op =>
  (at) => {
    const served = next(at.queue, active ? { active } : {});
    at.queue = served.queue;
    at.seen.push(served.choice);
  };
const by =
  (change: (queue: ToolChoiceQueue) => ToolChoiceQueue): Op =>
  (at) => {
    at.queue = change(at.queue);
  };
const label: Op = (at) => {
  const told = consumeLastServedLabel(at.queue);
  at.queue = told.queue;
  at.seen.push(told.label);
};
const invoked = by(markInvoked);
const done = by(resolve);
const lost = (reason: Parameters<typeof reject>[1]): Op => by((queue) => reject(queue, reason));

const requeue = { onRejected: "requeue" } as const;

const CASES: readonly [sentence: string, operations: readonly Op[], seen: readonly unknown[]][] = [
  [
    "a choice is served once, and its label told once",
    [once(a, { label: "l" }), serve(), invoked, done, serve(), label, label],
    [a, undefined, "l", undefined],
  ],
  ["a sequence gives one choice per turn", [sequence([a, "none"]), serve(), invoked, done, serve(), done, serve()], [a, "none", undefined]],
  ["later entries wait for a sequence", [sequence([a, b]), once("none"), serve(), done, serve(), done, serve()], [a, b, "none"]],
  ["what is pushed now comes first", [once(a), once(b, { now: true }), serve()], [b]],
  [
    "what is pushed now comes before the rest of a half-served sequence",
    [sequence([a, "none"]), serve(), invoked, done, once(b, { now: true }), serve()],
    [a, b],
  ],
  [
    "an aborted choice comes again, then the rest of its sequence",
    [sequence([a, "none"], { onRejected: { aborted: "requeue" } }), serve(), lost("aborted"), serve(), invoked, done, serve()],
    [a, a, "none"],
  ],
  ["a turn that is sampled again gets the same choice", [sequence([a, b]), serve(), serve(), invoked, done, serve()], [a, a, b]],
  [
    "a forced tool that was not called is gone, and nothing counts as served",
    [once(a, { label: "l" }), serve(), done, serve(), label],
    [a, undefined, undefined],
  ],
  ["unless its directive asks for it again", [once(a, { onRejected: { not_invoked: "requeue" } }), serve(), done, serve()], [a, a]],
  [
    "what is removed while in flight does not come again",
    [once(a, { label: "l", ...requeue }), serve(), by((queue) => removeByLabel(queue, "l")), serve()],
    [a, undefined],
  ],
  [
    "a choice that was put back is removed by its label too",
    [once(a, { label: "l", ...requeue }), serve(), lost("error"), by((queue) => removeByLabel(queue, "l")), serve()],
    [a, undefined],
  ],
  [
    "clearing empties everything",
    [once(a, { label: "l", ...requeue }), serve(), once(b), by(clear), serve(), label],
    [a, undefined, undefined],
  ],
  ["a tool that is gone takes the rest of its sequence along", [sequence([{ tool: "gone" }, "none"]), serve(["x"])], [undefined]],
  ["the entry behind a tool that is gone is tried", [sequence([{ tool: "gone" }, "none"]), once(b), serve(["b"])], [b]],
  [
    "a choice that was put back still takes the rest of its sequence along when its tool is gone",
    [sequence([a, "none"], requeue), serve(), lost("error"), serve(["x"])],
    [a, undefined],
  ],
  [
    "drop_sequence removes the rest",
    [sequence([a, "none"], { onRejected: "drop_sequence" }), serve(), lost("aborted"), serve()],
    [a, undefined],
  ],
  ["drop loses that choice alone", [sequence([a, b]), serve(), lost("error"), serve()], [a, b]],
  [
    "a policy for another reason does not count",
    [once(a, { onRejected: { aborted: "requeue" } }), serve(), lost("error"), serve()],
    [a, undefined],
  ],
  [
    "none, auto and required are served by any normal end",
    [sequence(["none", "auto", "required"]), serve(), done, serve(), done, serve(), done, label],
    ["none", "auto", "required", "anonymous"],
  ],
  ["without anything in flight nothing changes", [invoked, done, lost("error"), serve()], [undefined]],
];

describe("the tool-choice queue", () => {
  for (const [sentence, operations, seen] of CASES) {
    test(sentence, () => {
      const at = { queue: EMPTY_QUEUE, seen: [] as unknown[] };
      for (const operation of operations) operation(at);
      assert.deepEqual(at.seen, seen);
    });
  }

  test("a push without choices changes nothing", () => assert.equal(push(EMPTY_QUEUE, { choices: [] }), EMPTY_QUEUE));

  test("what a person sees names what is in flight and what waits, with how often it came back", () => {
    const served = next(pushSequence(EMPTY_QUEUE, [a, "none"], { label: "l", ...requeue })).queue;
    assert.deepEqual(inspect(served), { inFlight: { label: "l", choice: a }, queued: [{ label: "l", choices: ["none"], requeued: 0 }] });
    assert.deepEqual(inspect(reject(served, "error")), {
      queued: [
        { label: "l", choices: [a], requeued: 1 },
        { label: "l", choices: ["none"], requeued: 0 },
      ],
    });
  });

  test("no operation changes the queue it is given, and nothing is served that was not pushed", () => {
    const choice = fc.constantFrom<Choice>("auto", "none", "required", a, b);
    const operation = fc.oneof(
      fc
        .record({
          choices: fc.array(choice, { maxLength: 3 }),
          now: fc.boolean(),
          onRejected: fc.constantFrom("requeue", "drop", "drop_sequence"),
        })
        .map((options) => (queue: ToolChoiceQueue) => push(queue, options)),
      fc
        .constantFrom("aborted", "error", "not_invoked", "removed", "cleared", "unavailable")
        .map((reason) => (queue: ToolChoiceQueue) => reject(queue, reason)),
      fc.constantFrom(markInvoked, resolve, clear, (queue: ToolChoiceQueue) => next(queue, { active: ["a"] }).queue),
    );
    fc.assert(
      fc.property(fc.array(operation), (operations) => {
        let queue = EMPTY_QUEUE;
        for (const change of operations) {
          const before = structuredClone(queue);
          const after = change(queue);
          assert.deepEqual(queue, before);
          const flying = after.inFlight?.choice;
          assert.ok(flying === undefined || typeof flying === "string" || flying.tool === "a");
          queue = after;
        }
      }),
    );
  });
});
