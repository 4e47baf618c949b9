import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import type { AppliedPreview } from "@assent/core";
import fc from "fast-check";
import { afters, context, type Files, plain, staged, workbench } from "../ast/workbench.ts";

const OP = { pat: "f($$$A)", out: "g($$$A)" };

const INVALID: readonly (readonly [name: string, input: object, text: string])[] = [
  ["ops are empty", { ops: [], paths: ["a.ts"] }, "ops must not be empty"],
  ["ops are missing", { paths: ["a.ts"] }, "ops must not be empty"],
  ["a blank pat", { ops: [OP, { pat: " \n", out: "" }], paths: ["a.ts"] }, "ops[1].pat must not be empty"],
  ["the same pat twice", { ops: [OP, { pat: "x", out: "" }, { ...OP, out: "h()" }], paths: ["a.ts"] }, "ops[2].pat repeats ops[0].pat"],
  [
    "the same pat but for blanks around it",
    { ops: [OP, { pat: " f($$$A)\n", out: "h()" }], paths: ["a.ts"] },
    "ops[1].pat repeats ops[0].pat",
  ],
  ["paths are empty", { ops: [OP], paths: [] }, "paths must not be empty"],
  ["paths are missing", { ops: [OP] }, "paths must not be empty"],
  ["a blank entry", { ops: [OP], paths: ["a.ts", " "] }, "paths must not be empty"],
  ["a URL", { ops: [OP], paths: ["a.ts", "https://example.test/a.ts"] }, "paths[1] is a URL; give a file, directory or glob"],
  ["a file URL", { ops: [OP], paths: ["file:///a.ts"] }, "paths[0] is a URL; give a file, directory or glob"],
  [
    "a variable that pat does not bind",
    { ops: [OP, { pat: "h($A)", out: "h($B)" }], paths: ["a.ts"] },
    "ops[1].out uses $B, which pat does not capture",
  ],
  [
    "one node where pat binds many",
    { ops: [{ pat: "h($$$A)", out: "h($A)" }], paths: ["a.ts"] },
    "ops[0].out uses $A, which pat does not capture",
  ],
  [
    "many nodes where pat binds one",
    { ops: [{ pat: "h($A)", out: "h($$$A)" }], paths: ["a.ts"] },
    "ops[0].out uses $$$A, which pat does not capture",
  ],
  [
    "a variable without a name",
    { ops: [{ pat: "h($_)", out: "h($_)" }], paths: ["a.ts"] },
    "ops[0].out uses $_, which pat does not capture",
  ],
  ["many without a name", { ops: [{ pat: "h($$$)", out: "h($$$)" }], paths: ["a.ts"] }, "ops[0].out uses $$$, which pat does not capture"],
  ["a NUL in a path", { ops: [OP], paths: ["a\0.ts"] }, "paths[0] must not contain a NUL character"],
  [
    "too many operations",
    { ops: Array.from({ length: 51 }, (_, i) => ({ pat: `f${i}`, out: "" })), paths: ["a.ts"] },
    "params/ops must NOT have more than 50 items",
  ],
  [
    "a pat that is too long",
    { ops: [{ pat: "x".repeat(10_001), out: "" }], paths: ["a.ts"] },
    "params/ops item 0, pat must NOT have more than 10000 characters",
  ],
  [
    "an out that is too long",
    { ops: [{ pat: "x", out: "x".repeat(10_001) }], paths: ["a.ts"] },
    "params/ops item 0, out must NOT have more than 10000 characters",
  ],
  ["an op without out", { ops: [{ pat: "x" }], paths: ["a.ts"] }, "params/ops item 0 must have required property 'out'"],
  [
    "an unknown field of an op",
    { ops: [{ pat: "x", out: "", lang: "ts" }], paths: ["a.ts"] },
    "params/ops item 0 must NOT have additional property 'lang'",
  ],
  ["too many paths", { ops: [OP], paths: Array.from({ length: 101 }, () => "a") }, "params/paths must NOT have more than 100 items"],
  ["an unknown field", { ops: [OP], paths: ["a.ts"], dryRun: true }, "params must NOT have additional property 'dryRun'"],
];
for (const [name, input, text] of INVALID) {
  test(`ast_edit refuses: ${name}`, async (t) => {
    const { preview } = workbench(t, { "a.ts": "f(1)" });
    await assert.rejects(preview(input), { message: text, type: "invalid_tool_params" });
  });
}

test("a pat of 10,000 characters after trimming is accepted", async (t) => {
  const { preview } = workbench(t, { "a.ts": "f(1)" });
  const pat = `${" ".repeat(50)}${"x".repeat(10_000)}\n`;
  assert.equal(plain(await preview({ ops: [{ pat, out: "" }], paths: ["a.ts"] })).content, "No matches. Nothing was staged.");
});

