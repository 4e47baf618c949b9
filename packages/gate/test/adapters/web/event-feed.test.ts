import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { Readable } from "node:stream";
import { describe, test } from "node:test";
import { type Conversation, createConversation } from "@assent/agent";
import { type DispatcherDeps, defineTool } from "@assent/core";
import { z } from "zod";
import { createEventFeed, type EventFeed, encodeEvents, eventResponse, readLastEventId, type WebEvent } from "../../../src/index.ts";
import { ANN, type Embedded, embed, PORTS, scripted, until } from "../embedded.ts";

/** A conversation on a script, with a feed of its session. */
type Fed = Embedded & { readonly feed: EventFeed; readonly conversation: Conversation };

async function fed(turns: string, deps: Partial<DispatcherDeps> = {}): Promise<Fed> {
  let feed: EventFeed | undefined;
  const on = await embed({
    more: [chatty],
    deps: {
      approver: { available: () => feed?.approver.available() ?? false, ask: async (...asked) => feed?.approver.ask(...asked) },
      ...deps,
    },
  });
  const made = createEventFeed(on.session);
  feed = made;
  const model = scripted(turns);
  const { clock, ids } = PORTS;
  const { session, dispatcher, tools } = on;
  const conversation = createConversation({
    ...{ session, dispatcher, clock, ids, tools: () => tools, model: () => model },
    ...{ system: () => "", steering: () => "force", observe: made.observe },
  });
  return { ...on, feed: made, conversation };
}

const heardOf = Promise.withResolvers<void>();

/** Tells what it does, and ends when it was heard. */
const chatty = defineTool({
  name: "chatty",
  description: "Tells.",
  kind: "other",
  input: z.object({}),
  permission: () => "allow",
  canUpdateOutput: true,
  run: async (_input, { update }) => {
    update("half");
    await heardOf.promise;
    return "told";
  },
});

const WRITE = "  - { say: I write it., calls: [{ tool: write, id: c1, input: { name: a } }] }\n  - say: Written.\n";

async function all(events: ReadableStream<WebEvent>, heard: (event: WebEvent) => void = () => undefined): Promise<WebEvent[]> {
  const told: WebEvent[] = [];
  for await (const event of events) {
    told.push(event);
    heard(event);
  }
  return told;
}

const types = (events: readonly WebEvent[]): readonly string[] => events.map(({ type }) => type);
const recorded = (events: readonly WebEvent[]): readonly WebEvent[] => events.filter(({ pos }) => pos !== null);

describe("the events a follower of a run gets", () => {
  test("all of it in order, as plain JSON, up to the end", async () => {
    const { feed, conversation, dispatcher } = await fed(WRITE);
    const told = await all(feed.follow({ run: (signal) => conversation.send("Go.", signal) }), (event) => {
      if (event.type !== "waiting") return;
      const { approvalId: approval, revision, fingerprint } = event;
      void dispatcher.answer({ approval, revision, fingerprint, outcome: "approve", by: ANN });
    });
    assert.deepEqual(types(told.filter(({ type }) => type !== "text")), [
      "turn",
      "message",
      "proposed",
      "decided",
      "waiting",
      "answered",
      "running",
      "ended",
      "turn",
      "message",
      "end",
    ]);
    assert.deepEqual(told, JSON.parse(JSON.stringify(told)));
    assert.partialDeepStrictEqual(
      told.find(({ type }) => type === "waiting"),
      { callId: "c1", tool: "write", input: { name: "a" }, revision: 1, details: { type: "info" } },
    );
    assert.partialDeepStrictEqual(
      told.find(({ type }) => type === "answered"),
      { callId: "c1", outcome: "approved", by: "Ann" },
    );
    assert.partialDeepStrictEqual(told.at(-1), { type: "end", reason: "done", text: "Written.", error: null });
  });

  test("a denial is a decision and an end, never a run", async () => {
    const { feed, conversation } = await fed("  - calls: [{ tool: write, id: c1, input: { name: forbidden } }]\n  - say: Well.\n");
    const told = await all(feed.follow({ run: (signal) => conversation.send("Go.", signal) }));
    assert.partialDeepStrictEqual(
      told.find(({ type }) => type === "decided"),
      { verdict: "deny", reason: "checker", source: "user permissions", rule: "write:name=forbidden" },
    );
    assert.partialDeepStrictEqual(
      told.find(({ type }) => type === "ended"),
      { outcome: "denied", outcomeType: "denied_by_rule" },
    );
    assert.ok(!types(told).includes("running"));
  });

  test("text is streamed live, and a recorded message replaces text that was not read yet", async () => {
    const { feed, conversation } = await fed("  - say: one two three\n");
    const quick = await all(feed.follow({ run: (signal) => conversation.send("Go.", signal) }));
    const said = quick.flatMap((event) => (event.type === "text" ? [event.delta] : [])).join("");
    assert.ok("one two three".startsWith(said));
    assert.partialDeepStrictEqual(
      quick.find(({ type }) => type === "message"),
      { text: "one two three" },
    );
  });

  test("a slow reader gets the message, not the text that led to it", async () => {
    const { feed, conversation } = await fed("  - say: one two three\n");
    const done = Promise.withResolvers<void>();
    const run = async (signal: AbortSignal): Promise<unknown> => await conversation.send("Go.", signal).finally(done.resolve);
    const reader = feed.follow({ run }).getReader();
    const told = [(await reader.read()).value?.type];
    await done.promise;
    for (let next = await reader.read(); !next.done; next = await reader.read()) told.push(next.value.type);
    assert.deepEqual(told, ["turn", "message", "end"]);
  });

  test("output of a call is streamed while it runs", async () => {
    const { feed, conversation } = await fed("  - calls: [{ tool: chatty, id: c1 }]\n  - say: Done.\n");
    const told = await all(feed.follow({ run: (signal) => conversation.send("Go.", signal) }), ({ type }) => {
      if (type === "output") heardOf.resolve();
    });
    const [running, output, ended] = ["running", "output", "ended"].map((type) => types(told).indexOf(type));
    assert.deepEqual([running, output, ended], [Number(output) - 1, output, Number(output) + 1]);
    assert.deepEqual(told[output ?? -1], { pos: null, type: "output", callId: "c1", display: "half" });
  });

  test("a run that throws ends the stream with what was wrong", async () => {
    const { feed } = await fed("  - say: x\n");
    const told = await all(feed.follow({ run: () => Promise.reject(new Error("no model")) }));
    assert.deepEqual(told, [
      { pos: null, type: "end", reason: "failed", text: "", error: { type: "unhandled_exception", message: "no model" } },
    ]);
  });

  test("a dispatcher without a conversation can be followed too", async () => {
    const { feed, dispatcher, tools } = await fed("  - say: x\n");
    const calls = [{ id: "c1", name: "read", arguments: { name: "a" } }];
    const told = await all(feed.follow({ run: (signal) => dispatcher.process({ calls, tools, signal }, feed.dispatched) }));
    assert.deepEqual(types(told), ["proposed", "decided", "running", "ended", "end"]);
  });
});

