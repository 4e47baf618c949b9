import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { z } from "zod";
import { type Gate, GateUsageError } from "../../src/index.ts";
import { newStore, withGate } from "../gate-scene.ts";

const SCHEMA = { type: "object", properties: { to: { type: "string" } }, required: ["to"], additionalProperties: false };
const CHAT = [
  { type: "function" as const, function: { name: "mail", description: "Sends.", parameters: SCHEMA, strict: true } },
  { type: "function" as const, function: { name: "wipe", description: "Deletes all.", parameters: SCHEMA } },
];
const RESPONSES = [
  { type: "function" as const, name: "mail", description: "Sends.", parameters: SCHEMA, strict: true },
  { type: "web_search" as const },
];
const ANTHROPIC = [
  { name: "mail", description: "Sends.", input_schema: SCHEMA },
  { type: "bash_20250124" as const, name: "bash" },
  { type: "web_search_20250305" as const, name: "web_search" },
];

type Part = { readonly type: string; readonly [field: string]: unknown };
const call = (id: string, name: string, to: unknown) => ({
  id,
  type: "function" as const,
  function: { name, arguments: JSON.stringify({ to }) },
});
const rules = { allow: ["mail:to=*@example.test"], deny: ["wipe"] };

describe("gate.openai", () => {
  test("Chat Completions: declarations stay as they are, denied tools are left out, results are messages", async () => {
    await withGate({ rules }, async (gate) => {
      const sent: string[] = [];
      const mail = ({ to }: { to: string }) => ({ n: sent.push(to) });
      const openai = gate.openai(CHAT, { mail, wipe: () => "gone" });
      assert.deepEqual(openai.tools(), [CHAT[0]]);
      const { messages, stop } = await openai.dispatch([
        call("1", "mail", "a@example.test"),
        call("2", "mail", "b"),
        call("3", "wipe", "c"),
        call("4", "mail", []),
      ]);
      assert.equal(stop, undefined);
      assert.deepEqual(
        messages.map((message) => [message.role, String(message.content).slice(0, 40)]),
        [
          ["tool", '{"n":1}'],
          ["tool", "Tool 'mail' requires approval, but no on"],
          ["tool", "Tool 'wipe' is denied by the program's r"],
          ["tool", "Error: Invalid parameters provided. Reas"],
        ],
      );
      assert.deepEqual(sent, ["a@example.test"]);
    });
  });

  test("Responses: hosted tools pass through, results are items", async () => {
    await withGate({ rules }, async (gate) => {
      const openai = gate.openai(RESPONSES, { mail: () => "sent" });
      assert.deepEqual(openai.tools(), RESPONSES);
      const output = [
        { type: "reasoning" as const },
        { type: "function_call" as const, call_id: "1", name: "mail", arguments: '{"to":"a@example.test"}' },
      ];
      const { messages } = await openai.dispatch(output);
      assert.deepEqual(messages, [{ type: "function_call_output", call_id: "1", output: "sent" }]);
    });
  });

  test("a parked call is resumed by another gate, once", async () => {
    const store = newStore();
    const sent: string[] = [];
    const handlers = { mail: ({ to }: { to: string }) => `sent ${sent.push(to)}`, wipe: () => "" };
    const parked = await withGate({ store, approve: "park" }, async (gate) => {
      const { calls, messages, stop } = await gate.openai(CHAT, handlers).dispatch([call("1", "mail", "b")]);
      assert.deepEqual([messages, stop?.reason], [[], "parked"]);
      return { session: gate.session, calls: JSON.stringify(calls) };
    });
    await withGate({ store }, async (gate) => {
      for (const { id } of await gate.approvals()) await gate.answer(id, { outcome: "approve", by: "Ann" });
    });
    for (let time = 0; time < 3; time += 1)
      await withGate({ store, session: parked.session, approve: "park" }, async (gate) => {
        const { messages } = await gate.openai(CHAT, handlers).resume(JSON.parse(parked.calls));
        assert.deepEqual(messages, [{ role: "tool", tool_call_id: "1", content: "sent 1" }]);
      });
    assert.deepEqual(sent, ["b"]);
  });
});

