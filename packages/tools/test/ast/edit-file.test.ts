import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { onlyRenames } from "../../src/ast/edit-file.ts";
import { loadEngine } from "../../src/ast/engine.ts";
import { type Language, languageNamed } from "../../src/ast/languages.ts";
import { hasSyntaxError } from "../../src/ast/syntax-tree.ts";

function language(name: string): Language {
  const found = languageNamed(name);
  if (!found) throw new Error(`no language ${name}`);
  return found;
}

const ROWS: readonly (readonly [name: string, before: string, after: string, only: boolean])[] = [
  ["a name for a name", "foo(a, 'x')", "bar(a, 'x')", true],
  ["names for names", "console.log(a)", "logger.info(b)", true],
  ["the same", "foo", "foo", true],
  ["another argument", "foo(a)", "foo(a, b)", false],
  ["names in other places", "(a)b", "a()b", false],
  ["a blank more", "a.b", "a .b", false],
  ["a word of the language", "foo", "class", false],
  ["a word that may be one", "foo", "async", false],
  ["from a word of the language", "this", "foo", false],
  ["a part of a number", "1e5", "1x5", false],
  ["flags", "/a/g", "/a/Q", false],
  ["an escape", "'a \\nb'", "'a \\xb'", false],
  ["the start of a text", "'a'", "'b'", false],
  ["a longer name", "éa", "éb", false],
  ["nothing", "foo", "", false],
];
for (const [name, before, after, only] of ROWS) {
  test(`only names are changed: ${name}: ${only}`, () => assert.equal(onlyRenames({ before, after }, language("typescript")), only));
}

test("other languages are never treated as renames", () => {
  assert.equal(onlyRenames({ before: "br", after: "div" }, language("html")), false);
});

const SOURCES = [
  "const value = foo(bar.baz, { key: other, short }, [...rest], /re/g, 1.5e3, 'text');",
  "export async function* name<T extends Base>(this: Self, a?: T, ...b: U[]): Promise<Foo<T>> { label: for (const x of y) continue label; }",
  "class Name extends Base implements Other { #secret = one; static get field() { return this.#secret; } @decorate() method<K>(key: keyof K) {} }",
  "type A<T> = { readonly [K in keyof T as Name<K>]?: T[K] extends infer U ? U : never }; import def, * as ns from 'x'; export { a as b };",
];

test("law: a text in which only names were changed parses as the text before", async () => {
  const engine = await loadEngine();
  const typescript = language("typescript");
  const words = fc.stringMatching(/^[a-zA-Z_$][a-z0-9]{0,5}$/);
  fc.assert(
    fc.property(fc.constantFrom(...SOURCES), fc.nat(200), words, (before, nth, word) => {
      const found = [...before.matchAll(/[A-Za-z_$][\w$]*/g)];
      const at = found[nth % found.length];
      if (!at) return;
      const after = before.slice(0, at.index) + word + before.slice(at.index + at[0].length);
      if (onlyRenames({ before, after }, typescript))
        assert.equal(hasSyntaxError(engine.parseNow(typescript, after).root(), typescript), false, after);
    }),
    { numRuns: 500 },
  );
});
