import { HELP_COMMANDS, MAINTAIN_COMMANDS } from "./maintain-commands.ts";
import { ANSWERING, COMMON, JUDGING, LOADING, onAsk, PAGE } from "./options.ts";
import { POLICY_COMMANDS } from "./policy-commands.ts";
import { PROPOSAL_COMMANDS } from "./proposal-commands.ts";
import { RESUME_COMMAND, RUN_COMMAND, TUI_COMMAND } from "./run-commands.ts";
import { SESSION_COMMANDS } from "./session-commands.ts";
import type { CommandSpec, OptionSpec } from "./spec.ts";
import { TASK_COMMANDS } from "./task-commands.ts";

const CALL_EXITS: Readonly<Record<number, string>> = {
  0: "the call succeeded",
  1: "it was invalid, denied, rejected, expired, failed or timed out, its outcome is unknown, or the store failed",
  2: "usage; nothing was recorded",
  75: "parked: it waits for an answer",
  130: "cancelled: SIGINT, or SIGTERM or SIGHUP with nothing waiting",
};
const ID_EXITS: Readonly<Record<number, string>> = {
  0: "done, or what was asked for already holds",
  1: "refused: another answer stands, stale, or the store failed",
  2: "usage, or data that does not fit",
  4: "no such id",
};
const ID_NOTE = "An id may be cut to a unique beginning of at least 6 characters.";

const DEMO: readonly OptionSpec[] = COMMON.map((option) =>
  option.name === "store" ? { ...option, says: "keep its record here, where none is yet (default: the temporary directory)" } : option,
);

const RUN: readonly CommandSpec[] = [
  TUI_COMMAND,
  RUN_COMMAND,
  {
    name: "call",
    group: "run",
    says: "put one tool call through the gate: validate, judge, ask, run once, record",
    more: "On a terminal a person is asked there, unless --on-ask is given. Elsewhere an ask is denied, or parked with --on-ask park.",
    operands: [{ name: "TOOL", required: true, listedBy: "assent tools" }],
    options: [
      { name: "input", takes: "text", value: "JSON", says: "the tool's input; @FILE reads a file, - reads stdin (default {})" },
      onAsk("deny, or as settings say"),
      ...JUDGING,
      { name: "workspace", takes: "text", value: "DIR", says: "the project (default: nearest directory upward with .git or .assent)" },
      { name: "cwd", takes: "text", value: "DIR", says: "where the call is made (default: here)" },
      ...COMMON,
    ],
    exits: CALL_EXITS,
    examples: [
      `assent call read --input '{"file_path":"README.md"}'`,
      `assent call shell --input '{"command":"npm test"}' --on-ask park`,
      `assent call shell --input @call.json --mode yolo --deny 'shell:command=git push*'`,
    ],
    load: () => import("../commands/call.ts"),
  },
  RESUME_COMMAND,
  {
    name: "demo",
    group: "run",
    says: "see all of it work, offline, in a temporary directory",
    operands: [],
    options: DEMO,
    examples: ["assent demo"],
    load: () => import("../commands/demo.ts"),
  },
];

