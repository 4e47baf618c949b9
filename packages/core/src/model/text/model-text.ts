type NamedTool = { readonly name: string };

/** The fixed texts for models, by error type. */
export const modelText = {
  invalid_tool_params: (m: string): string => `Error: Invalid parameters provided. Reason: ${m}`,
  output_truncated: (): string =>
    "The response was cut off at the output limit before this call was complete, so it was not run. Send it again in smaller parts.",
  duplicate_call_id: (id: string): string => `Duplicate tool call id '${id}': only the first call was handled.`,
  handler_missing: ({ name }: NamedTool): string => `Tool '${name}' has no handler in this runtime.`,
  denied_by_guard: ({ name, protects }: NamedTool & { readonly protects: string }): string => `Tool '${name}' is denied: ${protects}.`,
  denied_by_rule: ({ name, label, because }: NamedTool & { readonly label: string; readonly because?: string | undefined }): string =>
    `Tool '${name}' is denied by ${label}.${because === undefined ? "" : ` Denied by a rule: ${because}`}`,
  denied_by_mode: ({ name }: NamedTool): string => `Tool '${name}' is not available in plan mode. Do not retry it; finish the plan first.`,
  denied_by_tool: ({ name, reason }: NamedTool & { readonly reason?: string | undefined }): string =>
    `Tool '${name}' refused this input.${because(reason)}`,
  denied_by_hook: (reason: string): string => `Tool call blocked by hook: ${reason}`,
  denied_unattended: ({ name, asked = false }: NamedTool & { readonly asked?: boolean }): string =>
    `Tool '${name}' requires approval, but ${asked ? "asking for it failed. It was not run." : "no one can be asked in this run."}`,
  denied_policy_changed: ({ name, label }: NamedTool & { readonly label: string }): string =>
    `Tool '${name}' is denied by ${label}: the policy changed while the call was waiting.`,
  tool_changed: ({ name }: NamedTool): string => `Tool '${name}' was changed or removed while the call was waiting. Propose it again.`,
  operand_changed: ({ name, file }: NamedTool & { readonly file: string }): string =>
    `Tool '${name}' was not run: ${file} changed after it was judged.`,
  fingerprint_mismatch: ({ name }: NamedTool): string => `Tool '${name}' was not run: the request differs from what was approved.`,
  store_unavailable: ({ name }: NamedTool): string => `Tool '${name}' was not run: the decision could not be recorded.`,
  rejected_by_user: (reason?: string): string => `The user rejected the tool call.${because(reason)}`,
  rejected_by_hook: (reason?: string): string => `The tool call was rejected by a permission_request hook.${because(reason)}`,
  approval_expired: ({ name }: NamedTool): string => `Nobody answered the approval for '${name}' in time. It was not run.`,
  cancelled: (when: "before" | "during" | "after"): string => CANCELLED[when],
  skipped: ({ name }: NamedTool): string => `Tool '${name}' was skipped: a post_tool_use hook ended the run.`,
  execution_failed: (m: string): string => `Error: Tool call execution failed. Reason: ${m}`,
  execution_timeout: ({ name, seconds }: NamedTool & { readonly seconds: number }): string =>
    `Error: Tool '${name}' did not finish within ${seconds} s and was stopped. It may have had effects.`,
  execution_unknown: ({ name }: NamedTool): string =>
    `It is unknown whether '${name}' ran: the process ended while it was running. It was not repeated.`,
  invalid_tool_result: ({ name, why }: NamedTool & { readonly why?: string | undefined }): string =>
    why === undefined ? `Tool '${name}' returned no valid result.` : `Tool '${name}' ran, but its result could not be kept: ${why}.`,
} as const;

/** Sentences appended to a result's text. */
export const modelTextSuffix = {
  cutOff: " The response was cut off at the output limit.",
  thirdTime:
    " This is the same error for the third time. Do not send this call again unchanged; read the tool's schema or choose another way.",
  alreadyRejected: " You were already told no to exactly this call.",
} as const;

/** The result of a cancelled call if Assent does not know who cancelled it, for example when a restored ledger closed its approval. */
export const CANCELLED_BEFORE = "The tool call was cancelled before it ran.";

/** Replaces empty content, because providers reject empty results. */
export const NO_OUTPUT = "(no output)";

const CANCELLED = {
  before: "The tool call was cancelled by the user before it ran.",
  during: "The tool call was cancelled by the user while it was running. It may have had effects.",
  after: "The tool call had already completed when it was cancelled; its output was discarded.",
} as const;

function because(reason: string | undefined): string {
  return reason === undefined ? "" : ` Reason: ${reason}`;
}
