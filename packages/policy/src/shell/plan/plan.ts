import type { Verdict } from "@assent/core";
import { contentDigest } from "../../facts/digest.ts";

/** Why no rule may allow a command. `at` is its place in the text. */
export type Hazard = { readonly id: HazardId; readonly text: string; readonly at?: readonly [start: number, end: number] };

export type HazardId =
  | "unparsed"
  | "unmodelled_construct"
  | "expansion"
  | "substitution"
  | "brace_or_glob"
  | "assignment"
  | "redirection"
  | "network_redirection"
  | "background"
  | "state_builtin"
  | "dynamic_name"
  | "path_program"
  | "untrusted_program"
  | "unmodelled_option"
  | "writes_file"
  | "runs_program"
  | "runs_hooks"
  | "git_global_option"
  | "opaque_program"
  | "outside_workspace"
  | "sensitive_file"
  | "path_unresolved"
  | "cwd_unknown"
  | "control_character"
  | "hidden_character"
  | "confusable"
  | "other_shell"
  | "too_long"
  | "script_changed"
  | "pipe_to_shell"
  | "hard_link"
  | "other_system_path";

/** What a command may do: `read` is a proof; `opaque` runs code that Assent doesn't inspect. */
export type CommandClass = "read" | "write" | "opaque" | "unknown";

/** A word of a command; dynamic: only known at run time. */
export type PlanWord = { readonly text: string; readonly dynamic: boolean };

/** A redirection. `fd` is always given: `0` for `<`, `1` for `>`, `{name}` for a variable, `&` for both outputs. */
export type Redirection = { readonly fd: string; readonly op: string; readonly target: string; readonly dynamic: boolean };

export type Operand = { readonly path: string; readonly real: string | null; readonly use: "read" | "write" };

/** A simple command of a line, at any depth. */
export type Command = {
  readonly argv: readonly PlanWord[];
  /** Where it was found: `['&&[1]', 'sh -c', '|[0]']`. */
  readonly path: readonly string[];
  /** Null: unknown. */
  readonly cwd: string | null;
  readonly assignments: readonly { readonly name: string; readonly dynamic: boolean }[];
  readonly redirections: readonly Redirection[];
  readonly class: CommandClass;
  readonly operands: readonly Operand[];
  readonly hazards: readonly Hazard[];
};

/** A command with its own verdict. */
export type JudgedCommand = Command & { readonly verdict: Verdict; readonly rule?: string; readonly source: string };

/** The commands of a shell line. Rules judge them, and exactly these run. */
export type Plan = {
  /** Covers cwd, shape and each command's path, argv, cwd, assignments and redirections. */
  readonly digest: string;
  readonly cwd: string;
  /** One plain command, several, or text that never runs from the plan. */
  readonly shape: "argv" | "list" | "text";
  /** The strict reader accepted everything. */
  readonly modelled: boolean;
  /** In text order, at every depth. */
  readonly commands: readonly Command[];
  readonly hazards: readonly Hazard[];
};

/** Makes a plan with its digest. Text that was not parsed is identified by itself. */
export function makePlan(known: Omit<Plan, "digest">, unread?: string): Plan {
  return { digest: contentDigest(JSON.stringify(unread === undefined ? describeRun(known) : [known.cwd, unread])), ...known };
}

function describeRun({ cwd, shape, commands }: Omit<Plan, "digest">): readonly unknown[] {
  const parts = commands.map(({ path, argv, cwd: at, assignments, redirections }) => [
    path,
    argv.map(({ text, dynamic }) => (dynamic ? [text] : text)),
    at,
    assignments.map(({ name }) => name),
    redirections.map(({ fd, op, target }) => [fd, op, target]),
  ]);
  return [cwd, shape, parts];
}