type Op = { pat: string; out: string };
const REWRITES: readonly (readonly [name: string, file: string, before: string, ops: readonly Op[], after: string])[] = [
  ["one node", "a.ts", "f(1, 2); f(3);", [{ pat: "f($A)", out: "g($A)" }], "f(1, 2); g(3);"],
  ["any number of nodes, none included", "a.ts", "f(); f(1); f(1, 2);", [OP], "g(); g(1); g(1, 2);"],
  ["many nodes are their exact source", "a.ts", "f(1 ,/* c */\t2,\r\n  3 , )", [OP], "g(1 ,/* c */\t2,\r\n  3 ,)"],
  [
    "statements of a body",
    "a.ts",
    "if (x) {\n  a();\n\n  b()\n}",
    [{ pat: "if ($C) { $$$B }", out: "while ($C) { $$$B }" }],
    "while (x) { a();\n\n  b() }",
  ],
  ["nodes without a name", "a.ts", "f(1, 2, 3); f(1)", [{ pat: "f($_, $$$)", out: "g()" }], "g(); f(1)"],
  [
    "a variable twice must match equal text",
    "a.ts",
    "x == x; x == y; a.b == a . b",
    [{ pat: "$A == $A", out: "same($A)" }],
    "same(x); x == y; a.b == a . b",
  ],
  ["a variable thrice", "a.ts", "f(x, x, x); f(x, x, y)", [{ pat: "f($A, $A, $A)", out: "g($A)" }], "g(x); f(x, x, y)"],
  ["a variable may be used more than once", "a.ts", "f(1)", [{ pat: "f($A)", out: "[$A, $A]" }], "[1, 1]"],
  ["a variable joined to a word", "a.ts", "f(a)", [{ pat: "f($A)", out: "get$A()" }], "geta()"],
  ["two dollar signs are one node, named or not", "a.ts", "f(1)", [{ pat: "f($$A)", out: "g($$A)" }], "g(1)"],
  ["dollar signs that are no variables", "a.ts", "f(1)", [{ pat: "f($A)", out: "g(`$${$A}$a`, '$1')" }], "g(`$${1}$a`, '$1')"],
  [
    "replacement patterns of strings mean nothing",
    "a.ts",
    "f(1)",
    [{ pat: "f($A)", out: "g('$&', '$`', \"\\1\")" }],
    "g('$&', '$`', \"\\1\")",
  ],
  ["an empty out deletes", "a.ts", "a();\nf(1);\nb();\n", [{ pat: "f($A);", out: "" }], "a();\n\nb();\n"],
  ["what a capture holds is not read as a template", "a.ts", "f('$A $$$B')", [{ pat: "f($A)", out: "g($A)" }], "g('$A $$$B')"],
  [
    "a statement keeps its semicolon where the pattern has none",
    "a.ts",
    "const a = 1;\nconst b = 2\n",
    [{ pat: "const $N = $V", out: "let $N = $V" }],
    "let a = 1;\nlet b = 2\n",
  ],
  ["and loses it where the pattern has one", "a.ts", "f(1);\nf(2)\n", [{ pat: "f($A);", out: "g($A)" }], "g(1)\nf(2)\n"],
  [
    "no operation sees another's output",
    "a.ts",
    "a(1); b(2)",
    [
      { pat: "a($X)", out: "b($X)" },
      { pat: "b($X)", out: "a($X)" },
    ],
    "b(1); a(2)",
  ],
  [
    "matches of several operations in one file",
    "a.ts",
    "b(1); a(2); b(3)",
    [
      { pat: "a($X)", out: "A($X)" },
      { pat: "b($X)", out: "B($X)" },
    ],
    "B(1); A(2); B(3)",
  ],
  [
    "changes that touch do not overlap",
    "a.ts",
    "[a,b]",
    [
      { pat: "a", out: "x" },
      { pat: "b", out: "y" },
    ],
    "[x,y]",
  ],
  [
    "a change that changes nothing is no change",
    "a.ts",
    "f(1); f(2)",
    [
      { pat: "f(1)", out: "f(1)" },
      { pat: "f(2)", out: "f(3)" },
    ],
    "f(1); f(3)",
  ],
  ["the outer of nested matches is taken", "a.ts", "f(f(1))", [OP], "g(f(1))"],
  [
    "line endings, a mark at the start and a missing end of line stay",
    "a.ts",
    "\ufeffa();\r\nf(1);\r\nb()",
    [OP],
    "\ufeffa();\r\ng(1);\r\nb()",
  ],
  ["line endings that are mixed stay mixed", "a.ts", "a();\nf(1);\r\n\r\nb();\n\n", [OP], "a();\ng(1);\r\n\r\nb();\n\n"],
  ["characters of every width", "a.ts", "const é = '😀'; f('😀', é) // 𝒳", [OP], "const é = '😀'; g('😀', é) // 𝒳"],
  ["TypeScript by .mts", "a.mts", "let x: number = f(1)", [OP], "let x: number = g(1)"],
  ["TypeScript by .cts", "a.cts", "let x: number = f(1)", [OP], "let x: number = g(1)"],
  [
    "a declaration in which the grammar misses a semicolon",
    "a.ts",
    'declare module "m" {\n  global {\n    interface A {}\n  }\n}\nf(1)',
    [OP],
    'declare module "m" {\n  global {\n    interface A {}\n  }\n}\ng(1)',
  ],
  [
    "TSX",
    "a.tsx",
    "const x = <Foo a={f(1)}>t</Foo>",
    [{ pat: "<Foo $$$P>$$$C</Foo>", out: "<Bar $$$P>$$$C</Bar>" }],
    "const x = <Bar a={f(1)}>t</Bar>",
  ],
  ["JavaScript by .js", "a.js", "f(1)", [OP], "g(1)"],
  ["JavaScript by .mjs", "a.mjs", "f(1)", [OP], "g(1)"],
  ["JavaScript by .cjs", "a.cjs", "f(1)", [OP], "g(1)"],
  ["JavaScript by .jsx", "a.jsx", "const x = <b>{f(1)}</b>", [OP], "const x = <b>{g(1)}</b>"],
  ["CSS: a rule", "a.css", "a { color: red; }", [{ pat: "a { $$$B }", out: "b { $$$B }" }], "b { color: red; }"],
  [
    "any number of cases, where no name can stand",
    "a.ts",
    "switch (x) {\n  case 1: f(); break;\n  default: g()\n}",
    [{ pat: "switch (x) { $$$C }", out: "switch (y) { $$$C }" }],
    "switch (y) { case 1: f(); break;\n  default: g() }",
  ],
  [
    "CSS: a declaration",
    "a.css",
    "a { color: red; margin: 0 }",
    [{ pat: "color: $C", out: "background: $C" }],
    "a { background: red; margin: 0 }",
  ],
  [
    "HTML",
    "a.html",
    "<p class='x'>hi <b>y</b></p>\n<script></script>",
    [{ pat: "<p class='x'>$$$A</p>", out: "<div>$$$A</div>" }],
    "<div>hi <b>y</b></div>\n<script></script>",
  ],
  ["Python", "a.py", "def a():\n    print(1, 2)\n", [{ pat: "print($$$A)", out: "log($$$A)" }], "def a():\n    log(1, 2)\n"],
  [
    "Go: a call",
    "a.go",
    "package main\n\nfunc main() { fmt.Println(a, b) }",
    [{ pat: "fmt.Println($$$A)", out: "log.Print($$$A)" }],
    "package main\n\nfunc main() { log.Print(a, b) }",
  ],
  ["Go: an empty text", "a.go", "package main\n\nvar x = f(``)", [OP], "package main\n\nvar x = g(``)"],
  ["Go: a file that does not end with a line", "a.go", "package main\n\nvar x = f(1)", [OP], "package main\n\nvar x = g(1)"],
  [
    "Go: a declaration",
    "a.go",
    "package main\n\nfunc old() { a() }\n",
    [{ pat: "func old() { $$$B }", out: "func young() { $$$B }" }],
    "package main\n\nfunc young() { a() }\n",
  ],
  ["Rust: a call", "a.rs", "fn main() { foo(1); }\n", [{ pat: "foo($A)", out: "bar($A)" }], "fn main() { bar(1); }\n"],
  [
    "Rust: an empty text",
    "a.rs",
    'fn main() { foo(r"", b""); }\n',
    [{ pat: "foo($$$A)", out: "bar($$$A)" }],
    'fn main() { bar(r"", b""); }\n',
  ],
  [
    "Rust: a statement whose semicolon the pattern leaves out",
    "a.rs",
    "fn main() { let x = 1; }\n",
    [{ pat: "let x = $A", out: "let y = $A" }],
    "fn main() { let y = 1; }\n",
  ],
];
for (const [name, file, before, ops, after] of REWRITES) {
  test(`ast_edit rewrites: ${name}`, async (t) => {
    const { root, preview, read } = workbench(t, { [file]: before });
    const made = await preview({ ops, paths: [file] });
    assert.deepEqual(afters(made, root), { [file]: after });
    assert.equal(read(file), before, "a preview writes nothing");
    assert.deepEqual(staged(made).details["issues"], []);
  });
}

