export class CommandError extends Error {
  readonly type: string;
  readonly exit: number;
  readonly hint: string;
  constructor(type: string, exit: number, text: { readonly message: string; readonly hint?: string }) {
    super(text.message);
    this.name = "CommandError";
    this.type = type;
    this.exit = exit;
    this.hint = text.hint ?? "";
  }
}

export function usageError(command: string, message: string): CommandError {
  return new CommandError("usage", 2, { message: `assent${command === "" ? "" : ` ${command}`}: ${message}` });
}

export type Failure = { readonly type: string; readonly exit: number; readonly message: string; readonly hint: string };

const EXITS: Readonly<Record<string, number>> = {
  bad_answer: 2,
  bad_rule: 2,
  invalid_tool_params: 2,
  not_modifiable: 2,
  ambiguous_id: 2,
  workspace_not_found: 2,
  store_url_invalid: 2,
  unknown_approval: 4,
  session_not_found: 4,
  grant_not_found: 4,
  unknown_call: 4,
  proposal_not_found: 4,
};

const HINTS: Readonly<Record<string, string>> = {
  unknown_approval: "assent approvals --all",
  session_not_found: "assent sessions",
  grant_not_found: "assent grants --all",
  unknown_call: "assent log",
  proposal_not_found: "assent proposals --all",
  stale_revision: "What is open now: assent approvals show ID",
  session_in_use: "To take it from that process: assent resume SESSION --take-over",
  session_busy: "assent resume SESSION --take-over ends a command that holds only this session. End any other process yourself.",
  store_unsafe_location: "To choose another directory: --store DIRECTORY",
  store_readonly: "To choose another directory: --store DIRECTORY",
  store_unreadable: "To choose another directory: --store DIRECTORY",
  store_corrupt: "assent verify",
  store_io: "assent verify",
};

export function asFailure(error: unknown): Failure {
  if (error instanceof CommandError) return { type: error.type, exit: error.exit, message: error.message, hint: error.hint };
  if (error instanceof Error && error.name === "IllegalEvent") return defect(error);
  if (error instanceof Error && "type" in error && typeof error.type === "string") {
    const hint = isAdvised(error) ? "" : (HINTS[error.type] ?? "");
    return { type: error.type, exit: EXITS[error.type] ?? 1, message: error.message, hint };
  }
  if (!(error instanceof Error)) return { type: "unhandled_exception", exit: 1, message: String(error), hint: "" };
  const reason = fileProblem(error);
  const message = "path" in error && reason !== error.message ? `Cannot use ${error.path}: ${reason}.` : error.message;
  return { type: "unhandled_exception", exit: 1, message, hint: "" };
}

const REASONS: Readonly<Record<string, string>> = {
  ENOENT: "it does not exist",
  EACCES: "permission denied",
  EPERM: "permission denied",
  EISDIR: "it is a directory",
  ENOTDIR: "a part of its path is not a directory",
  EROFS: "its file system is read-only",
  ENOSPC: "the disk is full",
};

/** Why a file cannot be used, as the end of a sentence. */
export function fileProblem(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return ("code" in error && REASONS[String(error.code)]) || error.message;
}

const HELD_ELSEWHERE: readonly string[] = ["session_in_use", "session_busy", "stale_writer"];

/** True if another process has the session, or took it over while this one stood still. */
export function isHeldElsewhere(error: unknown): boolean {
  return HELD_ELSEWHERE.includes(asFailure(error).type);
}

export function ignoreHeld(error: unknown): undefined {
  if (!isHeldElsewhere(error)) throw error;
}

/** The message of an error and its hint, on one line. */
export function failureText(error: unknown): string {
  const { message, hint } = asFailure(error);
  return hint === "" ? message : `${message} ${hintText(hint)}`;
}

/** The message itself says what to do. */
function isAdvised(error: Error): boolean {
  return "detail" in error && typeof error.detail === "object" && error.detail !== null && "advised" in error.detail;
}

function defect({ message }: Error): Failure {
  const hint = "Check the record with: assent verify. If it is sound, this is a bug in Assent.";
  return { type: "unhandled_exception", exit: 1, message: `An event does not fit the record: ${message}`, hint };
}

const SHOWING: readonly string[] = ["approvals", "grants", "proposals", "sessions", "tasks", "log", "tools", "verify"];

/** Introduces a bare command, so that it does not look like an echo. */
export function hintText(hint: string): string {
  const [program, name = "", part] = hint.split(" ");
  if (program !== "assent") return hint;
  return `${SHOWING.includes(name) || part === "list" ? "See" : "Continue with"}: ${hint}`;
}
