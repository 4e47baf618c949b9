import { BY, COMMON } from "../command-line/options.ts";
import type { Command } from "../command-line/spec.ts";

export const inbox: Command = {
  name: "inbox",
  group: "decide",
  streams: "aloud",
  decides: true,
  summary: "open a local web page with everything that waits for your answer",
  details:
    "Serves the page on this machine only and prints its link, which works once. Unless you give --no-resume, it is also a worker, for all directories or, with PostgreSQL, for the project here: it continues answered runs, and takes detached runs and due schedules. Stop it at any time: open approvals keep waiting.",
  guide: "inbox.md",
  operands: [],
  options: [
    { name: "port", takes: "count", value: "N", max: 65_535, help: "the port to serve on (default: a free one)" },
    { name: "no-open", takes: "nothing", help: "only print the link, do not open a browser" },
    { name: "no-resume", takes: "nothing", help: "only answer; do not continue any run" },
    BY,
    ...COMMON,
  ],
  exits: { 0: "stopped by SIGINT or SIGTERM", 1: "the page could not be served, or the record could not be read", 2: "wrong usage" },
  examples: ["assent inbox", "assent inbox --port 7007 --no-open"],
  run: async (context) => (await import("../inbox/run-inbox.ts")).runInbox(context),
};
