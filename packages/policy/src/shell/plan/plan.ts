import type { Verdict } from "@assent/core";
import { contentDigest } from "../../facts/digest.ts";

/** Why a command cannot be allowed by a rule or by the read-only hint. `at` is where it stands in the text. */
export type Hazard = { readonly id: HazardId; readonly text: string; readonly at?: readonly [start: number, end: number] };

/** The closed list of hazards. */
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

/** What a known command may do: `read` proves nothing is changed; `opaque` runs code nobody looks into. */
export type CommandClass = "read" | "write" | "opaque" | "unknown";

/** A word as the program would get it; dynamic: only a shell could tell. */
export type PlanWord = { readonly text: string; readonly dynamic: boolean };

/** A redirection of one command. `fd` is always written out: `0` for `<`, `1` for `>` where the text has none; `{name}` for a variable; `&` for both. */
export type Redirection = { readonly fd: string; readonly op: string; readonly target: string; readonly dynamic: boolean };

/** A path that a command is known to read or write. */
export type Operand = { readonly path: string; readonly real: string | null; readonly use: "read" | "write" };

/** One simple command of a line, at any depth. */
export type Command = {
  readonly argv: readonly PlanWord[];
  /** Where it was found, and so how it is joined: `['&&[1]', 'sh -c', '|[0]']`. */
  readonly path: readonly string[];
  /** After earlier `cd`; null: unknown. */
  readonly cwd: string | null;
  readonly assignments: readonly { readonly name: string; readonly dynamic: boolean }[];
  readonly redirections: readonly Redirection[];
  readonly class: CommandClass;
  readonly operands: readonly Operand[];
  readonly hazards: readonly Hazard[];
};

/** A command with what was decided about it, as `explain` shows it. */
export type JudgedCommand = Command & { readonly verdict: Verdict; readonly rule?: string; readonly source: string };

/** What a shell line means, as far as it is understood: the object that is judged, and the one that is executed. */
export type Plan = {
  /** Over cwd, shape and each command's path, argv, cwd, assignments and redirections. */
  readonly digest: string;
  readonly cwd: string;
  /** One plain command; plain commands joined; anything else, which is never executed from the plan. */
  readonly shape: "argv" | "list" | "text";
  /** The allow walk understood every construct. */
  readonly modelled: boolean;
  /** In order of text, every depth. */
  readonly commands: readonly Command[];
  /** Those not tied to one command. */
  readonly hazards: readonly Hazard[];
};

/** A plan with its digest. A text that was not read is known by the text itself. */
export function makePlan(known: Omit<Plan, "digest">, unread?: string): Plan {
  return { digest: contentDigest(JSON.stringify(unread === undefined ? describeRun(known) : [known.cwd, unread])), ...known };
}

/** Everything that says what would run, and nothing that is only known about it. */
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
