import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { existsSync } from "node:fs";
import { describe, test } from "node:test";
import {
  AbortError,
  createSdkMcpServer,
  type Query,
  type QueryOptions,
  query,
  type SDKMessage,
  type SDKUserMessage,
  tool,
} from "@qwen-code/sdk";
import { z } from "zod";
import { DIALECTS } from "../../packages/agent/test/wire/dialects.ts";
import { modelServer } from "../../packages/agent/test/wire/model-server.ts";
import { BIN, type Place, place, until } from "../../packages/cli/test/support/assent.ts";

/** A client that we did not write, against the real program with a scripted model: what it cannot do here, no host can. */

type Given = { readonly prompt: string | AsyncIterable<SDKUserMessage>; readonly options?: QueryOptions };

function start(at: Place, turns: readonly object[], { prompt, options = {} }: Given): Query {
  const script = at.write("script.json", JSON.stringify({ turns }));
  return query({ prompt, options: { pathToQwenExecutable: BIN, cwd: at.workspace, env: at.env, model: `script:${script}`, ...options } });
}

/** Everything it yields, and what it threw at the end. */
async function drain(from: Query): Promise<{ readonly messages: readonly SDKMessage[]; readonly error: Error | undefined }> {
  const messages: SDKMessage[] = [];
  try {
    for await (const message of from) messages.push(message);
    return { messages, error: undefined };
  } catch (error) {
    assert.ok(error instanceof Error);
    return { messages, error };
  }
}

async function run(at: Place, turns: readonly object[], options: QueryOptions = {}): Promise<ReturnType<typeof drain>> {
  return await drain(start(at, turns, { prompt: "Go.", options }));
}

function said(content: string): SDKUserMessage {
  return { type: "user", session_id: "", message: { role: "user", content }, parent_tool_use_id: null };
}

/** The kinds of messages, without what only we send. */
function kinds(messages: readonly SDKMessage[]): readonly string[] {
  return messages.flatMap((message) => (message.type === "system" && message.subtype !== "init" ? [] : [message.type]));
}

function results(messages: readonly SDKMessage[]): readonly string[] {
  return messages.flatMap((message) => (message.type === "result" ? [message.subtype] : []));
}

const shell = (command: string, id = "c1"): object => ({ tool: "shell", id, input: { command } });

describe("a prompt", () => {
  test("is answered: init, the model's words, the result, and a clean exit", async () => {
    using at = place();
    const { messages, error } = await run(at, [{ say: "Hello." }]);
    assert.equal(error, undefined);
    assert.deepEqual(kinds(messages), ["system", "user", "assistant", "result"]);
    const result = messages.at(-1);
    assert.ok(result?.type === "result" && !result.is_error);
    assert.equal(result.result, "Hello.");
    assert.equal(result.num_turns, 1);
  });

  test("that calls a tool shows the call and its result, tied by its id", async () => {
    using at = place();
    at.write("a.txt", "inside\n");
    const { messages, error } = await run(at, [{ calls: [{ tool: "read", id: "c1", input: { file_path: "a.txt" } }] }, { say: "Read." }]);
    assert.equal(error, undefined);
    const blocks = messages.flatMap((message) =>
      (message.type === "assistant" || message.type === "user") && Array.isArray(message.message.content) ? message.message.content : [],
    );
    assert.ok(blocks.some((block) => block.type === "tool_use" && block.id === "c1" && block.name === "read"));
    assert.ok(
      blocks.some(
        (block) => block.type === "tool_result" && block.tool_use_id === "c1" && JSON.stringify(block.content).includes("inside"),
      ),
    );
  });

  test("with partial messages comes in pieces that make up the whole", async () => {
    using at = place();
    const { messages } = await run(at, [{ say: "One two three." }], { includePartialMessages: true });
    const events = messages.flatMap((message) => (message.type === "stream_event" ? [message.event] : []));
    assert.equal(events.filter(({ type }) => type === "message_start").length, 1);
    assert.equal(events.filter(({ type }) => type === "message_stop").length, 1);
    const text = events.flatMap((event) =>
      event.type === "content_block_delta" && event.delta.type === "text_delta" ? [event.delta.text] : [],
    );
    assert.equal(text.join(""), "One two three.");
  });

  test("many prompts get one result each, in order", async () => {
    using at = place();
    async function* prompts(): AsyncGenerator<SDKUserMessage, void, undefined> {
      yield said("first");
      yield said("second");
    }
    const { messages, error } = await drain(start(at, [{ say: "1" }, { say: "2" }], { prompt: prompts() }));
    assert.equal(error, undefined);
    assert.deepEqual(
      messages.flatMap((message) => (message.type === "result" && !message.is_error ? [message.result] : [])),
      ["1", "2"],
    );
  });
});

