import assert from "node:assert/strict";
import { test } from "node:test";
import { greet } from "../src/greet.js";
import { report } from "../src/report.js";

test("greets", () => assert.equal(greet(1), "Hello, Ada!"));
test("reports", () => assert.equal(report([1, 2, 3]), "Ada, Grace, nobody"));
