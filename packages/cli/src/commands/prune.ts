import { COMMON } from "../command-line/options.ts";
import type { Command } from "../command-line/spec.ts";

export const prune: Command = {
  name: "prune",
  group: "maintain",
  decides: true,
  summary: "delete finished sessions and their outputs; their checksums stay",
  guide: "operations.md",
  operands: [],
  options: [
    { name: "older-than", takes: "duration", value: "DURATION", help: "delete only sessions that ended this long ago (required)" },
    { name: "dry-run", takes: "nothing", help: "say what would be deleted, delete nothing" },
    ...COMMON,
  ],
  examples: ["assent prune --older-than 30d --dry-run"],
  run: async (context) => (await import("../desk/maintain/prune.ts")).pruneSessions(context),
};
