import { COMMON } from "../command-line/options.ts";
import type { Command } from "../command-line/spec.ts";

export const doctor: Command = {
  name: "doctor",
  group: "maintain",
  looks: true,
  summary: "check Node, the record, the terminal and the programs Assent uses",
  guide: "operations.md",
  operands: [],
  options: COMMON,
  exits: { 0: "nothing wrong (there may be warnings)", 1: "something prevents Assent from working" },
  examples: ["assent doctor"],
  run: async (context) => (await import("../desk/maintain/doctor.ts")).checkHealth(context),
};
