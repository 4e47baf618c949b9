import { ANSWERING, COMMON, ID_NOTE, NO_WAIT } from "../command-line/options.ts";
import type { Command, OptionSpec } from "../command-line/spec.ts";

export const PROPOSAL_EXITS: Readonly<Record<number, string>> = {
  0: "done, or already the case",
  1: "refused: files changed since, it was settled differently, a rule denies it, or the record could not be written",
  2: "wrong usage",
  4: "no such id",
};

const PART: OptionSpec = {
  name: "part",
  takes: "text",
  value: "FILE",
  help: 'apply this part, as JSON: { "files": [{ "path", "hunks"?, "content"? }] } (- reads stdin)',
};

export const CHOSEN: readonly OptionSpec[] = [
  { name: "file", takes: "list", value: "PATH", help: "apply only this file (repeatable)" },
  {
    name: "hunk",
    takes: "list",
    value: "HUNK",
    help: "apply only this hunk; 'assent proposals show' and 'assent approvals show' print the ids (repeatable)",
  },
  PART,
];

export const apply: Command = {
  name: "apply",
  group: "decide",
  decides: true,
  summary: "make exactly the changes a proposal shows; writes nothing if a file changed since",
  details: `With --file, --hunk or --part, only that part is applied. It gets an id of its own, and the rest is no longer pending. ${ID_NOTE}`,
  operands: [{ name: "ID", required: true, listedBy: "assent proposals" }],
  options: [...CHOSEN, ...ANSWERING, NO_WAIT, ...COMMON],
  exits: PROPOSAL_EXITS,
  examples: ["assent apply p_3kq7mz", "assent apply p_3kq7mz --file src/a.ts --hunk h_1f2e3d4c5b6a"],
  run: async (context) => (await import("../desk/proposals/answer.ts")).answerProposal(context, "apply"),
};
