import { COMMON } from "../command-line/options.ts";
import type { Command } from "../command-line/spec.ts";

export const storeRoles: Command = {
  name: "store roles",
  group: "maintain",
  decides: true,
  summary: "create the database roles owner, agent, approver and auditor of a record on PostgreSQL",
  details:
    "The database then enforces who may run calls, who may answer, and who may only read. The roles cannot log in: give them to your logins. Run it again after an upgrade.",
  guide: "operations.md#roles",
  operands: [],
  options: [
    ...COMMON,
    { name: "prefix", takes: "text", value: "NAME", help: "the roles are NAME_owner, NAME_agent, … (default: the name of the schema)" },
    { name: "dry-run", takes: "nothing", help: "print the SQL and change nothing" },
  ],
  examples: ["assent store roles --store postgres://owner@db.example/assent"],
  run: async (context) => (await import("../desk/maintain/store.ts")).createRoles(context),
};
