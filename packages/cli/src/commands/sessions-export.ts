import { COMMON, ID_NOTE, RAW } from "../command-line/options.ts";
import type { Command } from "../command-line/spec.ts";

export const sessionsExport: Command = {
  name: "sessions export",
  group: "look",
  looks: true,
  summary: "print everything said and done in a session",
  details: `A fork includes the conversation it was forked from. Secrets that Assent recognizes are hidden, unless you give --raw; read it before you share it. Background agents are exported by their own ids; jsonl contains every event. ${ID_NOTE}`,
  operands: [{ name: "ID", required: true, listedBy: "assent sessions" }],
  options: [
    {
      name: "format",
      takes: "choice",
      choices: ["md", "jsonl"],
      help: "Markdown (default), or one event per line",
    },
    RAW,
    ...COMMON.filter(({ name }) => name !== "json"),
    { name: "json", takes: "nothing", help: "the same as --format jsonl; also prints errors as JSON" },
  ],
  exits: { 0: "printed", 1: "the record could not be read", 2: "wrong usage", 4: "no such id" },
  examples: ["assent sessions export s_3kq7mz", "assent sessions export s_3kq7mz --format jsonl > session.jsonl"],
  run: async (context) => (await import("../desk/sessions/export.ts")).exportSession(context),
};
