import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { defineTool } from "@assent/core";
import { z } from "zod";
import {
  anthropicMessages,
  type EmbeddedCall,
  type Embedding,
  openaiChat,
  openaiResponses,
  type ProviderAdapter,
} from "../../src/index.ts";
import { ANN, answering, embed } from "./embedded.ts";

const { signal } = new AbortController();

/** One call, as every provider of the table writes it. */
type Given = { readonly id: string; readonly name: string; readonly input: unknown };

/** How a provider's calls are written, and what id and text its results have. */
type Provider = {
  readonly name: string;
  readonly adapter: (on: Embedding) => ProviderAdapter<unknown, unknown>;
  readonly write: (call: Given) => { readonly type: string };
  readonly read: (messages: readonly unknown[]) => readonly (readonly [id: string, content: unknown])[];
  /** What stands in an answer beside calls. */
  readonly beside: { readonly type: string };
};

const ROWS = [{ id: 1 }, { id: 2 }];
const TABLE = defineTool({
  name: "table",
  description: "Lists rows.",
  kind: "other",
  input: z.object({}),
  run: () => ROWS,
});

type Loose = Record<string, never>;
const text = (input: unknown): string => (typeof input === "string" ? input : JSON.stringify(input));

const PROVIDERS: readonly Provider[] = [
  {
    name: "OpenAI chat",
    adapter: openaiChat,
    write: ({ id, name, input }) => ({ type: "function", id, function: { name, arguments: text(input) } }) as { type: string },
    read: (messages) =>
      (messages as Loose[]).filter(({ role }) => role === "tool").map(({ tool_call_id, content }) => [tool_call_id, content] as never),
    beside: { type: "custom" },
  },
  {
    name: "OpenAI responses",
    adapter: openaiResponses,
    write: ({ id, name, input }) => ({ type: "function_call", call_id: id, name, arguments: text(input) }) as { type: string },
    read: (items) => (items as Loose[]).map(({ call_id, output }) => [call_id, output] as never),
    beside: { type: "reasoning" },
  },
  {
    name: "Anthropic messages",
    adapter: anthropicMessages,
    write: ({ id, name, input }) => ({ type: "tool_use", id, name, input }) as { type: string },
    read: (messages) =>
      (messages as { content: Loose[] }[]).flatMap(({ content }) => content.map((part) => [part["tool_use_id"], part["content"]] as never)),
    beside: { type: "text" },
  },
];