test("a preview says what it would do, in full", async (t) => {
  const { root, preview } = workbench(t, { "src/b.ts": "f(\n  1,\n);\nf(2);\n", "src/a.ts": "  f('😀'); f(3)\n" });
  const { label, blocks, changes, data, details } = staged(await preview({ ops: [OP], paths: ["src"] }));
  assert.equal(label, "AST edit: 4 replacements in 2 files");
  assert.deepEqual(blocks, [
    "src/a.ts\n  1:3\n  - f('😀')\n  + g('😀')",
    "  1:12\n  - f(3)\n  + g(3)",
    "src/b.ts\n  1:1\n  - f(\n  -   1,\n  - )\n  + g(1,)",
    "  4:1\n  - f(2)\n  + g(2)",
  ]);
  const fileReplacements = [
    { path: "src/a.ts", count: 2 },
    { path: "src/b.ts", count: 2 },
  ];
  assert.deepEqual(data, { totalReplacements: 4, filesTouched: 2, fileReplacements });
  const at = (path: string, [line, column]: number[], [endLine, endColumn]: number[]) => ({
    path,
    op: 0,
    line,
    column,
    endLine,
    endColumn,
  });
  assert.deepEqual(details, {
    applied: false,
    totalReplacements: 4,
    filesTouched: 2,
    filesSearched: 2,
    fileReplacements,
    changes: [
      { ...at("src/a.ts", [1, 3], [1, 10]), before: "f('😀')", after: "g('😀')" },
      { ...at("src/a.ts", [1, 12], [1, 16]), before: "f(3)", after: "g(3)" },
      { ...at("src/b.ts", [1, 1], [3, 2]), before: "f(\n  1,\n)", after: "g(1,)" },
      { ...at("src/b.ts", [4, 1], [4, 5]), before: "f(2)", after: "g(2)" },
    ],
    issues: [],
    issueCount: 0,
    limitReached: false,
    nestedSkipped: 0,
    skipped: {},
  });
  assert.deepEqual(
    changes.map(({ path, realPath, before }) => [path, realPath, Buffer.from(before ?? []).toString()]),
    [
      [join(root, "src/a.ts"), join(root, "src/a.ts"), "  f('😀'); f(3)\n"],
      [join(root, "src/b.ts"), join(root, "src/b.ts"), "f(\n  1,\n);\nf(2);\n"],
    ],
  );
});

