import { COMMON, JUDGING, onAsk } from "./options.ts";
import type { CommandSpec, OptionSpec } from "./spec.ts";

/** What a run carries in and out, in `run` and `resume` alike. */
const STREAMS: readonly OptionSpec[] = [
  { name: "output-format", takes: "choice", choices: ["text", "json", "stream-json"], says: "what stdout carries (default text)" },
  {
    name: "input-format",
    takes: "choice",
    choices: ["text", "stream-json"],
    says: "what stdin carries; stream-json: a program steers the run",
  },
  {
    name: "include-partial-messages",
    takes: "nothing",
    says: "with stream-json: answers piece by piece, progress of calls, runs of hooks",
  },
];

/** How a model works, wherever it does. */
const WORKING: readonly OptionSpec[] = [
  { name: "model", takes: "text", value: "ID", says: "the model, as provider:name, or script:FILE" },
  { name: "max-turns", takes: "count", value: "N", max: 1_000_000, says: "end after N requests to the model" },
  { name: "max-tool-calls", takes: "count", value: "N", max: 1_000_000, says: "end when more than N calls would run" },
  { name: "max-time", takes: "duration", value: "DURATION", says: "end after this long, waiting for people not counted" },
  { name: "approval-timeout", takes: "duration", value: "DURATION", says: "an approval that nobody answered by then has expired" },
  { name: "schedule", takes: "text", value: "FILE", says: "prompts that come at given times, as a JSON list" },
];

/** What is said on stderr, in `run` and `resume` alike. */
const TELLING: readonly OptionSpec[] = [
  { name: "quiet", takes: "nothing", says: "say nothing on stderr but errors" },
  { name: "verbose", takes: "nothing", says: "write a debug log to stderr, or to the file that ASSENT_LOG names" },
];

/** How a run is made and shown, in `run` and `resume` alike. */
const RUNNING: readonly OptionSpec[] = [...STREAMS, ...WORKING, ...TELLING];

/** What every command takes; a screen has no value to print. */
const AT_SCREEN: readonly OptionSpec[] = COMMON.map((option) =>
  option.name === "json" ? { ...option, says: "if it cannot begin, say why as one JSON value" } : option,
);

/** The exit codes of a run. */
const RUN_EXITS: Readonly<Record<number, string>> = {
  0: "done",
  1: "failed: the model's provider, the store, a loop, a hook, or --on-ask fail",
  2: "usage; nothing was started",
  53: "the limit of turns was reached",
  55: "the limit of calls, time or cost was reached",
  70: "a script's expectation did not hold, or turns were missing or left",
  75: "parked: something waits for a person",
  130: "cancelled: SIGINT, its host, a reader who left, or SIGTERM or SIGHUP with nothing waiting",
};

/** A whole conversation with a model. */
export const RUN_COMMAND: CommandSpec = {
  name: "run",
  group: "run",
  says: "give a model a task and let it work through the gate until it is done",
  more: "Its last words go to stdout. --model script:FILE plays a conversation written down beforehand: a rehearsal, or a test of your policy.",
  operands: [{ name: "PROMPT", required: false }],
  options: [
    ...RUNNING,
    onAsk("deny, or as settings say"),
    ...JUDGING,
    { name: "session", takes: "text", value: "ID", says: "the id of the session; one that is there goes on" },
    { name: "workspace", takes: "text", value: "DIR", says: "the project (default: nearest directory upward with .git or .assent)" },
    { name: "cwd", takes: "text", value: "DIR", says: "where the model works (default: here)" },
    ...COMMON,
  ],
  exits: RUN_EXITS,
  examples: [
    "assent run 'rename oldName to newName' --model script:rename.yaml",
    "git diff | assent run 'review this' --output-format json",
    "assent run --input-format stream-json --output-format stream-json",
  ],
  load: () => import("../commands/run.ts"),
};

/** A conversation at a terminal: what the program does when nothing else is asked of it. */
export const TUI_COMMAND: CommandSpec = {
  name: "tui",
  group: "run",
  decides: true,
  says: "talk to a model at this terminal; assent alone does the same",
  more: "What it may do without asking is yours to say; everything else becomes a card that you answer. ? shows the keys, / the commands.",
  operands: [{ name: "PROMPT", required: false }],
  options: [
    ...WORKING,
    ...JUDGING,
    { name: "resume", takes: "text", value: "SESSION", says: "go on with an earlier conversation" },
    { name: "plain", takes: "nothing", says: "line by line, for screen readers and simple terminals" },
    { name: "workspace", takes: "text", value: "DIR", says: "the project (default: nearest directory upward with .git or .assent)" },
    { name: "cwd", takes: "text", value: "DIR", says: "where the model works (default: here)" },
    ...AT_SCREEN,
  ],
  exits: { 0: "left", 1: "the store failed", 2: "usage", 75: "left while something waits for an answer" },
  examples: ["assent", "assent --mode plan", "assent --resume s_3kq7mz", "assent --plain"],
  load: () => import("../commands/tui.ts"),
};

/** Going on where a session was left. */
export const RESUME_COMMAND: CommandSpec = {
  name: "resume",
  group: "run",
  says: "continue a parked or interrupted session; of a finished call, print the recorded result",
  more: "On a terminal a conversation opens in the terminal interface, unless a PROMPT, --json, --quiet, --verbose, --on-ask, --input-format or --output-format is given. A finished run has nothing to resume, but goes on with a PROMPT. The session is judged by the flags it began with; those given here are added for this resume. Nothing that may have run is run again.",
  operands: [
    { name: "SESSION", required: true, listedBy: "assent sessions" },
    { name: "PROMPT", required: false },
  ],
  options: [
    ...RUNNING,
    onAsk("park"),
    ...JUDGING,
    { name: "cwd", takes: "text", value: "DIR", says: "continue in another directory; what waits is asked again there" },
    { name: "take-over", takes: "nothing", says: "take the session from a process that still holds it" },
    { name: "tasks", takes: "nothing", says: "let paused background agents go on too" },
    ...COMMON,
  ],
  exits: { ...RUN_EXITS, 1: "failed, or the call of the session did not succeed", 4: "no such session" },
  examples: ["assent resume s_3kq7mzv2xw4tbnr5cyha", "assent resume s_3kq7mz 'now run the tests' --json"],
  load: () => import("../commands/resume.ts"),
};
