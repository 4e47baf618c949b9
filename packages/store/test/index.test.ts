import assert from "node:assert/strict";
import { test } from "node:test";
import * as store from "../src/index.ts";

test("the package exports these names and no others", () => {
  assert.deepEqual(Object.keys(store).sort(), ["anchorText", "openLedger", "parseAnchor", "pruneStore", "verifyStore"]);
});
