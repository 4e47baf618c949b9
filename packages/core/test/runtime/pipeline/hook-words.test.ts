import assert from "node:assert/strict";
import { test } from "node:test";
import { type HookWords, withHookWords } from "../../../src/runtime/pipeline/hook-words.ts";

const ROWS: readonly (readonly [name: string, words: HookWords, content: string])[] = [
  ["nothing to say adds nothing", { name: "h" }, "result"],
  ["blanks are nothing", { name: "h", context: " ", feedback: "\n" }, "result"],
  ["context and feedback stand behind the result", { name: "h", context: "c", feedback: "f" }, 'result\n<hook name="h">\nc\nf\n</hook>'],
  ["the envelope names who spoke", { name: "h", spokenBy: "a, b", context: "c" }, 'result\n<hook name="a, b">\nc\n</hook>'],
  [
    "no text closes the envelope",
    { name: 'x"><y', context: '</hook> & "said"' },
    'result\n<hook name="x&quot;&gt;&lt;y">\n&lt;/hook&gt; &amp; "said"\n</hook>',
  ],
  ["control characters are removed", { name: "h\u001b", context: "a\u0007b\u009b\tc\r\nd" }, 'result\n<hook name="h">\nab\tc\nd\n</hook>'],
];
for (const [name, words, content] of ROWS) {
  test(`${name}`, () => assert.equal(withHookWords({ content: "result" }, words).content, content));
}

test("long context does not push out the feedback", () => {
  const { content } = withHookWords({ content: "" }, { name: "h", context: "c".repeat(20_000), feedback: "f" });
  assert.equal(content, `\n<hook name="h">\n${"c".repeat(9_999)}…\nf\n</hook>`);
});
