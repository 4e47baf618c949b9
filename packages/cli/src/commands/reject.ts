import { ANSWERING, COMMON, ID_EXITS, ID_NOTE, SEVERAL } from "../command-line/options.ts";
import type { Command } from "../command-line/spec.ts";

export const reject: Command = {
  name: "reject",
  group: "decide",
  decides: true,
  summary: "reject a call, decline a question or discard a proposal; the model sees your reason",
  details: ID_NOTE,
  operands: [{ name: "ID", required: false, repeats: true, listedBy: "assent approvals" }],
  options: [...ANSWERING, ...SEVERAL, ...COMMON],
  exits: ID_EXITS,
  examples: ["assent reject a_3kq7mz --reason 'use rg instead'"],
  run: async (context) => (await import("../desk/approvals/approve.ts")).reject(context),
};
