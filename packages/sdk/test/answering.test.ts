import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { JsonObject, QueryOptions } from "@assent/sdk";
import { atDoor, drain, echoes, HELLO, type Step } from "./support/at-door.ts";

const END: readonly Step[] = [{ result: {} }, { end: true }];

/** What the process hears when it asks this. */
async function answerTo(request: JsonObject, options: Partial<QueryOptions>): Promise<unknown> {
  const steps = [HELLO, { user: true }, { ask: ["r1", request] }, { answer: "r1" }, { echo: true }, ...END];
  const { messages, error } = await drain(atDoor(steps, options));
  assert.equal(error, undefined);
  return echoes(messages)[0];
}

function response(fields: JsonObject): unknown {
  return { type: "control_response", response: { ...fields, request_id: "r1" } };
}

const CALL = { subtype: "can_use_tool", tool_name: "shell", input: { command: "ls" }, fingerprint: "f1", approval_id: "a_1" };
const QUESTION = { subtype: "ask_user", type: "question", id: "q_1", callId: "c1", questions: [{ id: "db", question: "?" }] };
const HOOK = { subtype: "hook_callback", callback_id: "hook_2", hook_event: "PreToolUse", input: { tool: "shell" }, tool_use_id: "c1" };

const failing = (): never => {
  throw new Error("broken");
};

describe("a request of Assent", () => {
  const rows: readonly (readonly [sentence: string, request: JsonObject, options: Partial<QueryOptions>, expected: JsonObject])[] = [
    [
      "a yes carries the fingerprint it was shown",
      CALL,
      { canUseTool: () => ({ behavior: "allow" }) },
      { subtype: "success", response: { behavior: "allow", fingerprint: "f1" } },
    ],
    [
      "an edit and what is remembered go with it",
      CALL,
      { canUseTool: ({ input }) => ({ behavior: "allow", updatedInput: { ...input, more: 1 }, remember: "session" }) },
      {
        subtype: "success",
        response: { behavior: "allow", updatedInput: { command: "ls", more: 1 }, remember: "session", fingerprint: "f1" },
      },
    ],
    [
      "a no",
      CALL,
      { canUseTool: async () => ({ behavior: "deny", message: "not now", interrupt: true }) },
      { subtype: "success", response: { behavior: "deny", message: "not now", interrupt: true } },
    ],
    ["what a callback throws is an error, never a yes", CALL, { canUseTool: failing }, { subtype: "error", error: "broken" }],
    [
      "so is what nobody can put in words",
      CALL,
      { canUseTool: () => Promise.reject(Object.create(null)) },
      { subtype: "error", error: "unknown error" },
    ],
    ["a call without a callback is an error", CALL, {}, { subtype: "error", error: "This host does not answer can_use_tool." }],
    [
      "a question about no call is an error",
      { subtype: "can_use_tool" },
      { canUseTool: () => ({ behavior: "allow" }) },
      { subtype: "error", error: "The request names no tool call." },
    ],
    [
      "answers to questions",
      QUESTION,
      { askUser: ({ questions }) => ({ outcome: "answered", answers: questions.map(({ id }) => ({ id, selected: ["a"] })) }) },
      { subtype: "success", response: { outcome: "answered", answers: [{ id: "db", selected: ["a"] }] } },
    ],
    ["questions without a callback are an error", QUESTION, {}, { subtype: "error", error: "This host does not answer ask_user." }],
    [
      "a hook gets its input, its event and the call",
      HOOK,
      {
        hooks: {
          Stop: [{ hook: failing }],
          PreToolUse: [{ hook: (input, { event, toolUseId }) => ({ input, event, toolUseId }) }],
        },
      },
      { subtype: "success", response: { input: { tool: "shell" }, event: "PreToolUse", toolUseId: "c1" } },
    ],
    [
      "no opinion is an empty answer",
      HOOK,
      { hooks: { PreToolUse: [{ hook: failing }, { hook: () => undefined }] } },
      { subtype: "success", response: {} },
    ],
    [
      "a hook that throws is an error",
      HOOK,
      { hooks: { PreToolUse: [{ hook: () => undefined }, { hook: failing }] } },
      { subtype: "error", error: "broken" },
    ],
    ["an unknown hook is an error", HOOK, {}, { subtype: "error", error: "There is no hook hook_2." }],
    ["anything else is an error", { subtype: "dance" }, {}, { subtype: "error", error: "This host does not answer dance." }],
  ];
  for (const [sentence, request, options, expected] of rows) {
    test(sentence, async () => assert.deepEqual(await answerTo(request, options), response(expected)));
  }

  for (const [sentence, request, options, expected] of [
    ["what canUseTool throws is told in a warning", CALL, { canUseTool: failing }, ["can_use_tool: broken"]],
    ["what askUser rejects with is, too", QUESTION, { askUser: async () => failing() }, ["ask_user: broken"]],
    ["and what a hook throws", { ...HOOK, callback_id: "hook_1" }, { hooks: { Stop: [{ hook: failing }] } }, ["hook_callback: broken"]],
    ["an answer is no warning", CALL, { canUseTool: () => ({ behavior: "deny" }) }, []],
  ] satisfies readonly (readonly [string, JsonObject, Partial<QueryOptions>, readonly string[]])[]) {
    test(sentence, async () => {
      const steps = [HELLO, { user: true }, { say: { type: "user" } }, { ask: ["r1", request] }, { answer: "r1" }, ...END];
      const { messages, error } = await drain(atDoor(steps, options));
      assert.equal(error, undefined);
      const warnings = messages.flatMap((each) => (each.type === "system" && each.subtype === "warning" ? [each] : []));
      assert.deepEqual(
        warnings.map(({ session_id, code, message }) => ({ session_id, code, message })),
        expected.map((message) => ({ session_id: "s", code: "callback_failed", message })),
      );
    });
  }

  test("many are answered at the same time, in any order", async () => {
    const second = Promise.withResolvers<void>();
    const steps = [
      ...[HELLO, { user: true }, { ask: ["r1", CALL] }, { ask: ["r2", { ...CALL, tool_name: "write" }] }],
      ...[{ answer: "r2" }, { echo: true }, { answer: "r1" }, { echo: true }, ...END],
    ];
    const { messages } = await drain(
      atDoor(steps, {
        async canUseTool({ tool_name }) {
          if (tool_name === "shell") await second.promise;
          else second.resolve();
          return { behavior: "deny", message: tool_name };
        },
      }),
    );
    assert.deepEqual(
      echoes(messages).map((line) => (line as { response: { response: { message: string } } }).response.response.message),
      ["write", "shell"],
    );
  });

  test("one that is withdrawn aborts its signal, and its late answer is not sent", async () => {
    const aborted = Promise.withResolvers<void>();
    const steps = [
      ...[HELLO, { user: true }, { ask: ["r1", CALL] }, { withdraw: "r1" }, { ask: ["r2", { ...CALL, tool_name: "write" }] }],
      ...[{ answer: "r2" }, { echo: true }, { heard: true }, ...END],
    ];
    const { messages } = await drain(
      atDoor(steps, {
        async canUseTool({ tool_name }, { signal }) {
          if (tool_name === "shell") await new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve()));
          if (tool_name === "shell") aborted.resolve();
          else await aborted.promise;
          return { behavior: "allow" };
        },
      }),
    );
    assert.deepEqual(
      messages.flatMap((message) =>
        message.type === "system" && message.subtype === "warning" && message.code === "heard" ? [message.message] : [],
      ),
      ["[]"],
    );
  });

  test("one that comes twice under the same id is asked once", async () => {
    let asked = 0;
    const steps = [HELLO, { user: true }, { ask: ["r1", CALL] }, { ask: ["r1", CALL] }, { answer: "r1" }, { echo: true }, ...END];
    await drain(
      atDoor(steps, {
        canUseTool() {
          asked += 1;
          return { behavior: "allow" };
        },
      }),
    );
    assert.equal(asked, 1);
  });

  test("what was open before the host came is asked again", async () => {
    const pending = [{ type: "control_request", request_id: "r1", request: CALL }];
    const steps = [{ respond: ["initialize", { pending }] }, { answer: "r1" }, { echo: true }, { user: true }, ...END];
    const { messages } = await drain(atDoor(steps, { canUseTool: () => ({ behavior: "deny" }) }));
    assert.deepEqual(echoes(messages), [response({ subtype: "success", response: { behavior: "deny" } })]);
  });
});

