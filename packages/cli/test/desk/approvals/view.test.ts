import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { ConfirmationDetails } from "@assent/core";
import { approvalSubject } from "../../../src/desk/approvals/view.ts";

describe("what is asked about, on one line", () => {
  const rows: readonly [sentence: string, title: string, details: ConfirmationDetails, subject: string][] = [
    ["a text of many lines is there with its first", "Fetch", { type: "info", prompt: "Fetch it?\nfrom here\n" }, "Fetch: Fetch it? …"],
    ["one of one line is there whole", "Fetch", { type: "info", prompt: "Fetch it?\n" }, "Fetch: Fetch it?"],
    ["what the title says is not said twice", "Confirm 2 edits", { type: "info", prompt: "2 edits\na.js\n  1:1" }, "Confirm 2 edits"],
    ["a command keeps its lines", "Run", { type: "exec", command: "a\nb", rootCommand: "a" }, "Run: a\\nb"],
  ];
  for (const [sentence, title, details, subject] of rows) test(sentence, () => assert.equal(approvalSubject({ title, details }), subject));
});