/** The client leaves the clock of a callback that threw running. */
const SOON = { canUseTool: 5_000 };

describe("canUseTool", () => {
  const turns = (outcome: string): readonly object[] => [
    { calls: [shell("touch shown.txt")] },
    { expect: { result: { call: "c1", outcome } }, say: "Done." },
  ];

  test("allow lets the shown call run", async () => {
    using at = place();
    const asked: unknown[] = [];
    const { error } = await run(at, turns("succeeded"), {
      async canUseTool(name, input) {
        asked.push([name, input["command"]]);
        return { behavior: "allow", updatedInput: input };
      },
    });
    assert.equal(error, undefined);
    assert.deepEqual(asked, [["shell", "touch shown.txt"]]);
    assert.ok(existsSync(at.path("shown.txt")));
  });

  test("allow with another input runs that one, and the model is told", async () => {
    using at = place();
    const edited = [
      { calls: [shell("touch shown.txt")] },
      { expect: { result: { call: "c1", outcome: "succeeded", contains: "edited" } }, say: "Done." },
    ];
    const { error } = await run(at, edited, {
      canUseTool: async (_, input) => ({ behavior: "allow", updatedInput: { ...input, command: "touch edited.txt" } }),
    });
    assert.equal(error, undefined);
    assert.deepEqual([existsSync(at.path("edited.txt")), existsSync(at.path("shown.txt"))], [true, false]);
  });

  test("allow with an input that does not fit is asked again, and nothing runs", async () => {
    using at = place();
    let asked = 0;
    const { error } = await run(at, turns("rejected"), {
      async canUseTool() {
        asked += 1;
        return asked === 1 ? { behavior: "allow", updatedInput: {} } : { behavior: "deny", message: "enough" };
      },
    });
    assert.equal(error, undefined);
    assert.deepEqual([asked, existsSync(at.path("shown.txt"))], [2, false]);
  });

  test("deny gives the model its message", async () => {
    using at = place();
    const denied = [
      { calls: [shell("touch shown.txt")] },
      { expect: { result: { call: "c1", outcome: "rejected", contains: "not on a Friday" } }, say: "Done." },
    ];
    const { messages, error } = await run(at, denied, { canUseTool: async () => ({ behavior: "deny", message: "not on a Friday" }) });
    assert.equal(error, undefined);
    assert.equal(existsSync(at.path("shown.txt")), false);
    assert.deepEqual(results(messages), ["success"]);
  });

  test("deny with interrupt ends the turns of this message", async () => {
    using at = place();
    const { messages } = await run(at, [{ calls: [shell("touch shown.txt")] }], {
      canUseTool: async () => ({ behavior: "deny", message: "stop", interrupt: true }),
    });
    assert.deepEqual([results(messages), existsSync(at.path("shown.txt"))], [["interrupted"], false]);
  });

  test("a callback that throws lets nothing run", async () => {
    using at = place();
    const { error } = await run(at, turns("rejected"), { canUseTool: () => Promise.reject(new Error("broken")), timeout: SOON });
    assert.equal(error, undefined);
    assert.equal(existsSync(at.path("shown.txt")), false);
  });

  test("a host without a callback is asked, and says no", async () => {
    using at = place();
    const { error } = await run(at, turns("rejected"));
    assert.equal(error, undefined);
    assert.equal(existsSync(at.path("shown.txt")), false);
  });

  test("two asks of one turn are answered each for itself", async () => {
    using at = place();
    const two = [
      { calls: [shell("touch one.txt", "c1"), shell("touch two.txt", "c2")] },
      {
        expect: {
          results: [
            { call: "c1", outcome: "rejected" },
            { call: "c2", outcome: "succeeded" },
          ],
        },
        say: "Done.",
      },
    ];
    const { error } = await run(at, two, {
      canUseTool: async (_, input) =>
        input["command"] === "touch two.txt" ? { behavior: "allow", updatedInput: input } : { behavior: "deny", message: "no" },
    });
    assert.equal(error, undefined);
    assert.deepEqual([existsSync(at.path("one.txt")), existsSync(at.path("two.txt"))], [false, true]);
  });
});

