import { COMMON, JUDGING, onAsk, RUN_EXITS, RUNNING, WATCH, WORKSPACE } from "../command-line/options.ts";
import type { Command } from "../command-line/spec.ts";

export const run: Command = {
  name: "run",
  group: "run",
  streams: "quietly",
  summary: "give a model a task and let it work until it is done",
  details:
    "Prints the model's last answer to stdout. --model script:FILE plays a conversation from a file: a rehearsal, or a test of your rules.",
  guide: "headless.md",
  operands: [{ name: "PROMPT", required: false }],
  options: [
    ...RUNNING,
    onAsk("deny, or what your settings say"),
    ...JUDGING,
    { name: "session", takes: "text", value: "ID", help: "the id for the new session, or an existing session to continue" },
    WATCH,
    {
      name: "detach",
      takes: "nothing",
      help: "leave the run to a worker, print its session id and return; approvals wait unless --on-ask says otherwise",
    },
    { name: "label", takes: "list", value: "KEY=VALUE", help: "with --detach: only a worker with this label may take it (repeatable)" },
    WORKSPACE,
    { name: "cwd", takes: "text", value: "DIR", help: "where the model works (default: here)" },
    ...COMMON,
  ],
  exits: RUN_EXITS,
  examples: [
    "assent run 'rename oldName to newName' --model script:rename.yaml",
    "assent run --detach 'update the changelog' --model anthropic:claude-sonnet-4-5",
    "git diff | assent run 'review this' --output-format json",
    "assent run --input-format stream-json --output-format stream-json",
  ],
  run: async (context) => (await import("../headless/run/run.ts")).runPrompt(context),
};