for (const { name, adapter, write, read, beside } of PROVIDERS) {
  describe(name, () => {
    test("results come in call order, whatever their outcome", async () => {
      const on = await embed({ deps: { approver: answering("approve") } });
      const answer = [
        beside,
        write({ id: "a", name: "read", input: { name: "x" } }),
        write({ id: "b", name: "write", input: { name: "forbidden" } }),
        write({ id: "c", name: "write", input: { name: "y" } }),
        write({ id: "d", name: "raed", input: {} }),
        write({ id: "e", name: "read", input: {} }),
        write({ id: "f", name: "read", input: { name: "broken" } }),
      ];
      const { messages, calls, stop } = await adapter(on).dispatch(answer, { signal });
      assert.equal(stop, undefined);
      assert.deepEqual(
        read(messages).map(([id]) => id),
        ["a", "b", "c", "d", "e", "f"],
      );
      assert.deepEqual(
        calls.map(({ outcome }) => outcome),
        ["succeeded", "denied", "succeeded", "invalid", "invalid", "failed"],
      );
      assert.deepEqual(read(messages)[0]?.[1], "read x: done");
      assert.match(String(read(messages)[1]?.[1]), /denied by user permissions/);
      assert.deepEqual(
        (await on.events("call.proposed")).map(({ body }) => [body.givenId, body.index]),
        ["a", "b", "c", "d", "e", "f"].map((id, index) => [id, index]),
      );
    });

    test("an object is sent as JSON text, and the call has its value, also after a restart", async () => {
      const on = await embed({ deps: { onAsk: "park" }, more: [TABLE] });
      const asked = [write({ id: "a", name: "table", input: {} }), write({ id: "b", name: "write", input: { name: "x" } })];
      const { calls } = await adapter(on).dispatch(asked, { signal });
      assert.deepEqual(calls[0]?.value, ROWS);
      const approval = (await on.events("approval.opened"))[0]?.body.approval ?? "";
      await on.dispatcher.answer({ approval, outcome: "approve", by: ANN });
      const { messages } = await adapter(on).resume(JSON.parse(JSON.stringify(calls)), signal);
      assert.deepEqual(read(messages)[0], ["a", '[{"id":1},{"id":2}]']);
    });

    test("an answer without calls has no results", async () => {
      const on = await embed();
      for (const answer of [[], [beside], null, undefined])
        assert.deepEqual(await adapter(on).dispatch(answer, { signal }), { calls: [], messages: [] });
    });

    test("an id that comes twice has two results under it, and one effect", async () => {
      const on = await embed();
      const twice = [write({ id: "a", name: "read", input: { name: "x" } }), write({ id: "a", name: "read", input: { name: "y" } })];
      const { messages, calls } = await adapter(on).dispatch(twice, { signal });
      assert.deepEqual(
        read(messages).map(([id]) => id),
        ["a", "a"],
      );
      assert.deepEqual(
        calls.map(({ callId }) => callId),
        ["a", "a#2"],
      );
      assert.deepEqual(on.ran, ["read x+", "read x-"]);
    });

    test("no messages are returned while a call waits; the turn resumes from its own JSON, in call order", async () => {
      const on = await embed({ deps: { onAsk: "park" } });
      const answer = [
        write({ id: "a", name: "read", input: { name: "x" } }),
        write({ id: "b", name: "write", input: { name: "y" } }),
        write({ id: "c", name: "read", input: {} }),
      ];
      const first = await adapter(on).dispatch(answer, { signal });
      assert.deepEqual(first.messages, []);
      assert.equal(first.stop?.reason, "parked");
      const calls: EmbeddedCall[] = JSON.parse(JSON.stringify(first.calls));
      assert.deepEqual(
        calls.map(({ outcome }) => outcome),
        ["succeeded", "waiting", "invalid"],
      );
      const approval = (await on.events("approval.opened"))[0]?.body.approval ?? "";
      await on.dispatcher.answer({ approval, outcome: "reject", reason: "no", by: ANN });
      const { messages, stop } = await adapter(on).resume(calls, signal);
      assert.equal(stop, undefined);
      assert.deepEqual(
        read(messages).map(([id]) => id),
        ["a", "b", "c"],
      );
      assert.deepEqual(on.ran, ["read x+", "read x-"]);
    });

    test("arguments that were cut off at the token limit change nothing", async () => {
      const on = await embed({ deps: { approver: answering("approve") } });
      const { calls } = await adapter(on).dispatch([write({ id: "a", name: "write", input: { name: "y" } })], { signal, truncated: true });
      assert.deepEqual(
        calls.map(({ type }) => type),
        ["output_truncated"],
      );
      assert.deepEqual(on.ran, []);
    });

    test("an abort gives every call its result", async () => {
      const on = await embed({ deps: { approver: answering("approve") } });
      const answer = [write({ id: "a", name: "slow", input: { name: "x" } }), write({ id: "b", name: "write", input: { name: "y" } })];
      const abort = new AbortController();
      const observed = { ...on, observe: ({ type }: { type: string }): void => void (type === "toolCall" && abort.abort()) };
      const { messages, calls } = await adapter(observed).dispatch(answer, { signal: abort.signal });
      assert.equal(read(messages).length, 2);
      assert.deepEqual(
        calls.map(({ outcome }) => outcome),
        ["cancelled", "cancelled"],
      );
    });

    test("a malformed call counts as an unknown tool", async () => {
      const on = await embed();
      const { type } = write({ id: "a", name: "read", input: {} });
      const { calls } = await adapter(on).dispatch([{ type }], { signal });
      assert.deepEqual(
        calls.map((call) => call.type),
        ["tool_not_registered"],
      );
    });
  });
}