test("one replacement in one file, and a deletion shows no line of what comes", async (t) => {
  const { preview } = workbench(t, { "a.ts": "x;\r\nf(\r\n1);" });
  const { label, blocks } = staged(await preview({ ops: [{ pat: "f($$$);", out: "" }], paths: ["a.ts"] }));
  assert.equal(label, "AST edit: 1 replacement in 1 file");
  assert.deepEqual(blocks, ["a.ts\n  2:1\n  - f(\n  - 1);"]);
});

test("paths are named from the working directory", async (t) => {
  const { root, preview } = workbench(t, { "a/x.ts": "f(1)", "b/y.ts": "f(1)" });
  const { details } = staged(await preview({ ops: [OP], paths: [".", "../b"] }, { cwd: join(root, "a") }));
  assert.deepEqual(details["fileReplacements"], [
    { path: "x.ts", count: 1 },
    { path: "../b/y.ts", count: 1 },
  ]);
});

test("a path that does not exist", async (t) => {
  const { preview } = workbench(t, { "a.ts": "f(1)" });
  const { error } = plain(await preview({ ops: [OP], paths: ["a.ts", "gone/b.ts"] }));
  assert.deepEqual(error, { type: "file_not_found", message: "Path not found: gone/b.ts" });
});

test("paths are what the call is judged by, wherever they are", async (t) => {
  const { edit, root } = workbench(t, {});
  const built = await edit.build({ ops: [OP], paths: ["src", "/etc/x.ts"] }, context(root));
  assert.deepEqual(built.locations(), [{ path: join(root, "src") }, { path: "/etc/x.ts" }]);
  assert.equal(await built.permission(), "ask");
});

test("no match is a success without a proposal", async (t) => {
  const { preview } = workbench(t, { "a.ts": "h(1)" });
  const { content, error, details } = plain(await preview({ ops: [OP], paths: ["a.ts"] }));
  assert.deepEqual([content, error], ["No matches. Nothing was staged.", undefined]);
  assert.deepEqual([details["totalReplacements"], details["filesSearched"], details["limitReached"]], [0, 1, false]);
});

test("changes that change nothing are no matches", async (t) => {
  const { preview } = workbench(t, { "a.ts": "f(1)" });
  assert.equal(plain(await preview({ ops: [{ pat: "f($A)", out: "f($A)" }], paths: ["a.ts"] })).content, "No matches. Nothing was staged.");
});

for (const [name, text] of [
  ["a text nobody understands", "f(1); const = ;"],
  ["a bracket that is missing at the end", "function a() { f(1);"],
  ["a bracket that is missing in the middle", "const x = (f(1);"],
] as const)
  test(`a file with a syntax error is skipped: ${name}`, async (t) => {
    const { root, preview } = workbench(t, { "good.ts": "f(1)", "bad.ts": text, "empty.ts": "", "blank.ts": "\n \n" });
    const made = await preview({ ops: [OP], paths: ["."] });
    assert.deepEqual(afters(made, root), { "good.ts": "g(1)" });
    const { details, blocks } = staged(made);
    assert.deepEqual(details["issues"], [{ path: "bad.ts", message: "Syntax error, file skipped" }]);
    assert.equal(details["issueCount"], 1);
    assert.equal(details["filesSearched"], 3);
    assert.equal(blocks[0], "bad.ts: Syntax error, file skipped");
  });

test("every pattern unparsable", async (t) => {
  const { preview } = workbench(t, { "a.ts": "f(1)" });
  const { content, error, details } = plain(
    await preview({
      ops: [
        { pat: "f(", out: "" },
        { pat: "a; b", out: "" },
        { pat: "if (x {}", out: "" },
      ],
      paths: ["a.ts"],
    }),
  );
  assert.equal(error, undefined);
  assert.equal(
    content,
    [
      "No matches. Nothing was staged.",
      "ops[0]: The pattern does not parse as TypeScript",
      "ops[1]: The pattern does not parse as TypeScript: Multiple AST nodes are detected",
      "ops[2]: The pattern does not parse as TypeScript",
    ].join("\n"),
  );
  assert.equal(details["issueCount"], 3);
});