describe("permission modes", () => {
  test("yolo runs without an ask", async () => {
    using at = place();
    const { error } = await run(at, [{ calls: [shell("touch a.txt")] }, { say: "Done." }], { permissionMode: "yolo" });
    assert.equal(error, undefined);
    assert.ok(existsSync(at.path("a.txt")));
  });

  test("auto-edit writes without an ask, and asks for the shell", async () => {
    using at = place();
    const turns = [
      { calls: [{ tool: "write", id: "c1", input: { file_path: "a.txt", content: "a" } }, shell("touch b.txt", "c2")] },
      {
        expect: {
          results: [
            { call: "c1", outcome: "succeeded" },
            { call: "c2", outcome: "rejected" },
          ],
        },
        say: "Done.",
      },
    ];
    const { error } = await run(at, turns, { permissionMode: "auto-edit" });
    assert.equal(error, undefined);
    assert.deepEqual([existsSync(at.path("a.txt")), existsSync(at.path("b.txt"))], [true, false]);
  });

  for (const [mode, outcome] of [
    ["plan", "denied"],
    ["default", "rejected"],
  ] as const) {
    test(`${mode} does not let a shell command write`, async () => {
      using at = place();
      const turns = [{ calls: [shell("touch a.txt")] }, { expect: { result: { call: "c1", outcome } }, say: "Done." }];
      const { error } = await run(at, turns, { permissionMode: mode });
      assert.equal(error, undefined);
      assert.equal(existsSync(at.path("a.txt")), false);
    });
  }
});

describe("options", () => {
  test("allowedTools run without an ask", async () => {
    using at = place();
    const turns = [
      { calls: [shell("touch a.txt")] },
      { calls: [{ tool: "write", id: "c2", input: { file_path: "b.txt", content: "b" } }] },
      {
        expect: {
          results: [
            { call: "c1", outcome: "succeeded" },
            { call: "c2", outcome: "succeeded" },
          ],
        },
        say: "Done.",
      },
    ];
    const { messages, error } = await run(at, turns, { allowedTools: ["run_shell_command(touch a.txt)", "write_file"] });
    assert.deepEqual([results(messages), error], [["success"], undefined]);
  });

  const OURS = "You are a careful software engineer";
  const prompts: readonly (readonly [
    systemPrompt: NonNullable<QueryOptions["systemPrompt"]>,
    has: readonly string[],
    hasNot: readonly string[],
  ])[] = [
    ["You are a release bot.", ["You are a release bot."], [OURS]],
    [{ type: "preset", preset: "qwen_code", append: "Speak Latin." }, [OURS, "Speak Latin."], []],
  ];
  for (const [systemPrompt, has, hasNot] of prompts)
    test(`the model is sent the system prompt ${JSON.stringify(systemPrompt)}`, async () => {
      using at = place();
      const server = await modelServer();
      try {
        const { id, environment, frames } = DIALECTS.messages;
        server.replies.push({ frames: frames({ text: ["Hello."] }) });
        const { messages } = await run(at, [], { model: id, systemPrompt, env: { ...at.env, ...environment(server.origin) } });
        assert.deepEqual(results(messages), ["success"]);
        const sent = JSON.stringify(server.received[0]?.body["system"]);
        for (const text of has) assert.ok(sent.includes(text), sent);
        for (const text of hasNot) assert.ok(!sent.includes(text), sent);
      } finally {
        await server.close();
      }
    });

  test("what has no effect here is said on the stream", async () => {
    using at = place();
    const { messages } = await run(at, [{ say: "Hello." }], { authType: "openai" });
    const told = messages.flatMap((message) => (message.type === "system" && message.subtype === "warning" ? [message] : []));
    assert.match(JSON.stringify(told), /"message":"The option --auth-type has no effect here\."/);
    assert.equal(told.length, 1);
  });
});

