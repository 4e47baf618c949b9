import assert from "node:assert/strict";
import { test } from "node:test";
import { HOOK_EVENTS, hookMayChange, hookPointNamed, STOP_HOOK_LIMIT, sharedHookName } from "../../../src/model/hooks/event-table.ts";

/** ours | shared | matches on | blocks | fails closed | rewrites | decides | context */
const TABLE = `
pre_tool_use | PreToolUse | tool,tool_name | prevents | deny | input | allow,ask,deny | yes
permission_request | PermissionRequest | tool,tool_name | prevents | no_opinion | input | allow,deny | no
tool_response_transform | - | tool,tool_name | no | withhold | result | - | no
post_tool_use | PostToolUse | tool,tool_name | feedback | no | no | - | yes
post_tool_use_failure | PostToolUseFailure | tool,tool_name | feedback | no | no | - | yes
post_tool_batch | PostToolBatch | - | feedback | no | no | - | yes
user_prompt_submit | UserPromptSubmit | - | prevents | deny | no | - | yes
session_start | SessionStart | source | no | no | no | - | yes
turn_start | - | - | no | no | no | - | yes
stop | Stop | - | holds | no | no | - | yes
subagent_start | SubagentStart | agent_type | prevents | deny | no | - | yes
subagent_stop | SubagentStop | agent_type | holds | no | no | - | yes
pre_compact | PreCompact | trigger | prevents | deny | no | - | yes
permission_denied | PermissionDenied | tool,tool_name | no | no | no | - | no
on_tool_approval_decision | - | tool,tool_name | no | no | no | - | no
on_user_input | - | label | no | no | no | - | no
session_end | SessionEnd | reason | no | no | no | - | no
turn_end | - | reason | no | no | no | - | no
post_compact | PostCompact | trigger | no | no | no | - | no
notification | Notification | notification_type | no | no | no | - | no
on_error | StopFailure | error_type | no | no | no | - | no
on_agent_switch | - | to_agent | no | no | no | - | no
config_change | ConfigChange | source | no | no | no | - | no`;

test("the table of events is the contract's", () => {
  const listed = (words: readonly string[]): string => (words.length === 0 ? "-" : words.join(","));
  const rows = Object.entries(HOOK_EVENTS).map(([ours, row]) =>
    [
      ours,
      row.shared ?? "-",
      listed(row.matchesOn),
      row.blocks,
      row.failsClosed,
      row.rewrites,
      listed(row.decides),
      row.context ? "yes" : "no",
    ].join(" | "),
  );
  assert.equal(`\n${rows.join("\n")}`, TABLE);
});

test("an event is known by either name, and by no other", () => {
  assert.deepEqual(
    ["pre_tool_use", "PreToolUse", "StopFailure", "turn_start", "preToolUse", "constructor", "__proto__", ""].map(hookPointNamed),
    ["pre_tool_use", "pre_tool_use", "on_error", "turn_start", undefined, undefined, undefined, undefined],
  );
});

test("an event without a shared name goes by ours", () => {
  assert.deepEqual([sharedHookName("stop"), sharedHookName("turn_end")], ["Stop", "turn_end"]);
});

test("only where a hook can still change something must it be waited for", () => {
  const changing = Object.entries(HOOK_EVENTS).flatMap(([name, row]) => (hookMayChange(row) ? [name] : []));
  assert.deepEqual(changing, [
    "pre_tool_use",
    "permission_request",
    "tool_response_transform",
    "user_prompt_submit",
    "stop",
    "subagent_start",
    "subagent_stop",
    "pre_compact",
  ]);
});

test("an end is held back at most 8 times in a row unless settings say otherwise", () => assert.equal(STOP_HOOK_LIMIT, 8));