test("one pattern bad, one good", async (t) => {
  const { root, preview } = workbench(t, { "a.ts": "f(1)" });
  const made = await preview({ ops: [{ pat: "f(", out: "" }, OP], paths: ["a.ts"] });
  assert.deepEqual(afters(made, root), { "a.ts": "g(1)" });
  const { details } = staged(made);
  assert.deepEqual(details["issues"], [{ op: 0, message: "The pattern does not parse as TypeScript" }]);
  assert.deepEqual(
    (details["changes"] as { op: number }[]).map(({ op }) => op),
    [1],
  );
});

test("a pattern that is none in one language holds back no other", async (t) => {
  const { root, preview } = workbench(t, { "a.ts": "let x: number = f(1)", "a.js": "f(1)", "a.css": "a { color: red }" });
  const made = await preview({ ops: [{ pat: "let $X: number = $V", out: "const $X: number = $V" }], paths: ["."] });
  assert.deepEqual(afters(made, root), { "a.ts": "const x: number = f(1)" });
  assert.deepEqual(staged(made).details["issues"], [
    { op: 0, message: "The pattern does not parse as CSS" },
    { op: 0, message: "The pattern does not parse as JavaScript" },
  ]);
});

test("a variable that is only a part of a text captures nothing", async (t) => {
  const { preview } = workbench(t, { "a.ts": "f('x $A')" });
  const { content } = plain(await preview({ ops: [{ pat: "f('x $A')", out: "g($A)" }], paths: ["a.ts"] }));
  assert.equal(content, "No matches. Nothing was staged.\nops[0]: $A captures nothing in this pattern");
});

test("nested matches that are left are counted", async (t) => {
  const { preview } = workbench(t, { "a.ts": "f(f(f(1)), f(2))", "b.ts": "f(f(1))" });
  const { details, blocks } = staged(await preview({ ops: [OP], paths: ["."] }));
  assert.equal(details["nestedSkipped"], 4);
  assert.equal(details["totalReplacements"], 2);
  assert.equal(blocks[0], "4 nested matches were skipped; run again after applying.");
});

test("a result that no longer parses is staged, and said", async (t) => {
  for (const out of ["g($$$A", "g($$$A) }", "class"]) {
    const { preview } = workbench(t, { "a.ts": "const x = f(1);\n", "b.ts": "h(1)" });
    const { details, blocks } = staged(await preview({ ops: [{ pat: "f($$$A)", out }], paths: ["."] }));
    assert.deepEqual(details["issues"], [{ path: "a.ts", message: "Result has a syntax error" }], out);
    assert.equal(blocks[0], "a.ts: Result has a syntax error");
    assert.equal(details["totalReplacements"], 1);
  }
});

const OVERLAPS: readonly (readonly [name: string, text: string, ops: readonly Op[], message: string])[] = [
  [
    "one in the other",
    "x;\n a(b(1))",
    [
      { pat: "a($X)", out: "A($X)" },
      { pat: "b($X)", out: "B($X)" },
    ],
    "ops[0] and ops[1] overlap in a.ts:2:4.",
  ],
  [
    "whatever their order",
    "a(b(1))",
    [
      { pat: "b($X)", out: "B($X)" },
      { pat: "a($X)", out: "A($X)" },
    ],
    "ops[0] and ops[1] overlap in a.ts:1:3.",
  ],
  [
    "equal ranges",
    "a(1)",
    [
      { pat: "a($X)", out: "b($X)" },
      { pat: "a($$$X)", out: "c($$$X)" },
    ],
    "ops[0] and ops[1] overlap in a.ts:1:1.",
  ],
];
for (const [name, text, ops, message] of OVERLAPS) {
  test(`operations that overlap stage nothing: ${name}`, async (t) => {
    const { preview } = workbench(t, { "a.ts": text, "b.ts": "a(1)" });
    assert.deepEqual(plain(await preview({ ops, paths: ["a.ts"] })).error, { type: "overlapping_changes", message });
  });
}

test("more files than the limit: nothing is searched", async (t) => {
  const { preview } = workbench(t, { "a.ts": "f(1)", "b.ts": "f(1)", "c.ts": "f(1)", "d.txt": "" }, { maxFiles: 2 });
  const { content, error, details } = plain(await preview({ ops: [OP], paths: ["."] }));
  assert.deepEqual([content, error], ["File limit of 2 reached; narrow the paths.", undefined]);
  assert.deepEqual([details["limitReached"], details["filesSearched"], details["totalReplacements"]], [true, 0, 0]);
});

test("exactly as many files as the limit are searched", async (t) => {
  const { preview } = workbench(t, { "a.ts": "f(1)", "b.ts": "f(1)", "c.txt": "" }, { maxFiles: 2 });
  assert.equal(staged(await preview({ ops: [OP], paths: [".", "a.ts"] })).details["filesSearched"], 2);
});

