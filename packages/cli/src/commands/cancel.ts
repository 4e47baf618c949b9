import { BY, COMMON } from "../command-line/options.ts";
import type { Command } from "../command-line/spec.ts";

export const cancel: Command = {
  name: "cancel",
  group: "decide",
  decides: true,
  summary: "cancel a running session, call or background task in another process",
  details:
    "Records a request that the process with the session obeys at once. A session: ends its current turn, its calls and its background tasks; the session stays and can be resumed. A call: ends only this call; the model learns who cancelled it. A task: ends this background agent or command. What has ended already is not changed.",
  guide: "sessions.md#cancelling",
  operands: [{ name: "ID", required: true, listedBy: "assent sessions" }],
  options: [
    { name: "session", takes: "text", value: "ID", help: "the session of the call or task, if several have one with this id" },
    { name: "reason", takes: "text", value: "TEXT", help: "recorded with the request; the model sees it" },
    BY,
    ...COMMON,
  ],
  exits: {
    0: "cancelled",
    1: "not cancelled: it does not run, it ended first, or its process has not ended it within 10 s",
    2: "wrong usage, or several sessions have such a call or task",
    4: "no such session, task or open call",
  },
  examples: ["assent cancel s_3kq7mz", "assent cancel t_c1 --reason 'not needed any more'"],
  run: async (context) => (await import("../desk/sessions/cancel.ts")).cancelRunning(context),
};
