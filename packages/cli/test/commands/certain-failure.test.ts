import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { place } from "../support/assent.ts";

type FailureRow = readonly [sentence: string, tool: string, input: object, type: string, text: RegExp];

const FAILING: readonly FailureRow[] = [
  [
    "an edit of a file that was not read",
    "edit",
    { file_path: "a.txt", old_string: "a", new_string: "b" },
    "edit_requires_prior_read",
    /Read it first/,
  ],
  ["an edit of a file that is not there", "edit", { file_path: "b.txt", old_string: "a", new_string: "b" }, "file_not_found", /Use write/],
  ["a write over a file that was not read", "write", { file_path: "a.txt", content: "b" }, "edit_requires_prior_read", /Read it first/],
  ["a command in a directory that is not there", "shell", { command: "touch x", cwd: "none" }, "shell_execute_error", /does not exist/],
];

describe("a call that is certain to fail", () => {
  for (const [sentence, tool, input, type, text] of FAILING)
    test(`${sentence} fails at once, and no person is asked`, async () => {
      using at = place();
      at.write("a.txt", "a\n");
      const { code, value } = await at.hereJson(["call", tool, "--input", JSON.stringify(input), "--on-ask", "park"]);
      assert.deepEqual([code, value.outcome, value.type], [1, "failed", type]);
      assert.match(value.content, text);
      assert.deepEqual((await at.hereJson(["approvals"])).value, []);
      assert.equal((await at.here(["verify"])).code, 0);
    });

  const ASKING: readonly (readonly [sentence: string, tool: string, input: object])[] = [
    ["a file outside the workspace", "edit", { file_path: "../b.txt", old_string: "a", new_string: "b" }],
    ["a file with secrets", "edit", { file_path: ".env", old_string: "a", new_string: "b" }],
    ["a new file", "write", { file_path: "b.txt", content: "b" }],
  ];
  for (const [sentence, tool, input] of ASKING)
    test(`${sentence} asks, so that the model learns nothing from the failure`, async () => {
      using at = place();
      at.write(".env", "a\n");
      assert.equal((await at.hereJson(["call", tool, "--input", JSON.stringify(input), "--on-ask", "park"])).code, 75);
    });

  test("a deny comes first", async () => {
    using at = place();
    at.write("a.txt", "a\n");
    const input = JSON.stringify({ file_path: "a.txt", old_string: "a", new_string: "b" });
    const { value } = await at.hereJson(["call", "edit", "--input", input, "--deny", "Edit(a.txt)"]);
    assert.deepEqual([value.outcome, value.type], ["denied", "denied_by_rule"]);
  });
});

test("the built-in agent that only reads starts without asking; a fork asks", async () => {
  using at = place();
  const verdict = async (input: object): Promise<string> =>
    (await at.hereJson(["explain", "--tool", "agent", "--input", JSON.stringify({ description: "x", prompt: "x", ...input })])).value
      .verdict;
  assert.deepEqual([await verdict({ agent: "explorer" }), await verdict({})], ["allow", "ask"]);
});
