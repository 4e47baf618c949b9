import { COMMON, PAGE } from "./options.ts";
import type { CommandSpec } from "./spec.ts";

const ID_NOTE = "An id may be cut to a unique beginning of at least 6 characters.";

/** The commands about whole sessions. */
export const SESSION_COMMANDS: readonly CommandSpec[] = [
  {
    name: "sessions",
    group: "look",
    looks: true,
    says: "list sessions and how they stand, newest first",
    operands: [],
    options: [
      {
        name: "state",
        takes: "choice",
        choices: ["running", "idle", "parked", "interrupted", "done", "failed", "cancelled"],
        says: "only those in this state",
      },
      { name: "cwd", takes: "text", value: "DIR", says: "only those of this directory" },
      { name: "all", takes: "nothing", says: "those of background agents too" },
      ...PAGE,
      ...COMMON,
    ],
    examples: ["assent sessions --state parked"],
    load: () => import("../commands/sessions.ts"),
  },
  {
    name: "sessions fork",
    group: "run",
    says: "make a session that goes on from a place of another one's conversation",
    more: `${ID_NOTE} What is open in the other one stays there. It may be running.`,
    operands: [{ name: "ID", required: true, listedBy: "assent sessions" }],
    options: [
      {
        name: "at",
        takes: "count",
        value: "SEQ",
        max: Number.MAX_SAFE_INTEGER,
        says: "the last event to keep, as assent log ID numbers it (default: the end of the last finished turn)",
      },
      ...COMMON,
    ],
    exits: {
      0: "done",
      1: "nothing has been said there, or the store failed",
      2: "usage, or a place between a call and its result",
      4: "no such id",
    },
    examples: ["assent sessions fork s_3kq7mz", "assent sessions fork s_3kq7mz --at 42 --json"],
    load: () => import("../commands/sessions-fork.ts"),
  },
  {
    name: "sessions export",
    group: "look",
    looks: true,
    says: "print what was said and done in a session, from its beginning",
    more: `${ID_NOTE} A fork begins with the conversation it was forked from. Nothing that was said or done is left out, nothing is masked: look at it before you pass it on. The conversations of background agents are exported by their own ids; jsonl has every event.`,
    operands: [{ name: "ID", required: true, listedBy: "assent sessions" }],
    options: [
      {
        name: "format",
        takes: "choice",
        choices: ["md", "jsonl"],
        says: "Markdown for people (default), or one event per line",
      },
      ...COMMON.filter(({ name }) => name !== "json"),
      { name: "json", takes: "nothing", says: "the same as --format jsonl; errors as JSON, too" },
    ],
    exits: { 0: "printed", 1: "the store failed", 2: "usage", 4: "no such id" },
    examples: ["assent sessions export s_3kq7mz", "assent sessions export s_3kq7mz --format jsonl > session.jsonl"],
    load: () => import("../commands/sessions-export.ts"),
  },
];