describe("excludeTools", () => {
  const rows: readonly (readonly [excluded: string, call: object, outcome: string])[] = [
    ["write_file", { tool: "write", input: { file_path: "a.txt", content: "a" } }, "denied"],
    ["run_shell_command", { tool: "shell", input: { command: "true" } }, "denied"],
    ["grep_search", { tool: "search", input: { pattern: "a" } }, "denied"],
    ["Bash(rm x,y)", { tool: "shell", input: { command: "rm x,y" } }, "denied"],
    ["Bash(rm x,y)", { tool: "shell", input: { command: "true" } }, "succeeded"],
    ["save_memory", { tool: "shell", input: { command: "true" } }, "succeeded"],
    ["mcp__tracker__close", { tool: "shell", input: { command: "true" } }, "succeeded"],
  ];
  for (const [excluded, call, outcome] of rows) {
    test(`${excluded}: ${JSON.stringify(call)} is ${outcome}`, async () => {
      using at = place();
      const turns = [{ calls: [{ ...call, id: "c1" }] }, { expect: { result: { call: "c1", outcome } }, say: "Done." }];
      const { messages, error } = await run(at, turns, { permissionMode: "yolo", excludeTools: [excluded] });
      assert.equal(error, undefined);
      assert.deepEqual(results(messages), ["success"]);
    });
  }

  test("a name that no agent has refuses the run, and nothing is recorded", async () => {
    using at = place();
    const { messages, error } = await run(at, [{ say: "Hello." }], { excludeTools: ["writ_file"] });
    assert.deepEqual(messages, []);
    assert.match(error?.message ?? "", /code 2$/);
    assert.deepEqual((await at.hereJson(["sessions"])).value, []);
  });
});

describe("between two prompts", () => {
  /** The second prompt comes when the first has its result and this was done. */
  async function between(at: Place, turns: readonly object[], act: (from: Query) => Promise<unknown>): Promise<ReturnType<typeof drain>> {
    const first = Promise.withResolvers<void>();
    async function* prompts(): AsyncGenerator<SDKUserMessage, void, undefined> {
      yield said("first");
      await first.promise;
      await act(from);
      yield said("second");
    }
    const from = start(at, turns, { prompt: prompts(), options: { permissionMode: "yolo" } });
    const messages: SDKMessage[] = [];
    try {
      for await (const message of from) {
        messages.push(message);
        if (message.type === "result") first.resolve();
      }
      return { messages, error: undefined };
    } catch (error) {
      return { messages, error: error as Error };
    }
  }

  test("setPermissionMode holds for what comes after", async () => {
    using at = place();
    const turns = [
      { calls: [shell("touch a.txt")] },
      { say: "One." },
      { calls: [shell("touch b.txt", "c2")] },
      { expect: { result: { call: "c2", outcome: "denied" } }, say: "Two." },
    ];
    const { messages, error } = await between(at, turns, (from) => from.setPermissionMode("plan"));
    assert.equal(error, undefined);
    assert.deepEqual(results(messages), ["success", "success"]);
    assert.deepEqual([existsSync(at.path("a.txt")), existsSync(at.path("b.txt"))], [true, false]);
  });

  test("setModel holds from the next request on", async () => {
    using at = place();
    const turns = [{ say: "One." }, { expect: { model: "openai:other" }, say: "Two." }];
    const { error } = await between(at, turns, (from) => from.setModel("openai:other"));
    assert.equal(error, undefined);
  });

  test("a request that nobody knows is refused, and nothing else happens", async () => {
    using at = place();
    const { messages, error } = await between(at, [{ say: "One." }, { say: "Two." }], (from) => assert.rejects(from.continueLastTurn()));
    assert.equal(error, undefined);
    assert.deepEqual(results(messages), ["success", "success"]);
  });
});

describe("interrupt", () => {
  test("ends the running call; the next prompt works", async () => {
    using at = place();
    const stopped = Promise.withResolvers<void>();
    async function* prompts(): AsyncGenerator<SDKUserMessage, void, undefined> {
      yield said("first");
      await stopped.promise;
      yield said("second");
    }
    const turns = [
      { calls: [shell("touch started.txt && sleep 60")] },
      { expect: { result: { call: "c1", outcome: "cancelled" } }, say: "Here." },
    ];
    const from = start(at, turns, { prompt: prompts(), options: { permissionMode: "yolo" } });
    const drained = drain(from);
    await until("the command runs", () => existsSync(at.path("started.txt")));
    await from.interrupt();
    stopped.resolve();
    const { messages, error } = await drained;
    assert.equal(error, undefined);
    assert.deepEqual(results(messages), ["interrupted", "success"]);
  });
});

