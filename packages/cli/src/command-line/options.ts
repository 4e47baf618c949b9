import type { OperandSpec, OptionSpec } from "./spec.ts";

const STORE: OptionSpec = {
  name: "store",
  takes: "text",
  value: "DIR|URL",
  help: "where Assent keeps its record: a directory, or postgres://… (default: $ASSENT_STORE, the setting store, or ~/.local/state/assent)",
};
const JSON_OUT: OptionSpec = { name: "json", takes: "nothing", help: "print one JSON value instead of text, also for errors" };

export const COMMON: readonly OptionSpec[] = [STORE, JSON_OUT];

export const PAGE: readonly OptionSpec[] = [
  { name: "limit", takes: "count", value: "N", max: 1000, help: "show at most N entries (default 100)" },
  { name: "after", takes: "text", value: "ID", help: "show only entries after this one" },
];

export const WORKSPACE: OptionSpec = {
  name: "workspace",
  takes: "text",
  value: "DIR",
  help: "the project directory (default: the nearest one upward with .git or .assent)",
};

export const MODE_NAMES: readonly string[] = ["default", "plan", "auto-edit", "yolo"];

export const LOADING: readonly OptionSpec[] = [
  { name: "tool", takes: "list", value: "FILE", help: "load custom tools from this module (repeatable)" },
  { name: "strict-tools", takes: "nothing", help: "stop if a custom tool cannot be loaded" },
  { name: "mcp-config", takes: "list", value: "FILE", help: "also use the MCP servers of this file, or of this JSON text (repeatable)" },
  { name: "strict-mcp-config", takes: "nothing", help: "use only the MCP servers of --mcp-config" },
];

export function onAsk(otherwise: string): OptionSpec {
  const help = `what to do with a call that needs approval when no one can be asked (default ${otherwise})`;
  return { name: "on-ask", takes: "choice", choices: ["deny", "park", "fail"], help };
}

export const JUDGING: readonly OptionSpec[] = [
  { name: "mode", takes: "choice", choices: MODE_NAMES, help: "how much may run without approval" },
  { name: "allow", takes: "list", value: "RULE", help: "allow calls that match, e.g. 'Shell(git status)' (repeatable)" },
  { name: "ask", takes: "list", value: "RULE", help: "always ask for approval of calls that match (repeatable)" },
  { name: "deny", takes: "list", value: "RULE", help: "never run calls that match, in any mode (repeatable)" },
  { name: "add-dir", takes: "list", value: "DIR", help: "treat this directory as part of the project (repeatable)" },
  { name: "policy", takes: "text", value: "FILE", help: "use only the rules in this file; ignore settings, rule options and trust" },
  ...LOADING,
];

export const WATCH: OptionSpec = {
  name: "watch",
  takes: "nothing",
  help: "keep waiting while something needs an answer, and continue after each one",
};

export const RAW: OptionSpec = { name: "raw", takes: "nothing", help: "show secrets as they are recorded, not as [redacted: …]" };

export const BY: OptionSpec = { name: "by", takes: "text", value: "NAME", help: "your name, recorded next to your operating-system user" };

export const ANSWERING: readonly OptionSpec[] = [
  { name: "reason", takes: "text", value: "TEXT", help: "recorded with the answer; the model sees the reason for a rejection" },
  BY,
];

export const SEVERAL: readonly OptionSpec[] = [
  { name: "session", takes: "text", value: "ID", help: "answer everything that waits in this session, after showing the list" },
  { name: "yes", takes: "nothing", help: "answer several without asking for confirmation" },
];

export const NO_WAIT: OptionSpec = {
  name: "no-wait",
  takes: "nothing",
  help: "if another process has the session open, leave the work to it and return at once",
};

export const MODEL: readonly OptionSpec[] = [
  { name: "model", takes: "text", value: "ID", help: "the model as provider:name, or script:FILE" },
  { name: "max-turns", takes: "count", value: "N", max: 1_000_000, help: "stop after N requests to the model" },
  { name: "max-tool-calls", takes: "count", value: "N", max: 1_000_000, help: "stop before running more than N calls" },
  { name: "max-time", takes: "duration", value: "DURATION", help: "stop after this long, not counting time spent waiting for people" },
  { name: "approval-timeout", takes: "duration", value: "DURATION", help: "approvals expire if not answered within this time" },
  { name: "schedule", takes: "text", value: "FILE", help: "prompts to send at given times, as a JSON list" },
];

export const RUNNING: readonly OptionSpec[] = [
  { name: "output-format", takes: "choice", choices: ["text", "json", "stream-json"], help: "what stdout carries (default text)" },
  {
    name: "input-format",
    takes: "choice",
    choices: ["text", "stream-json"],
    help: "what stdin carries; stream-json lets a program control the run",
  },
  {
    name: "include-partial-messages",
    takes: "nothing",
    help: "with stream-json: also send partial answers, progress of calls, and hook runs",
  },
  ...MODEL,
  { name: "quiet", takes: "nothing", help: "print only errors to stderr" },
  { name: "verbose", takes: "nothing", help: "write a debug log to stderr, or to the file in $ASSENT_LOG" },
];

export const RUN_EXITS: Readonly<Record<number, string>> = {
  0: "done",
  1: "failed because of the provider, the record, a repeated call, a hook, or --on-ask fail",
  2: "wrong usage; nothing was started",
  53: "stopped at the limit of turns",
  55: "stopped at the limit of calls, time or cost",
  70: "a scripted model's expectation was not met, or turns were missing or unused",
  75: "parked: something waits for a person",
  130: "cancelled: by Ctrl-C, the host, a closed output, or SIGTERM/SIGHUP with nothing waiting",
};

export const ID_EXITS: Readonly<Record<number, string>> = {
  0: "done, or already the case",
  1: "refused: answered differently before, out of date, or the record could not be written",
  2: "wrong usage, or an input that does not fit",
  4: "no such id",
};

export const ID_NOTE = "You can shorten an id to its first characters (at least 6) if they are unique.";

export const AGENT: OperandSpec = { name: "AGENT", required: true, choices: ["claude", "codex", "gemini", "qwen", "opencode"] };

export const ON_OUTSIDE_ASK: OptionSpec = {
  name: "on-ask",
  takes: "choice",
  choices: ["wait", "agent", "both", "deny"],
  help: "a call that needs approval waits for assent approve, is left to the agent's own dialog, accepts both (Claude Code), or is denied (default wait)",
};

export const HOOK_CHANGES: readonly OptionSpec[] = [
  { name: "user", takes: "nothing", help: "for all your projects (default)" },
  { name: "project", takes: "nothing", help: "for this directory only" },
  { name: "dry-run", takes: "nothing", help: "show the change and write nothing" },
  { name: "yes", takes: "nothing", help: "write without asking" },
];
