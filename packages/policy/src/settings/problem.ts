/** A problem of a settings file. Line and column count from 1; for a flag both are 0. */
export type SettingsProblem = {
  readonly type: ProblemType;
  readonly file: string;
  readonly line: number;
  readonly column: number;
  /** Path of the key: `permissions.deny[2]`. */
  readonly key: string;
  readonly message: string;
  readonly hint: string;
  /** `refuse`: the policy cannot be used. `warning`: the entry is ignored, unless `kept`. */
  readonly effect: "refuse" | "warning";
  /** The entry still applies. */
  readonly kept?: true;
};

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
  | "rule_never_applies"
  | "rule_project_untrusted"
  | "mode_locked";

/** Settings that cannot be used, with all problems. */
export class SettingsError extends Error {
  readonly problems: readonly SettingsProblem[];
  /** Type of the first refusing problem. */
  readonly code: ProblemType;
  constructor(problems: readonly SettingsProblem[], options?: ErrorOptions) {
    const first = problems.find(({ effect }) => effect === "refuse") ?? problems[0];
    super(problems.map(formatProblem).join("\n"), options);
    this.name = "SettingsError";
    this.problems = problems;
    this.code = first?.type ?? "settings_unreadable";
  }
}

/** `FILE:LINE:COLUMN: MESSAGE`, or the message alone if it is about the whole file and names it. */
export function formatProblem({ file, line, column, message }: SettingsProblem): string {
  if (message.startsWith(`${file} `)) return message;
  return line === 0 ? `${file}: ${message}` : `${file}:${line}:${column}: ${message}`;
}

/** By file, line and column. */
export function sortProblems(problems: readonly SettingsProblem[]): readonly SettingsProblem[] {
  return problems.toSorted((a, b) => compareTexts(a.file, b.file) || a.line - b.line || a.column - b.column);
}

function compareTexts(a: string, b: string): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}

/** An invalid allow adds nothing, so it is ignored; anything else refuses. */
export function problemEffect(type: ProblemType, inAllow: boolean): SettingsProblem["effect"] {
  switch (type) {
    case "rule_unknown_tool":
    case "rule_never_applies":
    case "rule_project_untrusted":
      return "warning";
    case "settings_type":
    case "rule_syntax":
    case "rule_example":
    case "rule_bad_glob":
      return inAllow ? "warning" : "refuse";
    case "settings_unreadable":
    case "settings_insecure":
    case "settings_syntax":
    case "settings_unknown_key":
    case "settings_duplicate_key":
    case "settings_version":
    case "mode_locked":
      return "refuse";
    default:
      return type satisfies never;
  }
}
