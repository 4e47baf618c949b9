import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { expandPrompt } from "../src/index.ts";
import { createBench, hostile, published, scratch } from "./server-bench.ts";

const never = new AbortController().signal;

describe("prompts and resources of a server in what a person says", () => {
  const rows: readonly [sentence: string, said: string, expected: RegExp][] = [
    ["a prompt without arguments", "/mcp__every__simple-prompt", /^This is a simple prompt without arguments\.$/],
    ["arguments in order", '/mcp__every__args-prompt "San Jose" CA', /weather in San Jose, CA/],
    ["arguments by name", "/mcp__every__args-prompt state=CA city=Oakland", /weather in Oakland, CA/],
    [
      "a resource that is mentioned",
      "What is in @every:demo://resource/dynamic/text/1 ?",
      /^What is in @every:.*\n\nResource demo:\/\/resource\/dynamic\/text\/1 of the MCP server every:\nResource 1/,
    ],
    [
      "a mention of something else stays as it is",
      "mail a@every:x and @other:y and @file.ts",
      /^mail a@every:x and @other:y and @file\.ts$/,
    ],
  ];
  const faults: readonly [sentence: string, said: string, message: RegExp][] = [
    ["a prompt that does not exist", "/mcp__every__none", /No MCP server offers \/mcp__every__none\./],
    ["a missing argument", "/mcp__every__args-prompt", /needs the argument city/],
    ["too many arguments", "/mcp__every__simple-prompt x", /takes 0 arguments/],
    ["a resource that does not exist", "@every:demo://none", /The resource demo:\/\/none of the MCP server every could not be read/],
  ];
  test("two prompts that would have the same command cannot be used by it", async (t) => {
    const directory = scratch(t);
    const { set } = createBench(t, { x: hostile("prompts", directory) }, { directory });
    await set.settle(20_000);
    await assert.rejects(expandPrompt("/mcp__x__a_b", set.servers, never), /could mean "a\.b" or "a b", so it cannot be used/);
  });

  test("all of them", async (t) => {
    const { set } = createBench(t, { every: published("everything") });
    await set.settle(20_000);
    for (const [sentence, said, expected] of rows)
      await t.test(sentence, async () => assert.match(await expandPrompt(said, set.servers, never), expected));
    for (const [sentence, said, message] of faults)
      await t.test(sentence, async () =>
        assert.rejects(expandPrompt(said, set.servers, never), ({ message: text }: Error) => message.test(text)),
      );
  });
});
