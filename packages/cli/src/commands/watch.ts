import { BY, COMMON } from "../command-line/options.ts";
import type { Command } from "../command-line/spec.ts";

export const watch: Command = {
  name: "watch",
  group: "decide",
  decides: true,
  summary: "show everything that waits as a live list in this terminal, and answer it there",
  details:
    "The same list, cards and keys as 'assent inbox'. It follows the record and says when someone else answered. It does not continue runs; 'assent inbox', a worker or 'assent resume' does.",
  guide: "inbox.md#in-the-terminal",
  operands: [],
  options: [BY, ...COMMON],
  exits: { 0: "left by the person or a signal", 1: "the record could not be read", 2: "wrong usage, or there is no terminal" },
  examples: ["assent watch", "assent watch --by Ana"],
  run: async (context) => (await import("../watch/run-watch.ts")).runWatch(context),
};
