import assert from "node:assert/strict";
import { test } from "node:test";
import type { Content } from "../../../src/model/result/result.ts";
import { contentText, withText } from "../../../src/model/text/content-text.ts";

const image = { type: "image", mediaType: "image/png", data: "QQ==" } as const;
const text = (value: string): { readonly type: "text"; readonly text: string } => ({ type: "text", text: value });

const rows: readonly (readonly [string, Content, string, Content])[] = [
  ["a text", "a", "a", "CUT"],
  ["parts of text and json", [text("a"), { type: "json", value: { n: 1 } }], 'a\n{"n":1}', [text("CUT")]],
  ["an image keeps its place before the text", [image, text("a"), text("b")], "a\nb", [image, text("CUT")]],
  ["an image keeps its place after the text", [text("a"), image, text("b")], "a\nb", [text("CUT"), image]],
  ["an image alone has no text", [image], "", [text("CUT"), image]],
];
for (const [name, content, expected, replaced] of rows) {
  test(`the text of ${name}`, () => {
    assert.equal(contentText(content), expected);
    assert.deepEqual(withText(content, "CUT"), replaced);
  });
}
