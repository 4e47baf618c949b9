import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import { context, type Files, workbench } from "../ast/workbench.ts";

type Row = readonly [name: string, files: Files, input: object, content: string];

const ROWS: readonly Row[] = [
  [
    "matches by path, line and column",
    { "src/b.ts": "\n  f(1)\n", "src/a.ts": "f('😀'); f(2)" },
    { pattern: "f($A)", paths: ["src"] },
    "src/a.ts:1:1: f('😀')\nsrc/a.ts:1:10: f(2)\nsrc/b.ts:2:3: f(1)",
  ],
  ["inner matches too", { "a.ts": "f(f(1))" }, { pattern: "f($A)", paths: ["a.ts"] }, "a.ts:1:1: f(f(1))\na.ts:1:3: f(1)"],
  ["a match of several lines is shown whole", { "a.ts": "f(\n  1,\n)" }, { pattern: "f($$$)", paths: ["a.ts"] }, "a.ts:1:1: f(\n  1,\n)"],
  ["no match", { "a.ts": "g(1)" }, { pattern: "f($A)", paths: ["a.ts"] }, "No matches found."],
  [
    "other files are skipped and counted",
    { "a.ts": "f(1)", "b.txt": "f(1)", "c.md": "" },
    { pattern: "f($A)", paths: ["."] },
    "a.ts:1:1: f(1)\n[2 files skipped]",
  ],
  ["binary files are skipped and counted", { "a.ts": "f(1)\0" }, { pattern: "f($A)", paths: ["."] }, "No matches found.\n[1 file skipped]"],
  [
    "a file with a syntax error is searched as far as it goes",
    { "a.ts": "f(1); const = ;" },
    { pattern: "f($A)", paths: ["."] },
    "a.ts:1:1: f(1)",
  ],
  [
    "one language of several",
    { "a.ts": "f(1)", "b.js": "f(2)" },
    { pattern: "f($A)", paths: ["."], language: "js" },
    "b.js:1:1: f(2)\n[1 file skipped]",
  ],
  [
    "a named file of no known kind, in the language that is given",
    { "a.vue.txt": "f(1)" },
    { pattern: "f($A)", paths: ["a.vue.txt"], language: "TypeScript" },
    "a.vue.txt:1:1: f(1)",
  ],
  [
    "a pattern that is none in one of the languages",
    { "a.ts": "let x: number = 1", "b.js": "f(2)" },
    { pattern: "let $X: number = $V", paths: ["."] },
    "a.ts:1:1: let x: number = 1\n[1 file skipped]\n[The pattern does not parse as JavaScript]",
  ],
  ["a variable twice must match equal text", { "a.ts": "x == x; x == y" }, { pattern: "$A == $A", paths: ["a.ts"] }, "a.ts:1:1: x == x"],
  [
    "files that hold secrets are not shown",
    { "a.ts": "f(1)", "secrets.ts": "f('hush')" },
    { pattern: "f($A)", paths: ["."] },
    "a.ts:1:1: f(1)\n[1 file skipped]",
  ],
];
for (const [name, files, input, content] of ROWS) {
  test(`ast_grep finds: ${name}`, async (t) => {
    const result = await workbench(t, files).search(input);
    assert.deepEqual([result.error, result.content], [undefined, content]);
  });
}

test("at most a thousand matches are listed, the rest are counted", async (t) => {
  const { search } = workbench(t, { "a.ts": "f(1);\n".repeat(700), "b.ts": "f(1);\n".repeat(700) });
  const { content, details } = await search({ pattern: "f($A)", paths: ["."] });
  const lines = String(content).split("\n");
  assert.deepEqual([lines.length, lines[999], lines[1000]], [1001, "b.ts:300:1: f(1)", "[400 more matches]"]);
  assert.deepEqual(details, { matches: 1400, skipped: 0 });
});

const REFUSED: readonly (readonly [name: string, input: object, text: RegExp])[] = [
  ["a blank pattern", { pattern: " ", paths: ["."] }, /^pattern must not be empty$/],
  ["an empty pattern", { pattern: "", paths: ["."] }, /must NOT have fewer than 1 characters/],
  ["a long pattern", { pattern: "x".repeat(4097), paths: ["."] }, /must NOT have more than 4096 characters/],
  ["no paths", { pattern: "x", paths: [] }, /^paths must not be empty$/],
  ["missing paths", { pattern: "x" }, /required property 'paths'/],
  ["a URL", { pattern: "x", paths: ["https://a.test"] }, /^paths\[0\] is a URL; give a file, directory or glob$/],
  [
    "an unknown language",
    { pattern: "x", paths: ["."], language: "cobol" },
    /^language must be one of typescript, tsx, javascript, css, html, python, go, rust$/,
  ],
];
for (const [name, input, text] of REFUSED) {
  test(`ast_grep refuses: ${name}`, async (t) => {
    await assert.rejects(workbench(t, {}).search(input), { type: "invalid_tool_params", message: text });
  });
}

test("a pattern that does not parse is invalid", async (t) => {
  const { search } = workbench(t, { "a.ts": "f(1)", "b.tsx": "" });
  const { error } = await search({ pattern: "f(", paths: ["."] });
  assert.deepEqual(error, {
    type: "invalid_tool_params",
    message: "The pattern does not parse as TypeScript; The pattern does not parse as TSX",
  });
});

test("a path that does not exist", async (t) => {
  const { error } = await workbench(t, {}).search({ pattern: "x", paths: ["gone"] });
  assert.deepEqual(error, { type: "file_not_found", message: "Path not found: gone" });
});

test("more files than the limit are not searched", async (t) => {
  const { content } = await workbench(t, { "a.ts": "x", "b.ts": "x" }, { maxFiles: 1 }).search({ pattern: "x", paths: ["."] });
  assert.equal(content, "File limit of 1 reached; narrow the paths.");
});

const PERMITTED: readonly (readonly [name: string, paths: readonly string[], verdict: string])[] = [
  ["inside the workspace", ["src", "a.ts", "src/**/*.ts"], "allow"],
  ["outside of it", ["src", "/etc"], "ask"],
  ["a sensitive file", ["secrets.ts"], "ask"],
];
for (const [name, paths, verdict] of PERMITTED) {
  test(`ast_grep's own opinion: ${name}: ${verdict}`, async (t) => {
    const { grep, root } = workbench(t, {});
    const built = await grep.build({ pattern: "x", paths }, context(root));
    assert.equal(await built.permission(), verdict);
    assert.deepEqual(
      built.locations()?.map(({ path }) => path),
      paths.map((path) => (path.startsWith("/") ? path : join(root, path))),
    );
  });
}