describe("gate.anthropic", () => {
  test("results are one message; Anthropic's own client tools need only a handler", async () => {
    await withGate({ rules: { allow: ["mail", "bash"] } }, async (gate) => {
      const anthropic = gate.anthropic(ANTHROPIC, { mail: () => ({ ok: true }), bash: () => "files" });
      assert.deepEqual(anthropic.tools(), ANTHROPIC);
      const { messages } = await anthropic.dispatch([
        { type: "text", text: "I send it." },
        { type: "tool_use", id: "t1", name: "mail", input: { to: "a" } },
        { type: "tool_use", id: "t2", name: "bash", input: { command: "ls" } },
      ] as readonly Part[]);
      assert.deepEqual(messages, [
        {
          role: "user",
          content: [
            { type: "tool_result", tool_use_id: "t1", content: '{"ok":true}' },
            { type: "tool_result", tool_use_id: "t2", content: "files" },
          ],
        },
      ]);
    });
  });

  test("Anthropic's bash runs command lines: a deny sees every part", async () => {
    await withGate({ rules: { allow: ["bash"], deny: ["bash:command=rm*"] } }, async (gate) => {
      const anthropic = gate.anthropic(ANTHROPIC, { mail: () => "", bash: () => "ran" }, {});
      const { calls } = await anthropic.dispatch([
        { type: "tool_use", id: "t1", name: "bash", input: { command: "ls" } },
        { type: "tool_use", id: "t2", name: "bash", input: { command: "ls; rm -r build" } },
      ] as readonly Part[]);
      assert.deepEqual(
        calls.map(({ outcome }) => outcome),
        ["succeeded", "denied"],
      );
    });
  });

  test("a call without a type, as some compatible servers write it, is a call", async () => {
    await withGate({ rules }, async (gate) => {
      const openai = gate.openai(CHAT, { mail: () => "sent", wipe: () => "gone" });
      const { type: _type, ...untyped } = call("1", "mail", "a@example.test");
      const { messages } = await openai.dispatch([untyped] as never);
      assert.deepEqual(messages, [{ role: "tool", tool_call_id: "1", content: "sent" }]);
    });
  });

  const answers: readonly (readonly [sentence: string, dispatch: (gate: Gate) => Promise<unknown>, message: string])[] = [
    [
      "Chat Completions",
      (gate) => gate.openai(CHAT, { mail: () => "", wipe: () => "" }).dispatch({ tool_calls: [] } as never),
      "dispatch takes a list: dispatch(message.tool_calls).",
    ],
    [
      "Responses",
      (gate) => gate.openai(RESPONSES, { mail: () => "" }).dispatch("text" as never),
      "dispatch takes a list: dispatch(response.output).",
    ],
    [
      "Anthropic",
      (gate) => gate.anthropic(ANTHROPIC, { mail: () => "", bash: () => "" }).dispatch({ content: [] } as never),
      "dispatch takes a list: dispatch(message.content).",
    ],
  ];
  for (const [sentence, dispatch, message] of answers)
    test(`${sentence}: a whole answer instead of its parts is a clear error`, async () => {
      await withGate({}, async (gate) => {
        await assert.rejects(dispatch(gate), { name: "GateUsageError", type: "bad_call", message });
      });
    });
});

describe("mistakes with declared tools are clear errors", () => {
  const rows: readonly [sentence: string, wrap: (gate: Gate) => unknown, message: RegExp][] = [
    ["no list", (gate) => gate.openai({} as never, {}), /takes a list of tools and an object of handlers/],
    ["no handlers", (gate) => gate.anthropic(ANTHROPIC, undefined as never), /takes a list of tools/],
    ["a tool without a handler", (gate) => gate.openai(CHAT, { mail: () => "" }), /Tool 'wipe' has no handler. Add it/],
    ["a handler without a tool", (gate) => gate.openai(RESPONSES, { mail: () => "", male: () => "" }), /handler for a tool 'male'/],
    ["a handler that is no function", (gate) => gate.openai(RESPONSES, { mail: 1 as never }), /must be a function/],
    [
      "a schema that does not compile",
      (gate) => gate.anthropic([{ name: "x", input_schema: { type: "object", properties: 5 } }], { x: () => "" }),
      /does not compile/,
    ],
    [
      "a function without a name for Responses",
      (gate) => gate.openai([{ type: "function" }] as never, {}),
      /a tool in the list has no name/,
    ],
    ["a tool without a name for Anthropic", (gate) => gate.anthropic(CHAT as never, {}), /a tool in the list has no name/],
    ["a tool that is no object", (gate) => gate.anthropic([null] as never, {}), /gate\.anthropic: tools\[0\] is not a tool declaration/],
    [
      "two tools with one name",
      (gate) => gate.openai([CHAT[0], CHAT[0]] as typeof CHAT, { mail: () => "" }),
      /Two of these tools have the name 'mail'/,
    ],
    ["a schema that is null", (gate) => gate.anthropic([{ name: "x", input_schema: null }], { x: () => "" }), /needs a JSON Schema/],
    [
      "a zod object, which the provider cannot read",
      (gate) => gate.openai([{ type: "function", name: "x", parameters: z.object({}) }], { x: () => "" }),
      /With zod: z\.toJSONSchema\(schema\)/,
    ],
    [
      "a tool for each API in one list",
      (gate) => gate.openai([...CHAT, RESPONSES[0]] as never, { mail: () => "", wipe: () => "" }),
      /or all for Responses/,
    ],
    [
      "a custom tool",
      (gate) => gate.openai([{ type: "custom", custom: { name: "x" } }, ...CHAT] as never, {}),
      /of type 'function', not 'custom'/,
    ],
    ["a tool of the Responses API that the program runs", (gate) => gate.openai([{ type: "local_shell" }], {}), /not 'local_shell'/],
    ["a tool without a type", (gate) => gate.openai([{ name: "x" }] as never, {}), /not 'undefined'/],
    [
      "a tool of Anthropic that the program runs, without a handler",
      (gate) => gate.anthropic([{ type: "text_editor_20250728", name: "edit" }] as never, {}),
      /Tool 'edit' has no handler/,
    ],
    ["traits that are null", (gate) => gate.openai(RESPONSES, { mail: () => "" }, null as never), /Traits must be an object by tool name/],
    ["traits in a list", (gate) => gate.openai(RESPONSES, { mail: () => "" }, [] as never), /Traits must be an object by tool name/],
    [
      "traits of one tool that are null",
      (gate) => gate.openai(RESPONSES, { mail: () => "" }, { mail: null } as never),
      /traits of tool 'mail' must be an object/,
    ],
  ];
  for (const [sentence, wrap, message] of rows)
    test(sentence, async () => {
      await withGate({}, async (gate) => {
        assert.throws(
          () => wrap(gate),
          (error: unknown) => error instanceof GateUsageError && message.test(error.message),
        );
      });
    });
});
