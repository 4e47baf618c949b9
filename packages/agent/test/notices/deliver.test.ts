import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { readHistory } from "../../src/index.ts";
import { markOf } from "../../src/loop/history/marks.ts";
import { type Rehearsal, rehearse } from "../rehearsal.ts";

const { signal } = new AbortController();

async function queue({ session }: Rehearsal, ...notices: readonly (readonly [id: string, kind: string])[]): Promise<void> {
  for (const [id, kind] of notices)
    await session.record(
      [session.draft("notice.queued", { notice: id, kind, modelText: `<${id}>`, displayText: `shown ${id}` })],
      "normal",
    );
}

const only = (...words: readonly string[]): string => `notices: [${words.map((word) => `{ contains: '${word}' }`).join(", ")}]`;

describe("notices are delivered between turns", () => {
  test("a schedule between two tasks splits the join: three turns in that order", async () => {
    const made = await rehearse(
      `turns: [{ expect: { ${only("<n_1>")} }, say: a }, { expect: { ${only("<n_2>")} }, say: b }, { expect: { ${only("<n_3>")} }, say: c }]`,
    );
    await queue(made, ["n_1", "task"], ["n_2", "schedule"], ["n_3", "task"]);
    assert.deepEqual(await made.conversation.resume(signal), { reason: "done", text: "c" });
    made.player.assertUsed();
    assert.deepEqual(
      (await made.events("turn.started")).map(({ body }) => body.origin),
      ["notice", "schedule", "notice"],
    );
    assert.deepEqual(
      (await made.events("notice.delivered")).map(({ body }) => [body.ids, body.turn]),
      [
        [["n_1"], 1],
        [["n_2"], 2],
        [["n_3"], 3],
      ],
    );
  });

  test("two ends of tasks are one turn, in order", async () => {
    const made = await rehearse(`turns: [{ expect: { ${only("<n_1>\\n<n_2>").replaceAll("'", '"')} }, say: a }]`);
    await queue(made, ["n_1", "task"], ["n_2", "task"]);
    assert.deepEqual(await made.conversation.resume(signal), { reason: "done", text: "a" });
    const [told] = made.heard.filter((event) => event.type === "notice");
    assert.deepEqual(told, {
      type: "notice",
      turn: 1,
      text: "<n_1>\n<n_2>",
      displayText: "shown n_1\nshown n_2",
      origin: "notice",
      ids: ["n_1", "n_2"],
    });
  });

  test("two schedules are two turns", async () => {
    const made = await rehearse(`turns: [{ expect: { ${only("<n_1>")} }, say: a }, { expect: { ${only("<n_2>")} }, say: b }]`);
    await queue(made, ["n_1", "schedule"], ["n_2", "schedule"]);
    assert.equal((await made.conversation.resume(signal)).error, undefined);
    made.player.assertUsed();
  });

  test("what a person said goes first, and then the notice, without a further trigger", async () => {
    const made = await rehearse(`turns: [{ expect: { notices: [] }, say: hello }, { expect: { ${only("<n_1>")} }, say: noted }]`);
    await queue(made, ["n_1", "task"]);
    assert.deepEqual(await made.send("go"), { reason: "done", text: "noted" });
    assert.deepEqual(
      (await made.events("turn.started")).map(({ body }) => body.origin),
      ["user", "notice"],
    );
  });

  test("a notice queued while calls run is delivered with their results, in the next turn", async () => {
    const made = await rehearse(
      `turns: [{ calls: [{ tool: echo, id: c1, input: { text: a } }] }, { expect: { result: { call: c1, outcome: succeeded }, ${only("<n_1>")} }, say: done }]`,
      {
        talk: {
          observe: (event) => {
            if (event.type === "assistant" && event.turn === 1) void queue(made, ["n_1", "task"]);
          },
        },
      },
    );
    assert.deepEqual(await made.send("go"), { reason: "done", text: "done" });
    assert.deepEqual(
      made.messages.map(({ role }) => role),
      ["system", "user", "assistant", "tool", "user", "assistant"],
    );
  });

  test("the same batch in a notice turn does not trip the detector", async () => {
    const same = "{ calls: [{ tool: echo, input: { text: a } }] }";
    const made = await rehearse(`turns: [${same}, { say: b }, ${same}, { expect: { reminders: [] }, say: done }]`, {
      talk: { maxConsecutiveToolCalls: 2 },
    });
    await made.send("go");
    await queue(made, ["n_1", "task"]);
    const end = await made.conversation.resume(signal);
    assert.deepEqual([end.error, end.text], [undefined, "done"]);
  });

  test("a delivered notice is not delivered again after a restart; the history has it", async () => {
    const made = await rehearse(`turns: [{ expect: { ${only("<n_1>")} }, say: a }, { expect: { notices: [] }, say: b }]`);
    await queue(made, ["n_1", "task"]);
    await made.conversation.resume(signal);
    const again = await rehearse("turns: [{ say: a }, { expect: { notices: [] }, say: b }]", { after: made });
    assert.equal(again.session.state.notices.size, 0);
    assert.deepEqual(await again.send("go"), { reason: "done", text: "b" });
    assert.equal(again.messages.filter((message) => markOf(message).origin === "notice").length, 1);
  });

  test("an undelivered notice is delivered once after a restart", async () => {
    const made = await rehearse("turns: []");
    await queue(made, ["n_1", "task"]);
    const again = await rehearse(`turns: [{ expect: { ${only("<n_1>")} }, say: a }]`, { after: made });
    assert.deepEqual(await again.conversation.resume(signal), { reason: "done", text: "a" });
    assert.equal((await again.events("notice.delivered")).length, 1);
  });

  test("a schedule's notice is a separate message, on record and when it is read back", async () => {
    const made = await rehearse("turns: [{ say: a }, { say: b }]");
    await queue(made, ["n_1", "schedule"], ["n_2", "task"]);
    await made.conversation.resume(signal);
    assert.deepEqual(
      (await made.events("message.user")).map(({ body }) => [body.origin, body.displayText]),
      [
        ["schedule", "shown n_1"],
        ["notice", "shown n_2"],
      ],
    );
    const { messages } = await readHistory(made.ledger, made.session.id);
    assert.deepEqual(
      messages.filter(({ role }) => role === "user").map((message) => markOf(message).origin),
      ["schedule", "notice"],
    );
  });

  test("an abort during a notice's turn ends the turn; the notice counts as delivered", async () => {
    const stop = new AbortController();
    const made = await rehearse("turns: [{ say: one two three }]", {
      talk: {
        observe: (event) => {
          made.heard.push(event);
          if (event.type === "delta") stop.abort();
        },
      },
    });
    await queue(made, ["n_1", "task"]);
    await made.conversation.resume(stop.signal);
    const types = made.heard.map(({ type }) => type);
    assert.equal(types.filter((type) => type === "message_start").length, types.filter((type) => type === "message_stop").length);
    assert.equal(made.session.state.notices.size, 0);
  });
});
