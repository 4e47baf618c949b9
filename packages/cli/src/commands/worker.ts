import { COMMON } from "../command-line/options.ts";
import type { Command } from "../command-line/spec.ts";

export const worker: Command = {
  name: "worker",
  group: "run",
  streams: "aloud",
  decides: true,
  summary: "continue sessions that have work: detached runs, answered approvals, due schedules, runs whose process ended",
  details:
    "Takes runs and calls of its workspaces that no process has open. Several workers may share a record; each session is continued by one of them at a time. A session runs with the options it was started with, and with the settings, trust and API keys of this machine. SIGTERM or Ctrl-C hands the sessions back. With --json, every event is one line.",
  guide: "operations.md#workers",
  operands: [],
  options: [
    { name: "concurrency", takes: "count", value: "N", max: 100, help: "work on at most N sessions at once (default 4)" },
    { name: "label", takes: "list", value: "KEY=VALUE", help: "also take runs that need this label (repeatable)" },
    {
      name: "workspace",
      takes: "list",
      value: "DIR",
      help: "take sessions of this project directory, and of those below it (repeatable; default: the project here)",
    },
    { name: "quiet", takes: "nothing", help: "print only warnings and errors" },
    ...COMMON,
  ],
  exits: { 0: "stopped, and all sessions are handed back", 1: "the record could not be opened", 2: "wrong usage" },
  examples: [
    "assent worker --concurrency 2",
    "assent worker --workspace ~/projects --label os=linux --store postgres://agent@db.example/assent",
  ],
  run: async (context) => (await import("../worker/run-worker.ts")).runWorker(context),
};
