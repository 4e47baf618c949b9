import { COMMON, JUDGING, onAsk, RUN_EXITS, RUNNING, WATCH } from "../command-line/options.ts";
import type { Command } from "../command-line/spec.ts";

export const resume: Command = {
  name: "resume",
  group: "run",
  streams: "quietly",
  summary: "continue a session that waits or was interrupted; for a finished call, print its result",
  details:
    "In a terminal a conversation opens in the terminal interface, unless you give a PROMPT, --json, --quiet, --verbose, --on-ask, --input-format or --output-format. A finished run continues only with a PROMPT, or if a durable schedule is due. The options the session started with still apply; options given here are added for this time. Nothing that may have run is run again.",
  guide: "headless.md",
  operands: [
    { name: "SESSION", required: true, listedBy: "assent sessions" },
    { name: "PROMPT", required: false },
  ],
  options: [
    ...RUNNING,
    onAsk("park"),
    ...JUDGING,
    { name: "cwd", takes: "text", value: "DIR", help: "continue in another directory; waiting calls are asked again there" },
    { name: "take-over", takes: "nothing", help: "take the session from a process that still has it open" },
    { name: "tasks", takes: "nothing", help: "also continue paused background agents" },
    WATCH,
    ...COMMON,
  ],
  exits: { ...RUN_EXITS, 1: "failed, or the session's call did not succeed", 4: "no such session" },
  examples: ["assent resume s_3kq7mzv2xw4tbnr5cyha", "assent resume s_3kq7mz 'now run the tests' --json"],
  run: async (context) => (await import("../headless/run/resume.ts")).resumeSession(context),
};
