import { COMMON } from "./options.ts";
import type { CommandSpec } from "./spec.ts";

/** The commands that keep the record and the machine in order. */
export const MAINTAIN_COMMANDS: readonly CommandSpec[] = [
  {
    name: "verify",
    group: "maintain",
    says: "check the record for damage and tampering; it writes nothing unless told to",
    operands: [{ name: "SESSION", required: false }],
    options: [
      { name: "anchor", takes: "text", value: "FILE", says: "compare with heads that were kept elsewhere" },
      { name: "export-anchor", takes: "text", value: "FILE", says: "write the heads, to be kept elsewhere" },
      { name: "repair", takes: "nothing", says: "set damage aside and cut the chain after its last good row" },
      { name: "rebuild", takes: "nothing", says: "make the lists again from the events" },
      ...COMMON,
    ],
    exits: { 0: "nothing wrong (warnings allowed)", 1: "an error was found", 2: "usage", 4: "no such session" },
    examples: ["assent verify", "assent verify --export-anchor heads.json"],
    load: () => import("../commands/verify.ts"),
  },
  {
    name: "doctor",
    group: "maintain",
    looks: true,
    says: "check Node, store, terminal and the programs Assent can use",
    operands: [],
    options: COMMON,
    exits: { 0: "nothing wrong (warnings allowed)", 1: "something would stop Assent from working" },
    examples: ["assent doctor"],
    load: () => import("../commands/doctor.ts"),
  },
  {
    name: "prune",
    group: "maintain",
    decides: true,
    says: "remove ended sessions and their outputs; the heads of their chains stay",
    operands: [],
    options: [
      { name: "older-than", takes: "duration", value: "DURATION", says: "how long ago they must have ended (required)" },
      { name: "dry-run", takes: "nothing", says: "say what would go, remove nothing" },
      ...COMMON,
    ],
    examples: ["assent prune --older-than 30d --dry-run"],
    load: () => import("../commands/prune.ts"),
  },
  {
    name: "completions",
    group: "maintain",
    looks: true,
    says: "print a completion script for a shell",
    operands: [{ name: "SHELL", required: true, choices: ["bash", "zsh", "fish"] }],
    options: COMMON,
    examples: ["source <(assent completions bash)"],
    load: () => import("../commands/completions.ts"),
  },
];

/** The commands that explain the others. */
export const HELP_COMMANDS: readonly CommandSpec[] = [
  {
    name: "help",
    group: "help",
    looks: true,
    says: "explain a command",
    operands: [
      { name: "COMMAND", required: false },
      { name: "SUBCOMMAND", required: false },
    ],
    options: COMMON,
    examples: ["assent help approve"],
    load: () => import("../commands/help.ts"),
  },
  {
    name: "version",
    group: "help",
    looks: true,
    says: "print the version",
    operands: [],
    options: COMMON,
    examples: ["assent version"],
    load: () => import("../commands/version.ts"),
  },
];