describe("declarations", () => {
  const PARAMETERS = { type: "object", properties: { name: { type: "string" } }, required: ["name"] };
  const rows: readonly [name: string, adapter: (on: Embedding) => ProviderAdapter<unknown, unknown>, expected: object][] = [
    ["OpenAI chat", openaiChat, { type: "function", function: { name: "read", description: "Reads.", parameters: PARAMETERS } }],
    ["OpenAI responses", openaiResponses, { type: "function", name: "read", description: "Reads.", strict: false, parameters: PARAMETERS }],
    ["Anthropic messages", anthropicMessages, { name: "read", description: "Reads.", input_schema: PARAMETERS }],
  ];
  for (const [name, adapter, expected] of rows) {
    test(`${name}: the visible tools, each with its schema`, async () => {
      const declared = adapter(await embed()).tools();
      assert.equal(declared.length, 4);
      assert.partialDeepStrictEqual(declared[0], expected);
    });
  }
});

describe("files of a result", () => {
  const PNG = "iVBORw0KGgo=";
  const PDF = "JVBERg==";

  test("OpenAI chat: they follow in a message of the person's role", async () => {
    const calls = [{ type: "function" as const, id: "a", function: { name: "picture", arguments: '{"name":"cat"}' } }];
    const { messages } = await openaiChat(await embed()).dispatch(calls, { signal });
    assert.deepEqual(messages, [
      { role: "tool", tool_call_id: "a", content: 'cat\n{"n":1}' },
      {
        role: "user",
        content: [
          { type: "text", text: "Files of the result of a:" },
          { type: "image_url", image_url: { url: `data:image/png;base64,${PNG}` } },
          { type: "file", file: { filename: "a.pdf", file_data: `data:application/pdf;base64,${PDF}` } },
        ],
      },
    ]);
  });

  test("OpenAI responses: they are part of the result", async () => {
    const calls = [{ type: "function_call" as const, call_id: "a", name: "picture", arguments: '{"name":"cat"}' }];
    const { messages } = await openaiResponses(await embed()).dispatch(calls, { signal });
    assert.deepEqual(messages, [
      {
        type: "function_call_output",
        call_id: "a",
        output: [
          { type: "input_text", text: 'cat\n{"n":1}' },
          { type: "input_image", image_url: `data:image/png;base64,${PNG}`, detail: "auto" },
          { type: "input_file", filename: "a.pdf", file_data: `data:application/pdf;base64,${PDF}` },
        ],
      },
    ]);
  });

  test("Anthropic messages: they are part of the result", async () => {
    const calls = [{ type: "tool_use" as const, id: "a", name: "picture", input: { name: "cat" } }];
    const { messages } = await anthropicMessages(await embed()).dispatch(calls, { signal });
    assert.deepEqual(messages, [
      {
        role: "user",
        content: [
          {
            type: "tool_result",
            tool_use_id: "a",
            content: [
              { type: "text", text: 'cat\n{"n":1}' },
              { type: "image", source: { type: "base64", media_type: "image/png", data: PNG } },
              { type: "document", source: { type: "base64", media_type: "application/pdf", data: PDF } },
            ],
          },
        ],
      },
    ]);
  });

  test("Anthropic messages: a failure says so, in text alone", async () => {
    const calls = [{ type: "tool_use" as const, id: "a", name: "read", input: { name: "broken" } }];
    const { messages } = await anthropicMessages(await embed()).dispatch(calls, { signal });
    assert.deepEqual(messages[0]?.content, [
      { type: "tool_result", tool_use_id: "a", content: "Error: Tool call execution failed. Reason: It broke.", is_error: true },
    ]);
  });
});
