import { COMMON } from "../command-line/options.ts";
import type { Command } from "../command-line/spec.ts";

export const notifyTest: Command = {
  name: "notify test",
  group: "decide",
  decides: true, // it contacts others and starts programs
  summary: "send a test message to the receivers of notifications",
  details: "Sends one message to every receiver of notify.receivers, or to the one with this name, and prints what each of them answered.",
  guide: "notifications.md",
  operands: [{ name: "NAME", required: false }],
  options: COMMON,
  exits: { 0: "all of them accepted the message", 1: "a receiver did not, or there is none", 4: "no receiver has this name" },
  examples: ["assent notify test", "assent notify test phone"],
  run: async (context) => (await import("../notify/test-receivers.ts")).testReceivers(context),
};
