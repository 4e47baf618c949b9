import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { Answer } from "../src/model/answer.ts";
import type { Approver, OpenApproval } from "../src/ports.ts";

/** An approver and its person, who answers only when `answer` is called. */
export type ApproverUnderTest = {
  readonly approver: Approver;
  readonly answer: (approval: OpenApproval, outcome: Answer["outcome"]) => void | Promise<void>;
  readonly close?: () => Promise<void>;
};

type ApproverCase = { readonly title: string; readonly run: (subject: ApproverUnderTest) => Promise<void> };

/** Creates a sample approval. */
export function sampleApproval(over: Partial<OpenApproval> = {}): OpenApproval {
  return {
    id: "a_sample",
    revision: 1,
    sessionId: "s_sample",
    callId: "c1",
    tool: "note",
    title: "Write a note",
    fingerprint: "fingerprint",
    input: { text: "hello" },
    cwd: "/workspace",
    reason: "default",
    source: "default",
    rule: null,
    explicitAsk: false,
    details: { type: "info", prompt: "Write a note?" },
    suggestions: ["note"],
    expiresAt: null,
    ...over,
  };
}

const CASES: readonly ApproverCase[] = [
  {
    title: "it says whether a person can be reached",
    run: async ({ approver }) => assert.equal(approver.available(), true),
  },
  {
    title: "an answer names the approval it was given to",
    run: async ({ approver, answer }) => {
      for (const outcome of ["approve", "reject"] as const) {
        const approval = sampleApproval({ id: `a_${outcome}` });
        const asking = approver.ask(approval, new AbortController().signal);
        await answer(approval, outcome);
        const given = await asking;
        assert.deepEqual([given?.approval, given?.outcome], [approval.id, outcome]);
        assert.ok(given?.revision === undefined || given.revision === approval.revision);
        assert.ok(given?.fingerprint === undefined || given.fingerprint === approval.fingerprint);
      }
    },
  },
  {
    title: "it stops asking when the signal aborts, and silence is not an answer",
    run: async ({ approver }) => {
      const controller = new AbortController();
      const asking = approver.ask(sampleApproval(), controller.signal);
      controller.abort();
      assert.equal(await asking, undefined);
    },
  },
  {
    title: "it does not ask what was withdrawn before",
    run: async ({ approver }) => assert.equal(await approver.ask(sampleApproval(), AbortSignal.abort()), undefined),
  },
  {
    title: "withdrawing one approval leaves another open",
    run: async ({ approver, answer }) => {
      const withdrawn = new AbortController();
      const kept = sampleApproval({ id: "a_kept", callId: "c2" });
      const first = approver.ask(sampleApproval(), withdrawn.signal);
      const second = approver.ask(kept, new AbortController().signal);
      withdrawn.abort();
      assert.equal(await first, undefined);
      await answer(kept, "approve");
      assert.equal((await second)?.approval, "a_kept");
    },
  },
  {
    title: "an answer given to one revision is not given again to the next",
    run: async ({ approver, answer }) => {
      const { signal } = new AbortController();
      const first = sampleApproval();
      const asking = approver.ask(first, signal);
      await answer(first, "approve");
      await asking;
      const next = sampleApproval({ revision: 2, fingerprint: "another fingerprint", input: { text: "goodbye" } });
      const askingAgain = approver.ask(next, signal);
      const given = await Promise.race([askingAgain, Promise.resolve(answer(next, "reject")).then(() => askingAgain)]);
      assert.deepEqual([given?.approval, given?.revision, given?.outcome], [next.id, 2, "reject"]);
    },
  },
  {
    title: "asking never throws: what goes wrong is a rejected promise, and nothing is approved",
    run: async ({ approver }) => {
      const controller = new AbortController();
      // approvals of other versions must not be approved by mistake
      const strange = { ...sampleApproval(), details: { type: "unheard-of" } } as unknown as OpenApproval;
      let asking: Promise<Answer | undefined> | undefined;
      assert.doesNotThrow(() => {
        asking = approver.ask(strange, controller.signal);
      });
      controller.abort();
      const [settled] = await Promise.allSettled([asking]);
      assert.ok(settled?.status === "rejected" || settled?.value === undefined);
    },
  },
];

/** Registers the contract of the `Approver` port as tests; `make` creates an approver for each case. */
export function testApprover(name: string, make: () => Promise<ApproverUnderTest>): void {
  describe(name, () => {
    for (const { title, run } of CASES) {
      test(title, { timeout: 60_000 }, async () => {
        const subject = await make();
        try {
          await run(subject);
        } finally {
          await subject.close?.();
        }
      });
    }
  });
}
