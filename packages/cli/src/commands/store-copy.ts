import { COMMON } from "../command-line/options.ts";
import type { Command } from "../command-line/spec.ts";

export const storeCopy: Command = {
  name: "store copy",
  group: "maintain",
  decides: true,
  summary: "copy the record to another directory or PostgreSQL schema, with its checksums",
  details:
    "FROM and TO are directories or postgres:// URLs. TO must not hold a record. Stop using FROM: when the copy is first opened, its open approvals and unused answers are cancelled.",
  guide: "operations.md",
  operands: [
    { name: "FROM", required: true },
    { name: "TO", required: true },
  ],
  options: COMMON.filter(({ name }) => name !== "store"),
  examples: ["assent store copy ~/.local/state/assent postgres://owner@db.example/assent"],
  run: async (context) => (await import("../desk/maintain/store.ts")).copyRecord(context),
};
