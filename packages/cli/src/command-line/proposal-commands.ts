import { ANSWERING, COMMON, PAGE } from "./options.ts";
import type { CommandSpec, OptionSpec } from "./spec.ts";

const NO_WAIT: OptionSpec = {
  name: "no-wait",
  takes: "nothing",
  says: "where another process holds the session, do not wait for what it does",
};

const EXITS: Readonly<Record<number, string>> = {
  0: "done, or what was asked for already holds",
  1: "refused: files changed since, it is settled otherwise, a rule denies it, or the store failed",
  2: "usage",
  4: "no such id",
};

const MORE = "An id may be cut to a unique beginning of at least 6 characters.";

/** The commands about what was previewed and waits to be applied or discarded. */
export const PROPOSAL_COMMANDS: readonly CommandSpec[] = [
  {
    name: "proposals",
    group: "decide",
    looks: true,
    says: "list previewed changes that wait to be applied or discarded",
    operands: [],
    options: [
      { name: "session", takes: "text", value: "ID", says: "only of this session" },
      { name: "all", takes: "nothing", says: "settled ones too" },
      ...PAGE,
      ...COMMON,
    ],
    examples: ["assent proposals", "assent proposals --all --json"],
    load: () => import("../commands/proposals.ts"),
  },
  {
    name: "proposals show",
    group: "decide",
    looks: true,
    says: "show one proposal whole: every change it would make, and how it stands",
    more: MORE,
    operands: [{ name: "ID", required: true, listedBy: "assent proposals" }],
    options: COMMON,
    exits: EXITS,
    examples: ["assent proposals show p_3kq7mz"],
    load: () => import("../commands/proposals-show.ts"),
  },
  {
    name: "apply",
    group: "decide",
    decides: true,
    says: "make exactly the changes a proposal showed; nothing is written if a file changed since",
    more: MORE,
    operands: [{ name: "ID", required: true, listedBy: "assent proposals" }],
    options: [...ANSWERING, NO_WAIT, ...COMMON],
    exits: EXITS,
    examples: ["assent apply p_3kq7mz"],
    load: () => import("../commands/apply.ts"),
  },
  {
    name: "discard",
    group: "decide",
    decides: true,
    says: "drop a proposal; no file is touched, and the model is told why",
    more: MORE,
    operands: [{ name: "ID", required: true, listedBy: "assent proposals" }],
    options: [...ANSWERING, NO_WAIT, ...COMMON],
    exits: EXITS,
    examples: ["assent discard p_3kq7mz --reason 'wrong folder'"],
    load: () => import("../commands/discard.ts"),
  },
  {
    name: "undo",
    group: "decide",
    decides: true,
    says: "take an applied change back, as long as its files are as it left them",
    more: `Edits that ran at once have an id too: assent proposals --all lists it. ${MORE}`,
    operands: [{ name: "ID", required: true, listedBy: "assent proposals --all" }],
    options: [...ANSWERING, NO_WAIT, ...COMMON],
    exits: { ...EXITS, 0: "taken back", 1: "refused: files changed since, it is not applied (any more), or the store failed" },
    examples: ["assent undo p_3kq7mz"],
    load: () => import("../commands/undo.ts"),
  },
];