test("more changes than the limit: nothing is staged", async (t) => {
  const files = { "a.ts": "f(1); f(2)", "b.ts": "f(3)" };
  assert.equal(plain(await workbench(t, files, { maxChanges: 2 }).preview({ ops: [OP], paths: ["."] })).error?.type, "too_many_changes");
  assert.equal(staged(await workbench(t, files, { maxChanges: 3 }).preview({ ops: [OP], paths: ["."] })).details["totalReplacements"], 3);
});

test("twenty issues are shown, the rest are counted", async (t) => {
  const bad: Files = Object.fromEntries(Array.from({ length: 23 }, (_, i) => [`bad${i}.ts`, "const = ;"]));
  const { preview } = workbench(t, bad);
  const { content, details } = plain(await preview({ ops: [OP], paths: ["."] }));
  assert.equal(String(content).split("\n").length, 22);
  assert.equal(String(content).split("\n").at(-1), "… 3 more issues");
  assert.deepEqual([(details["issues"] as unknown[]).length, details["issueCount"]], [20, 23]);
});

test("binary files, other encodings and large files are skipped and counted", async (t) => {
  const big = `f(1);\n${"// 456789\n".repeat(209_715)}`;
  const { root, preview } = workbench(t, {
    "good.ts": "f(1)",
    "binary.ts": "f(1)\0",
    "latin1.ts": Buffer.from("f('\xe9')", "latin1"),
    "utf16.ts": Buffer.from("\ufefff(1)", "utf16le"),
    "big.ts": big,
    "edge.ts": big.slice(0, 2 * 1024 * 1024),
  });
  const made = await preview({ ops: [OP], paths: ["."] });
  assert.deepEqual(Object.keys(afters(made, root)), ["edge.ts", "good.ts"]);
  const { details, blocks } = staged(made);
  assert.deepEqual(details["skipped"], { too_large: 1, binary: 2, not_utf8: 1 });
  assert.deepEqual([details["filesSearched"], details["issueCount"]], [2, 0]);
  assert.equal(blocks[0], "Files skipped: 1 (over 2 MiB), 2 (binary), 1 (not UTF-8).");
});

test("a named file that cannot be searched is an issue", async (t) => {
  const { preview } = workbench(t, { "binary.ts": "f(1)\0", "notes.txt": "f(1)" });
  const { details } = plain(await preview({ ops: [OP], paths: ["binary.ts", "notes.txt"] }));
  assert.deepEqual(details["issues"], [
    { path: "notes.txt", message: "No grammar for this kind of file, file skipped" },
    { path: "binary.ts", message: "Binary file, skipped" },
  ]);
});

const TREE: Files = {
  ".gitignore": "ignored.ts\nout/\n",
  "a.ts": "f(1)",
  "ignored.ts": "f(1)",
  "out/o.ts": "f(1)",
  ".hidden/h.ts": "f(1)",
  "node_modules/m.ts": "f(1)",
  ".git/g.ts": "f(1)",
  "src/b.ts": "f(1)",
  "src/c.tsx": "f(1)",
  "src/deep/d.ts": "f(1)",
  "src/[id]/e.ts": "f(1)",
  "notes.txt": "f(1)",
};
const FOUND: readonly (readonly [name: string, paths: readonly string[], found: readonly string[]])[] = [
  [
    "a directory, with what is below it, without what is ignored",
    ["."],
    [".hidden/h.ts", "a.ts", "src/[id]/e.ts", "src/b.ts", "src/c.tsx", "src/deep/d.ts"],
  ],
  ["a named file is searched even if ignored", ["ignored.ts"], ["ignored.ts"]],
  ["a named file in an ignored directory", ["out/o.ts"], ["out/o.ts"]],
  [
    "overlapping paths yield each file once",
    ["src", "src/b.ts", "./src/../src/deep", "src/**/*.ts"],
    ["src/[id]/e.ts", "src/b.ts", "src/c.tsx", "src/deep/d.ts"],
  ],
  ["a glob", ["src/*.ts"], ["src/b.ts"]],
  ["a glob through directories", ["**/*.ts"], [".hidden/h.ts", "a.ts", "src/[id]/e.ts", "src/b.ts", "src/deep/d.ts"]],
  ["a glob with alternatives", ["src/*.{ts,tsx}"], ["src/b.ts", "src/c.tsx"]],
  ["a name that looks like a glob", ["src/[id]/e.ts"], ["src/[id]/e.ts"]],
  ["a directory that is never searched", ["node_modules", ".git", "a.ts"], ["a.ts"]],
  ["a glob into one", ["node_modules/*.ts", "a.ts"], ["a.ts"]],
];
for (const [name, paths, found] of FOUND) {
  test(`ast_edit searches: ${name}`, async (t) => {
    const { root, preview } = workbench(t, TREE);
    assert.deepEqual(Object.keys(afters(await preview({ ops: [OP], paths }), root)), found);
  });
}

