import assert from "node:assert/strict";
import { test } from "node:test";
import { ERROR_TYPES, isErrorType, keptErrorType } from "../../src/model/error-types.ts";

/** Programs read these strings, so none may change or disappear. */
const pinned: readonly (readonly [showsAs: string, types: string])[] = [
  ["invalid", "tool_not_registered invalid_json input_too_large output_truncated duplicate_call_id handler_missing"],
  ["invalid; answer; command", "invalid_tool_params"],
  [
    "denied",
    "denied_by_guard denied_by_rule denied_by_mode denied_by_tool denied_by_hook denied_unattended denied_policy_changed fingerprint_mismatch store_unavailable",
  ],
  ["denied; failed", "tool_changed operand_changed"],
  ["rejected", "rejected_by_user rejected_by_hook plan_rejected"],
  ["expired; answer", "approval_expired"],
  ["cancelled", "cancelled skipped cancelled_before_commit ask_cancelled ask_aborted"],
  ["unknown", "apply_unknown execution_unknown"],
  [
    "failed",
    "execution_failed execution_denied invalid_tool_result not_applied unknown file_not_found file_write_failure read_content_failure attempt_to_create_existing_file file_too_large permission_denied no_space_left target_is_directory target_not_regular_file path_not_in_workspace path_is_not_a_directory search_path_not_found search_path_not_a_directory edit_preparation_failure edit_no_occurrence_found edit_expected_occurrence_mismatch edit_no_change edit_requires_prior_read file_changed_since_read prior_read_verification_failed glob_execution_error grep_execution_error ls_execution_error shell_execute_error shell_plan_missing mcp_tool_error mcp_server_unavailable web_fetch_failed web_fetch_blocked no_pending_action proposal_ambiguous proposal_not_found proposal_not_pending proposal_busy proposal_stale proposal_lost proposal_too_large proposal_apply_failed reject_failed resolver_is_person overlapping_changes too_many_changes plan_missing plan_changed plan_exists ask_unavailable staging_unavailable no_running_call ui_unavailable agent_not_found agent_untrusted agent_init_failed agent_recursive_fork agent_depth agent_cycle task_limit task_nested schedule_past schedule_too_often schedule_limit schedule_invalid",
  ],
  ["timed_out", "execution_timeout"],
  [
    "failed; command",
    "unhandled_exception task_output_not_found task_stop_not_found task_stop_not_running task_stop_not_cancellable task_stop_internal_error send_message_not_found send_message_not_running send_message_finishing",
  ],
  [
    "command",
    "undo_conflict undo_unavailable not_undoable invalid_part illegal_transition ambiguous_id not_allowed grant_not_found mcp_server_not_found mcp_login_failed session_not_found session_run_elsewhere unknown_call session_in_use session_busy answer_cut answer_refused cwd_missing transcript_missing agent_changed fork_history_missing provider_error provider_auth provider_refused_schema loop_detected approval_required hook_stopped limit_turns limit_tool_calls limit_time limit_cost expectation_failed script_exhausted script_unused bad_line",
  ],
  ["ok", "applied discarded nothing_to_discard answered timed_out recovered"],
  ["answer; command", "unknown_approval already_answered already_closed bad_answer answer_not_accepted bad_rule stale_revision"],
  ["answer", "not_modifiable no_editor editor_failed being_edited"],
  [
    "command; start",
    "invalid_mode mode_locked unknown_model unknown_subtype duplicate_request already_initialized late_response protocol_error",
  ],
  [
    "start",
    "bad_name bad_description bad_kind bad_schema schema_does_not_compile bad_body contradiction unknown_field bad_limit duplicate_name not_a_tool load_error bad_export factory_error factory_timeout bad_tool untrusted workspace_not_found settings_insecure settings_changed settings_unreadable settings_syntax settings_type settings_unknown_key settings_duplicate_key settings_version rule_syntax rule_bad_glob rule_unknown_tool rule_example rule_never_applies rule_project_untrusted",
  ],
  [
    "store",
    "sequence_conflict stale_writer claim_lost event_invalid event_too_large cursor_ahead store_full store_io store_readonly store_locked store_corrupt store_lost store_unreadable store_unreachable store_url_invalid store_role_refused store_newer store_unsafe_location store_permissions store_restored blob_corrupt blob_missing",
  ],
];

for (const [showsAs, types] of pinned) {
  test(`these types show as ${showsAs}`, () => {
    const listed = Object.entries(ERROR_TYPES).filter(([, shows]) => shows.join("; ") === showsAs);
    assert.deepEqual(listed.map(([type]) => type).sort(), types.split(" ").sort());
  });
}

test("the list is closed and frozen", () => {
  assert.equal(Object.keys(ERROR_TYPES).length, 219);
  assert.ok(Object.isFrozen(ERROR_TYPES) && Object.values(ERROR_TYPES).every(Object.isFrozen));
});

const kept: readonly (readonly [unknown, string])[] = [
  ["file_not_found", "file_not_found"],
  ["x_a", "x_a"],
  [`x_${"a".repeat(60)}`, `x_${"a".repeat(60)}`],
  [`x_${"a".repeat(61)}`, "unknown"],
  ["x_", "unknown"],
  ["x_A", "unknown"],
  ["constructor", "unknown"],
  ["", "unknown"],
  [undefined, "unknown"],
  [7, "unknown"],
];
for (const [type, expected] of kept)
  test(`the type ${String(type)} is kept as ${expected}`, () => assert.equal(keptErrorType(type), expected));

test("only names of the list are error types", () => assert.deepEqual(["unknown", "hasOwnProperty"].map(isErrorType), [true, false]));
