import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { Json, RunContext } from "@assent/core";
import { createBench, findTool, hostile, scratch } from "./server-bench.ts";

type Asked = {
  readonly questions: readonly {
    readonly id: string;
    readonly question: string;
    readonly options: readonly { readonly label: string }[];
  }[];
};

/** Stands for the dispatcher's `ask`: answers each question by its id, a label or a text. */
function person(replies: readonly Record<string, readonly string[]>[], asked: Asked[]): RunContext["gate"] {
  let round = 0;
  return async ({ arguments: given }) => {
    const { questions } = given as Asked;
    asked.push({ questions });
    const reply = replies[round];
    round += 1;
    if (!reply) throw new Error("no person can be asked");
    const results = questions.map(({ id, options }) => {
      const chosen = reply[id] ?? [];
      const custom = chosen.find((text) => !options.some(({ label }) => label === text));
      const selectedOptions = chosen.filter((text) => text !== custom);
      return { id, selectedOptions, outcome: "answered", ...(custom !== undefined && { customInput: custom }) };
    });
    const [only] = results;
    return { content: "", details: (results.length === 1 ? only : { results }) as unknown as Json };
  };
}

/** Where there is none, no person is asked. */
const FIRST_QUESTIONS: Readonly<Record<string, RegExp>> = {
  form: /The MCP server x asks: Which release\?/,
  page: /server x asks you to open a page of id\.example\.com:\nhttps:.*\nLog in/,
  imitating: /open a page of evil\.example:/,
  insist: /Again\?/,
  password: /^The MCP server x asks: Log in!+\n\(Do not enter passwords or keys here: the answer goes to the server and is recorded\./,
};

describe("what a server asks becomes a question to the person", () => {
  const rows: readonly [sentence: string, behavior: string, replies: readonly Record<string, readonly string[]>[], answer: object][] = [
    [
      "a form with a number, a choice and a yes or no",
      "form",
      [{ go_on: ["Continue"], f0: ["3"], f1: ["Beta"], f2: ["Yes"] }],
      { action: "accept", content: { version: 3, channel: "beta", notify: true, tags: ["b"] } },
    ],
    [
      "optional fields can be left out, and then have their defaults",
      "form",
      [{ go_on: ["Continue"], f0: ["3"] }],
      { action: "accept", content: { version: 3, tags: ["b"] } },
    ],
    [
      "an answer counts instead of the default",
      "form",
      [{ go_on: ["Continue"], f0: ["3"], f3: ["a"] }],
      { action: "accept", content: { version: 3, tags: ["a"] } },
    ],
    [
      "an answer that does not fit is asked again",
      "form",
      [
        { go_on: ["Continue"], f0: ["x"] },
        { go_on: ["Continue"], f0: ["1"] },
      ],
      { action: "accept", content: { version: 1, tags: ["b"] } },
    ],
    ["a person who declines", "form", [{ go_on: ["Decline"] }], { action: "decline" }],
    ["no person who can be asked", "form", [], { action: "cancel" }],
    ["a page that was opened", "page", [{ open: ["I opened it"] }], { action: "accept" }],
    ["a page whose address imitates another host", "imitating", [{ open: ["Decline"] }], { action: "decline" }],
    ["a page that is a script", "script", [{ open: ["I opened it"] }], { action: "decline" }],
    ["a page whose address is too long to be shown", "long-url", [{ open: ["I opened it"] }], { action: "decline" }],
    ["a form for a password, with a long message", "password", [{ go_on: ["Decline"] }], { action: "decline" }],
    [
      "a server that insists is not heard after three refusals",
      "insist",
      Array(100).fill({ go_on: ["Decline"] }),
      { decline: 3, cancel: 97 },
    ],
    ["a server that asks without end", "insist", Array(100).fill({ go_on: ["Continue"] }), { accept: 50, cancel: 50 }],
    ["a page that the person does not want to open", "page", [{ open: ["Decline"] }], { action: "decline" }],
  ];
  for (const [sentence, behavior, replies, answer] of rows)
    test(sentence, async (t) => {
      const directory = scratch(t);
      const { set } = createBench(t, { x: hostile(behavior, directory) }, { directory });
      await set.settle(20_000);
      const asked: Asked[] = [];
      const call = await findTool(set, "mcp__x__echo").build({});
      const { content } = await call.execute(new AbortController().signal, undefined, { gate: person(replies, asked) });
      assert.deepEqual(JSON.parse(String(content)), answer);
      const [first, ...fields] = asked[0]?.questions ?? [];
      if (behavior === "form" && fields.length > 0) assert.equal(fields.at(-1)?.question, "tags (optional) (without an answer: b)");
      assert.match(first?.question ?? "", FIRST_QUESTIONS[behavior] ?? /^$/);
    });
});