describe("coming back", () => {
  test("a reader that names its last position gets what it missed, and nothing twice", async () => {
    const { feed, conversation, dispatcher } = await fed(WRITE);
    const whole = await all(feed.follow({ run: (signal) => conversation.send("Go.", signal) }), (event) => {
      if (event.type === "waiting") void dispatcher.answer({ approval: event.approvalId, outcome: "reject", by: ANN });
    });
    const onRecord = recorded(whole);
    for (const [at, { pos }] of onRecord.entries()) {
      const reader = feed.follow({ after: pos ?? 0 }).getReader();
      for (const missed of onRecord.slice(at + 1)) assert.deepEqual((await reader.read()).value, missed);
      await reader.cancel();
    }
  });

  test("a reader without a position gets only new events", async () => {
    const { feed, conversation } = await fed("  - say: Before.\n  - say: After.\n");
    await conversation.send("Go.", new AbortController().signal);
    const told = await all(feed.follow({ run: (signal) => conversation.send("Go on.", signal) }));
    assert.deepEqual(
      told.flatMap((event) => (event.type === "message" ? [event.text] : [])),
      ["After."],
    );
  });

  test("a place beyond the ledger's end is an error, not silence", async () => {
    const { feed } = await fed("  - say: x\n");
    await assert.rejects(feed.follow({ after: 1_000 }).getReader().read(), { type: "cursor_ahead" });
  });

  const ids: readonly [sentence: string, header: string | null, expected: object][] = [
    ["a number is a place", "12", { after: 12 }],
    ["nothing is the present", null, {}],
    ["nonsense is the present", "12; drop", {}],
    ["a place that no number can hold is the present", "9".repeat(30), {}],
  ];
  for (const [sentence, header, expected] of ids)
    test(`Last-Event-ID: ${sentence}`, () => assert.deepEqual(readLastEventId(header), expected));
});

