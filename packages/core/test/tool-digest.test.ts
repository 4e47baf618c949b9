import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { test } from "node:test";
import { z } from "zod";
import type { Digest } from "../src/ports.ts";
import { defineTool } from "../src/tool.ts";
import type { ToolDefinition } from "../src/tool-definition.ts";
import { toolDigest } from "../src/tool-digest.ts";

const sha: Digest = { sha256: (text) => createHash("sha256").update(text).digest("hex") };
const base: ToolDefinition = { name: "t", description: "Does.", kind: "other", input: { type: "object", title: "x" }, run: () => "ok" };

function digestOf(over: Partial<ToolDefinition>): string {
  return toolDigest(defineTool({ ...base, ...over }), sha);
}

const changes: readonly (readonly [string, Partial<ToolDefinition>])[] = [
  ["name", { name: "u" }],
  ["title", { title: "T" }],
  ["description", { description: "Does more." }],
  ["kind", { kind: "read" }],
  ["input schema", { input: { type: "object", title: "y" } }],
  ["annotations", { annotations: { readOnlyHint: true } }],
  ["aliases", { inputAliases: { a: "b" } }],
  ["limits", { maxOutputChars: Number.POSITIVE_INFINITY }],
];
for (const [field, over] of changes) test(`another ${field} is another digest`, () => assert.notEqual(digestOf(over), digestOf({})));

test("the same data has the same digest, whatever order it was written in", () => {
  assert.equal(digestOf({ input: { title: "x", type: "object" } }), digestOf({}));
  assert.equal(digestOf({ run: () => "else" }), digestOf({}));
  assert.match(digestOf({}), /^[0-9a-f]{64}$/);
});

test("a schema with numbers that have no canonical form has a digest too", () => {
  const [one, other] = [2 ** 63, 2 ** 62].map((maximum) => digestOf({ input: { type: "object", properties: { n: { maximum } } } }));
  assert.notEqual(one, other);
});

test("the digest of a tool is made once", () => {
  let made = 0;
  const counting: Digest = { sha256: (text) => `${++made}${sha.sha256(text)}` };
  const tool = defineTool({ name: "t", description: "Does.", kind: "other", input: z.object({ a: z.string() }), run: () => "ok" });
  assert.equal(toolDigest(tool, counting), toolDigest(tool, counting));
  assert.equal(made, 1);
});
