import { COMMON } from "../command-line/options.ts";
import type { Command } from "../command-line/spec.ts";

export const auditSend: Command = {
  name: "audit send",
  group: "maintain",
  decides: true,
  summary: "send what was not sent yet to the destinations of the setting audit",
  details: "Sends once, for a schedule, or with --follow until it is stopped, as a service.",
  guide: "audit.md",
  operands: [],
  options: [{ name: "follow", takes: "nothing", help: "keep sending new events" }, ...COMMON],
  exits: {
    0: "every destination has everything",
    1: "something could not be sent, or the record could not be read",
    2: "wrong usage, or the setting audit names no destination",
    130: "stopped by SIGINT or SIGTERM",
  },
  examples: ["assent audit send", "assent audit send --follow"],
  run: async (context) => (await import("../desk/maintain/audit.ts")).sendAudit(context),
};
