import { COMMON, ID_EXITS, ID_NOTE } from "../command-line/options.ts";
import type { Command } from "../command-line/spec.ts";

export const grantsRevoke: Command = {
  name: "grants revoke",
  group: "decide",
  decides: true,
  summary: "forget a remembered answer, effective immediately",
  details: ID_NOTE,
  operands: [{ name: "ID", required: true, listedBy: "assent grants" }],
  options: COMMON,
  exits: ID_EXITS,
  examples: ["assent grants revoke g_3kq7mz"],
  run: async (context) => (await import("../desk/grants/list.ts")).revokeGrant(context),
};