describe("the first request", () => {
  const nothing = (): undefined => undefined;
  const rows: readonly (readonly [sentence: string, options: Partial<QueryOptions>, expected: JsonObject])[] = [
    ["says that nobody answers", {}, { can_use_tool: false, ask_user: false }],
    [
      "says who answers",
      { canUseTool: failing, askUser: failing, approvalTimeoutMs: null, agents: { a: { prompt: "p" } } },
      { can_use_tool: true, ask_user: true, approval_timeout_ms: null, agents: { a: { prompt: "p" } } },
    ],
    [
      "names the hooks, in order",
      { hooks: { PreToolUse: [{ matcher: "Bash", hook: nothing, timeoutMs: 500 }, { hook: nothing }], stop: [{ hook: nothing }] } },
      {
        can_use_tool: false,
        ask_user: false,
        hooks: {
          PreToolUse: [{ callback_ids: ["hook_1"], matcher: "Bash", timeout_ms: 500 }, { callback_ids: ["hook_2"] }],
          stop: [{ callback_ids: ["hook_3"] }],
        },
      },
    ],
  ];
  for (const [sentence, options, expected] of rows) {
    test(sentence, async () => {
      const { messages } = await drain(atDoor([HELLO, { echo: true }, { user: true }, ...END], options));
      const [heard] = echoes(messages) as readonly { readonly request: object }[];
      assert.deepEqual(heard?.request, { subtype: "initialize", protocol: 1, ...expected });
    });
  }
});
