import assert from "node:assert/strict";
import { test } from "node:test";
import { loadEngine } from "../../src/ast/engine.ts";
import { LANGUAGES, languageNamed, languageOf } from "../../src/ast/languages.ts";
import { prepareOps } from "../../src/ast/prepared-ops.ts";
import { runNode } from "../run-node.ts";

test("every language that can be searched can be parsed", async () => {
  const engine = await loadEngine();
  const parsed = LANGUAGES.filter(engine.knows).map((language) => engine.parseNow(language, "").root().kind());
  assert.deepEqual(parsed, ["program", "program", "program", "stylesheet", "document", "module", "source_file", "source_file"]);
});

const NAMED: readonly (readonly [name: string, language: string | undefined])[] = [
  ["a.ts", "typescript"],
  ["a.mts", "typescript"],
  ["a.cts", "typescript"],
  ["a.d.ts", "typescript"],
  ["a.tsx", "tsx"],
  ["a.js", "javascript"],
  ["a.mjs", "javascript"],
  ["a.cjs", "javascript"],
  ["a.jsx", "javascript"],
  ["a.css", "css"],
  ["a.html", "html"],
  ["a.py", "python"],
  ["a.go", "go"],
  ["a.rs", "rust"],
  ["a.json", undefined],
  ["ts", undefined],
  [".ts", undefined],
];
for (const [name, language] of NAMED) test(`the language of ${name}`, () => assert.equal(languageOf(name)?.name, language));

test("a grammar that is not installed is named, once, and holds back no other language", async () => {
  const engine = await loadEngine();
  const without = { ...engine, knows: ({ package: grammar }: { readonly package?: string }) => grammar === undefined };
  const ops = prepareOps(without, [
    { pat: "f($A)", out: "" },
    { pat: "f(", out: "" },
  ]);
  const sizes = ["python", "python", "typescript"].map((name) => ops.in(languageNamed(name) ?? assert.fail()).length);
  assert.deepEqual(sizes, [0, 0, 1]);
  assert.deepEqual(ops.issues(), [
    { message: "Python files were not searched. Install @ast-grep/lang-python" },
    { op: 1, message: "The pattern does not parse as TypeScript" },
  ]);
});

test("the engine is loaded at its first use, not before", async () => {
  const output = await runNode(`
    import { createRequire } from "node:module";
    import { createPathLookup } from "@assent/policy";
    import { astEditTool } from "../src/builtin/ast-edit.ts";
    import { astGrepTool } from "../src/builtin/ast-grep.ts";
    const isLoaded = () => Object.keys(createRequire(import.meta.url).cache).some((path) => path.includes("@ast-grep"));
    const deps = { workspace: "/", scope: createPathLookup({ workspace: "/" }), maxFiles: () => 1, maxChanges: () => 1 };
    const tools = [astEditTool(deps), astGrepTool(deps)];
    await tools[0].build({ ops: [{ pat: "a", out: "b" }], paths: ["x"] });
    const before = isLoaded();
    await (await import("../src/ast/engine.ts")).loadEngine();
    console.log(before, isLoaded());
  `);
  assert.equal(output.trim(), "false true");
});
