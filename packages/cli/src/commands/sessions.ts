import { COMMON, PAGE } from "../command-line/options.ts";
import type { Command } from "../command-line/spec.ts";

export const sessions: Command = {
  name: "sessions",
  group: "look",
  looks: true,
  summary: "list sessions and their state, newest first",
  guide: "sessions.md",
  operands: [],
  options: [
    {
      name: "state",
      takes: "choice",
      choices: ["running", "idle", "parked", "queued", "interrupted", "done", "failed", "cancelled"],
      help: "only those in this state",
    },
    { name: "cwd", takes: "text", value: "DIR", help: "only those in this directory" },
    { name: "all", takes: "nothing", help: "include sessions of background agents" },
    ...PAGE,
    ...COMMON,
  ],
  examples: ["assent sessions --state parked"],
  run: async (context) => (await import("../desk/sessions/list.ts")).listSessions(context),
};
