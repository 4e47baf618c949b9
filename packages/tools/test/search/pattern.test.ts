import assert from "node:assert/strict";
import { test } from "node:test";
import { toJavaScript } from "../../src/search/pattern.ts";
import { PatternError } from "../../src/search/pattern-cursor.ts";

function regExp(pattern: string, options: { multiline?: boolean; ignoreCase?: boolean } = {}): RegExp {
  const { source, flags } = toJavaScript(pattern, { multiline: false, ignoreCase: false, ...options });
  return new RegExp(source, flags);
}

const ROWS: readonly (readonly [pattern: string, found: readonly string[], notFound: readonly string[]])[] = [
  ["foo", ["a foo b"], ["fo o"]],
  ["fo+|ba?r", ["foo", "br"], ["f"]],
  ["^a.c$", ["abc", "a\rc", "a\u2028c"], ["xabc", "abcd"]],
  ["a{2,3}b", ["aab"], ["ab"]],
  ["^a{,2}$", ["", "aa"], ["aaa"]],
  ["a+?b", ["aab"], ["b"]],
  ["f\\(x\\)", ["f(x)"], ["fx"]],
  ["a]b}c", ["a]b}c"], ["ab}c"]],
  ['\\{\\}\\[\\]\\-\\#\\&\\~\\/\\ \\"', ['{}[]-#&~/ "'], ["{}"]],
  ["(?P<name>a)(?<other>b)(?:c)", ["abc"], ["ab"]],
  ["(?i)ABC", ["abc", "ABC"], ["abd"]],
  ["a(?i)b|c", ["aB", "C", "c"], ["AB"]],
  ["(?i:a)b", ["Ab"], ["aB"]],
  ["(?i)a(?-i:b)", ["Ab"], ["aB"]],
  ["(?s)a.b", ["a\nb"], ["ab"]],
  ["\\bfoo\\b", ["a foo.", "foo"], ["food", "éfoo", "foo_"]],
  ["\\Bo", ["foo"], ["o"]],
  ["\\<foo", ["a foo"], ["afoo"]],
  ["foo\\>", ["foo b"], ["foob"]],
  ["\\b{start}foo\\b{end}", ["foo"], ["afoo"]],
  ["\\Afoo\\z", ["foo"], ["afoo", "foob"]],
  ["^\\w+$", ["abc_é9漢"], ["a-b", "a b"]],
  ["^\\W$", ["-", "→"], ["é"]],
  ["^\\d$", ["5", "٣"], ["a"]],
  ["^\\s$", [" ", "\u0085", "\t"], ["x", "\ufeff"]],
  ["^[\\w-]+$", ["a-b"], ["a b"]],
  ["^[^\\w\\s]$", ["-"], ["a", " "]],
  ["^[]a]+$", ["]a"], ["b"]],
  ["^[^]a]$", ["b"], ["]", "a"]],
  ["^[a-]+$", ["a-"], ["b"]],
  ["^[-a]+$", ["a-"], ["b"]],
  ["^[(){}/|.*+?^$]+$", ["(){}/|.*+?^$"], ["a"]],
  ["^[[:alpha:]_]+$", ["aB_"], ["é", "1"]],
  ["^[[:^digit:]]$", ["a"], ["1"]],
  ["^[a-z&&[^aeiou]]$", ["b"], ["a", "B"]],
  ["^[\\w--\\d]$", ["a"], ["1"]],
  ["^[a-c~~b-d]$", ["a", "d"], ["b", "c"]],
  ["\\x41\\x{1F600}\\u0042\\u{43}\\U00000044", ["A😀BCD"], ["A"]],
  ["^[😀-😎]$", ["😃"], ["a"]],
  ["^😀+$", ["😀😀"], ["\ude00"]],
  ["^\\pL\\p{Lu}\\p{Greek}\\P{L}\\p{^L}$", ["aBγ12"], ["aBb12"]],
  ["^\\p{Script=Cyrillic}\\p{lowercase}$", ["дb"], ["aB"]],
  ["\\t\\a\\f\\v", ["\t\x07\x0c\x0b"], ["t"]],
  ["", ["anything"], []],
  ["a||b", ["", "a"], []],
];
for (const [pattern, found, notFound] of ROWS) {
  test(`${JSON.stringify(pattern)} finds what Rust's engine finds`, () => {
    const compiled = regExp(pattern);
    assert.deepEqual(
      found.filter((text) => !compiled.test(text)),
      [],
    );
    assert.deepEqual(
      notFound.filter((text) => compiled.test(text)),
      [],
    );
  });
}

test("with multiline, line borders are those of every line", () => {
  assert.ok(regExp("^b$", { multiline: true }).test("a\nb\nc"));
  assert.ok(regExp("a\\nb", { multiline: true }).test("a\nb"));
  assert.ok(!regExp("a.b", { multiline: true }).test("a\nb"));
  assert.ok(regExp("a[^x]b", { multiline: true }).test("a\nb"));
  assert.ok(!regExp("\\Ab", { multiline: true }).test("a\nb"));
});

test("case can be ignored throughout, but for parts that say otherwise", () => {
  assert.ok(regExp("straße É", { ignoreCase: true }).test("STRAßE é"));
  assert.ok(!regExp("a(?-i)b", { ignoreCase: true }).test("AB"));
});

const REFUSED: readonly (readonly [pattern: string, why: RegExp])[] = [
  ["(", /not closed/],
  ["a)", /unmatched closing parenthesis/],
  ["[a", /not closed/],
  ["[]", /not closed/],
  ["[z-a]", /range/],
  ["[a-\\d]", /range/],
  ["[[:nope:]]", /class 'nope' is not known/],
  ["*a", /nothing to repeat/],
  ["a**", /nothing to repeat/],
  ["(|*)", /nothing to repeat/],
  ["a{3,2}", /numbers out of order/i],
  ["fn main() {", /write \\\{/],
  ["(?=a)", /look-around/],
  ["(?!a)", /look-around/],
  ["(?<=a)b", /look-around/],
  ["(?<!a)b", /look-around/],
  ["(a)\\1", /backreferences/],
  ["(?x)a b", /flag 'x'/],
  ["(?U)a+", /flag 'U'/],
  ["(?-u)a", /flag 'u'/],
  ["\\y", /'\\y' is not known/],
  ["a\\", /ends with a backslash/],
  ["\\p{Nope}", /property 'Nope'/],
  ["\\x{110000}", /not known/],
  ["a\nb", /only with multiline/],
  ["a\\nb", /only with multiline/],
  ["(".repeat(300) + ")".repeat(300), /more than 250 deep/],
  ["[".repeat(300), /more than 50 deep/],
];
for (const [pattern, why] of REFUSED) {
  test(`${JSON.stringify(pattern.slice(0, 20))} is refused`, () => {
    assert.throws(
      () => regExp(pattern),
      (error) => error instanceof PatternError && why.test(error.message),
    );
  });
}
