import { COMMON } from "../command-line/options.ts";
import type { Command } from "../command-line/spec.ts";

export const verify: Command = {
  name: "verify",
  group: "maintain",
  summary: "check the record for damage and tampering; changes nothing without --repair or --rebuild",
  guide: "operations.md",
  operands: [{ name: "SESSION", required: false }],
  options: [
    { name: "anchor", takes: "text", value: "FILE", help: "compare with checksums that you exported earlier" },
    {
      name: "anchors",
      takes: "list",
      value: "FILE",
      help: "compare with a stream that the setting audit or 'log --format jsonl' wrote (repeatable)",
    },
    { name: "export-anchor", takes: "text", value: "FILE", help: "write the current checksums, to keep somewhere else" },
    { name: "repair", takes: "nothing", help: "set damaged events aside and keep everything before them" },
    { name: "rebuild", takes: "nothing", help: "rebuild the lists of sessions, approvals and proposals from the events" },
    ...COMMON,
  ],
  exits: { 0: "nothing wrong (there may be warnings)", 1: "an error was found", 2: "wrong usage", 4: "no such session" },
  examples: ["assent verify", "assent verify --export-anchor heads.json", "assent verify --anchors audit.jsonl"],
  run: async (context) => (await import("../desk/maintain/verify.ts")).verifyRecord(context),
};
