import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { compileGlob } from "../../../src/model/pattern/glob.ts";

const table: readonly (readonly [glob: string, value: string, matches: boolean])[] = [
  ["", "", true],
  ["", "a", false],
  ["abc", "abc", true],
  ["abc", "ABC", true],
  ["abc", "abcd", false],
  ["abc", "xabc", false],
  ["*", "", true],
  ["*", "a/b\nc", true],
  ["**", "x", true],
  ["a*", "a", true],
  ["a*", "A/b\nc", true],
  ["a*", "ba", false],
  ["*a", "bba", true],
  ["*a", "bab", false],
  ["a*b*c", "a1b2b3c", true],
  ["a*b*c", "a1c2b", false],
  ["*ab*ab", "abab", true],
  ["*ab*ab", "ab", false],
  ["*aab", "aaab", true],
  ["?", "", false],
  ["?", "\n", true],
  ["?", "\u{1f600}", true],
  ["??", "\u{1f600}", false],
  ["[abc]", "B", true],
  ["[a-z]x", "Qx", true],
  ["[A-Z]x", "qx", true],
  ["[a-z]", "1", false],
  ["[!a]", "b", true],
  ["[!a]", "A", false],
  ["[!a]", "", false],
  ["[^a]", "^", true],
  ["[a-]", "-", true],
  ["[-a]", "-", true],
  ["[a\\-c]", "b", false],
  ["[\\w]", "w", true],
  ["[\\w]", "a", false],
  ["[\\]]", "]", true],
  ["[*?]", "*", true],
  ["[*?]", "x", false],
  ["[\u{1f600}-\u{1f640}]", "\u{1f610}", true],
  ["[x]*", "xyz", true],
  ["\\*", "*", true],
  ["\\*", "x", false],
  ["a\\?", "a?", true],
  ["D:\\\\data\\\\*", "d:\\data\\x", true],
  ["na\u00efve*", "nai\u0308ve x", true],
  ["nai\u0308ve*", "na\u00efve x", true],
  ["stra\u00dfe", "STRA\u00dfE", true],
  ["\u017fhell", "shell", true],
  ["[\u017f]hell", "shell", true],
  ["*\u03c3", "\u03a3\u03c2", true],
  ["]", "]", true],
];

for (const [glob, value, matches] of table) {
  test(`glob ${JSON.stringify(glob)} ${matches ? "matches" : "does not match"} ${JSON.stringify(value)}`, () => {
    assert.equal(compileGlob(glob).matches(value), matches);
  });
}

const sensitive: readonly (readonly [glob: string, value: string, matches: boolean])[] = [
  ["abc*", "abcd", true],
  ["abc*", "Abcd", false],
  ["[a-z]", "A", false],
  ["?b", "Ab", true],
  ["na\u00efve", "nai\u0308ve", true],
];

for (const [glob, value, matches] of sensitive) {
  test(`with case, glob ${JSON.stringify(glob)} ${matches ? "matches" : "does not match"} ${JSON.stringify(value)}`, () => {
    assert.equal(compileGlob(glob, { caseSensitive: true }).matches(value), matches);
  });
}

const broken: readonly (readonly [glob: string, problem: RegExp, column: number])[] = [
  ["a[", /unclosed class/, 2],
  ["a[b\\]", /unclosed class/, 2],
  ["ab[]", /empty class/, 3],
  ["[!]", /empty class/, 1],
  ["x[z-a]", /range/, 3],
  ["a\\", /dangling/, 2],
];

for (const [glob, problem, column] of broken) {
  test(`glob ${JSON.stringify(glob)} is an error that names the column`, () => {
    assert.throws(
      () => compileGlob(glob),
      (error) => {
        assert.ok(error instanceof Error && "about" in error);
        assert.match(error.message, problem);
        assert.partialDeepStrictEqual(error.about, { text: glob, column });
        return true;
      },
    );
  });
}

test("the text of a plain glob is known, unescaped", () => {
  assert.deepEqual(compileGlob("a\\*b").plain, { text: "a*b", star: false });
  assert.deepEqual(compileGlob("Ls **").plain, { text: "Ls ", star: true });
  assert.equal(compileGlob("a*b").plain, undefined);
  assert.equal(compileGlob("a?").plain, undefined);
});

const hostile: readonly (readonly [string, string, string])[] = [
  ["200 stars against 100 KB that almost match", `${"*a".repeat(200)}*b`, "a".repeat(100_000)],
  ["200 stars with longer pieces", `${"*aab".repeat(200)}*c`, "aa".repeat(50_000)],
  ["200 stars and question marks", `${"*?".repeat(200)}x`, "a".repeat(100_000)],
  ["a single long piece", `*${"a".repeat(200)}b`, "a".repeat(100_000)],
];

for (const [sentence, glob, value] of hostile) {
  test(sentence, () => {
    const compiled = compileGlob(glob);
    assert.equal(compiled.matches(value), false);
    const steps = compiled.steps(value);
    assert.ok(steps > 0 && steps <= glob.length * value.length, `${steps} steps`);
  });
}

test("law: steps never exceed (pattern length + 1) × (value length + 1), and a match equals that of a regular expression", () => {
  const text = fc.string({ unit: fc.constantFrom("a", "b", "*", "?"), maxLength: 12 });
  const value = fc.string({ unit: fc.constantFrom("a", "b"), maxLength: 12 });
  fc.assert(
    fc.property(text, value, (glob, of) => {
      const compiled = compileGlob(glob);
      const expression = new RegExp(`^${glob.replaceAll(/\*+/g, "*").replaceAll("?", ".").replaceAll("*", ".*")}$`, "s");
      assert.equal(compiled.matches(of), expression.test(of));
      assert.ok(compiled.steps(of) <= (glob.length + 1) * (of.length + 1));
    }),
  );
});

test("law: every text matches itself when each of its characters is escaped", () => {
  fc.assert(
    fc.property(fc.string({ unit: "grapheme" }), (text) => {
      const escaped = [...text].map((character) => `\\${character}`).join("");
      assert.equal(compileGlob(escaped).matches(text), true);
    }),
  );
});
