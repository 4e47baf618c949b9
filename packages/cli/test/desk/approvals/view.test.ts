import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { ConfirmationDetails } from "@assent/core";
import { approvalSubject, askReason } from "../../../src/desk/approvals/view.ts";

describe("what is asked about, on one line", () => {
  const rows: readonly [sentence: string, title: string, details: ConfirmationDetails, subject: string][] = [
    ["a text of many lines is there with its first", "Fetch", { type: "info", prompt: "Fetch it?\nfrom here\n" }, "Fetch: Fetch it? …"],
    ["one of one line is there whole", "Fetch", { type: "info", prompt: "Fetch it?\n" }, "Fetch: Fetch it?"],
    ["what the title says is not said twice", "Confirm 2 edits", { type: "info", prompt: "2 edits\na.js\n  1:1" }, "Confirm 2 edits"],
    ["a command keeps its lines", "Run", { type: "exec", command: "a\nb", rootCommand: "a" }, "Run: a\\nb"],
  ];
  for (const [sentence, title, details, subject] of rows) test(sentence, () => assert.equal(approvalSubject({ title, details }), subject));
});

describe("why a person is asked, with the note of the tool, hook or safeguard", () => {
  const rows: readonly [reason: string, source: string, note: string | undefined, text: string][] = [
    ["tool", "", undefined, "this tool asks before it runs"],
    ["tool", "", "tool permission failed: no idea", "this tool asks before it runs: tool permission failed: no idea"],
    ["hook", "freeze.sh", "frozen\nuntil Monday", "the hook 'freeze.sh' asks first: frozen\\nuntil Monday"],
    ["guard", "recovery", "it ended unknown", "the safeguard 'recovery' asks first: it ended unknown"],
  ];
  for (const [reason, source, note, text] of rows) {
    const details: ConfirmationDetails = { type: "info", prompt: "x", ...(note !== undefined && { note }) };
    test(text, () => assert.equal(askReason({ reason, source, rule: null, details }), text));
  }
});
