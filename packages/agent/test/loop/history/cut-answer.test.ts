import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { LanguageModelV4StreamPart } from "@ai-sdk/provider";
import type { RunEnd } from "../../../src/index.ts";
import { readHistory } from "../../../src/index.ts";
import { type Rehearsal, rehearse } from "../../rehearsal.ts";
import { begun, brokenModel, call, finish, said, thought } from "../model/broken-model.ts";

type Cut = Rehearsal & { readonly end: RunEnd; readonly model: ReturnType<typeof brokenModel> };

/** A run whose only answer breaks off after these parts. An abort comes once the last of them was heard. */
async function cut(parts: readonly LanguageModelV4StreamPart[], how: "fail" | "hang"): Promise<Cut> {
  const stop = new AbortController();
  const model = brokenModel([{ parts, ends: how }, ...(how === "fail" ? Array.from({ length: 4 }, () => ({ parts, ends: how })) : [])]);
  let left = parts.filter(({ type }) => type.endsWith("-delta")).length;
  const made = await rehearse("turns: []", {
    talk: {
      model: () => model,
      observe: (event) => {
        made.heard.push(event);
        if (event.type === "delta") left -= 1;
        if (how === "hang" && left === 0) stop.abort();
      },
    },
  });
  const running = made.conversation.send("go", stop.signal);
  for (let waits = 0; how === "fail" && waits < 6; waits += 1) await made.clock.advance(60_000);
  return { ...made, model, end: await running };
}

const shown = ({ heard }: Rehearsal) => heard.flatMap((event) => (event.type === "assistant" ? [event.answer] : []));

