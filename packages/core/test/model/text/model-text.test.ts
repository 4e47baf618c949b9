import assert from "node:assert/strict";
import { test } from "node:test";
import { ERROR_TYPES } from "../../../src/model/error-types.ts";
import { CANCELLED_BEFORE, modelText, modelTextSuffix, NO_OUTPUT } from "../../../src/model/text/model-text.ts";

const name = "t";

/** The exact texts sent to models. */
const texts: readonly (readonly [type: keyof typeof modelText, text: string, expected: string])[] = [
  ["invalid_tool_params", modelText.invalid_tool_params("m"), "Error: Invalid parameters provided. Reason: m"],
  [
    "output_truncated",
    modelText.output_truncated(),
    "The response was cut off at the output limit before this call was complete, so it was not run. Send it again in smaller parts.",
  ],
  ["duplicate_call_id", modelText.duplicate_call_id("c1"), "Duplicate tool call id 'c1': only the first call was handled."],
  ["handler_missing", modelText.handler_missing({ name }), "Tool 't' has no handler in this runtime."],
  ["denied_by_guard", modelText.denied_by_guard({ name, protects: "the ledger" }), "Tool 't' is denied: the ledger."],
  ["denied_by_rule", modelText.denied_by_rule({ name, label: "user permissions" }), "Tool 't' is denied by user permissions."],
  [
    "denied_by_rule",
    modelText.denied_by_rule({ name, label: "user permissions", because: "use make" }),
    "Tool 't' is denied by user permissions. Denied by a rule: use make",
  ],
  ["denied_by_mode", modelText.denied_by_mode({ name }), "Tool 't' is not available in plan mode. Do not retry it; finish the plan first."],
  ["denied_by_tool", modelText.denied_by_tool({ name }), "Tool 't' refused this input."],
  ["denied_by_tool", modelText.denied_by_tool({ name, reason: "r" }), "Tool 't' refused this input. Reason: r"],
  ["denied_by_hook", modelText.denied_by_hook("r"), "Tool call blocked by hook: r"],
  ["denied_unattended", modelText.denied_unattended({ name }), "Tool 't' requires approval, but no one can be asked in this run."],
  [
    "denied_unattended",
    modelText.denied_unattended({ name, asked: true }),
    "Tool 't' requires approval, but asking for it failed. It was not run.",
  ],
  [
    "denied_policy_changed",
    modelText.denied_policy_changed({ name, label: "session permissions" }),
    "Tool 't' is denied by session permissions: the policy changed while the call was waiting.",
  ],
  ["tool_changed", modelText.tool_changed({ name }), "Tool 't' was changed or removed while the call was waiting. Propose it again."],
  ["operand_changed", modelText.operand_changed({ name, file: "a.sh" }), "Tool 't' was not run: a.sh changed after it was judged."],
  ["fingerprint_mismatch", modelText.fingerprint_mismatch({ name }), "Tool 't' was not run: the request differs from what was approved."],
  ["store_unavailable", modelText.store_unavailable({ name }), "Tool 't' was not run: the decision could not be recorded."],
  ["rejected_by_user", modelText.rejected_by_user(), "The user rejected the tool call."],
  ["rejected_by_user", modelText.rejected_by_user("use rg"), "The user rejected the tool call. Reason: use rg"],
  ["rejected_by_hook", modelText.rejected_by_hook(), "The tool call was rejected by a permission_request hook."],
  ["rejected_by_hook", modelText.rejected_by_hook("r"), "The tool call was rejected by a permission_request hook. Reason: r"],
  ["approval_expired", modelText.approval_expired({ name }), "Nobody answered the approval for 't' in time. It was not run."],
  ["cancelled", modelText.cancelled("before"), "The tool call was cancelled by the user before it ran."],
  ["cancelled", modelText.cancelled("during"), "The tool call was cancelled by the user while it was running. It may have had effects."],
  ["cancelled", modelText.cancelled("after"), "The tool call had already completed when it was cancelled; its output was discarded."],
  ["skipped", modelText.skipped({ name }), "Tool 't' was skipped: a post_tool_use hook ended the run."],
  ["execution_failed", modelText.execution_failed("m"), "Error: Tool call execution failed. Reason: m"],
  [
    "execution_timeout",
    modelText.execution_timeout({ name, seconds: 30 }),
    "Error: Tool 't' did not finish within 30 s and was stopped. It may have had effects.",
  ],
  [
    "execution_unknown",
    modelText.execution_unknown({ name }),
    "It is unknown whether 't' ran: the process ended while it was running. It was not repeated.",
  ],
  ["invalid_tool_result", modelText.invalid_tool_result({ name }), "Tool 't' returned no valid result."],
];
for (const [type, text, expected] of texts) test(`${type}: ${expected}`, () => assert.equal(text, expected));

test("every text to the model is pinned here, and belongs to a type of the list", () => {
  assert.deepEqual(Object.keys(modelText).sort(), [...new Set(texts.map(([type]) => type))].sort());
  for (const type of Object.keys(modelText)) assert.ok(Object.hasOwn(ERROR_TYPES, type), type);
});

test("suffixes, and the text for empty content", () => {
  assert.deepEqual(modelTextSuffix, {
    cutOff: " The response was cut off at the output limit.",
    thirdTime:
      " This is the same error for the third time. Do not send this call again unchanged; read the tool's schema or choose another way.",
    alreadyRejected: " You were already told no to exactly this call.",
  });
  assert.deepEqual([CANCELLED_BEFORE, NO_OUTPUT], ["The tool call was cancelled before it ran.", "(no output)"]);
});
