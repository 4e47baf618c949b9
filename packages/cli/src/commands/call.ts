import { COMMON, JUDGING, onAsk, WORKSPACE } from "../command-line/options.ts";
import type { Command } from "../command-line/spec.ts";

export const call: Command = {
  name: "call",
  group: "run",
  streams: "quietly",
  summary: "run one tool call under your rules, and record it",
  details:
    "The input is checked, your rules decide, and the call runs at most once. In a terminal you are asked for approval, unless you give --on-ask. Elsewhere a call that needs approval is denied, or waits with --on-ask park.",
  operands: [{ name: "TOOL", required: true, listedBy: "assent tools" }],
  options: [
    { name: "input", takes: "text", value: "JSON", help: "the tool's input; @FILE reads a file, - reads stdin (default {})" },
    onAsk("deny, or what your settings say"),
    ...JUDGING,
    WORKSPACE,
    { name: "cwd", takes: "text", value: "DIR", help: "where the call is made (default: here)" },
    ...COMMON,
  ],
  exits: {
    0: "the call succeeded",
    1: "it was invalid, denied, rejected, expired, failed or timed out, its outcome is unknown, or the record could not be written",
    2: "wrong usage; nothing was recorded",
    4: "no such tool; the call is recorded",
    75: "parked: it waits for approval",
    130: "cancelled: by Ctrl-C, or by SIGTERM or SIGHUP with nothing waiting",
  },
  examples: [
    `assent call read --input '{"file_path":"README.md"}'`,
    `assent call shell --input '{"command":"npm test"}' --on-ask park`,
    `assent call shell --input @call.json --mode yolo --deny 'shell:command=git push*'`,
  ],
  run: async (context) => (await import("../call/call.ts")).callTool(context),
};