describe("an answer that breaks off", () => {
  for (const [how, stop, reason] of [
    ["hang", "aborted", "cancelled"],
    ["fail", "error", "failed"],
  ] as const) {
    test(`what arrived of a broken answer is recorded, emitted and in the history: ${stop}`, async () => {
      const made = await cut(begun("I beg"), how);
      assert.deepEqual([made.end.reason, made.end.text], [reason, "I beg"]);
      const [message, ...more] = await made.events("message.assistant");
      assert.deepEqual([message?.body.stop, message?.body.content, more.length], [stop, [{ type: "text", text: "I beg" }], 0]);
      assert.deepEqual(
        (await made.events("turn.ended")).map(({ body }) => body.reason),
        [stop],
      );
      assert.deepEqual(
        shown(made).map((answer) => [answer.text, answer.stop]),
        [["I beg", stop]],
      );
      await made.send("go on");
      assert.deepEqual(
        made.model.asked.at(-1)?.prompt.map(({ role }) => role),
        ["system", "user", "assistant", "user"],
      );
    });

    test(`a call whose arguments did not arrive whole is dropped: ${stop}`, async () => {
      const made = await cut([...said("I look."), ...call("c1", { whole: false })], how);
      assert.deepEqual(
        (await made.events("message.assistant"))[0]?.body.content.map(({ type }) => type),
        ["text"],
      );
      assert.deepEqual(await made.events("call.proposed"), []);
    });

    test(`a complete call of a broken answer is emitted but never run, and the model learns that: ${stop}`, async () => {
      const made = await cut([...call("c1", { whole: true }), ...begun("and")], how);
      assert.deepEqual(
        shown(made)[0]?.calls.map(({ id }) => id),
        ["c1"],
      );
      assert.deepEqual(await made.events("call.proposed"), []);
      await made.send("go on");
      const results = made.model.asked.at(-1)?.prompt.filter(({ role }) => role === "tool") ?? [];
      assert.equal(results.length, 1);
      assert.match(JSON.stringify(results), /Not run: the answer that made this call was cut off/);
    });

    test(`the record gives back what the model was shown of it: ${stop}`, async () => {
      const made = await cut([...call("c1", { whole: true }), ...begun("and")], how);
      await made.send("go on");
      const { messages } = await readHistory(made.ledger, made.session.id);
      assert.deepEqual(messages, made.messages.slice(1));
    });

    test(`unsigned reasoning is recorded, and does not form a message alone: ${stop}`, async () => {
      const made = await cut(thought("Let me"), how);
      assert.equal((await made.events("message.assistant"))[0]?.body.content[0]?.type, "reasoning");
      await made.send("go on");
      assert.deepEqual(
        made.model.asked.at(-1)?.prompt.map(({ role }) => role),
        ["system", "user", "user"],
      );
    });

    test(`and beside a text it is left out of the history: ${stop}`, async () => {
      const made = await cut([...thought("Let me"), ...begun("I beg")], how);
      const parts = made.messages.flatMap(({ role, content }) => (role === "assistant" ? content.map(({ type }) => type) : []));
      assert.deepEqual(parts, ["text"]);
    });

    test(`every start has its stop: ${stop}`, async () => {
      const made = await cut([...begun("a"), ...thought("b"), ...call("c1", { whole: false })], how);
      const counted = (type: string): number => made.heard.filter((event) => event.type === type).length;
      assert.equal(counted("block_start"), 3 * counted("message_start"));
      assert.equal(counted("block_stop"), counted("block_start"));
      assert.equal(counted("message_stop"), counted("message_start"));
      const last = made.heard.findLast(({ type }) => type === "message_stop");
      assert.deepEqual(last, { type: "message_stop", turn: 1, stop });
    });
  }

  test("a later call of the same id is another one", async () => {
    const model = brokenModel([
      { parts: call("c1", { whole: true }), ends: "fail" },
      { parts: [...call("c1", { whole: true }), finish("tool-calls")], ends: "end" },
    ]);
    const made = await rehearse("turns: []", { talk: { model: () => model } });
    assert.equal((await made.send("go")).reason, "failed");
    assert.equal((await made.send("again")).reason, "done");
    const ids = made.messages.flatMap(({ role, content }) =>
      role === "assistant" ? content.flatMap((part) => (part.type === "tool-call" ? [part.toolCallId] : [])) : [],
    );
    assert.deepEqual(ids, ["c1_cut1", "c1"]);
    assert.deepEqual((await readHistory(made.ledger, made.session.id)).messages, made.messages.slice(1));
  });

  test("an answer of which nothing arrived is not recorded", async () => {
    const made = await cut([], "fail");
    assert.equal(made.end.error?.type, "provider_error");
    assert.deepEqual([await made.events("message.assistant"), shown(made)], [[], []]);
  });

  test("a request that is made again keeps nothing of the answer that broke off", async () => {
    const model = brokenModel([
      { parts: begun("I beg"), ends: "fail" },
      { parts: [...said("Done."), finish("stop")], ends: "end" },
    ]);
    const made = await rehearse("turns: []", { talk: { model: () => model } });
    const running = made.send("go");
    await made.clock.advance(1_000);
    assert.deepEqual([(await running).text, (await made.events("message.assistant")).length], ["Done.", 1]);
    assert.deepEqual(
      made.heard.flatMap((event) => (event.type === "message_stop" ? [event.stop] : [])),
      ["error", "stop"],
    );
  });

  test("text, reasoning and arguments are streamed in their blocks", async () => {
    const model = brokenModel([
      { parts: [...thought("hm"), ...said("I look."), ...call("c1", { whole: true }), finish("tool-calls")], ends: "end" },
    ]);
    const made = await rehearse("turns: []", { talk: { model: () => model } });
    await made.send("go");
    const first = made.heard.filter(
      (event) => "turn" in event && event.turn === 1 && event.type !== "dispatch" && event.type !== "assistant",
    );
    assert.deepEqual(first, [
      { type: "message_start", turn: 1 },
      { type: "block_start", turn: 1, index: 0, block: { type: "reasoning" } },
      { type: "delta", turn: 1, index: 0, delta: { type: "reasoning", delta: "hm" } },
      { type: "block_start", turn: 1, index: 1, block: { type: "text" } },
      { type: "delta", turn: 1, index: 1, delta: { type: "text", delta: "I look." } },
      { type: "block_stop", turn: 1, index: 1 },
      { type: "block_start", turn: 1, index: 2, block: { type: "call", id: "c1", tool: "echo" } },
      { type: "delta", turn: 1, index: 2, delta: { type: "input", delta: '{"text":"x"}' } },
      { type: "block_stop", turn: 1, index: 2 },
      { type: "block_stop", turn: 1, index: 0 },
      { type: "message_stop", turn: 1, stop: "tool-calls" },
    ]);
  });

  test("an observer that throws changes nothing", async () => {
    const made = await rehearse("turns: [{ say: fine }]", {
      talk: {
        observe: () => {
          throw new Error("no");
        },
      },
    });
    assert.deepEqual(await made.send("go"), { reason: "done", text: "fine" });
  });
});