test("a glob that no file has is no match, and said", async (t) => {
  const { preview } = workbench(t, TREE);
  const { content } = plain(await preview({ ops: [OP], paths: ["lib/**/*.ts"] }));
  assert.equal(content, "No matches. Nothing was staged.\nlib/**/*.ts: No file matches this glob");
});

test("a glob does not leave the directory it begins in", async (t) => {
  const { root, preview } = workbench(t, { "in/a.ts": "f(1)", "b.ts": "f(1)" });
  for (const path of [`in/{*,${root}}/../*.ts`, `{x,${root}/}*.ts`, "{..,../..}/*.ts"])
    assert.equal("blocks" in (await preview({ ops: [OP], paths: [path] }, { cwd: join(root, "in") })), false, path);
});

test("a directory whose name looks like a glob is that directory", async (t) => {
  const { root, preview } = workbench(t, { "[w]/src/[id]/a.ts": "f(1)", "[w]/src/x/b.ts": "f(1)", "w/src/i/c.ts": "f(1)" });
  const cwd = join(root, "[w]");
  const found = async (path: string) => Object.keys(afters(await preview({ ops: [OP], paths: [path] }, { cwd }), cwd));
  assert.deepEqual(await found("src/**/*.ts"), ["src/[id]/a.ts", "src/x/b.ts"]);
  assert.deepEqual(await found("src/[id]/*.ts"), ["src/[id]/a.ts"]);
  assert.deepEqual(await found("src/[xy]/*.ts"), ["src/x/b.ts"]);
});

test("links are not followed, but a named one is", async (t) => {
  const { root, preview } = workbench(t, { "real/a.ts": "f(1)", "b.ts": "h()" });
  symlinkSync("real", join(root, "linked"));
  symlinkSync("real/a.ts", join(root, "link.ts"));
  assert.deepEqual(Object.keys(afters(await preview({ ops: [OP], paths: ["."] }), root)), ["real/a.ts"]);
  const { changes } = staged(await preview({ ops: [OP], paths: ["link.ts"] }));
  assert.deepEqual(
    changes.map(({ path, realPath }) => [path, realPath]),
    [[join(root, "link.ts"), join(root, "real/a.ts")]],
  );
  const [inLinked] = staged(await preview({ ops: [OP], paths: ["linked"] })).changes;
  assert.deepEqual([inLinked?.path, inLinked?.realPath], [join(root, "linked/a.ts"), join(root, "real/a.ts")]);
  assert.equal(staged(await preview({ ops: [OP], paths: ["link.ts", "linked", "real"] })).changes.length, 1);
});

test("what is neither file nor directory is refused, and not waited for", async (t) => {
  const { root, preview } = workbench(t, {});
  execFileSync("mkfifo", [join(root, "pipe.ts")]);
  assert.equal(plain(await preview({ ops: [OP], paths: ["pipe.ts"] })).error?.type, "target_not_regular_file");
});

test("files that hold secrets are not shown unless they are named", async (t) => {
  const { root, preview } = workbench(t, { "a.ts": "f(1)", "secrets.ts": "f('hush')" });
  const made = await preview({ ops: [OP], paths: ["."] });
  assert.deepEqual(afters(made, root), { "a.ts": "g(1)" });
  assert.deepEqual(staged(made).details["skipped"], { sensitive: 1 });
  for (const paths of [
    [".", "secrets.ts"],
    ["secrets.ts", "."],
  ])
    assert.deepEqual(Object.keys(afters(await preview({ ops: [OP], paths }), root)), ["a.ts", "secrets.ts"]);
});

test("many files are edited like few: in order, with what is skipped and what is said about it", async (t) => {
  const names = Array.from({ length: 300 }, (_, index) => `src/${String(index).padStart(3, "0")}.ts`);
  const files = Object.fromEntries(names.map((name, index) => [name, `f(${index}, f(0))`]));
  const { root, preview } = workbench(t, { ...files, "src/broken.ts": "f(", "src/secrets.ts": "f('hush')", "src/x.py": "f(1)\n" });
  const made = staged(await preview({ ops: [OP, { pat: "if (", out: "" }], paths: ["src"] }));
  assert.equal(made.label, "AST edit: 301 replacements in 301 files");
  assert.deepEqual(Object.entries(afters(made, root)), [
    ...names.map((name, index) => [name, `g(${index}, f(0))`]),
    ["src/x.py", "g(1)\n"],
  ]);
  assert.deepEqual(made.details["skipped"], { sensitive: 1 });
  assert.equal(made.details["nestedSkipped"], 300);
  assert.equal(made.details["filesSearched"], 301);
  assert.deepEqual(made.details["issues"], [
    { op: 1, message: "The pattern does not parse as TypeScript" },
    { op: 1, message: "The pattern does not parse as Python" },
    { path: "src/broken.ts", message: "Syntax error, file skipped" },
  ]);
});

