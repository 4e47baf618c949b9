type Named = {
  readonly name: string;
};
/** What the model is told, word for word, for each error type whose text is fixed. Nobody else writes these sentences. */
export declare const modelText: {
  readonly invalid_tool_params: (m: string) => string;
  readonly invalid_json: (m: string) => string;
  readonly input_too_large: (limit: string) => string;
  readonly output_truncated: () => string;
  readonly duplicate_call_id: (id: string) => string;
  readonly handler_missing: ({ name }: Named) => string;
  readonly denied_by_guard: ({
    name,
    protects,
  }: Named & {
    readonly protects: string;
  }) => string;
  readonly denied_by_rule: ({
    name,
    label,
    because,
  }: Named & {
    readonly label: string;
    readonly because?: string | undefined;
  }) => string;
  readonly denied_by_mode: ({ name }: Named) => string;
  readonly denied_by_tool: ({
    name,
    reason,
  }: Named & {
    readonly reason?: string | undefined;
  }) => string;
  readonly denied_by_hook: (reason: string) => string;
  readonly denied_unattended: ({ name }: Named) => string;
  readonly denied_policy_changed: ({
    name,
    label,
  }: Named & {
    readonly label: string;
  }) => string;
  readonly tool_changed: ({ name }: Named) => string;
  readonly operand_changed: ({
    name,
    file,
  }: Named & {
    readonly file: string;
  }) => string;
  readonly fingerprint_mismatch: ({ name }: Named) => string;
  readonly store_unavailable: ({ name }: Named) => string;
  readonly rejected_by_user: (reason?: string) => string;
  readonly rejected_by_hook: (reason?: string) => string;
  readonly approval_expired: ({ name }: Named) => string;
  readonly cancelled: (when: "before" | "during" | "after") => string;
  readonly skipped: ({ name }: Named) => string;
  readonly execution_failed: (m: string) => string;
  readonly execution_timeout: ({
    name,
    seconds,
  }: Named & {
    readonly seconds: number;
  }) => string;
  readonly execution_unknown: ({ name }: Named) => string;
  readonly invalid_tool_result: ({ name }: Named) => string;
};
/** Sentences added to a result's text when more is true than the error itself says. */
export declare const modelTextSuffix: {
  readonly cutOff: " The response was cut off at the output limit.";
  readonly thirdTime: " This is the same error for the third time. Do not send this call again unchanged; read the tool's schema or choose another way.";
  readonly alreadyRejected: " You were already told no to exactly this call.";
};
/** What a result says when an embedder without oversight cancelled before the body started. */
export declare const CANCELLED_UNGOVERNED = "The tool call was cancelled before it ran.";
/** Stands for content with nothing in it, so that no provider is given an empty result. */
export declare const NO_OUTPUT = "(no output)";