describe("going away", () => {
  test("a reader that goes away cancels its run, and the approval that waited with it", async () => {
    const { feed, conversation, events, ran } = await fed(WRITE);
    const end = Promise.withResolvers<string>();
    const reader = feed
      .follow({
        run: async (signal) => {
          const ended = await conversation.send("Go.", signal);
          end.resolve(ended.reason);
          return ended;
        },
      })
      .getReader();
    for (let next = await reader.read(); next.value?.type !== "waiting"; ) next = await reader.read();
    await reader.cancel();
    assert.equal(await end.promise, "cancelled");
    assert.deepEqual(
      (await events("call.ended")).map(({ body }) => body.outcome),
      ["cancelled"],
    );
    assert.deepEqual(ran, []);
  });

  test("if the run continues without its reader, waiting calls are parked", async () => {
    const { feed, conversation, dispatcher } = await fed(WRITE, { onAsk: "park" });
    const end = Promise.withResolvers<string>();
    const reader = feed
      .follow({ run: async () => end.resolve((await conversation.send("Go.", new AbortController().signal)).reason) })
      .getReader();
    for (let next = await reader.read(); next.value?.type !== "waiting"; ) next = await reader.read();
    assert.equal(dispatcher.pending().length, 1);
    await reader.cancel();
    assert.equal(await end.promise, "parked");
  });

  test("without a follower, no person can be asked", async () => {
    const { conversation, events } = await fed(WRITE);
    await conversation.send("Go.", new AbortController().signal);
    assert.deepEqual(
      (await events("call.ended")).map(({ body }) => body.type),
      ["denied_unattended"],
    );
  });

  test("a run begins with the first read", async () => {
    const { feed } = await fed("  - say: x\n");
    let began = 0;
    const stream = feed.follow({
      run: async () => {
        began += 1;
      },
    });
    await new Promise((resolve) => setImmediate(resolve));
    assert.equal(began, 0);
    await all(stream);
    assert.equal(began, 1);
  });
});

describe("Server-Sent Events", () => {
  test("what is on record has its place as the id; a front end parses every line of data", async () => {
    const { feed, conversation } = await fed("  - say: Hi.\n");
    const response = eventResponse(feed.follow({ run: (signal) => conversation.send("Go.", signal) }));
    assert.equal(response.headers.get("content-type"), "text/event-stream; charset=utf-8");
    const text = await response.text();
    const blocks = text.trimEnd().split("\n\n");
    for (const block of blocks) {
      const [, id, data] = /^(?:id: (\d+)\n)?data: (.*)$/.exec(block) ?? [];
      const event: WebEvent = JSON.parse(data ?? "");
      assert.equal(event.pos === null ? undefined : String(event.pos), id);
    }
    assert.match(blocks.at(-1) ?? "", /"type":"end"/);
  });

  test("line breaks in a text do not end its event", async () => {
    const event: WebEvent = { pos: null, type: "text", turn: 1, delta: "a\n\nb\r\u2028" };
    const text = await new Response(encodeEvents(ReadableStream.from([event]))).text();
    assert.equal(text.split("\n").length, 3);
    assert.deepEqual(JSON.parse(text.slice("data: ".length)), event);
  });

  test("over HTTP: the run is streamed, a POST answers what waits, and a browser that closes the page cancels the run", async () => {
    const on = await fed(`${WRITE}${WRITE.replaceAll("c1", "c2")}`);
    const { feed, conversation, dispatcher, ran } = on;
    const server = createServer((request, response) => {
      if (request.method === "POST") {
        const [approval = "", outcome] = (request.url ?? "").slice(1).split("/");
        dispatcher.answer({ approval, outcome: outcome === "yes" ? "approve" : "reject", by: ANN }).then(
          (report) => response.end(report.outcome),
          (error: Error) => response.writeHead(409).end(error.message),
        );
        return;
      }
      const stream = Readable.fromWeb(encodeEvents(feed.follow({ run: (signal) => conversation.send("Go.", signal) })));
      response.on("close", () => stream.destroy());
      stream.pipe(response);
    }).listen(0, "127.0.0.1");
    try {
      await once(server, "listening");
      const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
      const answers: string[] = [];
      const told: WebEvent[] = [];
      for await (const event of browser(url)) {
        told.push(event);
        if (event.type !== "waiting") continue;
        assert.equal((await fetch(`${url}/a_unknown/yes`, { method: "POST" })).status, 409);
        answers.push(await (await fetch(`${url}/${event.approvalId}/yes`, { method: "POST" })).text());
      }
      assert.deepEqual(answers, ["approved"]);
      assert.partialDeepStrictEqual(told.at(-1), { type: "end", reason: "done", text: "Written." });
      assert.deepEqual(ran, ["write a+", "write a-"]);

      for await (const event of browser(url)) if (event.type === "waiting") break;
      await until(on, async () => (await on.events("call.ended")).some(({ body }) => body.call === "c2" && body.outcome === "cancelled"));
      assert.deepEqual(ran, ["write a+", "write a-"]);
    } finally {
      server.closeAllConnections();
      server.close();
    }
  });

  /** The events of a page; leaving the loop closes it. */
  async function* browser(url: string): AsyncGenerator<WebEvent> {
    const { body } = await fetch(url);
    let text = "";
    for await (const chunk of (body ?? new ReadableStream()).pipeThrough(new TextDecoderStream())) {
      const blocks = `${text}${chunk}`.split("\n\n");
      text = blocks.pop() ?? "";
      for (const block of blocks) yield JSON.parse(/^data: (.*)$/m.exec(block)?.[1] ?? "");
    }
  }
});
