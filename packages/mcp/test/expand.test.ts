import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { expandServer } from "../src/index.ts";

const reference = (text: string): string => text.replaceAll("<", "$" + "{").replaceAll(">", "}");

describe("variables in the configuration of a server", () => {
  const rows: readonly [sentence: string, written: string, expanded: string][] = [
    ["a variable that is set", "a-<A>-b", "a-1-b"],
    ["a variable that is set has no use for its default", "<A:-x>", "1"],
    ["a default for a variable that is not set", "<NONE:-x y>", "x y"],
    ["an empty default", "<NONE:->", ""],
    ["a default for an empty variable", "<EMPTY:-x>", "x"],
    ["an empty variable", "<EMPTY>", ""],
    ["two variables", "<A><B>", "12"],
    ["a value is not expanded again", "<NESTED>", "<A>"],
    ["a dollar sign alone stays", "$A $ {A}", "$A $ {A}"],
    ["what is not a name stays", "<1A> <A-x>", "<1A> <A-x>"],
  ];
  const environment = { A: "1", B: "2", EMPTY: "", NESTED: reference("<A>") };
  for (const [sentence, written, expanded] of rows)
    test(sentence, () => {
      const server = { type: "stdio", command: "x", args: [reference(written)], env: { E: reference(written) } } as const;
      const text = reference(expanded);
      assert.deepEqual(expandServer(server, environment), { server: { ...server, args: [text], env: { E: text } } });
    });

  test("addresses and headers are expanded, too", () => {
    const server = { type: "http", url: reference("https://<HOST>/mcp"), headers: { Authorization: reference("Bearer <A>") } } as const;
    assert.deepEqual(expandServer(server, { HOST: "h", A: "1" }), {
      server: { type: "http", url: "https://h/mcp", headers: { Authorization: "Bearer 1" } },
    });
  });

  test("every missing variable is named with its key", () => {
    const server = { type: "stdio", command: reference("<X>"), args: ["a", reference("<Y>")], env: { Z: reference("<Z>") } } as const;
    assert.deepEqual(expandServer(server, {}), {
      missing: [
        { key: "command", variable: "X" },
        { key: "args[1]", variable: "Y" },
        { key: "env.Z", variable: "Z" },
      ],
    });
  });
});
