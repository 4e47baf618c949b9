import { COMMON, ID_NOTE } from "../command-line/options.ts";
import type { Command } from "../command-line/spec.ts";

export const sessionsFork: Command = {
  name: "sessions fork",
  group: "run",
  summary: "start a new session from a point in another session's conversation",
  details: `The other session may be running; its open approvals stay there. ${ID_NOTE}`,
  operands: [{ name: "ID", required: true, listedBy: "assent sessions" }],
  options: [
    {
      name: "at",
      takes: "count",
      value: "SEQ",
      max: Number.MAX_SAFE_INTEGER,
      help: "the last event to keep, as numbered by 'assent log ID' (default: the end of the last finished turn)",
    },
    ...COMMON,
  ],
  exits: {
    0: "done",
    1: "there is no conversation up to that point, or the record could not be written",
    2: "wrong usage, or a point between a call and its result",
    4: "no such id",
  },
  examples: ["assent sessions fork s_3kq7mz", "assent sessions fork s_3kq7mz --at 42 --json"],
  run: async (context) => (await import("../desk/sessions/fork.ts")).forkCommand(context),
};
