import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { LedgerError } from "@assent/core";
import { readHistory } from "../../src/index.ts";
import { rehearse } from "../rehearsal.ts";

describe("a conversation", () => {
  test("a conversation continues while the model calls tools, and ends with its last text", async () => {
    const { send, events, player } = await rehearse(`
turns:
  - say: I look.
    calls: [{ tool: echo, id: c1, input: { text: hello } }]
  - expect: { result: { call: c1, contains: hello, outcome: succeeded }, toolChoice: null, tools: { has: [echo], hasNot: [resolve] } }
    say: Done.
`);
    assert.deepEqual(await send("go"), { reason: "done", text: "Done." });
    player.assertUsed();
    assert.deepEqual(
      (await events("turn.started")).map(({ body }) => body.turn),
      [1, 2],
    );
    assert.deepEqual(
      (await events("call.proposed")).map(({ body }) => body.turn),
      [1],
    );
    assert.deepEqual(
      (await events("turn.ended")).map(({ body }) => body.reason),
      ["tool-calls", "stop"],
    );
  });

  const ENDS: readonly [sentence: string, script: string, end: object][] = [
    [
      "a script that runs out fails the run after the call ran",
      "turns: [{ calls: [{ tool: echo, input: { text: a } }] }]",
      {
        reason: "failed",
        text: "",
        error: {
          type: "script_exhausted",
          message: "The script has only 1 turn, and the model was asked once more. Add what it says next, for example: - say: Done.",
        },
      },
    ],
    [
      "a provider's failure is an error of the run",
      "turns: [{ error: { status: 500, message: boom } }]",
      { reason: "failed", text: "", error: { type: "provider_error", message: "boom (status 500)" } },
    ],
    [
      "what is expected of the request is said with what it is",
      "turns: [{ expect: { toolChoice: resolve }, say: a }]",
      {
        reason: "failed",
        text: "",
        error: { type: "expectation_failed", message: "Script of main, turn 1: toolChoice: expected resolve, actual nothing forced" },
      },
    ],
    [
      "the outcome and type of a result can be expected",
      "turns: [{ calls: [{ tool: nobody, id: c1 }] }, { expect: { result: { call: c1, outcome: invalid, type: tool_not_registered } }, say: ok }]",
      { reason: "done", text: "ok" },
    ],
    [
      "a result that is not there is missed",
      "turns: [{ expect: { result: { call: c9 } }, say: a }]",
      {
        reason: "failed",
        text: "",
        error: { type: "expectation_failed", message: "Script of main, turn 1: result: expected one of call c9, actual none" },
      },
    ],
    [
      "a cut answer runs no edit",
      "turns: [{ truncated: true, calls: [{ tool: echo, id: c1, raw: '{' }] }, { expect: { result: { call: c1, outcome: invalid } }, say: ok }]",
      { reason: "done", text: "ok" },
    ],
  ];
  for (const [sentence, script, end] of ENDS) {
    test(sentence, async () => {
      const { send } = await rehearse(script);
      assert.deepEqual(await send("go"), end);
    });
  }

  test("unused turns are an error, unless the script allows them", async () => {
    const two = "turns: [{ say: a }, { say: b }]";
    const left = await rehearse(two);
    await left.send("go");
    assert.throws(() => left.player.assertUsed(), { type: "script_unused", message: /1 turn of the script was not used/ });
    const allowed = await rehearse(`${two}\nallowUnused: true`);
    await allowed.send("go");
    allowed.player.assertUsed();
  });

  test("an abort before a turn ends the run as cancelled", async () => {
    const { conversation } = await rehearse("turns: [{ say: a }]");
    assert.equal((await conversation.send("go", AbortSignal.abort())).reason, "cancelled");
  });

  test("the same calls over and over are warned about, then stop the run", async () => {
    const same = "{ calls: [{ tool: echo, input: { text: a } }] }";
    const { send } = await rehearse(
      `turns: [${same}, ${same}, { expect: { reminders: [{ contains: You have made the same tool call 2 times in a row }] }, calls: [{ tool: echo, input: { text: a } }] }]\nallowUnused: true`,
      { talk: { maxConsecutiveToolCalls: 2 } },
    );
    const end = await send("go");
    assert.equal(end.error?.type, "loop_detected");
  });

  test("the record gives back the history that the model was shown", async () => {
    const { send, ledger, session } = await rehearse(`
turns:
  - say: I look.
    calls: [{ tool: echo, id: c1, input: { text: hello } }, { tool: echo, id: c1, input: { text: twice } }]
  - say: Done.
`);
    await send("go");
    const { messages, providerId } = await readHistory(ledger, session.id);
    assert.deepEqual(
      messages.map(({ role }) => role),
      ["user", "assistant", "tool", "assistant"],
    );
    const ids = messages.flatMap(({ role, content }) =>
      role === "tool" ? content.map((part) => ("toolCallId" in part ? part.toolCallId : "")) : [],
    );
    assert.deepEqual(ids, ["c1", "c1_2"], "every call has one result, under an id of its own that every provider takes");
    assert.equal(providerId, "script:2");
  });

  test("an answer whose calls were not proposed is asked for again, so its id does not count", async () => {
    const { send, ledger, session } = await rehearse("turns: [{ say: Hello. }]");
    await send("go");
    const content = [{ type: "call", call: "c1", tool: "echo", input: { text: "a" } }] as const;
    const answer = { turn: 2, content, stop: "tool-calls", usage: null, model: null, providerId: "script:2" };
    await session.record([session.draft("message.assistant", answer)], "normal");
    assert.equal((await readHistory(ledger, session.id)).providerId, "script:1");
    await session.record([session.draft("message.user", { turn: 2, content: "and?", origin: "user" })], "normal");
    const { messages, providerId } = await readHistory(ledger, session.id);
    assert.deepEqual([providerId, messages.map(({ role }) => role)], ["script:1", ["user", "assistant", "user"]]);
  });

  for (const error of ["store_locked", "store_io"] as const) {
    test(`nothing is proposed of an answer that could not be stored (${error})`, async () => {
      const made = await rehearse("turns: [{ calls: [{ tool: echo, id: c1, input: { text: a } }] }]", {
        ledger: (ledger) =>
          Object.assign(Object.create(ledger), {
            append: (...given: Parameters<typeof ledger.append>) =>
              given[2].events.some(({ type }) => type === "message.assistant")
                ? Promise.reject(new LedgerError(error, "refused"))
                : ledger.append(...given),
          }),
      });
      await assert.rejects(made.send("go"), { type: error });
      assert.deepEqual([await made.events("call.proposed"), made.session.state.calls.size], [[], 0]);
      assert.ok(!made.heard.some(({ type }) => type === "assistant" || type === "dispatch"), "and nobody is told of it");
    });
  }

  test("a notice is delivered once, between turns, and is not a prompt", async () => {
    const { send, session, events } = await rehearse(
      "turns: [{ expect: { notices: [] }, say: hello }, { expect: { notices: [{ contains: tea }] }, say: a }, { expect: { notices: [] }, say: b }]",
    );
    await session.record(
      [session.draft("notice.queued", { notice: "n_1", kind: "test", modelText: "<n>tea is ready</n>", displayText: "tea" })],
      "normal",
    );
    assert.equal((await send("go")).error, undefined);
    assert.equal((await send("again")).error, undefined);
    assert.deepEqual(
      (await events("notice.delivered")).map(({ body }) => body.ids),
      [["n_1"]],
    );
  });
});
