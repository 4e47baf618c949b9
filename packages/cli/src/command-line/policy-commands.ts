import { COMMON } from "./options.ts";
import type { CommandSpec, OptionSpec } from "./spec.ts";

const WORKSPACE: OptionSpec = {
  name: "workspace",
  takes: "text",
  value: "DIR",
  says: "the project (default: nearest directory upward with .git or .assent)",
};

const EXPLAINING: readonly OptionSpec[] = [
  { name: "tool", takes: "text", value: "NAME", says: "the tool of the call, instead of TOOL" },
  { name: "input", takes: "text", value: "JSON", says: "its input, instead of INPUT; @FILE reads a file, - reads stdin (default {})" },
  {
    name: "batch",
    takes: "text",
    value: "FILE",
    says: `many calls, one {"id","tool","input","cwd"?} per line (- reads stdin); answers with JSON lines`,
  },
  { name: "policy", takes: "text", value: "FILE", says: "judge by this file alone: no other settings, trust or remembered answer is read" },
  WORKSPACE,
  {
    name: "cwd",
    takes: "text",
    value: "DIR",
    says: "where the call would be made (default: here, or the workspace when here is outside it)",
  },
  {
    name: "mode",
    takes: "choice",
    choices: ["default", "plan", "auto-edit", "yolo"],
    says: "judge in this mode (default: the settings' mode)",
  },
];

/** The commands about rules: what they would do, whether they are sound, how they change. */
export const POLICY_COMMANDS: readonly CommandSpec[] = [
  {
    name: "explain",
    group: "look",
    looks: true,
    says: "tell what would happen to a call, and why; nothing is run, asked or written",
    more: "INPUT is the tool's input as JSON, or what the call is about: the command, the file, the pattern. Without --policy the real settings count. Remembered answers do not; the trace says what they would answer.",
    operands: [
      { name: "TOOL", required: false, listedBy: "assent tools" },
      { name: "INPUT", required: false },
    ],
    options: [...EXPLAINING, ...COMMON],
    exits: {
      0: "explained, whatever the verdict",
      1: "a line of the batch could not be judged",
      2: "usage, an input that does not fit, or broken settings",
    },
    examples: [
      "assent explain shell 'git push'",
      `assent explain --tool shell --input '{"command":"git push"}'`,
      `assent explain --tool write --input '{"file_path":"a.txt","content":""}' --mode auto-edit --json`,
      "assent explain --policy strict.json --batch calls.jsonl",
    ],
    load: () => import("../commands/explain.ts"),
  },
  {
    name: "policy check",
    group: "look",
    looks: true,
    says: "check settings files: syntax, keys, rules and their examples",
    more: "Without FILE the settings that count here are checked, all layers together. A FILE is checked as --policy would read it.",
    operands: [{ name: "FILE", required: false, repeats: true }],
    options: [WORKSPACE, ...COMMON],
    exits: { 0: "no problems", 1: "problems, warnings included", 2: "usage" },
    examples: ["assent policy check", "assent policy check .assent/settings.json team.json"],
    load: () => import("../commands/policy-check.ts"),
  },
  {
    name: "policy diff",
    group: "look",
    looks: true,
    says: "show the rules that differ between two policy files",
    more: "With --ledger every recorded call is judged again under both, by the files as they are now. Nothing is run or written.",
    operands: [
      { name: "OLD", required: true },
      { name: "NEW", required: true },
    ],
    options: [
      { name: "ledger", takes: "nothing", says: "also list the recorded calls that NEW would decide differently" },
      WORKSPACE,
      ...COMMON,
    ],
    exits: { 0: "shown, whether or not they differ", 1: "the store failed", 2: "usage, or a file that is broken" },
    examples: ["assent policy diff old.json new.json", "assent policy diff old.json new.json --ledger"],
    load: () => import("../commands/policy-diff.ts"),
  },
  {
    name: "grants promote",
    group: "decide",
    decides: true,
    says: "make a remembered answer an allow rule of your settings or the project's",
    more: "The change is shown as a diff. The grant stays until it is revoked. An id may be cut to a unique beginning of at least 6 characters.",
    operands: [{ name: "ID", required: true, listedBy: "assent grants" }],
    options: [
      { name: "to", takes: "choice", choices: ["user", "project"], says: "whose settings file takes the rule (required)" },
      { name: "dry-run", takes: "nothing", says: "show the diff, write nothing" },
      WORKSPACE,
      ...COMMON,
    ],
    exits: {
      0: "written, or the rule stands there already",
      1: "refused: not an active project or user grant, a rule that must not stand in a file, or the file cannot be changed",
      2: "usage, or settings that are broken",
      4: "no such id",
    },
    examples: ["assent grants promote g_3kq7mz --to user --dry-run", "assent grants promote g_3kq7mz --to project"],
    load: () => import("../commands/grants-promote.ts"),
  },
];