describe("a session", () => {
  test("is taken up again under the id that the client gave it", async () => {
    using at = place();
    const turns = [{ say: "One." }, { say: "Two." }];
    const sessionId = randomUUID();
    const script = at.write("script.json", JSON.stringify({ turns, allowUnused: true }));
    const options = { pathToQwenExecutable: BIN, cwd: at.workspace, env: at.env, model: `script:${script}` };
    for (const [prompt, more, words] of [
      ["first", { sessionId }, "One."],
      ["second", { resume: sessionId }, "Two."],
    ] as const) {
      const { messages, error } = await drain(query({ prompt, options: { ...options, ...more } }));
      assert.equal(error, undefined);
      const result = messages.at(-1);
      assert.ok(result?.type === "result" && !result.is_error);
      assert.deepEqual([result.session_id, result.result], [sessionId, words]);
    }
  });
});

describe("an end", () => {
  const sleeping = [{ calls: [shell("touch started.txt && sleep 60")] }];

  /** The one session there is, once nobody writes to it. */
  async function left(at: Place): Promise<string> {
    const look = async (): Promise<{ readonly state: string; readonly writer: unknown } | undefined> =>
      (await at.hereJson(["sessions"])).value[0];
    await until("the session is left", async () => (await look())?.writer === null);
    return (await look())?.state ?? "";
  }

  test("by abort throws, and the run is recorded as cancelled", async () => {
    using at = place();
    const abortController = new AbortController();
    const drained = drain(start(at, sleeping, { prompt: "Go.", options: { permissionMode: "yolo", abortController } }));
    await until("the command runs", () => existsSync(at.path("started.txt")));
    abortController.abort();
    assert.ok((await drained).error instanceof AbortError);
    assert.equal(await left(at), "cancelled");
  });

  test("by close ends the iteration, and the run is recorded as cancelled", async () => {
    using at = place();
    const from = start(at, sleeping, { prompt: "Go.", options: { permissionMode: "yolo" } });
    const drained = drain(from);
    await until("the command runs", () => existsSync(at.path("started.txt")));
    await from.close();
    assert.equal((await drained).error, undefined);
    assert.equal(await left(at), "cancelled");
  });

  test("by a failing provider: the result says so, then the exit code is thrown", async () => {
    using at = place();
    const { messages, error } = await run(at, [{ error: { status: 401, message: "no key" } }]);
    assert.deepEqual(results(messages), ["error_during_execution"]);
    assert.match(error?.message ?? "", /code 1$/);
  });

  test("by the limit of turns", async () => {
    using at = place();
    const turns = [{ calls: [shell("true")] }, { say: "Too late." }];
    const { messages, error } = await run(at, turns, { permissionMode: "yolo", maxSessionTurns: 1 });
    assert.deepEqual(results(messages), ["error_max_turns"]);
    assert.match(error?.message ?? "", /code 53$/);
  });

  test("by a mistake in the options is thrown, and nothing is recorded", async () => {
    using at = place();
    const { messages, error } = await run(at, [], { extraArgs: ["--no-such-option"] });
    assert.deepEqual(messages, []);
    assert.match(error?.message ?? "", /code 2$/);
    assert.deepEqual((await at.hereJson(["sessions"])).value, []);
  });
});

describe("MCP servers of the client", () => {
  test("a tool inside its program is called after its approval, and one that Assent starts works beside it", async () => {
    using at = place();
    const heard: unknown[] = [];
    // The types of two versions of zod do not fit each other.
    const make = tool as (...given: readonly unknown[]) => unknown;
    const serve = createSdkMcpServer as (given: unknown) => NonNullable<QueryOptions["mcpServers"]>[string];
    const echo = make("echo", "Echoes a text.", { text: z.string() }, async ({ text }: { readonly text: string }) => {
      heard.push(text);
      return { content: [{ type: "text", text: `heard ${text}` }] };
    });
    const started = {
      command: process.execPath,
      args: [new URL("../../packages/mcp/test/servers/hostile.mjs", import.meta.url).pathname, "plain", at.root],
    };
    const asked: string[] = [];
    const calls = ["app", "other"].map((server) => ({ tool: `mcp__${server}__echo`, id: server, input: { text: server } }));
    const { messages, error } = await run(at, [{ calls }, { say: "Done." }], {
      mcpServers: { app: serve({ name: "app", version: "1", tools: [echo] }), other: started },
      canUseTool: async (name, input) => {
        asked.push(name);
        return { behavior: "allow", updatedInput: input };
      },
    });
    assert.equal(error, undefined);
    assert.deepEqual([asked, heard], [["mcp__app__echo", "mcp__other__echo"], ["app"]]);
    assert.match(JSON.stringify(messages), /heard app.*"content":"other"/);
  });
});
