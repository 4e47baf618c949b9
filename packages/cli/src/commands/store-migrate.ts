import { COMMON } from "../command-line/options.ts";
import type { Command } from "../command-line/spec.ts";

export const storeMigrate: Command = {
  name: "store migrate",
  group: "maintain",
  decides: true,
  summary: "create the record, or bring it up to date, with the rights of its owner",
  guide: "operations.md",
  operands: [],
  options: COMMON,
  examples: ["assent store migrate --store postgres://owner@db.example/assent"],
  run: async (context) => (await import("../desk/maintain/store.ts")).migrateRecord(context),
};
