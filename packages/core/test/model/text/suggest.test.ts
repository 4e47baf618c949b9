import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { editDistance } from "../../../src/model/text/edit-distance.ts";
import { suggestions, unknownToolMessage } from "../../../src/model/text/suggest.ts";

const base = "is not available. Only the provided tools may be used.";

const rows: readonly (readonly [string, string, readonly string[], string])[] = [
  ["nothing is near", "teleport", ["read", "shell"], `Tool 'teleport' ${base}`],
  ["no tools at all", "x", [], `Tool 'x' ${base}`],
  ["one is near", "raed", ["read", "shell"], `Tool 'raed' ${base} Did you mean 'read'?`],
  ["two are near", "lst", ["list", "last", "shell"], `Tool 'lst' ${base} Did you mean 'last' or 'list'?`],
  [
    "at most three, nearest first, ties alphabetical",
    "read",
    ["roads", "bread", "reads", "ready"],
    `Tool 'read' ${base} Did you mean 'bread', 'reads' or 'ready'?`,
  ],
  ["two edits are near for a short name", "gl", ["glob"], `Tool 'gl' ${base} Did you mean 'glob'?`],
  ["three edits are not near for a short name", "g", ["glob"], `Tool 'g' ${base}`],
  ["a third of a long name is near", "web_fch_xy", ["web_fetch_xyz"], `Tool 'web_fch_xy' ${base} Did you mean 'web_fetch_xyz'?`],
  ["only the case differs", "READ_FILE", ["read_file"], `Tool 'READ_FILE' ${base} Did you mean 'read_file'?`],
  ["blanks around it", "   shell\t ", ["shell"], `Tool '   shell\t ' ${base} Did you mean 'shell'?`],
  ["a very long name is not echoed whole", "x".repeat(5_000), ["read"], `Tool '${"x".repeat(79)}…' ${base}`],
];
for (const [name, called, visible, expected] of rows) test(name, () => assert.equal(unknownToolMessage(called, visible), expected));

test("the order of registration does not change what is suggested", () => {
  assert.deepEqual(suggestions("reab", ["read", "real", "reap"]), suggestions("reab", ["reap", "real", "read"]));
});

test("law: the distance is a metric, and the limit only ends the search", () => {
  const word = fc.string({ unit: fc.constantFrom("a", "b", "c"), maxLength: 8 });
  fc.assert(
    fc.property(fc.tuple(word, word, word), fc.nat(8), ([a, b, c], limit) => {
      const d = editDistance(a, b, 20);
      assert.equal(d === 0, a === b);
      assert.equal(d, editDistance(b, a, 20));
      assert.ok(editDistance(a, c, 20) <= d + editDistance(b, c, 20));
      assert.equal(editDistance(a, b, limit), Math.min(d, limit + 1));
    }),
  );
});
