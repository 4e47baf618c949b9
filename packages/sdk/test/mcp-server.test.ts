import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { createSdkMcpServer, type JsonObject, type Message, type QueryOptions, query, type SdkTool, tool } from "@assent/sdk";
import { z } from "zod";
import { BIN, type Place, place } from "../../cli/test/support/assent.ts";
import { drain } from "./support/at-door.ts";

const TEXT = { type: "object", properties: { text: { type: "string" } }, required: ["text"] };

type Run = { readonly messages: readonly Message[]; readonly error: Error | undefined };

/** Against the real program, with a scripted model that calls each tool once. */
async function callTools(at: Place, tools: readonly SdkTool[], input: object, options: Partial<QueryOptions> = {}): Promise<Run> {
  const turns = [{ calls: tools.map(({ name }) => ({ tool: `mcp__app__${name}`, id: name, input })) }, { say: "Done." }];
  const script = at.write("script.json", JSON.stringify({ turns }));
  const mcpServers = { app: createSdkMcpServer({ name: "app", tools }) };
  const started = { executable: BIN, cwd: at.workspace, env: at.env, model: `script:${script}`, mcpServers };
  return await drain(query({ prompt: "Go.", ...started, ...options }));
}

function resultOf({ messages }: Run, id = "echo"): string {
  const blocks = messages.flatMap((message) =>
    message.type === "user" && Array.isArray(message.message.content) ? message.message.content : [],
  );
  return JSON.stringify(blocks.find((block) => block.type === "tool_result" && block.tool_use_id === id));
}

describe("tools of the program that drives Assent", () => {
  const loud = z.object({ text: z.string().transform((one) => one.toUpperCase()) });
  const never = z.object({ text: z.string().refine(() => false, "not today") });
  const rows: readonly [sentence: string, run: SdkTool["run"], schema: SdkTool["inputSchema"], result: RegExp][] = [
    ["a text is the result", ({ text }) => `heard ${text}`, TEXT, /heard hi/],
    ["content of MCP is the result", () => ({ content: [{ type: "text", text: "as content" }] }), TEXT, /as content/],
    ["a throw is the tool's error", () => Promise.reject(new Error("no such ticket")), TEXT, /no such ticket.*"is_error":true/],
    ["a schema of zod validates and describes", ({ text }) => `heard ${text}`, loud, /heard HI/],
    ["a schema that refuses is the tool's error", () => "ran", never, /not today.*"is_error":true/],
  ];
  test("their results reach the model", async () => {
    using at = place();
    const tools = rows.map(([, run, schema], index) => tool(`t${index}`, "A tool.", schema, run));
    const ran = await callTools(at, tools, { text: "hi" }, { allow: ["mcp__app"] });
    assert.equal(ran.error, undefined);
    for (const [index, [sentence, , , result]] of rows.entries()) assert.match(resultOf(ran, `t${index}`), result, sentence);
  });

  test("a call needs an approval, which names the tool; a refused one does not run", async () => {
    using at = place();
    const asked: string[] = [];
    let calls = 0;
    const echo = tool("echo", "Echoes.", TEXT, () => {
      calls += 1;
      return "ran";
    });
    for (const behavior of ["deny", "allow"] as const)
      await callTools(
        at,
        [echo],
        { text: "hi" },
        {
          canUseTool: ({ tool_name: toolName }) => {
            asked.push(toolName);
            return behavior === "allow" ? { behavior } : { behavior, message: "no" };
          },
        },
      );
    assert.deepEqual([asked, calls], [["mcp__app__echo", "mcp__app__echo"], 1]);
  });

  test("input that does not fit never reaches the tool", async () => {
    using at = place();
    const ran = await callTools(at, [tool("echo", "Echoes.", TEXT, () => assert.fail("it ran"))], {}, { allow: ["mcp__app"] });
    assert.match(resultOf(ran), /"outcome":"invalid"/);
  });

  test("a server that ends an interrupted call is told so", async () => {
    using at = place();
    const { promise: aborted, resolve } = Promise.withResolvers<string>();
    const { promise: started, resolve: start } = Promise.withResolvers<void>();
    const echo = tool("echo", "Echoes.", TEXT, (_input, { signal }) => {
      signal.addEventListener("abort", () => resolve("aborted"), { once: true });
      start();
      return new Promise<string>(() => undefined);
    });
    const turns = [{ calls: [{ tool: "mcp__app__echo", id: "c1", input: { text: "hi" } }] }, { say: "Done." }];
    const script = at.write("script.json", JSON.stringify({ turns }));
    const mcpServers = { app: createSdkMcpServer({ name: "app", tools: [echo] }) };
    await using run = query({
      ...{ prompt: "Go.", executable: BIN, cwd: at.workspace, env: at.env, model: `script:${script}`, mcpServers, allow: ["mcp__app"] },
    });
    const reading = drain(run);
    await started;
    await run.interrupt({ end: true });
    assert.equal(await aborted, "aborted");
    await reading;
  });
});

describe("the messages of a server of the program", () => {
  const server = createSdkMcpServer({ name: "app", tools: [tool("echo", "Echoes.", TEXT, ({ text }) => String(text))] });
  const rows: readonly [sentence: string, message: JsonObject, answer: RegExp | undefined][] = [
    ["a notification has no answer", { method: "notifications/initialized" }, undefined],
    ["an unknown method is an error", { id: 1, method: "resources/list" }, /-32601/],
    ["a name of an object's own properties is an error", { id: 1, method: "constructor" }, /-32601/],
    ["an unknown tool is an error", { id: 1, method: "tools/call", params: { name: "none" } }, /-32602.*There is no tool \\"none\\"/],
    ["arguments that are missing are an empty object", { id: 1, method: "tools/call", params: { name: "echo" } }, /undefined/],
  ];
  for (const [sentence, message, answer] of rows)
    test(sentence, async () => {
      const said = await server.answer(message);
      if (answer) assert.match(JSON.stringify(said), answer);
      else assert.equal(said, undefined);
    });

  test("a schema that does not describe itself is refused when the server is made", () => {
    const schema = { "~standard": { validate: (value: unknown) => ({ value }) } };
    assert.throws(() => createSdkMcpServer({ name: "app", tools: [tool("x", "X.", schema, () => "")] }), /does not describe itself/);
  });
});