test("a path that leads elsewhere than when it was judged is refused", async (t) => {
  const { root, edit } = workbench(t, { "src/a.ts": "f(1)", "other/a.ts": "f(1)" });
  const ctx = context(root);
  const built = await edit.build({ ops: [OP], paths: ["src"] }, ctx);
  await built.permission();
  renameSync(join(root, "src"), join(root, "gone"));
  symlinkSync("other", join(root, "src"));
  const made = await edit.definition.preview?.(built.input, ctx);
  assert.equal(typeof made === "object" && "error" in made ? made.error?.type : made, "execution_denied");
});

test("an abort ends the search", async (t) => {
  const { preview } = workbench(t, { "a.ts": "f(1)" });
  await assert.rejects(preview({ ops: [OP], paths: ["."] }, { signal: AbortSignal.abort() }), { name: "AbortError" });
});

test("a file that is gone by the time it is read is counted", async (t) => {
  const { root, preview } = workbench(t, { "a.ts": "f(1)", "b.ts": "f(1)" });
  rmSync(join(root, "b.ts"));
  mkdirSync(join(root, "b.ts"));
  writeFileSync(join(root, "b.ts/c.ts"), "f(2)");
  assert.deepEqual(Object.keys(afters(await preview({ ops: [OP], paths: ["."] }), root)), ["a.ts", "b.ts/c.ts"]);
});

test("the result of an applied edit has the new digests", async (t) => {
  const { edit, root } = workbench(t, {});
  const fileReplacements = [{ path: "src/a.ts", count: 3 }];
  const applied: AppliedPreview = {
    proposalId: "p_1",
    label: "AST edit: 3 replacements in 1 file",
    data: { totalReplacements: 3, filesTouched: 1, fileReplacements },
    files: [{ path: join(root, "src/a.ts"), digest: "sha256:00" }],
    reason: "",
    extra: { ignored: true },
  };
  assert.deepEqual(await edit.definition.apply?.(applied, context(root)), {
    content: "Applied 3 replacements in 1 file.",
    details: { applied: true, totalReplacements: 3, filesTouched: 1, fileReplacements, files: [{ path: "src/a.ts", digest: "sha256:00" }] },
  });
});

test("the tool always stages, and is offered with what it needs", (t) => {
  const { edit } = workbench(t, {});
  const { alwaysStages, kind, name } = edit.definition;
  assert.deepEqual([name, kind, alwaysStages], ["ast_edit", "edit", true]);
  assert.deepEqual((edit.inputSchema as { required: string[] }).required, ["ops", "paths"]);
  assert.match(edit.description, /^Rewrites code by its structure/);
});

const PIECES = [
  "f(1)",
  "f( f(2) ,\t3 )",
  "a.b",
  "'f(4)'",
  "// f(5)",
  "/* é\r\n f(6) */",
  "['x', f('😀')]",
  "if (x) { f(\n  7,\r\n  8) }",
  ";",
];

test("law: bytes outside of the changes are identical, in real files", async (t) => {
  const { root, preview } = workbench(t, {});
  const pieces = fc.array(fc.tuple(fc.constantFrom(...PIECES), fc.constantFrom("\n", "\r\n", ";\n\n", " ;\t\r\n")));
  await fc.assert(
    fc.asyncProperty(pieces, fc.constantFrom("", "\ufeff"), fc.constantFrom("", "z()"), async (given, mark, last) => {
      const bytes = Buffer.from(mark + given.flat().join("") + last);
      writeFileSync(join(root, "a.ts"), bytes);
      const made = await preview({ ops: [OP, { pat: "a.b", out: "a.b.c" }], paths: ["a.ts"] });
      if (!("blocks" in made)) return assert.ok(!/^f\(|^a\.b/m.test(given.map(([piece]) => piece).join("\n")));
      const text = bytes.toString("utf8").slice(mark.length);
      const offset = ({ line, column }: { line: number; column: number }): number =>
        text.split("\n", line - 1).reduce((sum, one) => sum + one.length + 1, 0) + column - 1;
      let expected = mark;
      let from = 0;
      for (const change of staged(made).details["changes"] as unknown as ChangeDetails[]) {
        const [start, end] = [offset(change), offset({ line: change.endLine, column: change.endColumn })];
        assert.equal(text.slice(start, end), change.before);
        expected += text.slice(from, start) + change.after;
        from = end;
      }
      const [change] = made.changes;
      assert.deepEqual(Buffer.from(change?.after ?? []), Buffer.from(expected + text.slice(from)));
      assert.deepEqual(Buffer.from(change?.before ?? []), bytes);
    }),
  );
});

type ChangeDetails = { line: number; column: number; endLine: number; endColumn: number; before: string; after: string };

test("a call is described by its first operation and place, in a line of bounded length", async (t) => {
  const { edit } = workbench(t, {});
  const describe = async (input: object): Promise<string> => (await edit.build(input)).describe();
  assert.equal(await describe({ ops: [OP], paths: ["src"] }), "AST edit f($$$A) → g($$$A) in src");
  const ops = [{ pat: "x".repeat(5000), out: "" }, OP, { pat: "y", out: "" }];
  assert.equal(await describe({ ops, paths: ["src", "lib"] }), `AST edit ${"x".repeat(100)}… and 2 more in src and 1 more`);
});