const DECIDE: readonly CommandSpec[] = [
  {
    name: "approvals",
    group: "decide",
    looks: true,
    says: "list what waits for an answer, oldest first",
    operands: [],
    options: [
      { name: "session", takes: "text", value: "ID", says: "only of this session" },
      { name: "tool", takes: "text", value: "NAME", says: "only of this tool" },
      { name: "all", takes: "nothing", says: "answered and closed ones too" },
      ...PAGE,
      ...COMMON,
    ],
    examples: ["assent approvals", "assent approvals --all --json"],
    load: () => import("../commands/approvals.ts"),
  },
  {
    name: "approvals show",
    group: "decide",
    looks: true,
    says: "show one approval whole: input, decision, what would be remembered",
    more: ID_NOTE,
    operands: [{ name: "ID", required: true, listedBy: "assent approvals" }],
    options: COMMON,
    exits: ID_EXITS,
    examples: ["assent approvals show a_3kq7mz"],
    load: () => import("../commands/approvals-show.ts"),
  },
  {
    name: "approve",
    group: "decide",
    decides: true,
    says: "answer yes; said only after it is on disk",
    more: `${ID_NOTE} It does not ask back: --fingerprint makes the yes count only for what you have seen.`,
    operands: [{ name: "ID", required: true, listedBy: "assent approvals" }],
    options: [
      ...ANSWERING,
      { name: "fingerprint", takes: "text", value: "F", says: "only if this very request is what is open" },
      { name: "edit", takes: "text", value: "FILE", says: "run this input instead (a whole one; - reads stdin)" },
      { name: "remember", takes: "choice", choices: ["session", "project", "user"], says: "answer the like from now on, this far" },
      { name: "pattern", takes: "list", value: "RULE", says: "with --remember: this rule instead of the offered ones (repeatable)" },
      { name: "expires", takes: "duration", value: "DURATION", says: "with --remember: for this long, e.g. 8h" },
      {
        name: "outcome",
        takes: "choice",
        choices: ["proceed_once", "proceed_always", "restore_previous"],
        says: "of a plan: then edits need no asking, or the mode before it comes back",
      },
      { name: "answers", takes: "text", value: "JSON", says: "to a question: [{ id, selected, custom?, note? }]; @FILE reads a file" },
      { name: "no-wait", takes: "nothing", says: "return at once; an answer to an approval never waits" },
      ...COMMON,
    ],
    exits: ID_EXITS,
    examples: ["assent approve a_3kq7mz", "assent approve a_3kq7mz --remember session", "assent approve a_3kq7mz --edit safer.json"],
    load: () => import("../commands/approve.ts"),
  },
  {
    name: "reject",
    group: "decide",
    decides: true,
    says: "answer no; the model is told, with your reason",
    more: ID_NOTE,
    operands: [{ name: "ID", required: true, listedBy: "assent approvals" }],
    options: [...ANSWERING, ...COMMON],
    exits: ID_EXITS,
    examples: ["assent reject a_3kq7mz --reason 'use rg instead'"],
    load: () => import("../commands/reject.ts"),
  },
  {
    name: "grants",
    group: "decide",
    looks: true,
    says: "list remembered answers",
    operands: [],
    options: [
      { name: "scope", takes: "choice", choices: ["session", "project", "user"], says: "only this far-reaching" },
      { name: "all", takes: "nothing", says: "expired, used-up and revoked ones too" },
      ...PAGE,
      ...COMMON,
    ],
    examples: ["assent grants", "assent grants --scope project --json"],
    load: () => import("../commands/grants.ts"),
  },
  {
    name: "grants revoke",
    group: "decide",
    decides: true,
    says: "forget a remembered answer, at once",
    more: ID_NOTE,
    operands: [{ name: "ID", required: true, listedBy: "assent grants" }],
    options: COMMON,
    exits: ID_EXITS,
    examples: ["assent grants revoke g_3kq7mz"],
    load: () => import("../commands/grants-revoke.ts"),
  },
];

const TRUST: readonly CommandSpec[] = [
  {
    name: "trust",
    group: "decide",
    says: "let a workspace's own configuration count: rules, hooks, tools, agents, instructions",
    more: "Trust is for exactly the bytes that are there: one change, and it may only tighten again. At a terminal you see what would become active, and are asked; elsewhere it takes --yes.",
    operands: [{ name: "DIR", required: false }],
    options: [
      { name: "revoke", takes: "nothing", says: "take it back" },
      { name: "show", takes: "nothing", says: "say how it stands and what would become active, change nothing" },
      { name: "yes", takes: "nothing", says: "trust it without asking" },
      ...COMMON,
    ],
    exits: {
      0: "done, or shown",
      1: "not trusted: you said no, it cannot be trusted, or the store failed",
      2: "usage, no such directory, or neither a terminal nor --yes",
    },
    examples: ["assent trust --show", "assent trust", "assent trust ../other --revoke"],
    load: () => import("../commands/trust.ts"),
  },
];

const LOOK: readonly CommandSpec[] = [
  {
    name: "log",
    group: "look",
    looks: true,
    says: "print the record, one event per line",
    more: "Of a SESSION each event has its number there first (#7), which --since and sessions fork --at take; else its position in the store.",
    operands: [{ name: "SESSION", required: false }],
    options: [
      { name: "call", takes: "text", value: "ID", says: "only events of this call" },
      { name: "type", takes: "text", value: "GLOB", says: "only these types, e.g. 'call.*'" },
      { name: "since", takes: "text", value: "SEQ|TIME", says: "only after this number, as it is shown, or time" },
      { name: "follow", takes: "nothing", says: "go on printing what other processes record" },
      ...COMMON,
    ],
    exits: { 0: "printed", 1: "the store failed", 2: "usage", 4: "no such session or call", 130: "ended by SIGINT or SIGTERM" },
    examples: ["assent log s_3kq7mz", "assent log --type 'approval.*' --follow", "assent log --since 2026-01-31T08:00:00Z --json"],
    load: () => import("../commands/log.ts"),
  },
  {
    name: "tools",
    group: "look",
    looks: true,
    says: "list the tools that can be called, or show one with the input it takes",
    operands: [{ name: "NAME", required: false }],
    options: [
      { name: "all", takes: "nothing", says: "those too that are offered only at times: ask, resolve, hidden ones" },
      ...LOADING,
      ...COMMON,
    ],
    examples: ["assent tools", "assent tools shell"],
    load: () => import("../commands/tools.ts"),
  },
];

/** The one table of commands: it drives parsing, help and completions. */
export const COMMANDS: readonly CommandSpec[] = [
  ...RUN,
  ...DECIDE,
  ...PROPOSAL_COMMANDS,
  ...POLICY_COMMANDS,
  ...TRUST,
  ...SESSION_COMMANDS,
  ...TASK_COMMANDS,
  ...LOOK,
  ...MAINTAIN_COMMANDS,
  ...HELP_COMMANDS,
];
