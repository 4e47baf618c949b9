import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { defineTool, type Tool } from "@assent/core";
import { z } from "zod";
import { readHistory } from "../../../src/index.ts";
import { forkText, HistoryError } from "../../../src/loop/history/recorded-history.ts";
import { type Rehearsal, rehearse } from "../../rehearsal.ts";

type Forking = Rehearsal & { readonly seq: () => number; readonly live: () => unknown };

/** A conversation whose second turn calls `fork` and `echo`; the fork is made while both run. */
async function forking(): Promise<Forking> {
  let seq = 0;
  let live: unknown;
  const forked = Promise.withResolvers<string>();
  const fork: Tool = defineTool({
    name: "fork",
    description: "Forks.",
    kind: "read",
    input: z.object({}),
    run: async (_input, { callId }) => {
      if (callId === "f1") return await forked.promise;
      seq = made.session.state.seq;
      live = await made.conversation.fork(forkText(callId));
      forked.resolve("forked");
      return "forked";
    },
  });
  const made = await rehearse(
    `turns:
  - { say: I look., calls: [{ tool: echo, id: c1, input: { text: hello } }] }
  - { say: I fork., calls: [{ tool: fork, id: f1 }, { tool: fork, id: c1 }] }
  - { say: done }`,
    { tools: [fork] },
  );
  assert.deepEqual(await made.send("go"), { reason: "done", text: "done" });
  return { ...made, seq: () => seq, live: () => live };
}

const CALL = { call: "c1#2", task: "t_1" };

describe("a fork's history", () => {
  test("begins with the other session's, up to and with the answer that made the call", async () => {
    const made = await forking();
    const forked = { session: made.session.id, seq: made.seq() };
    const child = await rehearse("turns: [{ say: mine }]", {
      beside: made,
      create: { forked, parent: { ...CALL, session: forked.session } },
    });
    assert.deepEqual(
      child.messages.map(({ role }) => role),
      ["user", "assistant", "tool", "assistant", "tool"],
    );
    assert.deepEqual(await child.send("side"), { reason: "done", text: "mine" });
    const { messages, providerId } = await readHistory(child.ledger, child.session.id);
    assert.deepEqual(messages, child.messages.slice(1));
    assert.equal(providerId, "script:1", "the turn is that of its own script");
  });

  test("a fork's history equals the live conversation, and later turns of the parent are not in it", async () => {
    const made = await forking();
    const forked = { session: made.session.id, seq: made.seq() };
    const child = await rehearse("turns: []", { beside: made, create: { forked, parent: { ...CALL, session: forked.session } } });
    const [system, ...live] = made.live() as readonly { readonly role: string }[];
    assert.equal(system?.role, "system");
    assert.deepEqual(child.messages, live);
    assert.doesNotMatch(JSON.stringify(child.messages), /forked|done/);
  });

  test("its own call and the calls beside it have results that say so", async () => {
    const made = await forking();
    const forked = { session: made.session.id, seq: made.seq() };
    const child = await rehearse("turns: []", { beside: made, create: { forked, parent: { ...CALL, session: forked.session } } });
    const texts = [...JSON.stringify(child.messages.at(-1)).matchAll(/"toolCallId":"([^"]+)".*?"value":"([^"]+)"/g)].map(([, id, text]) => [
      id,
      text,
    ]);
    assert.deepEqual(texts, [
      ["f1", "Handled by the parent."],
      ["c1_2", "You are the fork started by this call."],
    ]);
  });

  test("a call that had ended keeps its result; a fork at the end of a turn has nothing to make up", async () => {
    const made = await forking();
    const forked = { session: made.session.id, seq: made.session.state.seq };
    const child = await rehearse("turns: []", { beside: made, create: { forked } });
    assert.deepEqual(child.messages, made.messages.slice(1));
  });

  test("a fork of a fork begins with both", async () => {
    const made = await forking();
    const one = await rehearse("turns: [{ say: mine }]", {
      beside: made,
      create: { forked: { session: made.session.id, seq: made.session.state.seq } },
    });
    await one.send("side");
    const two = await rehearse("turns: []", { beside: made, create: { forked: { session: one.session.id, seq: one.session.state.seq } } });
    assert.deepEqual(two.messages, one.messages.slice(1));
    assert.match(JSON.stringify(two.messages), /hello[\s\S]*mine/);
  });

  const MISSING: readonly [sentence: string, forked: (made: Rehearsal) => { readonly session: string; readonly seq: number }][] = [
    ["a session that is not there", () => ({ session: "s_gone", seq: 3 })],
    ["a place that the session does not reach", (made) => ({ session: made.session.id, seq: 9_999 })],
  ];
  for (const [sentence, forked] of MISSING)
    test(`${sentence} is a HistoryError`, async () => {
      const made = await forking();
      const child = rehearse("turns: []", { beside: made, create: { forked: forked(made) } });
      await assert.rejects(child, (error) => error instanceof HistoryError && error.type === "fork_history_missing");
    });
});
