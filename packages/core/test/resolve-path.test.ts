import assert from "node:assert/strict";
import path from "node:path";
import { test } from "node:test";
import fc from "fast-check";
import { resolvePath } from "../src/invocation.ts";

test("law: a path is resolved as POSIX says", () => {
  const step = fc.constantFrom("", ".", "..", "a", "b c", "...", "ü");
  const steps = fc.array(step, { maxLength: 8 }).map((all) => all.join("/"));
  fc.assert(fc.property(steps, steps, (cwd, given) => assert.equal(resolvePath(`/${cwd}`, given), path.posix.resolve(`/${cwd}`, given))));
});
