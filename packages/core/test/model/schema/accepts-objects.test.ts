import assert from "node:assert/strict";
import { test } from "node:test";
import { acceptsObjects } from "../../../src/model/schema/accepts-objects.ts";

const text = { type: "string" };
const itself: Record<string, unknown> = {};
itself["anyOf"] = [itself, text];

const ROWS: readonly (readonly [sentence: string, schema: unknown, accepts: boolean])[] = [
  ["everything", true, true],
  ["nothing", false, false],
  ["an invalid schema is left to the compiler", 7, true],
  ["no type", {}, true],
  ["the type object", { type: "object" }, true],
  ["another type", text, false],
  ["one of several types", { type: ["string", "object"] }, true],
  ["none of several types", { type: ["string", "null"] }, false],
  ["an object as the one value", { const: { a: 1 } }, true],
  ["another value", { const: 1 }, false],
  ["a value that is there, and undefined", { const: undefined }, false],
  ["an object among the values", { enum: [1, {}] }, true],
  ["none among the values", { enum: [1, []] }, false],
  ["a reference to an object", { $ref: "#/$defs/a", $defs: { a: { type: "object" } } }, true],
  ["a reference to a text", { $ref: "#/$defs/a", $defs: { a: text } }, false],
  ["any of, with an object", { anyOf: [text, { type: "object" }] }, true],
  ["any of, without one", { anyOf: [text, { type: "null" }] }, false],
  ["one of, with an object", { oneOf: [text, {}] }, true],
  ["one of, without one", { oneOf: [text] }, false],
  ["all of, with a text", { allOf: [{}, text] }, false],
  ["all of, objects", { allOf: [{}, { type: "object" }] }, true],
  ["the same text twice is not an object the second time either", { anyOf: [text, text] }, false],
  ["a schema that leads back to itself", itself, true],
];
for (const [sentence, schema, accepts] of ROWS) test(sentence, () => assert.equal(acceptsObjects(schema), accepts));
