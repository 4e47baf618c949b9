import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { place } from "../support/assent.ts";

function edit(pat: string, path: string): object {
  return { ops: [{ pat, out: "x" }], paths: [path] };
}

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
  [
    "a structural edit whose pattern does not parse",
    "ast_edit",
    edit("foo(", "../b.ts"),
    "invalid_tool_params",
    /does not parse as TypeScript/,
  ],
  [
    "a structural search whose pattern does not parse",
    "ast_grep",
    { pattern: "foo(", paths: ["../b.ts"] },
    "invalid_tool_params",
    /does not parse as TypeScript/,
  ],
  [
    "a page of a private address",
    "fetch",
    { url: "http://127.0.0.1:1/x" },
    "web_fetch_blocked",
    /only a rule can allow this private address/,
  ],
  ["a page with a password in its address", "fetch", { url: "https://ann:x@example.test/" }, "web_fetch_blocked", /user name or password/],
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
    ["a structural edit outside the workspace", "ast_edit", edit("foo()", "../b.ts")],
    ["a structural edit of files whose language is not known", "ast_edit", edit("foo(", "../b")],
  ];
  for (const [sentence, tool, input] of ASKING)
    test(`${sentence} asks, so that the model learns nothing from the failure`, async () => {
      using at = place();
      at.write(".env", "a\n");
      assert.equal((await at.hereJson(["call", tool, "--input", JSON.stringify(input), "--on-ask", "park"])).code, 75);
    });

  const RUNTIME: readonly (readonly [sentence: string, tool: string, input: object, contains: string])[] = [
    ["a schedule in the past", "schedule_create", { at: "2020-01-01T00:00:00Z", prompt: "x" }, "is in the past"],
    ["a schedule at no time", "schedule_create", { at: "tomorrow", prompt: "x" }, "at must be a time with an offset"],
    ["a schedule that is too often", "schedule_create", { every: "1s", prompt: "x" }, "too often"],
    ["an agent that does not exist", "agent", { agent: "nobody", description: "x", prompt: "x" }, 'No agent named "nobody"'],
  ];
  for (const [sentence, tool, input, contains] of RUNTIME)
    test(`${sentence} fails at once in a run, and no person is asked`, async () => {
      using at = place();
      const expect = { result: { call: "c1", outcome: "failed", contains } };
      at.write("s.json", JSON.stringify({ turns: [{ calls: [{ tool, id: "c1", input }] }, { expect, say: "Done." }] }));
      const { code, stderr } = await at.here(["run", "go", "--model", "script:s.json", "--on-ask", "park"]);
      assert.equal(code, 0, stderr);
      assert.deepEqual((await at.hereJson(["approvals"])).value, []);
    });

  const unread = (id: string): object => ({ tool: "edit", id, input: { file_path: `${id}.txt`, old_string: "a", new_string: "b" } });
  const BATCHES: readonly (readonly [sentence: string, calls: readonly object[], asked: number])[] = [
    ["calls that all fail do not wait for each other", [unread("a"), unread("b"), unread("c")], 0],
    [
      "a call asks while an earlier one may still make it succeed",
      [unread("a"), { tool: "write", id: "b", input: { file_path: "b.txt", content: "a" } }, unread("b")],
      2,
    ],
  ];
  for (const [sentence, calls, asked] of BATCHES)
    test(`in one turn, ${sentence}`, async () => {
      using at = place();
      for (const file of ["a.txt", "c.txt"]) at.write(file, "a\n");
      if (asked === 0) at.write("b.txt", "a\n");
      at.write(
        "s.json",
        JSON.stringify({ turns: [{ calls: calls.map((call, index) => ({ ...call, id: `c${index}` })) }, { say: "Done." }] }),
      );
      const { code, stderr } = await at.here(["run", "go", "--model", "script:s.json", "--on-ask", "park"]);
      assert.equal(code, asked === 0 ? 0 : 75, stderr);
      assert.equal((await at.hereJson(["approvals"])).value.length, asked);
    });

  test("a schedule that may succeed asks", async () => {
    using at = place();
    const input = { every: "10m", prompt: "x" };
    at.write("s.json", JSON.stringify({ turns: [{ calls: [{ tool: "schedule_create", id: "c1", input }] }] }));
    assert.equal((await at.here(["run", "go", "--model", "script:s.json", "--on-ask", "park"])).code, 75);
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
