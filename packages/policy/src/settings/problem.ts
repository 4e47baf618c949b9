/** Something wrong with a settings file. Line and column count from 1, in UTF-16 units. */
export type Problem = {
  readonly type: ProblemType;
  readonly file: string;
  readonly line: number;
  readonly column: number;
  /** Dotted path of the key: `permissions.deny[2]`. */
  readonly key: string;
  readonly message: string;
  readonly hint: string;
  /** `refuse`: nobody may go on with this policy. `warning`: what it stands on is left out. */
  readonly effect: "refuse" | "warning";
};

/** The closed list of what can be wrong. */
export type ProblemType =
  | "settings_unreadable"
  | "settings_insecure"
  | "settings_syntax"
  | "settings_type"
  | "settings_unknown_key"
  | "settings_duplicate_key"
  | "settings_version"
  | "rule_syntax"
  | "rule_unknown_tool"
  | "rule_example"
  | "rule_bad_glob"
  | "rule_too_broad"
  | "rule_project_untrusted"
  | "mode_locked";
