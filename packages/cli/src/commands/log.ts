import { COMMON, RAW } from "../command-line/options.ts";
import type { Command } from "../command-line/spec.ts";

export const log: Command = {
  name: "log",
  group: "look",
  looks: true,
  summary: "print the record, one event per line",
  details:
    "With SESSION, each line starts with the event's number in that session (#7), which --since and 'sessions fork --at' accept. Without it, lines start with the position in the whole record.",
  guide: "sessions.md",
  operands: [{ name: "SESSION", required: false }],
  options: [
    { name: "call", takes: "text", value: "ID", help: "only events of this call" },
    { name: "type", takes: "text", value: "GLOB", help: "only these types, e.g. 'call.*'" },
    { name: "since", takes: "text", value: "SEQ|TIME", help: "only events after this number or time" },
    { name: "follow", takes: "nothing", help: "keep printing new events" },
    {
      name: "format",
      takes: "choice",
      choices: ["text", "jsonl", "otlp"],
      help: "jsonl and otlp: for a collector, with anchors that 'verify --anchors' compares later",
    },
    RAW,
    ...COMMON,
  ],
  exits: {
    0: "printed",
    1: "the record could not be read",
    2: "wrong usage",
    4: "no such session or call",
    130: "stopped by SIGINT or SIGTERM",
  },
  examples: [
    "assent log s_3kq7mz",
    "assent log --type 'approval.*' --follow",
    "assent log --since 2026-01-31T08:00:00Z --json",
    "assent log --follow --format jsonl",
  ],
  run: async (context) => (await import("../desk/sessions/log.ts")).printLog(context),
};
